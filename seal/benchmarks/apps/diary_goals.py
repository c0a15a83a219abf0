"""Goal templates of calendar and mail: events, guests, letters, absences, under all their rules."""

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
from seal.environments.templates import Goals, Rows, Slots, Template, Twist, do, say

LAST = people.TODAY + timedelta(days=11)
"""The last day on which a drawn calendar has events."""
STRANGERS = ("Ulla Stern", "Karim Noack", "Ines Falk", "Bruno Adler", "Vera Lund", "Otto Reiss")
"""Who is nobody's contact."""
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
EMAIL = {"email": {"value": "{email}", "ask": ["email"]}}
INSTEAD = "If I have something else then, take {spare_words} that day."


# -- What is drawn.


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
    title, place = drawn.choice(
        (
            ("photo shoot", "Studio Nine"),
            ("tax advice", "Kiln Row 4"),
            ("first aid", "Fire Station"),
        )
    )
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
        "partner": _partner(old),
        "advert": advert["subject"],
        "sender": advert["sender"],
    }


def _partner(invoice: Row) -> str:
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
    more = {"mail_id": new["mail_id"], "partner": _partner(new), "amount": amount}
    return {**own, **more, "wish": own["words"]}


# -- Templates.

RESCHEDULE = Template(
    name="move_an_event",
    draw=wished,
    request=[
        "Please move my {title} to {when}.",
        "My {title} has to be on {when} instead. Can you move it?",
    ],
    goal="Have the {title} moved to {when}, {wish}.",
    facts={"time": {"value": "{wish}", "ask": ["time", "when", "hour"]}},
    gold={
        "look": [*EVENTS, *FREE],
        "ask": [say("At which time shall the {title} be then?")],
        "act": MOVED,
        "tell": [say("The {title} is on {when} now, and begins at {start}.")],
        "more": [],
    },
    tells={"start": "{start}"},
    twists=[
        Twist(
            kind="stale data",
            draw=taken,
            goal="Have the {title} moved to {when}, {wish}; {spare_words} that day if you have "
            "something else then.",
            asks="If I have something else at the time that I'd like, take {spare_words}.",
            gold={"taken": []},
        ),
        Twist(
            kind="a change of mind",
            then=["Sorry, {late_words} is better for me, on the same day."],
            gold={
                "more": [
                    say(
                        "Shall I move event {event_id}, the {title}, to {day}, from {late_start} "
                        "to {late_end}?"
                    ),
                    do(
                        "move_event",
                        event_id="{event_id}",
                        day="{day}",
                        start="{late_start}",
                        end="{late_end}",
                    ),
                    say("The {title} is moved again, and begins at {late_start}."),
                ]
            },
            tells={"start": "{late_start}"},
        ),
    ],
)
BOTH = Template(
    name="two_events_off",
    draw=two_events,
    request=[
        "I can make neither the {title} nor the {title2}. Please take both off my calendar.",
        "Take me out of two things, please: the {title} and the {title2}.",
    ],
    goal="Come neither to the {title} nor to the {title2}: each is cancelled, or declined if "
    "somebody else organises it.",
    gold={
        "look": EVENTS,
        "act": CANCELLED,
        "second": [
            say("Shall I cancel event {event2}, the {title2}, too?"),
            do("cancel_event", event_id="{event2}"),
        ],
        "tell": [say("Both are off your calendar.")],
        "more": [],
    },
    twists=[
        Twist(kind="a hidden value", draw=organised_by_another, gold={"act": DECLINED}),
        Twist(
            kind="a further wish",
            then=[
                "Then put a walk at Harbour Road into my calendar, on {when}, {words}. Call it "
                "walk."
            ],
            gold={
                "more": [
                    *FREE,
                    do(
                        "add_event",
                        person_id="{person_id}",
                        title="walk",
                        day="{day}",
                        start="{start}",
                        end="{end}",
                        place="Harbour Road",
                    ),
                    say("The walk is in your calendar."),
                ]
            },
        ),
    ],
)
REPLACED = Template(
    name="another_event_instead",
    draw=another_event,
    request=[
        "Instead of the {title} I have {new} then, on the same day and at the same time. It is at "
        "{place}. Please change my calendar.",
        "Put {new} at {place} into my calendar. It takes the time of the {title}, which is off "
        "for me.",
    ],
    goal="Have the {title} off the calendar, and {new} at {place} there at its time.",
    gold={
        "look": EVENTS,
        "act": CANCELLED,
        "add": [
            do(
                "add_event",
                person_id="{person_id}",
                title="{new}",
                day="{day}",
                start="{start}",
                end="{end}",
                place="{place}",
            )
        ],
        "tell": [say("Your calendar is changed.")],
    },
    twists=[Twist(kind="a hidden value", draw=organised_by_another, gold={"act": DECLINED})],
)
LETTER: list[dict[str, Any]] = [
    say(
        "Shall I send a letter of customer {person_id} to {email}, with the subject "
        '"{subject}" and the text "{text}"?'
    ),
    do(
        "send_mail",
        person_id="{person_id}",
        recipient="{email}",
        subject="{subject}",
        text="{text}",
    ),
]
TO = {"to": {"value": "{contact}", "type": "name", "optional": True}}
"""Who gets a letter need not be told, but not told wrong either."""
NEW_CONTACT = Twist(kind="a missing value", draw=a_stranger, facts=EMAIL, gold={"contact": ADDED})
MOVE_AND_TELL = Template(
    name="move_and_write",
    draw=with_contacts,
    request=[
        "Move my {title} to {when}, {wish}, and write {contact} with the subject '{subject}' and "
        "the text '{text}'",
        "My {title} is on {when} now, {wish}. Change that, and send {contact} a letter with the "
        "subject '{subject}' and the text '{text}'",
    ],
    goal="Have the {title} moved to {when}, {wish}, and the letter sent to {contact}, word for "
    "word.",
    gold={
        "look": [*EVENTS, *CONTACTS],
        "act": MOVED,
        "contact": [],
        "write": LETTER,
        "tell": [say("The {title} begins at {start} on {when}, and {contact} has your letter.")],
    },
    tells={"start": "{start}", **TO},
    twists=[
        NEW_CONTACT,
        Twist(
            kind="stale data",
            draw=taken,
            goal="Have the {title} moved to {when}, {wish}, or {spare_words} if you have something "
            "else then. Have the letter sent to {contact}, word for word.",
            asks=INSTEAD,
            gold={"taken": []},
        ),
    ],
)
INVITE = Template(
    name="invite_two",
    draw=with_contacts,
    request=[
        "Please invite {contact} and {contact2} to my {title}. Both are among my contacts.",
        "{contact} and {contact2}, who are contacts of mine, should come to my {title}. Invite "
        "them.",
    ],
    goal="Have {contact} and {contact2} invited to the {title}.",
    gold={
        "look": [*EVENTS, do("get_event", event_id="{event_id}"), *CONTACTS],
        "act": [do("invite_guest", event_id="{event_id}", email="{email}")],
        "second": [do("invite_guest", event_id="{event_id}", email="{email2}")],
        "tell": [say("They are invited to the {title}.")],
        "more": [],
    },
    twists=[
        Twist(
            kind="a forbidden request",
            draw=room_for_one,
            goal="Have {contact} and {contact2} invited to the {title}; {contact} alone if there "
            "is room for one only.",
            asks="If there is room for one only, invite {contact}.",
            gold={"second": [], "tell": [say("There was room for one, who is invited.")]},
        ),
        Twist(
            kind="a further wish",
            then=["Then move the {title} to {when}, {wish}, please."],
            gold={"more": [*MOVED, say("The {title} is moved to {when}.")]},
        ),
    ],
)
AWAY = Template(
    name="away_for_days",
    draw=an_absence,
    request=[
        "I'm away from {from_} to {to}. Whoever writes should know, and I can't come to the "
        "{title}.",
        "From {from_} to {to} I'm not here. Set a notice of absence, and take the {title} off my "
        "calendar.",
    ],
    goal="Have an absence set from {from_} to {to}, and the {title} off the calendar. Know the "
    "last day of the absence.",
    asks="Tell me on which day the absence ends.",
    gold={
        "look": EVENTS,
        "act": CANCELLED,
        "absence": [
            do("set_absence", person_id="{person_id}", first_day="{first}", last_day="{last}")
        ],
        "tell": [say("The {title} is off your calendar, and your absence ends on {last}.")],
    },
    tells={"last day": "{last}"},
    twists=[
        Twist(kind="a hidden value", draw=organised_by_another, gold={"act": DECLINED}),
        Twist(
            kind="a forbidden request",
            draw=too_long,
            goal="Have an absence set from {from_} to {to}, or from then as long as it may last if "
            "that is too long, and the {title} off the calendar. Know the last day of the absence.",
            asks="If that is too long for a notice, let it last as long as it may.",
            gold={"long": []},
        ),
    ],
)
FORWARD = Template(
    name="forward_an_invoice",
    draw=an_invoice,
    request=[
        "Please forward {contact} the newest invoice in my inbox, and archive it.",
        "The newest invoice in my inbox goes to {contact}, who pays it. Forward it, then archive "
        "it.",
    ],
    goal="Have the newest invoice of the inbox forwarded to {contact}, and archived.",
    gold={
        "look": [*INBOX, *CONTACTS],
        "contact": [],
        "act": [
            say("Shall I forward letter {mail_id}, {invoice}, of customer {person_id} to {email}?"),
            do("forward_mail", mail_id="{mail_id}", recipient="{email}"),
            do("move_mail", mail_id="{mail_id}", folder="archive"),
        ],
        "tell": [say("It went to {contact}, and is archived.")],
        "more": [],
    },
    tells=TO,
    twists=[
        NEW_CONTACT,
        Twist(
            kind="a further wish",
            then=["Now throw the older invoice away, please."],
            gold={
                "more": [
                    do("move_mail", mail_id="{old_id}", folder="bin"),
                    say("The older invoice is in the bin."),
                ]
            },
        ),
    ],
)
TIDY = Template(
    name="tidy_the_mailbox",
    draw=to_throw_away,
    request=[
        "Throw the invoice of {partner} away, and block who sent me the letter in my spam.",
        "I don't need the invoice of {partner} any more: into the bin with it. And block the "
        "sender of what lies in my spam.",
    ],
    goal="Have the invoice of {partner} in the bin, and the sender of the letter in spam blocked.",
    gold={
        "look": [do("list_mails", person_id="{person_id}")],
        "act": [do("move_mail", mail_id="{mail_id}", folder="bin")],
        "block": [
            say("Shall I block {sender} for customer {person_id}?"),
            do("block_sender", person_id="{person_id}", email="{sender}"),
        ],
        "tell": [say("The invoice is moved, and {sender} is blocked.")],
    },
    tells={"blocked": "{sender}"},
    asks="Tell me the address that you blocked.",
    twists=[
        Twist(
            kind="a forbidden request",
            draw=still_new,
            goal="Have the invoice of {partner} in the bin, or archived if it must be kept, and "
            "the sender of the letter in spam blocked.",
            asks="If the invoice must be kept, archive it.",
            gold={"act": [do("move_mail", mail_id="{mail_id}", folder="archive")]},
        )
    ],
)
INVITED = Template(
    name="invited_by_letter",
    draw=an_invitation,
    request=[
        "{contact} wrote me about the {new}. Put it into my calendar with its place, as the letter "
        "says. Call it {new}.",
        "There is a letter from {contact}, about the {new}. I'm going: put {new} into my calendar, "
        "and the place, too.",
    ],
    goal="Have the {new} in the calendar with day, time and place, as the letter of {contact} "
    "says.",
    gold={
        "look": [do("list_mails", person_id="{person_id}"), do("read_mail", mail_id="{mail_id}")],
        "out": [],
        "free": FREE,
        "way": [],
        "act": [
            do(
                "add_event",
                person_id="{person_id}",
                title="{new}",
                day="{day}",
                start="{start}",
                end="{end}",
                place="{place}",
            )
        ],
        "tell": [say("The {new} is in your calendar, and begins at {start} on {when}.")],
    },
    asks="Tell me when it begins.",
    tells={"start": "{start}"},
    twists=[
        Twist(
            kind="stale data",
            draw=in_the_way,
            goal="Have the {new} in the calendar with day, time and place, as the letter of "
            "{contact} says. What you organise at that time is cancelled.",
            asks="If I have something of my own then, cancel that.",
            gold={"way": [*EVENTS, *CANCELLED]},
        ),
        Twist(
            kind="a hidden value",
            draw=in_spam,
            goal="Have the {new} in the calendar with day, time and place, as the letter of "
            "{contact} says. If the letter lies in spam, have it moved to the inbox.",
            asks="If the letter lies in spam, move it to my inbox.",
            gold={"out": [do("move_mail", mail_id="{mail_id}", folder="inbox")]},
        ),
    ],
)
REMIND = Template(
    name="remind_me_to_pay",
    draw=to_be_paid,
    request=[
        "Put the day by which I have to pay {partner} into my calendar, {wish}, at Home. Call it "
        "payment. The invoice is in my inbox.",
        "In my inbox is an invoice of {partner}. Put payment into my calendar on the day by which "
        "it wants the money, {wish}. Its place is Home.",
    ],
    asks="How much is it?",
    goal="Have payment, at Home, in the calendar on the day by which the invoice of {partner} is "
    "to be paid, {wish}, and know the amount.",
    gold={
        "look": [*INBOX, do("read_mail", mail_id="{mail_id}"), *FREE],
        "act": [
            do(
                "add_event",
                person_id="{person_id}",
                title="payment",
                day="{day}",
                start="{start}",
                end="{end}",
                place="Home",
            )
        ],
        "tell": [say("{amount} EUR are due, and payment is in your calendar on {when}.")],
        "more": [],
    },
    tells={"amount": "{amount} EUR"},
    twists=[
        Twist(
            kind="stale data",
            draw=taken,
            goal="Have payment, at Home, in the calendar on the day by which the invoice of "
            "{partner} is to be paid, {wish}, or {spare_words} if you have something else then. "
            "Know the amount.",
            asks=INSTEAD,
            gold={"taken": []},
        ),
        Twist(
            kind="a further wish",
            then=["Archive the invoice then, please."],
            gold={
                "more": [
                    do("move_mail", mail_id="{mail_id}", folder="archive"),
                    say("The invoice of {partner} is archived."),
                ]
            },
        ),
    ],
)

GOALS = Goals(
    templates=[
        RESCHEDULE,
        BOTH,
        REPLACED,
        MOVE_AND_TELL,
        INVITE,
        AWAY,
        FORWARD,
        TIDY,
        INVITED,
        REMIND,
    ],
    rows=tables,
    records=[desk.namesake],
    ignore=(
        "checks",
        "tickets.ticket_id",
        "guests.guest_id",
        "mails.mail_id",
        "contacts.contact_id",
    ),
    cells={"events.title": "text", "mails.subject": "text", "mails.text": "text"},
    facts=desk.KNOWN,
    gold={"who": desk.WHO},
    clock=desk.CLOCK,
    boundary=desk.BOUNDARY,
)
"""What scenarios of calendar and mail are made of."""
