"""What the apps were asked and answered: in the dialogue that is played, and in all of a pool."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from seal.benchmarks.dialogtool.call_keys import call_key, fold
from seal.benchmarks.dialogtool.mobile.calls import recorded_calls
from seal.core.canonical import canonical_json
from seal.core.errors import DataError, shortened
from seal.core.types import JSON, Task, Tool

VERSION = 1
Row = dict[str, JSON]


class Stored(NamedTuple):
    """The recorded answer to equal calls."""

    rows: tuple[int, ...]
    """Places in the API's table, in recorded order."""
    conflict: bool
    """True: other dialogues recorded another answer; this is that of the first dialogue by id."""


@dataclass(frozen=True, slots=True)
class Api:
    """What was recorded of one API."""

    table: Sequence[Row]
    """Every row that it ever brought, each once."""
    folded: Sequence[Row]
    """The same rows with values as they are compared."""
    calls: Mapping[bytes, Stored]
    """`call_key` of its arguments to the answer."""
    logins: frozenset[bytes]
    """Values of the arguments that its app asks of every call, each map in canonical JSON: of calls
    that brought something, for a wrong PIN brings nothing."""


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
        path: `mobile.json`: {version, apis: {tool id: {rows, calls: [[arguments, [places of rows],
            conflict]]}}}. APIs that are no tools here are passed over, as a drawn
            pool has fewer.
        tools: The pool, by id.

    Raises:
        DataError: The file is malformed; the text names the place.
    """
    if path is None:
        return Recordings({})
    try:
        written = path.read_bytes()
        content = orjson.loads(written)
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}: not JSON: {error}; import the pool again") from error
    if not isinstance(content, dict) or content.get("version") != VERSION:
        raise DataError(
            f"{path}: expected version {VERSION} of recorded calls, got {shortened(content)}; "
            "import the pool again"
        )
    written_apis = content.get("apis")
    if not isinstance(written_apis, dict):
        raise DataError(f"{path}: expected apis by tool id; import the pool again")
    apis = {
        name: _api(path, tools[name], api) for name, api in written_apis.items() if name in tools
    }
    return Recordings(apis, hashlib.sha256(written).hexdigest())


def _api(path: Path, tool: Tool, content: Any) -> Api:
    try:
        table = list(map(dict, content["rows"]))
        calls: dict[bytes, Stored] = {}
        logins = set()
        for arguments, places, conflict in content["calls"]:
            if any(not 0 <= place < len(table) for place in places):
                raise ValueError(f"a call names the rows {places} of {len(table)}")
            calls.setdefault(call_key(tool, arguments), Stored(tuple(places), bool(conflict)))
            if places:
                logins.add(login_of(tool, arguments))
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: {tool.id}: {error!r}; import the pool again") from error
    return Api(table, list(map(folded, table)), calls, frozenset(logins))


class Call(NamedTuple):
    """A call of the dialogue itself, as it was recorded."""

    goal: int
    tool: str
    key: bytes
    rows: Sequence[Row]
    """What it brought."""


def calls_of(task: Task, tools: Mapping[str, Tool]) -> Iterator[Call]:
    """Yield the recorded calls of a dialogue in their order, from the references of its goals.

    Raises:
        DataError: A recorded result is no list of rows.
    """
    for position, goal in enumerate(task.goals):
        for call, rows in recorded_calls(task, goal):
            tool = tools.get(call.tool or "")
            if tool is not None and rows is not None:
                yield Call(position, tool.id, call_key(tool, call.arguments or {}), rows)
