"""Differences on the same tasks: intervals, tests, Holm's correction, power, pass^k."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from math import comb
from statistics import NormalDist
from typing import NamedTuple

from seal.core import UsageError
from seal.core.arrays import Floats, Integers, NDArray, np
from seal.core.text import counted
from seal.core.values import derive_seed
from seal.evaluation.statistics import DIGITS, cluster_sums, mean_intervals, ranks

# -- Systems on the same tasks: differences of many metrics at once, with intervals and tests.
#
# All columns see the same signs of clusters, so that their figures can be compared. It costs one
# matrix product.

EXACT_CLUSTERS = 16
"""Up to so many clusters all 2**n signs are tried."""
DRAWS = 1_000_000
"""Draws held in memory at once: 8 MB, about what a processor's cache holds."""
ALIKE = 20
"""Drawing the count of one distinct row costs about as much as drawing this many rows."""


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


def paired_differences(
    differences: Floats,
    clusters: Integers,
    seed: int,
    resamples: int = 10_000,
    weights: Floats | None = None,
    bounded: bool | Sequence[bool] = True,
) -> list[Difference]:
    """Return for each column the mean difference, its interval and a randomisation test.

    Source of the intervals: `mean_intervals`; of the randomisation test: Smucker, Allan and
    Carterette, A Comparison of Statistical Significance Tests for Information Retrieval Evaluation,
    CIKM 2007. Were the systems alike, each difference could as well have the other sign: p is the
    share of signs whose mean lies farther from 0, those whose mean lies as far counted half. Solved
    or not has few possible sums. Of 20 tasks, counting these whole rejects 2.2 % of the true null
    hypotheses instead of 5 %, counting half 4.1 %. All signs are tried of at most `EXACT_CLUSTERS`
    clusters that differ, and of any number that differ equally much, as of solved or not. Of
    others they are drawn; p = (1 + hits) / (1 + resamples), so that p is never 0. Sources:
    Lancaster, Significance Tests in Discrete Distributions, Journal of the American Statistical
    Association 56, 1961 (mid-p); Agresti, Categorical Data Analysis, 2013, section 1.4.4;
    Fagerland, Lydersen and Laake, The McNemar test for binary matched-pairs data, BMC Medical
    Research Methodology 13, 2013 (of solved or not, this test).

    Args:
        differences: (pairs, columns); NaN where a pair has no value in a column.
        clusters: Cluster of each pair, (pairs,); a cluster changes sign as a whole.
        seed: The same seed and values give the same result, whatever the order of the columns.
        resamples: Of the tests, where they draw.
        weights: Of each pair, above 0, in the mean, its interval and the sums whose signs change;
            None: all pairs count alike.
        bounded: Whether values lie in [0, 1], of all columns or of each; those of counts do not.

    Raises:
        UsageError: The lengths differ, or a number is infinite.
    """
    for name, given in (("cluster", clusters), ("weight", weights)):
        if differences.ndim != 2 or (given is not None and len(given) != len(differences)):
            raise UsageError(
                f"expected a {name} for each of {counted(len(differences), 'pair')}, "
                f"got {0 if given is None else len(given)}"
            )
    if np.isinf(differences).any():
        raise UsageError("a difference is infinite: leave out the pairs that have no value")
    present = ~np.isnan(differences)
    times = 1 if weights is None else weights[:, None]
    sums, _ = cluster_sums(differences if weights is None else differences * times, clusters)
    counts, _ = cluster_sums(present if weights is None else present * times, clusters)
    held = np.count_nonzero(counts, axis=0)
    lows, highs = mean_intervals(differences, clusters, weights, bounded, signed=True).tolist()
    exact = [_exact_p(column[column != 0]) for column in sums.T]
    drawn = _drawn_p(sums, seed, resamples) if None in exact else np.ones(len(exact))
    found = []
    for column, mine in enumerate(present.T):
        values, own = differences[mine, column], None if weights is None else weights[mine]
        mean = float(np.average(values, weights=own)) if len(values) else None
        if held[column] < 2:
            found.append(Difference(mean, None, None, None, len(values)))
            continue
        told = exact[column]
        p = float(drawn[column]) if told is None else told
        found.append(Difference(mean, lows[column], highs[column], p, len(values)))
    return found


