"""Kinds of worlds: what opens a world of tables for each chat.

A world of one's own is one file: functions, and a `Worlds` made of them (docs/what-decides.md).
`REGISTRY.register("lamps", lamps)`, or an entry point of the group `seal.environments`, gives it
the name that a task's `world` says. A task may also say its dotted path, which counts where the
user allows that module. What happens in a world stands in `seal.environments.chat_world`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self, get_args

from seal.core import (
    JSON,
    CacheMode,
    DataError,
    OptionError,
    Simulator,
    Tables,
    Task,
    Tool,
    Unrecorded,
    UsageError,
    nearest,
    shortened,
    told_names,
)
from seal.core.environment import Environment, EnvironmentFactory, Storeless
from seal.core.records import to_plain
from seal.core.settings import fits as fits_type
from seal.core.settings import takes
from seal.core.store import Store
from seal.core.values import canonical_json, digest, loss_of
from seal.environments.chat_world import Circumstances as Circumstances
from seal.environments.chat_world import Race, clock_of
from seal.environments.chat_world import World as World
from seal.environments.function_tools import WorldTool, fits, world_tool
from seal.environments.tables import Row, frozen


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSetup:
    """What a factory of worlds may be built from."""

    seed: int = 0
    """The run's; new ids derive from it."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """`-T key=value` of the run."""
    taken: Collection[str] = ()
    """Options of the run that its team or benchmark takes; no world sees them."""
    folder: Path | None = None
    """Of the pool, which may hold files of its worlds (`file`)."""
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """The pool, by id, for worlds whose tools are not their own."""
    creator: Callable[[Tool], str] | None = None
    """Gives a model's text that holds the function of a tool, for worlds of created tools."""
    sandbox: str = "monty"
    """Where it runs (`seal.sandbox.NAMES`)."""
    unrecorded: Unrecorded = "error"
    """What answers a question that a recording does not hold."""
    simulator: Callable[[], Simulator] | None = None
    """Gives the run's simulator, for worlds that ask it."""
    keys_of_call: Callable[[Simulator, Tool, dict[str, JSON]], Iterable[str]] | None = None
    """(simulator, tool, arguments) to the keys of the stored answers that are the simulator's."""
    own: Callable[[str], Any] | None = None
    """(name that a task has for its world) to the environment of the benchmark of that name."""
    allow_code: Collection[str] = ()
    """Modules into which a task may name its world by a dotted path."""
    servers: Any = field(default_factory=dict, repr=False)
    """MCP servers that the user gives (`seal.environments.mcp_servers.read_servers`)."""
    store: Store | None = None
    """Where worlds keep the answers of servers; None: nowhere."""
    cache: CacheMode = "record"
    """How the store is used."""

    def file(self, name: str) -> Path | None:
        """Return a file that the pool's folder holds; None: it holds none of that name."""
        path = None if self.folder is None else self.folder / name
        return path if path is not None and path.is_file() else None


class Begun(dict[str, list[Row]]):
    """How worlds of a kind begin: tables that are checked and copied once, and never changed.

    Args:
        tables: Of which all cells are JSON.
    """

    def __init__(self, tables: Tables) -> None:
        super().__init__((name, frozen(rows)) for name, rows in tables.items())

    @cached_property
    def digest(self) -> str:
        """Of all tables."""
        return digest(self)

    @cached_property
    def columns(self) -> Mapping[str, Collection[str]]:
        """Table to the columns of its rows, as they come."""
        return {
            table: tuple(dict.fromkeys(column for row in rows for column in row))
            for table, rows in self.items()
        }


