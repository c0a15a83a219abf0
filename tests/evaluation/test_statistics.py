"""Summaries of scores."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from linear import linear

from seal.core import Score, Task
from seal.evaluation.statistics import MOST_GROUPS, Summariser, groups_of
from seal.report.run_results import outcome_notes


def score(task: str, value: float | None, **fields: Any) -> Score:
    return Score(task, fields.pop("trial", 0), fields.pop("goal", 0), "m", value, **fields)


def summarise(scores: Iterable[Score], groups: Mapping[str, list[str]]) -> dict[str, Any]:
    summariser = Summariser(groups)
    for one in scores:
        summariser.add(one)
    return summariser.metrics()


def test_summary_has_mean_counts_and_groups() -> None:
    scores = [score("a", 1.0), score("b", 0.0), score("c", None, reason="no gold")]
    found = summarise(scores, {"a": ["G1"], "b": ["G1"], "c": ["G2"]})["m"]
    assert (found["mean"], found["n"], found["undefined"]) == (0.5, 2, 1)
    assert (found["low"], found["high"]) == (0.02565, 0.97435)
    assert found["reasons"] == {"no gold": 1}
    bounds = {"low": 0.02565, "high": 0.97435}
    assert found["by"]["G1"] == {"mean": 0.5, "n": 2, "undefined": 0, **bounds}
    assert found["by"]["G2"]["mean"] is None
    assert found["by"]["G2"]["undefined"] == 1


def test_of_thousands_of_groups_those_of_the_most_tasks_have_entries() -> None:
    def summarised(tasks: int) -> Summariser:
        groups = {str(n): ["all", f"n={n}", f"half={n % 2}"] for n in range(tasks)}
        summariser = Summariser(groups)
        for task in groups:
            summariser.add(score(task, 1.0))
        return summariser

    linear(lambda tasks: summarised(tasks).metrics(), 10 * MOST_GROUPS)
    summariser = summarised(MOST_GROUPS)
    found = summariser.metrics()["m"]["by"]
    assert len(found) == MOST_GROUPS and {"all", "half=0", "half=1"} <= found.keys()
    assert summariser.groups_left_out == 3
    (note,) = outcome_notes({"groups_left_out": 3})
    assert note.endswith("the 1,000 groups of the most tasks; left out: 3 groups")


def test_micro_mean_weighs_by_denominator_where_weights_differ() -> None:
    found = summarise([score("a", 1.0, weight=3), score("b", 0.0, weight=1)], {})["m"]
    assert (found["mean"], found["micro"]) == (0.5, 0.75)
    assert "micro" not in summarise([score("a", 1.0), score("b", 0.0)], {})["m"]


def test_share_of_unsure_stands_beside_the_pass_rate() -> None:
    labels = ["solved", "unsure", "unsure", "unsolved"]
    scores = [
        score(str(i), float(label == "solved"), details={"label": label})
        for i, label in enumerate(labels)
    ]
    found = summarise(scores, {"0": ["G"], "1": ["G"]})["m"]
    assert (found["mean"], found["unsure"]) == (0.25, 0.5)
    assert found["by"]["G"]["unsure"] == 0.5
    assert "unsure" not in summarise([score("a", 1.0)], {})["m"]


def test_the_balanced_verdict_on_calls_weighs_both_kinds_of_goals_alike() -> None:
    needing = [score(f"n{i}", float(i < 2), details={"needed": True}) for i in range(8)]
    other = [score(f"o{i}", 1.0, details={"needed": False}) for i in range(2)]
    groups = {f"n{i}": ["G"] for i in range(8)}
    found = summarise([*needing, *other], groups)
    assert found["m"]["mean"] == 0.4
    balanced = found["calls_balanced"]
    assert (balanced["mean"], balanced["n"]) == (0.625, 10)
    # Of two goals that need no call little is known: [.178, 1]; of 2 in 8: [.044, .591].
    low, high = 0.625 - np.hypot(1 - 0.1777, 0.25 - 0.0444) / 2, 0.625 + (0.5907 - 0.25) / 2
    assert (balanced["low"], balanced["high"]) == pytest.approx((low, high), abs=1e-4)
    assert balanced["by"] == {}
    assert "calls_balanced" not in summarise(needing, {})


def test_kinds_of_goals_that_only_one_of_which_is_right_leave_the_balance_a_width() -> None:
    scores = [
        score(str(task), float(right), goal=int(needed), details={"needed": needed})
        for task in range(10)
        for needed, right in ((True, task % 2), (False, 1 - task % 2))
    ]
    found = summarise(scores, {})["calls_balanced"]
    assert found["mean"] == 0.5
    assert found["high"] - found["low"] > 0.3


@settings(max_examples=25)
@given(
    st.lists(st.booleans(), min_size=1, max_size=30),
    st.lists(st.booleans(), min_size=1, max_size=30),
)
def test_the_balanced_mean_is_the_mean_of_the_means(needing: list[bool], other: list[bool]) -> None:
    scores = [
        score(f"{needed}{place}", float(right), details={"needed": needed})
        for needed, rights in ((True, needing), (False, other))
        for place, right in enumerate(rights)
    ]
    expected = (np.mean(needing) + np.mean(other)) / 2
    assert summarise(scores, {})["calls_balanced"]["mean"] == pytest.approx(expected, abs=1e-6)


def test_infrastructure_reasons_are_counted_as_one_kind() -> None:
    scores = [score("a", None, reason="infrastructure: x"),
              score("b", None, reason="infrastructure: y")]  # fmt: skip
    assert summarise(scores, {})["m"]["reasons"] == {"infrastructure": 2}


def test_one_task_with_several_trials_has_no_interval() -> None:
    found = summarise([score("a", 1.0), score("a", 0.0, trial=1)], {})["m"]
    assert (found["mean"], found["n"], found["low"]) == (0.5, 2, None)


def test_a_metric_depends_on_no_other_and_bytes_repeat() -> None:
    mine = [score(str(i), i % 3 / 2) for i in range(30)]
    other = [Score("z", 0, 0, "other", 0.5)]
    alone, beside = summarise(mine, {}), summarise(other + mine, {})
    assert orjson.dumps(alone["m"]) == orjson.dumps(beside["m"])
    assert orjson.dumps(alone) == orjson.dumps(summarise(iter(mine), {}))


def test_no_scores_make_no_summary() -> None:
    assert Summariser({}).metrics() == {}


def test_groups_are_named_as_select_writes_them() -> None:
    tags = {"group": "G1_tool", "multi_tool": True, "multi_step": False, "apis": 2, "odd": [1]}
    assert groups_of(Task("t", "b", (), tags=tags)) == [
        "G1_tool", "multi_tool=true", "multi_step=false", "apis=2",
    ]  # fmt: skip
