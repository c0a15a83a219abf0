"""Several votes on one goal: of one judge asked again, of several judges, or both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from seal.core.errors import NoVerdictError
from seal.core.protocols import Judge
from seal.core.types import JSON, Goal, Step, Tool, Verdict
from seal.evaluation.judges.tally import majority
from seal.evaluation.llm_judge import LABELS, Solvability


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
        return Poll(tuple(self._ballot(seat, ask) for seat in self.seats))

    def _ballot(self, seat: Seat, ask: Callable[[Seat], Ballot]) -> Ballot:
        try:
            return ask(seat)
        except NoVerdictError as error:
            return Ballot(seat.name, seat.vote, None, str(error))

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


def solved_ballot(
    seat: Seat, goal: Goal, answer: str | None, steps: Sequence[Step], solvable: str = ""
) -> Ballot:
    """Return one seat's verdict as a ballot."""
    verdict = seat.judge.judge(goal, answer, steps)
    return Ballot(seat.name, seat.vote, verdict.label, verdict.reason, verdict.stage, solvable)
