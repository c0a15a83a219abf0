"""Further published judges as metrics: `tooleval`, `sopr` and `fac`.

- tooleval: ToolEval's pass rate. Whoever did not finish fails. Else solved passes; what is not, is
  asked whether the task can be solved, and `panel.passing` says what follows.
- sopr: StableToolBench's solvable pass rate. Solvability is not asked. A run that did not finish is
  unsolved. The score is the mean over the runs of the judge; an unsure one counts a half.
- fac: final answer completeness (StableToolBench, MirrorAPI): request and answer alone.

To finish is to end a goal by oneself, with an answer or by giving up, and no limit.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from seal.core import JSON
from seal.evaluation.goals import GoalChat, GoalMetric, Value
from seal.evaluation.judges.measures import judged, value_of
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
