"""Bootstrap intervals of many means over the same resamples."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seal.evaluation.significance import weighted_intervals
from seal.evaluation.statistics import bootstrap_interval


def test_equal_weights_give_the_interval_of_the_mean() -> None:
    chance = np.random.default_rng(5)
    values = chance.random((400, 2))
    clusters = np.arange(400) // 2
    low, high = weighted_intervals(values, np.ones(400), clusters, seed=1)

    for column in range(2):
        expected = bootstrap_interval(values[:, column], seed=2, clusters=clusters)
        assert low[column] == pytest.approx(expected.low, abs=0.002)
        assert high[column] == pytest.approx(expected.high, abs=0.002)


def test_a_weight_counts_a_row_as_often() -> None:
    values = np.array([[0.0], [1.0], [1.0], [0.0], [1.0]])
    twice = weighted_intervals(values, np.array([1.0, 2, 1, 1, 1]), np.arange(5), seed=3)
    doubled = np.vstack([values, values[1:2]])
    same = weighted_intervals(doubled, np.ones(6), np.array([0, 1, 2, 3, 4, 1]), seed=3)
    assert twice.low == same.low
    assert twice.high == same.high


def test_fewer_than_two_clusters_have_no_interval() -> None:
    one = np.zeros(3, dtype=np.int64)
    assert weighted_intervals(np.ones((3, 1)), np.ones(3), one, seed=0) == (None, None)
    nothing = np.empty(0, dtype=np.int64)
    assert weighted_intervals(np.empty((0, 1)), np.empty(0), nothing, seed=0) == (None, None)


def test_clusters_may_have_names() -> None:
    values, weights = np.array([[0.0], [1.0], [1.0]]), np.ones(3)
    named = weighted_intervals(values, weights, np.array(["a", "b", "b"]), seed=0)
    numbered = weighted_intervals(values, weights, np.array([0, 1, 1]), seed=0)
    assert named == numbered


rows = st.lists(
    st.tuples(st.floats(0, 1), st.floats(0.1, 5), st.integers(0, 4)), min_size=2, max_size=20
)


@settings(max_examples=30)
@given(rows)
def test_an_interval_lies_within_the_values_and_repeats(
    rows: list[tuple[float, float, int]],
) -> None:
    values = np.array([[value, 1.0] for value, _, _ in rows])
    weights = np.array([weight for _, weight, _ in rows])
    clusters = np.array([cluster for _, _, cluster in rows])
    low, high = weighted_intervals(values, weights, clusters, seed=7, resamples=200)
    again = weighted_intervals(values, weights, clusters, seed=7, resamples=200)

    if low is not None and high is not None:
        assert (low <= high).all()
        assert values[:, 0].min() - 1e-9 <= low[0] <= high[0] <= values[:, 0].max() + 1e-9
        assert (low[1], high[1]) == pytest.approx((1.0, 1.0))
        assert (again.low == low).all()
        assert (again.high == high).all()


@pytest.mark.slow
def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    """Tasks with a level of their own, asked in samples of different sizes."""
    chance = np.random.default_rng(11)
    covered = 0
    for number in range(400):
        levels = chance.normal(0.5, 0.2, 120)
        sample_of = np.repeat([0, 1], [40, 80])
        values = (levels + chance.normal(0, 0.1, 120))[:, None]
        weights = np.where(sample_of == 0, 120 / (2 * 40), 120 / (2 * 80))
        low, high = weighted_intervals(values, weights, np.arange(120), seed=number, resamples=1000)
        covered += bool(low[0] <= 0.5 <= high[0])
    assert 0.92 <= covered / 400 <= 0.975
