"""Milestones in the notation of scenarios: what each asks for, as it was done, and what it guards.

Rows of changed tables are written whole, so that nothing else of them may change or be filled in.
Only ids and moments of creation are left out, for they differ from chat to chat. Cells of positions
and of moments that earlier calls brought have a tolerance.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from seal.benchmarks.toolsandbox.drafts.flows import Flow, Made, Order
from seal.benchmarks.toolsandbox.scenarios.cells import timed
from seal.benchmarks.toolsandbox.scenarios.files import Node, Take
from seal.core import JSON
from seal.core.canonical import equal
from seal.core.conditions import EXTRACTORS, Told
from seal.core.conditions.cells import Row
from seal.core.conditions.state import UNFIT
from seal.core.statements import is_moment
from seal.evaluation.milestones.shortfalls import TableChange
from seal.experiments.generation.sources import leaves

REPLY = "reply"
EVENT = "event"
_TOLD = 5
"""Values that the reply is asked for at most."""


def nodes_of(
    flow: Flow, order: Order, tools: Mapping[str, str], zone: ZoneInfo
) -> tuple[Node, ...]:
    """Return the milestones of a sequence in the order in which they were reached, no guards set.

    Args:
        flow: The sequence.
        order: What becomes a milestone, and after what.
        tools: Id to name of each tool.
        zone: Of local times.
    """
    writer = _Writer(flow, order, tools, zone)
    found = [writer.node(number) for number in order.kept]
    return (*found, writer.reply()) if flow.told else tuple(found)


class _Writer:
    def __init__(self, flow: Flow, order: Order, tools: Mapping[str, str], zone: ZoneInfo) -> None:
        self._flow = flow
        self._order = order
        self._tools = tools
        self._zone = zone
        self._named = _names(flow, order, tools)
        brought = (leaf for one in flow.made for leaf in leaves(one.result))
        self._moving = {leaf for leaf in brought if isinstance(leaf, float) and is_moment(leaf)}

    def node(self, number: int) -> Node:
        one = self._flow.made[number]
        node = Node(name=self._named[number], after=self._after(self._order.before[number]))
        if one.call is None:
            node = replace(node, happens=str(one.result))
        if one.changes:
            return replace(node, state={table: self._state(number, table) for table in one.changes})
        return node if one.call is None else self._called(node, number)

    def reply(self) -> Node:
        place = list(self._flow.told)[-1]
        node = Node(name=REPLY, after=self._after(self._order.kept))
        step = self._flow.steps[place]
        told = self._flow.told[place]
        tells = [text for text in told if Told((text,)).similarity(step, {}) == 1.0]
        if tells:
            return replace(node, tells=tells[:_TOLD])
        return replace(node, says=step.content)

    def _called(self, node: Node, number: int) -> Node:
        """Return a milestone at a call: its arguments, but those that follow from elsewhere."""
        one = self._flow.made[number]
        take = self._take(number)
        taken = set() if take is None else take[1]
        arguments = {
            name: value
            for name, value in one.arguments.items()
            if name not in taken and not self._is_made_here(number, name)
        }
        within = {
            name: tolerance
            for name, value in arguments.items()
            if (tolerance := tolerance_of(name, value, self._moving)) is not None
        }
        return replace(
            node,
            calls={self._tools[one.tool]: spoken(arguments, self._zone)},
            within=within,
            take=None if take is None else take[0],
        )

    def _after(self, before: Collection[int]) -> list[str]:
        """Return the names of the nodes right before one."""
        return [self._named[earlier] for earlier in self._order.right_before(before)]

    def _state(self, number: int, table: str) -> dict[str, JSON]:
        one = self._flow.made[number]
        rows, before = one.after[table], one.before.get(table, [])
        derived = set(leaves(rows)) - set(leaves(before)) - set(leaves(one.arguments))
        moving = self._moving | {leaf for leaf in derived if isinstance(leaf, float)}
        change = change_of(before, rows, one.changes[table], moving)
        earlier = self._order.before[number]
        last = [n for n in earlier if table in self._flow.made[n].changes]
        since = {"since": self._named[max(last)]} if last and "is" not in change else {}
        written: dict[str, JSON] = spoken(change, self._zone)
        return {**written, **since}

    def _take(self, number: int) -> tuple[Take, set[str]] | None:
        """Return how arguments are taken from an earlier result, and which; None: no way is known.

        An extractor is for one that gives exactly the arguments that were given.
        """
        given = self._flow.made[number].arguments
        for earlier in sorted(set(self._flow.sources[number].values())):
            for name, values in _extracted(self._flow.made[earlier]):
                if all(n in given and equal(given[n], v) for n, v in values.items()):
                    return Take(self._named[earlier], name), set(values)
        return None

    def _is_made_here(self, number: int, name: str) -> bool:
        """Tell whether an argument is an id or the like that was made in the chat."""
        source = self._flow.sources[number].get(name)
        if source is None or not self._flow.made[source].changes:
            return False
        began = set(leaves(list((self._flow.steps[0].state or {}).values())))
        made = set(leaves(self._flow.made[number].arguments[name])) - began
        return any(isinstance(leaf, str) for leaf in made)


def _names(flow: Flow, order: Order, tools: Mapping[str, str]) -> dict[int, str]:
    """Return the name of each node: its tool's, with a number from the second one on."""
    named: dict[int, str] = {}
    taken = {"start", REPLY}
    for number in order.kept:
        first = name = tools.get(flow.made[number].tool, EVENT)
        count = 1
        while name in taken:
            count += 1
            name = f"{first}_{count}"
        taken.add(name)
        named[number] = name
    return named


