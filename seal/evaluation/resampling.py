"""Bootstrap intervals of many means at once, over the same resamples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_DRAWS = 8_000_000
"""Draws held in memory at once: 64 MB."""


class Bounds(NamedTuple):
    """Ends of one interval for each column; None where there are fewer than two clusters."""

    low: Floats | None
    high: Floats | None


def weighted_intervals(
    values: Floats,
    weights: Floats,
    clusters: NDArray[np.int64],
    seed: int,
    resamples: int = 10_000,
    level: float = 0.95,
) -> Bounds:
    """Return the percentile bootstrap interval of the weighted mean of every column.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13. The rows of one
    cluster are drawn together. All columns see the same resamples, which makes them comparable and
    costs one matrix product.

    Args:
        values: Finite numbers, (n, columns).
        weights: Above 0, (n,). With 1 / rows of its sample for each row, the mean is that of the
            samples' means.
        clusters: Cluster of each row, (n,).
        seed: The same seed and values give the same intervals.
        resamples: Number of resamples.
        level: Coverage, between 0 and 1.
    """
    import numpy as np

    _, index = np.unique(clusters, return_inverse=True)
    count = int(index.max()) + 1 if len(index) else 0
    if count < 2:
        return Bounds(None, None)
    totals = np.zeros((count, values.shape[1] + 1))
    np.add.at(totals, index, np.column_stack([values, np.ones(len(values))]) * weights[:, None])
    means = _resampled(totals, resamples, np.random.default_rng(seed))
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return Bounds(low, high)


def _resampled(totals: Any, resamples: int, rng: Any) -> Any:
    """Return the means of each resample of the rows; their last column is the weight."""
    import numpy as np

    count = len(totals)
    step = max(1, _DRAWS // count)
    means = np.empty((resamples, totals.shape[1] - 1))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        picks = rng.integers(0, count, size=(size, count))
        picks += np.arange(size)[:, None] * count
        drawn = np.bincount(picks.ravel(), minlength=size * count).reshape(size, count)
        sums = drawn.astype(np.float64) @ totals
        means[start : start + size] = sums[:, :-1] / sums[:, -1:]
    return means
