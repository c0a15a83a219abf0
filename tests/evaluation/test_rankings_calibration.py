"""Whether the first score tells who needs a tool."""

import numpy as np
import pytest

from seal.evaluation.rankings import calibration


def test_the_area_is_scikit_learns_with_equal_scores_too() -> None:
    from sklearn.metrics import roc_auc_score  # a second, which no other process need spend

    chance = np.random.default_rng(0)
    needing = np.round(chance.normal(0.6, 0.2, 300), 1)
    without = np.round(chance.normal(0.4, 0.2, 200), 1)
    found = calibration(needing.tolist(), without.tolist())
    assert found is not None
    labels = [1] * 300 + [0] * 200
    assert found.auroc == pytest.approx(roc_auc_score(labels, [*needing, *without]), abs=1e-12)
    assert found.low < found.auroc < found.high


def test_the_interval_holds_the_true_area_in_95_of_100_draws() -> None:
    chance = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        found = calibration(chance.normal(1, 1, 60).tolist(), chance.normal(0, 1, 60).tolist())
        assert found is not None
        held += found.low <= 0.76025 <= found.high  # Phi(1 / sqrt(2))
    assert 0.92 < held / 400 < 0.98


def test_the_threshold_keeps_95_percent_of_those_who_need_a_tool() -> None:
    needing = [score / 100 for score in range(1, 101)]
    found = calibration(needing, [0.01, 0.05, 0.5, 0.9])
    assert found is not None
    assert sum(score < found.threshold for score in needing) == 5
    assert found.turned_away == 0.5


def test_one_query_of_a_kind_is_too_few() -> None:
    assert calibration([0.1, 0.2, 0.3], [0.5]) is None


def test_queries_for_which_nothing_was_named_are_the_lowest() -> None:
    none = float("-inf")
    found = calibration([0.5, 0.9, none, none], [0.1, none, none, none])
    assert found is not None
    # 2 of 4 above all; 2 of 4 equal to 3 of 4, which count half, and below 1 of 4.
    assert found.auroc == (2 * 4 + 2 * 1.5) / 16
    assert (found.needing, found.without) == (4, 4)
    assert (found.threshold, found.turned_away) == (None, 0.0)
