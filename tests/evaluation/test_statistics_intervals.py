"""Intervals of means against published figures, simulated truth and what must always hold."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from linear import linear
from scipy import stats

from seal.evaluation.significance import paired_differences
from seal.evaluation.statistics import mean_interval, mean_intervals

SHARES = st.lists(st.floats(0, 1, width=32), min_size=2, max_size=40)
COUNTS = st.lists(st.integers(0, 30).map(float), min_size=2, max_size=40)


def ones(count: int, of: int) -> list[float]:
    return [1.0] * count + [0.0] * (of - count)


def ends(values: Any, *more: Any, **how: Any) -> tuple[float, float]:
    low, high = mean_interval(values, *more, **how)
    assert low is not None and high is not None
    return low, high


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)],
)
def test_of_0_and_1_it_is_the_score_interval_of_newcombes_examples(count, of, low, high) -> None:
    """Newcombe, Two-sided Confidence Intervals for the Single Proportion, 1998, Table I."""
    assert ends(ones(count, of)) == pytest.approx((low, high), abs=5e-5)


def test_few_ones_have_the_limit_of_a_rare_event() -> None:
    """Brown, Cai and DasGupta 2001, 4.1.1: lambda / n, half the .05 quantile of chi-squared."""
    for count in (1, 2):
        limit = stats.chi2.ppf(0.05, 2 * count) / 2
        assert ends(ones(count, 29))[0] == pytest.approx(limit / 29, abs=5e-6)
        assert ends(ones(29 - count, 29))[1] == pytest.approx(1 - limit / 29, abs=5e-6)
    assert ends(ones(1, 29))[1] == pytest.approx(0.1718, abs=5e-5)  # Newcombe's Table I


@pytest.mark.parametrize("tasks", [10, 20, 53, 80, 200])
def test_exact_coverage_of_0_and_1_is_that_which_is_promised(tasks: int) -> None:
    p, count = np.arange(20, 981) / 1000, np.arange(tasks + 1)
    columns = (np.arange(tasks)[:, None] < count) * 1.0
    low, high = mean_intervals(columns, np.arange(tasks))
    held = (low[:, None] <= p) & (p <= high[:, None])
    coverage = (stats.binom.pmf(count[:, None], tasks, p) * held).sum(axis=0)
    assert 0.94 <= coverage.mean() <= 0.97
    assert coverage.min() >= (0.91 if tasks < 200 else 0.93)


@pytest.mark.parametrize("correlation", [0.3, 0.9])
def test_trials_of_a_task_count_as_much_as_they_resemble_each_other(correlation: float) -> None:
    rng, spread = np.random.default_rng(2), 1 / correlation - 1
    chance = rng.beta(0.2 * spread, 0.8 * spread, (40, 4000))
    values = (rng.random((3, 40, 4000)) < chance).reshape(-1, 4000) * 1.0
    low, high = mean_intervals(values, np.tile(np.arange(40), 3))
    assert 0.93 <= ((low <= 0.2) & (high >= 0.2)).mean() <= 0.97


@pytest.mark.parametrize("mean", [0.3, 3.0])
def test_counts_have_intervals_that_hold_their_mean(mean: float) -> None:
    values = np.random.default_rng(3).poisson(mean, (20, 4000)) * 1.0
    low, high = mean_intervals(values, np.arange(20), bounded=False)
    assert 0.93 <= ((low <= mean) & (high >= mean)).mean() <= 0.975


@pytest.mark.parametrize("apart", [0.02, 0.2])
def test_differences_of_runs_with_nearly_the_same_outcomes_are_held(apart: float) -> None:
    drawn = np.random.default_rng(4).random((53, 4000))
    values = (drawn < apart + 0.05) * 1.0 - (drawn > 1 - apart)
    low, high = mean_intervals(values, np.arange(53), signed=True)
    assert ((low <= 0.05) & (high >= 0.05)).mean() >= 0.94


@pytest.mark.parametrize("bounded", [True, False])
def test_what_no_task_gains_is_as_small_as_what_tasks_lose(bounded: bool) -> None:
    """Each of 7 tasks of 60 loses one goal of four: the test, as the interval, finds a loss."""
    values, tasks = np.zeros((240, 1)), np.repeat(np.arange(60), 4)
    values[:28:4] = -1.0
    low, high = mean_intervals(values, tasks, bounded=bounded, signed=True)[:, 0]
    assert low < -7 / 240 < high < 0
    (found,) = paired_differences(values, tasks, seed=0, bounded=bounded)
    assert found.p is not None and found.p < 0.01


@pytest.mark.parametrize("gain", [0.0, 0.01])
def test_differences_of_some_goals_of_each_task_are_held(gain: float) -> None:
    drawn, tasks = np.random.default_rng(6).random((240, 2000)), np.repeat(np.arange(60), 4)
    values = (drawn < gain) * 1.0 - (drawn > 0.97)
    for bounded in (True, False):
        low, high = mean_intervals(values, tasks, bounded=bounded, signed=True)
        assert ((low <= gain - 0.03) & (high >= gain - 0.03)).mean() >= 0.94


def test_many_values_have_the_normal_interval() -> None:
    rng = np.random.default_rng(5)
    columns = np.column_stack(
        [rng.integers(0, 2, 3000), rng.random(3000), rng.normal(0, 1, 3000), rng.poisson(9, 3000)]
    )
    low, high = mean_intervals(columns, np.arange(3000))
    error = 1.96 * columns.std(axis=0) / np.sqrt(3000)
    assert (columns.mean(axis=0) - low) / error == pytest.approx(np.ones(4), abs=0.03)
    assert (high - columns.mean(axis=0)) / error == pytest.approx(np.ones(4), abs=0.03)


@pytest.mark.parametrize("values", [[], [0.5]])
def test_fewer_than_two_clusters_have_no_interval(values: list[float]) -> None:
    assert mean_interval(values) == (None, None)
    assert mean_interval([0.0, 1.0], clusters=[7, 7]) == (None, None)


@pytest.mark.parametrize("value", [0.0, 0.25, 1.0, 3.0, 1500.0, 1e-4])
@pytest.mark.parametrize("tasks", [2, 10, 999])
def test_equal_values_have_an_interval_with_a_width(value: float, tasks: int) -> None:
    low, high = ends([value] * tasks)
    assert round(high - low, 6) > 0
    assert low <= value <= high


def test_runs_without_a_difference_may_differ_in_tasks_that_were_not_seen() -> None:
    """As far as Tango's score interval says of no discordant pair: z^2 / (n + z^2)."""
    low, high = mean_intervals(np.zeros((237, 1)), np.arange(237), signed=True)[:, 0]
    assert (low, high) == pytest.approx((-0.01595, 0.01595), abs=1e-5)


