"""From rows of metrics to means, deviations, intervals and paired comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

from seal.core.arrays import Floats, Integers, np
from seal.core.values import derive_seed
from seal.evaluation.ranking_metrics import metric_names
from seal.evaluation.rankings import RANKED
from seal.evaluation.significance import mean_and_deviation, paired_differences
from seal.evaluation.statistics import groups_of, mean_intervals
from seal.evaluation.statistics import rounded as shown
from seal.experiments.draws import Measured, Ranked, Source, Unavailable
from seal.experiments.paired_scores import correct
from seal.experiments.settings import Size

DIGITS = 12
"""Decimals of every number: an independent scorer's figures differ by less."""
RESAMPLES = 10_000
"""Resamples of every test."""
UNCALIBRATED = "its scores hold the order of tools and cannot be compared between queries"


@dataclass(frozen=True, slots=True)
class Sample:
    """What one sample measured."""

    number: int
    tools: int
    digest: str
    queries: int


@dataclass(frozen=True, slots=True)
class Cell:
    """One size of one pool under all retrievers; a row is a query in a sample."""

    source: Source
    size: Size
    goals: int
    """Goals that were ranked, also those without relevant tools."""
    samples: tuple[Sample, ...]
    values: Mapping[str, Floats]
    """Retriever's label to (rows, metrics)."""
    sample_of: Integers
    """Position in `samples` of each row."""
    task_of: tuple[str, ...]
    """Task id of each row."""
    identities: Mapping[str, str]
    unavailable: Mapping[str, str]
    """Retriever's label to the reason."""
    facts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Retriever's label to what its results say besides: {dollars_a_query?, calibration?,
    uncalibrated?, unmatched?, tied?, longer?}."""


def cell_of(
    parts: Sequence[tuple[Ranked, Mapping[str, Measured | Unavailable]]], ks: Sequence[int]
) -> Cell:
    """Return the cell of one pool and size; a retriever that failed in one sample failed in all.

    Args:
        parts: What was ranked, with what each retriever gave.
        ks: Cut-offs.
    """
    first = parts[0][0]
    ranked = [part for part, _ in parts]
    draws = [(part, draw) for part in ranked for draw in part.draws]
    width = len(metric_names(ks, RANKED))
    values, identities, unavailable, facts = {}, {}, {}, {}
    for label in parts[0][1]:
        outcomes = [found[label] for _, found in parts]
        measured = [each for each in outcomes if isinstance(each, Measured)]
        failed = next((each.reason for each in outcomes if isinstance(each, Unavailable)), None)
        if failed is not None:
            unavailable[label] = failed
            continue
        known = [dict(each.values) for each in measured]
        rows = [
            of[query]
            for part, of in zip(ranked, known, strict=True)
            for draw in part.draws
            for query in draw.queries
        ]
        values[label] = np.array(rows, dtype=np.float64).reshape(-1, width)
        identities[label] = measured[-1].identity
        facts[label] = _facts(ranked, measured)
    return Cell(
        first.source,
        first.size,
        sum(len(part.goals) for part in ranked),
        tuple(
            Sample(draw.sample, len(part.tools), part.digest, len(draw.queries))
            for part, draw in draws
        ),
        values,
        np.repeat(np.arange(len(draws)), [len(draw.queries) for _, draw in draws]),
        tuple(task for _, draw in draws for task, _ in draw.queries),
        identities,
        unavailable,
        facts,
    )


def _facts(ranked: Sequence[Ranked], measured: Sequence[Measured]) -> dict[str, Any]:
    """Return what a query costs, where that is known, and of a whole pool the calibration."""
    facts: dict[str, Any] = {}
    goals = sum(len(part.goals) for part in ranked)
    spent = [
        len(part.goals) * each.dollars
        for part, each in zip(ranked, measured, strict=True)
        if each.dollars is not None
    ]
    if goals and len(spent) == len(ranked):
        facts["dollars_a_query"] = sum(spent) / goals
    found = measured[0].calibration
    if found is not None and ranked[0].whole:
        if all(each.measures for each in measured):
            told = {name: rounded(value) for name, value in asdict(found).items()}
            facts["calibration"] = told
        else:
            facts["uncalibrated"] = UNCALIBRATED
    for kind in ("unmatched", "tied"):
        if met := sum(getattr(each, kind) for each in measured):
            facts[kind] = {"queries": met, "of": sum(len(each.values) for each in measured)}
    longer = sorted((one for each in measured for one in each.longer), key=lambda one: one.longer)
    # Of several samples that with the most.
    if most := {(one.kind, one.longest): one for one in longer}:
        facts["longer"] = [most[texts]._asdict() for texts in sorted(most)]
    return facts


def results_of(cell: Cell, labels: Sequence[str], ks: Sequence[int]) -> list[dict[str, Any]]:
    """Return one entry of `results` for each retriever.

    Args:
        cell: What was measured.
        labels: Of all retrievers, in order; the unavailable ones too.
        ks: Cut-offs.
    """
    queries = mean_and_deviation([sample.queries for sample in cell.samples])
    base = {
        "pool": cell.source.label,
        "pool_digest": cell.source.digest,
        "size": cell.size,
        "tools": cell.samples[0].tools,
        "samples": len(cell.samples),
        "queries": _number(queries.mean),
        "queries_deviation": rounded(queries.deviation),
    }
    estimates = _estimates(cell, metric_names(ks, RANKED))
    return [
        {**base, "retriever": label, "unavailable": cell.unavailable[label], "metrics": {}}
        if label in cell.unavailable
        else {
            **base,
            "retriever": label,
            "identity": cell.identities[label],
            "metrics": estimates[label],
            "by_sample": _by_sample(cell, label, metric_names(ks, RANKED)),
            **cell.facts.get(label, {}),
        }
        for label in labels
    ]


def _number(mean: float | None) -> float | int | None:
    """Return a mean of counts, rounded; a whole one is a count itself, an integer."""
    value = rounded(mean)
    return int(value) if value is not None and float(value).is_integer() else value


def rounded(value: float | None) -> float | int | None:
    """Return a number with `DIGITS` decimals, a whole one as an integer; None stays None."""
    if value is None:
        return None
    value = round(float(value), DIGITS)
    return int(value) if value.is_integer() and abs(value) > 1 else value


def _by_sample(cell: Cell, label: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return each sample's means; nothing of a single sample, whose means stand above."""
    if len(cell.samples) == 1:
        return []
    means = sample_means(cell.values[label], cell.sample_of)
    return [
        {
            "sample": sample.number,
            "tools_digest": sample.digest,
            "queries": sample.queries,
            "metrics": {name: rounded(mean) for name, mean in zip(names, row, strict=True)},
        }
        for sample, row in zip(cell.samples, means.tolist(), strict=True)
    ]


