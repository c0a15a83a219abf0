"""A judge that gives verdicts which were recorded elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seal.core.errors import NotRecordedError, NoVerdictError
from seal.core.types import Goal, Step, Tool, Verdict
from seal.evaluation.judges.panel import Panel, Seat
from seal.evaluation.llm_judge import LABELS, Solvability

MISSING = "missing"
"""Label of a run of the judge that has no verdict of a task which other runs have."""


@dataclass(frozen=True, slots=True)
class RecordedJudge:
    """Gives one verdict on one task, whatever it is asked.

    Args:
        label: solved, unsolved, unsure, or `MISSING`, which counts as unsolved, as published;
            anything else is no verdict.
    """

    label: str

    @property
    def identity(self) -> str:
        """Name, part of what a run measures; the file's digest stands beside it."""
        return "recorded/1"

    def judge(self, goal: Goal, answer: str | None, steps: Sequence[Step]) -> Verdict:
        """Return the verdict.

        Raises:
            NoVerdictError: What was recorded is none.
        """
        if self.label == MISSING:
            return Verdict("unsolved", "this run of the judge has no verdict of it")
        label = LABELS.get(self.label)
        if label is None:
            raise NoVerdictError(f"recorded as {self.label[:100]!r}")
        return Verdict(label, "as recorded")

    def solvable(self, goal: Goal, tools: Sequence[Tool]) -> Solvability:
        """Raise NotRecordedError: the files do not say whether a task can be solved."""
        raise NotRecordedError("the file does not say whether tasks can be solved")

    def complete(self, goal: Goal, answer: str) -> Verdict:
        """Raise NotRecordedError: the files have no verdicts on completeness."""
        raise NotRecordedError("the file has no verdicts on completeness")


@dataclass(frozen=True, slots=True)
class UnrecordedJudge:
    """Stands for the verdict on a task that was not recorded."""

    def judge(self, goal: Goal, answer: str | None, steps: Sequence[Step]) -> Verdict:
        """Raise NotRecordedError."""
        raise NotRecordedError("the file has none of this task and trial")

    def solvable(self, goal: Goal, tools: Sequence[Tool]) -> Solvability:
        """Raise NotRecordedError."""
        raise NotRecordedError("the file has none of this task and trial")

    def complete(self, goal: Goal, answer: str) -> Verdict:
        """Raise NotRecordedError."""
        raise NotRecordedError("the file has none of this task and trial")


def recorded_panel(labels: Sequence[str]) -> Panel:
    """Return the panel of the runs of a recorded judge, in their order."""
    return Panel(
        tuple(Seat(RecordedJudge(label), "recorded", vote) for vote, label in enumerate(labels))
    )


UNRECORDED = Panel((Seat(UnrecordedJudge(), "recorded"),))
