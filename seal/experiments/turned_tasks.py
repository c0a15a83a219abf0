"""Which tasks one run solves and the other does not, and what that says of several trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seal.core import Scale
from seal.core.arrays import Floats, Integers, NDArray, np
from seal.core.values import derive_seed
from seal.evaluation.goals import RATE, WHOLLY
from seal.evaluation.significance import Difference, mcnemar, paired_differences, pass_at, pass_hat
from seal.evaluation.statistics import rounded
from seal.experiments.paired_scores import Chats, Pairs, Side, column_of

_EACH = 10
"""Up to so many trials every k is told; beyond, each is twice the one before."""
_MEASURES = {"pass^k": pass_hat, "pass@k": pass_at}


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Chats of two runs that have a verdict, task by task."""

    tasks: tuple[str, ...]
    clusters: Integers
    trials: Integers
    """Chats of each task that the one run has a verdict on."""
    solved: Integers
    """Of these, those that it solved."""
    other_trials: Integers
    """Chats of each task that the other run has a verdict on; the same chats where runs have the
    same trials."""
    other_solved: Integers
    won: Mapping[int, list[int]]
    """Place of a task to its trials that both have and the one run alone solved."""
    lost: Mapping[int, list[int]]
    """Likewise of the other run."""
    undecided: int
    """Chats that lack a verdict, or one on a goal; where runs have the same trials, in either."""


def verdicts_of(
    one: Side,
    other: Side,
    pairs: Pairs,
    chats: Chats,
    metric: str,
    averaged: bool = False,
    scale: Scale = RATE,
) -> Verdicts:
    """Return what each task's chats came to, by a metric whose best value is solved.

    A chat is solved where all its goals that have a value have the best. One that lacks the
    value of a goal which has one in the other run is undecided: it would be held to less.

    Args:
        one: The run that is compared.
        other: What it is compared with.
        pairs: Of both, by trial.
        chats: Of these pairs.
        metric: Of which 1 is solved, or 0 where low scores are better.
        averaged: The runs differ in trials: each keeps all its chats, and one is undecided that has
            fewer goals with a value than another chat of its task.
        scale: Of the metric.
    """
    task, trial, place, held = chats.tasks, chats.trials, chats.place, chats.held
    mine = column_of(one.scores, pairs.rows, metric)
    its = column_of(other.scores, pairs.others, metric)
    low = scale.higher_is_better is False
    ours, theirs = (
        _solved(1 - values if low else values, place, len(task)) for values in (mine, its)
    )
    count = len(pairs.names)
    has = [np.bincount(place, ~np.isnan(values), len(task)) for values in (mine, its)]
    if averaged:
        decided, other_decided, undecided = _each_decided(task, count, held, has)
    else:
        uneven = np.bincount(place, np.isnan(mine) != np.isnan(its), len(task)) > 0
        decided = other_decided = (has[0] > 0) & (has[1] > 0) & ~uneven
        undecided = int((held[0] & held[1] & ~decided).sum())
    both = decided & other_decided
    clusters = np.zeros(count, dtype=np.int64)
    clusters[pairs.tasks] = pairs.clusters

    def told(chosen: NDArray[np.bool_]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for where in np.flatnonzero(chosen).tolist():
            found.setdefault(int(task[where]), []).append(int(trial[where]))
        return found

    def counted(chosen: NDArray[np.bool_]) -> Integers:
        return np.bincount(task[chosen], minlength=count)

    return Verdicts(
        tasks=pairs.names,
        clusters=clusters,
        trials=counted(decided),
        solved=counted(decided & (ours == 1)),
        other_trials=counted(other_decided),
        other_solved=counted(other_decided & (theirs == 1)),
        won=told(both & (ours > theirs)),
        lost=told(both & (ours < theirs)),
        undecided=undecided,
    )


def _each_decided(
    task: Integers, count: int, held: NDArray[np.bool_], has: Sequence[Integers]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], int]:
    """Return which chats of either run have a verdict, and how many of shared tasks lack one.

    Args:
        task: Place of the task of each chat, below `count`.
        count: Tasks.
        held: As of `Chats`.
        has: Of either run, goals of the chat with a value.
    """
    most = np.zeros(count)
    np.maximum.at(most, task, np.maximum(*has))
    ours, theirs = ((goals > 0) & (goals == most[task]) for goals in has)
    shared = np.all([np.bincount(task[here], minlength=count) for here in held], axis=0)[task]
    lacking = (held[0] & ~ours & shared).sum() + (held[1] & ~theirs & shared).sum()
    return ours, theirs, int(lacking)


