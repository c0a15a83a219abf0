"""The calendar: what its tools change and refuse, and which calls break each rule of its policy."""

from itertools import pairwise

import pytest
from desks import desk

from seal.benchmarks.apps import calendar


def event(at, event_id):
    """Return an event as it is."""
    return next(row for row in at.rows("events") if row["event_id"] == event_id)


@pytest.mark.parametrize("seed", range(6))
def test_diaries_of_any_seed_fit_together(seed: int) -> None:
    made = calendar.diaries(seed)

    assert made == calendar.diaries(seed)
    for table, columns in calendar.COLUMNS.items():
        assert all(list(row) == list(columns) for row in made[table]), table
    known = {row["event_id"] for row in made["events"]}
    assert {row["event_id"] for row in made["guests"]} <= known
    spans = sorted((r["person_id"], r["day"], r["start"], r["end"]) for r in made["events"])
    for one, other in pairwise(spans):
        assert one[2] < one[3]
        assert one[:2] != other[:2] or one[3] <= other[2]
    mails = {row["person_id"]: row["email"] for row in made["people"]}
    foreign = [row["organiser"] != mails[row["person_id"]] for row in made["events"]]
    assert sum(foreign) == len(made["people"])


def test_events_are_listed_by_day_and_hour_without_those_that_are_off() -> None:
    at = desk("calendar").check("P12")
    given = {"person_id": "P12", "first_day": "2026-03-20", "last_day": "2026-03-27"}

    assert [row["event_id"] for row in at.use("list_events", **given)] == [
        "E107",
        "E108",
        "E109",
        "E110",
    ]
    at.use("cancel_event", event_id="E109")
    at.use("decline_event", event_id="E107")
    assert [row["event_id"] for row in at.use("list_events", **given)] == ["E108", "E110"]
    assert "Invalid isoformat" in at.refused("list_events", **{**given, "last_day": "Friday"})


def test_an_event_is_told_with_its_guests() -> None:
    told = desk("calendar").use("get_event", event_id="E107")

    assert [guest["guest_id"] for guest in told["guests"]] == ["U207", "U208"]


def test_free_time_is_what_events_leave_of_a_day() -> None:
    at = desk("calendar")

    def free(day: str, minutes: int) -> list[tuple[str, str]]:
        found = at.use("find_free_time", person_id="P12", day=day, minutes=minutes)
        return [(row["start"], row["end"]) for row in found]

    assert free("2026-03-27", 30) == [("08:00", "13:00"), ("15:30", "16:00")]
    assert free("2026-03-27", 31) == [("08:00", "13:00")]
    assert free("2026-03-17", 600) == [("08:00", "18:00")]
    assert free("2026-03-17", 601) == []


def test_an_event_is_added_for_who_organises_it() -> None:
    at = desk("calendar")
    given = {"person_id": "P12", "title": "walk", "day": "2026-03-18", "start": "9"}
    assert "Invalid isoformat" in at.refused("add_event", **given, end="10:00")
    given["start"] = "09:00"
    new = at.use("add_event", **given, end="10:00")

    assert (new["event_id"], new["organiser"]) == ("E161", "petra.brandt@mail.example")
    assert "would end at 09:00" in at.refused("add_event", **given, end="09:00")


def test_guests_of_a_moved_event_answer_again() -> None:
    at = desk("calendar")
    at.use("move_event", event_id="E106", day="2026-03-20", start="14:00", end="15:30")

    assert event(at, "E106")["day"] == "2026-03-20"
    assert next(r for r in at.rows("guests") if r["guest_id"] == "U206")["answer"] == "open"
    at.use("cancel_event", event_id="E106")
    for name in ("cancel_event", "decline_event"):
        assert "is cancelled" in at.refused(name, event_id="E106")


def test_a_guest_is_invited_once() -> None:
    at = desk("calendar")
    given = {"event_id": "E119", "email": "leon.winter@mail.example"}

    assert at.use("invite_guest", **given)["answer"] == "open"
    assert "is a guest of E119 already" in at.refused("invite_guest", **given)


