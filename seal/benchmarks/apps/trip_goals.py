"""Goal templates of travel: trains and rooms, booked, changed and cancelled under all its rules."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from random import Random
from typing import Any

from seal.benchmarks.apps import desk_goals as desk
from seal.benchmarks.apps import people
from seal.benchmarks.apps.desk_goals import euros, handed_over
from seal.benchmarks.apps.diary_draws import words
from seal.benchmarks.apps.travel import CHANGE, FEES, LESS, NIGHTS, price_of, trips
from seal.environments.tables import Row
from seal.environments.templates import Goals, Rows, Slots, Template, Twist, do, say

PERSON: list[dict[str, Any]] = [do("get_person", person_id="{person_id}")]
BOOKED: list[dict[str, Any]] = [do("list_bookings", person_id="{person_id}")]
TRAINS: list[dict[str, Any]] = [do("search_trains", origin="{home}", destination="{town}")]


def changed(booking: str, train: str, day: str, fee: str) -> list[dict[str, Any]]:
    """Return the moves that put a booking on another train or day."""
    return [
        say(f"Shall I change booking {booking} to train {train} on {day}, for a fee of {fee} EUR?"),
        do("change_booking", booking_id=booking, train_id=train, day=day, fee=fee),
    ]


def cancelled(booking: str, what: str, fee: str) -> list[dict[str, Any]]:
    """Return the moves that cancel a booking."""
    return [
        say(f"Shall I cancel booking {booking}, the {what}, for a fee of {fee} EUR?"),
        do("cancel_booking", booking_id=booking, fee=fee),
    ]


def booked(train: str, day: str) -> list[dict[str, Any]]:
    """Return the moves that book a train at the drawn fare."""
    return [
        say(
            f"Shall I book train {train} on {day}, as {{fare}}, for customer {{person_id}}, paid "
            "from account {account}?"
        ),
        do(
            "book_train",
            person_id="{person_id}",
            train_id=train,
            day=day,
            fare="{fare}",
            account_id="{account}",
        ),
    ]


# -- What is drawn.


def a_trip(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a customer who leaves in a week or so, all as savers, and another day for each way."""
    person, own = desk.customer(rows, drawn)
    bookings = [row for row in rows["bookings"] if row["person_id"] == own["person_id"]]
    if len(bookings) != 3:
        return None
    out, room, back = bookings
    _account(rows, own)
    _leave(rows, bookings, 5 + drawn.randrange(4))
    for row in bookings:
        row["fare"] = "saver"
        row["paid"] = price_of(_offer(rows, row), "saver", row["nights"])
    train = _offer(rows, out)
    later = _day(out) + timedelta(days=drawn.choice((1, 2, 3)))
    fee = CHANGE["saver"] * LESS[person["tier"]]
    return {
        **own,
        **_ways(rows, train["origin"], train["destination"]),
        "booking_id": out["booking_id"],
        "train_id": train["train_id"],
        "day": later.isoformat(),
        "when": words(later),
        "fee": euros(fee),
        "room_booking": room["booking_id"],
        "back_id": back["booking_id"],
        "back_train": back["offer_id"],
        "back_day": (_day(back) + timedelta(days=3)).isoformat(),
        "back_when": words(_day(back) + timedelta(days=3)),
        "same_day": out["day"],
        **_repaid(rows, person, room, back),
    }


def _account(rows: Rows, slots: Slots) -> None:
    """Let the account of a customer have enough for every trip."""
    account = desk.row_of(rows, "accounts", slots["account"])
    account["balance"] = euros(1_200 + account["balance"] % 700)


def _leave(rows: Rows, bookings: list[Row], ahead: int) -> None:
    """Let a trip begin so many days from today, and last as long as before."""
    moved = people.TODAY + timedelta(days=ahead) - _day(bookings[0])
    for row in bookings:
        row["day"] = (_day(row) + moved).isoformat()


def _day(booking: Row) -> date:
    return date.fromisoformat(booking["day"])


def _offer(rows: Rows, booking: Row) -> Row:
    table = "rooms" if booking["nights"] else "trains"
    return desk.row_of(rows, table, booking["offer_id"])


def _ways(rows: Rows, home: str, town: str) -> dict[str, Any]:
    """Return the two towns of a trip, and the trains from one to the other, by the hour."""
    early, noon, late = [
        r for r in rows["trains"] if (r["origin"], r["destination"]) == (home, town)
    ]
    return {
        "home": home,
        "town": town,
        "early": early["train_id"],
        "noon": noon["train_id"],
        "late": late["train_id"],
        "noon_leaves": noon["departs"],
        "late_leaves": late["departs"],
    }


