"""Several votes, and the published judges that count them: tooleval, sopr and fac."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import ClassVar, Literal, Protocol, get_args

from seal.core import JSON, Goal, Judge, NotRecordedError, NoVerdictError, Step, Tool, Verdict
from seal.evaluation.goals import GoalChat, GoalMetric, Value
from seal.evaluation.pass_rates import judged, value_of

# -- Several votes on one goal, and what they come to by the rules of each published judge.
#
# The votes are of one judge asked again, of several judges, or both; or they were recorded
# elsewhere. Sources: ToolEval (ToolBench), the pass table and the printed pass rate;
# StableToolBench, the solvable pass rate. Both toss coins for what is unsure: here each counts what
# it is expected to.

Label = Literal["solved", "unsolved", "unsure"]
LABELS: Mapping[str, Label] = {label: label for label in get_args(Label)}
Solvability = Literal["solvable", "unsolvable", "unsure"]


class FullJudge(Judge, Protocol):
    """A judge that answers the questions of every published rule."""

    def solvable(self, goal: Goal, tools: Sequence[Tool]) -> Solvability:
        """Return whether a request can be met at all with these tools."""
        ...

    def complete(self, goal: Goal, answer: str) -> Verdict:
        """Return whether an answer addresses every part of a request: solved or unsolved."""
        ...


@dataclass(frozen=True, slots=True)
class Seat:
    """One vote: who casts it, and which of that judge's it is."""

    judge: FullJudge
    name: str
    """The model, or what stands for one."""
    vote: int = 0


@dataclass(frozen=True, slots=True)
class Ballot:
    """What one seat said."""

    judge: str
    vote: int
    label: str | None
    """None: nothing usable."""
    reason: str = ""
    stage: int = 1
    solvable: str = ""
    """Whether the task can be solved, where that was asked."""

    def record(self) -> dict[str, JSON]:
        """Return the ballot as JSON, for the details of a score."""
        told: dict[str, JSON] = {"judge": self.judge, "vote": self.vote, "label": self.label}
        if self.solvable:
            told["solvable"] = self.solvable
        return {**told, "stage": self.stage, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Poll:
    """The ballots on one goal, in the order of the seats."""

    ballots: tuple[Ballot, ...]

    @property
    def labels(self) -> list[str]:
        """The usable votes."""
        return [ballot.label for ballot in self.ballots if ballot.label is not None]

    @property
    def unusable(self) -> int:
        """How many ballots say nothing usable."""
        return len(self.ballots) - len(self.labels)

    def leading(self) -> Ballot:
        """Return the first ballot that says what most say; of a tie one that is unsure.

        Raises:
            NoVerdictError: No ballot is usable.
        """
        labels = self.labels
        if not labels:
            raise NoVerdictError(self.ballots[0].reason)
        most = majority(labels)
        if most is None:
            told = ", ".join(f"{label} {labels.count(label)}" for label in sorted({*labels}))
            stage = max(ballot.stage for ballot in self.ballots)
            return Ballot("", 0, "unsure", f"the votes are tied: {told}", stage)
        return next(ballot for ballot in self.ballots if ballot.label == most)

    def verdict(self) -> Verdict:
        """Return what most say of whether a goal is solved; a tie is unsure.

        Raises:
            NoVerdictError: No ballot is usable.
        """
        leading = self.leading()
        label = LABELS.get(leading.label or "", "unsure")
        return Verdict(label, leading.reason, leading.stage)

    def record(self) -> dict[str, JSON]:
        """Return what a score's details say of the votes."""
        told: dict[str, JSON] = {"votes": [ballot.record() for ballot in self.ballots]}
        return told | ({"unusable": self.unusable} if self.unusable else {})


@dataclass(frozen=True, slots=True)
class Panel:
    """Seats that vote on each goal; as a judge it says what most of them say.

    Args:
        seats: At least one.
    """

    seats: tuple[Seat, ...]

    def poll(self, ask: Callable[[Seat], Ballot]) -> Poll:
        """Return what every seat says.

        Args:
            ask: Gives one seat's ballot; what it says by NoVerdictError is an unusable one.

        Raises:
            InfrastructureError: A judge failed: then there is no vote at all.
        """
        ballots = []
        for seat in self.seats:
            try:
                ballots.append(ask(seat))
            except NoVerdictError as error:
                ballots.append(Ballot(seat.name, seat.vote, None, str(error)))
        return Poll(tuple(ballots))

    def ask(self, goal: Goal, answer: str | None, steps: Sequence[Step]) -> Poll:
        """Return what every seat says of a goal: solved, unsolved or unsure.

        Raises:
            InfrastructureError: A judge failed.
        """
        return self.poll(lambda seat: solved_ballot(seat, goal, answer, steps))

    def judge(self, goal: Goal, answer: str | None, steps: Sequence[Step]) -> Verdict:
        """Return what most seats say; a tie is unsure.

        Raises:
            InfrastructureError: A judge failed.
            NoVerdictError: No seat said anything usable.
        """
        return self.ask(goal, answer, steps).verdict()


def verdict_of(
    judge: Judge, goal: Goal, answer: str | None, steps: Sequence[Step]
) -> tuple[Verdict, dict[str, JSON]]:
    """Return what a judge says of a goal; of a panel the share of votes for solved and all votes.

    Raises:
        InfrastructureError: A judge failed.
        NoVerdictError: Nobody said anything usable.
    """
    if not isinstance(judge, Panel):
        return judge.judge(goal, answer, steps), {}
    poll = judge.ask(goal, answer, steps)
    verdict = poll.verdict()
    return verdict, {"solved": poll.labels.count("solved") / len(poll.labels), **poll.record()}


def solved_ballot(seat: Seat, goal: Goal, answer: str | None, steps: Sequence[Step]) -> Ballot:
    """Return one seat's verdict as a ballot."""
    verdict = seat.judge.judge(goal, answer, steps)
    return Ballot(seat.name, seat.vote, verdict.label, verdict.reason, verdict.stage)


Passing = Literal["pass", "fail", "unsure"]


def majority(labels: Sequence[str]) -> str | None:
    """Return the label of most votes; None where several have most, or there is no vote."""
    ranked = Counter(labels).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]


