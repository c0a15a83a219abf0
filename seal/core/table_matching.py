"""How alike cells, rows and tables are, and the cheapest assignment of rows to rows."""

from __future__ import annotations

import struct
from collections import Counter, deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from math import e, exp, inf, log
from typing import Any, Literal

from seal.core.conditions import CLEAN, Match
from seal.core.table_versions import Fill, Row, Version
from seal.core.values import CLOSE, alike, canonical_json, equal, is_same, plain_text

# -- How alike one cell of a table is to what it should be.
#
# Every measure gives a similarity in [0, 1], or None where the cell does not count. Two sets of
# rules:
#
# - `clean`: values are compared as those of calls (`seal.core.values.alike`: 1 is 1.0, True is no
#   number); an absent value (None) is no match but of None, or where any value is.
# - published rules: as ToolSandbox's evaluator does. True is 1; an absent value where one is wanted
#   is left out of the mean by `exact`, `contains` and `rouge_l`, and no match by `close` and
#   `calls`.

Tolerance = float | Literal["inf"]
"""Greatest difference that is none; JSON has no infinity, so it is written "inf"."""
Table = Sequence[Row]
Change = Literal["snapshot", "addition", "removal", "update"]
"""What is measured of a table (`rows_similarity`)."""
Measure = Literal["exact", "close", "contains", "rouge_l", "calls", "any"]


@dataclass(frozen=True, slots=True)
class Column:
    """How the cells of one column are measured.

    - exact: the same value.
    - close: numbers that differ by at most `tolerance`.
    - contains: the wanted text is part of the cell's.
    - rouge_l: `seal.core.rouge.rouge_l` of the wanted text and the cell's.
    - calls: a recorded call is one of the wanted ones: the same tool, and every wanted argument
      there and the same, within its tolerance if both are numbers; further arguments are free.
    - any: whatever it is.
    """

    measure: Measure = "exact"
    tolerance: Tolerance = 0.0
    """Of `close`."""
    tolerances: dict[str, Tolerance] = field(default_factory=dict)
    """Of `calls`: name of an argument to its tolerance; 0 where it is not named."""


Call = Mapping[str, Any]
"""{tool: tool id, arguments: {name: value}}; a recorded one has `result` too."""


def cell_similarity(value: Any, wanted: Any, column: Column, match: Match) -> float | None:
    """Return how alike a cell is to what is wanted, in [0, 1]; None where it does not count."""
    clean = match == CLEAN
    measure = column.measure
    if measure == "any":
        return 1.0
    if measure == "calls":
        candidates = wanted if isinstance(wanted, (list, tuple)) else [wanted]
        pairs = product(value or (), candidates)
        return float(any(_is_call(call, other, column, clean) for call, other in pairs))
    if value is None or wanted is None:
        if clean or (measure == "exact" and wanted is None):
            return float(value is wanted)
        return 0.0 if measure == "close" else None
    if measure == "exact":
        return float(alike(value, wanted) if clean else value == wanted)
    if measure == "close":
        return float(_same(value, wanted, column.tolerance, clean))
    if measure == "contains":
        return float(str(wanted) in str(value))
    from seal.core.rouge import rouge_l

    return 1.0 if clean and value == wanted else rouge_l(str(wanted), str(value))


def _same(value: Any, wanted: Any, tolerance: Tolerance, clean: bool) -> bool:
    """Tell whether two values are the same; of numbers, whether they differ by the tolerance."""
    limit = inf if tolerance == "inf" else tolerance
    booleans = (isinstance(one, bool) for one in (value, wanted))
    numbers = all(isinstance(one, (int, float)) for one in (value, wanted))
    if numbers and not (clean and any(booleans)):
        try:
            return bool(abs(value - wanted) <= limit)
        except OverflowError:  # an integer that no float holds, and a fraction
            return limit == inf
    return alike(value, wanted) if clean else bool(value == wanted)


def _is_call(call: Call, wanted: Call, column: Column, clean: bool) -> bool:
    """Tell whether a recorded call is a wanted one."""
    if call["tool"] != wanted["tool"]:
        return False
    given = call["arguments"]
    return all(
        name in given and _same(given[name], value, column.tolerances.get(name, 0.0), clean)
        for name, value in wanted["arguments"].items()
    )


