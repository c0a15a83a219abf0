"""Files of authored scenarios: their form, cells and types, and beginnings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from math import inf
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar, get_args
from zoneinfo import ZoneInfo

from seal.benchmarks.toolsandbox.records import CATEGORIES as TAGS
from seal.core import (
    JSON,
    DataError,
    Milestone,
    Plan,
    Tables,
    Tool,
    ToolCall,
    UnknownNameError,
    first_fault,
    located,
    shortened,
)
from seal.core.conditions import AGENT, EXECUTOR, MESSAGE, Asked, Called, Condition
from seal.core.state_conditions import AllOf, EndsAs, StateHas, Unconfirmed
from seal.core.table_matching import Column
from seal.core.validation import CallValidator
from seal.environments.function_tools import fits
from seal.evaluation.plans import check_plan
from seal.pools.reading.files import expect, json_file, named, parse_exactly, refuse_deep

if TYPE_CHECKING:
    from pydantic import TypeAdapter


# -- Cells and arguments of a scenario: whether they can be, and the tables that it begins with.
#
# What is written is checked by names and types. A scenario begins with the base world and its own
# changes.

Types = Mapping[str, Any]
"""Column to its type, as `Worlds.columns` has it; without any, nothing is known of the table."""

_SPOKEN = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    NoneType: "null",
}


def check_begun(rows: Iterable[Mapping[str, JSON]], types: Types, place: str) -> None:
    """Make sure that a table can begin with these rows.

    Raises:
        DataError: A column is unknown, a cell is of another type, or a cell is left out that cannot
            be null, in this order. The text names the place, what was expected and the repair.
    """
    for number, row in enumerate(rows):
        check_cells(row, types, f"{place}.{number}")
        for name, kind in types.items():
            if name not in row and not is_of(None, kind):
                raise DataError(
                    f"{place}.{number}: the column {name!r} is left out; expected "
                    f"{spoken_type(kind)}"
                )


def check_cells(row: Mapping[str, JSON], types: Types, place: str) -> None:
    """Make sure that a table has the columns of a row, and that its cells are of their types.

    Raises:
        DataError: As of `check_begun`.
    """
    for name, value in row.items():
        kind = _type_of(name, types, place)
        if not is_of(value, kind):
            raise DataError(
                f"{place}.{name}: expected {spoken_type(kind)}, got {shortened(value)}; mend it"
            )


class Arguments:
    """What tools take: names and values of arguments.

    Args:
        documents: The tools.
    """

    def __init__(self, documents: Iterable[Tool]) -> None:
        self._tools = {tool.id: tool for tool in documents}
        # What is asked of a call names some of its arguments; none of them is required.
        lenient = {
            name: replace(tool, parameters={**tool.parameters, "required": []})
            for name, tool in self._tools.items()
        }
        self._validator = CallValidator(lenient)

    def check(self, tool: str, arguments: Mapping[str, JSON], place: str) -> None:
        """Make sure that a tool takes some arguments; null stands for any value's absence.

        Args:
            tool: Its id; of one that is not known, nothing is checked.
            arguments: Those that are asked for.
            place: For the message.

        Raises:
            DataError: The tool has no such argument, or takes no such value; the text names it.
        """
        self.check_names([tool], arguments, place)
        if tool in self._tools:
            given = {name: value for name, value in arguments.items() if value is not None}
            name = self._tools[tool].name
            wrong = self._validator.check(ToolCall("", name, given, tool=tool))
            if wrong is not None:
                raise DataError(f"{place}.{name}.{wrong.name}: {wrong.message}")

    def check_names(self, tools: Sequence[str], arguments: Iterable[str], place: str) -> None:
        """Make sure that arguments of these names are of one of some tools.

        Args:
            tools: Their ids; where one is not known, or takes any argument, nothing is checked.
            arguments: Names.
            place: For the message.

        Raises:
            DataError: None of the tools has an argument of a name; the text lists those they have.
        """
        documents = [self._tools.get(tool) for tool in tools]
        taking = [d for d in documents if d and not d.parameters.get("additionalProperties")]
        if len(taking) < len(tools):
            return
        known = {n: n for tool in taking for n in tool.parameters.get("properties", {})}
        kind = f"argument of {' or '.join(tool.name for tool in taking)}"
        for name in arguments:
            named(known, name, kind, place)


def is_of(value: JSON, kind: Any) -> bool:
    """Tell whether a JSON value is of a type; true and false are no numbers."""
    if isinstance(value, bool) and not {bool, Any} & set(_choices(kind)):
        return False
    return fits(value, kind)


def spoken_type(kind: Any) -> str:
    """Return a type in words, such as `a number or null`."""
    return " or ".join(_SPOKEN.get(choice, str(choice)) for choice in _choices(kind))


def _choices(kind: Any) -> Iterator[Any]:
    yield from get_args(kind) or (NoneType if kind is None else kind,)


def _type_of(name: str, types: Types, place: str) -> Any:
    return named(types, name, "column", place) if types else Any


UTC = "UTC"
"""Zone of a clock that names none (`seal.environments.chat_world`)."""
_TIME = re.compile(r"@(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?)")


def clock_fields(scenario: Scenario, base: BaseWorld) -> dict[str, JSON]:
    """Return the clock of a scenario, for `metadata.clock`.

    Raises:
        DataError: The zone is unknown, or a time is malformed.
    """
    given = {**base.clock, **scenario.clock}
    zone = given.get("zone", UTC)
    try:
        return dict(timed(given, ZoneInfo(str(zone)), "clock"))
    except (KeyError, OSError, ValueError) as error:
        raise DataError(f"clock: {error}; expected start, zone, first and step") from error


def timed(value: JSON, zone: ZoneInfo, place: str) -> Any:
    """Return a value with POSIX seconds for each text that names a local time (`@...`).

    Args:
        value: A JSON value.
        zone: Of the local times.
        place: Of the value, for the message.

    Raises:
        DataError: There is no such day or time.
    """
    if isinstance(value, Mapping):
        return {name: timed(item, zone, place) for name, item in value.items()}
    if isinstance(value, list):
        return [timed(item, zone, place) for item in value]
    named = _TIME.fullmatch(value) if isinstance(value, str) else None
    if named is None:
        return value
    try:
        return datetime.fromisoformat(named[1]).replace(tzinfo=zone).timestamp()
    except ValueError as error:
        raise DataError(
            f"{place}: {value!r}: {error}; expected a time such as @2025-11-20T07:15"
        ) from error


def tables_of(
    scenario: Scenario,
    base: BaseWorld,
    zone: ZoneInfo,
    columns: Mapping[str, Types],
    own: Tables | None = None,
) -> Tables:
    """Return the tables that a scenario begins with, but for those that begin as the world's own.

    Args:
        scenario: With its changes.
        base: How its world begins without them.
        zone: Of the local times.
        columns: Table of the kind of world to its columns and their types.
        own: Tables of the kind of world.

    Raises:
        DataError: A change names a table that the base world has not, or a row that cannot be
            changed. Or it gives a cell a value that it cannot have. The text names the place.
    """
    world = f"world {scenario.world!r} ({base.place}): tables"
    tables: Tables = timed(base.tables, zone, world)
    for name, rows in tables.items():
        check_begun(rows, columns.get(name, {}), f"{world}.{name}")
    for name, change in scenario.changes.items():
        if own and name in own and name not in tables:
            tables = {**tables, name: [dict(row) for row in own[name]]}
        if name not in tables:
            known = ", ".join(tables) or "none"
            raise DataError(f"with.{name}: the world {scenario.world!r} has no such table: {known}")
        place = f"with.{name}"
        changed = _changed(tables[name], timed(change, zone, place), columns.get(name, {}), place)
        check_begun(changed, columns.get(name, {}), place)
        tables = {**tables, name: changed}
    return tables


def _changed(
    rows: Sequence[Mapping[str, JSON]], change: Mapping[str, JSON], types: Types, place: str
) -> list[dict[str, JSON]]:
    at_once = any(not isinstance(c, Mapping) and c is not None for c in change.values())
    if len(rows) > 1 and types and at_once and change.keys() <= types.keys():
        raise DataError(
            f"{place}: the base world has {len(rows)} rows of it, and cells alone change a table "
            "of one row; keep one row only, or name a row by its first column: {ROW: {column: "
            "value}}"
        )
    if len(rows) == 1 and (change.keys() <= {*rows[0], *types} or (types and at_once)):
        check_cells(change, types, place)
        return [{**rows[0], **change}]
    if not rows:
        raise DataError(f"{place}: the table is empty in the base world, so no column names rows")
    named = next(iter(rows[0]), "")
    if not all(named in row for row in rows):
        raise DataError(f"{place}: not every row of the base world has {named!r}, which names it")
    found = {str(row[named]): dict(row) for row in rows}
    for name, cells in change.items():
        if cells is None and name in found:
            del found[name]
        elif isinstance(cells, Mapping):
            check_cells(cells, types, f"{place}.{name}")
            found[name] = {named: name, **found.get(name, {}), **cells}
        else:
            raise DataError(
                f"{place}.{name}: expected an object of cells, or null for a row that there is; "
                f"got {shortened(cells)}; rows: {', '.join(found)}"
            )
    return list(found.values())


# -- Files of authored scenarios: read, and checked for form.

CATEGORIES = tuple(TAGS.values())
"""What a scenario may be an example of; a task's tag of that name is true."""
_KEYS = ("worlds", "scenarios")
_CONFIG = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class BaseWorld:
    """How a world begins, before a scenario changes anything."""

    kind: str
    """Name of the world (`seal.environments`), or its dotted path where the user allows that
    module."""
    tables: Tables = field(default_factory=dict)
    """Those that begin otherwise than the world's own."""
    clock: dict[str, JSON] = field(default_factory=dict)
    """As `metadata.clock` of a task."""
    system: str = ""
    """What the agent is told before the chat, behind the policy of the world."""
    max_messages: int = 30
    """Messages after which a chat ends."""
    cells: dict[str, str] = field(default_factory=dict)
    """`table.column` to the type by which cells are compared (`EndsAs.cells`)."""
    ignore: list[str] = field(default_factory=list)
    """Tables, and columns as `table.column`, that may end in any way."""
    demonstration: list[dict[str, str]] = field(default_factory=list)
    """Example dialogues for personas that have none of their own (`seal.agents.users`)."""
    place: str = ""
    """File and name, for messages."""
    __pydantic_config__ = _CONFIG


