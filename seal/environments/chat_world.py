"""The world of one chat; calls made at once."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from itertools import permutations
from typing import Any, ClassVar, Generic, Literal, TypeVar, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from seal.core import (
    JSON,
    NOT_RECORDED,
    DataError,
    Execution,
    InfrastructureError,
    SealError,
    Tables,
    Task,
    ToolCall,
    ToolResult,
    shortened,
    text_of,
    told_names,
)
from seal.core.settings import fits
from seal.core.table_versions import SharedRows, Version
from seal.core.validation import CallValidator, error_result
from seal.core.values import json_bytes, json_value, loses_number
from seal.environments.function_tools import NOT_GIVEN, Tokens, WorldTool
from seal.environments.tables import (
    Row,
    UnknownColumnError,
    UnknownTableError,
    copied,
    frozen,
    own_copy,
)

# -- The world of one chat: tables that tools read and change, one batch of calls after the other.
#
# Its time is frozen between turns, and moved on by each (`Clock`).
#
# Worlds check their calls themselves, because the function decides what it takes. The rules of
# `seal.core.validation` reject a call of an unknown tool, or whose arguments are no JSON object. A
# missing, unknown or wrongly typed argument is a failure of the tool, of the kind TypeError. So is
# whatever else the function raises, but for connections that fail, which end the chat
# (`seal.core.servers.check_reached`).

_TURNS = 10_000
"""Turns that a clock must be able to tell."""


@dataclass(frozen=True, slots=True)
class Clock:
    """What time it is in each turn of a chat; equal chats see equal times.

    A turn is a message of the user, or one that whoever answers the user sends to the user or to
    the executor. The calls of a turn, and their results, see its time.
    """

    start: float = 1_735_732_800.0
    """POSIX seconds; of itself 2025-01-01T12:00:00Z."""
    zone: str = "UTC"
    """Where local times are told, a name of the IANA time zone database."""
    first: float = 0.0
    """Seconds from `start` to the first turn, which is the user's request."""
    step: float = 0.0
    """Seconds from each turn to the next."""

    def at(self, turn: int) -> float:
        """Return the POSIX seconds of a turn, counted from 0; before any turn, those of the first.

        >>> Clock(start=100.0, first=5.0, step=1.25).at(2)
        107.5
        """
        return self.start + self.first + max(turn, 0) * self.step

    def local(self, timestamp: float) -> datetime:
        """Return the local date and time of POSIX seconds."""
        return datetime.fromtimestamp(timestamp, ZoneInfo(self.zone))


def clock_of(task: Task) -> Clock:
    """Return the clock that a task's metadata sets: `{"clock": {"start": ..., "zone": ...}}`.

    Raises:
        DataError: A field is unknown, or has a value that no clock can have.
    """
    given = task.metadata.get("clock", {})
    known = get_type_hints(Clock)
    if not isinstance(given, dict) or not given.keys() <= known.keys():
        raise _wrong(task, given)
    if not all(fits(value, known[name]) for name, value in given.items()):
        raise _wrong(task, given)
    try:
        clock = Clock(**given)
        for turn in (0, _TURNS):
            clock.local(clock.at(turn))
    except (ZoneInfoNotFoundError, ValueError, OSError, OverflowError) as error:
        raise _wrong(task, given) from error
    return clock


def _wrong(task: Task, given: JSON) -> DataError:
    return DataError(
        f"task {task.id}: metadata.clock {shortened(given)}; expected an object of start (POSIX "
        "seconds), zone (such as Europe/Rome), first and step (seconds), by which every turn has a "
        "date"
    )


Race = Literal["dependency", "exhaustive", "none"]
"""How an order of simultaneous calls is found that fails: by what they depend on, by trying all,
or not at all."""


