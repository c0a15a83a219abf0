"""Goal templates of the phone: each, with each twist, gives a scenario that is proved."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from goal_scenarios import of_each_twist

from seal.benchmarks.toolsandbox.phone import VOLATILE
from seal.benchmarks.toolsandbox.phone import goal_draws as draws
from seal.benchmarks.toolsandbox.phone.device import check_beginning
from seal.benchmarks.toolsandbox.phone.goals import CELLS, GOALS
from seal.environments.templates import Goals, Twist


@pytest.mark.slow
def test_each_template_and_each_twist_gives_a_scenario(monkeypatch: Any) -> None:
    first, *others = GOALS.templates
    with_all = replace(first, twists=(*first.twists, *GOALS.twists))
    goals: Goals = replace(GOALS, templates=[with_all, *others])

    found = dict(of_each_twist("phone", goals, monkeypatch))

    assert len(found) == sum(1 + len(one.twists) for one in goals.templates)
    for name, task in found.items():
        assert 5 <= int(task.tags["calls"]) <= 15, name
        end = task.goals[0].plans[0].milestones[0].condition
        assert (end.cells, tuple(end.ignore)) == (CELLS, VOLATILE), name


@pytest.mark.parametrize("seed", range(9))
def test_a_phone_begins_soundly_with_distinct_people(seed: int) -> None:
    tables = draws.tables(seed)
    contacts, now = tables["contacts"], draws.NOW.timestamp()

    check_beginning(tables)
    assert tables == draws.tables(seed) != draws.tables(seed + 1)
    assert sum(row["is_self"] for row in contacts) == 1
    for column in ("phone_number", "relationship"):
        assert len({row[column] for row in contacts}) == len(contacts) == 9
    assert len({row["name"].split()[0] for row in contacts}) == 9
    assert sum(row["reminder_timestamp"] < now for row in tables["reminders"]) == 2
    assert all(row["creation_timestamp"] < now for row in tables["messages"])


@pytest.mark.parametrize(
    ("twist", "wanted"),
    [
        (draws.off("wifi"), {"wifi": False, "cellular": True}),
        (draws.off("location_service"), {"location_service": False, "wifi": True}),
        (draws.low_battery("wifi"), {"low_battery_mode": True, "wifi": False, "cellular": False}),
    ],
)
def test_a_service_is_off_as_its_twist_says(twist: Twist, wanted: dict[str, bool]) -> None:
    rows = {name: [dict(row) for row in own] for name, own in draws.tables(1).items()}
    assert twist.draw is not None

    twist.draw(rows, {}, Random(0))

    check_beginning(rows)
    assert wanted.items() <= rows["settings"][0].items()


@pytest.mark.parametrize("seed", range(9))
def test_people_who_are_needed_are_left_alone(seed: int) -> None:
    rows = {name: [dict(row) for row in own] for name, own in draws.tables(seed).items()}
    slots = draws.people(rows, Random(seed), 2)

    twin = draws.a_namesake(rows, slots, Random(seed))
    gone = draws.to_delete(rows, {**slots, **twin}, Random(seed))

    assert twin["first"] == slots["first"] and twin["name"] != slots["name"] == twin["other"]
    assert gone["gone_id"] not in {slots["person_id2"], twin["person_id"]}
    assert twin["person_id"] not in {slots["person_id"], slots["person_id2"]}
