"""Travel: what its tools change and refuse, and which calls break each rule of its policy."""

from datetime import date, timedelta

import pytest
from desks import desk

from seal.benchmarks.apps import travel


def paid_from(at, account: str) -> float:
    """Return the balance of an account."""
    return next(r["balance"] for r in at.rows("accounts") if r["account_id"] == account)


@pytest.mark.parametrize("seed", range(6))
def test_trips_of_any_seed_fit_together(seed: int) -> None:
    made = travel.trips(seed)

    assert made == travel.trips(seed)
    for table, columns in travel.COLUMNS.items():
        assert all(list(row) == list(columns) for row in made[table]), table
    owner = {row["account_id"]: row["person_id"] for row in made["accounts"]}
    nights = set()
    for row in made["bookings"]:
        assert owner[row["account_id"]] == row["person_id"]
        for night in range(row["nights"]):
            one = (row["offer_id"], date.fromisoformat(row["day"]) + timedelta(days=night))
            assert one not in nights
            nights.add(one)


def test_trains_are_listed_by_way() -> None:
    found = desk("travel").use("search_trains", origin="kelmore", destination="Wexcombe")

    assert [(row["train_id"], row["departs"], row["price"]) for row in found] == [
        ("Z216", "07:20", 52),
        ("Z217", "11:30", 46),
        ("Z218", "16:35", 46),
    ]


@pytest.mark.parametrize(
    ("day", "nights", "free"),
    [
        ("2026-03-24", 1, ["H15", "H16"]),
        ("2026-03-27", 1, ["H14", "H15", "H16"]),
        ("2026-03-23", 1, ["H14", "H15", "H16"]),
        ("2026-03-23", 2, ["H15", "H16"]),
        ("2026-03-26", 5, ["H15", "H16"]),
    ],
)
def test_rooms_are_free_outside_of_what_is_booked(day: str, nights: int, free: list[str]) -> None:
    at = desk("travel")

    found = at.use("search_rooms", town="Kelmore", day=day, nights=nights)
    assert [row["room_id"] for row in found] == free
    if "H14" not in free:
        given = {"person_id": "P12", "room_id": "H14", "fare": "flex", "account_id": "2393-13"}
        assert "is not free" in at.refused("book_room", **given, day=day, nights=nights)


def test_bookings_are_listed_with_what_was_booked() -> None:
    at = desk("travel")

    (out, room, back) = at.use("list_bookings", person_id="P12")
    assert (out["offer"]["departs"], room["offer"]["hotel"]) == ("07:40", "Anchor")
    at.use("cancel_booking", booking_id=back["booking_id"], fee=0)
    assert len(at.use("list_bookings", person_id="P12")) == 2


def test_a_booking_is_paid_at_once_as_flex_or_saver() -> None:
    at = desk("travel")
    own = {"person_id": "P12", "account_id": "2393-13", "day": "2026-03-28"}

    train = at.use("book_train", **own, train_id="Z216", fare="saver")
    assert (train["booking_id"], train["paid"], train["nights"]) == ("J537", 31.2, 0)
    room = at.use("book_room", **own, room_id="H20", nights=2, fare="flex")
    assert (room["booking_id"], room["paid"]) == ("J538", 130)
    assert paid_from(at, "2393-13") == 3706.12
    poor = {**own, "account_id": "8205-10", "room_id": "H21", "fare": "flex"}
    assert "has 155.48 EUR only" in at.refused("book_room", **poor, nights=2)
    assert "no row of trains" in at.refused("book_train", **own, train_id="H20", fare="flex")


def test_a_change_costs_fee_and_difference() -> None:
    at = desk("travel")

    changed = at.use("change_booking", booking_id="J504", train_id="Z232", day="2026-03-25", fee=15)
    assert [changed[name] for name in ("offer_id", "day", "paid")] == ["Z232", "2026-03-25", 33.6]
    assert paid_from(at, "2393-13") == 3855.92
    new = {"train_id": "Z232", "day": "2026-03-25"}
    assert "of a train" in at.refused("change_booking", booking_id="J505", **new, fee=0)
    assert "of 0 or more" in at.refused("change_booking", booking_id="J504", **new, fee=-1)


def test_a_cancellation_pays_back_what_is_left_of_the_fee() -> None:
    at = desk("travel")

    assert at.use("cancel_booking", booking_id="J505", fee=76.5)["paid_back"] == 76.5
    assert paid_from(at, "2393-13") == 3943.82
    assert at.use("cancel_booking", booking_id="J504", fee=37.2)["paid_back"] == 0
    assert "is cancelled" in at.refused("cancel_booking", booking_id="J504", fee=0)
    assert "37.20 EUR" in desk("travel").refused("cancel_booking", booking_id="J504", fee=37.21)


# -- The policy: of each rule a call that breaks it, and one that keeps it.


def booking(at, offer: str, day: str, fare: str, account: str, nights: int = 0) -> list[str]:
    person = next(row["person_id"] for row in at.rows("checks"))
    stays = f" for {nights} nights" if nights else ""
    at.agree(
        f"Shall I book {offer} on {day}{stays}, {fare}, for customer {person}, paid from {account}?"
    )
    given = {"person_id": person, "day": day, "fare": fare, "account_id": account}
    if nights:
        return at.broken("book_room", **given, room_id=offer, nights=nights)
    return at.broken("book_train", **given, train_id=offer)