_OF_THE_CALL = frozenset({"_call", "_given", "_ids", "_states", "_tables", "unrecorded"})
"""Attributes of a world that each call sets anew, and the tables, which count one by one."""


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

    offline: ClassVar[bool] = False
    """True: its tools reach no server, so that connections which fail are part of the world."""

    def __init__(self, tools: Mapping[str, WorldTool], given: Circumstances) -> None:
        self.clock = given.clock
        self._tools = tools
        self._validator = CallValidator({name: tool.document for name, tool in tools.items()})
        self._offered = given.offered
        self._race = given.race
        self._seed = given.seed
        self._columns = given.columns
        self._tables = {
            name: rows if isinstance(rows, Version) else frozen(rows)
            for name, rows in given.tables.items()
        }
        self._shared = {name: SharedRows(rows) for name, rows in self._tables.items()}
        self._states: list[Tables] | None = []
        """After each result of the last `call`; None: a tool's call is under way here."""
        self._given: dict[int, tuple[str, Version, list[Row]]] = {}
        """Name, rows and copies of the tables that `table` gave, by the identity of the rows."""
        self._turn = -1
        self._batch = 0
        self._call = 0
        self._ids = 0
        self.unrecorded = ""
        """What answers a question of this call that no recording holds (`Unrecorded`)."""

    @property
    def now(self) -> float:
        """POSIX seconds of this turn."""
        return self.clock.at(self._turn)

    def rows(self, table: str) -> list[Row]:
        """Return the rows of a table; they are copies.

        Raises:
            UnknownTableError: There is no such table; a KeyError.
        """
        return self._rows(table).copies()

    def table(self, table: str) -> Sequence[Row]:
        """Return the rows of a table to be read and put again, never to be changed.

        They are copies that this call alone has; throughout it they are the same objects.

        Raises:
            UnknownTableError: There is no such table; a KeyError.
        """
        rows = self._rows(table)
        if id(rows) not in self._given:
            self._given[id(rows)] = table, rows, rows.copies()
        return self._given[id(rows)][2]

    def _rows(self, table: str) -> Version:
        if table not in self._tables:
            known = told_names(self._tables)
            raise UnknownTableError(f"the world has no table {shortened(table)}; it has: {known}")
        return self._tables[table]

    def put(self, table: str, rows: Sequence[Row]) -> None:
        """Replace the rows of a table.

        Raises:
            UnknownTableError: There is no such table; a KeyError.
            UnknownColumnError: A row has a column that the table has not (`Worlds.columns`).
            TypeError: A cell is no JSON.
            ValueError: A number in a cell is infinite, none or beyond a float.
        """
        self._rows(table)
        rows = list(rows)
        self._check_columns(table, rows)
        shared = self._shared[table]
        self._tables = {**self._tables, table: shared.version(shared.rows(rows, copied))}

    def add(self, table: str, row: Row) -> None:
        """Add a row at the end of a table; errors are those of `put`."""
        before = self._rows(table)
        self._check_columns(table, [row])
        shared = self._shared[table]
        after = shared.version([*before, *shared.rows([row], copied)])
        self._tables = {**self._tables, table: after}

    def _check_columns(self, table: str, rows: Iterable[Row]) -> None:
        columns = self._columns.get(table)
        if not columns:
            return
        allowed = frozenset(columns)
        for row in rows:
            for column in () if allowed.issuperset(row) else row:
                if column not in allowed:
                    raise UnknownColumnError(
                        f"the table {table!r} has no column {shortened(column)}; it has: "
                        f"{told_names(columns)}"
                    )

    def new_id(self) -> str:
        """Return a new UUID that follows from the seed and the call's place in the chat."""
        place = f"{self._seed}\n{self._batch}\n{self._call}\n{self._ids}"
        self._ids += 1
        return str(uuid.UUID(bytes=blake2b(place.encode(), digest_size=16).digest(), version=4))

    def states(self) -> Sequence[Tables]:
        """Return the tables after each result of the last `call`, else as they are, alone.

        A tool gets copies of them as they are.
        """
        if self._states is None:
            return [{name: rows.copies() for name, rows in self._tables.items()}]
        return list(self._states) or [dict(self._tables)]

    def tick(self) -> None:
        """Let the time of the next turn come."""
        self._turn += 1
        self._states = []

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return the results of calls that are made at once, in the order in which they ran.

        Raises:
            InfrastructureError: What a tool asks outside of the world failed, such as its server's
                connection; or a tool changed rows in place.
            MissingExtraError: A tool's library is not installed.
        """
        if not calls:
            return []
        self._batch += 1
        results, after = self._play(calls, range(len(calls)))
        order = self._order(calls, results)
        if order != tuple(range(len(calls))):
            results, after = self._play(calls, order)
        self.__dict__.update(after[-1].__dict__)
        self._states = [dict(world._tables) for world in after]
        return results

    def _play(
        self, calls: Sequence[ToolCall], order: Iterable[int]
    ) -> tuple[list[ToolResult], list[World]]:
        """Return the results in an order, and the world after each; this world stays as it is."""
        world, results, after = self, [], []
        for place in order:
            world, result = world._after(calls[place], place)
            results.append(result)
            after.append(world)
        return results, after

    def _order(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> tuple[int, ...]:
        """Return the order that happens; `results` are those of the given one."""
        given = tuple(range(len(calls)))
        if len(calls) == 1 or self._race == "none" or any(map(_failed, results)):
            return given

        def run(world: World, place: int) -> tuple[World, bool]:
            after, result = world._after(calls[place], place)
            return after, _failed(result)

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

    def _after(self, call: ToolCall, place: int) -> tuple[World, ToolResult]:
        """Return a world that goes on from this one by the call at a place, and the result.

        What tools get are copies that nobody else has, so that this world stays as it is even where
        one changes them; then nobody could tell what it did, and the chat ends.
        """
        world = copy.copy(self)
        world._call, world._ids, world.unrecorded = place, 0, ""
        world._states, world._given = None, {}
        result = world._run(call)
        for table, rows, given in world._given.values():
            if not rows.is_written_as(given):
                raise InfrastructureError(
                    f"a tool ({call.name}) changed rows of the table {table!r} in place, so that "
                    "nobody can tell what it did; let it take copies by world.rows(), and put "
                    "them back by world.put()"
                )
        world._given = {}
        return world, result

    def _run(self, call: ToolCall) -> ToolResult:
        """Run one call here. What a tool raises is its result; a failed call changes nothing."""
        if call.tool not in self._tools or call.arguments is None:
            wrong = self._validator.check(call, self._offered)
            if wrong is not None:
                return error_result(call, wrong)
        tool = self._tools[str(call.tool)]
        executed, before = None, dict(self.__dict__)
        try:
            arguments = tool.bind(own_copy(call.arguments or {}))
            passed = {name: v for name, v in arguments.items() if v is not NOT_GIVEN}
            executed = Execution(tool.document.id, own_copy(passed))
            value = _plain_result(tool.document.name, tool.function(self, **arguments))
        except (SealError, KeyboardInterrupt):
            raise
        except BaseException as error:  # a tool's failure is data: the chat goes on
            how, self.__dict__ = self.unrecorded, before
            kind, message = type(error).__name__, text_of(error)
            if not self.offline:
                from seal.core.servers import check_reached

                check_reached(tool.document.name, error, f"{kind}: {message}")
            if how == "error":
                kind, how = NOT_RECORDED, ""
            failure = {"kind": kind, "message": message}
            return ToolResult(call.id, f"{kind}: {message}", failure, None, executed, how)
        return ToolResult(call.id, repr(value), None, value, executed, self.unrecorded)


def _failed(result: ToolResult) -> bool:
    """Tell whether a call failed in its world; that nothing was recorded is no failure there."""
    return result.error is not None and result.error["kind"] != NOT_RECORDED


def _plain_result(name: str, value: Any) -> JSON:
    """Return what a tool returned as a record holds it.

    Raises:
        InfrastructureError: It is an object that JSON cannot hold; names the tool.
        ValueError: A number in it is infinite, none or too long, which JSON has no word for.
    """
    try:
        written = json_bytes(value)
    except TypeError as error:
        raise InfrastructureError(
            f"the tool {name} returned {type(value).__name__}, which JSON cannot say ({error}); "
            "return texts, numbers, lists or maps of these"
        ) from error
    if b"null" in written and loses_number(value):
        raise ValueError(
            "the tool returned a number that is infinite, none (NaN) or of more than 4,300 digits; "
            "JSON has no word for it"
        )
    return json_value(written)


# -- Calls that are made at once: if any order of them fails, that order is what happens.
#
# The rule is ToolSandbox's. The first of the k! orders, as `itertools.permutations` has them, in
# which a call fails is played; if no order fails, the given one is. `exhaustive_order` tries all
# orders. `failing_order` finds the same order by what calls depend on. A call can fail in another
# order only if another call changes what it checks, so independent calls need not be tried in both
# orders. If tools declare their effects truly, both find the same. But `failing_order` gives up
# after `MAX_RUNS` runs, or `MANY_RUNS` if there are more calls than `exhaustive_order` tries. Then
# the given order happens.

State = TypeVar("State")
Run = Callable[[State, int], tuple[State, bool]]
"""(world, position of a call) to the world after it, and whether it failed. Changes no world."""

MOST_EXHAUSTIVE = 7
"""Calls of which all orders are tried, 5,040 at most; of more, those that dependency leaves."""

MAX_RUNS = 20_000
"""Runs of single calls that a search for a failing order may take: enough for all orders of
`MOST_EXHAUSTIVE` calls."""

MANY_RUNS = 1_000
"""Runs that it may take of more calls, of which no search could try all orders."""


@dataclass(frozen=True, slots=True)
class Touch:
    """What one call checks and changes; None: it may be everything."""

    checks: frozenset[Hashable] | None = None
    changes: frozenset[Hashable] | None = None

    def hinders(self, other: Touch) -> bool:
        """Tell whether this call changes something that the other checks."""
        if self.changes is None or other.checks is None:
            return self.changes != frozenset() and other.checks != frozenset()
        return not self.changes.isdisjoint(other.checks)


def exhaustive_order(count: int, start: State, run: Run[State]) -> tuple[int, ...]:
    """Return the first order in which a call fails, else the given one; tries up to count!."""
    for order in permutations(range(count)):
        state = start
        for call in order:
            state, failed = run(state, call)
            if failed:
                return order
    return tuple(range(count))


def failing_order(
    touches: Sequence[Touch],
    start: State,
    run: Run[State],
    max_runs: int | None = None,
    version: Callable[[State], Hashable] = id,
) -> tuple[int, ...]:
    """Return the first order in which a call fails, else the given one; tries few orders.

    Args:
        touches: Of each call. The calls must not fail in the given order.
        start: The world before the calls.
        run: How a call is run.
        max_runs: After so many runs the given order is returned; None: `MAX_RUNS`, or `MANY_RUNS`.
        version: Of a world: where it is equal, every call does the same. It need only be good
            while the worlds live.
    """
    if max_runs is None:
        max_runs = MAX_RUNS if len(touches) <= MOST_EXHAUSTIVE else MANY_RUNS
    search = _Search(touches, run, max_runs, version)
    calls = tuple(range(len(touches)))
    dependent = [call for part in search.parts(calls) if len(part) > 1 for call in part]
    try:
        if not dependent or not search.can_fail(start, tuple(sorted(dependent))):
            return calls
        return search.first(start, calls)
    except _TooMany:
        return calls


class _TooMany(Exception):
    """The search took more runs than it may."""


class _Search(Generic[State]):
    def __init__(
        self,
        touches: Sequence[Touch],
        run: Run[State],
        max_runs: int,
        version: Callable[[State], Hashable],
    ) -> None:
        self._run = run
        self._left = max_runs
        self._version = version
        calls = range(len(touches))
        self._hindered = {
            call: {other for other in calls if touches[call].hinders(touches[other])} - {call}
            for call in calls
        }
        self._linked = {
            call: self._hindered[call] | {n for n in calls if call in self._hindered[n]}
            for call in calls
        }
        self._known: dict[tuple[Hashable, tuple[int, ...]], bool] = {}
        self._alive: list[State] = []

    def run(self, state: State, call: int) -> tuple[State, bool]:
        if not self._left:
            raise _TooMany
        self._left -= 1
        return self._run(state, call)

    def parts(self, calls: Sequence[int]) -> list[tuple[int, ...]]:
        """Return the calls in groups that do not depend on each other."""
        left, found = set(calls), []
        for call in calls:
            if call in left:
                group, border = set(), {call}
                while border:
                    group |= border
                    border = {n for c in border for n in self._linked[c] & left} - group
                left -= group
                found.append(tuple(sorted(group)))
        return found

    def can_fail(self, state: State, calls: Sequence[int]) -> bool:
        """Tell whether a call fails in any order of these."""
        return any(self._part_can_fail(state, part) for part in self.parts(calls))

    def _part_can_fail(self, state: State, part: tuple[int, ...]) -> bool:
        """Tell whether a call fails in any order of some that depend on each other.

        A call that leaves the world as it is, or hinders none of the others, need not come first:
        it fails here, or the others fail without it. What follows from a world is searched once.
        """
        key = self._version(state), part
        if key not in self._known:
            self._alive.append(state)  # else its version might become another's
            self._known[key] = self._searched(state, part)
        return self._known[key]

    def _searched(self, state: State, part: tuple[int, ...]) -> bool:
        before, moved = self._version(state), []
        for call in part:
            after, failed = self.run(state, call)
            if failed:
                return True
            if not self._hindered[call].isdisjoint(part) and self._version(after) != before:
                moved.append((call, after))
        return any(
            self.can_fail(after, tuple(c for c in part if c != call)) for call, after in moved
        )

    def first(self, state: State, calls: Sequence[int]) -> tuple[int, ...]:
        """Return the first failing order, given that there is one: the least call that leads on."""
        for call in calls:
            rest = tuple(c for c in calls if c != call)
            after, failed = self.run(state, call)
            if failed:
                return call, *rest
            if self.can_fail(after, rest):
                return call, *self.first(after, rest)
        return tuple(calls)
