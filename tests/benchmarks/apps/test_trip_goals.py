"""Goal templates of travel: each, with each twist, gives a scenario that is proved."""

from random import Random
from typing import Any

import pytest
from goal_scenarios import of_each_twist

from seal.benchmarks.apps import desk_goals as desk
from seal.benchmarks.apps import people, trip_goals
from seal.benchmarks.apps.travel import trips


@pytest.mark.slow
def test_each_template_and_each_twist_gives_a_scenario(monkeypatch: Any) -> None:
    found = dict(of_each_twist("travel", trip_goals.GOALS, monkeypatch))

    assert len(found) == len(trip_goals.GOALS.templates) + sum(
        len(one.twists) for one in trip_goals.GOALS.templates
    )
    for name, task in found.items():
        assert 5 <= int(task.tags["calls"]) <= 15, name
        facts = task.persona["facts"]
        assert facts["date of birth"]["value"] not in task.goals[0].text, name


def drawn_tables(seed: int) -> dict[str, list[dict[str, Any]]]:
    return {name: [dict(row) for row in own] for name, own in trips(seed, desk.PEOPLE).items()}


@pytest.mark.parametrize("seed", range(20))
def test_a_trip_begins_in_time_until_a_twist_lets_it_begin_today(seed: int) -> None:
    rows = drawn_tables(seed)
    slots = trip_goals.a_trip(rows, {}, Random(seed))
    if slots is None:
        return
    out, room, back = [r for r in rows["bookings"] if r["person_id"] == slots["person_id"]]
    nights = room["nights"]
    assert people.TODAY.isoformat() < out["day"] == room["day"] < back["day"]

    trip_goals.leaves_today(rows, slots, Random(seed))

    assert out["day"] == people.TODAY.isoformat() == room["day"]
    assert back["day"] == f"2026-03-{16 + nights}"


@pytest.mark.parametrize("seed", range(20))
def test_the_wanted_train_is_the_last_one_that_is_there_in_time(seed: int) -> None:
    rows = drawn_tables(seed)
    slots = trip_goals.a_meeting(rows, {}, Random(seed))

    way = (slots["home"], slots["town"])
    trains = [row for row in rows["trains"] if (row["origin"], row["destination"]) == way]
    in_time = [row for row in trains if row["arrives"] <= slots["until"]]
    assert max(in_time, key=lambda row: row["departs"])["train_id"] == slots["noon"]
