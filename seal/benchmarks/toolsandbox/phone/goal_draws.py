"""What goal templates of the phone draw: people, texts, reminders and moments; their calls."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from seal.core import JSON, Tables
from seal.environments.tables import Row
from seal.environments.templates import Rows, Slots, Twist, do, kept, say

ZONE = ZoneInfo("Europe/Lisbon")
NOW = datetime(2025, 11, 18, 10, 30, tzinfo=ZONE)
"""When every world begins, a Tuesday; the shipped weather is of this day and the next two."""
CLOCK: dict[str, JSON] = {
    "start": "@2025-11-18T10:30",
    "zone": "Europe/Lisbon",
    "first": 3,
    "step": 2,
}
FIRST = (
    *("Alma", "Bruno", "Carla", "Dinis", "Elsa", "Fausto", "Gina", "Hugo"),
    *("Ilda", "Jaime", "Lara", "Mateus", "Noemi", "Oscar", "Rita", "Tomas"),
)
LAST = (
    *("Abrantes", "Bivar", "Coutinho", "Dourado", "Esteves", "Falcao", "Gouveia", "Hortas"),
    *("Infante", "Junqueira", "Lousada", "Moniz", "Noronha", "Quaresma", "Rebelo", "Saldanha"),
)
RELATIONS = ("friend", "neighbour", "boss", "landlord", "sister", "cousin", "trainer", "plumber")
SMALL_TALK = (
    "Thanks for yesterday, it was fun",
    "Did you see the match?",
    "Happy to help any time",
    "The photos look great",
    "Say hello to everybody at home",
    "I am on the bus, talk later",
)
ERRANDS = (
    "Water the plants",
    "Renew the library books",
    "Call the insurance",
    "Buy stamps",
    "Return the drill",
    "Book the vet",
    "Collect the suit",
    "Order firewood",
)
"""What reminders say."""


def tables(seed: int) -> Tables:
    """Return a phone in Lisbon: eight contacts, six texts of them, two reminders due and four not.

    Args:
        seed: Equal ones give equal rows.
    """
    drawn = Random(f"phone {seed}")
    names = zip(drawn.sample(FIRST, 9), drawn.sample(LAST, 9), strict=True)
    contacts: list[Row] = [
        {
            "person_id": _id("p", drawn),
            "name": f"{first} {last}",
            "phone_number": f"+3519{drawn.randrange(10**7, 10**8)}",
            "relationship": relation,
            "is_self": relation == "self",
        }
        for (first, last), relation in zip(names, ("self", *RELATIONS), strict=True)
    ]
    rows: Rows = {
        "settings": [
            {
                "device_id": "device-4d19",
                "cellular": True,
                "wifi": True,
                "location_service": True,
                "low_battery_mode": False,
                "latitude": 38.7139,
                "longitude": -9.1394,
            }
        ],
        "contacts": contacts,
        "messages": [],
        "reminders": [],
    }
    for ahead, text in enumerate(drawn.sample(SMALL_TALK, 6)):
        wrote(rows, drawn, contacts[1 + ahead]["phone_number"], text, 6 + ahead)
    for days, text in zip((-5, -2, 5, 8, 11, 15), drawn.sample(ERRANDS, 6), strict=True):
        due(rows, drawn, text, stamp(days, drawn.randrange(8, 20)))
    return rows


def _id(letter: str, drawn: Random) -> str:
    return f"{letter}-{drawn.randrange(16**6):06x}"


def stamp(days: int, hour: int, minute: int = 0) -> float:
    """Return POSIX seconds of a time on the day some days after the one when worlds begin."""
    day = NOW + timedelta(days=days)
    return day.replace(hour=hour, minute=minute).timestamp()


# -- Rows that a template adds or changes.


def wrote(rows: Rows, drawn: Random, number: str, text: str, days: int, hour: int = 0) -> Row:
    """Add a text that came from a number some days ago; return its row."""
    owner, sender = of_self(rows), _of_number(rows, number)
    row: Row = {
        "message_id": _id("m", drawn),
        "sender_person_id": sender["person_id"] if sender else None,
        "sender_phone_number": number,
        "recipient_person_id": owner["person_id"],
        "recipient_phone_number": owner["phone_number"],
        "content": text,
        "creation_timestamp": stamp(-days, hour or drawn.randrange(11, 18), drawn.randrange(60)),
    }
    rows["messages"].append(row)
    return row


def due(rows: Rows, drawn: Random, text: str, at: float) -> Row:
    """Add a reminder; return its row."""
    row: Row = {
        "reminder_id": _id("r", drawn),
        "content": text,
        "creation_timestamp": stamp(-20, drawn.randrange(8, 20)),
        "reminder_timestamp": at,
        "latitude": None,
        "longitude": None,
    }
    rows["reminders"].append(row)
    return row


def of_self(rows: Rows) -> Row:
    """Return the contact who owns the phone."""
    return next(row for row in rows["contacts"] if row["is_self"])


def _of_number(rows: Rows, number: str) -> Row | None:
    return next((row for row in rows["contacts"] if row["phone_number"] == number), None)


def contact(rows: Rows, person_id: str) -> Row:
    """Return the row of a contact, to be changed."""
    return next(row for row in rows["contacts"] if row["person_id"] == person_id)


def without(rows: Rows, person_id: str) -> None:
    """Take a contact away; texts stay, and name nobody."""
    rows["contacts"] = [row for row in rows["contacts"] if row["person_id"] != person_id]
    for row in rows["messages"]:
        if row["sender_person_id"] == person_id:
            row["sender_person_id"] = None


# -- Slots: people and moments.


def people(rows: Rows, drawn: Random, count: int = 1) -> dict[str, Any]:
    """Draw contacts: `first`, `name`, `number`, `person_id`, `relation`; `first2` and so on."""
    chosen = drawn.sample([row for row in rows["contacts"] if not row["is_self"]], count)
    slots: dict[str, Any] = {}
    for place, row in enumerate(chosen, 1):
        slots |= person(row, "" if place == 1 else str(place))
    return slots


def person(row: Row, which: str = "") -> dict[str, Any]:
    """Return the slots of a contact."""
    first = row["name"].split()[0]
    values = {
        "first": first,
        "who": first,
        "name": row["name"],
        "number": row["phone_number"],
        "person_id": row["person_id"],
        "relation": row["relationship"],
    }
    return {f"{name}{which}": value for name, value in values.items()}


def moment(drawn: Random, which: str = "", days: int = 0) -> dict[str, Any]:
    """Draw a time on one of the next days: `when` in words, `clock`, its parts, and `at`.

    Args:
        drawn: Draws.
        which: Stands behind the names of the slots.
        days: Days from today; 0: drawn.
    """
    days = days or drawn.choice((1, 2, 3, 4, 9, 10, 12, 16))
    hour, minute = drawn.randrange(8, 21), drawn.choice((0, 15, 30, 45, 10))
    day = NOW + timedelta(days=days)
    values = {
        "when": f"{day_words(days)} at {_clock_words(hour, minute, drawn)}",
        "clock": f"{hour:02}:{minute:02}",
        "year": day.year,
        "month": day.month,
        "day": day.day,
        "hour": hour,
        "minute": minute,
        "at": stamp(days, hour, minute),
    }
    return {f"{name}{which}": value for name, value in values.items()}


def day_words(days: int) -> str:
    """Return a day to come as people say it."""
    day = NOW + timedelta(days=days)
    near = {1: "tomorrow", 2: "the day after tomorrow", 14: "in two weeks"}
    if days in near:
        return near[days]
    return f"this {day:%A}" if days < 6 else f"on {day:%A}, {day.day} {day:%B}"


_HOURS = (
    *("twelve", "one", "two", "three", "four", "five"),
    *("six", "seven", "eight", "nine", "ten", "eleven"),
)


def _clock_words(hour: int, minute: int, drawn: Random) -> str:
    """Return a time of day in one of three forms."""
    part = "in the morning" if hour < 12 else "in the afternoon"
    if hour >= 18:
        part = "in the evening"
    spoken = {0: "{}", 15: "a quarter past {}", 30: "half past {}", 10: "ten past {}"}
    forms = [f"{hour:02}:{minute:02}", f"{hour % 12 or 12}:{minute:02} {'ap'[hour >= 12]}m"]
    if minute in spoken and hour != 12:
        forms.append(f"{spoken[minute].format(_HOURS[hour % 12])} {part}")
    return drawn.choice(forms)


# -- Parts of gold.

TODAY: list[dict[str, Any]] = [
    kept("now", do("get_current_timestamp")),
    do("timestamp_to_datetime_info", timestamp="{now}"),
]
FIND = do("search_contacts", name="{who}")
FIND2 = do("search_contacts", name="{who2}")


def at_time(which: str = "") -> dict[str, Any]:
    """Return the call that gives the POSIX seconds of a drawn moment."""
    parts = {name: f"{{{name}{which}}}" for name in ("year", "month", "day", "hour", "minute")}
    return do("datetime_info_to_timestamp", **parts, second=0)


def remind(text: str, which: str = "") -> list[dict[str, Any]]:
    """Return the calls that make a reminder at a drawn moment."""
    added = do("add_reminder", content=text, reminder_timestamp=f"{{at{which}}}")
    return [*TODAY, at_time(which), added]


def text(content: str, number: str = "{number}") -> dict[str, Any]:
    """Return the call that sends a text message."""
    return do("send_message_with_phone_number", phone_number=number, content=content)


CONFIRM = "And confirm the time of the reminder."
CLOCK_TOLD = {"time": {"value": "{clock}", "type": "time"}}
"""What a template with a reminder asks, and what is told then."""


# -- Twists of several templates.

LEAVE_ON = "Switch on whatever you need for that, even if it costs battery, and leave it on."
"""A service is needed where nothing but a tool that needs it can do or tell what is asked for; what
a model may know by heart, such as a holiday, is none."""
_SET = {
    "wifi": "set_wifi_status",
    "cellular": "set_cellular_service_status",
    "location_service": "set_location_service_status",
}


def off(service: str) -> Twist:
    """Return the twist by which a service is off that is needed; gold turns it on (`service`)."""

    def draw(rows: Rows, slots: Slots, drawn: Random) -> Slots:
        rows["settings"][0][service] = False
        return {}

    status = _SET[service].replace("set_", "get_")
    return Twist(
        kind=f"{service.replace('_', ' ')} off",
        draw=draw,
        asks=LEAVE_ON,
        gold={"service": [do(status), do(_SET[service], on=True)]},
    )


def low_battery(*services: str) -> Twist:
    """Return the twist by which low battery mode keeps off what is needed."""

    def draw(rows: Rows, slots: Slots, drawn: Random) -> Slots:
        rows["settings"][0] |= {**dict.fromkeys(_SET, False), "low_battery_mode": True}
        return {}

    on = [do(_SET[service], on=True) for service in services]
    return Twist(
        kind="low battery mode",
        draw=draw,
        asks=LEAVE_ON,
        gold={
            "service": [
                do("get_low_battery_mode_status"),
                do("set_low_battery_mode_status", on=False),
                *on,
            ]
        },
    )


def another(rows: Rows, slots: Slots, drawn: Random) -> Row:
    """Return a contact that no slot names."""
    own = {*map(str, slots.values())}
    free = [row for row in rows["contacts"] if not row["is_self"]]
    return drawn.choice([row for row in free if row["person_id"] not in own])


def a_namesake(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Give another contact the first name that is asked for; that one is meant."""
    row = another(rows, slots, drawn)
    row["name"] = f"{slots['first']} {row['name'].split()[1]}"
    return {**person(row), "other": slots["name"]}


