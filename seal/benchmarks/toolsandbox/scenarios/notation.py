"""What the end of a scenario and its `tells` do not say: milestones and minefields, as a plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any
from zoneinfo import ZoneInfo

from seal.benchmarks.toolsandbox.scenarios.files import Arguments, Node, Scenario, timed
from seal.core import JSON, DataError, Milestone, Plan, located, shortened
from seal.core.conditions import AGENT, EXECUTOR, MESSAGE, Asked, Called, Condition
from seal.core.state_conditions import AllOf, EndsAs, StateHas, Unconfirmed
from seal.core.table_matching import Column
from seal.evaluation.plan_checks import check_plan
from seal.pools.reading.files import named


@dataclass(frozen=True, slots=True)
class Names:
    """What the names in a scenario mean."""

    tools: Mapping[str, str]
    """Name of a tool to its id."""
    zone: ZoneInfo
    arguments: Arguments = field(default_factory=lambda: Arguments(()))
    """What the tools take; of none anything is known by default."""

    def tool(self, name: str, where: str) -> str:
        """Return the id of a tool; `where` is the field that names it."""
        return named(self.tools, name, "tool of the world", where)


def plan_of(scenario: Scenario, names: Names, end: EndsAs) -> Plan:
    """Return the milestones, of which the end is the last one, and minefields of a scenario.

    Args:
        scenario: As it was written.
        names: What the names in it mean.
        end: How the calls of gold leave the world.

    Raises:
        DataError: A name is unknown, a node asks for nothing or for what nothing can meet, or what
            comes before a node leads back to it.
    """
    fields = {"milestones": scenario.milestones, "minefields": scenario.minefields}
    plan = Plan(**{name: _nodes(nodes, name, names) for name, nodes in fields.items()})
    try:
        check_plan(plan)
    except DataError as error:
        place, _, fault = str(error).partition(": ")
        name, _, position = place.partition(".")
        raise DataError(f"{place_of(fields[name], name, int(position))}: {fault}") from error
    return replace(plan, milestones=(*plan.milestones, Milestone(end)))


def place_of(nodes: Sequence[Node], field: str, number: int) -> str:
    """Return how messages call a node: `milestones.1 (sent)`."""
    name = nodes[number].name
    return f"{field}.{number} ({name})" if name else f"{field}.{number}"


def _nodes(nodes: Sequence[Node], field: str, names: Names) -> tuple[Milestone, ...]:
    places = _places(nodes, field)
    found = []
    for number, node in enumerate(nodes):
        place = place_of(nodes, field, number)
        after = [number - 1] if number and field == "milestones" else []
        if node.after is not None:
            after = [_position(name, places, f"{place}: after") for name in node.after]
        with located(place):
            conditions = tuple(_conditions(node, names))
        if not conditions:
            raise DataError(f"{place}: it asks for nothing; give it calls, asks or happens")
        found.append(Milestone(AllOf(conditions), tuple(after)))
    return tuple(found)


def _places(nodes: Sequence[Node], field: str) -> dict[str, int]:
    """Return the positions of the named nodes."""
    places: dict[str, int] = {}
    for number, node in enumerate(nodes):
        if node.name in places:
            raise DataError(f"{field}.{number}: the name {node.name!r} is taken; rename the node")
        if node.name:
            places[node.name] = number
    return places


def _position(name: str, places: Mapping[str, int], place: str) -> int:
    if not places:
        raise DataError(
            f"{place}: no node {name!r}, for none has a name yet; give the one that is meant a "
            f"`name`: {name!r}"
        )
    return named(places, name, "node", place)


def _conditions(node: Node, names: Names) -> Iterator[Condition]:
    """Yield what a node asks for.

    Raises:
        DataError: A name is unknown, or a value is no such one.
    """
    if node.within and node.calls is None:
        raise DataError("within: there is no calls whose arguments it could be about")
    if node.calls is not None:
        yield _called(node, names)
    if node.attempts is not None:
        yield Called(names.tool(node.attempts, "attempts"))
    if node.unconfirmed is not None:
        tools = [node.unconfirmed] if isinstance(node.unconfirmed, str) else node.unconfirmed
        if not tools:
            raise DataError("unconfirmed: expected a tool, or several, got none")
        ids = tuple(names.tool(name, "unconfirmed") for name in tools)
        yield Unconfirmed(ids, names.zone.key)
    if node.happens is not None:
        event: dict[str, JSON] = {"author": EXECUTOR, "recipient": AGENT, "call_id": None}
        event |= {"content": node.happens}
        yield StateHas(MESSAGE, (event,), columns={"content": Column("contains")})
    if node.asks is not None:
        yield Asked(tuple(node.asks))


def _called(node: Node, names: Names) -> Condition:
    """Return that one of a node's calls was made, as it was run."""
    wanted: list[dict[str, Any]] = []
    for call in node.calls if isinstance(node.calls, list) else [node.calls or {}]:
        for name, given in call.items():
            tool, arguments = names.tool(name, "calls"), timed(given, names.zone, "calls")
            names.arguments.check(tool, arguments, "calls")
            wanted.append({"tool": tool, "arguments": arguments})
    within = {name: _tolerance(value, f"within.{name}") for name, value in node.within.items()}
    names.arguments.check_names([call["tool"] for call in wanted], within, "within")
    row: dict[str, JSON] = {"author": EXECUTOR, "recipient": AGENT, "calls": wanted}
    return StateHas(MESSAGE, (row,), columns={"calls": Column("calls", tolerances=within)})


def _tolerance(value: JSON, place: str) -> Any:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value == "inf" or (number and 0 <= value < inf):
        return value
    raise DataError(
        f"{place}: expected a number from 0 on, or 'inf' for any difference, got {shortened(value)}"
    )
