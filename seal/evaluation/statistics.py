"""Means with n, the number undefined, and intervals, overall and by group."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from math import inf, isnan
from statistics import NormalDist
from typing import Any, NamedTuple

from seal.core import Scale, Score, Task
from seal.core.arrays import Floats, Integers, NDArray, np
from seal.evaluation.goals import INFRASTRUCTURE, RATE

BALANCED = "calls_balanced"
"""Mean of the means of `calls_right` over goals that need a call and over those that need none."""
DIGITS = 6
"""Decimals of every number in a summary."""
Z = NormalDist().inv_cdf(0.975)
"""Errors from which a mean differs as one in twenty does by chance."""
RARE = 0.1
"""Weight of what rare clusters may do that have not been seen (`_share_reaches`)."""
_ROUNDING = 1e-12
"""A value as near to a whole number is meant to be it."""


class Interval(NamedTuple):
    """Bounds of a confidence interval; None where there are fewer than two clusters."""

    low: float | None
    high: float | None


def mean_interval(
    values: Sequence[float] | Floats,
    clusters: Sequence[int] | Integers | None = None,
    weights: Sequence[float] | Floats | None = None,
    bounded: bool = True,
) -> Interval:
    """Return the 95 % interval of one weighted mean, as `mean_intervals` does of many."""
    numbers = np.asarray(values, dtype=np.float64)[:, None]
    own = np.arange(len(numbers)) if clusters is None else np.asarray(clusters)
    low, high = mean_intervals(numbers, own, weights, bounded)[:, 0].tolist()
    return Interval(None, None) if isnan(low) else Interval(low, high)


def mean_intervals(
    values: Floats,
    clusters: NDArray[np.generic],
    weights: Sequence[float] | Floats | None = None,
    bounded: bool | Sequence[bool] = True,
    signed: bool = False,
) -> Floats:
    """Return the 95 % interval of the weighted mean of every column, (2, columns).

    A column in [0, 1] has Wilson's score interval with the effective size of its sample. The values
    of one cluster count together, so that several trials or goals of a task are not taken as
    independent. Of 0 and 1, one in a cluster, it is the interval of Wilson himself, but for the
    limits of Brown, Cai and DasGupta where at most four are 1, or are 0. See `_share_reaches`.

    Counts and other values without an upper bound have the score interval of a variance that grows
    as the mean does (`_count_reaches`). A column with values below 0, such as differences, is what
    its values above 0 amount to less what those below 0 do. Each part has its own interval, and the
    distances to their bounds are added as squares. Sources: Newcombe, Improved Confidence Intervals
    for the Difference Between Binomial Proportions Based on Paired Data, Statistics in Medicine 17,
    1998; Zou and Donner, Construction of Confidence Limits About Effect Measures, Statistics in
    Medicine 27, 2008. How often intervals hold the truth: perf/interval_coverage.py.

    Args:
        values: Finite numbers, (n, columns); NaN where a row has no value in a column.
        clusters: Cluster of each row, (n,).
        weights: Of each row, above 0; None: all count alike.
        bounded: Whether values end at 1, of all columns or of each; a column with a value beyond
            has no upper bound all the same.
        signed: Whether values may lie below 0 even in columns where none does.

    Returns:
        NaN where a column has values in fewer than two clusters, or values too large to be squared.
        Else low <= mean <= high and low < high, within [0, 1] of columns in [0, 1].
    """
    # Sums of floats miss a whole number by a rounding, and the limits of 0 and 1 are others'.
    whole = np.rint(values)
    values = np.where(np.abs(values - whole) < _ROUNDING, whole, values)
    present = ~np.isnan(values)
    times = 1.0 if weights is None else np.asarray(weights, dtype=np.float64)[:, None]
    sums, _ = cluster_sums(values * times, clusters)
    counts, _ = cluster_sums(present * times, clusters)
    known = np.where(present, values, 0.0)
    found = np.full((2, values.shape[1]), np.nan)
    held = np.count_nonzero(counts, axis=0) > 1
    beyond = (np.abs(known).max(axis=0, initial=0.0) > 1 + 1e-9) | ~np.asarray(
        bounded, dtype=np.bool_
    )
    below = (known < 0).any(axis=0) | signed
    for unbounded, apart in product((False, True), repeat=2):
        here = held & (beyond == unbounded) & (below == apart)
        if not here.any():
            continue
        reaches = _count_reaches if unbounded else _share_reaches
        with np.errstate(over="ignore", invalid="ignore"):
            parts = (partial(_apart, reaches) if apart else reaches)(sums[:, here], counts[:, here])
            bounds = np.stack([parts.mean - parts.below, parts.mean + parts.above])
        most = inf if unbounded else 1.0
        found[:, here] = np.clip(bounds, -most if apart else 0.0, most) + 0.0  # not -0.0
    return np.where(np.isfinite(found).all(axis=0), found, np.nan)


class _Reaches(NamedTuple):
    """Of every column the mean, and how far its interval reaches below and above it."""

    mean: Floats
    below: Floats
    above: Floats
    residuals: Floats
    """What each cluster's sum lies above that of a cluster with the mean, (clusters, columns)."""
    dispersion: Floats
    """By which the clusters vary more than 0 and 1, or counts, with their mean would."""