@given(SHARES)
def test_an_interval_of_shares_holds_the_mean_and_stays_between_0_and_1(values) -> None:
    low, high = ends(values)
    assert 0 <= low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= high <= 1
    assert low < high


@given(COUNTS)
def test_an_interval_of_counts_holds_the_mean_and_does_not_fall_below_0(values) -> None:
    low, high = ends(values, bounded=False)
    assert -1e-12 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high
    assert low < high


@given(SHARES, st.randoms())
def test_the_order_of_values_does_not_matter(values, random) -> None:
    clusters = [place // 2 for place in range(len(values))]
    pairs = list(zip(values, clusters, strict=True))
    random.shuffle(pairs)
    shuffled = mean_interval(*map(list, zip(*pairs, strict=True)))
    assert shuffled == pytest.approx(mean_interval(values, clusters), abs=1e-9)


@settings(max_examples=30)
@given(SHARES, st.sampled_from([3, 10]))
def test_more_of_the_same_values_make_the_interval_narrower(values, times) -> None:
    low, high = ends(values)
    narrow_low, narrow_high = ends(values * times)
    assert narrow_high - narrow_low < high - low


@given(SHARES)
@example([0.0, 0.0, 0.0, 2.220446049250313e-16])
def test_failures_are_as_uncertain_as_successes(values) -> None:
    low, high = ends(values)
    turned = ends([1 - value for value in values])
    assert turned == pytest.approx((1 - high, 1 - low), abs=1e-6)


def test_values_of_one_cluster_do_not_count_as_independent() -> None:
    values = np.repeat(np.random.default_rng(4).random(40), 10)
    alone, together = ends(values), ends(values, np.repeat(np.arange(40), 10))
    assert together[1] - together[0] > 2 * (alone[1] - alone[0])
    assert together == pytest.approx(ends(values[::10]))


def test_a_weight_counts_a_row_as_often() -> None:
    values, clusters = [0.0, 1.0, 0.5, 0.0, 1.0], [0, 1, 2, 3, 4]
    doubled = ends([*values, 1.0], [*clusters, 1])
    assert ends(values, clusters, [1.0, 2, 1, 1, 1]) == pytest.approx(doubled)
    assert ends(values, clusters, [3.0] * 5) == pytest.approx(ends(values))


def test_clusters_may_have_names_and_columns_gaps() -> None:
    values = np.array([[0.0, np.nan], [1.0, 1.0], [1.0, 0.0], [0.5, np.nan]])
    found = mean_intervals(values, np.array(["a", "b", "b", "c"]))
    assert found[:, 0] == pytest.approx(ends(values[:, 0], [0, 1, 1, 2]))
    assert np.isnan(found[:, 1]).all()


def test_numbers_too_large_to_square_have_no_interval() -> None:
    assert mean_interval([1e200, 2e200]) == (None, None)


def test_forty_thousand_values_take_little_memory_and_time() -> None:
    values = np.random.default_rng(5).random(40_000)
    tracemalloc.start()
    mean_interval(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000


def test_ten_thousand_columns_take_linear_time() -> None:
    values = np.random.default_rng(6).random((50, 10_100))
    linear(lambda columns: mean_intervals(values[:, :columns], np.arange(50)), 10_000)
