"""A calendar: events, guests and free time of each customer, as its service desk has them."""

from __future__ import annotations

import random
from datetime import date, time, timedelta
from typing import Any

from seal.benchmarks.apps import people
from seal.benchmarks.apps.people import change, days_since, number, the, unasked
from seal.environments.chat_world import World
from seal.environments.tables import NoDataError, Row
from seal.environments.world import Worlds, toolbox

TITLES = {
    "dentist": "Tower Hill Practice",
    "budget meeting": "Room 4",
    "piano lesson": "Music School",
    "car service": "Quay Garage",
    "book club": "Town Library",
    "flat viewing": "Harbour Road",
    "team lunch": "Canteen",
    "eye test": "Lens and Light",
    "choir": "Church Hall",
    "parents' evening": "Mill School",
}
"""Title to place of the events that are drawn."""
OPEN, CLOSE = "08:00", "18:00"

COLUMNS: dict[str, dict[str, Any]] = {
    **people.COLUMNS,
    "events": {
        "event_id": str,
        "person_id": str,
        "title": str,
        "day": str,
        "start": str,
        "end": str,
        "place": str | None,
        "organiser": str,
        "state": str,
    },
    "guests": {"guest_id": str, "event_id": str, "email": str, "answer": str},
}


def diaries(seed: int = people.SEED, count: int = 12) -> dict[str, list[Row]]:
    """Return the tables of a calendar; equal seeds give equal rows.

    Every customer has five events in two weeks from today on, one of them organised by another
    customer. No two are at one time.
    """
    drawn = random.Random(f"calendar {seed}")
    tables = people.people(seed, count)
    events: list[Row] = []
    guests: list[Row] = []
    for person in tables["people"]:
        others = [row["email"] for row in tables["people"] if row["name"] != person["name"]]
        days = sorted(drawn.sample([0, 1, 2, 3, 4, 7, 8, 9, 10, 11], 4))
        titles = drawn.sample(sorted(TITLES), 5)
        foreign = drawn.randrange(1, 5)
        for place, title in enumerate(titles):
            ahead, hour = days[min(place, 3)], (9, 10, 11, 13, 16)[place]
            ends = time(hour + drawn.choice((1, 1, 2)), drawn.choice((0, 30)))
            event_id = f"E{len(events) + 101}"
            events.append(
                {
                    "event_id": event_id,
                    "person_id": person["person_id"],
                    "title": title,
                    "day": (people.TODAY + timedelta(days=ahead)).isoformat(),
                    "start": f"{hour:02}:00",
                    "end": f"{ends:%H:%M}",
                    "place": TITLES[title],
                    "organiser": drawn.choice(others) if place == foreign else person["email"],
                    "state": "planned",
                }
            )
            for email in drawn.sample(others, drawn.choice((0, 0, 1, 2))):
                guest = {"guest_id": f"U{len(guests) + 201}", "event_id": event_id, "email": email}
                guests.append({**guest, "answer": drawn.choice(("open", "accepted"))})
    return {**tables, "events": events, "guests": guests}


# -- Tools.


def list_events(world: World, person_id: str, first_day: str, last_day: str) -> list[Row]:
    """List the planned events of a customer, the earliest first.

    Args:
        person_id: Id of the customer.
        first_day: As YYYY-MM-DD.
        last_day: As YYYY-MM-DD; the same day for one day.
    """
    the(world, "people", person_id)
    first, last = _day(first_day), _day(last_day)
    own = [row for row in _planned(world, person_id) if first <= row["day"] <= last]
    return sorted(own, key=lambda row: (row["day"], row["start"]))


def get_event(world: World, event_id: str) -> Row:
    """Look an event up, with its guests.

    Args:
        event_id: Id of the event.
    """
    guests = [row for row in world.rows("guests") if row["event_id"] == event_id]
    return {**the(world, "events", event_id), "guests": guests}


