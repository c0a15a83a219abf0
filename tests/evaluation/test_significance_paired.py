"""Many metrics at once give what each alone gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.core import UsageError
from seal.evaluation.significance import paired_differences

VALUES = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0, np.nan])),
    min_size=1,
    max_size=30,
)


@settings(max_examples=30)
@given(VALUES)
def test_each_metric_has_the_figures_that_it_has_alone(rows) -> None:
    clusters = np.array([cluster for cluster, _ in rows])
    column = np.array([value for _, value in rows])
    found = paired_differences(np.column_stack([column, -column]), clusters, 3, 200)
    here = ~np.isnan(column)
    (alone,) = paired_differences(column[here][:, None], clusters[here], 3, 200)
    assert (found[0].n, found[0].mean, found[0].p) == (alone.n, alone.mean, alone.p)
    if alone.n:
        assert found[1].mean == pytest.approx(-found[0].mean)
        assert found[1].p == found[0].p
    if found[0].low is not None:
        assert found[0].low <= found[0].mean + 1e-9
        assert found[0].high >= found[0].mean - 1e-9


@pytest.mark.parametrize("kinds", [3, 100_000])
def test_the_order_of_columns_and_their_copies_change_no_figure(kinds: int) -> None:
    rng = np.random.default_rng(7)
    values = rng.integers(0, kinds, (300, 3)) / kinds - 0.4
    columns = values[:, [2, 0, 1, 0]]
    straight = paired_differences(values, np.arange(300), 1, 500)
    assert paired_differences(columns, np.arange(300), 1, 500) == [
        pytest.approx(straight[place]) for place in (2, 0, 1, 0)
    ]


def test_signs_that_give_the_observed_mean_count_half() -> None:
    values = np.array([1.0] * 9 + [-1.0] * 5)[:, None]
    (found,) = paired_differences(values, np.arange(14), 0, 50_000)
    # Of 14 signs, 5 or fewer are minus, or 5 or fewer plus: 2 (P(X < 5) + P(X = 5) / 2).
    assert found.p == pytest.approx(2 * (1470 + 2002 / 2) / 2**14, abs=0.01)


def test_one_cluster_has_neither_an_interval_nor_a_test() -> None:
    columns = np.column_stack([[1.0, 1.0, np.nan], [1.0, 1.0, 1.0]])
    one, two = paired_differences(columns, np.array([0, 0, 1]), 0)
    assert (one.low, one.high, one.p, one.mean) == (None, None, None, 1.0)
    assert two.low is not None and two.p == 0.25


def test_nothing_to_compare_is_no_figure() -> None:
    assert paired_differences(np.empty((0, 2)), np.empty(0), 0)[1].mean is None
    (found,) = paired_differences(np.full((3, 1), np.nan), np.arange(3), 0)
    assert (found.mean, found.p, found.n) == (None, None, 0)


def test_infinite_numbers_and_other_lengths_are_refused() -> None:
    with pytest.raises(UsageError, match="infinite"):
        paired_differences(np.full((3, 1), np.inf), np.arange(3), 0)
    with pytest.raises(UsageError, match="expected a cluster for each of 3 pairs, got 2"):
        paired_differences(np.zeros((3, 1)), np.arange(2), 0)


def test_without_a_column_there_is_nothing_to_tell() -> None:
    assert paired_differences(np.zeros((3, 0)), np.arange(3), 0) == []


def test_the_interval_of_a_difference_of_counts_does_not_end_at_one() -> None:
    ones, tasks = np.ones((6, 2)), np.arange(6)
    rate, count = paired_differences(ones, tasks, 0, bounded=[True, False])
    assert rate.high == 1.0
    assert count.high is not None
    assert count.high > 1.0
