"""Paired differences against hand-worked values, other implementations and simulated truth."""

import math
import tracemalloc
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from seal.core import UsageError
from seal.evaluation.significance import (
    EXACT_CLUSTERS,
    Difference,
    Spread,
    holm,
    mean_and_deviation,
    paired_differences,
)

Floats = NDArray[np.float64]
VALUES = st.floats(0, 1, width=16)


def paired_difference(
    a: Any,
    b: Any,
    seed: int,
    resamples: int = 10_000,
    clusters: Any = None,
    weights: Any = None,
) -> Difference:
    """Return the difference of one metric; without clusters every pair is its own."""
    differences = (np.asarray(a, dtype=float) - np.asarray(b, dtype=float))[:, None]
    clusters = np.arange(len(differences)) if clusters is None else np.asarray(clusters)
    weights = None if weights is None else np.asarray(weights, dtype=float)
    (found,) = paired_differences(differences, clusters, seed, resamples, weights=weights)
    return found


def drawn(seed: int, n: int, shift: float = 0.0) -> tuple[Floats, Floats]:
    """Draw two systems over tasks of which some are harder than others."""
    rng = np.random.default_rng(seed)
    hardness = rng.normal(size=n)
    return hardness + rng.normal(size=n) + shift, hardness + rng.normal(size=n)


def test_nothing_to_compare_has_no_difference() -> None:
    assert paired_difference([], [], 0) == Difference(None, None, None, None, 0)


def test_one_pair_and_one_cluster_have_neither_an_interval_nor_a_test() -> None:
    assert paired_difference([1.0], [0.25], 0) == Difference(0.75, None, None, None, 1)
    found = paired_difference([1.0] * 4, [0.0] * 4, 0, clusters=[7] * 4)
    assert found == Difference(1.0, None, None, None, 4)


def test_equal_systems_do_not_differ() -> None:
    values = [0.0, 0.5, 1.0] * 10
    found = paired_difference(values, values, 0)
    assert (found.mean, found.p, found.n) == (0.0, 1.0, 30)
    assert found.high == -(found.low or 0) == pytest.approx(0.1135, abs=1e-4)


@pytest.mark.parametrize(
    ("differences", "p"),
    [
        ([1, 1, 1, 1, 1], 1 / 32),
        ([1, 1, 1, -1], (2 + 8 / 2) / 16),
        ([1, 1, 1, 1, 1, 0, 0, 0], 1 / 32),
        ([3, 1], 1 / 4),
        ([0.1, 0.2, -0.3], (6 + 2 / 2) / 8),
    ],
)
def test_few_pairs_have_the_exact_mid_p(differences: list[float], p: float) -> None:
    assert paired_difference(differences, [0] * len(differences), 0).p == pytest.approx(p)


@given(st.lists(st.tuples(VALUES, VALUES, st.integers(0, 3)), min_size=1, max_size=9))
def test_exact_p_is_the_share_of_all_signs_of_the_clusters_ties_counted_half(
    pairs: list[tuple[float, float, int]],
) -> None:
    a, b, clusters = zip(*pairs, strict=True)
    sums = [sum(x - y for x, y, c in pairs if c == cluster) for cluster in set(clusters)]
    signed = [sum(s * x for s, x in zip(signs, sums, strict=True)) for signs in signs_of(sums)]
    beyond = [abs(total) - abs(sum(sums)) for total in signed]
    expected = np.mean([(far >= -1e-9) / 2 + (far > 1e-9) / 2 for far in beyond])
    if not any(sums):
        expected = 1.0
    found = paired_difference(a, b, 0, 10, clusters).p
    assert found is None if len(sums) < 2 else found == pytest.approx(expected)


def signs_of(sums: list[float]) -> Any:
    return product((1, -1), repeat=len(sums))


def test_drawn_p_is_that_of_scipy() -> None:
    from scipy import stats

    a, b = drawn(1, 60, shift=0.3)
    official = stats.permutation_test(
        (a - b,),
        np.mean,
        permutation_type="samples",
        n_resamples=20_000,
        rng=np.random.default_rng(0),
    )
    assert paired_difference(a, b, 0, 20_000).p == pytest.approx(official.pvalue, abs=0.01)


@pytest.mark.parametrize(("won", "lost"), [(1, 0), (9, 2), (10, 10), (14, 5), (3, 9)])
def test_p_of_solved_or_not_is_the_mid_p_of_mcnemar(won: int, lost: int) -> None:
    from scipy import stats

    differences = [1] * won + [-1] * lost + [0] * 7
    n, fewer = won + lost, min(won, lost)
    exact = min(1.0, 2 * stats.binom.cdf(fewer, n, 0.5))
    mid = exact - stats.binom.pmf(fewer, n, 0.5) * (0.5 if won == lost else 1)
    found = paired_difference(differences, [0] * len(differences), 0, 50_000).p
    assert found == pytest.approx(mid, abs=1e-9 if n <= EXACT_CLUSTERS else 0.01)


def test_drawn_p_is_never_zero() -> None:
    a, b = drawn(2, 200, shift=5)
    assert paired_difference(a, b, 0, 999).p == 1 / 1000


def test_interval_is_the_normal_one_for_many_pairs() -> None:
    a, b = drawn(3, 3000, shift=0.1)
    difference = paired_difference(a, b, 0)
    error = 1.96 * (a - b).std() / np.sqrt(3000)
    assert difference.mean == pytest.approx((a - b).mean())
    assert difference.low == pytest.approx((a - b).mean() - error, abs=0.1 * error)
    assert difference.high == pytest.approx((a - b).mean() + error, abs=0.1 * error)


