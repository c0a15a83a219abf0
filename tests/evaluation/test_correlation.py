"""Spearman's rho against scipy, and where there is none."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from seal.core import UsageError
from seal.evaluation import spearman

PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=20)


@settings(max_examples=30)
@given(PAIRS)
def test_rho_is_scipys_ties_too(pairs) -> None:
    x, y = zip(*pairs, strict=True)
    assume(len(set(x)) > 1 and len(set(y)) > 1)
    found = spearman(x, y, 1, 100)
    assert found.rho == pytest.approx(spearmanr(x, y).statistic)
    assert -1 <= found.low <= found.high <= 1


def test_perfect_orders_have_a_rho_of_1() -> None:
    assert spearman([1, 2, 3, 4], [10, 20, 30, 900], 0)[:3] == (1.0, 1.0, 1.0)
    assert spearman([1, 2, 3, 4], [4, 3, 2, 1], 0).rho == -1.0


@pytest.mark.parametrize(("x", "y"), [([1, 2], [1, 2]), ([1, 1, 1], [1, 2, 3]), ([], [])])
def test_too_few_or_constant_values_have_no_rho(x, y) -> None:
    assert spearman(x, y, 0) == (None, None, None, len(x))


def test_other_lengths_and_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(UsageError, match="expected 3 finite pairs, got 2 values"):
        spearman([1, 2, 3], [1, 2], 0)
    with pytest.raises(UsageError, match="finite"):
        spearman([1, 2, 3], [1, 2, float("nan")], 0)
