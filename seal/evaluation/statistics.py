"""Means with n, the number undefined, and bootstrap intervals, overall and by group."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

from seal.core import Scale, Score, Task
from seal.core.arrays import Floats, Integers, NDArray, np
from seal.core.values import derive_seed
from seal.evaluation.goals import INFRASTRUCTURE, RATE

BALANCED = "calls_balanced"
"""Mean of the means of `calls_right` over goals that need a call and over those that need none."""
DIGITS = 6
"""Decimals of every number in a summary."""
ENDS = ((1 - 0.95) / 2, 1 - (1 - 0.95) / 2)
"""Quantiles between which a 95 % interval lies."""
DRAWS = 1_000_000
"""Draws held in memory at once: 8 MB, about what a processor's cache holds."""
ALIKE = 20
"""Drawing the count of one distinct row costs about as much as drawing this many rows."""


class Interval(NamedTuple):
    """Bounds of a confidence interval; None where there are fewer than two clusters."""

    low: float | None
    high: float | None


def bootstrap_interval(
    values: Sequence[float] | Floats,
    seed: int,
    resamples: int = 10_000,
    clusters: Sequence[int] | Integers | None = None,
    weights: Sequence[float] | Floats | None = None,
) -> Interval:
    """Return the 95 % percentile bootstrap interval of the weighted mean.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13. The values of one
    cluster are drawn together, so that several trials or goals of a task do not count as
    independent.

    Args:
        values: Finite numbers.
        seed: The same seed and values give the same interval.
        resamples: Number of resamples.
        clusters: Cluster of each value; None: every value is its own.
        weights: Of each value, above 0; a resample is divided by the weight that it drew. None: all
            count alike.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if len(numbers) > 1 and (numbers == numbers[0]).all():  # so is the mean of any resample
        alone = clusters is not None and len(np.unique(np.asarray(clusters))) < 2
        return Interval(None, None) if alone else Interval(float(numbers[0]), float(numbers[0]))
    counts = np.ones(len(numbers)) if weights is None else np.asarray(weights, dtype=np.float64)
    sums = numbers * counts
    if clusters is not None:
        sums, counts = cluster_sums(np.column_stack([sums, counts]), clusters)[0].T
    if len(sums) < 2:
        return Interval(None, None)
    single = bool((counts == 1).all())
    totals = sums[:, None] if single else np.column_stack([sums, counts])
    means = np.empty(resamples)
    for chunk, drawn in resampled(totals, np.random.default_rng(seed), resamples):
        means[chunk] = drawn[:, 0] / (len(sums) if single else drawn[:, 1])
    low, high = np.quantile(means, ENDS)
    return Interval(float(low), float(high))


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


def resampled(
    totals: Floats, rng: np.random.Generator, resamples: int
) -> Iterator[tuple[slice, Floats]]:
    """Yield the sums over resamples of the rows, chunk by chunk.

    How often each distinct row is drawn is multinomial. With few distinct rows, such as 0 and 1,
    these counts are drawn: much faster than drawing every row, and the same distribution.

    Args:
        totals: Sums of clusters, (clusters, columns); each resample draws as many clusters.
        rng: Draws clusters.
        resamples: Number of resamples.

    Yields:
        Which resamples they are, and their sums, (resamples of the chunk, columns).
    """
    size, columns = totals.shape
    alike, _, frequency = ordered(totals, most=size / ALIKE)
    step = max(1, DRAWS // (len(alike) or size))
    for start in range(0, resamples, step):
        chunk = min(step, resamples - start)
        if len(alike):
            drawn = rng.multinomial(size, frequency / size, size=chunk) @ alike
        else:
            picks = rng.integers(0, size, size=(chunk, size), dtype=np.int32)
            if columns < 3:
                drawn = np.column_stack([column[picks].sum(axis=1) for column in totals.T])
            else:
                places = picks + np.arange(chunk)[:, None] * size
                times = np.bincount(places.ravel(), minlength=chunk * size).reshape(chunk, size)
                drawn = times.astype(np.float64) @ totals
        yield slice(start, start + chunk), drawn


def ordered(rows: Floats, most: float = inf) -> tuple[Floats, Integers, Integers]:
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
        seed: Of the intervals; each metric and group has its own stream, so that none depends on
            what else was scored.
        resamples: Of each interval.
        scales: Name of a score to what its values mean (`ChatMetric.scales`).
    """

    def __init__(
        self,
        groups: Mapping[str, Iterable[str]],
        seed: int = 0,
        resamples: int = 10_000,
        scales: Mapping[str, Scale] | None = None,
    ) -> None:
        self._groups = groups
        self._seed = seed
        self._resamples = resamples
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
        for name, column in self._columns.items():
            found[name] = self._metric(name, column)
            if 0 < sum(column.unneeded) < len(column.unneeded):
                found[BALANCED] = self._metric(BALANCED, column)
        return found

    def _metric(self, name: str, column: _Column) -> dict[str, Any]:
        entry = self._entry(name, "", column)
        entry |= {"own": True} if column.own else {}
        groups = sorted({group for names in self._sets for group in names})
        by = {group: self._entry(name, group, column) for group in groups}
        entry["by"] = {group: own for group, own in by.items() if own["n"] or own["undefined"]}
        return entry

    def _entry(self, name: str, group: str, column: _Column) -> dict[str, Any]:
        """Return the entry of a metric in one group; empty: in all."""
        member = np.array([not group or group in names for names in self._sets])
        tasks = np.asarray(column.tasks)
        inside = member[np.asarray(self._set_of_task)[tasks]]
        values, weights = np.asarray(column.values)[inside], np.asarray(column.weights)[inside]
        if name == BALANCED:
            values = _balanced(values, np.asarray(column.unneeded, dtype=bool)[inside])
            inside = inside if len(values) else np.zeros_like(inside)
        reasons: Counter[str] = Counter()
        for (where, reason), count in column.undefined.items():
            if member[where]:
                reasons[reason] += count
        entry: dict[str, Any] = {"mean": None, "n": len(values), "undefined": reasons.total()}
        seed = derive_seed(self._seed, name, group)
        low, high = bootstrap_interval(values, seed, self._resamples, clusters=tasks[inside])
        if name == BALANCED and low is not None and high is not None:
            low, high = max(0.0, low), min(1.0, high)  # as of a share, which its spread may leave
        entry |= {"low": rounded(low), "high": rounded(high)}
        if len(values):
            entry["mean"] = rounded(float(values.mean()))
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