class _Spread(NamedTuple):
    """Of every column what its clusters tell of the mean's error."""

    mean: Floats
    size: Floats
    """Clusters of equal size that would tell as much if each had one value throughout (Kish)."""
    clusters: Floats
    """How many have a value."""
    variance: Floats
    """Of a cluster's mean: the mean's error squared is this divided by the size."""
    residuals: Floats


def _spread(sums: Floats, counts: Floats) -> _Spread:
    whole, squares = counts.sum(axis=0), (counts**2).sum(axis=0)
    mean = sums.sum(axis=0) / whole
    residuals = sums - mean * counts
    variance = (residuals**2).sum(axis=0) / squares
    held = np.count_nonzero(counts, axis=0).astype(np.float64)
    return _Spread(mean, whole**2 / squares, held, variance, residuals)


def _share_reaches(sums: Floats, counts: Floats, unseen: Floats | float = 1.0) -> _Reaches:
    """Return the intervals of shares, each cluster a share of its own.

    `unseen` is the dispersion of columns whose values are all 0, or all 1.

    The effective size is that of as many clusters, divided by the dispersion: the variance of the
    clusters' shares over m (1 - m), which is that of 0 and 1 and which none in [0, 1] exceed. Where
    few clusters differ from the rest, their spread tells little. So the dispersion is drawn towards
    1 with the weight of `RARE` / (m (1 - m)) clusters: 0.4 at a mean of .5, 5 at .02. Without it,
    the intervals of partial scores near 0 and 1 are too narrow.

    The bounds are the two means from which the observed one lies 1.96 errors away. Sources: Wilson,
    Probable Inference, the Law of Succession, and Statistical Inference, Journal of the American
    Statistical Association 22, 1927; Kish, Survey Sampling, 1965 (effective size); Korn and
    Graubard, Confidence Intervals for Proportions with Small Expected Number of Positive Counts,
    Survey Methodology 24, 1998; Brown, Cai and DasGupta, Interval Estimation for a Binomial
    Proportion, Statistical Science 16, 2001, section 4.1.1 (the limits of few ones).
    """
    found = _spread(sums, counts)
    mean = np.clip(found.mean, 0.0, 1.0)
    room = mean * (1 - mean)
    inside = np.where(room > 0, room, 1.0)
    prior = RARE / inside
    seen = found.variance / inside
    drawn = (found.clusters * seen + prior) / (found.clusters - 1 + prior)
    dispersion = np.where(room > 0, np.minimum(drawn, np.maximum(seen, 1.0)), unseen)
    size = found.size / dispersion
    part = Z * Z / size
    centre = (mean + part / 2) / (1 + part)
    reach = np.sqrt(part * room + part * part / 4) / (1 + part)
    low = np.minimum(centre - reach, _few(size * mean) / size)
    high = np.maximum(centre + reach, 1 - _few(size * (1 - mean)) / size)
    return _Reaches(mean, mean - low, high - mean, found.residuals, dispersion)


def _few(ones: Floats) -> Floats:
    """Return the lower limit of a count of ones, where Wilson's is too high; else infinity.

    Of one and two it is the .05 quantile of a gamma distribution, half that of chi-squared with two
    degrees of freedom for each; from there to four, where Wilson's is right, a straight line.
    """
    limits = np.interp(ones, (0.0, 1.0, 2.0, 4.0), (0.0, 0.0513, 0.3554, 1.5562))
    return np.where(ones <= 4, limits, inf)