@dataclass(frozen=True, slots=True)
class Move:
    """One step of a sequence: exactly one of `do`, `say` and `hear`."""

    do: dict[str, dict[str, JSON]] | list[dict[str, dict[str, JSON]]] | None = None
    say: str | None = None
    hear: str | None = None
    keep: str = ""
    __pydantic_config__ = _CONFIG


@dataclass(frozen=True, slots=True)
class Tried:
    """A sequence that is played against gold."""

    steps: list[Move]
    why: str = ""
    """In which way it is right or wrong."""
    __pydantic_config__ = _CONFIG


@dataclass(frozen=True, slots=True)
class Node:
    """A milestone or minefield."""

    name: str = ""
    after: list[str] | None = None
    calls: dict[str, dict[str, JSON]] | list[dict[str, dict[str, JSON]]] | None = None
    within: dict[str, JSON] = field(default_factory=dict)
    attempts: str | None = None
    unconfirmed: str | list[str] | None = None
    happens: str | None = None
    asks: list[str] | None = None
    __pydantic_config__ = _CONFIG


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario as it was written."""

    id: str
    categories: list[str]
    world: str
    persona: dict[str, JSON]
    request: str
    gold: list[Move]
    wrong: list[Tried | str]
    """Sequences, or texts in the place of the last one that gold says, which solve it not."""
    tools: list[str] = field(default_factory=list)
    """Names of those that the agent is offered; none: all of the world."""
    right: list[Tried | str] = field(default_factory=list)
    """Others that solve it."""
    end: list[dict[str, dict[str, JSON]]] | None = None
    """Calls that leave the world as it is to end; None: those of gold that change something."""
    tells: Any = ()
    """What the agent must tell its user (`seal.core.slots`)."""
    cells: dict[str, str] = field(default_factory=dict)
    """As of the world, besides."""
    ignore: list[str] = field(default_factory=list)
    """As of the world, besides."""
    milestones: list[Node] = field(default_factory=list)
    minefields: list[Node] = field(default_factory=list)
    changes: dict[str, dict[str, JSON]] = field(default_factory=dict)
    """Written as `with`."""
    clock: dict[str, JSON] = field(default_factory=dict)
    withheld: list[str] = field(default_factory=list)
    tags: dict[str, JSON] = field(default_factory=dict)
    """Further tags of its task."""
    place: str = ""
    """File and id, for messages."""
    __pydantic_config__ = _CONFIG


Form = TypeVar("Form", BaseWorld, Scenario)


@dataclass(frozen=True, slots=True)
class Authored:
    """What a folder holds."""

    worlds: Mapping[str, BaseWorld]
    scenarios: tuple[Scenario, ...]


def read_authored(source: Path) -> Authored:
    """Return the worlds and scenarios of a file, or of every `*.json` in a folder.

    Raises:
        DataError: A file is no JSON or not of the form, an id stands twice, or there is no
            scenario. The text names file, scenario, field and repair.
    """
    worlds: dict[str, BaseWorld] = {}
    scenarios: dict[str, Scenario] = {}
    for path in sorted(source.glob("*.json")) if source.is_dir() else [source]:
        content = _content(path)
        for name, world in expect(content.get("worlds", {}), dict, f"{path}: worlds").items():
            if name in worlds:
                raise DataError(f"{path}: the world {name!r} stands twice; rename one")
            worlds[name] = _placed(world, BaseWorld, f"{path}, world {name!r}")
        for scenario in _scenarios(content, path):
            if scenario.id in scenarios:
                other = scenarios[scenario.id].place
                raise DataError(f"{scenario.place}: stands in {other} already; rename one")
            scenarios[scenario.id] = scenario
    if not scenarios:
        raise DataError(f"{source} holds no scenarios; expected JSON files with {_EXPECTED}")
    return Authored(worlds, tuple(scenarios.values()))


_EXPECTED = '{"worlds": {...}, "scenarios": [...]}'


def _content(path: Path) -> dict[str, Any]:
    content = json_file(path, parse_exactly)
    if not isinstance(content, dict) or not content.keys() <= set(_KEYS) or not content:
        raise DataError(f"{path}: expected {_EXPECTED}, got {shortened(content)}")
    refuse_deep(content)
    return content


def _scenarios(content: Mapping[str, Any], path: Path) -> Iterator[Scenario]:
    records = expect(content.get("scenarios", []), list, f"{path}: scenarios")
    for number, record in enumerate(records):
        named = isinstance(record, dict) and isinstance(record.get("id"), str)
        place = f"{path}, scenario {record['id']!r}" if named else f"{path}, scenarios.{number}"
        yield scenario_of(record, place)


def scenario_of(record: Any, place: str) -> Scenario:
    """Return a scenario as it is written.

    Args:
        record: JSON.
        place: For messages.

    Raises:
        DataError: It is not of the form; names field and repair.
    """
    if isinstance(record, dict):
        for former in sorted(_former(record)):
            raise DataError(f"{place}: {former}")
        record = {"changes" if name == "with" else name: v for name, v in record.items()}
    scenario = _placed(record, Scenario, place)
    fault = next(_faults(scenario), None)
    if fault is not None:
        raise DataError(f"{scenario.place}: {fault}")
    return scenario


_FORMER = {"told": "write its texts into `right` and `wrong` of the scenario"}
"""Keys that scenarios had, to what replaces them."""
_FORMER_OF_NODES = {
    "tells": 'name each value in `tells` of the scenario: {NAME: VALUE}, or {"value": ..., '
    '"type": "term"} for words',
    "tells_any": 'write `tells` of the scenario: {"value": ..., "also": [...]}',
    "refuses": 'write `tells` of the scenario: {"type": "lack", "value": [WORD, ...]}',
    "untrue": "leave it out: every answer is held against what was done",
    "state": "leave it out: the calls of `gold` that change something say how the world must end, "
    "or name them in `end`; `cells` and `ignore` say what may differ",
    "guards": "leave it out: the world must end as the calls of `gold` leave it, in all tables",
    "take": "write the values into `calls`, or name in `tells` what the agent makes of them",
    "says": "name each value in `tells` of the scenario",
}
"""Keys that milestones and minefields had, likewise."""


def _former(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the former keys of a scenario as it was written, each with what replaces it."""
    yield from (f"{key} is gone: {told}" for key, told in _FORMER.items() if key in record)
    for name in ("milestones", "minefields"):
        nodes = record.get(name)
        for number, node in enumerate(nodes if isinstance(nodes, list) else ()):
            for key in _FORMER_OF_NODES.keys() & (node if isinstance(node, dict) else {}):
                yield f"{name}.{number}.{key} is gone: {_FORMER_OF_NODES[key]}"


