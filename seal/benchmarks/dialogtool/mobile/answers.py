"""How the answer to a call is found: recorded, of the app's table, or of a created function.

Bookings change it: a later look-up of the same app shows a booking, such as an alarm that was added
among the alarms. It does so where all that it brings (its result slots) stands in what the booking
brought.
`new_` before a name, by which SGD tells what is to be from what is, does not count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from seal.benchmarks.dialogtool.call_keys import DONT_CARE, call_key, fold
from seal.benchmarks.dialogtool.mobile.recordings import (
    Api,
    Call,
    Recordings,
    Row,
    base_required,
    calls_of,
    folded,
    is_transactional,
    login_of,
)
from seal.core import JSON, Task, Tool
from seal.core.canonical import equal
from seal.sandbox.functions import CreatedTools, Fault, columns_of

MOST = 10
"""Rows that a look-up brings at most, as in the recorded dialogues."""
CREATED = "created_"
"""Begins the kind of a refusal by a function: `created_timeout`, `created_no_function`."""
_Key = tuple[str, bytes]
"""Tool id and what equal calls have in common."""


class Refusal(NamedTuple):
    """Why there is no answer."""

    kind: str
    message: str


@dataclass
class Answers:
    """Finds the answers of one chat.

    Args:
        recordings: Of the pool: the tables, and the logins that an app takes.
        tools: The pool, by id.
    """

    recordings: Recordings
    tools: Mapping[str, Tool]

    def begin(self, goal: int) -> None:
        """Take note that the chat about a goal begins."""

    def answer(
        self, tool: Tool, arguments: Mapping[str, JSON], bookings: Sequence[Row]
    ) -> list[Row] | Refusal:
        """Return the rows that a right call brings, best first; empty: it found or did nothing.

        Args:
            tool: That is called.
            arguments: Right ones.
            bookings: The table `mobile.recordings.BOOKINGS`.
        """
        raise NotImplementedError

    def open(self, tool: Tool, arguments: Mapping[str, JSON]) -> Api | Refusal:
        """Return what was recorded of a tool, where its app takes the login of the call."""
        api = self.recordings.apis.get(tool.id)
        if api is None:
            return Refusal("not_recorded", f"No answer of {tool.name} was recorded.")
        if base_required(tool) and login_of(tool, arguments) not in api.logins:
            names = ", ".join(base_required(tool))
            return Refusal("unauthorised", f"{tool.name}: there is no account with this {names}.")
        return api

    def shown(self, tool: Tool, bookings: Sequence[Row]) -> Iterator[Row]:
        """Yield the rows of a look-up that bookings brought about."""
        wanted = columns_of(tool)
        for booking in bookings:
            made = self.tools.get(str(booking["tool"]))
            if made is None or _app(made) != _app(tool) or not wanted:
                continue
            told = (booking["arguments"], booking["result"])
            pairs = (pair for row in told if isinstance(row, dict) for pair in row.items())
            values = {_plain(name): value for name, value in pairs}
            if all(_plain(slot) in values for slot in wanted):
                yield {slot: values[_plain(slot)] for slot in wanted}


def _app(tool: Tool) -> str:
    """Return the app, in the variant of the dialogue, that a tool belongs to."""
    return str(tool.source.get("tool", tool.category))


def _plain(name: str) -> str:
    return name.removeprefix("new_")


@dataclass
class Exact(Answers):
    """The recorded answer: same input, same output.

    The dialogue's own calls come first: of equal ones that of the goal that is played, else the
    n-th in the dialogue for the n-th time that the call is made, the last one for any further time.
    Then what other dialogues recorded. What was never recorded is refused, unless a booking shows
    in it.

    Args:
        task: The dialogue.
    """

    task: Task
    _own: defaultdict[_Key, list[Call]] = field(default_factory=lambda: defaultdict(list))
    _made: Counter[_Key] = field(default_factory=Counter)
    _goal: int | None = None

    def __post_init__(self) -> None:
        """Read the dialogue's own calls."""
        for call in calls_of(self.task, self.tools):
            if call.rows is not None:
                key = call_key(call.tool, call.call.arguments or {})
                self._own[call.tool.id, key].append(call)

    def begin(self, goal: int) -> None:
        """Take note of the goal; what gold did before the first one counts as made."""
        if self._goal is None:
            for key, calls in self._own.items():
                self._made[key] = sum(call.goal < goal for call in calls)
        self._goal = goal

    def answer(
        self, tool: Tool, arguments: Mapping[str, JSON], bookings: Sequence[Row]
    ) -> list[Row] | Refusal:
        """Return the recorded rows."""
        key = tool.id, call_key(tool, arguments)
        calls = self._own.get(key)
        if calls:
            nth = min(self._made[key], len(calls) - 1)
            self._made[key] += 1
            here = [call for call in calls if call.goal == (self._goal or 0)]
            (found,) = here if len(here) == 1 else calls[nth : nth + 1]
            return [dict(row) for row in found.rows or ()]
        seen = list(self.shown(tool, bookings))
        api = self.recordings.apis.get(tool.id)
        places = None if api is None else api.calls.get(key[1])
        if api is None or places is None:
            refusal = Refusal("not_recorded", f"No answer of {tool.name} to this was recorded.")
            return _joined((), seen, arguments) if seen else refusal
        return _joined((dict(api.table[place]) for place in places), seen, arguments)


