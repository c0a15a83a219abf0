"""What happened to a table between two moments: rows that came, went or changed."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from seal.core.canonical import canonical_json, equal
from seal.core.conditions.rows import beyond
from seal.core.types import JSON

Row = Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class CellChange:
    """One cell of a row that changed."""

    column: str
    before: JSON
    """None also where the row did not have the column."""
    after: JSON


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row that kept its first column, which names it, and changed in others."""

    name: tuple[str, JSON]
    """First column and its value."""
    cells: tuple[CellChange, ...]


@dataclass(frozen=True, slots=True)
class TableChange:
    """What happened to one table."""

    added: tuple[Row, ...] = ()
    removed: tuple[Row, ...] = ()
    changed: tuple[RowChange, ...] = ()
    moved: bool = False
    """True: nothing but the order of the rows changed."""

    def __bool__(self) -> bool:
        """Tell whether anything happened."""
        return bool(self.added or self.removed or self.changed or self.moved)


def table_change(before: Sequence[Row], after: Sequence[Row]) -> TableChange:
    """Return what happened to a table, a multiset of rows.

    Of the rows that are not in both, one that went and one that came are the same row changed
    where their first columns are equal; the first ones where several are.
    """
    if before is after:
        return TableChange()
    came, went = beyond(after, before), beyond(before, after)
    waiting: dict[bytes, deque[int]] = {}
    for place, row in enumerate(went):
        waiting.setdefault(_name(row), deque()).append(place)
    added, changed = [], []
    gone = dict(enumerate(went))
    for row in came:
        named = waiting.get(_name(row)) if row else None
        if named:
            changed.append(
                RowChange(next(iter(row.items())), _cells(gone.pop(named.popleft()), row))
            )
        else:
            added.append(row)
    moved = not (came or went) and not equal(list(before), list(after))
    return TableChange(tuple(added), tuple(gone.values()), tuple(changed), moved)


def _name(row: Row) -> bytes:
    return canonical_json(dict(list(row.items())[:1]))


def _cells(before: Row, after: Row) -> tuple[CellChange, ...]:
    names = dict.fromkeys((*before, *after))
    return tuple(
        CellChange(name, before.get(name), after.get(name))
        for name in names
        if (name in before) != (name in after) or not equal(before.get(name), after.get(name))
    )