def find_free_time(world: World, person_id: str, day: str, minutes: int) -> list[Row]:
    """Find when a customer has nothing planned on a day, between 08:00 and 18:00.

    Args:
        person_id: Id of the customer.
        day: As YYYY-MM-DD.
        minutes: How long the free time is at least.

    Returns:
        Start and end of each free time.
    """
    the(world, "people", person_id)
    own = [row for row in _planned(world, person_id) if row["day"] == _day(day)]
    found: list[Row] = []
    start = OPEN
    for row in [*sorted(own, key=lambda row: row["start"]), {"start": CLOSE, "end": CLOSE}]:
        end = min(row["start"], CLOSE)
        if _minutes(end) - _minutes(start) >= max(minutes, 1):
            found.append({"start": start, "end": end})
        start = max(start, row["end"])
    return found


def add_event(
    world: World,
    person_id: str,
    title: str,
    day: str,
    start: str,
    end: str,
    place: str | None = None,
) -> Row:
    """Put an event into the calendar of a customer, who organises it.

    Args:
        person_id: Id of the customer.
        title: What it is.
        day: As YYYY-MM-DD.
        start: As HH:MM.
        end: As HH:MM, later than the start.
        place: Where it is; left out, nowhere.

    Returns:
        The event.
    """
    person = the(world, "people", person_id)
    row: Row = {
        "event_id": number(world, "events", "E", 101),
        "person_id": person_id,
        "title": title,
        **_span(day, start, end),
        "place": place,
        "organiser": person["email"],
        "state": "planned",
    }
    world.add("events", row)
    return row


def move_event(world: World, event_id: str, day: str, start: str, end: str) -> Row:
    """Move an event to another time. Its guests are told, and have to answer again.

    Args:
        event_id: Id of the event.
        day: As YYYY-MM-DD.
        start: As HH:MM.
        end: As HH:MM, later than the start.
    """
    event, span = _open(world, event_id), _span(day, start, end)
    for guest in (row for row in world.table("guests") if row["event_id"] == event_id):
        change(world, "guests", guest, answer="open")
    return change(world, "events", event, **span)


def cancel_event(world: World, event_id: str) -> Row:
    """Cancel an event for everybody.

    Args:
        event_id: Id of the event.
    """
    return change(world, "events", _open(world, event_id), state="cancelled")


def decline_event(world: World, event_id: str) -> Row:
    """Tell the organiser of an event that the customer does not come.

    Args:
        event_id: Id of the event.
    """
    return change(world, "events", _open(world, event_id), state="declined")


def invite_guest(world: World, event_id: str, email: str) -> Row:
    """Invite somebody to an event.

    Args:
        event_id: Id of the event.
        email: Email address of the guest.

    Returns:
        The guest, who has to answer.
    """
    _open(world, event_id)
    if any((row["event_id"], row["email"]) == (event_id, email) for row in world.table("guests")):
        raise ValueError(f"{email} is a guest of {event_id} already")
    row: Row = {"guest_id": number(world, "guests", "U", 201), "event_id": event_id}
    row |= {"email": email, "answer": "open"}
    world.add("guests", row)
    return row


def _planned(world: World, person_id: str) -> list[Row]:
    rows = world.rows("events")
    return [row for row in rows if (row["person_id"], row["state"]) == (person_id, "planned")]


def _open(world: World, event_id: str) -> Row:
    event = the(world, "events", event_id)
    if event["state"] != "planned":
        raise NoDataError(f"the event {event_id} is {event['state']}")
    return event


def _day(text: str) -> str:
    return date.fromisoformat(text).isoformat()


def _minutes(text: str) -> int:
    at = time.fromisoformat(text)
    return 60 * at.hour + at.minute


def _span(day: str, start: str, end: str) -> Row:
    """Return day, start and end of an event, as the table has them.

    Raises:
        ValueError: One is no day or time, or the end is not later than the start.
    """
    if _minutes(end) <= _minutes(start):
        raise ValueError(f"the event would end at {end} and start at {start}")
    times = {
        "start": f"{time.fromisoformat(start):%H:%M}",
        "end": f"{time.fromisoformat(end):%H:%M}",
    }
    return {"day": _day(day), **times}


TOOLS = toolbox(
    "calendar",
    [
        list_events,
        get_event,
        find_free_time,
        add_event,
        move_event,
        cancel_event,
        decline_event,
        invite_guest,
    ],
)


# -- The policy: each rule is told by its docstring, and asked of every call.