def _extracted(source: Made) -> list[tuple[str, dict[str, Any]]]:
    """Return the name of each extractor that fits a call, with the first values that it gives."""
    record = {"tool": source.tool, "arguments": source.arguments, "result": source.result}
    found = []
    for name, extract in sorted(EXTRACTORS.items()):
        try:
            found.append((name, extract(record)[0]))
        except UNFIT:
            continue
    return found


def spoken(value: JSON, zone: ZoneInfo) -> Any:
    """Return a value with whole seconds as local times (`@...`), as scenarios have them."""
    if isinstance(value, dict):
        return {name: spoken(item, zone) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [spoken(item, zone) for item in value]
    if not is_moment(value) or value != int(value):
        return value
    local = datetime.fromtimestamp(value, zone)
    text = f"@{local:%Y-%m-%dT%H:%M:%S}".removesuffix(":00")
    return text if timed(text, zone, "") == value else value


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


def guarded_tables(flow: Flow, order: Order, tables: Collection[str]) -> list[list[str]]:
    """Return the tables that each milestone guards: those that nothing may change meanwhile.

    Args:
        flow: The sequence.
        order: Of its milestones; where something is said to the user, the reply is one more, the
            last.
        tables: Of the world.
    """
    changers = {
        table: {number for number in order.kept if table in flow.made[number].changes}
        for table in tables
    }
    by_event = _changed_by_events(flow)
    nodes = [(frozenset({n}), order.before[n], order.after(n)) for n in order.kept]
    if flow.told:
        nodes.append((frozenset(), frozenset(order.kept), set()))
    found = []
    for own, before, after in nodes:
        settled = [{n, *order.before[n]} for n in order.right_before(before)] or [set[int]()]
        last = not after and not (own and flow.told)
        found.append(
            [
                table
                for table in tables
                if table not in by_event
                and all(changers[table] - own <= earlier | after for earlier in settled)
                and (not last or changers[table] - own <= before)
            ]
        )
    return found


def _changed_by_events(flow: Flow) -> set[str]:
    """Return the tables that change elsewhere than in answers to calls."""
    found: set[str] = set()
    answered = {one.answered for one in flow.made}
    for place in range(1, len(flow.steps)):
        if place not in answered:
            before, now = flow.steps[place - 1].state or {}, flow.steps[place].state or {}
            found |= {table for table in now if now[table] is not before.get(table)}
    return found
