"""Two systems on the same tasks: intervals and tests of their difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from seal.core.canonical import derive_seed
from seal.core.errors import UsageError
from seal.evaluation.statistics import bootstrap_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

EXACT = 16
"""Up to so many clusters all 2**n signs are tried."""
_CHUNK = 1_000_000
"""Table look-ups held in memory at once: 16 MB."""
_BYTE = 8
"""Signs that one look-up decides."""


class Difference(NamedTuple):
    """How far one system lies above another on the same tasks."""

    mean: float | None
    """Mean of a - b; None where nothing is compared."""
    low: float | None
    """Bounds of the interval; None where there are fewer than two clusters."""
    high: float | None
    p: float | None
    """Two-sided, in (0, 1]: how often chance alone makes a difference that is larger, and half of
    how often one as large (mid-p); None where there are fewer than two clusters."""
    n: int
    """Number of pairs."""


class Spread(NamedTuple):
    """Mean and deviation over samplings."""

    mean: float | None
    deviation: float | None
    """Sample deviation, by n - 1; None for fewer than two values."""


def paired_difference(
    a: Sequence[float] | Floats,
    b: Sequence[float] | Floats,
    seed: int,
    resamples: int = 10_000,
    clusters: Sequence[int] | NDArray[np.int64] | None = None,
    level: float = 0.95,
    weights: Sequence[float] | Floats | None = None,
) -> Difference:
    """Return the mean of a - b with its bootstrap interval and a randomisation test.

    Sources: Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13 (percentile interval
    of the paired differences); Smucker, Allan and Carterette, A Comparison of Statistical
    Significance Tests for Information Retrieval Evaluation, CIKM 2007 (randomisation test). Were
    the systems alike, each difference could as well have the other sign: p is the share of signs
    whose mean lies farther from 0, those whose mean lies as far counted half (`sign_test`).

    Args:
        a: Finite numbers, one a pair.
        b: Finite numbers in the same order of pairs.
        seed: The same seed and values give the same result.
        resamples: Of the interval, and of the test where it draws.
        clusters: Cluster of each pair, which are drawn and change sign together; None: every pair
            is its own.
        level: Coverage of the interval, between 0 and 1.
        weights: Of each pair, above 0, in the mean, its interval and the sums whose signs change;
            None: all pairs count alike.

    Raises:
        UsageError: The lengths differ, or a number is not finite.
    """
    import numpy as np

    differences = _differences(a, b)
    if clusters is not None and len(clusters) != len(differences):
        raise UsageError(
            f"expected a cluster for each of {len(differences)} pairs, got {len(clusters)}"
        )
    if weights is not None and len(weights) != len(differences):
        raise UsageError(
            f"expected a weight for each of {len(differences)} pairs, got {len(weights)}"
        )
    if not len(differences):
        return Difference(None, None, None, None, 0)
    interval = bootstrap_interval(
        differences, derive_seed(seed, "bootstrap"), resamples, level, clusters, weights
    )
    mean = float(np.average(differences, weights=weights))
    sums = differences if weights is None else differences * np.asarray(weights)
    if clusters is not None:
        _, index = np.unique(np.asarray(clusters), return_inverse=True)
        sums = np.bincount(index, weights=sums).astype(np.float64)
    p = sign_test(sums, resamples, derive_seed(seed, "signs")) if len(sums) > 1 else None
    return Difference(mean, *interval, p, len(differences))


def _differences(a: Sequence[float] | Floats, b: Sequence[float] | Floats) -> Floats:
    import numpy as np

    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if left.shape != right.shape or left.ndim != 1:
        raise UsageError(
            f"a paired comparison needs as many values of a as of b, got {len(left)} and "
            f"{len(right)}: compare the tasks that both have"
        )
    differences = left - right
    if not np.isfinite(differences).all():
        raise UsageError("a value is not finite: leave out the pairs that have no value")
    return differences


def sign_test(sums: Floats, resamples: int, seed: int) -> float:
    """Return the two-sided mid-p of the sum under random signs.

    Signs that give exactly the observed sum count half. Solved or not has so few possible sums that
    counting them whole rejects 2.2 % of the true null hypotheses of 20 tasks instead of 5 %, half
    4.1 % (perf/coverage.py). All signs are tried of at most `EXACT` sums; of more they are drawn,
    and p = (1 + hits) / (1 + resamples), so that p is never 0.
    Sources: Lancaster, Significance Tests in Discrete Distributions, Journal of the American
    Statistical Association 56, 1961 (mid-p); Agresti, Categorical Data Analysis, 2013, section
    1.4.4; Fagerland, Lydersen and Laake, The McNemar test for binary matched-pairs data, BMC
    Medical Research Methodology 13, 2013 (of solved or not, this test).

    Args:
        sums: Of each cluster; finite.
        resamples: Signs drawn where there are more.
        seed: The same seed and values give the same p.
    """
    import numpy as np

    # A difference of 0 is the same under both signs: without it fewer signs are left to try.
    sums = sums[sums != 0]
    if not len(sums):
        return 1.0
    if len(sums) <= EXACT:
        totals = np.zeros(1)
        for each in sums:
            totals = np.concatenate([totals + each, totals - each])
        return float(hits_of(totals[:, None], sums[:, None])[0]) / len(totals)
    hits = _drawn_hits(sums, resamples, np.random.default_rng(seed))
    return (1 + hits) / (1 + resamples)


def hits_of(totals: Floats, sums: Floats) -> Floats:
    """Return how many totals lie farther from 0 than the observed one, those as far counted half.

    Args:
        totals: Of the sums under other signs, (signs, columns).
        sums: As observed, (sums, columns).
    """
    import numpy as np

    # Signs that give the same total on paper may differ in the last bits.
    slack = 1e-12 * np.abs(sums).sum(axis=0)
    beyond = np.abs(totals) - np.abs(sums.sum(axis=0))
    found: Floats = ((beyond >= -slack).sum(axis=0) + (beyond > slack).sum(axis=0)) / 2
    return found


def _drawn_hits(sums: Floats, resamples: int, rng: np.random.Generator) -> float:
    """Return the hits (`hits_of`) of random signs.

    Eight sums at a time have 256 signed totals; those stand in a table, and a random byte picks
    one: an eighth of the work, and the same distribution.
    """
    import numpy as np

    groups = -(-len(sums) // _BYTE)
    padded = np.zeros(groups * _BYTE)
    padded[: len(sums)] = sums
    signs = 1 - 2 * (np.arange(256)[:, None] >> np.arange(_BYTE) & 1)
    table = (padded.reshape(groups, _BYTE) @ signs.T).ravel()
    rows = np.arange(groups) * 256
    step = max(1, _CHUNK // groups)
    hits = 0.0
    for start in range(0, resamples, step):
        drawn = rng.integers(0, 256, (min(step, resamples - start), groups), dtype=np.uint8)
        totals = table[rows + drawn].sum(axis=1)
        hits += float(hits_of(totals[:, None], sums[:, None])[0])
    return hits


def mean_and_deviation(values: Sequence[float] | Floats) -> Spread:
    """Return the mean of the values and their sample deviation.

    The deviation divides by n - 1, as in Table 3 of the SEAL paper: no three whole numbers have the
    10.00 +- 4.36 that it prints under division by n.
    """
    import numpy as np

    numbers = np.asarray(values, dtype=np.float64)
    mean = float(numbers.mean()) if len(numbers) else None
    return Spread(mean, float(numbers.std(ddof=1)) if len(numbers) > 1 else None)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p values of a family of comparisons, adjusted, in the order given.

    Rejecting what is adjusted to at most alpha keeps the chance of any false rejection at alpha,
    however the comparisons depend on each other. Source: Holm, A Simple Sequentially Rejective
    Multiple Test Procedure, Scandinavian Journal of Statistics 6, 1979.

    Raises:
        UsageError: A value is not in [0, 1].
    """
    for p in p_values:
        if not 0 <= p <= 1:
            raise UsageError(f"expected p values in [0, 1], got {p}")
    adjusted = [0.0] * len(p_values)
    highest = 0.0
    for rank, position in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[position]))
        adjusted[position] = highest
    return adjusted
