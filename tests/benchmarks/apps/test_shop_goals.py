"""Goal templates of shop: each one, with each of its twists, gives a scenario that is proved."""

from typing import Any

import pytest
from goal_scenarios import of_each_twist

from seal.benchmarks.apps.shop_goals import GOALS


@pytest.mark.slow
def test_each_template_and_each_twist_gives_a_scenario(monkeypatch: Any) -> None:
    found = dict(of_each_twist("shop", GOALS, monkeypatch))

    for name, task in found.items():
        assert 5 <= int(task.tags["calls"]) <= 15, name
        assert 10 <= len(task.goals[0].offered or ()) <= 33, name
        facts = task.persona["facts"]
        assert facts["date of birth"]["value"] not in task.goals[0].text, name
