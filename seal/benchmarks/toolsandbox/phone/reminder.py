"""The tools of reminders."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from seal.benchmarks.toolsandbox.phone import device
from seal.core import JSON
from seal.environments.functions import NOT_GIVEN, NotGiven, effects
from seal.environments.tables import Row, moved, without


def _one(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    yield "reminder", arguments["reminder_id"]


@effects()
def add_reminder(
    phone: device.PhoneWorld,
    content: str,
    reminder_timestamp: float,
    latitude: float | None = None,
    longitude: float | None = None,
) -> str:
    """Set a new reminder.

    Args:
        content: What to be reminded of.
        reminder_timestamp: POSIX seconds of the moment to be reminded.
        latitude: Latitude in degrees of the place that the reminder is about.
        longitude: Longitude in degrees of the place that the reminder is about.

    Returns:
        The id of the reminder.
    """
    device.check_timestamp("reminder_timestamp", reminder_timestamp)
    device.check_place(latitude, longitude)
    reminder_id = phone.new_id()
    phone.add(
        "reminders",
        {
            "reminder_id": reminder_id,
            "content": content,
            "creation_timestamp": phone.now,
            "reminder_timestamp": reminder_timestamp,
            "latitude": latitude,
            "longitude": longitude,
        },
    )
    return reminder_id


@effects(checks=_one)
def modify_reminder(
    phone: device.PhoneWorld,
    reminder_id: str,
    content: str | NotGiven = NOT_GIVEN,
    reminder_timestamp: float | NotGiven = NOT_GIVEN,
    latitude: float | NotGiven | None = NOT_GIVEN,
    longitude: float | NotGiven | None = NOT_GIVEN,
) -> None:
    """Change a reminder; what is left out stays as it is, and it counts as created now.

    Args:
        reminder_id: Id of the reminder.
        content: New text.
        reminder_timestamp: POSIX seconds of the new moment to be reminded.
        latitude: New latitude in degrees; null removes it.
        longitude: New longitude in degrees; null removes it.
    """
    changes = device.changes_of(locals(), "reminder_id")
    changes["creation_timestamp"] = phone.now
    phone.put("reminders", moved(phone.table("reminders"), "reminder_id", reminder_id, changes))


@effects(checks=_one, changes=_one)
def remove_reminder(phone: device.PhoneWorld, reminder_id: str) -> None:
    """Delete a reminder.

    Args:
        reminder_id: Id of the reminder.
    """
    rows = phone.table("reminders")
    phone.put("reminders", without(rows, lambda row: row["reminder_id"] == reminder_id))


@effects()
def search_reminder(
    phone: device.PhoneWorld,
    reminder_id: str | NotGiven = NOT_GIVEN,
    content: str | NotGiven = NOT_GIVEN,
    creation_timestamp_lowerbound: float | NotGiven = NOT_GIVEN,
    creation_timestamp_upperbound: float | NotGiven = NOT_GIVEN,
    reminder_timestamp_lowerbound: float | NotGiven = NOT_GIVEN,
    reminder_timestamp_upperbound: float | NotGiven = NOT_GIVEN,
    latitude: float | NotGiven = NOT_GIVEN,
    longitude: float | NotGiven = NOT_GIVEN,
) -> list[Row]:
    """Find reminders that meet all given criteria, of which one is needed.

    Args:
        reminder_id: Id of the reminder.
        content: What it is about, or something like it.
        creation_timestamp_lowerbound: POSIX seconds; it was created then or later.
        creation_timestamp_upperbound: POSIX seconds; it was created then or earlier.
        reminder_timestamp_lowerbound: POSIX seconds; it is due then or later.
        reminder_timestamp_upperbound: POSIX seconds; it is due then or earlier.
        latitude: Exact latitude in degrees.
        longitude: Exact longitude in degrees.

    Returns:
        The reminders found; an empty list where there are none.
    """
    return device.search("reminders", locals(), {"content": device.HALF_ALIKE})
