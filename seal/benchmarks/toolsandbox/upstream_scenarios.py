"""The file of ToolSandbox's scenarios, read, checked, and moved to another time.

What depends on the clock when a scenario is built is built again. A record tells each such value in
one of two ways: how far it is from the clock's start (`now_offset_s`), or what it is at that start
and at other ones (`value`, `alt`). The latter are the year, a time of day tomorrow, or a time of
day on the next Friday. On a Friday the next Friday is that day. What a value is at each start tells
which one it is; where both days fit, tomorrow is it.

Source: apple/ToolSandbox, whose scenario definitions compute these when they are imported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

import orjson

from seal.core import JSON, DataError, UsageError, located, shortened
from seal.pools.reading.gzip_lines import lines_of
from seal.pools.reading.upstream_files import (
    Placed,
    Torn,
    field,
    json_values,
    parse_json,
    refuse_deep,
)

BENCHMARK = "toolsandbox"
FILES = ("scenarios_core.jsonl.gz", "scenarios_core.jsonl")

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
        torn: Told a line that is no JSON, or has a number that is infinite or none. Such a line is
            passed over.

    Raises:
        DataError: The file is no whole gzip file, is too large when unpacked, or is empty.
    """
    lines = lines_of(path)
    first = next(lines, None)
    if first is None:
        raise DataError(f"{path} holds no scenario: is the file cut? Fetch it again")
    yield from json_values(chain([first], lines), path, torn, _parse)


def _parse(line: bytes, place: str) -> Any:
    """Return the value of a line, as long as each number in it is one.

    Python writes Infinity and NaN, which JSON does not have. They would become null, and be
    measured as absent values.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        with suppress(ValueError, RecursionError):
            record = json.loads(line.decode("utf-8-sig"))
            named = isinstance(record, dict) and "id" in record
            refuse_no_numbers(
                record, f"{place}, record {record['id']!r}: " if named else f"{place}: "
            )
    return parse_json(line, place)


def refuse_no_numbers(value: Any, place: str) -> None:
    """Refuse numbers that are infinite or none.

    Args:
        value: As Python reads JSON.
        place: Of the value, for the message.

    Raises:
        DataError: Names the place of the first one within.
    """
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        where, held = waiting.pop()
        if isinstance(held, dict | list):
            items = held.items() if isinstance(held, dict) else enumerate(held)
            inner = [(f"{where}.{key}" if where else str(key), item) for key, item in items]
            waiting += reversed(inner)
        elif isinstance(held, float) and not isfinite(held):
            raise DataError(
                f"{place}{where}: expected a number, got {held}; JSON has none such: write a "
                "number, or null"
            )


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


START = datetime(2025, 3, 12, 14, 30, tzinfo=UTC)
"""What the clock shows while the scenarios are built."""
_FRIDAY = 5
_Rule = Callable[[datetime], JSON]


def parse_clock(value: Any) -> datetime:
    """Return the start of a clock.

    Args:
        value: ISO 8601, such as 2026-12-30T23:10:00Z; without an offset it is UTC.

    Raises:
        UsageError: It is no such text, or beyond what the phone's tools accept.
    """
    try:
        start = datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"-T clock={value}: expected a date and time such as 2026-12-30T23:10:00Z"
        ) from error
    start = start.replace(tzinfo=UTC) if start.tzinfo is None else start.astimezone(UTC)
    if not 1980 <= start.year <= 2049:
        raise UsageError(f"-T clock={value}: expected a year from 1980 to 2049")
    return start


def set_clock(record: dict[str, Any], start: datetime) -> None:
    """Give every value of a scenario that depends on the clock its value at another start.

    Args:
        record: A scenario as upstream has it; changed in place.
        start: Of the clock, with its zone.

    Raises:
        DataError: A value is not where the record says, or follows no known rule.
    """
    if start == START:
        return
    for pointer, dated in field(record, "time_dependent", dict).items():
        with located(f"time_dependent, {pointer}", KeyError, IndexError, TypeError, ValueError):
            holder, key = _place(record, pointer)
            holder[key] = _value_at(start, holder[key], dated)


def _place(record: dict[str, Any], pointer: str) -> tuple[Any, Any]:
    """Return what holds the value that a JSON pointer names, and its key there."""
    holder: Any = record
    *names, last = pointer.removeprefix("/").split("/")
    for name in names:
        holder = holder[int(name) if isinstance(holder, list) else name]
    return holder, int(last) if isinstance(holder, list) else last


def _value_at(start: datetime, value: Any, dated: Any) -> JSON:
    if "now_offset_s" in dated:
        return start.timestamp() + dated["now_offset_s"]
    seen = {START: value, **{_alternative(text): alt for text, alt in dated["alt"].items()}}
    if start in seen:
        return seen[start]
    rule = next((r for r in _rules(value) if all(r(at) == v for at, v in seen.items())), None)
    if rule is None:
        raise DataError(f"no known rule gives {shortened(seen)}; import without -T clock")
    return rule(start)


def _alternative(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _rules(value: Any) -> Iterator[_Rule]:
    """Yield the rules of which one may give the value."""
    if isinstance(value, int) and value == START.year:
        yield lambda at: at.year
        return
    clock_time = datetime.fromtimestamp(value, UTC).time()
    yield lambda at: datetime.combine(at + timedelta(days=1), clock_time, UTC).timestamp()
    yield lambda at: datetime.combine(
        at + timedelta(days=(_FRIDAY - at.isoweekday()) % 7), clock_time, UTC
    ).timestamp()
