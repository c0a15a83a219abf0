"""Two tables of scores, paired: differences of metrics, means over trials, tasks that turned."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seal.core import Scale
from seal.core.arrays import Floats, Integers, NDArray, np
from seal.core.values import derive_seed
from seal.evaluation.goals import RATE, WHOLLY
from seal.evaluation.significance import (
    Difference,
    Noise,
    holm,
    mcnemar,
    noise_of_means,
    paired_differences,
    pass_at,
    pass_hat,
    power_of,
)
from seal.evaluation.statistics import cluster_sums, mean_over, rounded
from seal.experiments.settings import RESAMPLES
from seal.runs.score_table import ScoreTable, TrialSpread, row_numbers

# -- Two tables of scores, paired: the differences of every metric, and why pairs were left out.


@dataclass(frozen=True, slots=True)
class Side:
    """One run in a comparison."""

    name: str
    scores: ScoreTable
    clusters: Mapping[str, str]
    """Task id to the cluster of its pairs (`seal.experiments.comparison`)."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Scores of two runs beside each other."""

    rows: Integers
    """Row of the one side in each pair; -1 where it has none."""
    others: Integers
    """Likewise of the other side."""
    clusters: Integers
    """Number of the cluster of each pair."""
    tasks: Integers
    """Place in `names` of the task of each pair."""
    trials: Integers
    """Trial of each pair."""
    names: tuple[str, ...]
    """Ids of the tasks of the one run, or of the other where it alone has one."""


@dataclass(frozen=True, slots=True)
class Chats:
    """The chats of pairs: of a task, a trial."""

    tasks: Integers
    """Place in `Pairs.names` of the task of each chat."""
    trials: Integers
    place: Integers
    """Place of the chat of each pair."""
    held: NDArray[np.bool_]
    """Whether the one run has the chat, and whether the other has it, (2, chats)."""

    @classmethod
    def of(cls, pairs: Pairs) -> Chats:
        """Return the chats by task and trial."""
        numbers = row_numbers(np.column_stack([pairs.tasks, pairs.trials]))
        _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
        held = [np.bincount(place, rows >= 0) > 0 for rows in (pairs.rows, pairs.others)]
        return cls(pairs.tasks[first], pairs.trials[first], place, np.asarray(held))


