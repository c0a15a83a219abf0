"""Goal templates of calendar and mail: each, with each twist, gives a scenario that is proved."""

from random import Random
from typing import Any

import pytest
from goal_scenarios import of_each_twist

from seal.benchmarks.apps import diary_draws as diary
from seal.benchmarks.apps.diary_goals import GOALS


@pytest.mark.slow
def test_each_template_and_each_twist_gives_a_scenario(monkeypatch: Any) -> None:
    found = dict(of_each_twist("calendar+mail", GOALS, monkeypatch))

    assert len(found) == len(GOALS.templates) + sum(len(one.twists) for one in GOALS.templates)
    for name, task in found.items():
        assert 5 <= int(task.tags["calls"]) <= 15, name
        facts = task.persona["facts"]
        assert facts["date of birth"]["value"] not in task.goals[0].text, name
        assert task.goals[0].plans[0].milestones[0].condition.cells == GOALS.cells, name


def test_worlds_of_one_seed_share_people_and_ids_do_not_repeat() -> None:
    tables = diary.tables(3)

    assert len(tables["people"]) == 5
    for name in ("events", "guests", "mails", "contacts"):
        ids = [next(iter(row.values())) for row in tables[name]]
        assert len(set(ids)) == len(ids) > 0


@pytest.mark.parametrize("seed", range(20))
def test_the_wanted_time_is_free_until_a_twist_takes_it(seed: int) -> None:
    rows = {name: [dict(row) for row in own] for name, own in diary.tables(seed).items()}
    slots = diary.wished(rows, {}, Random(seed))
    own = [row for row in rows["events"] if row["person_id"] == slots["person_id"]]
    assert slots["day"] not in {row["day"] for row in own}

    later = diary.taken(rows, slots, Random(seed))

    (clash,) = [row for row in own if row["day"] == slots["day"]]
    assert clash["event_id"] == later["clash_id"] != slots["event_id"]
    assert later["start"] >= clash["end"]
