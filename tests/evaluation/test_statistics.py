"""Intervals and summaries."""

import tracemalloc
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.core import Score, Task
from seal.evaluation.statistics import Summariser, bootstrap_interval, groups_of


def score(task: str, value: float | None, **fields: Any) -> Score:
    return Score(task, fields.pop("trial", 0), fields.pop("goal", 0), "m", value, **fields)


def summarise(scores: Iterable[Score], groups: Mapping[str, list[str]]) -> dict[str, Any]:
    summariser = Summariser(groups)
    for one in scores:
        summariser.add(one)
    return summariser.metrics()


@pytest.mark.parametrize("values", [[], [0.5]])
def test_fewer_than_two_values_have_no_interval(values: list[float]) -> None:
    assert bootstrap_interval(values, seed=0) == (None, None)


def test_equal_values_have_an_interval_of_no_width() -> None:
    assert bootstrap_interval([0.25] * 50, seed=0) == (0.25, 0.25)


def test_same_seed_gives_the_same_interval_and_another_one_another() -> None:
    values = np.random.default_rng(1).random(60)
    first = bootstrap_interval(values, seed=4)
    assert first == bootstrap_interval(values, seed=4)
    assert first != bootstrap_interval(values, seed=5)


@pytest.mark.parametrize("distinct", [2, 500])
def test_interval_is_the_normal_one_for_many_values(distinct: int) -> None:
    rng = np.random.default_rng(2)
    values = rng.integers(0, distinct, 3000) / distinct
    error = 1.96 * values.std() / np.sqrt(len(values))
    low, high = bootstrap_interval(values, seed=0, resamples=4000)
    assert low == pytest.approx(values.mean() - error, abs=0.1 * error)
    assert high == pytest.approx(values.mean() + error, abs=0.1 * error)


@pytest.mark.parametrize("chance", [0.3, 0.7])
def test_interval_covers_the_truth_as_often_as_it_says(chance: float) -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for seed in range(400):
        drawn = (rng.random(120) < chance).astype(float)
        low, high = bootstrap_interval(drawn, seed, resamples=1000)
        covered += low is not None and high is not None and low <= chance <= high
    assert 0.92 <= covered / 400 <= 0.98


def test_values_of_one_cluster_do_not_count_as_independent() -> None:
    values = np.repeat(np.random.default_rng(4).random(40), 10)
    clusters = np.repeat(np.arange(40), 10)
    alone = bootstrap_interval(values, 0)
    together = bootstrap_interval(values, 0, clusters=clusters)
    assert together.high is not None and together.low is not None
    assert alone.high is not None and alone.low is not None
    assert together.high - together.low > 2 * (alone.high - alone.low)


@given(st.lists(st.floats(0, 1, width=16), min_size=2, max_size=40))
def test_interval_lies_within_the_values(values: list[float]) -> None:
    low, high = bootstrap_interval(values, seed=0, resamples=200)
    assert low is not None and high is not None
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9


def test_forty_thousand_values_stay_within_memory() -> None:
    values = np.random.default_rng(5).random(40_000)
    tracemalloc.start()
    bootstrap_interval(values, 0, resamples=400)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 150_000_000


def test_summary_has_mean_counts_and_groups() -> None:
    scores = [score("a", 1.0), score("b", 0.0), score("c", None, reason="no gold")]
    found = summarise(scores, {"a": ["G1"], "b": ["G1"], "c": ["G2"]})["m"]
    assert (found["mean"], found["n"], found["undefined"]) == (0.5, 2, 1)
    assert (found["low"], found["high"]) == (0.0, 1.0)
    assert found["reasons"] == {"no gold": 1}
    assert found["by"]["G1"] == {"mean": 0.5, "n": 2, "undefined": 0, "low": 0.0, "high": 1.0}
    assert found["by"]["G2"]["mean"] is None
    assert found["by"]["G2"]["undefined"] == 1


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
    assert 0.4 < balanced["low"] < 0.625 < balanced["high"] <= 1.0
    assert balanced["by"] == {}
    assert "calls_balanced" not in summarise(needing, {})


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
