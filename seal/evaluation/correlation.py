"""Spearman's rank correlation of a few pairs, with a bootstrap interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from seal.core import UsageError
from seal.core.arrays import Floats, np
from seal.evaluation.statistics import ENDS

LEAST = 3
"""Fewest pairs that can be correlated: two always lie on a line."""
_CELLS = 4_000_000
"""Comparisons held in memory at once."""


class Correlation(NamedTuple):
    """How far two orders agree."""

    rho: float | None
    """In [-1, 1]; None: fewer than `LEAST` pairs, or all values of one side are equal."""
    low: float | None
    high: float | None
    n: int
    """Number of pairs."""


def spearman(
    x: Sequence[float], y: Sequence[float], seed: int, resamples: int = 10_000
) -> Correlation:
    """Return Spearman's rho, equal values having their mean rank, with a percentile interval.

    The pairs are resampled; a resample in which one side is constant has no rho and is left out. Of
    few pairs the interval is wide, and rests on few distinct resamples.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, chapter 6.

    Args:
        x: Finite numbers.
        y: Finite numbers in the same order of pairs.
        seed: The same seed and values give the same interval.
        resamples: Number of resamples.

    Raises:
        UsageError: The lengths differ, or a number is not finite.
    """
    pairs = np.asarray([x, y], dtype=np.float64) if len(x) == len(y) else None
    if pairs is None or not np.isfinite(pairs).all():
        raise UsageError(f"expected {len(x)} finite pairs, got {len(y)} values beside {len(x)}")
    count = len(x)
    if count < LEAST:
        return Correlation(None, None, None, count)
    (rho,) = _rhos(pairs[:, None, :])
    if np.isnan(rho):
        return Correlation(None, None, None, count)
    rng = np.random.default_rng(seed)
    step = max(1, _CELLS // count**2)
    parts = [
        _rhos(pairs[:, rng.integers(0, count, (min(step, resamples - start), count))])
        for start in range(0, resamples, step)
    ]
    drawn = np.concatenate(parts)
    low, high = np.quantile(drawn[~np.isnan(drawn)], ENDS)
    return Correlation(float(rho), float(low), float(high), count)


def _rhos(pairs: Floats) -> Floats:
    """Return rho of each row of (2, rows, pairs); NaN where a side is constant."""
    below = (pairs[..., None] > pairs[..., None, :]).sum(axis=3)
    equal = (pairs[..., None] == pairs[..., None, :]).sum(axis=3)
    ranks = below + (equal + 1) / 2  # equal values share theirs
    left, right = ranks - ranks.mean(axis=2, keepdims=True)
    scale = np.sqrt((left**2).sum(axis=1) * (right**2).sum(axis=1))
    with np.errstate(invalid="ignore"):
        rhos: Floats = (left * right).sum(axis=1) / scale
    return np.clip(rhos, -1, 1)