def _count_reaches(sums: Floats, counts: Floats, unseen: Floats | float = 1.0) -> _Reaches:
    """Return the intervals of means of values of at least 0, such as counts, tokens and seconds.

    As `_share_reaches` with a variance in proportion to the mean, and Student's quantile, since the
    dispersion is estimated. It is drawn towards that of counts, 1, or of values below 1 towards the
    mean, with the weight of one cluster. Where all are 0, it is `unseen`. Sources: McCullagh and
    Nelder, Generalized Linear Models, 1989, section 4.5 and chapter 9 (dispersion); Brown, Cai and
    DasGupta, Interval Estimation in Exponential Families, Statistica Sinica 13, 2003.
    """
    found = _spread(sums, counts)
    mean = np.maximum(found.mean, 0.0)
    some = np.where(mean > 0, mean, 1.0)
    dispersion = (found.variance / some) + (np.minimum(some, 1.0)) / found.clusters
    dispersion = np.where(mean > 0, dispersion, unseen)
    part = _student(found.clusters - 1) ** 2 * dispersion / found.size
    reach = np.sqrt(part * mean + part * part / 4)
    return _Reaches(mean, reach - part / 2, reach + part / 2, found.residuals, dispersion)


def _apart(
    reaches: Callable[[Floats, Floats, Floats | float], _Reaches], sums: Floats, counts: Floats
) -> _Reaches:
    """Return the intervals of what clusters amount to above 0 less what they do below it.

    Where no cluster is on one side, those on the other tell how far one could be: as of one goal of
    several in each, a cluster that differs need not differ wholly.
    """
    above, below = np.maximum(sums, 0.0), np.maximum(-sums, 0.0)
    seen = [reaches(side, counts, 1.0).dispersion for side in (above, below)]
    gain = reaches(above, counts, np.minimum(seen[1], 1.0))
    loss = reaches(below, counts, np.minimum(seen[0], 1.0))
    squares = (gain.residuals**2).sum(axis=0) * (loss.residuals**2).sum(axis=0)
    together = (gain.residuals * loss.residuals).sum(axis=0)
    correlation = -together / np.sqrt(np.where(squares > 0, squares, inf))
    return _Reaches(
        gain.mean - loss.mean,
        _added(gain.below, loss.above, correlation),
        _added(gain.above, loss.below, correlation),
        gain.residuals - loss.residuals,
        np.maximum(gain.dispersion, loss.dispersion),
    )


def _added(one: Floats, other: Floats, correlation: Floats | float) -> Floats:
    """Return how far a sum reaches, of what its two parts do; below 0 a correlation counts as 0."""
    reach: Floats = np.sqrt(
        one * one + other * other + 2 * np.maximum(correlation, 0.0) * one * other
    )
    return reach


def _student(freedom: Floats) -> Floats:
    """Return the .975 quantile of Student's distribution; Abramowitz and Stegun 1964, 26.7.5."""
    first = (Z**3 + Z) / 4
    second = (5 * Z**5 + 16 * Z**3 + 3 * Z) / 96
    third = (3 * Z**7 + 19 * Z**5 + 17 * Z**3 - 15 * Z) / 384
    return Z + (first + (second + third / freedom) / freedom) / freedom


def cluster_sums(
    rows: NDArray[np.generic], clusters: Sequence[int] | NDArray[np.generic]
) -> tuple[Floats, Integers]:
    """Return the sums of each cluster's rows, (clusters, columns), and the place of each row's.

    Args:
        rows: Numbers, (n, columns); NaN adds nothing.
        clusters: Cluster of each row, (n,).
    """
    index = ranks(np.asarray(clusters))
    sums = np.empty((int(index.max(initial=-1)) + 1, rows.shape[1]))
    for column, numbers in enumerate(rows.T):
        sums[:, column] = np.bincount(index, np.where(np.isnan(numbers), 0, numbers), len(sums))
    return sums, index


def ranks(values: NDArray[np.generic]) -> Integers:
    """Return the place of each value, (n,), among those that occur, in their order.

    Numbers that lie close together are counted: sorting them would take ten times as long.
    """
    lowest = int(values.min()) if len(values) and values.dtype == np.int64 else 0
    if not len(values) or values.dtype != np.int64 or int(values.max()) - lowest > 8 * len(values):
        places: Integers = np.unique(values, return_inverse=True)[1]
        return places
    above = np.asarray(values - lowest, dtype=np.int64)
    return (np.cumsum(np.bincount(above) > 0) - 1)[above]


