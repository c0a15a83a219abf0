"""Time as a world tells it: frozen between turns, and moved on by each."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from seal.core.errors import DataError, shortened
from seal.core.types import JSON, Task

_TURNS = 10_000
"""Turns that a clock must be able to tell."""


@dataclass(frozen=True, slots=True)
class Clock:
    """What time it is in each turn of a chat; equal chats see equal times.

    A turn is a message of the user, or one that whoever answers the user sends to the user or to
    the executor. The calls of a turn, and their results, see its time.
    """

    start: float = 1_735_732_800.0
    """POSIX seconds; of itself 2025-01-01T12:00:00Z."""
    zone: str = "UTC"
    """Where local times are told, a name of the IANA time zone database."""
    first: float = 0.0
    """Seconds from `start` to the first turn, which is the user's request."""
    step: float = 0.0
    """Seconds from each turn to the next."""

    def at(self, turn: int) -> float:
        """Return the POSIX seconds of a turn, counted from 0; before any turn, those of the first.

        >>> Clock(start=100.0, first=5.0, step=1.25).at(2)
        107.5
        """
        return self.start + self.first + max(turn, 0) * self.step

    def local(self, timestamp: float) -> datetime:
        """Return the local date and time of POSIX seconds."""
        return datetime.fromtimestamp(timestamp, ZoneInfo(self.zone))


def clock_of(task: Task) -> Clock:
    """Return the clock that a task's metadata sets: `{"clock": {"start": ..., "zone": ...}}`.

    Raises:
        DataError: A field is unknown, or has a value that no clock can have.
    """
    given = task.metadata.get("clock", {})
    known = {field.name: str if field.name == "zone" else (int, float) for field in fields(Clock)}
    if not isinstance(given, dict) or not given.keys() <= known.keys():
        raise _wrong(task, given)
    if not all(_is(value, known[name]) for name, value in given.items()):
        raise _wrong(task, given)
    try:
        clock = Clock(**given)
        for turn in (0, _TURNS):
            clock.local(clock.at(turn))
    except (ZoneInfoNotFoundError, ValueError, OSError, OverflowError) as error:
        raise _wrong(task, given) from error
    return clock


def _is(value: JSON, kind: type | tuple[type, ...]) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _wrong(task: Task, given: JSON) -> DataError:
    return DataError(
        f"task {task.id}: metadata.clock {shortened(given)}; expected an object of start (POSIX "
        "seconds), zone (such as Europe/Rome), first and step (seconds), by which every turn has a "
        "date"
    )


__all__ = ["Clock", "clock_of"]