WHICH = "Two contacts are called {first}: {other} and {name}. Which one do you mean?"
NAMESAKE = Twist(
    kind="two people of one name",
    draw=a_namesake,
    facts={"who": {"value": "{name}, my {relation}", "ask": ["which", "do you mean"]}},
    gold={"who": [say(WHICH)]},
)


def not_saved(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Take the contact away; the first message has the whole name."""
    without(rows, slots["person_id"])
    digits = slots["number"].removeprefix("+351")
    spoken = f"+351 {digits[:3]} {digits[3:6]} {digits[6:]}"
    return {"who": slots["name"], "number_words": spoken}


NOT_SAVED = Twist(
    kind="a missing value",
    draw=not_saved,
    asks="If a number is not in my contacts, ask me for it, and save it.",
    facts={"number": {"value": "{number_words}", "ask": ["number"]}},
    gold={
        "who": [
            say("{name} is not in your contacts. Which number does {first} have?"),
            do("add_contact", name="{name}", phone_number="{number}"),
        ]
    },
)


def a_new_number(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the contact have written from another number."""
    number = f"+3519{drawn.randrange(10**7, 10**8)}"
    wrote(rows, drawn, number, f"It's {slots['name']}. This is my new number", 1)
    return {"number": number}


NEW_NUMBER = Twist(
    kind="stale data",
    draw=a_new_number,
    asks="If there is a text in which {who} gives me a new number, put that into the contact "
    "first, and use it.",
    gold={
        "who": [
            do("search_messages", content="new number"),
            do("modify_contact", person_id="{person_id}", phone_number="{number}"),
        ]
    },
)


def to_delete(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Draw a contact that nothing else is about."""
    row = another(rows, slots, drawn)
    return {"gone": row["name"], "gone_id": row["person_id"]}


DELETE_ANOTHER = Twist(
    kind="a wish for the contacts",
    draw=to_delete,
    then=["Now delete {gone} from my contacts, please."],
    gold={
        "more": [
            do("search_contacts", name="{gone}"),
            do("remove_contact", person_id="{gone_id}"),
            say("{gone} is deleted from your contacts."),
        ]
    },
)


def to_put_off(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a reminder of later days that nothing else is about, and how long it is put off."""
    own = {*map(str, slots.values())}
    later = [row for row in rows["reminders"] if row["reminder_timestamp"] > stamp(4, 23)]
    free = [row for row in later if row["reminder_id"] not in own]
    if not free:
        return None
    row, hours = drawn.choice(free), drawn.choice((2, 3))
    at = row["reminder_timestamp"]
    return {
        "later": row["content"],
        "later_id": row["reminder_id"],
        "later_from": at,
        "hours_off": hours,
        "later_at": at + 3600 * hours,
    }


PUT_OFF_ANOTHER = Twist(
    kind="a wish for the reminders",
    draw=to_put_off,
    then=["And let the reminder '{later}' ring {hours_off} hours later than it does now."],
    gold={
        "more": [
            do("search_reminder", content="{later}"),
            do("shift_timestamp", timestamp="{later_from}", hours="{hours_off}"),
            do("modify_reminder", reminder_id="{later_id}", reminder_timestamp="{later_at}"),
            say("The reminder '{later}' is put off by {hours_off} hours."),
        ]
    },
)


def almost(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Add a contact with the last name of another one, and an older text of somebody unknown."""
    row = drawn.choice([row for row in rows["contacts"] if not row["is_self"]])
    used = {one["name"].split()[0] for one in rows["contacts"]} | {*map(str, slots.values())}
    first = drawn.choice([name for name in FIRST if name not in used])
    rows["contacts"].append(
        {
            "person_id": _id("p", drawn),
            "name": f"{first} {row['name'].split()[1]}",
            "phone_number": f"+3519{drawn.randrange(10**7, 10**8)}",
            "relationship": None,
            "is_self": False,
        }
    )
    wrote(rows, drawn, f"+3519{drawn.randrange(10**7, 10**8)}", "Wrong number, sorry", 13)
    return {}
