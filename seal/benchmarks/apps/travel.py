"""Travel: trains, rooms and bookings of each customer, as the desk of an agency has them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import date, timedelta
from itertools import permutations
from typing import Any, Literal

from seal.benchmarks.apps import people
from seal.benchmarks.apps.people import change, days_since, number, pay_in, the, unasked
from seal.environments.chat_world import World
from seal.environments.tables import NoDataError, Row
from seal.environments.world import Worlds, toolbox

HOTELS = ("Anchor", "Crown", "Linden")
PART = {"saver": 0.6, "flex": 1.0}
"""Fare to the part of the full price that it costs."""

COLUMNS: dict[str, dict[str, Any]] = {
    **people.COLUMNS,
    "trains": {
        "train_id": str,
        "origin": str,
        "destination": str,
        "departs": str,
        "arrives": str,
        "price": float,
    },
    "rooms": {"room_id": str, "hotel": str, "town": str, "beds": int, "price": float},
    "bookings": {
        "booking_id": str,
        "person_id": str,
        "account_id": str,
        "offer_id": str,
        "day": str,
        "nights": int,
        "fare": str,
        "paid": float,
        "state": str,
    },
}


def trips(seed: int = people.SEED, count: int = 12) -> dict[str, list[Row]]:
    """Return the tables of an agency; equal seeds give equal rows.

    Three trains run between any two towns each day. Every customer has booked a train, a room where
    one is free, and a train back. One customer in four leaves today, the others within eight days.
    """
    drawn = random.Random(f"travel {seed}")
    tables = people.people(seed, count)
    trains: list[Row] = []
    for origin, destination in permutations(people.TOWNS, 2):
        minutes, price = drawn.randrange(45, 180, 5), float(drawn.randrange(16, 60, 2))
        for hour in (7, 11, 16):
            leaves = 60 * hour + drawn.randrange(0, 60, 5)
            trains.append(
                {
                    "train_id": f"Z{len(trains) + 201}",
                    "origin": origin,
                    "destination": destination,
                    "departs": _clock(leaves),
                    "arrives": _clock(leaves + minutes),
                    "price": price + (6 if hour == 7 else 0),
                }
            )
    rooms: list[Row] = []
    for town in people.TOWNS:
        for place, hotel in enumerate(HOTELS):
            room: Row = {"room_id": f"H{len(rooms) + 11}", "hotel": hotel, "town": town}
            room |= {"beds": 1 + place % 2, "price": float(drawn.randrange(50, 110, 5))}
            rooms.append(room)
    bookings: list[Row] = []
    for place, person in enumerate(tables["people"]):
        account = next(a for a in tables["accounts"] if a["person_id"] == person["person_id"])
        home, away = drawn.sample(people.TOWNS, 2)
        ahead, nights = 0 if place % 4 == 3 else drawn.randrange(1, 9), drawn.randrange(1, 4)
        out = drawn.choice([t for t in trains if (t["origin"], t["destination"]) == (home, away)])
        back = drawn.choice([t for t in trains if (t["origin"], t["destination"]) == (away, home)])
        day = people.TODAY + timedelta(days=ahead)
        free = [r for r in rooms if r["town"] == away and _is_free(bookings, r, day, nights)]
        rest = [(row, 0, nights) for row in drawn.sample(free, min(len(free), 1))]
        for offer, later, stays in ((out, 0, 0), *rest, (back, nights, 0)):
            fare = drawn.choice(sorted(PART))
            bookings.append(
                {
                    "booking_id": f"J{len(bookings) + 501}",
                    "person_id": person["person_id"],
                    "account_id": account["account_id"],
                    "offer_id": next(iter(offer.values())),
                    "day": (day + timedelta(days=later)).isoformat(),
                    "nights": stays,
                    "fare": fare,
                    "paid": price_of(offer, fare, stays),
                    "state": "booked",
                }
            )
    return {**tables, "trains": trains, "rooms": rooms, "bookings": bookings}


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"


def _is_free(bookings: Sequence[Row], room: Row, first: date, nights: int) -> bool:
    """Tell whether nobody has booked a room for any of some nights."""
    last = first + timedelta(days=nights)
    for row in bookings:
        begins = date.fromisoformat(row["day"])
        ends = begins + timedelta(days=row["nights"])
        own = (row["offer_id"], row["state"]) == (room["room_id"], "booked")
        if own and begins < last and first < ends:
            return False
    return True


def price_of(offer: Row, fare: str, nights: int) -> float:
    """Return what a train, or so many nights in a room, cost at a fare, in euros."""
    return float(round(offer["price"] * max(nights, 1) * PART[fare], 2))


# -- Tools.

Fare = Literal["saver", "flex"]


def search_trains(world: World, origin: str, destination: str) -> list[Row]:
    """List the trains from one town to another, which run every day, with full prices in euros.

    Args:
        origin: Town in which they depart.
        destination: Town in which they arrive.
    """
    way = (origin.casefold(), destination.casefold())
    rows = world.rows("trains")
    return [r for r in rows if (r["origin"].casefold(), r["destination"].casefold()) == way]


def search_rooms(world: World, town: str, day: str, nights: int) -> list[Row]:
    """List the rooms in a town that are free, with full prices of a night in euros.

    Args:
        town: Where they are.
        day: Of the first night, as YYYY-MM-DD.
        nights: How many.
    """
    first, bookings = date.fromisoformat(day), world.table("bookings")
    rows = [row for row in world.rows("rooms") if row["town"].casefold() == town.casefold()]
    return [row for row in rows if _is_free(bookings, row, first, nights)]


def list_bookings(world: World, person_id: str) -> list[Row]:
    """List the trains and rooms that are booked for a customer.

    Args:
        person_id: Id of the customer.
    """
    the(world, "people", person_id)
    offers = {next(iter(r.values())): r for r in world.rows("trains") + world.rows("rooms")}
    own = [row for row in world.rows("bookings") if row["person_id"] == person_id]
    return [{**row, "offer": offers[row["offer_id"]]} for row in own if row["state"] == "booked"]


def book_train(
    world: World, person_id: str, train_id: str, day: str, fare: Fare, account_id: str
) -> Row:
    """Book a train for a customer. The account pays at once: all of the price, or 60 % as a saver.

    Args:
        person_id: Id of the customer.
        train_id: Id of the train.
        day: As YYYY-MM-DD.
        fare: Flex, or a saver, which is cheaper and costs more when plans change.
        account_id: Id of the account that pays.

    Returns:
        The booking.
    """
    return _book(world, person_id, the(world, "trains", train_id), day, 0, fare, account_id)


def book_room(
    world: World,
    person_id: str,
    room_id: str,
    day: str,
    nights: int,
    fare: Fare,
    account_id: str,
) -> Row:
    """Reserve nights at a hotel, which are paid at once; as a saver they cost 60 % of the price.

    Args:
        person_id: Id of the customer.
        room_id: Id of the room.
        day: Of the first night, as YYYY-MM-DD.
        nights: How many, from 1 on.
        fare: Flex, or a saver, which is cheaper and costs more when plans change.
        account_id: Id of the account that pays.

    Returns:
        The booking.
    """
    room = the(world, "rooms", room_id)
    first = date.fromisoformat(day)
    if nights < 1 or not _is_free(world.table("bookings"), room, first, nights):
        raise ValueError(f"the room {room_id} is not free for {nights} nights from {day}")
    return _book(world, person_id, room, day, nights, fare, account_id)


def change_booking(world: World, booking_id: str, train_id: str, day: str, fee: float) -> Row:
    """Change a booked train to another train or day. The account pays fee and difference in price.

    Args:
        booking_id: Id of the booking.
        train_id: Id of the new train; the same one, if only the day changes.
        day: The new day, as YYYY-MM-DD.
        fee: In euros, 0 or more.

    Returns:
        The booking as it is now.
    """
    booking, train = _booked(world, booking_id), the(world, "trains", train_id)
    if booking["nights"] or fee < 0:
        raise ValueError("give the booking of a train, and a fee of 0 or more")
    paid = price_of(train, booking["fare"], 0)
    pay_in(world, booking["account_id"], round(booking["paid"] - paid - fee, 2))
    day = date.fromisoformat(day).isoformat()
    return change(world, "bookings", booking, offer_id=train_id, day=day, paid=paid)


def cancel_booking(world: World, booking_id: str, fee: float) -> Row:
    """Cancel the booking of a train or a room. The account gets back what was paid, less a fee.

    Args:
        booking_id: Id of the booking.
        fee: In euros, from 0 to what was paid.

    Returns:
        The booking as it is now, with what is paid back.
    """
    booking = _booked(world, booking_id)
    if not 0 <= fee <= booking["paid"]:
        raise ValueError(f"{booking['paid']:.2f} EUR were paid, and the fee is {fee}")
    back = round(booking["paid"] - fee, 2)
    if back:
        pay_in(world, booking["account_id"], back)
    return {**change(world, "bookings", booking, state="cancelled"), "paid_back": back}


def _book(
    world: World, person_id: str, offer: Row, day: str, nights: int, fare: str, account_id: str
) -> Row:
    the(world, "people", person_id)
    paid = price_of(offer, fare, nights)
    pay_in(world, account_id, -paid)
    row: Row = {
        "booking_id": number(world, "bookings", "J", 501),
        "person_id": person_id,
        "account_id": account_id,
        "offer_id": next(iter(offer.values())),
        "day": date.fromisoformat(day).isoformat(),
        "nights": nights,
        "fare": fare,
        "paid": paid,
        "state": "booked",
    }
    world.add("bookings", row)
    return row


def _booked(world: World, booking_id: str) -> Row:
    booking = the(world, "bookings", booking_id)
    if booking["state"] != "booked":
        raise NoDataError(f"the booking {booking_id} is {booking['state']}")
    return booking


TOOLS = toolbox(
    "travel",
    [
        search_trains,
        search_rooms,
        list_bookings,
        book_train,
        book_room,
        change_booking,
        cancel_booking,
    ],
)


# -- The policy: each rule is told by its docstring, and asked of every call.

EARLY = 7
"""Days before a trip from which on no saver is sold."""
SOON = 3
"""Days before a trip from which on it costs more to cancel."""
FEES = {"flex": (0.0, 0.3), "saver": (0.5, 1.0)}
"""Fare to the part of what was paid that a cancellation costs, in time and later."""
CHANGE = {"flex": 0.0, "saver": 15.0}
LESS = {"standard": 1.0, "gold": 0.5}
NIGHTS = {"standard": 5, "gold": 10}
CALLS = ("book_train", "book_room", "change_booking", "cancel_booking")


def own_account(call: Any, world: Any, chat: Any) -> str | None:
    """Let trips be paid only from an account of the customer."""
    if call.name not in ("book_train", "book_room"):
        return None
    account = world.row("accounts", account_id=call.arguments["account_id"])
    own = account["person_id"] == call.arguments["person_id"]
    return None if own else f"{account['account_id']} is of {account['person_id']}"


def savers_early(call: Any, world: Any, chat: Any) -> str | None:
    """Sell savers seven days before the trip or earlier; after that, flex alone."""
    if call.name not in ("book_train", "book_room") or call.arguments["fare"] != "saver":
        return None
    ahead = -days_since(call.arguments["day"], world.today)
    return f"a saver, {ahead} days ahead" if ahead < EARLY else None


def few_nights(call: Any, world: Any, chat: Any) -> str | None:
    """Book a room for five nights at most; for gold customers ten."""
    if call.name != "book_room":
        return None
    most = NIGHTS[world.row("people", person_id=call.arguments["person_id"])["tier"]]
    nights = call.arguments["nights"]
    return f"{nights} nights, and {most} are allowed" if nights > most else None


def from_tomorrow_on(call: Any, world: Any, chat: Any) -> str | None:
    """Book, change and cancel only what is from tomorrow on; hand over who wants it today."""
    if call.name not in CALLS:
        return None
    days = [call.arguments[name] for name in ("day",) if name in call.arguments]
    if "booking_id" in call.arguments:
        days.append(world.row("bookings", booking_id=call.arguments["booking_id"])["day"])
    passed = [day for day in days if days_since(day, world.today) >= 0]
    return f"{passed[0]} is not after today" if passed else None


def same_way(call: Any, world: Any, chat: Any) -> str | None:
    """Change a train only to one between the same towns, in the same direction."""
    if call.name != "change_booking":
        return None
    booking = world.row("bookings", booking_id=call.arguments["booking_id"])
    old, new = (
        world.row("trains", train_id=train_id)
        for train_id in (booking["offer_id"], call.arguments["train_id"])
    )
    same = all(old[name] == new[name] for name in ("origin", "destination"))
    return None if same else f"the new train goes from {new['origin']} to {new['destination']}"


def cancel_fee(call: Any, world: Any, chat: Any) -> str | None:
    """Take a fee for a cancellation: of a saver 50 % of what was paid, of flex nothing.

    Less than three days before the trip, take all of a saver, and 30 % of flex. Gold customers pay
    half of each fee.
    """
    if call.name != "cancel_booking":
        return None
    booking = world.row("bookings", booking_id=call.arguments["booking_id"])
    late = -days_since(booking["day"], world.today) < SOON
    return _wrong_fee(call, world, booking, booking["paid"] * FEES[booking["fare"]][late])


def change_fee(call: Any, world: Any, chat: Any) -> str | None:
    """Take a fee of 15 EUR for the change of a saver, and none of flex; of gold customers half."""
    if call.name != "change_booking":
        return None
    booking = world.row("bookings", booking_id=call.arguments["booking_id"])
    return _wrong_fee(call, world, booking, CHANGE[booking["fare"]])


def ask_before_booking(call: Any, world: Any, chat: Any) -> str | None:
    """Name train or room, day, nights, fare and account, and get a yes, before you book.

    Before you change or cancel a booking, name it, the new train and day, and the fee. Name each by
    its id, or by a word that only it has.
    """
    return unasked(call, chat, *CALLS)


def _wrong_fee(call: Any, world: Any, booking: Row, full: float) -> str | None:
    """Return that a call takes another fee than the tier of the customer asks for, or None."""
    due = full * LESS[world.row("people", person_id=booking["person_id"])["tier"]]
    fee = call.arguments["fee"]
    return None if abs(fee - due) < 0.006 else f"a fee of {fee} EUR, and {due:.2f} EUR are due"


POLICY = (
    people.DESK,
    people.identity,
    people.one_customer,
    people.EUROS,
    own_account,
    savers_early,
    few_nights,
    from_tomorrow_on,
    same_way,
    cancel_fee,
    change_fee,
    ask_before_booking,
)

travel = Worlds(
    name="travel",
    tools={**people.TOOLS, **TOOLS},
    tables=trips(),
    columns=COLUMNS,
    policy=POLICY,
    goals=("seal.benchmarks.apps.trip_goals:GOALS",),
)
"""The world `travel`: its service desk, with the people and trips that ship."""
