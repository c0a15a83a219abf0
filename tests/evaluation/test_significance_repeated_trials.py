"""pass^k and pass@k: against hand-worked values and all subsets of the trials."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seal.core import UsageError
from seal.evaluation.significance import pass_at, pass_hat


def estimate(measure, solved: int, trials: int, k: int) -> float:
    return float(measure(np.array([solved]), np.array([trials]), k)[0])


def test_hand_worked_values() -> None:
    assert estimate(pass_hat, 3, 4, 2) == pytest.approx(3 / 6)
    assert estimate(pass_at, 1, 4, 2) == pytest.approx(3 / 6)
    assert estimate(pass_hat, 2, 5, 3) == 0.0
    assert estimate(pass_at, 3, 5, 3) == 1.0
    assert np.isnan(estimate(pass_hat, 1, 1, 2))


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 7))
def test_they_are_the_shares_of_all_choices_of_k_trials(verdicts: list[bool], k: int) -> None:
    hat = estimate(pass_hat, sum(verdicts), len(verdicts), k)
    at = estimate(pass_at, sum(verdicts), len(verdicts), k)
    chosen = list(combinations(verdicts, k))
    if not chosen:
        assert np.isnan(hat) and np.isnan(at)
    else:
        assert hat == pytest.approx(np.mean([all(each) for each in chosen]))
        assert at == pytest.approx(np.mean([any(each) for each in chosen]))


def test_they_are_unbiased() -> None:
    rng = np.random.default_rng(0)
    solved = rng.binomial(5, 0.6, 40_000)
    trials = np.full(40_000, 5)
    assert pass_hat(solved, trials, 3).mean() == pytest.approx(0.6**3, abs=0.01)
    assert pass_at(solved, trials, 3).mean() == pytest.approx(1 - 0.4**3, abs=0.01)


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(UsageError, match="k of at least 1, got 0"):
        pass_hat(np.array([1]), np.array([1]), 0)
    with pytest.raises(UsageError, match="as many trials as succeeded"):
        pass_at(np.array([2]), np.array([1]), 1)
