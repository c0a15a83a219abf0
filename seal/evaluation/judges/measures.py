"""The published judges as metrics: `pass_rate`, `tooleval`, `sopr` and `fac`.

- pass_rate: the share of goals that are solved, as a judge says, or the milestones. Source: the
  SEAL paper, "Pass rate". What it leaves open: a goal that stays unsure in the second stage is not
  passed; its label stays in the details and the share of unsure in the summary. Whether a goal is
  solved whose plans ask of a world is no matter of words: where its milestones say
  (`milestones_verdict`), no judge is asked, so that the pass rate never contradicts the similarity.
- tooleval: ToolEval's pass rate. Whoever did not finish fails. Else solved passes; what is not, is
  asked whether the task can be solved, and `panel.passing` says what follows.
- sopr: StableToolBench's solvable pass rate. No question of solvability; a run that did not finish
  is unsolved; the mean over the runs of the judge, of which each unsure one counts a half.
- fac: final answer completeness (StableToolBench, MirrorAPI): request and answer alone.

To finish is to end a goal by oneself, with an answer or by giving up, and no limit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from seal.core.conditions import Match
from seal.core.errors import DataError, InfrastructureError, NotRecordedError, NoVerdictError
from seal.core.protocols import Judge
from seal.core.types import JSON, Goal, Score, Task, Tool, Trajectory, Verdict
from seal.evaluation.goals import (
    INFRASTRUCTURE,
    WHOLLY,
    Value,
    answer_of,
    goal_steps,
    made_calls,
    score_goals,
    stop_of,
    undefined,
)
from seal.evaluation.judges.panel import (
    Ballot,
    Panel,
    Seat,
    half_credit,
    majority,
    passing,
    printed_pass,
    solved_ballot,
    written_pass,
)
from seal.evaluation.milestones.metrics import applies, match_of
from seal.evaluation.rule_judge import RuleJudge

if TYPE_CHECKING:
    from seal.evaluation.milestones.plans import PlanResult

UNUSABLE = "no usable verdict"
"""First words of the reason of a score that a judge's unusable answers left without a value."""
_FINISHED = ("done", "user_ended")
_GIVE_UP = "give_up_and_restart"


@dataclass(frozen=True, slots=True)
class SolvablePassRate:
    """StableToolBench's solvable pass rate, in [0, 1] for each goal."""

    panel: Panel
    name: ClassVar[str] = "sopr"

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal; its details have the label of each run of the judge."""

        def measure(position: int, goal: Goal) -> Value:
            missing = unfinished(trajectory, position)
            if missing:
                return _settled("unsolved", missing)
            answer, steps = answer_of(trajectory, position), goal_steps(trajectory, position)
            poll = self.panel.ask(goal, answer, steps)
            leading = poll.leading()
            mean = sum(map(half_credit, poll.labels)) / len(poll.labels)
            return _value(mean, leading, **poll.record())

        return judged_goals(task, trajectory, self.name, measure)


@dataclass(frozen=True, slots=True)
class ToolEvalPassRate:
    """ToolEval's pass rate: the chance that a goal is printed as passed.

    Details: the label of each judgement (pass, fail, unsure), `csv`: the chance that the csv has it
    as passed, where ties are tossed for, and `hallucination`: a tool was called that there is not.
    """

    panel: Panel
    name: ClassVar[str] = "tooleval"

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal."""

        def measure(position: int, goal: Goal) -> Value:
            steps = goal_steps(trajectory, position)
            seen = {"hallucination": any(call.tool is None for call in made_calls(steps))}
            if not _finished(trajectory, position):
                return _settled("fail", "the run did not finish", **seen)
            answer = answer_of(trajectory, position)
            offered = _offered(trajectory, position, tools)

            def ballot(seat: Seat) -> Ballot:
                told = (
                    Ballot(seat.name, seat.vote, "unsolved", "there is no final answer")
                    if _empty(answer)
                    else solved_ballot(seat, goal, answer, steps)
                )
                solved = told.label or "unsure"
                if solved == "solved":
                    return replace(told, label=passing(solved, "solvable"))
                solvable = seat.judge.solvable(goal, offered)
                return replace(told, label=passing(solved, solvable), solvable=solvable)

            poll = self.panel.poll(ballot)
            leading = poll.leading()
            chance = {"csv": written_pass(poll.labels)}
            return _value(printed_pass(poll.labels), leading, **chance, **seen, **poll.record())

        return judged_goals(task, trajectory, self.name, measure)


