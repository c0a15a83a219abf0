"""The tools of the address book."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from seal.benchmarks.toolsandbox.phone import device
from seal.core import JSON
from seal.environments.function_tools import NOT_GIVEN, NotGiven, effects, unchecked
from seal.environments.tables import DuplicateError, Row, moved, without


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


def _one(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    yield "contact", arguments["person_id"]


def _removed(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    yield from _one(arguments)
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


@effects(checks=_one, changes=_removed)
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
