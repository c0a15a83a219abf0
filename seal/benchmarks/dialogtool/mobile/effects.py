"""What bookings change: a later look-up of the same app shows them.

A look-up shows a booking where all that it brings (its result slots) stands in what the booking
brought: an alarm that was added among the alarms. `new_` before a name, by which SGD tells what is
to be from what is, does not count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from seal.benchmarks.dialogtool.mobile.recordings import Row
from seal.core.types import JSON, Tool
from seal.sandbox.functions import columns_of


def app_of(tool: Tool) -> str:
    """Return the app, in the variant of the dialogue, that a tool belongs to."""
    return str(tool.source.get("tool", tool.category))


def shown(tool: Tool, bookings: Sequence[Row], tools: Mapping[str, Tool]) -> Iterator[Row]:
    """Yield the rows of a look-up that bookings brought about.

    Args:
        tool: The look-up.
        bookings: The table `mobile.calls.BOOKINGS`.
        tools: By id.
    """
    wanted = columns_of(tool)
    for booking in bookings:
        made = tools.get(str(booking["tool"]))
        if made is None or app_of(made) != app_of(tool) or not wanted:
            continue
        values = _plainly({**_map(booking["arguments"]), **_map(booking["result"])})
        if all(_plain(slot) in values for slot in wanted):
            yield {slot: values[_plain(slot)] for slot in wanted}


def _plainly(row: Mapping[str, JSON]) -> dict[str, JSON]:
    return {_plain(name): value for name, value in row.items()}


def _plain(name: str) -> str:
    return name.removeprefix("new_")


def _map(value: JSON) -> dict[str, JSON]:
    return dict(value) if isinstance(value, dict) else {}