@dataclass(frozen=True, slots=True)
class Completeness:
    """Final answer completeness: 1.0 where the answer addresses all, 0.0 where it does not.

    Of several votes the majority; a tie counts a half. An answer of the judge with neither word
    counts 0 as published; here it is no verdict, and counted.
    """

    panel: Panel
    name: ClassVar[str] = "fac"

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal."""

        def measure(position: int, goal: Goal) -> Value:
            answer = answer_of(trajectory, position)
            if answer is None or not answer.strip():
                return _settled("unsolved", "there is no final answer")

            def ballot(seat: Seat) -> Ballot:
                verdict = seat.judge.complete(goal, answer)
                return Ballot(seat.name, seat.vote, verdict.label, verdict.reason)

            poll = self.panel.poll(ballot)
            leading = poll.leading()
            tied = majority(poll.labels) is None
            right = 0.5 if tied else float(leading.label == "solved")
            return _value(right, leading, **poll.record())

        return judged_goals(task, trajectory, self.name, measure)


def judged_goals(
    task: Task, trajectory: Trajectory, name: str, measure: Callable[[int, Goal], Value]
) -> list[Score]:
    """Return one score for each goal; a judge that fails or says nothing usable gives no value."""

    def guarded(position: int, goal: Goal) -> Mapping[str, Value]:
        return {name: judged(lambda: measure(position, goal))}

    return score_goals(task, trajectory, [name], guarded)


def judged(measure: Callable[[], Value]) -> Value:
    """Return what is measured; without a value where the judge failed or said nothing usable."""
    try:
        return measure()
    except InfrastructureError as error:
        return undefined(f"{INFRASTRUCTURE}: judge: {error}")
    except NoVerdictError as error:
        return undefined(f"{UNUSABLE}: {error}")
    except NotRecordedError as error:
        return undefined(f"no verdict recorded: {error}")


def unfinished(trajectory: Trajectory, position: int) -> str:
    """Return why there is nothing to judge in a goal; empty where there is."""
    if not _finished(trajectory, position):
        return "the run did not finish"
    return "there is no final answer" if _empty(answer_of(trajectory, position)) else ""


def _empty(answer: str | None) -> bool:
    return answer is None or not answer.strip() or _GIVE_UP in answer


def _finished(trajectory: Trajectory, position: int) -> bool:
    return stop_of(trajectory, position) in _FINISHED


def _offered(trajectory: Trajectory, position: int, tools: Mapping[str, Tool]) -> list[Tool]:
    ids = trajectory.offered[position] if position < len(trajectory.offered) else ()
    return [tools[tool_id] for tool_id in ids if tool_id in tools]


MEASURES = {measure.name: measure for measure in (ToolEvalPassRate, SolvablePassRate, Completeness)}
"""Published judges by the names of their metrics."""


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
                from seal.evaluation.milestones.measuring import measure_goal

                try:
                    match = self.match or match_of(task)
                    best = measure_goal(task, trajectory, position, match)
                except DataError as error:
                    return {NAME: undefined(f"the plan cannot be measured: {error}")}
                verdict = milestones_verdict(best.result)
                if verdict is not None:
                    return {NAME: _value(float(verdict.label == "solved"), verdict, by=MILESTONES)}
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
        stop = stop_of(trajectory, position, "done")
        if not answer and stop != "done":
            verdict = replace(verdict, reason=f"{verdict.reason} ({stop})")
        return _value(float(verdict.label == "solved"), verdict, **votes)


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


def _value(value: float, said: Verdict | Ballot, **details: JSON) -> Value:
    """Return the value of a goal, with what was said of it."""
    told: dict[str, JSON] = {"label": said.label, "stage": said.stage, "reason": said.reason}
    return Value(value, details={**told, **details})


def _settled(label: str, reason: str, **details: JSON) -> Value:
    """Return the value of a goal that no judge need be asked about."""
    return _value(0.0, Ballot("", 0, label, reason), **details)
