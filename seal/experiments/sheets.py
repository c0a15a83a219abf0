"""The sheet that people fill in: a row has an item, a question, a rater and the rater's value.

It is a CSV file. Between the question and the value stands what a person must see; a question
leaves some of that empty. A sheet that comes back has the values of one rater, unless its column
`rater` names others.

Sheets of former versions are read too: there the column of values has the name of its question. A
question about goals also takes a table of `task_id`, `trial` and `goal`, the last two 0 by default.

The package `krippendorff` computes agreement, which is Krippendorff's alpha (Computing
Krippendorff's alpha-reliability, 2011).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from seal.core import DataError, needing, shortened
from seal.core.records import CsvRows, escaped, unescaped, write_csv
from seal.evaluation.agreement import Case

Item = TypeVar("Item", bound=Hashable)
SHOWN = ("role", "before", "asked", "calls", "gold", "answer")
"""Columns of what a person sees: the character that the assistant played, what was said before and
asked last, the calls with their results, the gold calls with theirs, and the assistant's words."""
COLUMNS = ("item", "question", *SHOWN, "value", "rater")
_PLACE = ("task_id", "trial", "goal")


@dataclass(frozen=True, slots=True)
class Question:
    """What people are asked of each item."""

    name: str
    """Column of the values in sheets of former versions."""
    text: str
    values: tuple[str, ...]
    """The answers that there are, in their order."""
    level: Literal["nominal", "ordinal"]
    """Of measurement."""


RATING = Question("rating", "How good is this turn, from 1 to 5?", tuple("12345"), "ordinal")
LABEL = Question(
    "label",
    "Is it solved, unsolved, or are you unsure?",
    ("solved", "unsolved", "unsure"),
    "nominal",
)
QUESTIONS = (RATING, LABEL)


@dataclass(frozen=True, slots=True)
class SheetRow(Generic[Item]):
    """What one row of a sheet says."""

    where: str
    """File and line."""
    item: Item
    value: str | None
    """None: the rater left it empty."""
    rater: str


@dataclass(frozen=True, slots=True)
class Judgements(Generic[Item]):
    """What people say of items."""

    votes: Mapping[Item, Mapping[str, str]]
    """Item to rater to value."""
    empty: int = 0
    """Rows without a value."""
    problems: tuple[str, ...] = ()
    """Rows that were not taken, by file and line, with the reason."""

    @classmethod
    def of(cls, rows: Iterable[SheetRow[Item] | str], once: bool = False) -> Judgements[Item]:
        """Return what rows say; a rater's later value of an item replaces the earlier one.

        Args:
            rows: Of one sheet or several; a text says why a row was not taken.
            once: Two rows of a rater and an item are refused.

        Raises:
            DataError: Names both rows.
        """
        votes: dict[Item, dict[str, str]] = {}
        problems: list[str] = []
        places: dict[tuple[Item, str], str] = {}
        empty = 0
        for row in rows:
            if isinstance(row, str):
                problems.append(row)
            elif row.value is None:
                empty += 1
            else:
                first = places.setdefault((row.item, row.rater), row.where)
                if once and first is not row.where:
                    raise DataError(
                        f"{row.where}: {row.rater} judged {named(row.item)} in {first} already; "
                        "leave one of both rows in, and import the files again"
                    )
                votes.setdefault(row.item, {})[row.rater] = row.value
        return cls(votes, empty, tuple(problems))

    def over(self, before: Mapping[Item, Mapping[str, str]]) -> dict[Item, dict[str, str]]:
        """Return earlier values of items with these in the place of their raters' own."""
        both = {item: dict(of) for item, of in before.items()}
        for item, of in self.votes.items():
            both.setdefault(item, {}).update(of)
        return both

    @property
    def raters(self) -> tuple[str, ...]:
        """Names of the raters who gave a value."""
        return tuple(sorted({rater for of in self.votes.values() for rater in of}))

    @property
    def taken(self) -> int:
        """Number of values."""
        return sum(map(len, self.votes.values()))


