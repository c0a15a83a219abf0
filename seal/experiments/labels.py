"""People's labels of goals, read from CSV: solved, unsolved or unsure, of one or several raters.

A file has a column `label` and says of which goal it is by `item`, an id that `seal annotate
export` gave (`seal.experiments.goal_sheets`), or by `task_id` and maybe `trial` and `goal`; its
column `rater` may name who labelled, else a file is one rater's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from seal.core.errors import DataError, shortened
from seal.core.records import CsvRows
from seal.evaluation.judges.agreement import Case
from seal.evaluation.judges.panel import majority
from seal.experiments.annotation import harmless

LABELS = ("solved", "unsolved", "unsure")
_REFERENCES = ("item", "task_id")


@dataclass(frozen=True, slots=True)
class LabelRow:
    """What one row says."""

    where: str
    """File and line."""
    case: Case
    label: str
    """Of `LABELS`; empty where none was given."""
    rater: str


@dataclass(frozen=True, slots=True)
class Labels:
    """What people say of goals."""

    votes: Mapping[Case, Mapping[str, str]]
    """Goal to rater to label."""
    empty: int = 0
    """Rows without a label."""
    problems: tuple[str, ...] = ()
    """Rows that were not taken, with the reason."""
    raters: tuple[str, ...] = field(default=())

    @property
    def cases(self) -> dict[Case, bool]:
        """Whether goals are solved, by most raters; those left unsure or tied are left out."""
        found = {case: majority(list(of.values())) for case, of in self.votes.items()}
        return {case: label == "solved" for case, label in found.items() if label in LABELS[:2]}


def labels_of(rows: Iterator[LabelRow | str]) -> Labels:
    """Return the labels of rows; a rater's later label of a goal replaces the earlier one."""
    votes: dict[Case, dict[str, str]] = {}
    problems: list[str] = []
    empty = 0
    for row in rows:
        if isinstance(row, str):
            problems.append(row)
        elif row.label:
            votes.setdefault(row.case, {})[row.rater] = row.label
        else:
            empty += 1
    raters = tuple(sorted({rater for of in votes.values() for rater in of}))
    return Labels(votes, empty, tuple(problems), raters)


def read_rows(path: Path, items: Mapping[str, Case]) -> Iterator[LabelRow | str]:
    """Yield the rows of a file; a text for one that is none.

    Args:
        path: The file.
        items: Of the run that is labelled: id to its goal.

    Raises:
        DataError: The file cannot be read, or lacks a column.
    """
    rows = CsvRows(path, "labels")
    names = rows.columns
    if "label" not in names or not {*_REFERENCES} & {*names}:
        lacking = [name for name in ("task_id", "label") if name not in names]
        raise DataError(
            f"{path}: no column {', '.join(lacking)}; expected task_id, label and, where there are "
            "several, trial and goal, or the columns of `seal annotate export`"
        )
    for row in rows:
        yield row if isinstance(row, str) else _row(*row, items, path.stem)


def holds_labels(path: Path) -> bool:
    """Tell whether a file has labels of goals, not ratings of turns.

    Raises:
        DataError: The file cannot be read.
    """
    names = CsvRows(path, "ratings or labels").columns
    return "label" in names and "rating" not in names


def _row(
    where: str, fields: Mapping[str, str], items: Mapping[str, Case], rater: str
) -> LabelRow | str:
    label = fields["label"].lower()
    if label and label not in LABELS:
        return f"{where}: label {shortened(label)}: expected {', '.join(LABELS)}"
    case = _case(fields, items)
    if isinstance(case, str):
        return f"{where}: {case}"
    return LabelRow(where, case, label, harmless(fields.get("rater") or rater))


def _case(fields: Mapping[str, str], items: Mapping[str, Case]) -> Case | str:
    """Return of which goal a row is; a text where that cannot be told."""
    item = fields.get("item")
    if item:
        return items.get(item) or f"item {shortened(item)} is no answer of this run"
    numbers = [fields.get(name) or "0" for name in ("trial", "goal")]
    if not all(number.isascii() and number.isdecimal() for number in numbers):
        return f"trial and goal {', '.join(numbers)}: expected whole numbers"
    return fields.get("task_id", ""), int(numbers[0]), int(numbers[1])