def groups_of(task: Task) -> list[str]:
    """Return the groups that a task belongs to, in the order of its tags.

    The tag `group` names one itself; every other tag is a group TAG=VALUE, as `--select` writes it.
    Tags that are lists or maps make none.
    """
    groups = []
    for tag, value in task.tags.items():
        if isinstance(value, (str, int, float)):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            groups.append(text if tag == "group" else f"{tag}={text}")
    return groups


def kind_of_reason(reason: str) -> str:
    """Return what summaries count of a reason: what follows its colon names the case."""
    return reason.partition(":")[0] or "no reason given"


MOST_GROUPS = 1_000
"""Of one run: each takes milliseconds, and kilobytes of its summary."""


@dataclass(slots=True)
class _Column:
    """The scores of one metric, as numbers alone."""

    values: array[float] = field(default_factory=lambda: array("d"))
    weights: array[float] = field(default_factory=lambda: array("d"))
    tasks: array[int] = field(default_factory=lambda: array("l"))
    unsure: array[int] = field(default_factory=lambda: array("b"))
    unneeded: array[int] = field(default_factory=lambda: array("b"))
    """Whether a verdict on calls is of a goal that needs none."""
    judged: bool = False
    own: bool = False
    undefined: Counter[tuple[int, str]] = field(default_factory=Counter)
    """(group set, reason) to number of scores."""


class Summariser:
    """Collects scores one by one and summarises them: 24 bytes a score are kept, not the score.

    Args:
        groups: Task id to its groups (`groups_of`).
        scales: Name of a score to what its values mean (`ChatMetric.scales`).
    """

    def __init__(
        self,
        groups: Mapping[str, Iterable[str]],
        scales: Mapping[str, Scale] | None = None,
    ) -> None:
        self._groups = groups
        self._scales = {} if scales is None else scales
        self._columns: dict[str, _Column] = {}
        self._tasks: dict[str, int] = {}
        self._sets: dict[tuple[str, ...], int] = {}
        self._set_of_task: array[int] = array("l")

    def add(self, score: Score, own: bool = False) -> None:
        """Take one score in.

        Args:
            score: It.
            own: Whether the user or the benchmark brought its metric.
        """
        column = self._columns.get(score.metric)
        if column is None:
            column = self._columns[score.metric] = _Column(own=own)
        task = self._task(score.task_id)
        if score.value is None:
            column.undefined[self._set_of_task[task], kind_of_reason(score.reason)] += 1
            return
        label = score.details.get("label")
        column.values.append(score.value)
        column.weights.append(score.weight)
        column.tasks.append(task)
        column.unsure.append(label == "unsure")
        column.unneeded.append(score.details.get("needed") is False)
        column.judged |= label is not None

    def _task(self, task_id: str) -> int:
        if task_id not in self._tasks:
            names = tuple(dict.fromkeys(self._groups.get(task_id, ())))
            self._tasks[task_id] = len(self._tasks)
            self._set_of_task.append(self._sets.setdefault(names, len(self._sets)))
        return self._tasks[task_id]

    @property
    def groups_left_out(self) -> int:
        """How many groups have no entries, for there are too many: those with the fewest tasks."""
        return max(0, len({group for names in self._sets for group in names}) - MOST_GROUPS)

    def _groups_shown(self) -> list[str]:
        """Return the groups that have entries."""
        sizes: Counter[str] = Counter()
        tasks = Counter(self._set_of_task)
        for names, place in self._sets.items():
            sizes.update(dict.fromkeys(names, tasks[place]))
        return sorted(sorted(sizes, key=lambda group: (-sizes[group], group))[:MOST_GROUPS])

    def metrics(self) -> dict[str, dict[str, Any]]:
        """Return {metric: {mean, n, undefined, low, high, ..., by: {group: the same}}}.

        Metrics stand in the order in which they were first added, groups in that of their names. n
        counts scores with a value, undefined those without. mean, low and high are None if n is 0,
        the bounds also if there is one task only. `micro` is the weighted mean, given where weights
        differ; `reasons` counts the undefined by reason, given where there are any; `with_errors`
        is the mean in which each goal that the infrastructure failed counts as 0, given of rates
        that are better high where there are such goals; `unsure` is the share of that label among
        the judged, given where verdicts are; `own` is True of a metric that the user or the
        benchmark brought. `BALANCED` follows the verdict on calls that it balances.
        """
        found: dict[str, dict[str, Any]] = {}
        groups = self._groups_shown()
        for name, column in self._columns.items():
            found[name] = self._metric(name, column, groups)
            if 0 < sum(column.unneeded) < len(column.unneeded):
                found[BALANCED] = self._metric(BALANCED, column, groups)
        return found

    def _metric(self, name: str, column: _Column, groups: Sequence[str]) -> dict[str, Any]:
        entry = self._entry(name, "", column)
        entry |= {"own": True} if column.own else {}
        by = {group: self._entry(name, group, column) for group in groups}
        entry["by"] = {group: own for group, own in by.items() if own["n"] or own["undefined"]}
        return entry

    def _entry(self, name: str, group: str, column: _Column) -> dict[str, Any]:
        """Return the entry of a metric in one group; empty: in all."""
        member = np.array([not group or group in names for names in self._sets])
        tasks = np.asarray(column.tasks)
        inside = member[np.asarray(self._set_of_task)[tasks]]
        values, weights = np.asarray(column.values)[inside], np.asarray(column.weights)[inside]
        mean, low, high = _of_values(values, tasks[inside], self._scales.get(name, RATE))
        if name == BALANCED:
            apart = np.asarray(column.unneeded, dtype=bool)[inside]
            mean, low, high = _balanced(values, tasks[inside], apart)
            values = values[: 0 if mean is None else None]
            inside = inside if len(values) else np.zeros_like(inside)
        reasons: Counter[str] = Counter()
        for (where, reason), count in column.undefined.items():
            if member[where]:
                reasons[reason] += count
        entry: dict[str, Any] = {"mean": rounded(mean), "n": len(values)}
        entry |= {"undefined": reasons.total(), "low": rounded(low), "high": rounded(high)}
        if len(values):
            if weights.sum() > 0 and weights.min() != weights.max():
                entry["micro"] = rounded(float(np.average(values, weights=weights)))
            broken, scale = reasons[INFRASTRUCTURE], self._scales.get(name, RATE)
            rates = scale.bounded and scale.higher_is_better and name != BALANCED
            if broken and rates and 0 <= values.min() <= values.max() <= 1:
                entry["with_errors"] = rounded(float(values.sum()) / (len(values) + broken))
            if column.judged:
                entry["unsure"] = rounded(float(np.asarray(column.unsure)[inside].mean()))
        if reasons:
            entry["reasons"] = dict(sorted(reasons.items()))
        return entry


