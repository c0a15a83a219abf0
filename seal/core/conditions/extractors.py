"""Values that a recorded call gives to a later milestone, by name.

An extractor takes {tool, arguments, result} and returns maps of values: placeholders of a text, or
arguments of a later call. Several maps are alternatives, such as a temperature with no, one, two
and three decimals. It may fail with any of `UNFIT` on a result of another shape, which then gives
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Values = dict[str, Any]
Extractor = Callable[[Mapping[str, Any]], list[Values]]

UNFIT = (KeyError, IndexError, OverflowError, TypeError, ValueError)
"""How an extractor fails on a result of another shape."""
_DECIMALS = range(4)


def result_as(name: str) -> Extractor:
    """Return the extractor of the whole result under a name."""
    return lambda call: [{name: call["result"]}]


def result_part_as(part: str, name: str) -> Extractor:
    """Return the extractor of one part of the result under a name."""
    return lambda call: [{name: call["result"][part]}]


def result_as_text(name: str) -> Extractor:
    """Return the extractor of a number as text, with 0 to 3 decimals."""
    return lambda call: _texts(name, call["result"])


def result_part_as_text(part: str, name: str) -> Extractor:
    """Return the extractor of a part that is a number as text, with 0 to 3 decimals."""
    return lambda call: _texts(name, call["result"][part])


def _texts(name: str, number: Any) -> list[Values]:
    return [{name: f"{number:.{decimals}f}"} for decimals in _DECIMALS]


def _lat_lon(call: Mapping[str, Any]) -> list[Values]:
    result = call["result"]
    return [{"latitude": result["latitude"], "longitude": result["longitude"]}]


EXTRACTORS: Mapping[str, Extractor] = {
    "result_as_min_temperature_text": result_as_text("min_temperature"),
    "result_as_reminder_timestamp_lowerbound": result_as("reminder_timestamp_lowerbound"),
    "result_as_temperature_text": result_as_text("temperature"),
    "result_as_timestamp_0": result_as("timestamp_0"),
    "result_as_timestamp_1": result_as("timestamp_1"),
    "result_current_temperature_as_amount": result_part_as("current_temperature", "amount"),
    "result_days": result_part_as("days", "days"),
    "result_lat_lon": _lat_lon,
    "result_min_temperature_as_amount": result_part_as("min_temperature", "amount"),
    "weather_current_temperature_text": result_part_as_text("current_temperature", "temperature"),
}
"""The extractors of ToolSandbox (its snapshot of 2024), under names of ours."""
