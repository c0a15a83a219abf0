"""A world of tables that tools read and change, and the factory that opens one for each chat.

A world of one's own is one file: functions, and a `Worlds` made of them, under a dotted path that a
task's `world` names; the README shows one. `REGISTRY.register("lamps", lamps)`, or an entry point
of the group `seal.environments`, gives it a name.

Worlds check their calls themselves, for it is the function that decides what it takes: a call of a
tool that the world has not, or whose arguments are no JSON object, is rejected by the rules of
`seal.core.validation`; a missing, unknown or wrongly typed argument is a failure of the tool, of
the kind TypeError, as is whatever else the function raises.
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, Self, get_args

import orjson

from seal.core.canonical import canonical_json, digest
from seal.core.errors import DataError, OptionError, SealError, UsageError, nearest, shortened
from seal.core.plain import json_bytes, loses_number
from seal.core.protocols import Environment, EnvironmentFactory, Simulator
from seal.core.records import to_plain
from seal.core.types import JSON, Execution, Tables, Task, Tool, ToolCall, ToolResult, Trajectory
from seal.core.validation import CallError, CallValidator, error_result
from seal.worlds.clock import Clock, clock_of
from seal.worlds.functions import NOT_GIVEN, Tokens, WorldTool, fits, world_tool
from seal.worlds.race import MOST_EXHAUSTIVE, Touch, exhaustive_order, failing_order
from seal.worlds.tables import Row, UnknownColumnError, UnknownTableError, copied, own_copy

Race = Literal["dependency", "exhaustive", "none"]
"""How an order of simultaneous calls is found that fails: by what they depend on, by trying all
(`seal.worlds.race`), or not at all."""


_OF_THE_CALL = frozenset({"_call", "_ids", "_states", "_tables"})
"""Attributes of a world that each call sets anew, and the tables, which count one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSetup:
    """What a factory of worlds may be built from."""

    seed: int = 0
    """The run's; new ids derive from it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """`-T key=value` of the run."""
    web: Path | None = None
    """File of the web's answers that come with the pool; an option of that name is heard first."""
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """The pool, by id, for worlds whose tools are not their own."""
    mobile: Path | None = None
    """File of the calls recorded in dialogues that comes with the pool."""
    creator: Callable[[Tool], str] | None = None
    """Gives a model's text that holds the function of a tool, for worlds of created tools."""
    sandbox: str = "monty"
    """Where it runs (`seal.sandbox.NAMES`)."""
    simulator: Callable[[], Simulator] | None = None
    """Gives the run's simulator, for worlds that ask it."""
    keys_of_call: Callable[[Simulator, Tool, dict[str, JSON]], Iterable[str]] | None = None
    """(simulator, tool, arguments) to the keys of the stored answers that are the simulator's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What one world is opened with."""

    tables: Tables = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)
    seed: str = ""
    """Equal seeds give equal ids."""
    columns: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Table to the columns that its rows may have; any where a table has none here."""
    race: Race = "dependency"
    offered: Sequence[str] = ()
    """Names of the offered tools, for messages; a list may grow during the chat."""


class World:
    """The world of one chat.

    A subclass may have attributes of its own; those that tools change must be assigned anew, never
    changed in place, as the tables are.

    Args:
        tools: By id.
        given: How it begins.
    """

    def __init__(self, tools: Mapping[str, WorldTool], given: Circumstances) -> None:
        self.clock = given.clock
        self._tools = tools
        self._validator = CallValidator({name: tool.document for name, tool in tools.items()})
        self._offered = given.offered
        self._race = given.race
        self._seed = given.seed
        self._columns = given.columns
        self._tables = {name: copied(rows) for name, rows in given.tables.items()}
        self._states: list[Tables] = []
        self._turn = -1
        self._batch = 0
        self._call = 0
        self._ids = 0

    @property
    def now(self) -> float:
        """POSIX seconds of this turn."""
        return self.clock.at(self._turn)

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a table; they are copies.

        Raises:
            UnknownTableError: There is no such table; a KeyError.
        """
        return [own_copy(row) for row in self.table(table)]

    def table(self, table: str) -> Sequence[Row]:
        """Return the rows of a table themselves: to be read and put again, never to be changed.

        Raises:
            UnknownTableError: There is no such table; a KeyError.
        """
        if table not in self._tables:
            known = ", ".join(self._tables) or "none"
            raise UnknownTableError(f"the world has no table {table!r}; it has: {known}")
        return self._tables[table]

    def put(self, table: str, rows: Sequence[Row]) -> None:
        """Replace the rows of a table.

        Raises:
            UnknownTableError: There is no such table; a KeyError.
            UnknownColumnError: A row has a column that the table has not (`Worlds.columns`).
            TypeError: A cell is no JSON.
            ValueError: A number in a cell is infinite, none or beyond a float.
        """
        before, rows = self.table(table), list(rows)
        self._check_columns(table, rows)
        self._tables = {**self._tables, table: copied(rows, before)}

    def add(self, table: str, row: Row) -> None:
        """Add a row at the end of a table; errors are those of `put`."""
        before = self.table(table)
        self._check_columns(table, [row])
        self._tables = {**self._tables, table: [*before, *copied([row])]}

    def _check_columns(self, table: str, rows: Iterable[Row]) -> None:
        columns = self._columns.get(table)
        if not columns:
            return
        for row in rows:
            for column in row:
                if column not in columns:
                    known = ", ".join(columns)
                    raise UnknownColumnError(
                        f"the table {table!r} has no column {column!r}; it has: {known}"
                    )

    def new_id(self) -> str:
        """Return a new UUID that follows from the seed and the call's place in the chat."""
        place = f"{self._seed}\n{self._batch}\n{self._call}\n{self._ids}"
        self._ids += 1
        return str(uuid.UUID(bytes=blake2b(place.encode(), digest_size=16).digest(), version=4))

    def states(self) -> Sequence[Tables]:
        """Return the tables after each result of the last `call`, else as they are, alone."""
        return list(self._states) or [dict(self._tables)]

    def tick(self) -> None:
        """Let the time of the next turn come."""
        self._turn += 1
        self._states = []

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of calls that are made at once, in the order in which they ran.

        Raises:
            InfrastructureError: What a tool asks outside of the world failed.
            MissingExtraError: A tool's library is not installed.
        """
        if not calls:
            return []
        self._batch += 1
        results, after = self._play(calls, range(len(calls)))
        order = self._order(calls, results)
        if order != tuple(range(len(calls))):
            results, after = self._play(calls, order)
        self._states = [dict(world._tables) for world in after]
        self._become(after[-1])
        return results

    def _play(
        self, calls: Sequence[ToolCall], order: Iterable[int]
    ) -> tuple[list[ToolResult], list[World]]:
        """Return the results in an order, and the world after each; this world stays as it is."""
        world, results, after = self, [], []
        for place in order:
            world = world._fork(place)
            results.append(world._run(calls[place]))
            after.append(world)
        return results, after

    def _order(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> tuple[int, ...]:
        """Return the order that happens; `results` are those of the given one."""
        given = tuple(range(len(calls)))
        if len(calls) == 1 or self._race == "none" or any(result.error for result in results):
            return given

        def run(world: World, place: int) -> tuple[World, bool]:
            after = world._fork(place)
            return after, after._run(calls[place]).error is not None

        if self._race == "exhaustive" and len(calls) <= MOST_EXHAUSTIVE:
            return exhaustive_order(len(calls), self, run)
        touches = [self._touch(call) for call in calls]
        return failing_order(touches, self, run, version=World._version)

    def _touch(self, call: ToolCall) -> Touch:
        """Return what a call checks and changes; everything, where a tool cannot say it."""
        tool = self._tools[str(call.tool)]
        arguments = tool.bind(call.arguments or {})

        def tokens(what: Tokens | None) -> frozenset[Hashable] | None:
            return None if what is None else frozenset(what(arguments) if callable(what) else what)

        try:
            return Touch(tokens(tool.effects.checks), tokens(tool.effects.changes))
        except Exception:  # what a tool declares may be as wrong as the tool
            return Touch()

    def _version(self) -> Hashable:
        """Return what tells this world, as calls see it, from others that live."""
        own = {name: id(v) for name, v in self.__dict__.items() if name not in _OF_THE_CALL}
        tables = {name: id(rows) for name, rows in self._tables.items()}
        return frozenset(own.items()), frozenset(tables.items())

    def _fork(self, place: int) -> World:
        """Return a world that goes on from this one, about to run the call at a place."""
        forked = copy.copy(self)
        forked._call, forked._ids = place, 0
        return forked

    def _become(self, other: World) -> None:
        states = self._states
        self.__dict__.update(other.__dict__)
        self._states = states

    def _run(self, call: ToolCall) -> ToolResult:
        """Run one call here. What a tool raises is its result; a failed call changes nothing."""
        wrong = self._rejection(call)
        if wrong is not None:
            return error_result(call, wrong)
        tool = self._tools[str(call.tool)]
        executed, before = None, dict(self.__dict__)
        try:
            arguments = tool.bind(own_copy(call.arguments or {}))
            passed = {name: v for name, v in arguments.items() if v is not NOT_GIVEN}
            executed = Execution(tool.document.id, own_copy(passed))
            value = _plain_result(tool.function(self, **arguments))
        except (SealError, KeyboardInterrupt):
            raise
        except BaseException as error:  # a tool's failure is data: the chat goes on
            self.__dict__ = before
            kind, message = type(error).__name__, _words_of(error)
            failure = {"kind": kind, "message": message}
            return ToolResult(call.id, f"{kind}: {message}", failure, executed=executed)
        return ToolResult(call.id, repr(value), value=value, executed=executed)

    def _rejection(self, call: ToolCall) -> CallError | None:
        if call.tool in self._tools and call.arguments is not None:
            return None
        return self._validator.check(call, self._offered)


def _plain_result(value: Any) -> JSON:
    """Return what a tool returned as a record holds it.

    Raises:
        TypeError: It is no JSON.
        ValueError: A number in it is infinite, none or beyond a float, which JSON has no word for.
    """
    written = json_bytes(value)
    if b"null" in written and loses_number(value):
        raise ValueError(
            "the tool returned a number that is infinite, none (NaN) or beyond a float; "
            "JSON has no word for it"
        )
    return orjson.loads(written)


def _words_of(error: BaseException) -> str:
    """Return what an exception says; one that cannot say it says so."""
    try:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException:  # its own code, or the repr of what it holds, is as wrong as the tool
        return "(its message cannot be read)"


@dataclass(frozen=True, kw_only=True)
class Worlds:
    """A kind of world: opens one for each chat, and can be registered under a name.

    A run plays the same kind `under` its own settings.
    """

    name: str
    tools: Mapping[str, WorldTool]
    """By id (`toolbox`)."""
    tables: Tables = field(default_factory=dict)
    """How a world begins, where a task's `initial_state` does not say otherwise."""
    columns: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Table to column to its type. Rows of a table that is left out have the columns that it begins
    with; any, if it begins empty, or if its map here is."""
    make: Callable[[Mapping[str, WorldTool], Circumstances], World] = World
    setup: WorldSetup = field(default_factory=WorldSetup)

    def under(self, setup: WorldSetup) -> Self:
        """Return this kind of world under the settings of a run.

        Raises:
            OptionError: An option is unknown or has a value that it cannot have.
        """
        race = setup.options.get("race", "dependency")
        if race not in get_args(Race):
            known = ", ".join(get_args(Race))
            raise OptionError(f"-T race={race!r}: expected one of {known}")
        check_options(self.name, setup.options, ("race",))
        return replace(self, setup=setup)

    @property
    def race(self) -> Race:
        """How an order of simultaneous calls is found that fails."""
        race: Race = self.setup.options.get("race", "dependency")
        return race

    def documents(self) -> tuple[Tool, ...]:
        """Return the tools, for a pool."""
        return tuple(tool.document for tool in self.tools.values())

    def open(self, task: Task, trial: int, offered: Sequence[str] = ()) -> Environment:
        """Return the world of one chat.

        Raises:
            DataError: The task's `initial_state` or clock cannot be.
        """
        tables = self.beginning(task)
        return self.make(
            self.tools,
            Circumstances(
                tables=tables,
                columns={table: self._columns_of(table, rows) for table, rows in tables.items()},
                clock=clock_of(task),
                seed=canonical_json([self.setup.seed, task.id, trial]).decode(),
                race=self.race,
                offered=offered,
            ),
        )

    def _columns_of(self, table: str, begun: Sequence[Row]) -> Collection[str]:
        """Return the columns of a table, those declared or else of its first rows; none: any."""
        if table in self.columns:
            return tuple(self.columns[table])
        rows = [*self.tables.get(table, ()), *begun]
        return tuple(dict.fromkeys(column for row in rows for column in row))

    def check(self, task: Task) -> None:
        """Make sure that a task's world can be opened.

        Raises:
            DataError: The task's `initial_state` or clock cannot be.
        """
        self.beginning(task)
        clock_of(task)

    def beginning(self, task: Task) -> Tables:
        """Return the tables that a task's world begins with; cells left out are null.

        Raises:
            DataError: A table or column is unknown, a row is empty, or a cell is of another type.
        """
        given = task.initial_state or {}
        for table in given:
            if table not in self.tables:
                known = ", ".join(self.tables) or "none"
                raise DataError(
                    f"task {task.id}: the world {self.name} has no table {table!r}; it has: {known}"
                )
        return {
            table: [self._row(task, table, row) for row in given[table]]
            if table in given
            else self.tables[table]
            for table in self.tables
        }

    def _row(self, task: Task, table: str, row: Row) -> Row:
        columns = self.columns.get(table)
        if not columns:
            return row
        place = f"task {task.id}: a row of {table}"
        for column in row:
            if column not in columns:
                known = ", ".join(columns)
                raise DataError(f"{place} has the column {column!r}; expected: {known}")
        full = {column: row.get(column) for column in columns}
        if all(value is None for value in full.values()):
            raise DataError(f"{place} has no value; expected at least one of {', '.join(columns)}")
        for column, value in full.items():
            if not fits(value, columns[column]):
                raise DataError(
                    f"{place} has {column} {shortened(value)}; expected {columns[column]}"
                )
        return full

    def identity(self) -> dict[str, JSON]:
        """Return what shapes the answers."""
        return {
            "world": self.name,
            "tools": digest(list(map(to_plain, self.documents()))),
            "tables": digest(self.tables),
            "race": self.race,
        }

    def keys_of(self, trajectory: Trajectory) -> set[str]:
        """Return nothing: no stored answer is used."""
        return set()


def toolbox(prefix: str, functions: Iterable[Callable[..., Any]]) -> dict[str, WorldTool]:
    """Return functions as tools by id, `prefix/name`.

    Raises:
        UsageError: A function cannot be a tool (`world_tool`), or two have one name.
    """
    found: dict[str, WorldTool] = {}
    for function in functions:
        tool_id = f"{prefix}/{function.__name__}"
        if tool_id in found:
            raise UsageError(f"two tools of {prefix} are named {function.__name__!r}; rename one")
        found[tool_id] = world_tool(tool_id, function, prefix.rpartition("/")[2])
    return found


def check_options(world: str, options: Mapping[str, Any], known: Sequence[str]) -> None:
    """Make sure that a world knows its options.

    Raises:
        OptionError: Names the unknown one and the closest.
    """
    for name in options:
        if name not in known:
            close = nearest(name, known)
            hint = f" Did you mean {close!r}?" if close else ""
            raise OptionError(
                f"-T {name}: the world {world} has no such option; it has: "
                f"{', '.join(known)}.{hint}"
            )


def build_worlds(name: str, setup: WorldSetup) -> EnvironmentFactory:
    """Return what opens the worlds that a name or dotted path stands for.

    Raises:
        UnknownNameError: No world has this name.
        UsageError: What was found opens no worlds, or an option cannot be.
    """
    from seal.worlds import REGISTRY

    found = REGISTRY.resolve(name)
    made = found.under(setup) if isinstance(found, Worlds) else found
    if callable(made):
        made = made(setup)
    if not all(callable(getattr(made, part, None)) for part in ("open", "identity", "keys_of")):
        raise UsageError(
            f"world {name!r}: {type(made).__name__} opens no worlds; expected a `Worlds`, or a "
            "function of a WorldSetup that gives an object with open, identity and keys_of"
        )
    factory: EnvironmentFactory = made
    return factory


__all__ = [
    "Circumstances",
    "World",
    "WorldSetup",
    "Worlds",
    "build_worlds",
    "check_options",
    "toolbox",
]