def test_exchanged_systems_differ_the_other_way() -> None:
    a, b = drawn(4, 50, shift=0.2)
    ours, theirs = paired_difference(a, b, 0), paired_difference(b, a, 0)
    assert (theirs.mean, theirs.p) == (-(ours.mean or 0), ours.p)


def test_pairs_of_one_cluster_do_not_count_as_independent() -> None:
    a, b = (np.repeat(values, 10) for values in drawn(5, 40, shift=0.3))
    alone = paired_difference(a, b, 0)
    together = paired_difference(a, b, 0, clusters=np.repeat(np.arange(40), 10))
    assert together.high is not None and together.low is not None and together.p is not None
    assert alone.high is not None and alone.low is not None and alone.p is not None
    assert together.high - together.low > 2 * (alone.high - alone.low)
    assert together.p > alone.p


def test_samples_of_5_and_200_queries_count_alike_in_the_mean() -> None:
    rng = np.random.default_rng(8)
    a = np.concatenate([rng.normal(1.0, 0.1, 5), rng.normal(0.2, 0.1, 200)])
    sizes = np.repeat([5, 200], [5, 200])
    found = paired_difference(a, np.zeros(205), 0, weights=1 / sizes)
    assert found.mean == pytest.approx((a[:5].mean() + a[5:].mean()) / 2)


def test_a_weight_shows_in_the_signs_too() -> None:
    assert paired_difference([1, 1, -1], [0, 0, 0], 0, weights=[1, 1, 2]).p == 7 / 8
    assert paired_difference([1, 1, -1], [0, 0, 0], 0, weights=[2, 2, 1]).p == 3 / 8


def test_same_seed_gives_the_same_result_and_another_one_another() -> None:
    a, b = drawn(6, 60)
    assert paired_difference(a, b, 4) == paired_difference(a, b, 4)
    assert paired_difference(a, b, 4) != paired_difference(a, b, 5)


def test_weights_of_other_pairs_are_refused() -> None:
    with pytest.raises(UsageError, match="a weight for each of 2 pairs, got 1"):
        paired_difference([1.0, 2.0], [0.0, 0.0], 0, weights=[1.0])


def test_forty_thousand_pairs_stay_within_memory() -> None:
    a, b = drawn(7, 40_000)
    tracemalloc.start()
    paired_difference(a, b, 0, resamples=400)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3])
def test_interval_covers_and_test_rejects_as_often_as_they_say(size: int) -> None:
    covered = rejected = 0
    for seed in range(1000):
        rng = np.random.default_rng([seed, size])
        clusters = np.repeat(np.arange(80), size)
        shared = rng.normal(size=(3, 80))[:, clusters]
        a, b = shared[:2] + shared[2] + rng.normal(size=(2, len(clusters)))
        difference = paired_difference(a, b, seed, 300, clusters)
        covered += (difference.low or 0) <= 0 <= (difference.high or 0)
        rejected += (difference.p or 1) <= 0.05
    assert 930 <= covered <= 970
    assert 40 <= rejected <= 60


@pytest.mark.parametrize(
    ("values", "spread"),
    [
        ([], Spread(None, None)),
        ([4.0], Spread(4.0, None)),
        ([5.0, 12.0, 13.0], Spread(10.0, 19**0.5)),
        ([2, 2, 2], Spread(2.0, 0.0)),
    ],
)
def test_spread_divides_by_one_less_than_the_number(values: list[float], spread: Spread) -> None:
    assert mean_and_deviation(values) == pytest.approx(spread)


@pytest.mark.parametrize(
    ("p_values", "adjusted"),
    [
        ([], []),
        ([0.04], [0.04]),
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.9, 0.4, 0.001], [0.9, 0.8, 0.003]),
        ([0.8, 0.7], [1.0, 1.0]),
    ],
)
def test_holm_adjusts_hand_worked_values(p_values: list[float], adjusted: list[float]) -> None:
    assert holm(p_values) == pytest.approx(adjusted)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.randoms())
def test_holm_lies_between_the_value_and_bonferroni_in_any_order(
    p_values: list[float], chance: Any
) -> None:
    adjusted = holm(p_values)
    for p, value in zip(p_values, adjusted, strict=True):
        assert p <= value <= min(1.0, len(p_values) * p)
    pairs = list(zip(p_values, adjusted, strict=True))
    chance.shuffle(pairs)
    assert holm([p for p, _ in pairs]) == [value for _, value in pairs]


@pytest.mark.parametrize("p", [-0.1, 1.5, float("nan")])
def test_holm_refuses_what_is_no_p(p: float) -> None:
    with pytest.raises(UsageError, match=r"expected p values in \[0, 1\]"):
        holm([0.5, p])


@pytest.mark.parametrize(("won", "lost"), [(11, 29), (20, 20), (400, 300), (40, 0), (9, 8)])
def test_sums_that_are_equally_far_from_0_have_the_p_of_the_binomial_distribution(
    won: int, lost: int
) -> None:
    turned = won + lost
    ways = [math.comb(turned, up) for up in range(turned + 1)]
    apart = abs(won - lost)
    farther = sum(many for up, many in enumerate(ways) if abs(2 * up - turned) > apart)
    as_far = sum(many for up, many in enumerate(ways) if abs(2 * up - turned) == apart)
    wins, losses, ties = [0.5] * won, [-0.5] * lost, [0.0] * 25
    found = paired_difference([*wins, *losses, *ties], np.zeros(turned + 25), 0, resamples=10)
    assert found.p == pytest.approx((farther + as_far / 2) / 2**turned, rel=1e-12)
