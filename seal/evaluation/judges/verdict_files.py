"""Verdicts and preferences that were recorded elsewhere, whatever their format was.

Our own table of preferences between runs is CSV in UTF-8, a row a vote: columns `task_id`, `first`,
`second` and `better`, and maybe `trial`, `goal` (0 where there is none) and `rater`. `first` and
`second` name the two runs, by their folder or their model; `better` is first, second or tie. The
rows of a goal are votes on it, whichever run stands first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from seal.core import DataError, shortened
from seal.core.csv_tables import CsvRows
from seal.evaluation.preference import CHOICES, Pairing, outcome_of

IDENTITY = "recorded/1"
COLUMNS = ("task_id", "first", "second", "better")
UNRECORDED = Pairing(None, "unrecorded", reason="the file says nothing of this goal")
"""What a goal comes to of which nothing was recorded."""
Place = tuple[str, int, int]
"""Task id, trial, goal."""


@dataclass(frozen=True, slots=True)
class Vote:
    """What one row says."""

    where: str
    """File and line."""
    place: Place
    runs: tuple[str, str]
    """Names of the first and the second."""
    better: str
    """Of `CHOICES`."""
    rater: str
    """Empty where the table names none."""


@dataclass(frozen=True, slots=True)
class Ballots:
    """What was recorded of one goal: how many votes are for whom."""

    base: int = 0
    run: int = 0
    tie: int = 0

    def pairing(self) -> Pairing:
        """Return how the goal came out: more votes win, as many tie."""
        told = f"{self.run} to {self.base} votes" + (f", {self.tie} ties" if self.tie else "")
        return Pairing(outcome_of(self.run - self.base), "recorded", reason=told)


def read_votes(path: Path) -> tuple[list[Vote], list[str]]:
    """Return the votes of a table, and the rows that are none, by file and line with the reason.

    Raises:
        DataError: The file cannot be read, lacks a column, or has two votes of one rater on a goal.
    """
    rows = CsvRows(path, "preferences")
    lacking = {*COLUMNS} - {*rows.columns}
    if lacking:
        raise DataError(
            f"{path}: no preferences: no column {', '.join(sorted(lacking))}; expected columns "
            f"{', '.join(COLUMNS)} by commas, or a file of StableToolBench's preference_results"
        )
    found = [row if isinstance(row, str) else _vote(*row) for row in rows]
    votes = [row for row in found if isinstance(row, Vote)]
    met: dict[tuple[Place, frozenset[str], str], str] = {}
    for vote in votes:
        if vote.rater:
            first = met.setdefault((vote.place, frozenset(vote.runs), vote.rater), vote.where)
            if first is not vote.where:
                raise DataError(
                    f"{path}: {vote.where}: {vote.rater} compared these runs in task "
                    f"{vote.place[0]} in {first} already; leave one of both rows in"
                )
    return votes, [row for row in found if isinstance(row, str)]


def _vote(where: str, row: dict[str, str]) -> Vote | str:
    """Return the vote of a row; a text for one that is none."""
    better = row["better"].lower()
    if better not in CHOICES:
        return f"{where}: better {shortened(better)}: expected {', '.join(CHOICES)}"
    if not row["task_id"] or not row["first"] or not row["second"]:
        return f"{where}: task_id, first or second is empty"
    if row["first"] == row["second"]:
        return f"{where}: first and second are both {shortened(row['first'])}"
    numbers = [row.get(name) or "0" for name in ("trial", "goal")]
    if not all(number.isascii() and number.isdecimal() for number in numbers):
        return f"{where}: trial and goal {', '.join(numbers)}: expected whole numbers"
    place = (row["task_id"], int(numbers[0]), int(numbers[1]))
    return Vote(where, place, (row["first"], row["second"]), better, row.get("rater", ""))


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
