"""Sheets that people fill in: a row has an item, a rater, and the rater's value if there is one.

The package `krippendorff` computes agreement, which is Krippendorff's alpha (Computing
Krippendorff's alpha-reliability, 2011).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from seal.core import DataError, needing

Item = TypeVar("Item")
Value = TypeVar("Value")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")
"""Beginnings of a text by which a spreadsheet takes it for a formula."""


@dataclass(frozen=True, slots=True)
class SheetRow(Generic[Item, Value]):
    """What one row of a sheet says."""

    where: str
    """File and line."""
    item: Item
    value: Value | None
    """None: the rater left it empty."""
    rater: str


@dataclass(frozen=True, slots=True)
class Judgements(Generic[Item, Value]):
    """What people say of items."""

    votes: Mapping[Item, Mapping[str, Value]]
    """Item to rater to value."""
    empty: int = 0
    """Rows without a value."""
    problems: tuple[str, ...] = ()
    """Rows that were not taken, by file and line, with the reason."""

    @classmethod
    def of(
        cls, rows: Iterable[SheetRow[Item, Value] | str], said: Callable[[Item], str] | None = None
    ) -> Judgements[Item, Value]:
        """Return what rows say; a rater's later value of an item replaces the earlier one.

        Args:
            rows: Of one sheet or several.
            said: What a rater did to an item, for the message: two rows of a rater and an item are
                refused. None: they are not.

        Raises:
            DataError: Names both rows.
        """
        votes: dict[Item, dict[str, Value]] = {}
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
                if said is not None and first is not row.where:
                    raise DataError(
                        f"{row.where}: {row.rater} {said(row.item)} in {first} already; leave one "
                        "of both rows in, and import the files again"
                    )
                votes.setdefault(row.item, {})[row.rater] = row.value
        return cls(votes, empty, tuple(problems))

    def over(self, before: Mapping[Item, Mapping[str, Value]]) -> dict[Item, dict[str, Value]]:
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


def harmless(text: str) -> str:
    """Return a text that no spreadsheet runs: an apostrophe is put before a formula."""
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA) else text


def alpha_of(
    votes: Mapping[Item, Mapping[str, float]], level: Literal["nominal", "ordinal"]
) -> float | None:
    """Return Krippendorff's alpha, at most 1.

    None: no two raters judged the same item, or all values are equal.

    Args:
        votes: Item to rater to value.
        level: Of measurement.

    Raises:
        MissingExtraError: krippendorff is needed and not installed.
    """
    raters = sorted({rater for of in votes.values() for rater in of})
    shared = [of for of in votes.values() if len(of) > 1]
    if len({value for of in shared for value in of.values()}) < 2:
        return None
    with needing("krippendorff", "dialogue"):
        import krippendorff
    table: list[list[Any]] = [[of.get(rater, float("nan")) for of in shared] for rater in raters]
    return float(krippendorff.alpha(table, level_of_measurement=level))
