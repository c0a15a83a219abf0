"""Goal templates of files: each, with each twist, gives a scenario that is proved."""

from random import Random
from typing import Any

import pytest
from goal_scenarios import of_each_twist

from seal.benchmarks.apps import desk_goals as desk
from seal.benchmarks.apps import drive_goals
from seal.benchmarks.apps.files import ROOM, drives


@pytest.mark.slow
def test_each_template_and_each_twist_gives_a_scenario(monkeypatch: Any) -> None:
    found = dict(of_each_twist("files", drive_goals.GOALS, monkeypatch))

    assert len(found) == len(drive_goals.GOALS.templates) + sum(
        len(one.twists) for one in drive_goals.GOALS.templates
    )
    for name, task in found.items():
        assert 5 <= int(task.tags["calls"]) <= 15, name
        facts = task.persona["facts"]
        assert facts["date of birth"]["value"] not in task.goals[0].text, name


def drawn_tables(seed: int) -> dict[str, list[dict[str, Any]]]:
    return {name: [dict(row) for row in own] for name, own in drives(seed, desk.PEOPLE).items()}


@pytest.mark.parametrize("seed", range(20))
def test_there_is_room_for_the_file_until_a_twist_fills_it(seed: int) -> None:
    rows = drawn_tables(seed)
    slots = drive_goals.thrown_away(rows, {}, Random(seed))
    if slots is None:
        return
    person = desk.row_of(rows, "people", slots["person_id"])
    own = [row for row in rows["files"] if row["person_id"] == slots["person_id"]]

    def held() -> int:
        return sum(row["megabytes"] for row in own if row["folder_id"] != slots["trash_id"])

    assert held() + slots["size"] <= ROOM[person["tier"]]

    drive_goals.no_room(rows, slots, Random(seed))

    big = desk.row_of(rows, "files", slots["big_id"])["megabytes"]
    assert held() - big + slots["size"] <= ROOM[person["tier"]] < held() + slots["size"]


@pytest.mark.parametrize("seed", range(20))
def test_ids_of_shares_do_not_repeat_and_the_next_one_is_free(seed: int) -> None:
    rows = drawn_tables(seed)
    drive_goals.two_shares(rows, {}, Random(seed))

    ids = [row["share_id"] for row in rows["shares"]]
    assert len({*ids, f"V{801 + len(ids)}"}) == len(ids) + 1