def _placed(record: Any, form: type[Form], place: str) -> Form:
    from pydantic import ValidationError

    if isinstance(record, dict):
        record = {**record, "place": place}
    try:
        formed: Form = _adapter(form.__name__).validate_python(record)
    except ValidationError as error:
        raise DataError(f"{place}: {first_fault(error)}") from error
    return formed


@cache
def _adapter(form: str) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter({"BaseWorld": BaseWorld, "Scenario": Scenario}[form])


def _faults(scenario: Scenario) -> Iterator[str]:
    """Yield what the form alone does not say to be wrong; each text begins with the field."""
    for category in scenario.categories:
        if category not in CATEGORIES:
            yield f"categories: {UnknownNameError('category', category, CATEGORIES)}"
    if not scenario.categories:
        yield f"categories: expected at least one of {', '.join(CATEGORIES)}"
    for name in ("id", "request"):
        if not getattr(scenario, name).strip():
            yield f"{name}: expected a text, got an empty one"
    if not scenario.id.isprintable():
        yield (
            f"id: {scenario.id!r} holds a line break or another character that is not printed; "
            "rename it"
        )
    if not scenario.wrong:
        yield "wrong: expected at least one wrong sequence, got none"
    sequences = {"gold": scenario.gold}
    for name, tried in (("right", scenario.right), ("wrong", scenario.wrong)):
        for number, one in enumerate(tried):
            if isinstance(one, Tried):
                sequences[f"{name}.{number}.steps"] = one.steps
    for name, moves in sequences.items():
        if not any(move.say for move in moves):
            yield f"{name}: the agent never speaks to the user; end it with {{'say': ...}}"
        for number, move in enumerate(moves):
            kinds = [kind for kind in ("do", "say", "hear") if getattr(move, kind) is not None]
            if len(kinds) != 1:
                said = " and ".join(kinds) or "none"
                yield f"{name}.{number}: expected one of do, say and hear, got {said}"


# -- What the end of a scenario and its `tells` do not say: milestones and minefields, as a plan.


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
