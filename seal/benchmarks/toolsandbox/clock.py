"""Scenarios at another time: what depends on the clock when a scenario is built, built again.

A record says of each such value either how far it is from the clock's start (`now_offset_s`), or
what it is at that start and at other ones (`value`, `alt`). Of the latter there are three kinds:
the year, and a time of day tomorrow or on the next Friday; which one a value is follows from what
it is at each start, and where both days fit, tomorrow is it.

Source: apple/ToolSandbox, whose scenario definitions compute these when they are imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from seal.core.errors import DataError, UsageError, shortened
from seal.core.types import JSON
from seal.pools.reading.records import field

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
        try:
            holder, key = _place(record, pointer)
            holder[key] = _value_at(start, holder[key], dated)
        except (DataError, KeyError, IndexError, TypeError, ValueError) as error:
            raise DataError(f"time_dependent, {pointer}: {error}") from error


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
        at + timedelta(days=(_FRIDAY - at.isoweekday()) % 7 or 7), clock_time, UTC
    ).timestamp()
