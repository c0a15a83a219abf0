"""Runs of one benchmark in the order of a metric, and how much of that order chance could turn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any

from seal.core import Scale, UnknownNameError, UsageError
from seal.core.arrays import Floats, Integers, NDArray, np
from seal.core.values import derive_seed, digest
from seal.evaluation.goals import RATE
from seal.evaluation.significance import ALPHA, holm, paired_differences
from seal.evaluation.statistics import cluster_sums, ranks
from seal.experiments.comparison import sides_of
from seal.experiments.paired_scores import Side, means_over_trials
from seal.experiments.settings import RESAMPLES
from seal.runs.run import RunFolder, scales_of

if TYPE_CHECKING:
    from pandas import DataFrame

LEVEL = 0.95
"""Of the intervals of ranks."""
_AT_ONCE = 500
"""Pairs of runs that are tested at once, and resamples that are drawn at once."""
_ALIKE = 1e-12
"""By how much means that are the same on paper may differ in their last bits."""


@dataclass(frozen=True, slots=True)
class _Field:
    """The scores of the runs that have a rank, side by side."""

    values: Floats
    """(goals, runs): each goal's mean over its trials; NaN where it has no value."""
    clusters: Integers
    """Cluster of each goal."""
    better: int
    """1: high scores are better; -1: low ones are."""
    bounded: bool
    tasks: int