def sample_means(values: Floats, sample_of: Integers) -> Floats:
    """Return the means of each sample that has rows, (samples, columns)."""
    present, index = np.unique(sample_of, return_inverse=True)
    sums = np.zeros((len(present), values.shape[1]))
    np.add.at(sums, index, values)
    means: Floats = sums / np.bincount(index)[:, None]
    return means


def _estimates(cell: Cell, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return {retriever: {metric: {mean, deviation, n, undefined, low, high, by}}}."""
    estimates = _estimated(cell, names, slice(None))
    if cell.size != "all" or len(cell.samples) > 1:
        return estimates
    undefined = cell.goals - len(cell.task_of)
    for label in estimates:
        for name in names:
            estimates[label][name] |= {"undefined": undefined, "by": {}}
    named = {task.id: groups_of(task) for task in cell.source.tasks}
    groups: dict[str, list[int]] = {}
    for row, task in enumerate(cell.task_of):
        for group in named[task]:
            groups.setdefault(group, []).append(row)
    for group, rows in sorted(groups.items()):
        part = _estimated(cell, names, np.asarray(rows))
        for label in estimates:
            for name in names:
                estimates[label][name]["by"][group] = part[label][name]
    return estimates


def _estimated(cell: Cell, names: Sequence[str], rows: Any) -> dict[str, dict[str, Any]]:
    """Return {retriever: {metric: {mean, deviation, n, low, high}}} of some rows."""
    if not cell.values:
        return {}
    columns = estimated(
        np.hstack(list(cell.values.values()))[rows],
        cell.sample_of[rows],
        np.asarray(cell.task_of)[rows],
    )
    return {
        label: dict(zip(names, columns[start : start + len(names)], strict=True))
        for label, start in zip(cell.values, range(0, len(columns), len(names)), strict=True)
    }


def estimated(values: Floats, samples: Integers, tasks: Any) -> list[dict[str, Any]]:
    """Return {mean, deviation, n, low, high} of each column; None where there is no row.

    Args:
        values: (rows, columns).
        samples: Of each row; `mean` is that of the samples' means, and `deviation` theirs by n - 1.
        tasks: Of each row; all rows of a task in all samples count together in the interval.
    """
    if not len(values):
        empty = {"mean": None, "deviation": None, "n": 0, "low": None, "high": None}
        return [dict(empty) for _ in range(values.shape[1])]
    spreads = [mean_and_deviation(column) for column in sample_means(values, samples).T.tolist()]
    ends = mean_intervals(values, tasks, sample_weights(samples))
    low, high = ends.tolist() if not np.isnan(ends).any() else (None, None)
    return [
        {
            "mean": rounded(spread.mean),
            "deviation": rounded(spread.deviation),
            "n": len(values),
            "low": None if low is None else rounded(low[position]),
            "high": None if high is None else rounded(high[position]),
        }
        for position, spread in enumerate(spreads)
    ]


def sample_weights(sample_of: Integers) -> Floats:
    """Return a weight for each row by which every sample counts alike; their mean is 1."""
    present, index = np.unique(sample_of, return_inverse=True)
    weights: Floats = len(sample_of) / (len(present) * np.bincount(index)[index])
    return weights


def comparisons_of(cell: Cell, ks: Sequence[int], seed: int) -> list[dict[str, Any]]:
    """Return the paired differences of every two retrievers, in recall and mrr at the largest K.

    Rows are weighted so that every sample counts alike. The rows of a task count together.
    """
    compared = [
        (metric, one, other)
        for metric in (f"recall@{max(ks)}", f"mrr@{max(ks)}")
        for one, other in combinations(cell.values, 2)
    ]
    if not cell.task_of or not compared:
        return []
    names = metric_names(ks, RANKED)
    values = {
        (metric, label): rows[:, names.index(metric)]
        for metric, _, _ in compared
        for label, rows in cell.values.items()
    }
    differences = paired_differences(
        np.column_stack([values[metric, a] - values[metric, b] for metric, a, b in compared]),
        np.unique(np.asarray(cell.task_of), return_inverse=True)[1],
        derive_seed(seed, cell.source.digest, cell.size, "difference"),
        RESAMPLES,
        weights=sample_weights(cell.sample_of),
    )
    return [
        {
            "pool": cell.source.label,
            "size": cell.size,
            "metric": metric,
            "retriever": one,
            "other": other,
            "difference": rounded(difference.mean),
            "low": rounded(difference.low),
            "high": rounded(difference.high),
            "p": difference.p,
            "n": difference.n,
        }
        for (metric, one, other), difference in zip(compared, differences, strict=True)
    ]


def corrected(comparisons: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the comparisons with `p_holm`: corrected over all comparisons of one metric.

    Both p are None if only the queries of one task are compared: no test can be made of them.
    """
    found = [{**each, "p_holm": None} for each in comparisons]
    for metric in {each["metric"] for each in found}:
        correct([each for each in found if each["metric"] == metric])
    return [each | {"p": shown(each["p"])} for each in found]
