"""What templates of calendar and mail draw: events, guests, letters, absences; their calls."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random
from typing import Any

from seal.benchmarks.apps import desk_goals as desk
from seal.benchmarks.apps import people
from seal.benchmarks.apps.calendar import diaries
from seal.benchmarks.apps.mail import mailboxes
from seal.core import Tables
from seal.environments.tables import Row
from seal.environments.templates import Rows, Slots, do, say

LAST = people.TODAY + timedelta(days=11)
"""The last day on which a drawn calendar has events."""
STRANGERS = ("Ulla Stern", "Karim Noack", "Ines Falk", "Bruno Adler", "Vera Lund", "Otto Reiss")
"""Who is nobody's contact."""
NEW_EVENTS = (
    ("photo shoot", "Studio Nine"),
    ("tax advice", "Kiln Row 4"),
    ("first aid", "Fire Station"),
)
"""Title and place of what no calendar has yet."""
EVENTS: list[dict[str, Any]] = [
    do(
        "list_events",
        person_id="{person_id}",
        first_day=people.TODAY.isoformat(),
        last_day=LAST.isoformat(),
    )
]
FREE: list[dict[str, Any]] = [
    do("find_free_time", person_id="{person_id}", day="{day}", minutes="{minutes}")
]
INBOX: list[dict[str, Any]] = [do("list_mails", person_id="{person_id}", folder="inbox")]
CONTACTS: list[dict[str, Any]] = [do("list_contacts", person_id="{person_id}")]
MOVED: list[dict[str, Any]] = [
    say("Shall I move event {event_id}, the {title}, to {day}, from {start} to {end}?"),
    do("move_event", event_id="{event_id}", day="{day}", start="{start}", end="{end}"),
]
CANCELLED: list[dict[str, Any]] = [
    say("Shall I cancel event {event_id}, the {title}?"),
    do("cancel_event", event_id="{event_id}"),
]
DECLINED: list[dict[str, Any]] = [
    say("Somebody else organises the {title}, event {event_id}. Shall I decline it?"),
    do("decline_event", event_id="{event_id}"),
]
ADDED: list[dict[str, Any]] = [
    say("{contact} is no contact yet. Which email address do they have?"),
    do("add_contact", person_id="{person_id}", name="{contact}", email="{email}"),
]


def add_event(title: str, place: str) -> dict[str, Any]:
    """Return the call that puts an event at the drawn time into the customer's calendar."""
    return do(
        "add_event",
        person_id="{person_id}",
        title=title,
        day="{day}",
        start="{start}",
        end="{end}",
        place=place,
    )


EMAIL = {"email": {"value": "{email}", "ask": ["email"]}}
INSTEAD = "If I have something else then, take {spare_words} that day."


def tables(seed: int) -> Tables:
    """Return the tables of calendar and mail for the customers of a drawn world."""
    return {**diaries(seed, desk.PEOPLE), **mailboxes(seed, desk.PEOPLE)}


