"""From a sweep's finished runs to means over samples with their intervals."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from seal.core.canonical import derive_seed
from seal.evaluation.paired_tests import mean_and_deviation
from seal.evaluation.statistics import kind_of_reason
from seal.experiments.retrieval.summary import estimated, rounded
from seal.runs.run_folder import RunFolder


def results_of(
    rows: Sequence[Mapping[str, Any]], out: Path, digest: str, seed: int
) -> list[dict[str, Any]]:
    """Return the figures of all samples of a size and K together.

    Args:
        rows: Of the finished runs, of one size and K side by side.
        out: Folder of the sweep.
        digest: Of the large pool; the intervals depend on it, the seed, and the size.
        seed: Of the run.

    Returns:
        For each size and K {size, top_k, samples, queries, queries_deviation, errors, metrics:
        {name: {mean, deviation, n, undefined, low, high, samples, reasons?}}}. `mean` is that of
        the samples' means and `deviation` theirs by n - 1 (None for one sample); `low` and `high`
        are the 95 % bootstrap interval over tasks, of which all scores in all samples are drawn
        together; `samples` are those that have a value, `reasons` count the kinds of
        reason why others have none.
    """
    found = []
    for (size, top_k), grouped in groupby(rows, key=lambda row: (row["size"], row["top_k"])):
        group = list(grouped)
        queries = mean_and_deviation([row["queries"] for row in group])
        runs = [RunFolder(out / row["run"]) for row in group]
        found.append(
            {
                "size": size,
                "top_k": top_k,
                "samples": len(group),
                "queries": rounded(queries.mean),
                "queries_deviation": rounded(queries.deviation),
                "errors": sum(row["errors"] for row in group),
                "metrics": _estimates(runs, derive_seed(seed, "sweep", digest, size)),
            }
        )
    return found


def _estimates(runs: Sequence[RunFolder], seed: int) -> dict[str, dict[str, Any]]:
    """Return {metric: {mean, deviation, n, undefined, low, high, samples, reasons?}}.

    A row of the table of values is a task, trial and goal of a sample. Metrics that are defined in
    the same rows share one resampling.
    """
    import numpy as np

    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    rows: dict[tuple[int, str, int, int], int] = {}
    cells: list[tuple[int, str, float]] = []
    for sample, run in enumerate(runs):
        for score in run.scores():
            row = rows.setdefault((sample, score.task_id, score.trial, score.goal), len(rows))
            without = reasons[score.metric]
            if score.value is None:
                without[kind_of_reason(score.reason)] += 1
            else:
                cells.append((row, score.metric, score.value))
    columns = {name: column for column, name in enumerate(reasons)}
    samples = np.asarray([sample for sample, *_ in rows], dtype=np.int64)
    tasks = np.asarray([task for _, task, *_ in rows])
    values = np.full((len(rows), len(columns)), np.nan)
    for row, metric, value in cells:
        values[row, columns[metric]] = value
    defined = ~np.isnan(values)
    alike: defaultdict[bytes, list[str]] = defaultdict(list)
    for name, column in columns.items():
        alike[defined[:, column].tobytes()].append(name)
    found = {}
    for names in alike.values():
        here = defined[:, columns[names[0]]]
        own = values[here][:, [columns[name] for name in names]]
        several = len(np.unique(samples[here]))
        figures = estimated(own, samples[here], tasks[here], seed)
        for name, each in zip(names, figures, strict=True):
            found[name] = {**each, "samples": several, "undefined": reasons[name].total()}
            if reasons[name]:
                found[name]["reasons"] = dict(sorted(reasons[name].items()))
    return {name: found[name] for name in columns}
