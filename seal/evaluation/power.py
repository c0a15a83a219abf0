"""What repeated trials say, and how small a difference a comparison could have found.

pass^k and pass@k tell how surely, and whether at all, one of several trials of a task succeeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import comb
from statistics import NormalDist
from typing import NamedTuple

from seal.core import UsageError
from seal.core.arrays import Floats, Integers, NDArray, np
from seal.evaluation.statistics import cluster_sums, ranks

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