@dataclass(frozen=True, kw_only=True)
class Worlds(Storeless):
    """A kind of world: opens one for each chat, and can be registered under a name.

    A run plays the same kind `under` its own settings.

    Raises:
        UsageError: A table is no list of rows, or holds what JSON cannot.
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
    policy: Sequence[Any] = ()
    """What an agent must keep: texts, and functions of (call, world, chat) whose docstring is the
    rule and that return how a call broke it (`seal.environments.policy`). Tasks of a benchmark of
    this world tell it as their system text."""
    goals: Sequence[Any] = ()
    """What `seal generate scenarios` makes scenarios of: `Goals`, or where one stands, as
    `module:name` (`seal.environments.templates`)."""
    setup: WorldSetup = field(default_factory=WorldSetup)

    def __post_init__(self) -> None:
        """Check the tables and the policy."""
        if isinstance(self.tables, Begun):  # under other settings
            return
        kinds = {"tables": Mapping[str, Any], "columns": Mapping[str, Mapping[str, Any]]}
        for part, kind in kinds.items():
            if not fits_type(given := getattr(self, part), kind):
                raise UsageError(
                    f"world {self.name!r}: {part}: expected a map of tables, "
                    f"got {shortened(given)}; name each by a text"
                )
        for table, rows in self.tables.items():
            place = f"world {self.name!r}: table {table!r}"
            if not fits_type(rows, Sequence[Mapping[str, Any]]):
                raise UsageError(
                    f"{place}: expected a list of rows, each a map of columns to values, "
                    f"got {shortened(rows)}"
                )
            try:
                if lost := loss_of(rows):
                    raise ValueError(f"JSON cannot hold {lost}")
                canonical_json(rows)
            except (TypeError, ValueError) as error:
                raise UsageError(f"{place}: {error}; give values that JSON has") from error
        try:
            object.__setattr__(self, "tables", Begun(self.tables))
        except TypeError as error:  # a key that is no text
            raise UsageError(f"world {self.name!r}: {error}; give values that JSON has") from error
        if self.policy:
            from seal.environments.policy import check_policy

            check_policy(self.name, self.policy)

    @property
    def told(self) -> str:
        """The policy as the agent reads it; empty where there is none."""
        if not self.policy:
            return ""
        from seal.environments.policy import policy_text

        return policy_text(self.policy)

    @property
    def _begun(self) -> Begun:
        assert isinstance(self.tables, Begun)
        return self.tables

    def under(self, setup: WorldSetup) -> Self:
        """Return this kind of world under the settings of a run.

        Raises:
            OptionError: An option is unknown or has a value that it cannot have.
        """
        race = setup.options.get("race", "dependency")
        if race not in get_args(Race):
            known = ", ".join(get_args(Race))
            raise OptionError(f"-T race={race!r}: expected one of {known}")
        check_options(self.name, setup, ("race",))
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
        usual = self._begun.columns.get(table, ())
        if begun is self.tables.get(table):
            return usual
        return tuple(dict.fromkeys((*usual, *(column for row in begun for column in row))))

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
                raise DataError(
                    f"task {task.id}: the world {self.name} has no table {shortened(table)}; it "
                    f"has: {told_names(self.tables)}"
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
                told = f"{shortened(column)}; expected: {told_names(columns)}"
                raise DataError(f"{place} has the column {told}")
        full = {column: row.get(column) for column in columns}
        if all(value is None for value in full.values()):
            raise DataError(f"{place} has no value; expected at least one of {told_names(columns)}")
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
            "tables": self._begun.digest,
            "race": self.race,
            **({"policy": digest(self.told)} if self.policy else {}),
        }


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


def check_options(world: str, setup: WorldSetup, known: Sequence[str]) -> None:
    """Make sure that a world knows its options.

    Raises:
        OptionError: Names the unknown one, those of world, team and benchmark, and the closest.
    """
    for name in setup.options:
        if name not in known:
            others = sorted(setup.taken)
            close = nearest(name, [*known, *others])
            hint = f" Did you mean {close!r}?" if close else ""
            has = ", ".join(known) or "none"
            also = f"; team and benchmark have: {', '.join(others)}" if others else ""
            raise OptionError(
                f"-T {name}: the world {world} has no such option; it has: {has}{also}.{hint}"
            )


JOINS = "+"
"""Stands between the names of worlds that are one."""


def joined(parts: Sequence[Any]) -> Worlds:
    """Return one kind of world that has the tools, tables and policies of several.

    A table that two of them have is one, which they share: what a tool of one changes there, the
    tools of the other find. So is a tool.

    Args:
        parts: `Worlds`, of which one may have worlds of a class of its own (`make`).

    Raises:
        UsageError: One is no `Worlds`, two have a tool of one name or two classes, or a table that
            begins otherwise or has other columns.
    """
    for part in parts:
        if not isinstance(part, Worlds):
            raise UsageError(f"{type(part).__name__} does not tell its tools; join `Worlds` alone")
    together = JOINS.join(part.name for part in parts)
    own = [part for part in parts if part.make is not World]
    if len(own) > 1:
        names = " and ".join(part.name for part in own)
        raise UsageError(f"{together}: {names} have worlds of their own classes; join one of them")
    tools: dict[str, WorldTool] = {}
    tables: dict[str, list[Row]] = {}
    columns: dict[str, Mapping[str, Any]] = {}
    for part in parts:
        for tool_id, tool in part.tools.items():
            name = tool.document.name
            same = (other for other in tools.values() if other.document.name == name)
            if any(other.function is not tool.function for other in same):
                raise UsageError(f"{together}: two tools are named {name!r}; rename one")
            tools[tool_id] = tool
        for table, rows in part.tables.items():
            its = part.columns.get(table, {})
            if tables.setdefault(table, [*rows]) != [*rows] or (
                columns.setdefault(table, its) != its
            ):
                raise UsageError(
                    f"{together}: the table {table!r} begins otherwise in {part.name}, or has "
                    "other columns there; give both the same one, or rename one"
                )
    policy = tuple(dict.fromkeys(rule for part in parts for rule in part.policy))
    goals = [goal for part in parts for goal in part.goals]
    goals = [goal for place, goal in enumerate(goals) if goal not in goals[:place]]
    base: Worlds = (own or list(parts))[0]
    both = replace(base, name=together, tools=tools, tables=tables, columns=columns)
    return replace(both, policy=policy, goals=goals)


def build_worlds(name: str, setup: WorldSetup, place: str = "a task") -> EnvironmentFactory:
    """Return what opens the worlds that a name in data stands for.

    Args:
        name: Of the world, or names that `+` joins (`joined`); a dotted path counts where `setup`
            allows its module.
        setup: What the worlds are built from.
        place: Where the name stands, for messages: "task 'one'".

    Raises:
        UnknownNameError: No world has this name.
        CodeRefusedError: It is a dotted path into a module that is not allowed.
        UsageError: What was found opens no worlds, or an option cannot be.
    """
    from seal.environments import REGISTRY

    if isinstance(name, str) and JOINS in name:
        return joined([build_worlds(part, setup, place) for part in name.split(JOINS)])
    own = setup.own(name) if setup.own else None
    found = REGISTRY.named(name, place, setup.allow_code) if own is None else own
    made = found.under(setup) if isinstance(found, Worlds) else found
    if callable(made) and takes(made, 1):
        made = made(setup)
    if not all(callable(getattr(made, part, None)) for part in ("open", "identity", "keys_of")):
        raise UsageError(
            f"world {name!r}: {type(made).__name__} opens no worlds; expected a `Worlds`, or a "
            "function of a WorldSetup that gives an object with open, identity and keys_of"
        )
    factory: EnvironmentFactory = made
    return factory
