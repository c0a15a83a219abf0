"""The tools of text messages."""

from __future__ import annotations

from seal.benchmarks.toolsandbox.phone import device
from seal.environments.function_tools import NOT_GIVEN, NotGiven, effects
from seal.environments.tables import DuplicateError, Row, where


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