def test_trips_are_paid_from_an_account_of_the_customer() -> None:
    at = desk("travel").check("P12")
    assert booking(at, "Z216", "2026-03-28", "flex", "5333-14") == []
    assert booking(at, "Z216", "2026-03-28", "flex", "3877-15") == ["own_account"]


def test_savers_are_sold_seven_days_ahead() -> None:
    at = desk("travel").check("P12")
    for day, broken in (("2026-03-23", []), ("2026-03-22", ["savers_early"])):
        assert booking(at, "Z216", day, "saver", "2393-13") == broken
        assert booking(at, "H20", day, "saver", "2393-13", 1) == broken
        assert booking(at, "Z216", day, "flex", "2393-13") == []


@pytest.mark.parametrize(
    ("person", "account", "most"), [("P12", "2393-13", 5), ("P20", "7320-29", 10)]
)
def test_nights_end_where_the_tier_says(person: str, account: str, most: int) -> None:
    at = desk("travel").check(person)
    assert booking(at, "H16", "2026-04-01", "flex", account, most) == []
    assert booking(at, "H16", "2026-04-01", "flex", account, most + 1) == ["few_nights"]


def changing(at, booking_id: str, train: str, day: str, fee: float) -> list[str]:
    at.agree(f"Shall I change booking {booking_id} to train {train} on {day}, for {fee} EUR?")
    return at.broken("change_booking", booking_id=booking_id, train_id=train, day=day, fee=fee)


def cancelling(at, booking_id: str, fee: float) -> list[str]:
    at.agree(f"Shall I cancel booking {booking_id} for a fee of {fee} EUR?")
    return at.broken("cancel_booking", booking_id=booking_id, fee=fee)


def test_what_is_of_today_stays() -> None:
    at = desk("travel").check("P14")
    assert cancelling(at, "J510", 18.6) == ["from_tomorrow_on"]
    assert cancelling(at, "J512", 27.6) == []
    assert changing(at, "J510", "Z232", "2026-03-17", 0) == ["from_tomorrow_on"]
    assert changing(at, "J512", "Z217", "2026-03-16", 15) == ["from_tomorrow_on"]
    assert booking(at, "Z217", "2026-03-16", "flex", "5137-17") == ["from_tomorrow_on"]


def test_trains_change_to_the_same_way() -> None:
    at = desk("travel").check("P12")
    assert changing(at, "J504", "Z233", "2026-03-24", 15) == []
    assert changing(at, "J504", "Z216", "2026-03-24", 15) == ["same_way"]
    assert changing(at, "J504", "Z228", "2026-03-24", 15) == ["same_way"]


@pytest.mark.parametrize(
    ("person", "booking_id", "fee"),
    [
        ("P12", "J505", 76.5),  # a saver, eight days ahead
        ("P11", "J502", 144),  # a saver, two days ahead
        ("P11", "J503", 0),  # flex, five days ahead
        ("P17", "J520", 27),  # flex, tomorrow
        ("P20", "J529", 24.75),  # a saver of a gold customer, three days ahead
        ("P16", "J516", 16.8),  # a saver of a gold customer, two days ahead
        ("P16", "J517", 30),  # flex of a gold customer, two days ahead
        ("P20", "J528", 0),
    ],
)
def test_a_cancellation_costs_what_fare_time_and_tier_say(
    person: str, booking_id: str, fee: float
) -> None:
    at = desk("travel").check(person)
    paid = next(r["paid"] for r in at.rows("bookings") if r["booking_id"] == booking_id)
    assert cancelling(at, booking_id, fee) == []
    other = fee - 0.01 if fee == paid else fee + 0.01
    assert cancelling(at, booking_id, round(other, 2)) == ["cancel_fee"]


@pytest.mark.parametrize(
    ("person", "booking_id", "train", "fee"),
    [("P12", "J504", "Z232", 15), ("P11", "J503", "Z220", 0), ("P15", "J513", "Z221", 7.5)],
)
def test_a_change_costs_what_fare_and_tier_say(
    person: str, booking_id: str, train: str, fee: float
) -> None:
    at = desk("travel").check(person)
    assert changing(at, booking_id, train, "2026-03-25", fee) == []
    assert changing(at, booking_id, train, "2026-03-25", fee + 1) == ["change_fee"]


OWN = {"person_id": "P12", "day": "2026-03-28", "fare": "flex", "account_id": "2393-13"}


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("book_train", {**OWN, "train_id": "Z216"}),
        ("book_room", {**OWN, "room_id": "H20", "nights": 1}),
        (
            "change_booking",
            {"booking_id": "J504", "train_id": "Z232", "day": "2026-03-24", "fee": 15},
        ),
        ("cancel_booking", {"booking_id": "J504", "fee": 18.6}),
    ],
)
def test_trips_are_booked_changed_and_cancelled_only_with_a_yes(name: str, arguments: dict) -> None:
    assert desk("travel").check("P12").broken(name, **arguments) == ["ask_before_booking"]


def test_bookings_are_of_who_travels_and_offers_of_nobody() -> None:
    at = desk("travel+calendar")

    assert at.broken("search_trains", origin="Kelmore", destination="Ashford") == []
    assert at.broken("search_rooms", town="Kelmore", day="2026-03-24", nights=1) == []
    assert at.broken("list_bookings", person_id="P12") == ["identity"]
    assert "identity" in at.broken("cancel_booking", booking_id="J504", fee=18.6)
