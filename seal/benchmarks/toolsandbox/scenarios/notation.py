"""Milestones in the short notation of a scenario file, as a plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any, get_args
from zoneinfo import ZoneInfo

from seal.benchmarks.toolsandbox.scenarios.files import (
    Arguments,
    Node,
    Scenario,
    Types,
    check_measured,
    check_wanted,
    timed,
)
from seal.core import JSON, DataError, Milestone, Plan, located, shortened
from seal.core.conditions import (
    AGENT,
    EXECUTOR,
    FIRST,
    LAST,
    MESSAGE,
    USER,
    Asked,
    Called,
    Condition,
    parts,
)
from seal.core.state_conditions import (
    AllOf,
    DependsOn,
    EndsAs,
    StateHas,
    StateUnchanged,
    Unconfirmed,
)
from seal.core.table_matching import Column, Measure
from seal.evaluation.plan_checks import ancestors, check_plan
from seal.evaluation.plans import asked_tables
from seal.pools.reading.files import expect, named

_CHANGES = {"is": "snapshot", "added": "addition", "removed": "removal", "updated": "update"}
_ALIKE = ("content",)
"""Columns that are compared by ROUGE-L where nothing else is said."""
_MEASURES = tuple(measure for measure in get_args(Measure) if measure != "calls")
"""Measures of a column of a table; calls are of messages."""
_NODE = "node"
_START = "start"
"""Name of the first step, which no node may have."""


@dataclass(frozen=True, slots=True)
class Names:
    """What the names in a scenario mean."""

    tools: Mapping[str, str]
    """Name of a tool to its id."""
    columns: Mapping[str, Types]
    """Table to its columns with their types; empty: they are not known."""
    zone: ZoneInfo
    arguments: Arguments = field(default_factory=lambda: Arguments(()))
    """What the tools take; of none anything is known by default."""


def plan_of(scenario: Scenario, names: Names, end: EndsAs) -> Plan:
    """Return the milestones, with their guardrails, and minefields of a scenario.

    Args:
        scenario: Where no milestone asks of tables, the last one is how gold leaves the world.
        names: What its names mean.
        end: That end.

    Raises:
        DataError: A node is malformed, names what does not exist, asks for what cannot be, or
            refers to one that need not come before; or the nodes form a cycle. The text names the
            node, the field and the repair.
    """
    fields = {"milestones": scenario.milestones, "minefields": scenario.minefields}
    plan = Plan(**{name: _nodes(nodes, name, names) for name, nodes in fields.items()})
    try:
        check_plan(plan)
    except DataError as error:
        place, _, fault = str(error).partition(": ")
        name, _, position = place.partition(".")
        raise DataError(f"{place_of(fields[name], name, int(position))}: {fault}") from error
    if not any(node.state for node in scenario.milestones):
        return replace(plan, milestones=(*plan.milestones, Milestone(end)))
    guarded = []
    for number, node in enumerate(scenario.milestones):
        tables = list(names.columns) if node.guards is None else node.guards
        for table in tables:
            place = place_of(scenario.milestones, "milestones", number)
            _known(table, names.columns, "table", f"{place}: guards")
        guarded.append(tables)
    return _guarded(plan, guarded)


def place_of(nodes: Sequence[Node], field: str, number: int) -> str:
    """Return how messages call a node: `milestones.1 (sent)`."""
    name = nodes[number].name
    return f"{field}.{number} ({name})" if name else f"{field}.{number}"


def _guarded(plan: Plan, declared: Sequence[Sequence[str]]) -> Plan:
    """Return a plan whose milestones also keep the declared tables as they are.

    They are stricter than ToolSandbox's guardrails. A table that a milestone asks nothing of must
    be unchanged since each milestone right before it, whatever that one asks of the table. The
    first milestones compare with the start. After a last milestone nothing may change any more.
    """
    later = {position for node in plan.milestones for position in node.after}
    nodes = []
    for position, (node, tables) in enumerate(zip(plan.milestones, declared, strict=True)):
        free = asked_tables(node)
        kept = [
            StateUnchanged(table, since)
            for since in node.after or (FIRST,)
            for table in tables
            if table not in free
        ]
        if position not in later:
            kept += [StateUnchanged(table, LAST) for table in tables]
        nodes.append(replace(node, condition=AllOf((*parts(node.condition), *kept))))
    return replace(plan, milestones=tuple(nodes))


def _nodes(nodes: Sequence[Node], field: str, names: Names) -> tuple[Milestone, ...]:
    places = _places(nodes, field)
    found = []
    for number, node in enumerate(nodes):
        place = place_of(nodes, field, number)
        above = [number - 1] if number and field == "milestones" else []
        after = (
            above
            if node.after is None
            else [_known(name, places, _NODE, f"{place}: after") for name in node.after]
        )
        with located(place):
            conditions = tuple(_Reader(node, names, places).conditions())
        if not conditions:
            raise DataError(f"{place}: it asks for nothing; give it calls or state")
        found.append(Milestone(AllOf(conditions), tuple(after)))
    for number in range(len(nodes)):
        _check_references(nodes, field, number, ancestors(number, found))
    return tuple(found)


def _check_references(
    nodes: Sequence[Node], field: str, number: int, before: Collection[int]
) -> None:
    """Make sure that a node refers only to those that must come before it.

    Raises:
        DataError: It refers to another one; the text names both, and those that it may name.
    """
    known = [nodes[position].name for position in sorted(before) if nodes[position].name]
    for where, name in _references(nodes[number]):
        if name not in known:
            start = [_START] if where.endswith(".since") else []
            expected = ", ".join(start + known) or "a node above"
            raise DataError(
                f"{place_of(nodes, field, number)}: {where}: the node {name!r} need not come "
                f"before; expected one that must ({expected}), or name {name!r} in `after`"
            )


def _references(node: Node) -> Iterator[tuple[str, str]]:
    """Yield the fields of a node that refer to others, each with the name that it holds."""
    if node.take is not None:
        yield "take.of", node.take.of
    for table, change in node.state.items():
        since = change.get("since", _START)
        if since != _START:
            yield f"state.{table}.since", str(since)


def _places(nodes: Sequence[Node], field: str) -> dict[str, int]:
    """Return the positions of the named nodes."""
    places: dict[str, int] = {}
    for number, node in enumerate(nodes):
        if node.name in places or node.name == _START:
            raise DataError(f"{field}.{number}: the name {node.name!r} is taken; rename the node")
        if node.name:
            places[node.name] = number
    return places


def _known(name: str, known: Mapping[str, Any], kind: str, place: str) -> Any:
    if kind == _NODE and not known:
        raise DataError(
            f"{place}: no node {name!r}, for none has a name yet; give the one that is meant a "
            f"`name`: {name!r}"
        )
    return named(known, name, kind, place)


class _Reader:
    """Reads one node.

    Args:
        node: As it is written.
        names: What its names mean.
        places: Name of a node to its position.
    """

    def __init__(self, node: Node, names: Names, places: Mapping[str, int]) -> None:
        self._node = node
        self._names = names
        self._places = places

    def conditions(self) -> Iterator[Condition]:
        """Yield the conditions.

        Raises:
            DataError: The text begins with the field.
        """
        node = self._node
        if node.take is not None and node.calls is None and node.says is None:
            raise DataError("take: there is no calls or says that it could be filled into")
        if node.within and node.calls is None:
            raise DataError("within: there is no calls whose arguments it could be about")
        if node.calls is not None:
            yield self._calls(node.calls)
        if node.attempts is not None:
            yield Called(self._tool(node.attempts, "attempts"))
        if node.unconfirmed is not None:
            yield self._unconfirmed(node.unconfirmed)
        if node.happens is not None:
            event = {"author": EXECUTOR, "recipient": AGENT, "call_id": None}
            event |= {"content": node.happens}
            yield StateHas(MESSAGE, (event,), columns={"content": Column("contains")})
        if node.says is not None:
            said = {"author": AGENT, "recipient": USER, "content": node.says}
            yield self._message(said, {"content": Column("rouge_l")}, "content")
        if node.asks is not None:
            yield Asked(tuple(node.asks))
        for table, change in node.state.items():
            _known(table, self._names.columns, "table", "state")
            yield self._state(table, change)

    def _calls(self, calls: Any) -> Condition:
        wanted = [
            self._call(name, arguments)
            for call in (calls if isinstance(calls, list) else [calls])
            for name, arguments in call.items()
        ]
        within = {name: _tolerance(v, f"within.{name}") for name, v in self._node.within.items()}
        self._names.arguments.check_names([call["tool"] for call in wanted], within, "within")
        row = {"author": EXECUTOR, "recipient": AGENT, "calls": wanted}
        return self._message(row, {"calls": Column("calls", tolerances=within)}, "calls")

    def _call(self, name: str, given: Mapping[str, JSON]) -> dict[str, Any]:
        tool, arguments = self._tool(name, "calls"), timed(given, self._names.zone, "calls")
        self._names.arguments.check(tool, arguments, "calls")
        return {"tool": tool, "arguments": arguments}

    def _message(self, row: dict[str, JSON], columns: dict[str, Column], fill: Any) -> Condition:
        take = self._node.take
        if take is None:
            return StateHas(MESSAGE, (row,), columns=columns)
        since = _known(take.of, self._places, _NODE, "take.of")
        return DependsOn(since, (row,), take.value, fill, columns)

    def _unconfirmed(self, tools: str | list[str]) -> Condition:
        named = [tools] if isinstance(tools, str) else tools
        if not named:
            raise DataError("unconfirmed: expected a tool, or several, got none")
        ids = tuple(self._tool(name, "unconfirmed") for name in named)
        return Unconfirmed(ids, self._names.zone.key)

    def _tool(self, name: str, field: str) -> str:
        found: str = _known(name, self._names.tools, "tool of the world", field)
        return found

    def _state(self, table: str, change: Mapping[str, JSON]) -> Condition:
        place = f"state.{table}"
        kinds = [name for name in change if name in _CHANGES]
        others = change.keys() - _CHANGES.keys() - {"since", "by"}
        if len(kinds) != 1 or others:
            raise DataError(
                f"{place}: expected one of {', '.join(_CHANGES)}, and since and by besides; "
                f"got {', '.join(change)}"
            )
        rows = timed(change[kinds[0]], self._names.zone, place)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise DataError(f"{place}.{kinds[0]}: expected a list of rows, got {shortened(rows)}")
        if not rows:
            raise DataError(
                f"{place}.{kinds[0]}: expected at least one row, got none; of a table that is to "
                "be emptied write the rows that go as `removed`"
            )
        measure: Any = _CHANGES[kinds[0]]
        since = None if measure == "snapshot" else FIRST
        if change.get("since", _START) != _START:
            since = _known(str(change["since"]), self._places, _NODE, f"{place}.since")
        columns = {name: Column("rouge_l") for row in rows for name in row if name in _ALIKE}
        by = expect(change.get("by", {}), dict, f"{place}.by", "column to measure")
        columns |= {name: _column(how, f"{place}.by.{name}") for name, how in by.items()}
        types = self._names.columns[table]
        check_measured(columns, types, f"{place}.by")
        for number, row in enumerate(rows):
            check_wanted(row, types, columns, f"{place}.{kinds[0]}.{number}")
        return StateHas(table, tuple(rows), measure, since, columns)


def _column(how: JSON, place: str) -> Column:
    if isinstance(how, dict) and how.keys() == {"close"}:
        return Column("close", _tolerance(how["close"], f"{place}.close"))
    if how not in _MEASURES:
        known = ", ".join(_MEASURES)
        raise DataError(f"{place}: expected {known} or {{'close': ...}}, got {shortened(how)}")
    measure: Any = how
    return Column(measure)


def _tolerance(value: JSON, place: str) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value == "inf" or (number and 0 <= value < inf):
        return value
    raise DataError(
        f"{place}: expected a number from 0 on, or 'inf' for any difference, got {shortened(value)}"
    )
