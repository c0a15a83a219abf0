"""Differences of many metrics at once, on the same pairs: intervals and tests in one drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seal.core.canonical import derive_seed
from seal.core.errors import UsageError
from seal.evaluation.comparison import EXACT, Difference, hits_of, sign_test
from seal.evaluation.statistics import bootstrap_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

_FEW = 100
"""Metrics with values in at most so many clusters are resampled over these alone."""
_DRAWS = 1_000_000
"""Draws held in memory at once: 8 MB, about what a processor's cache holds."""
_ALIKE = 20
"""Where clusters are of so many times fewer kinds, kinds are drawn: the same distribution."""


def paired_differences(
    differences: Floats,
    clusters: Integers,
    seed: int,
    resamples: int = 10_000,
    level: float = 0.95,
) -> list[Difference]:
    """Return for each column the mean difference, its bootstrap interval and a randomisation test.

    What each figure is says `comparison.paired_difference`. All columns see the same resamples and
    the same signs of clusters, which costs one matrix product for all of them. A column that has
    values in some of the clusters only is the mean of what a resample drew of these; where they are
    few, they are resampled alone.

    Args:
        differences: (pairs, columns); NaN where a pair has no value in a column.
        clusters: Cluster of each pair, (pairs,); a cluster is drawn, and changes sign, as a whole.
        seed: The same seed and values give the same result, whatever the order of the columns.
        resamples: Of the intervals, and of the tests where they draw.
        level: Coverage of the intervals, between 0 and 1.

    Raises:
        UsageError: The lengths differ, or a number is infinite.
    """
    import numpy as np

    if differences.ndim != 2 or len(clusters) != len(differences):
        raise UsageError(
            f"expected a cluster for each of {len(differences)} pairs, got {len(clusters)}"
        )
    if np.isinf(differences).any():
        raise UsageError("a difference is infinite: leave out the pairs that have no value")
    present = ~np.isnan(differences)
    _, index = np.unique(clusters, return_inverse=True)
    held = int(index.max()) + 1 if len(index) else 0
    sums = np.zeros((held, differences.shape[1]))
    counts = np.zeros_like(sums)
    np.add.at(sums, index, np.where(present, differences, 0.0))
    np.add.at(counts, index, present)
    bounds = _bounds(sums, counts, seed, resamples, level)
    hits = _hits(sums, seed, resamples)
    found = []
    for column, mine in enumerate(present.T):
        values, several = differences[mine, column], np.count_nonzero(counts[:, column])
        low, high = bounds[column]
        if several <= _FEW:
            alone = derive_seed(seed, "few")
            low, high = bootstrap_interval(values, alone, resamples, level, index[mine])
        p = _p_of(sums[:, column], float(hits[column]), seed, resamples) if several > 1 else None
        mean = float(values.mean()) if len(values) else None
        found.append(Difference(mean, low, high, p, len(values)))
    return found


def _p_of(sums: Floats, drawn: float, seed: int, resamples: int) -> float:
    """Return the p of a column: the drawn one, or that of all signs where they are few."""
    import numpy as np

    return sign_test(sums, resamples, seed) if np.count_nonzero(sums) <= EXACT else drawn


def _bounds(
    sums: Floats, counts: Floats, seed: int, resamples: int, level: float
) -> list[tuple[float | None, float | None]]:
    """Return the percentile interval of every column with values in more than `_FEW` clusters."""
    import numpy as np

    many = np.flatnonzero(np.count_nonzero(counts, axis=0) > _FEW)
    found: list[tuple[float | None, float | None]] = [(None, None)] * sums.shape[1]
    if not len(many):
        return found
    size, rng = len(sums), np.random.default_rng(derive_seed(seed, "bootstrap"))
    totals, place = _distinct(np.hstack([sums[:, many], counts[:, many]]))
    over, under = place[: len(many)], place[len(many) :]
    kinds, frequency = np.unique(totals, axis=0, return_counts=True)
    few = len(kinds) * _ALIKE < size
    means = np.empty((resamples, len(many)))
    step = max(1, _DRAWS // size)
    for start in range(0, resamples, step):
        chunk = min(step, resamples - start)
        if few:
            both = rng.multinomial(size, frequency / size, size=chunk) @ kinds
        else:
            picks = rng.integers(0, size, size=(chunk, size))
            picks += np.arange(chunk)[:, None] * size
            drawn = np.bincount(picks.ravel(), minlength=chunk * size).reshape(chunk, size)
            both = drawn.astype(np.float64) @ totals
        means[start : start + chunk] = both[:, over] / both[:, under]
    tail = (1 - level) / 2
    for column, low, high in zip(many, *np.quantile(means, [tail, 1 - tail], axis=0), strict=True):
        found[column] = (float(low), float(high))
    return found


def _hits(sums: Floats, seed: int, resamples: int) -> Floats:
    """Return the p of every column under random signs of the clusters."""
    import numpy as np

    sums, place = _distinct(sums)
    size, rng = len(sums), np.random.default_rng(derive_seed(seed, "signs"))
    kinds, frequency = np.unique(sums, axis=0, return_counts=True)
    few = len(kinds) * _ALIKE < size
    hits = np.zeros(sums.shape[1])
    step = max(1, _DRAWS // max(size, 1))
    for start in range(0, resamples, step):
        chunk = min(step, resamples - start)
        # sum of s * (1 - 2 b) = total - 2 sum of s * b
        if few:
            turned = rng.binomial(frequency, 0.5, size=(chunk, len(kinds))) @ kinds
        else:
            drawn = np.frombuffer(rng.bytes(chunk * -(-size // 8)), dtype=np.uint8)
            bits = np.unpackbits(drawn.reshape(chunk, -1), axis=1, count=size)
            turned = bits.astype(np.float64) @ sums
        hits += hits_of(sums.sum(axis=0) - 2 * turned, sums)
    p: Floats = (1 + hits) / (1 + resamples)
    return p[place]


def _distinct(columns: Floats) -> tuple[Floats, Integers]:
    """Return each column once, in an order of their own, and the place of every one in it.

    Most metrics count in the same pairs, and several say the same of all.
    """
    import numpy as np

    found, place = np.unique(columns, axis=1, return_inverse=True)
    return found, place.ravel()