def _solved(values: Floats, place: Integers, chats: int) -> Floats:
    """Return 1.0 or 0.0 for each chat; NaN where no goal of it has a value."""
    has = np.bincount(place, ~np.isnan(values), chats)
    short = np.bincount(place, values < WHOLLY, chats)
    return np.where(has > 0, (short == 0).astype(np.float64), np.nan)


def flips_of(found: Verdicts) -> dict[str, Any]:
    """Return the tasks that the one run solves in more, and in fewer, of their trials.

    Returns:
        {won, lost, both, neither, alike, undecided, mcnemar}: of `won` and `lost` for each task
        {task, trials, solved, other_trials, other_solved, flipped}, `flipped` being the trials of
        both that turned; of the others the number of tasks solved by both or neither in all trials,
        and of those solved as often in some; `undecided` counts chats. `mcnemar` is {exact, mid_p};
        None where a task
        has several trials.
    """
    # Shares of trials, compared without a division.
    ours, theirs = found.solved * found.other_trials, found.other_solved * found.trials
    more, fewer = ours > theirs, ours < theirs
    held = (found.trials > 0) & (found.other_trials > 0)
    same = held & ~more & ~fewer
    both = same & (found.solved == found.trials)
    neither = same & (found.solved == 0)
    once = (np.maximum(found.trials, found.other_trials) < 2).all()
    return {
        "won": [_flip(found, place, found.won) for place in np.flatnonzero(more).tolist()],
        "lost": [_flip(found, place, found.lost) for place in np.flatnonzero(fewer).tolist()],
        "both": int(both.sum()),
        "neither": int(neither.sum()),
        "alike": int((same & ~both & ~neither).sum()),
        "undecided": found.undecided,
        "mcnemar": mcnemar(int(more.sum()), int(fewer.sum())) if once else None,
    }


def _flip(found: Verdicts, place: int, flipped: Mapping[int, list[int]]) -> dict[str, Any]:
    return {
        "task": found.tasks[place],
        "trials": int(found.trials[place]),
        "solved": int(found.solved[place]),
        "other_trials": int(found.other_trials[place]),
        "other_solved": int(found.other_solved[place]),
        "flipped": flipped.get(place, []),
    }


def passes_of(found: Verdicts, seed: int, resamples: int) -> list[dict[str, Any]]:
    """Return pass^k and pass@k of both runs and their differences, for each k up to the trials.

    Returns:
        For each measure and k {measure, k, mean, interval, other_mean, other_interval, difference,
        low, high, p, tasks, excluded}: means over tasks with 95 % bootstrap intervals over clusters
        of tasks, `excluded` the number of tasks with fewer than k trials in a run. pass@1 is pass^1
        and stands there once. Nothing where no task has two trials in both runs.
    """
    fewest = np.minimum(found.trials, found.other_trials)
    most = int(fewest.max()) if len(fewest) else 0
    asked = [
        (measure, k) for measure in _MEASURES for k in _ks(most) if (measure, k) != ("pass@k", 1)
    ]
    if most < 2:
        return []
    columns = []
    for measure, k in asked:
        estimate = _MEASURES[measure]
        mine = estimate(found.solved, found.trials, k)
        other = estimate(found.other_solved, found.other_trials, k)
        apart = mine - other
        # Of the same tasks: a run with more trials has k of them in more tasks.
        columns += [*np.where(np.isnan(apart), np.nan, [mine, other]), apart]
    drawn = paired_differences(
        np.column_stack(columns), found.clusters, derive_seed(seed, "passes"), resamples
    )
    played = int((fewest > 0).sum())
    return [
        {"measure": measure, "k": k, **_pass(ours, theirs, apart, played)}
        for (measure, k), ours, theirs, apart in zip(
            asked, drawn[::3], drawn[1::3], drawn[2::3], strict=True
        )
    ]


def _pass(ours: Difference, theirs: Difference, apart: Difference, played: int) -> dict[str, Any]:
    return {
        "mean": rounded(ours.mean),
        "interval": [rounded(ours.low), rounded(ours.high)],
        "other_mean": rounded(theirs.mean),
        "other_interval": [rounded(theirs.low), rounded(theirs.high)],
        "difference": rounded(apart.mean),
        "low": rounded(apart.low),
        "high": rounded(apart.high),
        "p": rounded(apart.p),
        "tasks": apart.n,
        "excluded": played - apart.n,
    }


def _ks(most: int) -> Sequence[int]:
    if most <= _EACH:
        return range(1, most + 1)
    ks = [1]
    while ks[-1] * 2 <= most:
        ks.append(ks[-1] * 2)
    return ks
