"""The file of ToolSandbox's scenarios, read and checked."""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Any

import orjson

from seal.core.errors import DataError, shortened
from seal.pools.reading.records import (
    Placed,
    Torn,
    field,
    json_values,
    parse_json,
    refuse_deep,
)

BENCHMARK = "toolsandbox"
FILES = ("scenarios_core.jsonl.gz", "scenarios_core.jsonl")

_RATIO = 100
"""Bytes that one packed byte may become; upstream's become 46, of nothing but zeros 1,032."""
_SMALL = 2**26
"""Unpacked bytes that any file may have."""
_LARGEST = 2**30
"""Unpacked bytes that no file may pass."""

CATEGORIES = {
    "SINGLE_TOOL_CALL": "single_tool",
    "MULTIPLE_TOOL_CALL": "multiple_tool",
    "SINGLE_USER_TURN": "single_turn",
    "MULTIPLE_USER_TURN": "multiple_turn",
    "STATE_DEPENDENCY": "state_dependency",
    "CANONICALIZATION": "canonicalization",
    "INSUFFICIENT_INFORMATION": "insufficient_information",
}
"""Upstream's category of scenarios to the tag that is true of its tasks, false of the others."""

_FIELDS: dict[str, Any] = {
    "id": str,
    "base": str,
    "augmentation": str,
    "categories": list,
    "max_messages": int,
    "tools": dict,
    "initial_state": dict,
    "messages": list,
    "milestones": dict,
    "minefields": dict,
    "time_dependent": dict,
}


def scenario_lines(path: Path, torn: Torn) -> Iterator[Placed]:
    """Yield what the lines of a file hold, compressed or not.

    Args:
        path: The file.
        torn: Told a line that is no JSON, or has a number that is none, which is passed over.

    Raises:
        DataError: The file is no whole gzip file, is too large when unpacked, or is empty.
    """
    lines = _content(path).splitlines()
    if not lines:
        raise DataError(f"{path} holds no scenario: is the file cut? Fetch it again")
    yield from json_values(lines, path, torn, _parse)


def _parse(line: bytes, place: str) -> Any:
    """Return the value of a line, as long as each number in it is one.

    Infinity and NaN, which JSON has not and Python writes, would become null, and be measured as
    values that are absent.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        for record, where, number in _no_numbers(line):
            raise DataError(
                f"{place}{record}: {where}: expected a number, got {number}; JSON has none such: "
                "write a number, or null"
            ) from None
    return parse_json(line, place)


def _no_numbers(line: bytes) -> Iterator[tuple[str, str, float]]:
    """Yield the record, the place within it, and the number, of each that is not finite."""
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return
    named = f", record {record['id']!r}" if isinstance(record, dict) and "id" in record else ""
    waiting: list[tuple[str, Any]] = [("", record)]
    while waiting:
        where, value = waiting.pop()
        if isinstance(value, dict | list):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [(f"{where}.{key}" if where else str(key), item) for key, item in items]
        elif isinstance(value, float) and not isfinite(value):
            yield named, where, value


def _content(path: Path) -> bytes:
    content = path.read_bytes()
    if path.suffix != ".gz":
        return content
    limit = min(_LARGEST, max(_SMALL, _RATIO * len(content)))
    try:
        with gzip.open(io.BytesIO(content)) as file:
            unpacked = file.read(limit + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path}: no whole gzip file: {error}; fetch it again") from error
    if len(unpacked) > limit:
        raise DataError(
            f"{path}: {len(content)} bytes unpack to more than {limit}; if you trust the file, "
            "unpack it with gunzip and name what comes of it"
        )
    return unpacked


def check_scenario(record: Any) -> None:
    """Make sure that a record has a scenario's fields.

    Raises:
        DataError: One is missing or of another kind; the text names it.
    """
    for name, kind in _FIELDS.items():
        field(record, name, kind)
    refuse_deep(record)
    if not record["messages"]:
        raise DataError("messages: expected the user's first message, got none")
    field(record["tools"], "augmentations", list)
    for pair in field(record["tools"], "agent_tools", list):
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], str)):
            raise DataError(f"tools.agent_tools: expected pairs of names, got {shortened(pair)}")