class _Estimate(NamedTuple):
    mean: float | None
    low: float | None
    high: float | None


def _of_values(values: Floats, tasks: Integers, scale: Scale) -> _Estimate:
    if not len(values):
        return _Estimate(None, None, None)
    interval = mean_interval(values, tasks, bounded=scale.bounded)
    return _Estimate(float(values.mean()), *interval)


def _balanced(values: Floats, tasks: Integers, apart: NDArray[np.bool_]) -> _Estimate:
    """Return the mean of the means of two kinds, of each of which it reaches half as far.

    Args:
        values: Of all goals, in [0, 1].
        tasks: Of each.
        apart: Which of them are of the second kind.
    """
    kinds = np.column_stack([apart, ~apart])
    if not kinds.any(axis=0).all():
        return _Estimate(None, None, None)
    sums, counts = (cluster_sums(rows, tasks)[0] for rows in (kinds * values[:, None], kinds))
    found = _share_reaches(sums, counts)
    mean = float(found.mean.mean())
    if len(sums) < 2:
        return _Estimate(mean, None, None)
    squares = (found.residuals**2).sum(axis=0).prod()
    correlation = found.residuals.prod(axis=1).sum() / np.sqrt(squares) if squares > 0 else 0.0
    low, high = (_added(one, other, correlation) / 2 for one, other in (found.below, found.above))
    return _Estimate(mean, max(0.0, mean - float(low)), min(1.0, mean + float(high)))


def rounded(value: float | None) -> float | None:
    """Return a number of a summary with `DIGITS` decimals; None stays None."""
    return None if value is None else round(value, DIGITS)


def mean_over(
    values: Sequence[float] | Floats, clusters: Sequence[int] | Integers
) -> dict[str, Any]:
    """Return {mean, low, high, n} of shares; None where there is nothing.

    Args:
        values: In [0, 1].
        clusters: Number of the cluster of each value, such as its task's.
    """
    low, high = mean_interval(values, clusters)
    mean = float(sum(values) / len(values)) if len(values) else None
    return {"mean": rounded(mean), "low": rounded(low), "high": rounded(high), "n": len(values)}


def share(part: float, whole: int) -> float | None:
    """Return a share with `DIGITS` decimals; None of nothing."""
    return round(part / whole, DIGITS) if whole else None