def _drawn_p(sums: Floats, seed: int, resamples: int) -> Floats:
    """Return the p of every column under random signs of the clusters."""
    sums, place = _distinct(sums)
    size, rng = len(sums), np.random.default_rng(derive_seed(seed, "signs"))
    alike, _, frequency = ordered(sums, most=size / ALIKE)
    whole, slack = sums.sum(axis=0), _slack(sums)
    hits = np.zeros(sums.shape[1])
    step = max(1, DRAWS // max(size, 1))
    for start in range(0, resamples, step):
        chunk = min(step, resamples - start)
        # sum of s * (1 - 2 b) = total - 2 sum of s * b
        if len(alike):
            turned = rng.binomial(frequency, 0.5, size=(chunk, len(alike))) @ alike
        else:
            drawn = np.frombuffer(rng.bytes(chunk * -(-size // 8)), dtype=np.uint8)
            bits = np.unpackbits(drawn.reshape(chunk, -1), axis=1, count=size)
            turned = bits.astype(np.float64) @ sums
        hits += _hits(whole - 2 * turned, whole, slack)
    p: Floats = (1 + hits) / (1 + resamples)
    return p[place]


def _exact_p(sums: Floats) -> float | None:
    """Return the p of few sums, of which all signs are tried, or of equal ones; None of others."""
    if len(sums) > EXACT_CLUSTERS:
        return _binomial_p(sums)
    totals, column = np.zeros(1), sums[:, None]
    for each in sums:
        totals = np.concatenate([totals + each, totals - each])
    hits = _hits(totals[:, None], column.sum(axis=0), _slack(column))
    return float(hits[0]) / len(totals) if len(sums) else 1.0


def _binomial_p(sums: Floats) -> float | None:
    """Return the p of sums that are all equally far from 0, as of solved or not; None: they vary.

    Their signs alone decide, so that all signs are told by the binomial distribution.
    """
    sizes = np.abs(sums)
    if (sizes.max() - sizes.min()) > 1e-12 * sizes.max():
        return None
    turned = len(sums)
    few = int(min((sums > 0).sum(), (sums < 0).sum()))
    ways = below = 1
    for drawn in range(few):
        ways = ways * (turned - drawn) // (drawn + 1)
        below += ways
    if 2 * few == turned:
        return 1 - float(ways / 2 ** (turned + 1))
    return float((2 * below - ways) / 2**turned)


def _slack(sums: Floats) -> Floats:
    """Return by how much totals that are the same on paper may differ in the last bits."""
    slack: Floats = 1e-12 * np.abs(sums).sum(axis=0)
    return slack


def _hits(totals: Floats, observed: Floats, slack: Floats) -> Floats:
    """Return how many totals lie farther from 0 than the observed one, those as far counted half.

    Args:
        totals: Of the sums under other signs, (signs, columns).
        observed: Total of each column, (columns,).
        slack: As of `_slack`, (columns,).
    """
    beyond = np.abs(totals) - np.abs(observed)
    found: Floats = ((beyond >= -slack).sum(axis=0) + (beyond > slack).sum(axis=0)) / 2
    return found


def _distinct(columns: Floats) -> tuple[Floats, Integers]:
    """Return each column once, in an order of their own, and the place of every one in it.

    Most metrics count in the same pairs, and several say the same of all.
    """
    found, place, _ = ordered(columns.T)
    return found.T, place


def ordered(rows: Floats, most: float = math.inf) -> tuple[Floats, Integers, Integers]:
    """Return each row once, in the order of their numbers, the place of every row, and frequencies.

    `numpy.unique` does the same, and compares rows by one field after the other, which takes long
    for rows of many numbers.

    Args:
        rows: (n, columns), without NaN.
        most: Where there are as many distinct ones or more, none is returned.
    """
    whole = np.add(rows, 0.0, order="C")  # -0.0 is 0.0
    seen: dict[bytes, int] = {}
    place = np.asarray([seen.setdefault(row.tobytes(), len(seen)) for row in whole], dtype=np.int64)
    if len(seen) >= most:
        return whole[:0], place, place[:0]
    alone = whole[np.unique(place, return_index=True)[1]]
    numbers = [array("d", row.tobytes()) for row in alone]  # a quarter of the size of lists
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    return alone[order], np.argsort(order)[place], np.bincount(place)[order]


def mean_and_deviation(values: Sequence[float] | Floats) -> Spread:
    """Return the mean of the values and their sample deviation.

    The deviation divides by n - 1, as in Table 3 of the SEAL paper: no three whole numbers have the
    10.00 +- 4.36 that it prints under division by n.
    """
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


def mcnemar(won: int, lost: int) -> dict[str, float]:
    """Return the two-sided p of as many tasks won and lost, by McNemar's test.

    Sources: McNemar, Psychometrika 12, 1947 (exact: binomial); Fagerland, Lydersen and Laake, BMC
    Medical Research Methodology 13, 2013 (mid-p: what is as likely as observed counts half). Each
    task counts by itself, variants of one task too.
    """
    turned = won + lost
    ways = [comb(turned, few) for few in range(min(won, lost) + 1)]
    exact = min(1.0, 2 * sum(ways) / 2**turned)
    mid_p = 1.0 if won == lost else (2 * sum(ways) - ways[-1]) / 2**turned
    return {"exact": round(exact, DIGITS), "mid_p": round(mid_p, DIGITS)}


# -- What repeated trials say, and how small a difference a comparison could have found.
#
# pass^k and pass@k tell how surely, and whether at all, one of several trials of a task succeeds.

ALPHA = 0.05
"""Chance of calling a difference real that is none, two-sided."""
POWER = 0.8
"""Chance of finding a difference that is there."""


class Power(NamedTuple):
    """What one comparison could find."""

    error: float | None
    """Standard error of the mean difference; None where there are fewer than two clusters."""
    detectable: float | None
    """Smallest true difference that is found with the wanted power; None without an error, or where
    no pair differs, for then nothing is known of how much they could."""
    tasks_needed: int | None
    """Tasks that would find the observed difference, with as many trials as there are."""
    trials_needed: int | None
    """Trials of these tasks, of each run, that would find it; None where no number of them does, or
    where there is one trial only, which does not tell how trials vary."""


class Noise(NamedTuple):
    """What trials of one task that differ add to an error."""

    squared: float | None
    """Of SE squared the part that is due to them; None: there is one trial only."""
    trials: float
    """How many there are; of two runs that differ in them, as many as would add as much."""


NO_POWER = Power(None, None, None, None)


def power_of(
    differences: Floats,
    clusters: Integers,
    tasks: Integers,
    trials: Integers,
    alpha: float = ALPHA,
    power: float = POWER,
    noise: Sequence[Noise] | None = None,
) -> list[Power]:
    """Return for each column what its pairs could find.

    The smallest detectable difference is (z(1 - alpha / 2) + z(power)) SE: 2.80 standard errors for
    alpha .05 and power .8. SE is the clustered standard error of the mean difference, with G / (G -
    1) for G clusters. It falls with the root of the number of tasks; of SE squared, W is due to
    trials of one task that differ, which r times as many trials divide by r, and the rest to tasks:
    K trials need K W / ((difference / 2.80)^2 - rest), rounded up. Where W is larger than SE
    squared, the rest, which would be below 0, is 0, and W is SE squared: the present number of
    trials then has the error that was seen.
    Sources: Miller, Adding Error Bars to Evals, 2024 (clustered errors, repeated trials, power);
    Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988.

    Args:
        differences: (pairs, columns); NaN where a pair has no value in a column.
        clusters: Cluster of each pair, (pairs,).
        tasks: Task of each pair, (pairs,).
        trials: Trial of each pair, (pairs,).
        alpha: Of the two-sided test.
        power: Wanted.
        noise: Of each column, where the pairs are means over trials; None: the pairs tell it.
    """
    if not differences.size:
        return [NO_POWER] * differences.shape[1]
    reach = NormalDist().inv_cdf(1 - alpha / 2) + NormalDist().inv_cdf(power)
    present = ~np.isnan(differences)
    together = np.zeros(len(differences), dtype=np.int64)
    means = cluster_sums(differences, together)[0][0] / np.maximum(present.sum(axis=0), 1)
    between = _squared_error(differences, present, clusters)
    held = (cluster_sums(present, tasks)[0] > 0).sum(axis=0)
    if noise is None:
        chat = ranks(tasks * (int(trials.max()) + 1) + trials)
        owner = np.zeros(int(chat.max()) + 1, dtype=np.int64)
        owner[chat] = ranks(tasks)
        noise = [_noise(numbers, chat, owner) for numbers in differences.T]
    return [
        _power(float(mean), squared, part, int(count), reach)
        for mean, squared, part, count in zip(means, between, noise, held, strict=True)
    ]


def noise_of_means(
    varied: Floats, trials: Integers, held: NDArray[np.bool_], pairs: Integers
) -> list[Noise]:
    """Return for each column what trials add to the error of a mean of differences of means.

    Of a mean over K trials that vary by V it is V / K. A task with one trial counts as varying like
    the others of its run. A run with one trial of each task counts as varying like the other run.

    Args:
        varied: (2, tasks, columns): of either run, the variance of what one trial sums up to over
            the goals of a task; NaN where there is one trial.
        trials: (2, tasks, columns): how many there are.
        held: (tasks, columns): whether a task has a pair.
        pairs: Of each column.
    """
    known = held & ~np.isnan(varied)
    sums, counts = np.where(known, varied, 0.0).sum(axis=1), known.sum(axis=1)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    means = np.where(np.isnan(means), means[::-1], means)
    filled = np.where(held, np.where(known, varied, means[:, None, :]), 0.0)
    now = (filled / np.maximum(trials, 1)).sum(axis=(0, 1)) / np.maximum(pairs, 1) ** 2
    one = filled.sum(axis=(0, 1)) / np.maximum(pairs, 1) ** 2
    return [
        Noise(None, 1.0) if np.isnan(of_all) else Noise(float(of_all), float(each / (of_all or 1)))
        for of_all, each in zip(now, one, strict=True)
    ]


def _squared_error(
    differences: Floats, present: NDArray[np.bool_], clusters: Integers
) -> list[float | None]:
    """Return SE squared of each column, linearised as a ratio of the clusters' sums and counts."""
    sums, counts = cluster_sums(differences, clusters)[0], cluster_sums(present, clusters)[0]
    pairs = np.maximum(counts.sum(axis=0), 1)
    squares = ((sums - sums.sum(axis=0) / pairs * counts) ** 2).sum(axis=0) / pairs**2
    held = (counts > 0).sum(axis=0)
    return [
        float(square * count / (count - 1)) if count > 1 else None
        for square, count in zip(squares, held.tolist(), strict=True)
    ]


def _noise(numbers: Floats, chat: Integers, owner: Integers) -> Noise:
    """Return what trials add to the error of a column, and how many a task has.

    The goals of a chat are summed. Tasks with one trial count as varying like the others.

    Args:
        numbers: Of each pair, (pairs,); NaN where it has no value.
        chat: Of each pair, (pairs,): the number of its task and trial.
        owner: Number of the task of each chat, (chats,).
    """
    here = ~np.isnan(numbers)
    sums, held = np.bincount(chat, np.where(here, numbers, 0.0)), np.bincount(chat, here) > 0
    played, totals = np.bincount(owner, held), np.bincount(owner, sums)
    centres = (totals / np.maximum(played, 1))[owner]
    squares = np.bincount(owner, np.where(held, sums - centres, 0.0) ** 2)
    several = played > 1
    # The sum over K trials varies by K times their variance, squares / (K - 1).
    varied = (squares * played / np.maximum(played - 1, 1))[several].sum()
    chats, repeated = int(held.sum()), float(played[several].sum())
    part = float(varied * chats / repeated / int(here.sum()) ** 2) if repeated else None
    return Noise(part, chats / max(int(np.count_nonzero(played)), 1))


def _power(mean: float, squared: float | None, noise: Noise, tasks: int, reach: float) -> Power:
    if squared is None:
        return NO_POWER
    if squared == 0 and mean == 0:
        return Power(0.0, None, None, None)
    error = math.sqrt(squared)
    # A mean of equal numbers of either sign may differ from 0 in its last bits.
    if abs(mean) < 1e-9:
        return Power(error, reach * error, None, None)
    wanted = (mean / reach) ** 2
    needed = max(1, math.ceil(tasks * squared / wanted))
    return Power(error, reach * error, needed, _trials(squared, noise, wanted))


def _trials(squared: float, noise: Noise, wanted: float) -> int | None:
    within = noise.squared
    if within is None:
        return None
    rest = max(squared - within, 0.0)
    if rest >= wanted:
        return None
    return max(1, math.ceil(noise.trials * min(within, squared) / (wanted - rest) - 1e-9))


def pass_hat(solved: Integers, trials: Integers, k: int) -> Floats:
    """Return for each task the unbiased estimate of the chance that k trials all succeed.

    C(c, k) / C(n, k) for c of n trials that did. Source: Yao et al., tau-bench, 2024 (pass^k).

    Args:
        solved: Trials that succeeded, one number a task.
        trials: Trials that were played, one number a task.
        k: At least 1.

    Returns:
        In [0, 1]; NaN where a task has fewer than k trials.

    Raises:
        UsageError: k is below 1, or more trials succeeded than were played.
    """
    return _estimates(solved, trials, k, lambda c, n: comb(c, k) / comb(n, k))


def pass_at(solved: Integers, trials: Integers, k: int) -> Floats:
    """Return for each task the unbiased estimate of the chance that one of k trials succeeds.

    1 - C(n - c, k) / C(n, k) for c of n trials that did. Source: Chen et al., Evaluating Large
    Language Models Trained on Code, 2021, equation 1 (pass@k of HumanEval).

    Args:
        solved: Trials that succeeded, one number a task.
        trials: Trials that were played, one number a task.
        k: At least 1.

    Returns:
        In [0, 1]; NaN where a task has fewer than k trials.

    Raises:
        UsageError: k is below 1, or more trials succeeded than were played.
    """
    return _estimates(solved, trials, k, lambda c, n: 1 - comb(n - c, k) / comb(n, k))


def _estimates(
    solved: Integers, trials: Integers, k: int, estimate: Callable[[int, int], float]
) -> Floats:
    if k < 1:
        raise UsageError(f"expected k of at least 1, got {k}")
    if len(solved) != len(trials) or (solved > trials).any() or (solved < 0).any():
        raise UsageError("expected for each task as many trials as succeeded, or more")
    wide = int(trials.max(initial=0)) + 1
    kinds, place = np.unique(solved * wide + trials, return_inverse=True)
    pairs = (divmod(kind, wide) for kind in kinds.tolist())
    values = [estimate(c, n) if n >= k else np.nan for c, n in pairs]
    return np.asarray(values, dtype=np.float64)[place]
