"""How the answer to a call is found: the one that was recorded, or rows of the app's table."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from seal.benchmarks.dialogtool.call_keys import DONT_CARE, call_key, fold
from seal.benchmarks.dialogtool.mobile.calls import is_transactional
from seal.benchmarks.dialogtool.mobile.effects import app_of, shown
from seal.benchmarks.dialogtool.mobile.recordings import (
    Api,
    Call,
    Recordings,
    Row,
    base_required,
    folded,
    login_of,
)
from seal.core.canonical import equal
from seal.core.types import JSON, Tool
from seal.sandbox.functions import columns_of

MOST = 10
"""Rows that a look-up brings at most, as in the recorded dialogues."""


class Refusal(NamedTuple):
    """Why there is no answer."""

    kind: str
    message: str


def open_api(recordings: Recordings, tool: Tool, arguments: Mapping[str, JSON]) -> Api | Refusal:
    """Return what was recorded of a tool, where its app takes the login of the call."""
    api = recordings.apis.get(tool.id)
    if api is None:
        return Refusal("not_recorded", f"No answer of {tool.name} was recorded.")
    if base_required(tool) and login_of(tool, arguments) not in api.logins:
        names = ", ".join(base_required(tool))
        return Refusal("unauthorised", f"{tool.name}: there is no account with this {names}.")
    return api


class Answering(Protocol):
    """Finds answers."""

    def begin(self, goal: int) -> None:
        """Take note that the chat about a goal begins."""
        ...

    def answer(
        self, tool: Tool, arguments: Mapping[str, JSON], bookings: Sequence[Row]
    ) -> list[Row] | Refusal:
        """Return the rows that a right call brings, best first; empty: it found or did nothing."""
        ...


class Exact:
    """The recorded answer: same input, same output.

    The dialogue's own calls come first: of equal ones that of the goal that is played, else the
    n-th in the dialogue for the n-th time that the call is made, the last one for any further time.
    Then what other dialogues recorded. What was never recorded is refused, unless a booking shows
    in it.

    Args:
        own: Recorded calls of the dialogue, in their order.
        recordings: Of the pool.
        tools: By id.
    """

    def __init__(
        self, own: Iterable[Call], recordings: Recordings, tools: Mapping[str, Tool]
    ) -> None:
        self._own: defaultdict[tuple[str, bytes], list[Call]] = defaultdict(list)
        for call in own:
            self._own[call.tool, call.key].append(call)
        self._recordings = recordings
        self._tools = tools
        self._goal = 0
        self._begun: int | None = None
        self._made: Counter[tuple[str, bytes]] = Counter()

    def begin(self, goal: int) -> None:
        """Take note of the goal; what gold did before the first one counts as made."""
        if self._begun is None:
            self._begun = goal
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
            here = [call for call in calls if call.goal == self._goal]
            (found,) = here if len(here) == 1 else calls[nth : nth + 1]
            return [dict(row) for row in found.rows]
        seen = list(shown(tool, bookings, self._tools))
        recorded = self._stored(key)
        if recorded is None and not seen:
            return Refusal("not_recorded", f"No answer of {tool.name} to this was recorded.")
        return _joined(recorded or (), seen, arguments)

    def _stored(self, key: tuple[str, bytes]) -> list[Row] | None:
        api = self._recordings.apis.get(key[0])
        stored = None if api is None else api.calls.get(key[1])
        return None if api is None or stored is None else [dict(api.table[n]) for n in stored.rows]


class Filtered:
    """Rows of the app's table: those with the required arguments, and the optional ones given.

    Arguments that are no column of the table, such as the number of seats, choose nothing. A
    booking brings the rows that it was recorded to bring for such arguments, else what a look-up of
    its app has of them, with the arguments; where its app looks nothing up, the arguments alone. An
    app that asks for a login takes those that were recorded.

    Args:
        recordings: Of the pool.
        tools: By id.
    """

    def __init__(self, recordings: Recordings, tools: Mapping[str, Tool]) -> None:
        self._recordings = recordings
        self._tools = tools

    def begin(self, goal: int) -> None:
        """Do nothing: the table is the same in every dialogue."""

    def answer(
        self, tool: Tool, arguments: Mapping[str, JSON], bookings: Sequence[Row]
    ) -> list[Row] | Refusal:
        """Return at most `MOST` rows in the order of the table."""
        api = open_api(self._recordings, tool, arguments)
        if isinstance(api, Refusal):
            return api
        own = {name: v for name, v in arguments.items() if name not in base_required(tool)}
        found = _joined(_fitting(api, own), shown(tool, bookings, self._tools), own)
        if not found and is_transactional(tool):
            found = list(self._made(tool, own))
        return found[:MOST]

    def _made(self, tool: Tool, arguments: Mapping[str, JSON]) -> Iterator[Row]:
        """Yield the row of a booking that nobody recorded."""
        slots = columns_of(tool)
        given = {name: value for name, value in arguments.items() if name in slots}
        looked_up = False
        for other_id, api in self._recordings.apis.items():
            other = self._tools[other_id]
            if app_of(other) != app_of(tool) or is_transactional(other):
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


__all__ = ["MOST", "Answering", "Exact", "Filtered", "Refusal", "open_api"]
