"""Rows of tables: found, changed and copied. No table is changed in place."""

from __future__ import annotations

import copy
import json
import marshal
from collections.abc import Callable, Iterable, Mapping, Sequence

from seal.core import JSON
from seal.core.table_versions import Version
from seal.core.values import loses_number

Row = dict[str, JSON]

_PLAIN = frozenset({bool, float, int, str, type(None)})
"""Types of cells that need no copy, of which nearly all rows are."""

_NUMBERS = frozenset({float, int})

_NO_REFERENCES = 2
"""Version of marshal's format in which parts are not shared."""

FUZZY_LIMIT = 5
"""Rows that a fuzzy search finds at most."""


class UnknownTableError(KeyError):
    """A tool's failure: the world has no such table."""

    def __str__(self) -> str:
        return str(self.args[0])


class UnknownColumnError(ValueError):
    """A tool's failure: a table has no such column."""


class NoDataError(LookupError):
    """A tool's failure: no row is what was asked for."""


class DuplicateError(ValueError):
    """A tool's failure: a row exists already, or is not the only one."""


def frozen(rows: Iterable[Row]) -> Version:
    """Return a table of copies of rows, which nobody changes.

    Args:
        rows: JSON objects.

    Raises:
        TypeError: A cell is no JSON, such as a set.
        ValueError: A number is infinite, none or beyond a float, or a cell holds itself.
    """
    return Version(map(copied, rows))


def copied(row: Row) -> Row:
    """Return a copy of a row; a tuple becomes a list. Errors are those of `frozen`."""
    for value in row.values():
        kind = type(value)
        if kind not in _PLAIN or (kind in _NUMBERS and loses_number(value)):
            return {column: _cell(column, cell) for column, cell in row.items()}
    return dict(row)


def _cell(column: str, value: JSON) -> JSON:
    try:
        cell = json.loads(json.dumps(value, allow_nan=False))
        if loses_number(cell):
            raise ValueError("a number is too large")
        return cell
    except (TypeError, ValueError) as error:
        raise type(error)(f"the cell {column!r} of a table would be no JSON: {error}") from error


def own_copy(values: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a map, such as a row, of which nothing can be changed through this one."""
    if _PLAIN.issuperset(map(type, values.values())):
        return dict(values)
    try:  # as JSON: a third of the time
        fresh: dict[str, JSON] = marshal.loads(marshal.dumps(dict(values), _NO_REFERENCES))
        return fresh
    except ValueError:
        return copy.deepcopy(dict(values))


def where(rows: Sequence[Row], column: str, value: JSON) -> list[Row]:
    """Return the rows whose cell is this value; null is no cell's value.

    >>> where([{"a": 1}, {"a": None}], "a", None)
    []
    """
    return [] if value is None else [row for row in rows if row[column] == value]


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
    if not isinstance(text, str):
        raise TypeError(f"{column}: expected a text, got {type(text).__name__}")
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