def _balanced(values: Floats, apart: NDArray[np.bool_]) -> Floats:
    """Return values whose mean is the mean of the means of two kinds; none where one is lacking.

    Their spread is that of the balanced mean to first order, so that a bootstrap may draw them.

    Args:
        values: Of all goals.
        apart: Which of them are of the second kind.
    """
    kinds = (apart, ~apart)
    if not all(kind.any() for kind in kinds):
        return values[:0]
    balanced = sum(float(values[kind].mean()) for kind in kinds) / 2
    found = values.copy()
    for kind in kinds:
        spread = (values[kind] - values[kind].mean()) * len(values) / (2 * kind.sum())
        found[kind] = balanced + spread
    return found


def rounded(value: float | None) -> float | None:
    """Return a number of a summary with `DIGITS` decimals; None stays None."""
    return None if value is None else round(value, DIGITS)


def mean_over(
    values: Sequence[float] | Floats, clusters: Sequence[int] | Integers, seed: int
) -> dict[str, Any]:
    """Return {mean, low, high, n} of values; None where there is nothing.

    Args:
        values: Finite numbers.
        clusters: Number of the cluster of each value, such as its task's.
        seed: Of the 95 % bootstrap interval, which draws clusters.
    """
    low, high = bootstrap_interval(values, seed, clusters=clusters)
    mean = float(sum(values) / len(values)) if len(values) else None
    return {"mean": rounded(mean), "low": rounded(low), "high": rounded(high), "n": len(values)}


def share(part: float, whole: int) -> float | None:
    """Return a share with `DIGITS` decimals; None of nothing."""
    return round(part / whole, DIGITS) if whole else None