# -- How alike a table, or what changed in it, is to the rows that it should have.
#
# Rows are JSON objects, a table is a list of rows. `rows_similarity` is the geometric mean of the
# cells' similarities over columns and rows, under the one-to-one assignment of rows that makes it
# largest; one cell of similarity 0 forbids its pair.
#
# The measures, and where published rules (ToolSandbox's) depart from `clean`:
#
# - snapshot: the whole table; as many rows as wanted. `clean`: a target row is measured by the
#   columns that it names itself. Published: by those of any target row, absent ones as None.
# - addition: no earlier row is gone, and the added ones are as wanted. `clean`: tables are
#   multisets, so the same row twice is two rows. Published: an absent value is "", 0 or False, by
#   the type of its column; 0 where a row stands twice or is added again.
# - removal: an addition seen from behind.
# - update: `clean`: as many rows gone as come, each of which keeps its first column, which names
#   it; the changed ones are as wanted. Published: as many rows before as after; those that are new
#   are as wanted, whichever are gone; absent values as of an addition.
#
# Versions of a table share the rows that stay, so what differs is found by identity first. Rows are
# compared as JSON; but where two versions share a row, it need not be compared:
# `seal.evaluation.scoring` lets them share all equal ones.

_EXACT = Column()


def compared(
    change: Change, table: Table, before: Table, target: Table, match: Match
) -> tuple[Table, Table] | None:
    """Return the rows that are measured, and the target rows that they are measured by.

    Args:
        change: What is measured.
        table: The rows now.
        before: The rows of the step that is referred to.
        target: The rows wanted.
        match: By which rules.

    Returns:
        None where something else happened to the table, or to another number of rows.
    """
    if change == "snapshot":
        return table, target
    if change == "removal":
        table, before = before, table
    if change == "update":
        return (_clean_update if match == CLEAN else _update)(table, before, target)
    return (_clean_addition if match == CLEAN else _addition)(table, before, target)


def unchanged(table: Table, before: Table, match: Match) -> bool:
    """Tell whether a table is as before; `clean`: in any order of rows."""
    if table is before:
        return True
    if match != CLEAN:
        return list(table) == list(before)
    if len(table) != len(before):
        return False
    table, before = Version.of(table), Version.of(before)
    came, went = table.apart(before), before.apart(table)
    return Counter(map(table.key, came)) == Counter(map(before.key, went))


def rows_similarity(
    table: Table, target: Table, columns: Mapping[str, Column], match: Match
) -> float:
    """Return how alike all rows are to the target rows, in [0, 1]; both empty: 1."""
    if len(table) != len(target):
        return 0.0
    if not target:
        return 1.0
    if match != CLEAN:
        target = _with_all_columns(target)
    costs = [[_cost(row, wanted, columns, match) for row in table] for wanted in target]
    if any(cost is None for line in costs for cost in line):
        return 0.0
    known: Any = costs
    assigned = cheapest(known)
    if assigned is None:
        return 0.0
    return exp(-sum(known[row][column] for row, column in enumerate(assigned)) / len(target))


def _with_all_columns(target: Table) -> Table:
    names = dict.fromkeys(name for row in target for name in row)
    return [{name: row.get(name) for name in names} for row in target]


def _cost(row: Row, wanted: Row, columns: Mapping[str, Column], match: Match) -> float | None:
    """Return the mean of -ln of the cells' similarities; None where no cell counts."""
    total, count = 0.0, 0
    for name, value in wanted.items():
        if name not in row:
            return inf
        alike = cell_similarity(row[name], value, columns.get(name, _EXACT), match)
        if alike == 0.0:
            return inf
        if alike is not None:
            total += _log_cost(alike)
            count += 1
    return total / count if count else None


def _log_cost(alike: float) -> float:
    """Return -ln of a similarity as the original has it: in 32 bits, over ln e in 32 bits."""
    return 0.0 if alike == 1.0 else _single(_single(-log(_single(alike))) / _LN_E)


def _single(value: float) -> float:
    rounded: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    return rounded


_SINGLE = struct.Struct("f")
_LN_E = _single(log(_single(e)))


def _clean_addition(table: Table, before: Table, target: Table) -> tuple[Table, Table] | None:
    if len(table) - len(before) != len(target):  # whatever the rows are
        return None
    table, before = Version.of(table), Version.of(before)
    if table.differs_more(before, len(target)):
        return None
    added = beyond(table, before)
    return (added, target) if len(added) == len(target) else None


def _clean_update(table: Table, before: Table, target: Table) -> tuple[Table, Table] | None:
    if len(table) != len(before):
        return None
    table, before = Version.of(table), Version.of(before)
    if table.differs_more(before, len(target)):
        return None
    changed, gone = beyond(table, before), beyond(before, table)
    return (changed, target) if _names(changed) == _names(gone) else None


