"""The published figures of ToolSandbox, held against each other."""

from typing import get_args

import pytest
from looped import every_case

from seal.agents.replies import Brief
from seal.benchmarks.toolsandbox.tables import _BRIEFS, TABLES

NAMED = {table.source.split(", ")[1].partition(";")[0]: table for table in TABLES}
SCENARIOS = {row: count["Test Scenario Count"] for row, count in NAMED["Table 6"].rows.items()}


@every_case("model", NAMED["Table 5"].rows)
def test_a_published_mean_is_that_of_the_categories_that_part_all_scenarios(model: str) -> None:
    row = NAMED["Table 5"].rows[model]
    parts = ("STC", "MTC", "II")
    names = ("SINGLE_TOOL_CALL", "MULTIPLE_TOOL_CALL", "INSUFFICIENT_INFORMATION")
    weights = [float(SCENARIOS[name]) for name in names]
    assert sum(weights) == 1032
    mean = sum(float(row[part]) * weight for part, weight in zip(parts, weights, strict=True))
    assert mean / 1032 == pytest.approx(
        float(row["Avg Score"]), abs=0.1
    )  # all are rounded to a tenth


def test_each_published_brief_of_the_user_is_one_of_ours() -> None:
    assert {*get_args(Brief)} == {*_BRIEFS}
    assert [*NAMED["Table 2"].rows] == [*_BRIEFS.values()]


@every_case("model", NAMED["Table 5"].rows)
def test_a_published_mean_is_that_of_the_augmentations(model: str) -> None:
    row = NAMED["Table 5"].rows[model]
    parts = ("0 DT", "3 DT", "10 DT", "AT", "TNS", "TDS", "ADS", "ATS")
    mean = sum(float(row[part]) for part in parts) / len(parts)
    assert mean == pytest.approx(float(row["Avg Score"]), abs=0.1)