def leaderboard(
    runs: Mapping[str, RunFolder], metric: str, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """Return the runs in the order of a metric.

    A rank is 1 and one more for each run that is better. Its interval says where the run could
    stand, were other tasks of the kind drawn: tasks, or families of them, are drawn with
    replacement, the same for all runs, and the bounds are quantiles of the ranks (Hall and Miller,
    Using the Bootstrap to Quantify the Authority of an Empirical Ranking, The Annals of Statistics
    37, 2009). Runs that are equal in a draw share its ranks. Every two runs are compared by the
    randomisation test of `seal compare`, corrected by Holm over all pairs. A group is a stretch of
    the order in which no two runs differ, and that no such stretch holds (Demsar, Statistical
    Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006).

    A run of other tasks than most, that lacks the metric, or that measures otherwise, has no
    rank: it stands below the others with what sets it apart.

    Args:
        runs: Name to run; two or more.
        metric: By which they are ranked.
        seed: Of draws and tests.
        resamples: Of each.

    Returns:
        {protocol, rows, pairs, groups}. `rows`: {run, model, rank, rank_low, rank_high, groups,
        beaten, mark}; those without a rank have None there, and say why in `mark`. `groups` has the
        numbers of the first and the last group of a run, from 1; `beaten` counts the runs that a
        test places below it. `pairs`: {total, differ}. The lists of `groups` name runs.

    Raises:
        UsageError: Fewer than two runs with a rank, or a metric that ranks nothing.
        UnknownNameError: No run has the metric.
        DataError: A run is not scored, or a file is damaged.
    """
    sides = sides_of(runs)
    scale = scales_of(runs.values()).get(metric, RATE)
    _check(metric, scale, sides)
    marks = _marks(runs, sides)
    for name, run in runs.items():
        if metric not in run.summary()["metrics"]:
            marks[name] = "; ".join(filter(None, [f"no {metric}", marks[name]]))
    ranked = [name for name in runs if not marks[name]]
    if len(ranked) < 2:
        told = "; ".join(f"{name}: {mark}" for name, mark in marks.items() if mark)
        raise UsageError(
            "a leaderboard needs two runs of the same tasks that measure alike; give a run what it "
            "lacks, or name another one" + (f" ({told})" if told else "")
        )
    field = _field([sides[name] for name in ranked], metric, scale)
    content = _standings(field, ranked, seed, resamples)
    nothing = dict.fromkeys(("rank", "rank_low", "rank_high", "groups", "beaten"))
    content["rows"] += [
        {"run": name, **nothing, "mark": mark} for name, mark in marks.items() if mark
    ]
    return {"protocol": _protocol(field, metric, seed, resamples), **content}


def leaderboard_of_scores(
    scores: DataFrame, metric: str, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """Return systems in the order of their scores, which need no runs.

    Args:
        scores: A row for each task, a column for each system; a cell is a score, or NaN where there
            is none. High scores are better.
        metric: What the scores are.
        seed: Of draws and tests.
        resamples: Of each.

    Returns:
        As `leaderboard`; `run` is the name of a column.

    Raises:
        UsageError: Fewer than two systems or tasks, two of one name, or a cell that is no number.
    """
    names = [str(name) for name in scores.columns]
    if len(names) < 2 or len(scores) < 2:
        raise UsageError(
            f"a leaderboard needs two systems and two tasks; the scores have {len(names)} and "
            f"{len(scores)}: give a row a task and a column a system"
        )
    for what, found in (("systems", names), ("tasks", scores.index)):
        twice = [name for name, times in Counter(found).items() if times > 1]
        if twice:
            raise UsageError(f"the scores have two {what} named {twice[0]!r}; rename one")
    try:
        values = scores.to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the scores hold what is no number: {error}; mend it") from error
    if np.isinf(values).any() or np.isnan(values).all(axis=0).any():
        raise UsageError("a system has no score at all, or an infinite one; leave it out")
    bounded = bool(np.nanmin(values) >= 0 and np.nanmax(values) <= 1)
    field = _Field(values, np.arange(len(values)), 1, bounded, len(values))
    content = _standings(field, names, seed, resamples)
    return {"protocol": _protocol(field, metric, seed, resamples), **content}


def _protocol(field: _Field, metric: str, seed: int, resamples: int) -> dict[str, Any]:
    return {
        "metric": metric,
        "higher_is_better": field.better > 0,
        "seed": seed,
        "resamples": resamples,
        "level": LEVEL,
        "alpha": ALPHA,
        "tasks": field.tasks,
    }


def _standings(field: _Field, names: Sequence[str], seed: int, resamples: int) -> dict[str, Any]:
    """Return rows, pairs and groups of the runs of a field."""
    means = _means(*_sums(field))[0] * field.better
    order = np.argsort(-means, kind="stable")
    ranked = [names[place] for place in order]
    field, means = replace(field, values=field.values[:, order]), means[order]
    low, high = _rank_intervals(field, seed, resamples)
    differ = _differing(field, seed, resamples)
    groups = _groups(differ)
    rows: list[dict[str, Any]] = []
    for place, name in enumerate(ranked):
        own = [number for number, (first, last) in enumerate(groups, 1) if first <= place <= last]
        rows.append(
            {
                "run": name,
                "rank": 1 + int((means > means[place] + _ALIKE).sum()),
                "rank_low": int(low[place]),
                "rank_high": int(high[place]),
                "groups": [own[0], own[-1]],
                "beaten": int(differ[place, place + 1 :].sum()),
                "mark": "",
            }
        )
    return {
        "rows": rows,
        "pairs": {
            "total": len(ranked) * (len(ranked) - 1) // 2,
            "differ": int(differ.sum()) // 2,
        },
        "groups": [ranked[first : last + 1] for first, last in groups],
    }


def _check(metric: str, scale: Scale, sides: Mapping[str, Side]) -> None:
    known = {name for side in sides.values() for name in side.scores.metrics}
    if metric not in known:
        raise UnknownNameError("metric of these runs", metric, sorted(known))
    if scale.condition:
        raise UsageError(
            f"{metric} is only of {scale.condition}, so that whoever tries less may have more of "
            "it; rank by another metric"
        )
    if scale.higher_is_better is None:
        raise UsageError(f"neither high nor low scores of {metric} are better; rank by another one")


def _marks(runs: Mapping[str, RunFolder], sides: Mapping[str, Side]) -> dict[str, str]:
    """Return what sets each run apart from most; empty: nothing."""
    tasks = {name: frozenset(side.scores.tasks) for name, side in sides.items()}
    measures = {
        name: {**(run.manifest().get("measure") or {}), "trials": None}
        for name, run in runs.items()
    }
    counts = Counter(tasks.values())
    usual_tasks = max(counts, key=lambda names: (counts[names], len(names)))
    keys = Counter(digest(measure) for measure in measures.values())
    usual = next(one for one in measures.values() if digest(one) == keys.most_common(1)[0][0])
    found = {}
    for name, measure in measures.items():
        names = sorted(measure.keys() | usual.keys())
        others = [one for one in names if measure.get(one) != usual.get(one)]
        told = [f"other {', '.join(others)}"] if others else []
        if tasks[name] != usual_tasks:
            shared, own = len(tasks[name] & usual_tasks), len(tasks[name] - usual_tasks)
            lacks = usual_tasks - tasks[name]
            more = f", without {min(lacks)}" if lacks else ""
            more += f", {own:,} others" if own else ""
            told.append(f"{shared:,} of the {len(usual_tasks):,} tasks{more}")
        found[name] = "; ".join(told)
    return found


def _field(sides: Sequence[Side], metric: str, scale: Scale) -> _Field:
    """Return the scores of runs of the same tasks side by side."""
    places: dict[tuple[str, int], int] = {}
    columns = []
    for side in sides:
        table = means_over_trials(side.scores)
        column = table.metrics.get(metric)
        goals = [(table.tasks[task], goal) for task, _, goal in table.goals.tolist()]
        rows = [places.setdefault(goal, len(places)) for goal in goals]
        columns.append((rows, None if column is None else table.values[:, column]))
    values = np.full((len(places), len(sides)), np.nan)
    for run, (rows, found) in enumerate(columns):
        if found is not None:
            values[rows, run] = found
    clusters = sides[0].clusters
    named = np.asarray([clusters.get(task, task) for task, _ in places])
    better = 1 if scale.higher_is_better else -1
    return _Field(values, ranks(named), better, scale.bounded, len(sides[0].scores.tasks))


def _sums(field: _Field) -> tuple[Floats, Floats]:
    """Return the sums and counts of the runs' values in each cluster, (clusters, runs)."""
    sums, _ = cluster_sums(field.values, field.clusters)
    counts, _ = cluster_sums(~np.isnan(field.values), field.clusters)
    return sums, counts


def _means(sums: Floats, counts: Floats, drawn: Floats | None = None) -> Floats:
    """Return the means of the runs, (draws, runs); that of a run without a value is -inf."""
    drawn = np.ones((1, len(sums))) if drawn is None else drawn
    held = drawn @ counts
    means: Floats = np.where(held > 0, (drawn @ sums) / np.maximum(held, 1e-300), -np.inf)
    return means


def _rank_intervals(field: _Field, seed: int, resamples: int) -> tuple[Integers, Integers]:
    """Return the lowest and the highest rank of each run's interval."""
    sums, counts = _sums(field)
    size = len(sums)
    rng = np.random.default_rng(derive_seed(seed, "ranks"))
    best = np.empty((resamples, sums.shape[1]), dtype=np.int64)
    worst = np.empty_like(best)
    for start in range(0, resamples, _AT_ONCE):
        chunk = min(_AT_ONCE, resamples - start)
        drawn = rng.multinomial(size, np.full(size, 1 / size), size=chunk).astype(np.float64)
        means = _means(sums, counts, drawn) * field.better
        ordered = np.sort(means, axis=1)
        for draw, (row, found) in enumerate(zip(means, ordered, strict=True), start):
            above = len(row) - np.searchsorted(found, row + _ALIKE, side="right")
            below = np.searchsorted(found, row - _ALIKE, side="left")
            best[draw], worst[draw] = 1 + above, len(row) - below
    tail = (1 - LEVEL) / 2
    low = np.quantile(best, tail, axis=0, method="lower")
    high = np.quantile(worst, 1 - tail, axis=0, method="higher")
    return low.astype(np.int64), high.astype(np.int64)


def _differing(field: _Field, seed: int, resamples: int) -> NDArray[np.bool_]:
    """Return whether a test tells every two runs apart, (runs, runs)."""
    runs = field.values.shape[1]
    pairs = combinations(range(runs), 2)
    # The least p that draws can tell must reach the level of the first step of Holm's method.
    resamples = max(resamples, math.ceil(2 * runs * (runs - 1) / ALPHA))
    places, found = list[tuple[int, int]](), list[float | None]()
    seed_of = derive_seed(seed, "pairs")
    while chosen := list(islice(pairs, _AT_ONCE)):
        one, other = np.asarray(chosen).T
        apart = field.values[:, one] - field.values[:, other]
        tested = paired_differences(
            apart, field.clusters, seed_of, resamples, bounded=field.bounded
        )
        places += chosen
        found += [one.p for one in tested]
    differ = np.zeros((runs, runs), dtype=np.bool_)
    tried = [(place, p) for place, p in zip(places, found, strict=True) if p is not None]
    for (place, _), p in zip(tried, holm([p for _, p in tried]), strict=True):
        differ[place] = differ[place[::-1]] = p <= ALPHA
    return differ


def _groups(differ: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the first and last place of each longest stretch in which no two runs differ."""
    found: list[tuple[int, int]] = []
    last = -1
    for first in range(len(differ)):
        reach = first
        while reach + 1 < len(differ) and not differ[first : reach + 1, reach + 1].any():
            reach += 1
        if reach > last:
            found.append((first, reach))
            last = reach
    return found
