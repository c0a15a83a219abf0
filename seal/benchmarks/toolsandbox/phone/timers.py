"""Timers: a phone that also has timers, which ring by themselves.

ToolSandbox has no such tools, so they are in a world of their own, `phone_with_timers`. What is
played on a `phone` neither sees them nor is ranked beside them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from seal.benchmarks.toolsandbox.phone import TOOLS, device
from seal.benchmarks.toolsandbox.phone.world import Phones, phone
from seal.core import JSON, Tool
from seal.environments.chat_world import Circumstances
from seal.environments.function_tools import NOT_GIVEN, NotGiven, WorldTool, effects
from seal.environments.tables import NoDataError, Row, between, like, where, without
from seal.environments.world import WorldSetup, toolbox

if TYPE_CHECKING:
    from seal.benchmarks.toolsandbox.phone.device import WebAnswers

TABLE = "timers"


class PhoneWithTimers(device.PhoneWorld):
    """A phone whose timers ring once their time has come.

    Ringing changes no table: whether a timer has rung follows from its time and the clock.

    Args:
        tools: By id.
        given: How it begins.
        web: Answers the tools that ask the web.
    """

    def __init__(
        self, tools: Mapping[str, WorldTool], given: Circumstances, web: WebAnswers
    ) -> None:
        super().__init__(tools, given, web)
        self._told: frozenset[str] = frozenset()

    def events(self) -> Sequence[str]:
        """Return the timers that have begun to ring, the earliest first, each one once."""
        ringing = between(self.table(TABLE), "timer_timestamp", high=self.now)
        new = [row for row in ringing if row["timer_id"] not in self._told]
        self._told |= {row["timer_id"] for row in new}
        new.sort(key=lambda row: float(row["timer_timestamp"]))
        return [
            f"The timer {row['label']!r} rings." if row["label"] else "A timer rings."
            for row in new
        ]


def _one(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    yield "timer", arguments["timer_id"]


@effects()
def set_timer(
    phone: PhoneWithTimers,
    seconds: float | NotGiven = NOT_GIVEN,
    timestamp: float | NotGiven = NOT_GIVEN,
    label: str = "",
) -> str:
    """Set a timer that rings after some seconds or at a moment; give one of the two.

    Args:
        seconds: How long from now until it rings.
        timestamp: POSIX seconds of the moment at which it rings.
        label: What it is for.

    Returns:
        The id of the timer.
    """
    given = [
        number
        for number in (timestamp, seconds if isinstance(seconds, NotGiven) else phone.now + seconds)
        if not isinstance(number, NotGiven)
    ]
    if len(given) != 1:
        raise ValueError(f"give either seconds or timestamp, got {'both' if given else 'neither'}")
    due = given[0]
    device.check_given({"timestamp": due})
    if due <= phone.now:
        raise ValueError(f"a timer rings later than now, which is {phone.now}; got {due}")
    return phone.insert(
        TABLE, "timer_id", label=label, creation_timestamp=phone.now, timer_timestamp=due
    )


@effects()
def search_timers(phone: PhoneWithTimers, label: str | NotGiven = NOT_GIVEN) -> list[Row]:
    """Find timers, whether they have rung or not.

    Args:
        label: What the timer is for, or something like it; left out, all timers are found.

    Returns:
        The timers found, each with `rang`; an empty list where there are none.
    """
    rows = phone.table(TABLE)
    if not isinstance(label, NotGiven):
        rows = like(rows, "label", label, device.HALF_ALIKE)
    rang = between(rows, "timer_timestamp", high=phone.now)
    return [{**row, "rang": row in rang} for row in rows]


@effects(checks=_one, changes=_one)
def cancel_timer(phone: PhoneWithTimers, timer_id: str) -> None:
    """Cancel a timer that has not rung yet.

    Args:
        timer_id: Id of the timer.
    """
    rows = phone.table(TABLE)
    found = where(rows, "timer_id", timer_id)
    if not found:
        raise NoDataError(f"there is no timer with the timer_id {timer_id!r}")
    if between(found, "timer_timestamp", high=phone.now):
        raise ValueError("the timer has rung already")
    phone.put(TABLE, without(rows, lambda row: row["timer_id"] == timer_id))


TIMER_TOOLS: Mapping[str, WorldTool] = MappingProxyType(
    toolbox("phone/timers", [set_timer, search_timers, cancel_timer])
)
"""Tools of timers by id, `phone/timers/function`."""


def tools() -> tuple[Tool, ...]:
    """Return the documents of the timers' tools."""
    return tuple(tool.document for tool in TIMER_TOOLS.values())


def phone_with_timers(setup: WorldSetup) -> Phones:
    """Return the phones of a run, with timers; options and errors are those of `phone`."""
    plain = phone(setup)
    return replace(
        plain,
        name="phone_with_timers",
        tools={**TOOLS, **TIMER_TOOLS},
        tables={**device.BEGINNING, TABLE: []},
        columns={
            **device.COLUMNS,
            TABLE: {
                "timer_id": device.Text,
                "label": device.Text,
                "creation_timestamp": device.Number,
                "timer_timestamp": device.Number,
            },
        },
        make=lambda tools, given: PhoneWithTimers(tools, given, plain.web()),
    )
