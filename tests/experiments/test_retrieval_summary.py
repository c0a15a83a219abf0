"""Means, intervals and differences of samples that have different numbers of queries."""

import numpy as np
import pytest

from seal.evaluation.ranking_metrics import metric_names
from seal.evaluation.rankings import RANKED
from seal.evaluation.statistics import mean_intervals
from seal.experiments.draws import Source
from seal.experiments.retrieval import (
    Cell,
    Sample,
    comparisons_of,
    corrected,
    results_of,
    sample_weights,
)


def unequal() -> Cell:
    """Return a cell of samples with 5 and 200 queries, which two retrievers answer unlike."""
    chance = np.random.default_rng(3)
    sample_of = np.repeat([0, 1], [5, 200])
    chances = {"good": np.where(sample_of == 0, 0.95, 0.6), "bad": np.full(205, 0.3)}
    return Cell(
        Source("p", "p", "d", (), ()),
        8,
        205,
        (Sample(0, 8, "a", 5), Sample(1, 8, "b", 200)),
        {
            label: np.repeat(
                (chance.random(205) < share).astype(float)[:, None], len(RANKED), axis=1
            )
            for label, share in chances.items()
        },
        sample_of,
        tuple(f"t{n}" for n in range(205)),
        dict.fromkeys(chances, ""),
        {},
    )


def test_the_interval_of_a_difference_is_that_of_the_weighted_mean() -> None:
    cell = unequal()
    column = metric_names((3,), RANKED).index("recall@3")
    differences = (cell.values["good"] - cell.values["bad"])[:, column : column + 1]
    weights = sample_weights(cell.sample_of)
    low, high = mean_intervals(differences, np.arange(205), weights, signed=True)[:, 0]

    recall = comparisons_of(cell, (3,), seed=0)[0]
    assert (recall["low"], recall["high"]) == pytest.approx((low, high))


def test_the_difference_is_that_of_the_means() -> None:
    cell = unequal()
    good, bad = results_of(cell, ("good", "bad"), (3,))
    means = [entry["metrics"]["recall@3"]["mean"] for entry in (good, bad)]
    difference = comparisons_of(cell, (3,), seed=0)[0]["difference"]
    assert difference == pytest.approx(means[0] - means[1], abs=1e-9)


def test_what_no_test_judged_is_outside_of_the_correction() -> None:
    found = corrected([{"metric": "mrr@5", "p": p} for p in (0.01, None, 0.04)])
    assert [(each["p"], each["p_holm"]) for each in found] == [
        (0.01, 0.02),
        (None, None),
        (0.04, 0.04),
    ]