class Filtered(Answers):
    """Rows of the app's table: those with the required arguments, and the optional ones given.

    Arguments that are no column of the table, such as the number of seats, choose nothing. A
    booking brings the rows that it was recorded to bring for such arguments, else what a look-up of
    its app has of them, with the arguments; where its app looks nothing up, the arguments alone. An
    app that asks for a login takes those that were recorded.
    """

    def answer(
        self, tool: Tool, arguments: Mapping[str, JSON], bookings: Sequence[Row]
    ) -> list[Row] | Refusal:
        """Return at most `MOST` rows in the order of the table."""
        api = self.open(tool, arguments)
        if isinstance(api, Refusal):
            return api
        own = {name: v for name, v in arguments.items() if name not in base_required(tool)}
        found = _joined(_fitting(api, own), self.shown(tool, bookings), own)
        if not found and is_transactional(tool):
            found = list(self._made(tool, own))
        return found[:MOST]

    def _made(self, tool: Tool, arguments: Mapping[str, JSON]) -> Iterator[Row]:
        """Yield the row of a booking that nobody recorded."""
        slots = columns_of(tool)
        given = {name: value for name, value in arguments.items() if name in slots}
        looked_up = False
        for other_id, api in self.recordings.apis.items():
            other = self.tools[other_id]
            if _app(other) != _app(tool) or is_transactional(other):
                continue
            shared = {name: v for name, v in arguments.items() if name in columns_of(other)}
            if not shared or not api.table:
                continue
            looked_up = True
            for row in _fitting(api, shared)[:1]:
                yield {name: v for name, v in {**row, **given}.items() if name in slots}
                return
        if not looked_up and given:
            yield given


@dataclass
class Created(Answers):
    """Rows that an API's created function chooses from its table and what bookings show in it.

    Args:
        created: The functions, in their sandbox.
    """

    created: CreatedTools

    def answer(
        self, tool: Tool, arguments: Mapping[str, JSON], bookings: Sequence[Row]
    ) -> list[Row] | Refusal:
        """Return the function's rows; where it fails, how."""
        api = self.open(tool, arguments)
        if isinstance(api, Refusal):
            return api
        found = self.created.call(tool, arguments, [*api.table, *self.shown(tool, bookings)])
        if isinstance(found, Fault):
            return Refusal(f"{CREATED}{found.status}", f"{tool.name} failed: {found.message}")
        return found


def _wanted(arguments: Mapping[str, JSON]) -> Row:
    """Return what a row must have, as values are compared."""
    return {n: fold(v) for n, v in arguments.items() if fold(v) != DONT_CARE}


def _fits(row: Row, wanted: Row) -> bool:
    """Tell whether those columns of a folded row that are asked for are as wanted."""
    return all(name not in row or row[name] == value for name, value in wanted.items())


def _fitting(api: Api, arguments: Mapping[str, JSON]) -> list[Row]:
    """Return the rows of an API's table whose columns are as the arguments say."""
    wanted = _wanted(arguments)
    pairs = zip(api.table, api.folded, strict=True)
    return [dict(row) for row, compared in pairs if _fits(compared, wanted)]


def _joined(rows: Iterable[Row], seen: Iterable[Row], arguments: Mapping[str, JSON]) -> list[Row]:
    """Return rows, and after them those that bookings show and that fit, each once."""
    joined = list(rows)
    wanted = _wanted(arguments)
    for row in seen:
        if _fits(folded(row), wanted) and not any(equal(row, other) for other in joined):
            joined.append(row)
    return joined
