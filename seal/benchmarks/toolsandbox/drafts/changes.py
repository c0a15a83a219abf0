"""What happened to a table, in the short notation of scenarios, with the columns that matter.

Rows are written whole, so that nothing else of them may change or be filled in: ids and moments of
creation alone are left out, for they differ from chat to chat. Cells of positions and of moments
that earlier calls brought have a tolerance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from seal.core.canonical import equal
from seal.core.conditions.cells import Row
from seal.core.conditions.stated import is_moment
from seal.core.types import JSON
from seal.evaluation.milestones.faults import TableChange

POSITION = 0.001
"""Degrees by which latitudes and longitudes may differ."""
MOMENT = 60.0
"""Seconds by which moments may differ that follow from the time of the chat."""


def change_of(
    before: Sequence[Row], after: Sequence[Row], change: TableChange, moving: Collection[float] = ()
) -> dict[str, JSON]:
    """Return one change of a table as a node of a scenario has it.

    Args:
        before: The table before.
        after: The table after.
        change: What happened.
        moving: Numbers that earlier calls or the world brought, and that may differ from chat to
            chat.
    """
    kind, rows = _rows(before, after, change)
    by = {
        name: {"close": tolerance}
        for row in rows
        for name, value in row.items()
        if (tolerance := tolerance_of(name, value, moving)) is not None
    }
    return {kind: rows, **({"by": by} if by else {})}


def tolerance_of(name: str, value: JSON, moving: Collection[float]) -> float | None:
    """Return by how much a number of some name may differ; None: not at all, or it is no number."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    if "latitude" in name or "longitude" in name:
        return POSITION
    return MOMENT if is_moment(value) and float(value) in moving else None


def _rows(
    before: Sequence[Row], after: Sequence[Row], change: TableChange
) -> tuple[str, list[dict[str, JSON]]]:
    if change.added and not change.removed and not change.changed:
        return "added", [_cells(row) for row in change.added]
    if change.removed and not change.added and not change.changed:
        stay = [row for row in before if row not in change.removed]
        return "removed", [_told_apart(row, stay) for row in change.removed]
    if change.changed and not change.added and not change.removed:
        return "updated", _changed(after, change)
    return "is", [_cells(row) for row in after]


def _cells(row: Row) -> dict[str, JSON]:
    """Return the cells without ids; all but moments of creation if none is left."""
    kept = {name: v for name, v in row.items() if not _is_own(name, row)}
    if all(value is None for value in kept.values()):
        return {name: v for name, v in row.items() if not _is_creation(name)}
    return kept


def _told_apart(row: Row, others: Sequence[Row]) -> dict[str, JSON]:
    """Return the cells of a row; with its first one where these are another row's too."""
    kept = _cells(row)
    alike = any(all(equal(other.get(n), v) for n, v in kept.items()) for other in others)
    return {**dict(list(row.items())[:1]), **kept} if alike else kept


def _changed(after: Sequence[Row], change: TableChange) -> list[dict[str, JSON]]:
    """Return the changed rows whole: what stayed as it was is asked for too."""
    names = [one.name for one in change.changed]
    return [
        _cells(next(row for row in after if equal(row.get(column), name))) for column, name in names
    ]


def _is_own(name: str, row: Mapping[str, JSON]) -> bool:
    """Tell whether a column holds an id or a moment of creation."""
    first = next(iter(row), "")
    return name in (first, "id") or name.endswith("_id") or _is_creation(name)


def _is_creation(name: str) -> bool:
    return "creat" in name.casefold()
