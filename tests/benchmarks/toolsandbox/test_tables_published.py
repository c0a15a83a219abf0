"""The published figures of ToolSandbox, held against each other."""

from typing import get_args

import pytest
from looped import every_case

from seal.agents.replies import Brief
from seal.benchmarks.toolsandbox.tables import TABLES

NAMED = {table.source.split(", ")[1].partition(";")[0]: table for table in TABLES}
SCENARIOS = NAMED["Table 6"].rows["scenarios"]


@every_case("model", NAMED["Table 5"].rows)
def test_a_published_mean_is_that_of_the_categories_that_part_all_scenarios(model: str) -> None:
    row = NAMED["Table 5"].rows[model]
    parts = ("STC", "MTC", "II")
    weights = [float(SCENARIOS[part]) for part in parts]
    assert sum(weights) == 1032
    mean = sum(float(row[part]) * weight for part, weight in zip(parts, weights, strict=True))
    assert mean / 1032 == pytest.approx(float(row["all"]), abs=0.1)  # all are rounded to a tenth


def test_each_published_brief_of_the_user_is_one_of_ours() -> None:
    assert set(NAMED["Table 2"].rows) == set(get_args(Brief))
