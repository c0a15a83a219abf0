"""What the apps were asked and answered: in the dialogue that is played, and in all of a pool.

The reference of a goal holds the calls of its turn. Each has a result whose content is a list of
rows as JSON text.

`mobile.json` holds the calls of a whole corpus: {version, apis: {tool id: {rows, calls:
[[arguments, [places of rows], conflict]]}}}. Calls of one API with equal arguments stand once, with
what the first of them brought, in the order in which dialogues are read; `conflict` is true where
others brought something else. Rows are kept as JSON text, each once, so that all splits fit in
memory. The same calls are the tests of tool creation.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from seal.benchmarks.dialogtool.dialogues import RecordedCall
from seal.benchmarks.dialogtool.schemas import BENCHMARK, call_key, fold
from seal.benchmarks.dialogtool.tool_life import CREATION
from seal.core import JSON, DataError, Goal, Task, Tool, ToolCall, shortened
from seal.core.values import canonical_json

WORLD = "mobile"
"""Where recorded dialogues are played (`seal.benchmarks.dialogtool.world`)."""
BOOKINGS = "bookings"
"""Its table of the calls that changed something: {tool, asked, arguments, result}, in their
order; `asked` has the arguments and defaults as they are compared (`schemas.asked`)."""
FILE = "mobile.json"
"""Of a pool: the calls of its dialogues."""
VERSION = 1
"""Of that file."""
FEWEST_CASES = 2
"""Distinct calls of an API from which a task is made: one to show and one to test."""
Row = dict[str, JSON]


def is_transactional(tool: Tool) -> bool:
    """Tell whether calls of a tool change something."""
    return tool.source.get("transactional") is True


class Call(NamedTuple):
    """A call of a dialogue, as it was recorded."""

    goal: int
    call: ToolCall
    tool: Tool
    rows: list[Row] | None
    """What it brought; None: no result was recorded."""

    @property
    def booked(self) -> bool:
        """Whether it changed something: one that brought nothing did not."""
        return bool(self.rows) and is_transactional(self.tool)


def calls_of(task: Task, tools: Mapping[str, Tool]) -> Iterator[Call]:
    """Yield the recorded calls of a dialogue in their order, from the references of its goals.

    Calls of unknown tools are passed over.

    Raises:
        DataError: A recorded result is no list of rows; names the task.
    """
    for position, goal in enumerate(task.goals):
        brought = {s.result.call_id: s.content for s in goal.reference if s.result is not None}
        for step in goal.reference:
            if step.call is None:
                continue
            content = brought.get(step.call.id)
            rows = None if content is None else _rows(task, step.call, content)
            tool = tools.get(step.call.tool or "")
            if tool is not None:
                yield Call(position, step.call, tool, rows)


def _rows(task: Task, call: ToolCall, content: str) -> list[Row]:
    try:
        rows = json.loads(content)
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(
            f"task {task.id}: the recorded result of {call.name} ({call.id}): expected a list of "
            f"rows as JSON, got {shortened(content)}; import the pool again"
        )
    return rows


@dataclass(frozen=True, slots=True)
class Api:
    """What was recorded of one API."""

    table: Sequence[Row]
    """Every row that it ever brought, each once."""
    folded: Sequence[Row]
    """The same rows with values as they are compared."""
    calls: Mapping[bytes, tuple[int, ...]]
    """`call_key` of its arguments to the rows of the answer, by their places in the table. If
    dialogues differ, the first one by id counts."""
    logins: frozenset[bytes]
    """Values of the arguments that its app asks of every call, each map in canonical JSON. They are
    of calls that brought something, for a wrong PIN brings nothing."""


@dataclass(frozen=True, slots=True)
class Recordings:
    """What was recorded of all APIs of a pool."""

    apis: Mapping[str, Api]
    """By tool id."""
    digest: str = ""
    """SHA-256 of the file; empty where a pool has none."""


def folded(row: Row) -> Row:
    """Return a row with values as they are compared."""
    return {name: fold(value) for name, value in row.items()}


def base_required(tool: Tool) -> list[str]:
    """Return the arguments that the app of a tool asks of every call, such as a login."""
    names = tool.source.get("base_required", ())
    return [str(name) for name in names] if isinstance(names, (list, tuple)) else []


def login_of(tool: Tool, arguments: Mapping[str, JSON]) -> bytes:
    """Return the values that a call gives to what its app asks of every call."""
    return canonical_json({name: arguments.get(name) for name in base_required(tool)})


def read_recordings(path: Path | None, tools: Mapping[str, Tool]) -> Recordings:
    """Return what a pool's file of recorded calls holds; nothing where there is no file.

    Args:
        path: `mobile.json`. APIs that are no tools here are passed over, as a drawn pool has fewer.
        tools: The pool, by id.

    Raises:
        DataError: The file is malformed; the text names the place.
    """
    if path is None:
        return Recordings({})
    written = path.read_bytes()
    try:
        content = orjson.loads(written)
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}: not JSON: {error}; import the pool again") from error
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise DataError(
            f"{path}: expected version {VERSION} of recorded calls, got {shortened(content)}; "
            "import the pool again"
        )
    apis = content.get("apis")
    if not isinstance(apis, dict):
        raise DataError(f"{path}: expected apis by tool id; import the pool again")
    known = {name: _api(path, tools[name], api) for name, api in apis.items() if name in tools}
    return Recordings(known, hashlib.sha256(written).hexdigest())


def _api(path: Path, tool: Tool, content: Any) -> Api:
    try:
        table = list(map(dict, content["rows"]))
        calls: dict[bytes, tuple[int, ...]] = {}
        logins = set()
        for arguments, places, _ in content["calls"]:
            if any(not 0 <= place < len(table) for place in places):
                raise ValueError(f"a call names the rows {places} of {len(table)}")
            calls.setdefault(call_key(tool, arguments), tuple(places))
            if places:
                logins.add(login_of(tool, arguments))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: {tool.id}: {error!r}; import the pool again") from error
    return Api(table, list(map(folded, table)), calls, frozenset(logins))


class _Brought(NamedTuple):
    """What a call brought, as `mobile.json` has it."""

    arguments: dict[str, JSON]
    rows: tuple[int, ...]
    conflict: bool


@dataclass(slots=True)
class _Calls:
    """The calls of one API."""

    rows: dict[bytes, int] = field(default_factory=dict)
    """Each row as JSON to its place."""
    calls: dict[bytes, _Brought] = field(default_factory=dict)
    """Arguments as JSON to what the first such call brought."""


class RecordedCalls:
    """The calls of a corpus met so far, by API."""

    def __init__(self) -> None:
        self._apis: dict[str, _Calls] = {}

    def add(self, call: RecordedCall) -> None:
        """Keep a call."""
        api = self._apis.setdefault(call.api.tool, _Calls())
        places = tuple(api.rows.setdefault(row, len(api.rows)) for row in call.rows)
        known = api.calls.setdefault(call.key, _Brought(call.arguments, places, False))
        if known.rows != places:
            api.calls[call.key] = known._replace(conflict=True)

    def mobile(self) -> bytes:
        """Return the content of `mobile.json`."""
        apis = {
            tool: {"rows": list(map(orjson.Fragment, api.rows)), "calls": list(api.calls.values())}
            for tool, api in sorted(self._apis.items())
        }
        return orjson.dumps({"version": VERSION, "apis": apis}, default=list)

    def creation_tasks(self, tools: Mapping[str, Tool], split: str) -> Iterator[Task]:
        """Yield a task of writing its function for each API, in the order of their ids.

        Args:
            tools: By id.
            split: Of the dialogues.
        """
        for tool_id, api in sorted(self._apis.items()):
            if len(api.calls) >= FEWEST_CASES:
                yield _creation_task(tools[tool_id], api, split)


def _creation_task(tool: Tool, api: _Calls, split: str) -> Task:
    service, name = str(tool.source["tool"]), str(tool.source["api"])
    calls = list(api.calls.values())
    text = f"Write the function of the API {name} of {tool.category}: {tool.description}"
    labels: dict[str, JSON] = {"task": CREATION, "tool": tool.id}
    return Task(
        f"{BENCHMARK}/create/{tool.id.partition('/')[2]}",
        BENCHMARK,
        (Goal(text, offered=(tool.id,), labels=labels),),
        split=split,
        tags={"group": CREATION, "split": split, "domain": tool.category, "service": service},
        metadata={
            "table": [orjson.loads(row) for row in api.rows],
            "cases": [[call.arguments, list(call.rows)] for call in calls],
            "example": next((n for n, call in enumerate(calls) if call.rows), 0),
        },
    )