GUESTS = {"standard": 3, "gold": 6}


def nothing_else_then(call: Any, world: Any, chat: Any) -> str | None:
    """Add or move an event only to a time at which the customer has nothing else planned."""
    if call.name not in ("add_event", "move_event"):
        return None
    new = _placed(call, world)
    rows = world.after.rows("events", person_id=new["person_id"], day=new["day"], state="planned")
    clash = next(
        (
            row
            for row in rows
            if row["event_id"] != new["event_id"]
            and row["start"] < new["end"]
            and new["start"] < row["end"]
        ),
        None,
    )
    return f"{clash['title']} is at {clash['start']} that day" if clash else None


def hours(call: Any, world: Any, chat: Any) -> str | None:
    """Put events between 08:00 and 18:00 from Monday to Friday; for gold customers until 20:00."""
    if call.name not in ("add_event", "move_event"):
        return None
    new = _placed(call, world)
    latest = "20:00" if _tier(new, world) == "gold" else CLOSE
    weekday = date.fromisoformat(new["day"]).weekday()
    if weekday < 5 and new["start"] >= OPEN and new["end"] <= latest:
        return None
    return f"{new['day']} from {new['start']} to {new['end']}, and {latest} is the latest"


def from_tomorrow_on(call: Any, world: Any, chat: Any) -> str | None:
    """Leave what is planned for today as it is: add, move and cancel events from tomorrow on.

    Hand over a customer who wants to change today.
    """
    if call.name not in ("add_event", "move_event", "cancel_event", "decline_event"):
        return None
    days = [call.arguments[name] for name in ("day",) if name in call.arguments]
    if "event_id" in call.arguments:
        days.append(world.row("events", event_id=call.arguments["event_id"])["day"])
    today = [day for day in days if days_since(day, world.today) >= 0]
    return f"{today[0]} is not after today" if today else None


def organisers_alone(call: Any, world: Any, chat: Any) -> str | None:
    """Move or cancel an event, or invite to it, only for who organises it; others may decline."""
    if call.name not in ("move_event", "cancel_event", "invite_guest", "decline_event"):
        return None
    event = world.row("events", event_id=call.arguments["event_id"])
    own = world.row("people", person_id=event["person_id"])["email"]
    if (event["organiser"] == own) is (call.name != "decline_event"):
        return None
    return f"{event['event_id']} is organised by {event['organiser']}"


def few_guests(call: Any, world: Any, chat: Any) -> str | None:
    """Invite three guests to an event at most; for gold customers six. Who declined counts, too."""
    if call.name != "invite_guest":
        return None
    event = world.row("events", event_id=call.arguments["event_id"])
    count = len(world.after.rows("guests", event_id=event["event_id"]))
    most = GUESTS[_tier(event, world)]
    return f"{count} guests, and {most} are allowed" if count > most else None


def ask_before_moving(call: Any, world: Any, chat: Any) -> str | None:
    """Name the event by its id, and the new day, start and end, and get a yes, before you move it.

    Do the same before you cancel or decline an event.
    """
    return unasked(call, chat, "move_event", "cancel_event", "decline_event")


def _placed(call: Any, world: Any) -> Row:
    """Return the event of a call as the call left it."""
    if "event_id" in call.arguments:
        row: Row = world.after.row("events", event_id=call.arguments["event_id"])
        return row
    last: Row = world.after.rows("events")[-1]
    return last


def _tier(event: Row, world: Any) -> str:
    return str(world.row("people", person_id=event["person_id"])["tier"])


POLICY = (
    people.DESK,
    people.identity,
    people.one_customer,
    nothing_else_then,
    hours,
    from_tomorrow_on,
    organisers_alone,
    few_guests,
    ask_before_moving,
)

calendar = Worlds(
    name="calendar",
    tools={**people.TOOLS, **TOOLS},
    tables=diaries(),
    columns=COLUMNS,
    policy=POLICY,
    goals=(
        "seal.benchmarks.apps.diary_goals:GOALS",
        "seal.benchmarks.apps.errand_goals:GOALS",
    ),
)
"""The world `calendar`: its service desk, with the people and events that ship."""