def compare(
    one: Side,
    other: Side,
    seed: int,
    resamples: int = RESAMPLES,
    metrics: Sequence[str] | None = None,
    partner: Mapping[str, str] | None = None,
    family: Collection[str] | None = None,
    pairs: Pairs | None = None,
    scales: Mapping[str, Scale] | None = None,
) -> list[dict[str, Any]]:
    """Return the paired difference of two runs in every metric.

    Scores are paired by task, trial and goal. A pair counts in a metric where both have a value;
    the others are excluded, and counted by their reason.

    Args:
        one: The run that is compared.
        other: What it is compared with.
        seed: Of the tests.
        resamples: Of each of them.
        metrics: Those to compare; None: all that either run has.
        partner: Task id of the one run to that of the other which it is paired with; only these are
            compared. None: tasks are paired with themselves.
        family: Metrics that the comparison is about, over which p is corrected: the more there are
            the less is told by each. None: all.
        pairs: Of the two runs, where `pair_up` has found them already.
        scales: What scores mean, by metric; those of other metrics are rates.

    Returns:
        For each metric {run, other, metric, mean, other_mean, difference, low, high, p, p_holm, n,
        detectable, tasks_needed, trials_needed, tasks, excluded}. The means are over the pairs.
        `difference` is the one's mean less the other's, with its 95 % interval over
        clusters of tasks. `p` is that of a randomisation test; `p_holm` is corrected by Holm over
        the family of these two runs, and None outside of it. Of fewer than two clusters there is
        neither an interval nor a test. What is detectable and needed says
        `seal.evaluation.significance.Power`. `n` counts pairs and `tasks` their tasks.
        `excluded`: reason to the number of pairs, and a reason is that of the run before its colon,
        or of `both`. Without a pair, the figures are None.
    """
    names = list({**one.scores.metrics, **other.scores.metrics})
    if metrics is not None:
        names = [name for name in metrics if name in names]
    pairs = pair_up(one, other, partner) if pairs is None else pairs
    differences = np.empty((len(pairs.rows), len(names)), order="F")
    means = []
    for column, name in enumerate(names):
        left = column_of(one.scores, pairs.rows, name)
        right = column_of(other.scores, pairs.others, name)
        differences[:, column] = left - right
        here = ~np.isnan(differences[:, column])
        means.append((_mean(left[here]), _mean(right[here])))
    both = ~np.isnan(differences)
    bounded = [(scales or {}).get(name, RATE).bounded for name in names]
    seed_of = derive_seed(seed, "pairs")
    found = paired_differences(differences, pairs.clusters, seed_of, resamples, bounded=bounded)
    noise = _noise(one, other, pairs, names, both)
    powers = power_of(differences, pairs.clusters, pairs.tasks, pairs.trials, noise=noise)
    excluded = _excluded(one, other, pairs, names)
    entries: list[dict[str, Any]] = []
    for column, (name, apart, power) in enumerate(zip(names, found, powers, strict=True)):
        entries.append(
            {
                "run": one.name,
                "other": other.name,
                "metric": name,
                "mean": means[column][0],
                "other_mean": means[column][1],
                **_apart(apart),
                "p": apart.p,
                "p_holm": None,
                "n": apart.n,
                "detectable": rounded(power.detectable),
                "tasks_needed": power.tasks_needed,
                "trials_needed": power.trials_needed,
                "tasks": int(np.count_nonzero(np.bincount(pairs.tasks[both[:, column]]))),
                "excluded": excluded[column],
            }
        )
    correct([entry for entry in entries if family is None or entry["metric"] in family])
    return [entry | {"p": rounded(entry["p"])} for entry in entries]


def _noise(
    one: Side, other: Side, pairs: Pairs, names: Sequence[str], both: NDArray[np.bool_]
) -> list[Noise] | None:
    """Return what trials add to the errors, by metric; None where the pairs are by trial."""
    if one.scores.spread is None or other.scores.spread is None:
        return None
    varied = np.full((2, len(pairs.names), len(names)), np.nan)
    trials = np.ones(varied.shape, dtype=np.int64)
    for place, (table, spread) in enumerate(
        ((one.scores, one.scores.spread), (other.scores, other.scores.spread))
    ):
        tasks, columns = places_in(table.tasks, pairs.names), places_in(tuple(table.metrics), names)
        here = np.ix_(tasks >= 0, columns >= 0)
        there = np.ix_(tasks[tasks >= 0], columns[columns >= 0])
        varied[place][here], trials[place][here] = spread.variance[there], spread.trials[there]
    held = cluster_sums(both, pairs.tasks)[0] > 0
    return noise_of_means(varied, trials, held, both.sum(axis=0))


def correct(entries: Sequence[dict[str, Any]]) -> None:
    """Set `p_holm` of the entries that have a p, corrected over all of them."""
    tested = [entry for entry in entries if entry["p"] is not None]
    for entry, p in zip(tested, holm([entry["p"] for entry in tested]), strict=True):
        entry["p_holm"] = rounded(p)


def untested(entries: Sequence[Mapping[str, Any]], told: Collection[str] = ()) -> Iterator[str]:
    """Yield a note on every two runs of which metrics have pairs of one task alone.

    Args:
        entries: As of `compare`.
        told: Metrics that are named; none: all.
    """
    by_runs: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for entry in entries:
        if entry["n"]:
            by_runs.setdefault((entry["run"], entry["other"]), []).append(entry)
    for (one, other), counted in by_runs.items():
        alone = [entry["metric"] for entry in counted if entry["p"] is None]
        shown = [metric for metric in alone if not told or metric in told]
        whole = len(alone) == len(counted)
        if shown or whole:
            metrics = "" if whole else f"{', '.join(shown)}: "
            yield (
                f"{one} and {other}: {metrics}one task, or family of them, has neither an interval "
                "nor a test"
            )