def _repaid(rows: Rows, person: Row, room: Row, back: Row) -> dict[str, Any]:
    """Return the fee for each of two bookings that are cancelled, and what comes back."""
    slots: dict[str, Any] = {"all": 0.0}
    for name, row in (("room", room), ("way_back", back)):
        late = (_day(row) - people.TODAY).days < 3
        fee = euros(row["paid"] * FEES[row["fare"]][late] * LESS[person["tier"]])
        slots |= {f"{name}_fee": fee, f"{name}_repaid": euros(row["paid"] - fee)}
        slots["all"] = euros(slots["all"] + row["paid"] - fee)
    return slots


def leaves_today(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the trip begin today, so that nothing of today can be changed."""
    _leave(rows, _trip(rows, slots), 0)
    return {}


def leaves_soon(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the trip begin so soon that it costs more to cancel the room."""
    bookings = _trip(rows, slots)
    for row in bookings:
        row["fare"] = "flex"
        row["paid"] = price_of(_offer(rows, row), "flex", row["nights"])
    _leave(rows, bookings, 1 + drawn.randrange(2))
    person = desk.row_of(rows, "people", slots["person_id"])
    return _repaid(rows, person, *bookings[1:])


def _trip(rows: Rows, slots: Slots) -> list[Row]:
    return [row for row in rows["bookings"] if row["person_id"] == slots["person_id"]]


def too_early(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a trip that begins with the first train of the day."""
    own = a_trip(rows, slots, drawn)
    if own is None:
        return None
    out = desk.row_of(rows, "bookings", own["booking_id"])
    out["offer_id"] = own["early"]
    out["paid"] = price_of(_offer(rows, out), "saver", 0)
    return own


def a_stay(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a customer, a town and nights there, with one room that is the cheapest and free."""
    person, own = desk.customer(rows, drawn)
    town = drawn.choice(people.TOWNS)
    day = people.TODAY + timedelta(days=drawn.randrange(24, 34))
    nights = drawn.randrange(2, 5)
    rooms = sorted((r for r in rows["rooms"] if r["town"] == town), key=lambda r: r["price"])
    if rooms[0]["price"] == rooms[1]["price"] or rooms[1]["price"] == rooms[2]["price"]:
        return None
    _account(rows, own)
    return {
        **own,
        "town": town,
        "day": day.isoformat(),
        "when": words(day),
        "nights": nights,
        "wish": nights,
        "most": NIGHTS[person["tier"]],
        "fare": "saver",
        **_room(rooms[0], "saver", nights),
        "next": rooms[1]["room_id"],
    }


def _room(room: Row, fare: str, nights: int) -> dict[str, Any]:
    cost = price_of(room, fare, nights)
    return {"room_id": room["room_id"], "hotel": room["hotel"], "cost": cost}


def cheapest_taken(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let somebody else have the cheapest room then."""
    others = [r for r in rows["people"] if r["person_id"] != slots["person_id"]]
    other = drawn.choice(others)
    room = desk.row_of(rows, "rooms", slots["room_id"])
    rows["bookings"].append(
        {
            "booking_id": f"J{len(rows['bookings']) + 501}",
            "person_id": other["person_id"],
            "account_id": desk.accounts(rows, other)[0]["account_id"],
            "offer_id": room["room_id"],
            "day": slots["day"],
            "nights": slots["nights"],
            "fare": "flex",
            "paid": price_of(room, "flex", slots["nights"]),
            "state": "booked",
        }
    )
    free = desk.row_of(rows, "rooms", slots["next"])
    return _room(free, slots["fare"], slots["nights"])


def stays_soon(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the stay begin so soon that no saver is sold."""
    day = people.TODAY + timedelta(days=drawn.randrange(2, 7))
    for row in rows["bookings"]:
        if row["offer_id"] == slots["room_id"]:
            row["state"] = "cancelled"
    room = desk.row_of(rows, "rooms", slots["room_id"])
    soon = {"day": day.isoformat(), "when": words(day), "fare": "flex"}
    return {**soon, **_room(room, "flex", slots["nights"])}


def many_nights(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let more nights be wanted than may be booked."""
    most = slots["most"]
    room = desk.row_of(rows, "rooms", slots["room_id"])
    nights = {"nights": most, "wish": most + drawn.randrange(1, 4)}
    return {**nights, **_room(room, slots["fare"], most)}


def a_meeting(rows: Rows, slots: Slots, drawn: Random) -> Slots | None:
    """Draw a customer who has to be in a town at a time, shortly after the second train is there.

    The way back is on the day after.
    """
    _, own = desk.customer(rows, drawn)
    home, town = drawn.sample(people.TOWNS, 2)
    day = people.TODAY + timedelta(days=drawn.randrange(10, 20))
    ways, returns = _ways(rows, home, town), _ways(rows, town, home)
    noon, back = (desk.row_of(rows, "trains", one["noon"]) for one in (ways, returns))
    arrives = datetime.combine(day, time.fromisoformat(noon["arrives"]))
    until = arrives + timedelta(minutes=drawn.randrange(5, 35, 5))
    _account(rows, own)
    cost, cost_back = price_of(noon, "saver", 0), price_of(back, "saver", 0)
    return {
        **own,
        **ways,
        "until": f"{until:%H:%M}",
        "day": day.isoformat(),
        "when": words(day),
        "fare": "saver",
        "cost": cost,
        "back_train": returns["noon"],
        "back_leaves": returns["noon_leaves"],
        "back_day": (day + timedelta(days=1)).isoformat(),
        "both": euros(cost + cost_back),
    }


def meets_soon(rows: Rows, slots: Slots, drawn: Random) -> Slots:
    """Let the meeting be so soon that no saver is sold."""
    day = people.TODAY + timedelta(days=drawn.randrange(2, 6))
    noon, back = (desk.row_of(rows, "trains", slots[name]) for name in ("noon", "back_train"))
    cost, cost_back = price_of(noon, "flex", 0), price_of(back, "flex", 0)
    return {
        "day": day.isoformat(),
        "when": words(day),
        "fare": "flex",
        "cost": cost,
        "back_day": (day + timedelta(days=1)).isoformat(),
        "both": euros(cost + cost_back),
    }


# -- Templates.

FEE = {"fee": "{fee} EUR"}
EXCEPTION = "A trip that begins today can be neither changed nor cancelled"
ANOTHER_DAY = Template(
    name="travel_on_another_day",
    draw=a_trip,
    request=[
        "I want to go to {town} on {when} instead, with the same train. Please change my booking.",
        "My trip to {town} begins on {when} now. Put me on the same train on that day.",
    ],
    asks="What is the fee for it?",
    goal="Have the train to {town} changed to {when}, and know the fee.",
    gold={
        "look": [*PERSON, *BOOKED],
        "act": changed("{booking_id}", "{train_id}", "{day}", "{fee}"),
        "tell": [say("You go on {when} now, for a fee of {fee} EUR.")],
        "more": [],
    },
    tells=FEE,
    twists=[
        handed_over(
            "a forbidden request",
            leaves_today,
            "Have the train to {town} changed to {when}, and know the fee.",
            EXCEPTION,
        ),
        Twist(
            kind="a further wish",
            then=["And I'm coming back on {back_when} then, at the same hour as I have it now."],
            gold={
                "more": [
                    *changed("{back_id}", "{back_train}", "{back_day}", "{fee}"),
                    say("You come back on {back_when} now, for a fee of {fee} EUR, too."),
                ]
            },
        ),
    ],
)
LATER = Template(
    name="a_later_train",
    draw=too_early,
    request=[
        "My train to {town} leaves too early. Put me on the last one of that day, please.",
        "I can't make my morning train to {town}. I'd like to take the last one on that day.",
    ],
    asks="When does it leave?",
    goal="Have the last train to {town} on the day of the trip, and know when it leaves.",
    gold={
        "look": [*PERSON, *BOOKED, *TRAINS],
        "act": changed("{booking_id}", "{late}", "{same_day}", "{fee}"),
        "tell": [say("Your train leaves at {late_leaves}.")],
        "more": [],
    },
    tells={"leaves": "{late_leaves}"},
    twists=[
        Twist(
            kind="a change of mind",
            then=["Sorry, that is too late after all. I'd rather have the one before it."],
            gold={
                "more": [
                    *changed("{booking_id}", "{noon}", "{same_day}", "{fee}"),
                    say("Your train leaves at {noon_leaves} now."),
                ]
            },
            tells={"leaves": "{noon_leaves}"},
        ),
    ],
)
ROOM_OFF = Template(
    name="a_room_is_not_needed",
    draw=a_trip,
    request=[
        "I can stay with friends in {town}, so cancel my room there, please.",
        "I don't need the room in {town}. Please cancel it; the trains stay as they are.",
    ],
    asks="How much do I get back for the room?",
    goal="Have the room in {town} cancelled, and know how much comes back for it.",
    gold={
        "look": [*PERSON, *BOOKED],
        "act": cancelled("{room_booking}", "room", "{room_fee}"),
        "tell": [say("The room is cancelled, and {room_repaid} EUR are back on your account.")],
        "more": [],
    },
    tells={"back": "{room_repaid} EUR"},
    twists=[
        Twist(kind="a limit of the policy", draw=leaves_soon),
        handed_over(
            "a forbidden request",
            leaves_today,
            "Have the room in {town} cancelled, and know how much comes back for it.",
            EXCEPTION,
            "more",
        ),
        Twist(
            kind="a further wish",
            then=["And cancel the way back. What do I get back for both in all?"],
            gold={
                "more": [
                    *cancelled("{back_id}", "train", "{way_back_fee}"),
                    say("That is cancelled, too; {all} EUR are paid back for both."),
                ]
            },
            tells={"back": "{all} EUR"},
        ),
    ],
)
STAY = Template(
    name="a_room_for_some_nights",
    draw=a_stay,
    request=[
        "I need a room in {town} from {when}, for {wish} nights. Take the cheapest, as a saver if "
        "that can be, or else as flex. The account that paid my other trips pays.",
        "Book me the cheapest room in {town} for {wish} nights from {when}, from the account of my "
        "other trips. Make it a saver, and flex only if there is no saver.",
    ],
    asks="What does it cost?",
    goal="Have the cheapest room in {town} for {wish} nights from {when}, as a saver if that can "
    "be, and know what it costs.",
    gold={
        "look": [
            *PERSON,
            *BOOKED,
            do("search_rooms", town="{town}", day="{day}", nights="{nights}"),
        ],
        "limit": [],
        "act": [
            say(
                "Shall I book room {room_id}, at the {hotel}, for {nights} nights from {day}, as "
                "{fare}, for customer {person_id}, paid from account {account}?"
            ),
            do(
                "book_room",
                person_id="{person_id}",
                room_id="{room_id}",
                day="{day}",
                nights="{nights}",
                fare="{fare}",
                account_id="{account}",
            ),
        ],
        "tell": [say("You have a room at the {hotel}, for {cost} EUR.")],
        "more": [],
    },
    tells={
        "cost": "{cost} EUR",
        "hotel": {"value": "{hotel}", "type": "name", "optional": True},
    },
    twists=[
        Twist(kind="a limit of the policy", draw=stays_soon, gold={"limit": []}),
        Twist(kind="stale data", draw=cheapest_taken, gold={"limit": []}),
        Twist(
            kind="a forbidden request",
            draw=many_nights,
            goal="Have the cheapest room in {town} for {wish} nights from {when}, or for as many "
            "as can be, as a saver if that can be, and know what it costs.",
            asks="If that is too long, book as many nights as I may have.",
            gold={"limit": []},
        ),
    ],
)
MEETING = Template(
    name="in_time_for_a_meeting",
    draw=a_meeting,
    request=[
        "On {when} I have to be in {town} by {until}. Book me the latest train from {home} that "
        "gets me there in time, as a saver if I can have one, else as flex.",
        "Book me a train from {home} to {town} on {when}, the last one that is there by {until}. A "
        "saver if there is one, otherwise flex.",
    ],
    asks="The account of my other trips pays. When does it leave, and what does it cost?",
    goal="Have the latest train from {home} that is in {town} by {until} on {when}, and know when "
    "it leaves and what it costs.",
    gold={
        "look": [*BOOKED, *TRAINS],
        "act": booked("{noon}", "{day}"),
        "tell": [say("Your train leaves at {noon_leaves} and costs {cost} EUR.")],
        "more": [],
    },
    tells={"leaves": "{noon_leaves}", "cost": "{cost} EUR"},
    twists=[
        Twist(kind="a limit of the policy", draw=meets_soon),
        Twist(
            kind="a further wish",
            then=[
                "And a train back on the day after, the one at {back_leaves}, at the same fare. "
                "What do both cost in all?"
            ],
            gold={
                "more": [
                    do("search_trains", origin="{town}", destination="{home}"),
                    *booked("{back_train}", "{back_day}"),
                    say("You have both trains, for {both} EUR in all."),
                ]
            },
            tells={"cost": "{both} EUR"},
        ),
    ],
)

GOALS = Goals(
    templates=[ANOTHER_DAY, LATER, ROOM_OFF, STAY, MEETING],
    rows=lambda seed: trips(seed, desk.PEOPLE),
    records=[desk.namesake],
    ignore=(*desk.IGNORE, "bookings.booking_id"),
    facts=desk.KNOWN,
    gold={"who": desk.WHO},
    twists=[desk.NEW_NUMBER],
    clock=desk.CLOCK,
    boundary=desk.BOUNDARY,
)
"""What scenarios of travel are made of."""
