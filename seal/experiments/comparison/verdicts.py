"""Which tasks one run solves and the other does not, and what that says of several trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from typing import TYPE_CHECKING, Any

from seal.core.canonical import derive_seed
from seal.evaluation.comparison import Difference, paired_differences
from seal.evaluation.goals import WHOLLY
from seal.evaluation.power import pass_at, pass_hat
from seal.evaluation.statistics import DIGITS
from seal.experiments.comparison.pairs import Pairs, Side, columns_of, rounded

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_EACH = 10
"""Up to so many trials every k is told; beyond, each is twice the one before."""
_MEASURES = {"pass^k": pass_hat, "pass@k": pass_at}


@dataclass(frozen=True, slots=True)
class Verdicts:
    """Chats of two runs that both have a verdict, task by task."""

    tasks: tuple[str, ...]
    clusters: NDArray[np.int64]
    trials: NDArray[np.int64]
    """Chats of each task that both runs have a verdict on."""
    solved: NDArray[np.int64]
    """Of these, those that the one run solved."""
    other_solved: NDArray[np.int64]
    won: Mapping[int, list[int]]
    """Place of a task to its trials that the one run alone solved."""
    lost: Mapping[int, list[int]]
    """Likewise of the other run."""
    undecided: int
    """Chats of both runs of which one has no verdict, or none on a goal."""


def verdicts_of(one: Side, other: Side, pairs: Pairs, metric: str) -> Verdicts:
    """Return what each task's chats came to, by a metric of which 1 is solved.

    A chat is solved where all its goals that have a value have the highest. One that lacks the
    value of a goal which has one in the other run is undecided: it would be held to less.
    """
    import numpy as np

    wide = int(pairs.trials.max()) + 1 if len(pairs.trials) else 1
    chats, place = np.unique(pairs.tasks * wide + pairs.trials, return_inverse=True)
    mine = columns_of(one.scores, pairs.rows, [metric])[:, 0]
    its = columns_of(other.scores, pairs.others, [metric])[:, 0]
    ours, theirs = (_solved(values, place, len(chats)) for values in (mine, its))
    uneven = np.bincount(place, np.isnan(mine) != np.isnan(its), len(chats)) > 0
    decided = ~np.isnan(ours) & ~np.isnan(theirs) & ~uneven
    held = np.bincount(place, (pairs.rows >= 0) & (pairs.others >= 0), len(chats)) > 0
    task, trial = chats // wide, chats % wide
    count = len(pairs.names)
    clusters = np.zeros(count, dtype=np.int64)
    clusters[pairs.tasks] = pairs.clusters

    def told(chosen: NDArray[np.bool_]) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for where in np.flatnonzero(chosen).tolist():
            found.setdefault(int(task[where]), []).append(int(trial[where]))
        return found

    def counted(chosen: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.bincount(task[chosen], minlength=count)

    return Verdicts(
        tasks=pairs.names,
        clusters=clusters,
        trials=counted(decided),
        solved=counted(decided & (ours == 1)),
        other_solved=counted(decided & (theirs == 1)),
        won=told(decided & (ours > theirs)),
        lost=told(decided & (ours < theirs)),
        undecided=int((held & ~decided).sum()),
    )


def _solved(
    values: NDArray[np.float64], place: NDArray[np.int64], chats: int
) -> NDArray[np.float64]:
    """Return 1.0 or 0.0 for each chat; NaN where no goal of it has a value."""
    import numpy as np

    has = np.bincount(place, ~np.isnan(values), chats)
    short = np.bincount(place, values < WHOLLY, chats)
    return np.where(has > 0, (short == 0).astype(np.float64), np.nan)


def flips_of(found: Verdicts) -> dict[str, Any]:
    """Return the tasks that the one run solves in more, and in fewer, of the same trials.

    Returns:
        {won, lost, both, neither, alike, undecided, mcnemar}: of `won` and `lost` for each task
        {task, trials, solved, other_solved, flipped}, `flipped` being the trials that turned; of
        the others the number of tasks solved by both or neither in all trials, and of those solved
        as often in some; `undecided` counts chats. `mcnemar` is {exact, mid_p}; None where a task
        has several trials.
    """
    import numpy as np

    more, fewer = found.solved > found.other_solved, found.solved < found.other_solved
    same = (found.trials > 0) & ~more & ~fewer
    both = same & (found.solved == found.trials)
    neither = same & (found.solved == 0)
    return {
        "won": [_flip(found, place, found.won) for place in np.flatnonzero(more).tolist()],
        "lost": [_flip(found, place, found.lost) for place in np.flatnonzero(fewer).tolist()],
        "both": int(both.sum()),
        "neither": int(neither.sum()),
        "alike": int((same & ~both & ~neither).sum()),
        "undecided": found.undecided,
        "mcnemar": mcnemar(int(more.sum()), int(fewer.sum())) if (found.trials < 2).all() else None,
    }


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


def _flip(found: Verdicts, place: int, flipped: Mapping[int, list[int]]) -> dict[str, Any]:
    return {
        "task": found.tasks[place],
        "trials": int(found.trials[place]),
        "solved": int(found.solved[place]),
        "other_solved": int(found.other_solved[place]),
        "flipped": flipped[place],
    }


def passes_of(found: Verdicts, seed: int, resamples: int) -> list[dict[str, Any]]:
    """Return pass^k and pass@k of both runs and their differences, for each k up to the trials.

    Returns:
        For each measure and k {measure, k, mean, interval, other_mean, other_interval, difference,
        low, high, p, tasks, excluded}: means over tasks with 95 % bootstrap intervals over clusters
        of tasks, `excluded` the number of tasks with fewer than k trials. pass@1 is pass^1 and
        stands there once. Nothing where no task has two trials.
    """
    import numpy as np

    most = int(found.trials.max()) if len(found.trials) else 0
    asked = [
        (measure, k) for measure in _MEASURES for k in _ks(most) if (measure, k) != ("pass@k", 1)
    ]
    if most < 2:
        return []
    columns = []
    for measure, k in asked:
        estimate = _MEASURES[measure]
        mine = estimate(found.solved, found.trials, k)
        other = estimate(found.other_solved, found.trials, k)
        columns += [mine, other, mine - other]
    drawn = paired_differences(
        np.column_stack(columns), found.clusters, derive_seed(seed, "passes"), resamples
    )
    played = int((found.trials > 0).sum())
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
