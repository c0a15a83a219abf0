"""Milestones in the short notation of a file (`seal.benchmarks.scenarios`), as a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args
from zoneinfo import ZoneInfo

from seal.benchmarks.scenarios.beginnings import timed
from seal.benchmarks.scenarios.files import Node, Scenario
from seal.core.conditions import (
    FIRST,
    LAST,
    MESSAGE,
    AllOf,
    Asked,
    Called,
    Column,
    Condition,
    DependsOn,
    StateHas,
    StateUnchanged,
    Told,
    Unconfirmed,
)
from seal.core.conditions.cells import Measure
from seal.core.conditions.parties import AGENT, EXECUTOR, USER
from seal.core.errors import DataError, UnknownNameError, shortened
from seal.core.types import JSON, Milestone, Plan
from seal.evaluation.milestones.checks import check_plan
from seal.evaluation.milestones.guardrails import asked_tables, parts

_CHANGES = {"is": "snapshot", "added": "addition", "removed": "removal", "updated": "update"}
_ALIKE = ("content",)
"""Columns that are compared by ROUGE-L where nothing else is said."""
_START = "start"
"""Name of the first step, which no node may have."""


@dataclass(frozen=True, slots=True)
class Names:
    """What the names in a scenario mean."""

    tools: Mapping[str, str]
    """Name of a tool to its id."""
    columns: Mapping[str, Sequence[str]]
    """Table to its columns; empty: they are not known."""
    zone: ZoneInfo


def plan_of(scenario: Scenario, names: Names) -> Plan:
    """Return the milestones, with their guardrails, and minefields of a scenario.

    Raises:
        DataError: A node is malformed, names what there is not, refers to one that need not come
            before, or the nodes form a cycle; the text names the node and the repair.
    """
    plan = Plan(
        _nodes(scenario.milestones, "milestones", names),
        _nodes(scenario.minefields, "minefields", names),
    )
    check_plan(
        plan,
        {table: [dict.fromkeys(known)] if known else [] for table, known in names.columns.items()},
    )
    guarded = []
    for number, node in enumerate(scenario.milestones):
        tables = list(names.columns) if node.guards is None else node.guards
        for table in tables:
            _known(table, names.columns, "table", f"milestones.{number}.guards")
        guarded.append(tables)
    return _guarded(plan, guarded)


def _guarded(plan: Plan, declared: Sequence[Sequence[str]]) -> Plan:
    """Return a plan whose milestones also keep the declared tables as they are.

    Stricter than ToolSandbox's guardrails: a table that a milestone asks nothing of is unchanged
    since each of those right before it, whatever these ask of it, else since the start; and where a
    milestone is a last one, nothing changes any more.
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
        place = f"{field}.{number}"
        above = [number - 1] if number and field == "milestones" else []
        after = (
            above
            if node.after is None
            else [_known(name, places, "node", f"{place}.after") for name in node.after]
        )
        try:
            conditions = tuple(_Reader(node, names, places).conditions())
        except DataError as error:
            raise DataError(f"{place}.{error}") from error
        if not conditions:
            raise DataError(f"{place}: it asks for nothing; give it calls, tells or state")
        found.append(Milestone(AllOf(conditions), tuple(after)))
    return tuple(found)


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
    if name not in known:
        raise DataError(f"{place}: {UnknownNameError(kind, name, known)}")
    return known[name]


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
            yield self._happens(node.happens)
        if node.tells or node.tells_any:
            yield Told(tuple(node.tells), tuple(node.tells_any))
        if node.says is not None:
            yield self._says(node.says)
        if node.asks is not None:
            yield Asked(tuple(node.asks))
        for table, change in node.state.items():
            _known(table, self._names.columns, "table", "state")
            yield self._state(table, change)

    def _calls(self, calls: Any) -> Condition:
        wanted = [
            {
                "tool": self._tool(name, "calls"),
                "arguments": timed(arguments, self._names.zone, "calls"),
            }
            for call in (calls if isinstance(calls, list) else [calls])
            for name, arguments in call.items()
        ]
        within = {name: _tolerance(v, f"within.{name}") for name, v in self._node.within.items()}
        row = {"author": EXECUTOR, "recipient": AGENT, "calls": wanted}
        return self._message(row, {"calls": Column("calls", tolerances=within)}, "calls")

    def _says(self, text: str) -> Condition:
        row = {"author": AGENT, "recipient": USER, "content": text}
        return self._message(row, {"content": Column("rouge_l")}, "content")

    def _message(self, row: dict[str, JSON], columns: dict[str, Column], fill: Any) -> Condition:
        take = self._node.take
        if take is None:
            return StateHas(MESSAGE, (row,), columns=columns)
        since = _known(take.of, self._places, "node", "take.of")
        return DependsOn(since, (row,), take.value, fill, columns)

    def _unconfirmed(self, tools: str | list[str]) -> Condition:
        named = [tools] if isinstance(tools, str) else tools
        if not named:
            raise DataError("unconfirmed: expected a tool, or several, got none")
        ids = tuple(self._tool(name, "unconfirmed") for name in named)
        return Unconfirmed(ids, self._names.zone.key)

    def _happens(self, text: str) -> Condition:
        row = {"author": EXECUTOR, "recipient": AGENT, "call_id": None, "content": text}
        return StateHas(MESSAGE, (row,), columns={"content": Column("contains")})

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
        measure: Any = _CHANGES[kinds[0]]
        since = None if measure == "snapshot" else FIRST
        if change.get("since", _START) != _START:
            since = _known(str(change["since"]), self._places, "node", f"{place}.since")
        columns = {name: Column("rouge_l") for row in rows for name in row if name in _ALIKE}
        by = change.get("by", {})
        if not isinstance(by, dict):
            raise DataError(f"{place}.by: expected column to measure, got {shortened(by)}")
        columns |= {name: _column(how, f"{place}.by.{name}") for name, how in by.items()}
        return StateHas(table, tuple(rows), measure, since, columns)


def _column(how: JSON, place: str) -> Column:
    if isinstance(how, dict) and how.keys() == {"close"}:
        return Column("close", _tolerance(how["close"], f"{place}.close"))
    if how not in get_args(Measure):
        known = ", ".join(get_args(Measure))
        raise DataError(f"{place}: expected {known} or {{'close': ...}}, got {shortened(how)}")
    measure: Any = how
    return Column(measure)


def _tolerance(value: JSON, place: str) -> Any:
    if value == "inf" or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise DataError(f"{place}: expected a number or 'inf', got {shortened(value)}")