def _names(rows: Iterable[Row]) -> Counter[bytes]:
    """Count the first columns of rows, which name them."""
    return Counter(canonical_json(dict(list(row.items())[:1])) for row in rows)


def beyond(table: Table, other: Table) -> list[Row]:
    """Return the rows that a table has more often than another, in its order."""
    table, other = Version.of(table), Version.of(other)
    own, others = _unpaired([*table.apart(other)], [*other.apart(table)])
    rest = Counter(map(other.key, others))
    found: list[Row] = []
    for row in own:
        key = table.key(row)
        if rest[key]:
            rest[key] -= 1
        else:
            found.append(row)
    return found


def _unpaired(table: list[Row], other: list[Row]) -> tuple[list[Row], list[Row]]:
    """Return two tables without the rows that are the same in the same place of both.

    A place is counted from the beginning, and of the rows that are left from the end. What is left
    is little where few rows changed, and its keys are dear.
    """
    for _ in range(2):
        pairs = enumerate(zip(table, other, strict=False))
        same = {place for place, pair in pairs if is_same(*pair)}
        table, other = (
            [row for place, row in enumerate(rows) if place not in same][::-1]
            for rows in (table, other)
        )
    return table, other


def _addition(table: Table, before: Table, target: Table) -> tuple[Table, Table] | None:
    """Return what was added, if the pairs of equal rows are as many as there were rows before."""
    table, before = Version.of(table), Version.of(before)
    if len(table) > len(before) + len(target):  # each row was there, or was added
        return None
    if before.distinct and len(table) < len(before) + len(target):  # each row pairs at most once
        return None
    found = _new(table, before, target)
    if found is None:
        return None
    new, filled = found
    if before.distinct:
        pairs = len(table) - len(new)
    else:
        fill = _filling(table, before, target)
        known = Counter(canonical_json(fill(row)) for row in before)
        pairs = sum(known[canonical_json(fill(row))] for row in table)
    return None if pairs != len(before) else (new, filled)


def _update(table: Table, before: Table, target: Table) -> tuple[Table, Table] | None:
    if len(table) != len(before):
        return None
    return _new(Version.of(table), Version.of(before), target)


def _new(table: Version, before: Version, target: Table) -> tuple[Table, Table] | None:
    """Return the filled rows that were not there before, and the target filled alike.

    None where there are more of them than of the target's, with which nothing is alike.
    """
    fill = _filling(table, before, target)
    new = (fill(row) for row in table.apart(before) if not before.has(row, fill))
    found = list(islice(new, len(target) + 1))
    return None if len(found) > len(target) else (found, [fill(row) for row in target])


def _filling(table: Version, before: Version, target: Table) -> Fill:
    """Return what puts "", 0 or False for None, by the type of the column over all tables."""
    zeros = Version.of(target).zeros | before.zeros | table.zeros

    def fill(row: Row) -> Row:
        return {
            name: zeros.get(name, "") if value is None else value for name, value in row.items()
        }

    return fill


# -- What happened to a table between two moments: which rows came, went or changed.


@dataclass(frozen=True, slots=True)
class CellChange:
    """One cell of a row that changed."""

    column: str
    before: Any
    """None also where the row did not have the column."""
    after: Any


@dataclass(frozen=True, slots=True)
class RowChange:
    """A row that kept its first column, which names it, and changed in others."""

    name: tuple[str, Any]
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

    A row that went and a row that came are the same row, changed, if their first columns are equal.
    If several are, the first ones are paired.
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


def rows_apart(wanted: Table, found: Table) -> TableChange:
    """Return what would make of the wanted rows those that were found, in any order of rows.

    Rows whose values are one (`seal.core.values.alike`) are the same row.
    """
    missing, extra = unlike(wanted, found)
    return table_change(missing, extra) if missing or extra else TableChange()


def unlike(table: Table, other: Table) -> tuple[list[Row], list[Row]]:
    """Return the rows that each of two tables has, and the other has none of its own like.

    Rows whose values are one (`seal.core.values.alike`) are like each other.
    """
    left: list[Row] = []
    right = beyond(other, table)
    places: dict[Hashable, list[int]] = {}
    for place, row in enumerate(right):
        places.setdefault(_likeness(row), []).append(place)
    waiting = dict.fromkeys(range(len(right)))
    for row in beyond(table, other):
        key = _likeness(row)
        near = waiting if key is None else sorted([*places.get(key, ()), *places.get(None, ())])
        twin = next((at for at in near if at in waiting and alike(row, right[at])), None)
        if twin is None:
            left.append(row)
        else:
            del waiting[twin]
    return left, [right[place] for place in waiting]


