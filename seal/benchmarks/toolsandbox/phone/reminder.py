"""The tools of reminders."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from seal.benchmarks.toolsandbox.phone import device
from seal.core import JSON
from seal.environments.function_tools import NOT_GIVEN, NotGiven, effects
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
    """Add a new reminder.

    Args:
        content: What the reminder says.
        reminder_timestamp: POSIX timestamp at which to remind.
        latitude: Latitude in degrees of the place of the reminder.
        longitude: Longitude in degrees of the place of the reminder.

    Returns:
        The id of the reminder.
    """
    device.check_given(locals())
    return phone.insert(
        "reminders",
        "reminder_id",
        content=content,
        creation_timestamp=phone.now,
        reminder_timestamp=reminder_timestamp,
        latitude=latitude,
        longitude=longitude,
    )


@effects(checks=_one)
def modify_reminder(
    phone: device.PhoneWorld,
    reminder_id: str,
    content: str | NotGiven = NOT_GIVEN,
    reminder_timestamp: float | NotGiven = NOT_GIVEN,
    latitude: float | NotGiven | None = NOT_GIVEN,
    longitude: float | NotGiven | None = NOT_GIVEN,
) -> None:
    """Change a reminder. Fields that are left out keep their values.

    Args:
        reminder_id: Id of the reminder.
        content: New text of the reminder.
        reminder_timestamp: New POSIX timestamp at which to remind.
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
    """Search for reminders that match all given criteria; give at least one.

    Args:
        reminder_id: Id of the reminder.
        content: What the reminder says; it need not match exactly.
        creation_timestamp_lowerbound: POSIX timestamp; only reminders created then or later.
        creation_timestamp_upperbound: POSIX timestamp; only reminders created then or earlier.
        reminder_timestamp_lowerbound: POSIX timestamp; only reminders due then or later.
        reminder_timestamp_upperbound: POSIX timestamp; only reminders due then or earlier.
        latitude: Exact latitude in degrees.
        longitude: Exact longitude in degrees.

    Returns:
        The reminders found; an empty list if there are none.
    """
    return device.search("reminders", locals(), {"content": device.HALF_ALIKE})
