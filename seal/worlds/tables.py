"""Rows of tables: found, changed and copied. No table is changed in place."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence

from seal.core.types import JSON

Row = dict[str, JSON]

_PLAIN = frozenset({bool, float, int, str, type(None)})
"""Types of cells that need no copy, of which nearly all rows are."""

FUZZY_LIMIT = 5
"""Rows that a fuzzy search finds at most."""


class NoDataError(LookupError):
    """A tool's failure: no row is what was asked for."""


class DuplicateError(ValueError):
    """A tool's failure: a row exists already, or is not the only one."""


def copied(rows: Sequence[Row]) -> list[Row]:
    """Return rows that can be changed without changing these."""
    return [
        dict(row) if _PLAIN.issuperset(map(type, row.values())) else copy.deepcopy(dict(row))
        for row in rows
    ]


def where(rows: Sequence[Row], column: str, value: JSON) -> list[Row]:
    """Return the rows whose cell is this value; null is no cell's value.

    >>> where([{"a": 1}, {"a": None}], "a", None)
    []
    """
    return [row for row in rows if row[column] is not None and row[column] == value]


def between(
    rows: Sequence[Row], column: str, low: float | None = None, high: float | None = None
) -> list[Row]:
    """Return the rows whose number lies between the bounds, both included; None: no bound."""
    return [
        row
        for row in rows
        if row[column] is not None
        and (low is None or row[column] >= low)
        and (high is None or row[column] <= high)
    ]


def like(rows: Sequence[Row], column: str, text: JSON, threshold: float = 90.0) -> list[Row]:
    """Return the rows whose text is like this one, the likest first, at most `FUZZY_LIMIT`.

    Args:
        rows: Of which null cells are like nothing.
        column: Holds the texts.
        text: What is looked for.
        threshold: Least likeness in [0, 100]: rapidfuzz's WRatio over lower-cased letters and
            digits.

    Raises:
        TypeError: `text` is no text.
    """
    from rapidfuzz import fuzz, process, utils

    texts = {place: row[column] for place, row in enumerate(rows)}
    found = process.extract(
        text,
        texts,
        scorer=fuzz.WRatio,
        processor=utils.default_process,
        limit=FUZZY_LIMIT,
        score_cutoff=threshold,
    )
    return [rows[place] for _, _, place in found]


def without(rows: Sequence[Row], remove: Callable[[Row], bool]) -> list[Row]:
    """Return the other rows.

    Raises:
        NoDataError: There is no such row.
    """
    left = [row for row in rows if not remove(row)]
    if len(left) == len(rows):
        raise NoDataError("there is no such entry; nothing was removed")
    return left


def moved(rows: Sequence[Row], column: str, value: JSON, changes: Mapping[str, JSON]) -> list[Row]:
    """Return the rows with one of them changed, which then stands last.

    Raises:
        NoDataError: There is no such row.
        DuplicateError: There are several.
    """
    found = where(rows, column, value)
    if not found:
        raise NoDataError(f"there is no entry with the {column} {value!r}")
    if len(found) > 1:
        raise DuplicateError(f"{len(found)} entries have the {column} {value!r}")
    return [*(row for row in rows if row is not found[0]), {**found[0], **changes}]


__all__ = [
    "FUZZY_LIMIT",
    "DuplicateError",
    "NoDataError",
    "Row",
    "between",
    "copied",
    "like",
    "moved",
    "where",
    "without",
]