def write_sheet(path: Path, question: Question, items: Iterable[tuple[str, Iterable[str]]]) -> None:
    """Write a sheet to fill in.

    Args:
        path: The CSV file, in UTF-8.
        question: What is asked of each item.
        items: Id of an item, and what a person sees of it, in the order of `SHOWN`.
    """
    rows = ([item, question.text, *map(escaped, shown), "", ""] for item, shown in items)
    write_csv(path, COLUMNS, rows)


def question_of(path: Path) -> Question:
    """Return the question that a sheet answers.

    Raises:
        DataError: The file cannot be read, or answers none.
    """
    rows = CsvRows(path, "ratings or labels")
    asked = {row[1].get("question") for row in rows if not isinstance(row, str)}
    for question in QUESTIONS:
        if question.name in rows.columns or question.text in asked:
            return question
    raise DataError(
        f"{path}: no column value with a question that SEAL asks; expected the columns of `seal "
        "annotate export`, or task_id and label"
    )


def read_sheet(
    path: Path, question: Question, items: Mapping[str, Item]
) -> Iterator[SheetRow[Item] | str]:
    """Yield the rows of a sheet; for a row that cannot be taken, a text with the reason.

    Args:
        path: The file.
        question: That it answers.
        items: Id of each item to the item; of a question about goals, to the `Case`.

    Raises:
        DataError: The file cannot be read, or lacks a column.
    """
    rows = CsvRows(path, f"{question.name}s")
    by_place = question is LABEL and "task_id" in rows.columns
    given = "value" if "value" in rows.columns else question.name
    lacking = [name for name in ("item", given) if name not in rows.columns]
    if by_place and "item" in lacking:
        lacking.remove("item")
    if lacking:
        raise DataError(
            f"{path}: no column {', '.join(lacking)}; expected {', '.join(COLUMNS)}, as of `seal "
            "annotate export`"
            + (f", or {', '.join(_PLACE)}, {LABEL.name}" if question is LABEL else "")
        )
    for row in rows:
        if isinstance(row, str):
            yield row
            continue
        where, fields = row
        value, own = _plain(fields[given]), fields.get("item", "")
        item: Any = items.get(own) if own or not by_place else _place(fields)
        if not value:
            yield SheetRow(where, item, None, "")
        elif value not in question.values:
            told = f"{question.name} {shortened(fields[given])}"
            yield f"{where}: {told}: expected {', '.join(question.values)}"
        elif item is None:
            yield f"{where}: item {shortened(own)} is none of this run"
        elif isinstance(item, str) and by_place:
            yield f"{where}: {item}"
        else:
            yield SheetRow(where, item, value, unescaped(fields.get("rater") or path.stem))


def _plain(text: str) -> str:
    """Return a value as questions have it: in lower case, and 4.0 as 4."""
    with suppress(ValueError):
        number = float(text)
        if number.is_integer():
            return str(int(number))
    return text.lower()


def _place(fields: Mapping[str, str]) -> Case | str:
    """Return the goal of a row without an item; a text with the reason if it does not tell."""
    numbers = [fields.get(name) or "0" for name in _PLACE[1:]]
    if not all(number.isascii() and number.isdecimal() for number in numbers):
        return f"trial and goal {', '.join(numbers)}: expected whole numbers"
    return unescaped(fields["task_id"]), int(numbers[0]), int(numbers[1])


def named(item: Hashable) -> str:
    """Return an item as messages call it."""
    if isinstance(item, tuple):
        return ", ".join(
            f"{name} {part}" for name, part in zip(("task", *_PLACE[1:]), item, strict=True)
        )
    return f"item {item}"


def alpha_of(votes: Mapping[Any, Mapping[str, str]], question: Question) -> float | None:
    """Return Krippendorff's alpha, at most 1.

    None: no two raters judged the same item, or all values are equal.

    Args:
        votes: Item to rater to value.
        question: That they answer.

    Raises:
        MissingExtraError: krippendorff is needed and not installed.
    """
    raters = sorted({rater for of in votes.values() for rater in of})
    shared = [of for of in votes.values() if len(of) > 1]
    if len({value for of in shared for value in of.values()}) < 2:
        return None
    with needing("krippendorff", "dialogue"):
        import krippendorff
    table = [
        [float(question.values.index(of[rater])) if rater in of else float("nan") for of in shared]
        for rater in raters
    ]
    return float(krippendorff.alpha(table, level_of_measurement=question.level))