def an_event(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an event of a customer, from tomorrow on, and a time on a day with no other.

    The time is an hour, `spare` is another one that day, and `late` a third.
    """
    person, own = desk.customer(rows, drawn)
    planned = _events(rows, person["person_id"])
    open_ = [row for row in planned if row["day"] > people.TODAY.isoformat()]
    event = drawn.choice(open_)
    event["organiser"] = person["email"]
    days = [people.TODAY + timedelta(days=ahead) for ahead in (1, 2, 3, 4, 7, 8, 9, 10, 11)]
    day = drawn.choice([one for one in days if one.isoformat() not in {r["day"] for r in planned}])
    hours = sorted(drawn.sample(range(9, 17), 3))
    return {
        **own,
        "event_id": event["event_id"],
        "title": event["title"],
        "day": day.isoformat(),
        "when": words(day),
        "minutes": 60,
        **_hour("", hours[0]),
        **_hour("spare_", hours[1]),
        **_hour("late_", hours[2]),
        "new_event": f"E{101 + len(rows['events'])}",
    }


def words(day: date) -> str:
    """Return a day as people say it."""
    return f"{day:%A}, {day.day} {day:%B}"


def _hour(name: str, hour: int) -> dict[str, str]:
    start, end = f"{hour:02}:00", f"{hour + 1:02}:00"
    return {f"{name}start": start, f"{name}end": end, f"{name}words": f"from {start} to {end}"}


def _events(rows: Rows, person_id: str) -> list[Row]:
    return [row for row in rows["events"] if row["person_id"] == person_id]


def taken(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let another event of the customer be at the wanted time; the spare one is the way out."""
    own = _events(rows, slots["person_id"])
    others = [row for row in own if row["event_id"] not in (slots["event_id"], slots.get("event2"))]
    other = drawn.choice(others)
    other |= {"day": slots["day"], "start": slots["start"], "end": slots["end"]}
    other["organiser"] = desk.row_of(rows, "people", slots["person_id"])["email"]
    return {
        "start": slots["spare_start"],
        "end": slots["spare_end"],
        "clash": other["title"],
        "clash_id": other["event_id"],
    }


def wished(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an event, and the time as it is wished for."""
    own = an_event(rows, slots, drawn)
    return own and {**own, "wish": own["words"]}


def two_events(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw two events of a customer."""
    own = an_event(rows, slots, drawn)
    if own is None:
        return None
    person = desk.row_of(rows, "people", own["person_id"])
    open_ = [
        row
        for row in _events(rows, own["person_id"])
        if row["day"] > people.TODAY.isoformat() and row["event_id"] != own["event_id"]
    ]
    if not open_:
        return None
    second = drawn.choice(open_)
    second["organiser"] = person["email"]
    return {**own, "title2": second["title"], "event2": second["event_id"]}


def organised_by_another(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let somebody else organise the event."""
    others = [row for row in rows["people"] if row["name"] != slots["name"]]
    event = desk.row_of(rows, "events", slots["event_id"])
    event["organiser"] = drawn.choice(others)["email"]
    return {}


def another_event(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an event in whose place another one is to come."""
    own = an_event(rows, slots, drawn)
    if own is None:
        return None
    row = desk.row_of(rows, "events", own["event_id"])
    row |= {"start": own["start"], "end": own["end"], "day": own["day"]}
    title, place = drawn.choice(NEW_EVENTS)
    return {**own, "new": title, "place": place}


def contacts(rows: Rows, person_id: str) -> list[Row]:
    """Return the contacts of a customer."""
    return [row for row in rows["contacts"] if row["person_id"] == person_id]


def with_contacts(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an event, and two contacts of different names, who are no guests of it yet."""
    own = wished(rows, slots, drawn)
    if own is None:
        return None
    first, second = contacts(rows, own["person_id"])
    if first["name"] == second["name"]:
        return None
    rows["guests"] = [row for row in rows["guests"] if row["event_id"] != own["event_id"]]
    return {
        **own,
        "contact": first["name"],
        "email": first["email"],
        "contact2": second["name"],
        "email2": second["email"],
        "subject": own["title"].capitalize(),
        "text": drawn.choice(
            ("It is at another time now.", "The time has changed.", "I have moved it.")
        ),
    }


def a_stranger(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let somebody be written to who is no contact yet."""
    name = drawn.choice(STRANGERS)
    return {"contact": name, "email": f"{name.lower().replace(' ', '.')}@post.example"}


def room_for_one(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the event have two guests already, and the customer be allowed three."""
    desk.row_of(rows, "people", slots["person_id"])["tier"] = "standard"
    for name in drawn.sample(STRANGERS, 2):
        guest = {"guest_id": f"U{201 + len(rows['guests'])}", "event_id": slots["event_id"]}
        email = f"{name.lower().replace(' ', '.')}@post.example"
        rows["guests"].append({**guest, "email": email, "answer": "accepted"})
    return {}


def an_absence(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an absence of some days, on one of which is an event."""
    own = an_event(rows, slots, drawn)
    if own is None:
        return None
    row = desk.row_of(rows, "events", own["event_id"])
    first = date.fromisoformat(row["day"])
    last = first + timedelta(days=drawn.randrange(5, 16))
    return {
        **own,
        "first": first.isoformat(),
        "last": last.isoformat(),
        "from_": words(first),
        "to": words(last),
    }


def too_long(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the absence be longer than it may be."""
    desk.row_of(rows, "people", slots["person_id"])["tier"] = "standard"
    first = date.fromisoformat(slots["first"])
    return {
        "to": words(first + timedelta(days=drawn.randrange(24, 40))),
        "last": (first + timedelta(days=20)).isoformat(),
    }


def an_invoice(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a customer with a new invoice and an old one, and a contact."""
    _, own = desk.customer(rows, drawn)
    new, old, letter = _letters(rows, own["person_id"])[:3]
    contact, other = contacts(rows, own["person_id"])
    if contact["name"] == other["name"]:
        return None
    return {
        **own,
        "mail_id": new["mail_id"],
        "invoice": new["subject"],
        "old_id": old["mail_id"],
        "letter_id": letter["mail_id"],
        "contact": contact["name"],
        "email": contact["email"],
    }


def _letters(rows: Rows, person_id: str) -> list[Row]:
    return [row for row in rows["mails"] if row["person_id"] == person_id]


def to_throw_away(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an old invoice, and the letter in spam."""
    _, own = desk.customer(rows, drawn)
    letters = _letters(rows, own["person_id"])
    old, advert = letters[1], letters[-1]
    advert["sender"] = drawn.choice(("win", "deals", "news")) + "@offers.example"
    return {
        **own,
        "mail_id": old["mail_id"],
        "partner": partner_of(old),
        "advert": advert["subject"],
        "sender": advert["sender"],
    }


def an_advert(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Let the letter in spam be of somebody to be blocked, unless that is the goal anyway."""
    if "advert" in slots:
        return None
    advert = _letters(rows, slots["person_id"])[-1]
    advert["sender"] = drawn.choice(("win", "deals", "news")) + "@offers.example"
    return {"sender": advert["sender"]}


def partner_of(invoice: Row) -> str:
    """Return the name of who sent an invoice."""
    name = invoice["sender"].partition("@")[2].partition(".")[0]
    return str(name.replace("-", " ").title())


def still_new(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the invoice be so new that it must be kept."""
    desk.row_of(rows, "mails", slots["mail_id"])["day"] = desk.ago(drawn.randrange(20, 80))
    return {}


def an_invitation(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a letter of a contact that tells of an event at a free time."""
    own = an_event(rows, slots, drawn)
    if own is None or len({row["name"] for row in contacts(rows, own["person_id"])}) < 2:
        return None
    friend = contacts(rows, own["person_id"])[0]
    letter = _letters(rows, own["person_id"])[2]
    title, place = drawn.choice(
        (("tasting", "Corner Bakery"), ("open day", "Mill School"), ("slide show", "Town Library"))
    )
    text = f"Come to the {title} at {place}, on {own['day']} from {own['start']} to {own['end']}."
    letter |= {"subject": title.capitalize(), "text": text, "sender": friend["email"]}
    more = {"mail_id": letter["mail_id"], "contact": friend["name"], "place": place}
    return {**own, **more, "new": title}


def in_the_way(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let another event of the customer be at that time, which has to give way."""
    clash = taken(rows, slots, drawn)
    return {"title": clash["clash"], "event_id": clash["clash_id"]}


def in_spam(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the letter lie in spam."""
    desk.row_of(rows, "mails", slots["mail_id"])["folder"] = "spam"
    return {}


def to_be_paid(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw an invoice of a partner, which is due on a day with no event."""
    own = an_event(rows, slots, drawn)
    if own is None:
        return None
    new = _letters(rows, own["person_id"])[0]
    amount = drawn.randrange(900, 9000) / 100
    new["text"] = f"Please pay {amount:.2f} EUR by {own['day']}."
    more = {"mail_id": new["mail_id"], "partner": partner_of(new), "amount": amount}
    return {**own, **more, "wish": own["words"]}
