"""Judged scores: pass_rate, tooleval, sopr and fac; what judges did in a run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

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
from seal.evaluation.panel import (
    Ballot,
    Panel,
    Seat,
    half_credit,
    majority,
    passing,
    printed_pass,
    solved_ballot,
    verdict_of,
    written_pass,
)
from seal.evaluation.rule_judge import RuleJudge, judge_calls

if TYPE_CHECKING:
    from seal.evaluation.agreement import Judged
    from seal.evaluation.milestones import PlanResult


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
        match: Rules of milestones (`milestones.metrics`); None: each task's own.
    """

    judge: Judge = field(default_factory=RuleJudge)
    match: Match | None = None

    names = (NAME,)
    main = JUDGED  # with what published judges say, which stands beside it
    scales = dict.fromkeys(names, Scale(gold_is_best=True))

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the value of one goal."""
        if applies(goal.task, goal.goal):
            from seal.evaluation.milestones import measure_goal

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


# -- Further published judges as metrics: `tooleval`, `sopr` and `fac`.
#
# - tooleval: ToolEval's pass rate. Whoever did not finish fails. Else solved passes; what is not,
#   is
#   asked whether the task can be solved, and `panel.passing` says what follows.
# - sopr: StableToolBench's solvable pass rate. Solvability is not asked. A run that did not finish
#   is
#   unsolved. The score is the mean over the runs of the judge; an unsure one counts a half.
# - fac: final answer completeness (StableToolBench, MirrorAPI): request and answer alone.
#
# To finish is to end a goal by oneself, with an answer or by giving up, and no limit.

_FINISHED = ("done", "user_ended")
_GIVE_UP = "give_up_and_restart"


@dataclass(frozen=True)
class _Published(GoalMetric):
    """One score for each goal; a judge that fails or says nothing usable gives no value."""

    panel: Panel
    name: ClassVar[str]

    @property
    def names(self) -> tuple[str]:
        """The name of the score."""
        return (self.name,)

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the value of one goal."""
        return {self.name: judged(lambda: self._judged(goal))}

    @abstractmethod
    def _judged(self, goal: GoalChat) -> Value:
        """Return what the judges say of a goal."""


class SolvablePassRate(_Published):
    """StableToolBench's solvable pass rate, in [0, 1] for each goal.

    Its details have the label of each run of the judge.
    """

    name = "sopr"

    def _judged(self, goal: GoalChat) -> Value:
        if goal.stop not in _FINISHED:
            return _settled("unsolved", "the run did not finish")
        if _empty(goal.answer):
            return _settled("unsolved", "there is no final answer")
        poll = self.panel.ask(goal.goal, goal.answer, goal.steps)
        leading = poll.leading()
        mean = sum(map(half_credit, poll.labels)) / len(poll.labels)
        return value_of(mean, leading, **poll.record())


class ToolEvalPassRate(_Published):
    """ToolEval's pass rate: the chance that a goal is printed as passed.

    The details have the label of each judgement (pass, fail, unsure). `csv` is the chance that the
    csv has the goal as passed, where a coin decides ties. `hallucination`: an unknown tool was
    called.
    """

    name = "tooleval"

    def _judged(self, goal: GoalChat) -> Value:
        seen = {"hallucination": any(call.tool is None for call in goal.made)}
        if goal.stop not in _FINISHED:
            return _settled("fail", "the run did not finish", **seen)
        offered = [goal.tools[tool] for tool in goal.offered or () if tool in goal.tools]

        def ballot(seat: Seat) -> Ballot:
            told = (
                Ballot(seat.name, seat.vote, "unsolved", "there is no final answer")
                if _empty(goal.answer)
                else solved_ballot(seat, goal.goal, goal.answer, goal.steps)
            )
            solved = told.label or "unsure"
            if solved == "solved":
                return replace(told, label=passing(solved, "solvable"))
            solvable = seat.judge.solvable(goal.goal, offered)
            return replace(told, label=passing(solved, solvable), solvable=solvable)

        poll = self.panel.poll(ballot)
        leading = poll.leading()
        chance = {"csv": written_pass(poll.labels)}
        return value_of(printed_pass(poll.labels), leading, **chance, **seen, **poll.record())


class Completeness(_Published):
    """Final answer completeness: 1.0 where the answer addresses all, 0.0 where it does not.

    Of several votes the majority; a tie counts a half. An answer of the judge with neither word
    counts 0 as published; here it is no verdict, and counted.
    """

    name = "fac"

    def _judged(self, goal: GoalChat) -> Value:
        answer = goal.answer or ""
        if not answer.strip():
            return _settled("unsolved", "there is no final answer")

        def ballot(seat: Seat) -> Ballot:
            verdict = seat.judge.complete(goal.goal, answer)
            return Ballot(seat.name, seat.vote, verdict.label, verdict.reason)

        poll = self.panel.poll(ballot)
        leading = poll.leading()
        tied = majority(poll.labels) is None
        right = 0.5 if tied else float(leading.label == "solved")
        return value_of(right, leading, **poll.record())


def _empty(answer: str | None) -> bool:
    return answer is None or not answer.strip() or _GIVE_UP in answer


MEASURES = {measure.name: measure for measure in (ToolEvalPassRate, SolvablePassRate, Completeness)}
"""Published judges by the names of their metrics."""


def _settled(label: str, reason: str, **details: JSON) -> Value:
    """Return the value of a goal that no judge need be asked about."""
    return value_of(0.0, Ballot("", 0, label, reason), **details)
