"""Verdicts and preferences that were recorded elsewhere, whatever their format was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from seal.core.text import counted
from seal.evaluation.preference import Pairing, outcome_of

IDENTITY = "recorded/1"
UNRECORDED = Pairing(None, "unrecorded", reason="the file says nothing of this goal")
"""What a goal comes to of which nothing was recorded."""
Place = tuple[str, int, int]
"""Task id, trial, goal."""


@dataclass(frozen=True, slots=True)
class Ballots:
    """What was recorded of one goal: how many votes are for whom."""

    base: int
    run: int

    def pairing(self) -> Pairing:
        """Return how the goal came out: more votes win, as many tie."""
        told = f"{self.run} to {counted(self.base, 'vote')}"
        return Pairing(outcome_of(self.run - self.base), "recorded", reason=told)


@dataclass(frozen=True, slots=True)
class QueryVerdicts:
    """What the runs of a judge said of one query."""

    query: str | None
    """None: its id alone says which it is."""
    labels: Mapping[int, str]
    """Run to its label in lower case: solved, unsolved, unsure, or what else stands there."""
    answer: str | None
    """The final answer that was judged; None: the run did not finish, or it cannot be read."""


@dataclass(frozen=True, slots=True)
class VerdictFile:
    """A file of verdicts, or a folder of them."""

    path: Path
    queries: Mapping[str, QueryVerdicts]
    """By query id."""
    judges: tuple[str, ...] = ()
    """Of each run its judge; empty: one judge was run several times."""

    @property
    def runs(self) -> int:
        """How many runs of judges there are: one more than the highest of any query."""
        return max((run for found in self.queries.values() for run in found.labels), default=-1) + 1


@dataclass(frozen=True, slots=True)
class PreferenceFile:
    """A file of preferences between two models."""

    path: Path
    models: tuple[str, str]
    """In the order of the file: the reference first."""
    points: Mapping[str, tuple[int, int]]
    """Query id to the points of each."""
    unjudged: frozenset[str] = frozenset()
    """Queries without points of which no round is complete."""
    queries: Mapping[str, str] = field(default_factory=dict)
    """Query id to its text; empty where the file tells none, as JSON."""
    answers: Mapping[str, tuple[str | None, str | None]] = field(default_factory=dict)
    """Query id to the final answers that were judged, in the order of `models`; as `queries`."""

    def shares(self) -> dict[str, float]:
        """Return win, lose and tie of the second model over queries, each in [0, 1]."""
        total = len(self.points)
        won = sum(theirs < ours for theirs, ours in self.points.values())
        lost = sum(theirs > ours for theirs, ours in self.points.values())
        counts = {"win": won, "lose": lost, "tie": total - won - lost}
        return {name: count / total for name, count in counts.items()}