def pair_up(one: Side, other: Side, partner: Mapping[str, str] | None = None) -> Pairs:
    """Return the scores of two runs in pairs, those without a partner too.

    Args:
        one: The run whose tasks come first.
        other: The other run.
        partner: As of `compare`.
    """
    ours, theirs = one.scores, other.scores
    if partner is None:
        kept, meets = ours.tasks, ours.tasks
        names = tuple(dict.fromkeys((*ours.tasks, *theirs.tasks)))
    else:
        kept = names = tuple(task for task in ours.tasks if task in partner)
        meets = tuple(partner.get(task, "") for task in ours.tasks)
    rows = np.flatnonzero(places_in(kept, ours.tasks)[ours.goals[:, 0]] >= 0)
    sought = ours.goals[rows]
    sought[:, 0] = places_in(theirs.tasks, meets)[sought[:, 0]]
    others = _rows_of(theirs.goals, sought)
    places = np.arange(len(theirs.goals) if partner is None else 0)
    alone = places[np.isin(places, others, invert=True)]
    tasks = np.concatenate(
        [
            places_in(names, ours.tasks)[ours.goals[rows, 0]],
            places_in(names, theirs.tasks)[theirs.goals[alone, 0]],
        ]
    )
    clusters = [one.clusters.get(task) or other.clusters.get(task, task) for task in names]
    return Pairs(
        rows=np.concatenate([rows, np.full(len(alone), -1)]),
        others=np.concatenate([others, alone]),
        clusters=places_in(tuple(dict.fromkeys(clusters)), clusters)[tasks],
        tasks=tasks,
        trials=np.concatenate([ours.goals[rows, 1], theirs.goals[alone, 1]]),
        names=names,
    )


def places_in(names: Sequence[str], sought: Sequence[str]) -> Integers:
    """Return the place of each name that is sought; -1 where it is not among the names."""
    place = {name: number for number, name in enumerate(names)}
    return np.asarray([place.get(name, -1) for name in sought], dtype=np.int64)


def _rows_of(goals: Integers, sought: Integers) -> Integers:
    """Return the row of each triple that is sought; -1 where it is not there."""
    numbers = row_numbers(np.concatenate([goals, sought]))
    row_of = np.full(len(numbers), -1)
    row_of[numbers[: len(goals)]] = np.arange(len(goals))
    found: Integers = row_of[numbers[len(goals) :]]
    return found


def column_of(table: ScoreTable, rows: Integers, name: str) -> Floats:
    """Return the values of a run by a metric in each pair, (pairs,); NaN where it has none.

    Args:
        table: Scores of the run.
        rows: Its row in each pair; -1: none.
        name: Of the metric.
    """
    if name not in table.metrics or not len(table.values):
        return np.full(len(rows), np.nan)
    return np.where(rows >= 0, table.values[rows, table.metrics[name]], np.nan)