# -- The policy: of each rule a call that breaks it, and one that keeps it.


def adding(person: str, day: str, start: str, end: str) -> list[str]:
    given = {"person_id": person, "title": "walk", "day": day, "start": start, "end": end}
    return desk("calendar").check(person).broken("add_event", **given)


@pytest.mark.parametrize(
    ("start", "end", "broken"),
    [("09:00", "10:00", []), ("11:00", "12:00", []), ("10:30", "12:00", ["nothing_else_then"])],
)
def test_two_events_are_never_at_one_time(start: str, end: str, broken: list[str]) -> None:
    assert adding("P12", "2026-03-20", start, end) == broken


def test_an_event_may_move_over_its_own_time() -> None:
    at = desk("calendar").check("P12")
    at.agree("Shall I move event E106 to 19 March 2026, from 09:30 to 11:00?")
    given = {"event_id": "E106", "day": "2026-03-19", "start": "09:30", "end": "11:00"}
    assert at.broken("move_event", **given) == []


@pytest.mark.parametrize(
    ("person", "day", "end", "broken"),
    [
        ("P12", "2026-03-18", "18:00", []),
        ("P12", "2026-03-18", "18:01", ["hours"]),
        ("P21", "2026-03-19", "20:00", []),
        ("P21", "2026-03-19", "20:01", ["hours"]),
        ("P21", "2026-03-21", "18:00", ["hours"]),
    ],
)
def test_hours_end_where_the_tier_says(person: str, day: str, end: str, broken: list[str]) -> None:
    assert adding(person, day, "17:00", end) == broken


def test_today_stays_as_it_is() -> None:
    assert adding("P12", "2026-03-16", "09:00", "10:00") == ["from_tomorrow_on"]
    at = desk("calendar").check("P14").agree("Shall I cancel event E116, the book club?")
    assert at.broken("cancel_event", event_id="E116") == ["from_tomorrow_on"]
    at = desk("calendar").check("P14")
    at.agree("Shall I move event E116 to 18 March 2026, from 09:00 to 10:00?")
    given = {"event_id": "E116", "day": "2026-03-18", "start": "09:00", "end": "10:00"}
    assert at.broken("move_event", **given) == ["from_tomorrow_on"]


@pytest.mark.parametrize(
    ("name", "event_id", "broken"),
    [
        ("cancel_event", "E106", []),
        ("cancel_event", "E107", ["organisers_alone"]),
        ("decline_event", "E107", []),
        ("decline_event", "E106", ["organisers_alone"]),
    ],
)
def test_who_organises_cancels_and_others_decline(
    name: str, event_id: str, broken: list[str]
) -> None:
    asked = f"Shall I {name.partition('_')[0]} event {event_id}?"
    at = desk("calendar").check("P12").agree(asked)
    assert at.broken(name, event_id=event_id) == broken


def test_guests_are_few_and_more_for_gold() -> None:
    for person, own, most in (("P14", "E117", 3), ("P21", "E151", 6)):
        at = desk("calendar").check(person)
        for number in range(most):
            given = {"event_id": own, "email": f"guest{number}@mail.example"}
            assert at.broken("invite_guest", **given) == [], (person, number)
            at.use("invite_guest", **given)
        more = {"event_id": own, "email": "one.more@mail.example"}
        assert at.broken("invite_guest", **more) == ["few_guests"], person


def test_events_move_and_end_only_with_a_yes() -> None:
    at = desk("calendar").check("P12")
    to = {"event_id": "E106", "day": "2026-03-20", "start": "14:00", "end": "15:30"}

    assert at.broken("move_event", **to) == ["ask_before_moving"]
    assert at.broken("cancel_event", event_id="E106") == ["ask_before_moving"]
    assert at.broken("decline_event", event_id="E107") == ["ask_before_moving"]


def test_what_is_in_a_diary_is_read_after_the_check() -> None:
    at = desk("calendar")

    assert at.broken("get_event", event_id="E106") == ["identity"]
    assert at.check("P12").broken("get_event", event_id="E111") == ["identity"]
