"""What can be wrong with a plan before anything is measured by it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from seal.core import JSON, DataError, Milestone, Plan, UnknownNameError, shortened
from seal.core.conditions import CLEAN, FIRST, LAST, MESSAGE, Called, Condition, parts
from seal.core.state_conditions import (
    COLUMNS,
    EXTRACTORS,
    DependsOn,
    EndsAs,
    FinalState,
    StateHas,
    StateUnchanged,
    Unconfirmed,
)
from seal.core.table_matching import Column, Measure
from seal.evaluation.goals import milestone_match

State = Mapping[str, Sequence[Mapping[str, JSON]]]


def check_plan(plan: Plan, state: State | None = None, measured: bool = False) -> None:
    """Make sure that a plan can be measured.

    Args:
        plan: With milestones and minefields.
        state: Tables as its world begins; None: unknown, so no name of a table or column is
            checked. A table without rows tells no columns.
        measured: Whether somebody measured by the plan before, so that a target may be all null.

    Raises:
        DataError: A graph has a cycle or an edge to nowhere. Or a condition refers to a milestone
            that need not come before its own. Or a table, column or extractor is unknown. Or a
            target has no row, no column or no value. The text names the place and the repair.
    """
    for name, nodes in (("milestones", plan.milestones), ("minefields", plan.minefields)):
        for position, fault in _faults(nodes, state, measured):
            raise DataError(f"{name}.{position}: {fault}")


def _faults(
    nodes: Sequence[Milestone], state: State | None, measured: bool
) -> Iterator[tuple[int, str]]:
    """Yield what is wrong, each with the position of its node."""
    for position, node in enumerate(nodes):
        for earlier in node.after:
            if not 0 <= earlier < len(nodes):
                yield position, f"after: no node {earlier}; there are 0 to {len(nodes) - 1}"
                return
    before = [ancestors(position, nodes) for position in range(len(nodes))]
    for position, node in enumerate(nodes):
        if position in before[position]:
            yield position, "after: the nodes form a cycle, so that none can come first; cut it"
            return
        for part in parts(node.condition):
            if getattr(part, "of_plan", False) and node is not nodes[-1]:
                yield position, "the end that the plan's own calls lead to stands last; move it"
            if isinstance(part, Called) and any(_is_end(nodes[n]) for n in before[position]):
                yield position, "after: no call comes after the end of the world; put that last"
            for fault in _faults_of(part, before[position], state):
                yield position, fault
            if not measured and _is_all_null(part):
                yield position, "rows: every value is null; name one that must be there"


def _is_end(node: Milestone) -> bool:
    return any(isinstance(part, EndsAs | FinalState) for part in parts(node.condition))


def ancestors(position: int, nodes: Sequence[Milestone]) -> set[int]:
    """Return the nodes that must come before one; itself where there is a cycle.

    An edge to nowhere is passed over.
    """
    found: set[int] = set()
    waiting = list(nodes[position].after)
    while waiting:
        earlier = waiting.pop()
        if earlier not in found and 0 <= earlier < len(nodes):
            found.add(earlier)
            waiting.extend(nodes[earlier].after)
    return found


def _faults_of(part: Condition, ancestors: Collection[int], state: State | None) -> Iterator[str]:
    for since in sorted((part.references() or frozenset()) - {FIRST, LAST}):
        if since not in ancestors:
            yield (
                f"since: {since} is no milestone that must come before; "
                f"expected -1 or one of {sorted(ancestors)}"
            )
    table = part.table if isinstance(part, StateUnchanged | StateHas | FinalState) else MESSAGE
    if state is not None and table not in {*state, MESSAGE}:
        yield str(UnknownNameError("table", table, {*state, MESSAGE}))
    if isinstance(part, StateHas | StateUnchanged | DependsOn) and part.match != CLEAN:
        yield from _faults_of_match(part.match)
    if isinstance(part, EndsAs | FinalState):
        yield from _faults_of_names("ignore", part.ignore, state)
    if isinstance(part, EndsAs):
        yield from _faults_of_names("cells", part.cells, state)
    if isinstance(part, FinalState):
        yield from _faults_of_rows(part.rows, {}, _columns_of(part.table, state))
    elif isinstance(part, StateHas):
        yield from _faults_of_measure(part)
        yield from _faults_of_rows(part.rows, part.columns, _columns_of(part.table, state))
    elif isinstance(part, DependsOn):
        if part.extractor not in EXTRACTORS:
            yield str(UnknownNameError("extractor", part.extractor, EXTRACTORS))
        if len(part.rows) != 1:
            yield f"rows: expected one message, got {len(part.rows)}"
        yield from _faults_of_rows(part.rows, part.columns, COLUMNS)
    elif isinstance(part, Unconfirmed):
        try:
            ZoneInfo(part.zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            yield f"zone: expected a name such as Europe/Rome, got {part.zone!r}"


def _faults_of_names(field: str, names: Iterable[str], state: State | None) -> Iterator[str]:
    """Yield the names in a field of a condition that are no table, nor a column of one."""
    if state is None:
        return
    for name in names:
        tables = [table for table in state if name == table or name.startswith(f"{table}.")]
        if not tables:
            yield f"{field}: {UnknownNameError('table', name.partition('.')[0], state)}"
        elif name not in tables:
            table = max(tables, key=len)
            known = _columns_of(table, state)
            if known is not None and name[len(table) + 1 :] not in known:
                column = name[len(table) + 1 :]
                yield f"{field}: {UnknownNameError(f'column of {table}', column, known)}"


def _columns_of(table: str, state: State | None) -> Collection[str] | None:
    """Return the columns of a table; None where nothing tells them."""
    if table == MESSAGE:
        return COLUMNS
    rows = (state or {}).get(table)
    return {name for row in rows for name in row} if rows else None


def _faults_of_match(match: str) -> Iterator[str]:
    try:
        milestone_match(match, "match")
    except DataError as error:
        yield str(error)


def _faults_of_measure(part: StateHas) -> Iterator[str]:
    if part.measure == "snapshot":
        if not part.rows and (part.table == MESSAGE or part.match != CLEAN):
            yield f"rows: a snapshot of {part.table} without rows cannot be measured; name some"
        return
    if part.table == MESSAGE:
        yield f"measure: {part.measure!r} of {MESSAGE}, which knows only snapshot"
    if part.since is None:
        yield f"since: {part.measure} needs the milestone to compare with; -1 is the first step"
    if not part.rows:
        yield f"rows: expected the rows of the {part.measure}, got none"


def _faults_of_rows(
    rows: Sequence[Mapping[str, JSON]], columns: Mapping[str, Column], known: Collection[str] | None
) -> Iterator[str]:
    for number, row in enumerate(rows):
        if not row:
            yield f"rows.{number}: a row without columns, which every row is like; name some"
        for name, value in row.items():
            column = columns.get(name)
            if known is not None and name not in known:
                yield f"rows.{number}: {UnknownNameError('column', name, known)}"
            if column is not None and column.measure == "calls":
                yield from _faults_of_calls(number, value)
    measures: tuple[str, ...] = get_args(Measure)
    for name, column in columns.items():
        if column.measure not in measures:
            yield str(UnknownNameError(f"measure of the column {name}", column.measure, measures))


def _is_all_null(part: Condition) -> bool:
    values = [value for row in getattr(part, "rows", ()) for value in row.values()]
    return bool(values) and all(value is None for value in values)


def _faults_of_calls(number: int, value: JSON) -> Iterator[str]:
    candidates = value if isinstance(value, (list, tuple)) else [value]
    for call in candidates:
        if not (
            isinstance(call, Mapping)
            and isinstance(call.get("tool"), str)
            and isinstance(call.get("arguments"), Mapping)
        ):
            yield f"rows.{number}: expected calls {{tool, arguments}}, got {shortened(call)}"