def _excluded(one: Side, other: Side, pairs: Pairs, names: Sequence[str]) -> list[dict[str, int]]:
    """Return for each metric the number of pairs without a difference, by reason."""
    found = []
    wide = len(other.scores.reasons) + 1
    for name in names:
        left, right = _whys(one.scores, pairs.rows, name), _whys(other.scores, pairs.others, name)
        counts = np.bincount((left + 1) * wide + right + 1)
        reasons = {
            _reason(one, other, place // wide - 1, place % wide - 1): int(counts[place])
            for place in (np.flatnonzero(counts[1:]) + 1).tolist()
        }
        found.append(dict(sorted(reasons.items())))
    return found


def _whys(table: ScoreTable, rows: Integers, name: str) -> NDArray[np.int32]:
    """Return the place of the reason why a run has no value, pair by pair; -1: it has one."""
    if name not in table.metrics or not len(table.why):
        return np.zeros(len(rows), dtype=np.int32)
    return np.where(rows >= 0, table.why[rows, table.metrics[name]], 0).astype(np.int32)


def _reason(one: Side, other: Side, left: int, right: int) -> str:
    why = one.scores.reasons[left] if left >= 0 else None
    theirs = other.scores.reasons[right] if right >= 0 else None
    if why == theirs:
        return f"both: {why}"
    parts = ((one.name, why), (other.name, theirs))
    return "; ".join(f"{side}: {reason}" for side, reason in parts if reason is not None)


def _mean(values: Floats) -> float | None:
    return rounded(float(values.mean())) if len(values) else None


# -- The trials of each task as one row of a score table.


def means_over_trials(table: ScoreTable) -> ScoreTable:
    """Return a table with a row a task and goal, as trial 0: the mean of the trials with a value.

    Without any such trial the reason is that of the first.
    """
    owners = row_numbers(table.goals[:, [0, 2]])
    first = np.unique(owners, return_index=True)[1]
    goals = table.goals[first]
    goals[:, 1] = 0
    sums = cluster_sums(table.values, owners)[0]
    counts = cluster_sums(~np.isnan(table.values), owners)[0]
    return replace(
        table,
        goals=goals,
        values=np.where(counts > 0, sums / np.maximum(counts, 1), np.nan),
        why=np.where(counts > 0, -1, table.why[first]),
        spread=_spread(table),
    )


def _spread(table: ScoreTable) -> TrialSpread:
    chats = row_numbers(table.goals[:, :2])
    task = table.goals[np.unique(chats, return_index=True)[1], 0]
    sums = cluster_sums(table.values, chats)[0]
    held = cluster_sums(~np.isnan(table.values), chats)[0] > 0
    count = cluster_sums(held, task)[0].astype(np.int64)
    means = cluster_sums(sums, task)[0] / np.maximum(count, 1)
    squares = cluster_sums(np.where(held, sums - means[task], 0.0) ** 2, task)[0]
    return TrialSpread(np.where(count > 1, squares / np.maximum(count - 1, 1), np.nan), count)


# -- Which tasks one run solves and the other does not, and what that says of several trials.


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
    names = ("trials", "solved", "other_trials", "other_solved")
    counts = {name: int(getattr(found, name)[place]) for name in names}
    return {"task": found.tasks[place], **counts, "flipped": flipped.get(place, [])}


def passes_of(found: Verdicts, seed: int, resamples: int) -> list[dict[str, Any]]:
    """Return pass^k and pass@k of both runs and their differences, for each k up to the trials.

    Returns:
        For each measure and k {measure, k, mean, interval, other_mean, other_interval, difference,
        low, high, p, tasks, excluded}: means over tasks with 95 % intervals over clusters
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
    runs = []
    for measure, k in asked:
        estimate = _MEASURES[measure]
        mine = estimate(found.solved, found.trials, k)
        runs.append((mine, estimate(found.other_solved, found.other_trials, k)))
    apart = np.column_stack([mine - other for mine, other in runs])
    tested = paired_differences(apart, found.clusters, derive_seed(seed, "passes"), resamples)
    played = int((fewest > 0).sum())
    passes = []
    for (measure, k), both, difference, kept in zip(asked, runs, tested, apart.T, strict=True):
        # Of the same tasks: a run with more trials has k of them in more tasks.
        here = ~np.isnan(kept)
        ours, theirs = (mean_over(of_run[here], found.clusters[here]) for of_run in both)
        passes.append(
            {
                "measure": measure,
                "k": k,
                "mean": ours["mean"],
                "interval": [ours["low"], ours["high"]],
                "other_mean": theirs["mean"],
                "other_interval": [theirs["low"], theirs["high"]],
                **_apart(difference),
                "p": rounded(difference.p),
                "tasks": difference.n,
                "excluded": played - difference.n,
            }
        )
    return passes


def _apart(found: Difference) -> dict[str, float | None]:
    """Return what two runs differ by, with its interval."""
    told = {"difference": found.mean, "low": found.low, "high": found.high}
    return {name: rounded(value) for name, value in told.items()}


def _ks(most: int) -> Sequence[int]:
    if most <= _EACH:
        return range(1, most + 1)
    ks = [1]
    while ks[-1] * 2 <= most:
        ks.append(ks[-1] * 2)
    return ks
