"""Goal templates of errands: each, with each twist, gives a scenario that is proved."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from goal_scenarios import of_each_twist

import seal
from seal.benchmarks.apps import bank_goals, diary_draws, shop_goals
from seal.benchmarks.apps.errand_goals import GOALS, of_one
from seal.environments.templates import goals_of
from seal.environments.world import WorldSetup, build_worlds

WORLDS = {
    "calendar+mail": 4,
    "mail+shop": 2,
    "calendar+shop": 2,
    "calendar+bank": 1,
    "mail+bank": 1,
}
"""World to how many templates of errands it serves and no world before it."""


@pytest.mark.slow
def test_each_template_and_each_twist_gives_a_scenario(monkeypatch: Any) -> None:
    left = list(GOALS.templates)
    for world, count in WORLDS.items():
        own, left = left[:count], left[count:]
        found = dict(of_each_twist(world, replace(GOALS, templates=own), monkeypatch))

        assert len(found) == len(own) + sum(len(one.twists) for one in own)
        for name, task in found.items():
            assert 5 <= int(task.tags["calls"]) <= 15, name
            facts = task.persona["facts"]
            assert facts["date of birth"]["value"] not in task.goals[0].text, name
    assert left == []


@pytest.mark.parametrize("seed", range(9))
def test_several_draw_one_customer(seed: int) -> None:
    rows: dict[str, Any] = {}
    for goal in goals_of(build_worlds("shop+bank+mail", WorldSetup()).goals, "shop"):
        made = {} if goal.rows is None else goal.rows(seed)
        rows |= {name: [dict(row) for row in own] for name, own in made.items()}

    both = of_one(shop_goals.open_order, diary_draws.an_invoice, bank_goals.a_payment)
    slots = both(rows, {}, Random(seed))

    named = {"orders": "order_id", "mails": "mail_id", "payees": "payee_id"}
    for table, column in named.items() if slots else ():
        (own,) = {r["person_id"] for r in rows[table] if r[column] == slots[column]}
        assert own == slots["person_id"], table
    assert (
        of_one(bank_goals.a_payment, lambda rows, slots, drawn: None)(rows, {}, Random(0)) is None
    )


def test_a_name_of_no_template_is_told(tmp_path: Any) -> None:
    with pytest.raises(seal.SealError, match=r"template.*pay_an_invoic"):
        seal.generate("scenarios", "mail+bank", tmp_path, templates=["pay_an_invoic"])
