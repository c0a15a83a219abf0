"""Pass rate: the share of goals that are solved, as a judge says, or the milestones.

Source: the SEAL paper, "Pass rate". What it leaves open: a goal that stays unsure in the second
stage is not passed; its label stays in the details and the share of unsure in the summary.

Whether a goal is solved whose plans ask of a world is no matter of words: where its milestones say
(`milestones_verdict`), no judge is asked, so that the pass rate never contradicts the similarity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from seal.core.conditions import Match
from seal.core.errors import DataError
from seal.core.protocols import Judge
from seal.core.types import JSON, Goal, Score, Task, Tool, Trajectory, Verdict
from seal.evaluation.goals import Value, goal_steps, score_goals, undefined
from seal.evaluation.judges.measures import answer_of, judged
from seal.evaluation.judges.panel import Panel
from seal.evaluation.llm_judge import LLMJudge
from seal.evaluation.milestones.metrics import applies, match_of, measure_goal
from seal.evaluation.milestones.plans import WHOLLY, PlanResult
from seal.evaluation.rule_judge import RuleJudge

NAME = "pass_rate"
MILESTONES = "milestones"
"""Who says so, in a score's details, where no judge does."""


@dataclass(frozen=True, slots=True)
class PassRate:
    """1.0 for solved, 0.0 for unsolved and unsure; details: label, stage, reason.

    Where no judge said so, the details have `by` too: `MILESTONES`. Of a `Panel` they have each
    vote and the share of votes that say solved; the majority counts, and a tie is unsure.

    Args:
        judge: Asked where milestones do not say.
        match: Rules of milestones (`milestones.metrics`); None: each task's own.
    """

    judge: Judge = field(default_factory=RuleJudge)
    match: Match | None = None

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal.

        A goal without a final answer, whatever limit was reached, is unsolved, unless milestones
        are what it is measured by. Where these cannot be measured, or the judge itself fails
        (server, cache under replay) or says nothing usable, the value is None with the reason.
        """

        def measure(position: int, goal: Goal) -> dict[str, Value]:
            if applies(task, goal):
                try:
                    match = self.match or match_of(task)
                    best = measure_goal(task, trajectory, position, match)
                except DataError as error:
                    return {NAME: undefined(f"the plan cannot be measured: {error}")}
                verdict = milestones_verdict(best.result)
                if verdict is not None:
                    return {NAME: _value(verdict, by=MILESTONES)}
            return {NAME: judged(lambda: self._judged(trajectory, position, goal))}

        return score_goals(task, trajectory, [NAME], measure)

    def _judged(self, trajectory: Trajectory, position: int, goal: Goal) -> Value:
        answer = answer_of(trajectory, position)
        steps = goal_steps(trajectory, position)
        votes: dict[str, JSON] = {}
        if isinstance(self.judge, Panel):
            poll = self.judge.ask(goal, answer, steps)
            verdict = poll.verdict()
            solved = [label == "solved" for label in poll.labels]
            votes = {"solved": sum(solved) / len(solved), **poll.record()}
        else:
            verdict = self.judge.judge(goal, answer, steps)
        stop = trajectory.stops[position].reason if position < len(trajectory.stops) else "done"
        if not answer and stop != "done":
            verdict = replace(verdict, reason=f"{verdict.reason} ({stop})")
        return _value(verdict, **votes)


def milestones_verdict(result: PlanResult) -> Verdict | None:
    """Return what the milestones of a plan prove; None where they leave it open.

    - solved: every milestone was reached wholly, and no minefield.
    - unsolved: a minefield was hit, or a milestone was not reached at all.
    - open: each was reached, some in part, as where an answer is worded otherwise.
    """
    if result.minefield_similarity:
        return Verdict("unsolved", "a minefield was hit", 2)
    if result.milestone_similarity >= WHOLLY:
        return Verdict("solved", "every milestone was reached", 2)
    missed = [str(one.node) for one in result.milestones if not one.similarity]
    if missed:
        return Verdict("unsolved", f"not reached: milestone {', '.join(missed)}", 2)
    if not result.milestone_similarity:
        return Verdict("unsolved", "nothing was reached", 2)
    return None


def _value(verdict: Verdict, **details: JSON) -> Value:
    told = {"label": verdict.label, "stage": verdict.stage, "reason": verdict.reason}
    return Value(float(verdict.label == "solved"), details={**told, **details})


__all__ = ["LLMJudge", "PassRate", "RuleJudge"]
