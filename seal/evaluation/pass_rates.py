"""The pass rate of goals, what judges did in a run, and the names of published judges."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from seal.core import (
    JSON,
    DataError,
    InfrastructureError,
    Judge,
    NotRecordedError,
    NoVerdictError,
    Scale,
    Score,
    Verdict,
)
from seal.core.conditions import Match
from seal.evaluation.goals import (
    CRASHED,
    INFRASTRUCTURE,
    JUDGED,
    UNDECIDED,
    WHOLLY,
    GoalChat,
    GoalMetric,
    Value,
    applies,
    is_decidable,
    match_of,
    stop_of,
    undefined,
    unserved,
)
from seal.evaluation.rule_judge import RuleJudge, judge_calls

if TYPE_CHECKING:
    from seal.evaluation.agreement import Judged
    from seal.evaluation.panel import Ballot
    from seal.evaluation.plans import PlanResult

# -- The pass rate: the share of goals that are solved, as a judge says, or the milestones.
#
# Source: the SEAL paper, "Pass rate". What it leaves open: a goal that stays unsure in the second
# stage is not passed where gold says what the answer must state (`goals.is_decidable`): vague words
# do not leave the denominator. Where gold says nothing of that, the goal is undecided. It is
# neither passed nor failed, has no value, and is counted beside the rate.
#
# If a goal's plans ask of a world and its milestones decide (`milestones_verdict`), no judge is
# asked. So the pass rate never contradicts the similarity. No judge is asked either if gold is
# calls and nothing else (`judge_calls`). The right calls solve such a goal, whatever was answered
# and however the chat ended, unless the agent crashed.

UNUSABLE = "no usable verdict"
"""First words of the reason of a score that a judge's unusable answers left without a value."""


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


NAME = "pass_rate"
MILESTONES = "milestones"
CALLS = "calls"
"""Who says so, in a score's details, where no judge does."""


@dataclass(frozen=True)
class PassRate(GoalMetric):
    """1.0 for solved, 0.0 for unsolved; details: label, stage, reason.

    A verdict of unsure is 0.0 where gold says what a right answer states, else None. Where no tool
    serves the goal, an answer that may not say so fails it: the label is unsolved.

    Where no judge said so, the details have `by` too: `MILESTONES` or `CALLS`. Of a `Panel` they
    have each vote and the share of votes that say solved; the majority counts, a tie is unsure.

    A goal without a final answer is unsolved, unless it is measured by milestones or calls alone.
    The value is None, with the reason, if milestones cannot be measured. It is None too if the
    judge fails (server, cache under replay) or says nothing usable.

    Args:
        judge: Asked where milestones do not say.
        match: Rules of milestones (`goals.milestone_match`); None: each task's own.
    """

    judge: Judge = field(default_factory=RuleJudge)
    match: Match | None = None

    names = (NAME,)
    main = JUDGED  # with what published judges say, which stands beside it
    scales = dict.fromkeys(names, Scale(gold_is_best=True))

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the value of one goal."""
        if applies(goal.task, goal.goal):
            from seal.evaluation.plans import measure_goal

            try:
                match = self.match or match_of(goal.task)
                best = goal.chat.once(measure_goal, goal, match)
            except DataError as error:
                return {NAME: undefined(f"the plan cannot be measured: {error}")}
            verdict = milestones_verdict(best.result)
            if verdict is not None:
                return {NAME: value_of(float(verdict.label == "solved"), verdict, by=MILESTONES)}
        if (verdict := judge_calls(goal.goal, goal.steps)) is not None:
            if verdict.label == "solved" and goal.stop == CRASHED:
                verdict = Verdict("unsolved", "the agent crashed after the gold calls", 2)
            return {NAME: value_of(float(verdict.label == "solved"), verdict, by=CALLS)}
        return {NAME: judged(lambda: self._judged(goal))}

    def _judged(self, goal: GoalChat) -> Value:
        asked = (goal.goal, goal.answer, goal.steps)
        if not isinstance(self.judge, RuleJudge):
            from seal.evaluation.panel import verdict_of

            verdict, votes = verdict_of(self.judge, *asked)
        else:
            verdict, votes = self.judge.judge(*asked), {}
        if verdict.label == "unsure" and unserved(goal.goal):
            told = "no call was made, but the answer does not say that no tool serves the request"
            verdict = replace(verdict, label="unsolved", reason=told)
        stop = stop_of(goal.trajectory, goal.position, "done")
        if not goal.answer and stop != "done":
            verdict = replace(verdict, reason=f"{verdict.reason} ({stop})")
        value = value_of(float(verdict.label == "solved"), verdict, **votes)
        if verdict.label != "unsure" or is_decidable(goal.goal):
            return value
        return replace(value, value=None, weight=0.0, reason=f"{UNDECIDED}: {verdict.reason}")


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


def value_of(value: float, said: Verdict | Ballot, **details: JSON) -> Value:
    """Return the value of a goal, with what was said of it."""
    told: dict[str, JSON] = {"label": said.label, "stage": said.stage, "reason": said.reason}
    return Value(value, details={**told, **details})


class JudgingSummary:
    """Collects the scores of judged metrics one by one; no score is kept."""

    def __init__(self) -> None:
        self._metrics: dict[str, Judged] = {}

    def add(self, score: Score) -> None:
        """Take one score in; one that no panel voted on is not counted, unless as unusable."""
        votes = score.details.get("votes")
        if isinstance(votes, list) and votes:
            self._judged(score.metric, len(votes)).add(votes)
        elif score.value is None and score.reason.startswith(UNUSABLE):
            self._judged(score.metric, 0).lost += 1
        elif score.metric == "sopr" and score.value is not None:
            self._judged(score.metric, 0).settled += 1

    def result(self) -> dict[str, dict[str, JSON]]:
        """Return metric to what its judges did.

        - votes, judges: votes on each goal, and who cast them
        - unusable: votes that were none, and lost: goals that have no usable vote
        - agreement: of each judge with itself, where it votes more than once
        - kappa: Fleiss' kappa; kappa_n: goals that it is of, and kappa_votes: usable votes on each
        - runs, of sopr: the rate of each vote, and deviation: their population deviation, in points
          of 100, as published
        """
        return {name: found.result(name) for name, found in sorted(self._metrics.items())}

    def _judged(self, metric: str, seats: int) -> Judged:
        from seal.evaluation.agreement import Judged

        return self._metrics.setdefault(metric, Judged(seats))


# -- Published judges by name; `panel` has who votes, what votes come to, and their metrics.

PASS_PAPER = "pass_paper"
PUBLISHED = (PASS_PAPER, "tooleval", "sopr", "fac")
"""Judges that papers describe; the metric of the first is `pass_rate`."""
VOTES = {PASS_PAPER: 1, "tooleval": 4, "sopr": 4, "fac": 1}
"""Judgements of each goal, as published."""
METRICS = {PASS_PAPER: "pass_rate", "tooleval": "tooleval", "sopr": "sopr", "fac": "fac"}
"""Judge to its metric."""