def passing(solved: str, solvable: str) -> Passing:
    """Return ToolEval's outcome of one judgement.

    Args:
        solved: solved, unsolved or unsure.
        solvable: solvable, unsolvable or unsure; of what is solved it does not matter.
    """
    if solved == "solved" or solvable == "unsolvable":
        return "pass"
    if solved == "unsolved" and solvable == "solvable":
        return "fail"
    return "unsure"


def printed_pass(outcomes: Sequence[str]) -> float:
    """Return the probability that ToolEval prints a query as passed, in [0, 1].

    It passes where passes >= fails, after a fair coin for each unsure outcome.

    Args:
        outcomes: pass, fail or unsure, at least one.
    """
    return _chance(outcomes, 0)


def written_pass(outcomes: Sequence[str]) -> float:
    """Return the probability that ToolEval's csv has a query as passed: a coin decides ties."""
    return (_chance(outcomes, 0) + _chance(outcomes, 1)) / 2


def _chance(outcomes: Sequence[str], lead: int) -> float:
    """Return the probability that passes - fails >= lead."""
    counts = Counter(outcomes)
    coins, ahead = counts["unsure"], counts["pass"] - counts["fail"]
    enough = sum(comb(coins, up) for up in range(coins + 1) if ahead + 2 * up - coins >= lead)
    return float(enough / 2**coins)


def half_credit(label: str) -> float:
    """Return what a vote counts in the solvable pass rate: solved 1, unsure a half, else 0."""
    return {"solved": 1.0, "unsure": 0.5}.get(label, 0.0)


MISSING = "missing"
"""Label of a run of the judge that has no verdict of a task which other runs have."""


@dataclass(frozen=True, slots=True)
class RecordedJudge:
    """Gives one verdict on one task, whatever it is asked.

    Args:
        label: solved, unsolved, unsure, or `MISSING`, which counts as unsolved, as published;
            anything else is no verdict. None: the task was not recorded.
    """

    label: str | None

    @property
    def identity(self) -> str:
        """Name, part of what a run measures; the file's digest stands beside it."""
        return "recorded/1"

    def judge(self, goal: Goal, answer: str | None, steps: Sequence[Step]) -> Verdict:
        """Return the verdict.

        Raises:
            NoVerdictError: What was recorded is none.
            NotRecordedError: Nothing was.
        """
        if self.label is None:
            raise self._lacks("has none")
        if self.label == MISSING:
            return Verdict("unsolved", "this run of the judge has no verdict of it")
        label = LABELS.get(self.label)
        if label is None:
            raise NoVerdictError(f"recorded as {self.label[:100]!r}")
        return Verdict(label, "as recorded")

    def solvable(self, goal: Goal, tools: Sequence[Tool]) -> Solvability:
        """Raise NotRecordedError: the files do not say whether a task can be solved."""
        raise self._lacks("does not say whether tasks can be solved")

    def complete(self, goal: Goal, answer: str) -> Verdict:
        """Raise NotRecordedError: the files have no verdicts on completeness."""
        raise self._lacks("has no verdicts on completeness")

    def _lacks(self, said: str) -> NotRecordedError:
        unknown = self.label is None
        return NotRecordedError(
            f"the file {'has none of this task and trial' if unknown else said}"
        )


def recorded_panel(labels: Sequence[str], judges: Sequence[str] = ()) -> Panel:
    """Return the panel of recorded judges.

    Args:
        labels: Of each run of a judge.
        judges: Of each run its judge; empty: one judge was run several times.
    """
    seats = judges or ["recorded"] * len(labels)
    return Panel(
        tuple(
            Seat(RecordedJudge(label), name, seats[:vote].count(name))
            for vote, (label, name) in enumerate(zip(labels, seats, strict=True))
        )
    )


UNRECORDED = Panel((Seat(RecordedJudge(None), "recorded"),))


# -- Further published judges as metrics: `tooleval`, `sopr` and `fac`.
#
# - tooleval: ToolEval's pass rate. Whoever did not finish fails. Else solved passes. Of what is not
#   solved it is asked whether the task can be solved, and `passing` says what follows.
# - sopr: StableToolBench's solvable pass rate. Solvability is not asked. A run that did not finish
#   is unsolved. The score is the mean over the runs of the judge; an unsure one counts a half.
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
