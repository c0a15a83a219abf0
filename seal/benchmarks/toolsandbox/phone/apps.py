"""The phone's tools of contacts, messages, reminders, settings and the user."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from seal.benchmarks.toolsandbox.phone import device
from seal.benchmarks.toolsandbox.phone.device import SERVICES, SPOKEN, PhoneWorld
from seal.core import JSON
from seal.environments.function_tools import NOT_GIVEN, NotGiven, effects, unchecked
from seal.environments.tables import DuplicateError, Row, moved, where, without

# -- The tools of the address book.


def _adding(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    if arguments["is_self"]:
        yield "self"


def _modifying(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    yield "contact", arguments["person_id"]
    if arguments["is_self"] is True:
        yield "self"


def _modified(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    if arguments["is_self"] is not NOT_GIVEN:
        yield "self"


def _one_contact(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    yield "contact", arguments["person_id"]


def _removed(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    yield from _one_contact(arguments)
    yield "self"


@effects(checks=_adding, changes=_adding)
def add_contact(
    phone: device.PhoneWorld,
    name: str,
    phone_number: str,
    relationship: str | None = None,
    is_self: bool = False,
) -> str:
    """Add a new person to the address book.

    Args:
        name: Full name of the person.
        phone_number: Phone number of the person, with a leading + and the country code.
        relationship: What the person is to the owner of the phone, such as friend or boss.
        is_self: True if this person is the owner of the phone.

    Returns:
        The id of the new person.
    """
    device.check_given({"phone_number": phone_number})
    if is_self:
        _refuse_second_self(phone.table("contacts"))
    return phone.insert(
        "contacts",
        "person_id",
        name=name,
        phone_number=phone_number,
        relationship=relationship,
        is_self=is_self,
    )


@effects(checks=_modifying, changes=_modified)
def modify_contact(
    phone: device.PhoneWorld,
    person_id: str,
    name: str | NotGiven = NOT_GIVEN,
    phone_number: str | NotGiven = NOT_GIVEN,
    relationship: str | NotGiven = NOT_GIVEN,
    is_self: bool | NotGiven = NOT_GIVEN,
) -> None:
    """Change the entry of a person in the address book. Fields that are left out keep their values.

    Args:
        person_id: Id of the person.
        name: New full name.
        phone_number: New phone number, with a leading + and the country code.
        relationship: New relationship to the owner of the phone.
        is_self: True if this person is the owner of the phone.
    """
    changes = device.changes_of(locals(), "person_id")
    rows = phone.table("contacts")
    if is_self is True:
        _refuse_second_self([row for row in rows if row["person_id"] != person_id])
    phone.put("contacts", moved(rows, "person_id", person_id, changes))


@effects(checks=_one_contact, changes=_removed)
def remove_contact(phone: device.PhoneWorld, person_id: str) -> None:
    """Delete a person from the address book.

    Args:
        person_id: Id of the person.
    """
    rows = phone.table("contacts")
    phone.put("contacts", without(rows, lambda row: row["person_id"] == person_id))


@unchecked
@effects()
def search_contacts(
    phone: device.PhoneWorld,
    person_id: str | NotGiven = NOT_GIVEN,
    name: str | NotGiven = NOT_GIVEN,
    phone_number: str | NotGiven = NOT_GIVEN,
    relationship: str | NotGiven = NOT_GIVEN,
    is_self: bool | NotGiven = NOT_GIVEN,
) -> list[Row]:
    """Search the address book for people who match all given criteria; give at least one.

    Args:
        person_id: Id of the person.
        name: Name of the person; it need not match exactly.
        phone_number: Exact phone number, with a leading + and the country code.
        relationship: Relationship to the owner of the phone; it need not match exactly.
        is_self: True to find the owner of the phone, False to find everyone else.

    Returns:
        The people found; an empty list if there are none.
    """
    return device.search("contacts", locals(), {"name": device.ALIKE, "relationship": device.ALIKE})


def _refuse_second_self(rows: Sequence[Row]) -> None:
    if any(row["is_self"] for row in rows):
        raise DuplicateError("another entry is the phone's owner already; there can be only one")


# -- The tools of text messages.


@effects(checks=("cellular", "self"))
def send_message_with_phone_number(
    phone: device.PhoneWorld, phone_number: str, content: str
) -> str:
    """Send a text message to a phone number.

    Args:
        phone_number: Phone number of the recipient, with a leading + and the country code.
        content: Text of the message.

    Returns:
        The id of the message.
    """
    device.check_given({"phone_number": phone_number})
    phone.need("cellular")
    contacts = phone.table("contacts")
    owners = where(contacts, "is_self", True)
    if len(owners) != 1:
        raise DuplicateError(f"the address book has {len(owners)} owners of the phone, not one")
    recipients = where(contacts, "phone_number", phone_number)
    return phone.insert(
        "messages",
        "message_id",
        sender_person_id=owners[0]["person_id"],
        sender_phone_number=owners[0]["phone_number"],
        recipient_person_id=recipients[0]["person_id"] if recipients else None,
        recipient_phone_number=phone_number,
        content=content,
        creation_timestamp=phone.now,
    )


@effects()
def search_messages(
    phone: device.PhoneWorld,
    message_id: str | NotGiven = NOT_GIVEN,
    sender_person_id: str | NotGiven = NOT_GIVEN,
    sender_phone_number: str | NotGiven = NOT_GIVEN,
    recipient_person_id: str | NotGiven = NOT_GIVEN,
    recipient_phone_number: str | NotGiven = NOT_GIVEN,
    content: str | NotGiven = NOT_GIVEN,
    creation_timestamp_lowerbound: float | NotGiven = NOT_GIVEN,
    creation_timestamp_upperbound: float | NotGiven = NOT_GIVEN,
) -> list[Row]:
    """Search for text messages that match all given criteria; give at least one.

    Args:
        message_id: Id of the message.
        sender_person_id: Id of the sender in the address book.
        sender_phone_number: Phone number of the sender, with a leading + and the country code.
        recipient_person_id: Id of the recipient in the address book.
        recipient_phone_number: Phone number of the recipient, with a leading + and the country
            code.
        content: Text of the message; it need not match exactly.
        creation_timestamp_lowerbound: POSIX timestamp; only messages sent at this time or later.
        creation_timestamp_upperbound: POSIX timestamp; only messages sent at this time or earlier.

    Returns:
        The messages found; an empty list if there are none.
    """
    return device.search("messages", locals(), {"content": device.HALF_ALIKE})


# -- The tools of reminders.


def _one_reminder(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
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


@effects(checks=_one_reminder)
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


@effects(checks=_one_reminder, changes=_one_reminder)
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


# -- The tools of the settings. Low battery mode keeps the services off; services let tools work.


def _checks(setting: str) -> Callable[[Mapping[str, JSON]], Iterator[Hashable]]:
    """Return what setting a service checks: itself, and the battery where it is turned on."""

    def of(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
        yield setting
        if arguments["on"]:
            yield "low_battery_mode"

    return of


def _saves(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    yield "low_battery_mode"
    if arguments["on"]:
        yield from SERVICES


@effects(checks=("low_battery_mode",), changes=_saves)
def set_low_battery_mode_status(phone: PhoneWorld, on: bool) -> None:
    """Turn low battery mode on or off.

    Args:
        on: True turns it on, False turns it off.
    """
    _refuse_same(phone, "low_battery_mode", on)
    phone.set(low_battery_mode=on, **(dict.fromkeys(SERVICES, False) if on else {}))


@effects(checks=_checks("wifi"), changes=("wifi",))
def set_wifi_status(phone: PhoneWorld, on: bool) -> None:
    """Turn wifi on or off.

    Args:
        on: True turns it on, False turns it off.
    """
    _set_service(phone, "wifi", on)


@effects(checks=_checks("cellular"), changes=("cellular",))
def set_cellular_service_status(phone: PhoneWorld, on: bool) -> None:
    """Turn cellular service on or off.

    Args:
        on: True turns it on, False turns it off.
    """
    _set_service(phone, "cellular", on)


@effects(checks=_checks("location_service"), changes=("location_service",))
def set_location_service_status(phone: PhoneWorld, on: bool) -> None:
    """Turn location service on or off.

    Args:
        on: True turns it on, False turns it off.
    """
    _set_service(phone, "location_service", on)


@effects()
def get_low_battery_mode_status(phone: PhoneWorld) -> bool:
    """Check whether low battery mode is on."""
    return bool(phone.settings["low_battery_mode"])


@effects()
def get_wifi_status(phone: PhoneWorld) -> bool:
    """Check whether wifi is on."""
    return bool(phone.settings["wifi"])


@effects()
def get_cellular_service_status(phone: PhoneWorld) -> bool:
    """Check whether cellular service is on."""
    return bool(phone.settings["cellular"])


@effects()
def get_location_service_status(phone: PhoneWorld) -> bool:
    """Check whether location service is on."""
    return bool(phone.settings["location_service"])


@effects(checks=("location_service",))
def get_current_location(phone: PhoneWorld) -> dict[str, float | None]:
    """Get the current location of the phone.

    Returns:
        Latitude and longitude in degrees.
    """
    phone.need("location_service")
    settings = phone.settings
    return {"latitude": settings["latitude"], "longitude": settings["longitude"]}


def _set_service(phone: PhoneWorld, service: str, on: bool) -> None:
    if on and phone.settings["low_battery_mode"]:
        raise PermissionError(f"{SPOKEN[service]} cannot be turned on in low battery mode")
    _refuse_same(phone, service, on)
    phone.set(**{service: on})


def _refuse_same(phone: PhoneWorld, setting: str, on: bool) -> None:
    if phone.settings[setting] == on:
        raise ValueError(f"{setting} is already {'enabled' if on else 'disabled'}")


# -- The tool of the user.


@effects(checks=("ended",), changes=("ended",))
def end_conversation(phone: PhoneWorld) -> None:
    """End the conversation, when everything was done or nothing more can be done."""
    if phone.ended:
        raise ValueError("the conversation has ended already")
    phone.ended = True