def _likeness(row: Row) -> Hashable:
    """Return what rows have in common that are like each other, so that few need be compared.

    None: it has a number so near to where others are rounded otherwise that it may be like those.
    """
    cells = [(plain_text(str(name)), _rounded(cell)) for name, cell in row.items()]
    return None if any(cell is _UNSURE for _, cell in cells) else frozenset(cells)


_UNSURE = object()
_SCALE = 1.234567891
"""By which numbers are multiplied before they are rounded, so that no whole ones lie halfway."""


def _rounded(cell: Any) -> Hashable:
    if isinstance(cell, str):
        return plain_text(cell)
    if cell is None or isinstance(cell, bool):
        return cell
    if not isinstance(cell, (int, float)):
        return isinstance(cell, dict)
    try:
        low, high = (f"{cell * (1 + edge) * _SCALE + 0.0:.6g}" for edge in (-2 * CLOSE, 2 * CLOSE))
    except OverflowError:  # an integer beyond all floats, which is like no other number
        return cell
    return low if low == high else _UNSURE


def _name(row: Row) -> bytes:
    return canonical_json(dict(list(row.items())[:1]))


def _cells(before: Row, after: Row) -> tuple[CellChange, ...]:
    names = dict.fromkeys((*before, *after))
    return tuple(
        CellChange(name, before.get(name), after.get(name))
        for name in names
        if (name in before) != (name in after) or not equal(before.get(name), after.get(name))
    )


# -- The cheapest one-to-one assignment of rows to columns.


def cheapest(costs: Sequence[Sequence[float]]) -> list[int] | None:
    """Return for each row the column it gets, so that the sum of the costs is least.

    Shortest augmenting paths over reduced costs, O(n ** 3): each row in turn is added by the path
    along which the total grows least. Source: Jonker and Volgenant, Computing 38 (1987).

    Of equal paths the one is taken that ends in the first column. Exact where all costs are
    integers, of any size.

    Args:
        costs: Rows of numbers without NaN, as many in each row as there are rows, or more; infinity
            forbids a pair.

    Returns:
        For each row its column, no column twice; None where every assignment has a forbidden pair.
    """
    size = len(costs)
    width = len(costs[0]) if size else 0
    of_row: list[float] = [0] * size
    of_column: list[float] = [0] * width
    owner: list[int | None] = [None] * width
    begun = 0
    while begun < size and min(costs[begun]) == costs[begun][begun] < inf:
        of_row[begun] = costs[begun][begun]  # as `_add` does while a row's own column is its best
        owner[begun] = begun
        begun += 1
    for row in range(begun, size):
        if not _add(row, costs, of_row, of_column, owner):
            return None
    columns = [0] * size
    for column, held_by in enumerate(owner):
        if held_by is not None:
            columns[held_by] = column
    return columns


def _add(
    start: int,
    costs: Sequence[Sequence[float]],
    of_row: list[float],
    of_column: list[float],
    owner: list[int | None],
) -> bool:
    """Give a further row a column, moving earlier rows where that is cheaper.

    Args:
        start: The row.
        costs: As of `cheapest`.
        of_row: Prices of the rows; changed.
        of_column: Prices of the columns; changed.
        owner: Row that has each column; changed.
    """
    size = len(owner)
    distance = [inf] * size
    before: list[int] = [start] * size
    done: list[int] = []
    waiting = set(range(size))
    row = start
    travelled: float = 0
    while True:
        for column in waiting:
            length = travelled + costs[row][column] - of_row[row] - of_column[column]
            if length < distance[column]:
                distance[column] = length
                before[column] = row
        column = min(waiting, key=lambda place: (distance[place], place))
        travelled = distance[column]
        if travelled == inf:
            return False
        waiting.remove(column)
        held_by = owner[column]
        if held_by is None:
            break
        done.append(column)
        row = held_by
    of_row[start] += travelled
    for place in done:
        slack = travelled - distance[place]
        of_column[place] -= slack
        of_row[owner[place]] += slack  # type: ignore[index]  # a column on the path has an owner
    _flip(start, column, before, owner)
    return True


def _flip(start: int, column: int, before: list[int], owner: list[int | None]) -> None:
    """Hand the columns along the path to the rows before them."""
    held = {row: place for place, row in enumerate(owner) if row is not None}
    while True:
        row = before[column]
        owner[column] = row
        if row == start:
            return
        column = held[row]
