"""Whole runs over pools of several sizes and several K."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, product
from pathlib import Path
from typing import Any

from seal.core import SealError, UsageError
from seal.core.text import counted
from seal.evaluation.significance import mean_and_deviation
from seal.evaluation.statistics import kind_of_reason
from seal.experiments.draws import drawn_pools, drawn_queries, without_distractors
from seal.experiments.retrieval import estimated, rounded
from seal.experiments.series import (
    FIGURES,
    ExperimentFile,
    LongForm,
    PlannedRun,
    Reporter,
    SeriesResult,
    figures_of,
    metrics_of,
    play,
    write_derived,
    write_json,
)
from seal.experiments.settings import RECALL_AT, SweepSettings, retriever_of
from seal.pools.pool import StoredPool, told_of
from seal.pools.samples import PoolSample
from seal.runs.play import run_folder
from seal.runs.resolve import played
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings, changed

# -- From a sweep's finished runs to means over samples with their intervals.


def results_of(rows: Sequence[Mapping[str, Any]], out: Path) -> list[dict[str, Any]]:
    """Return the figures of all samples of a size and K together.

    Args:
        rows: Of the finished runs, of one size and K side by side.
        out: Folder of the sweep.

    Returns:
        For each size and K {size, top_k, samples, queries, queries_deviation, errors, metrics:
        {name: {mean, deviation, n, undefined, low, high, samples, reasons?}}}. `mean` is that of
        the samples' means and `deviation` theirs by n - 1 (None for one sample); `low` and `high`
        are the 95 % interval over tasks, of which all scores in all samples count together;
        `samples` are those that have a value, `reasons` count the kinds of
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
                "metrics": _estimates(runs),
            }
        )
    return found


def _estimates(runs: Sequence[RunFolder]) -> dict[str, dict[str, Any]]:
    """Return {metric: {mean, deviation, n, undefined, low, high, samples, reasons?}}.

    A row of the table of values is a task, trial and goal of a sample. Metrics that are defined in
    the same rows are estimated together.
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
        figures = estimated(own, samples[here], tasks[here])
        for name, each in zip(names, figures, strict=True):
            found[name] = {**each, "samples": several, "undefined": reasons[name].total()}
            if reasons[name]:
                found[name]["reasons"] = dict(sorted(reasons[name].items()))
    return {name: found[name] for name in columns}


# -- The files of a sweep.
#
# sweep.json                        what was varied, a row for each run, results over samples
# sweep.csv                         the same figures, one a line
# size-N/sample-M/pool/             the drawn pool, a pool folder
# size-N/sample-M/run/              its run; with several K run-k5/, run-k10/...

SWEEP = ExperimentFile(
    "sweep.json",
    "sweep",
    ("protocol", "origin", "rows", "results"),
    telling=("protocol", "origin"),
    growing=("samples",),  # no sample depends on how many there are
)
_PLACE = ("pool", "pool_digest", "size", "sample", "top_k")
_COLUMNS = (*_PLACE, *FIGURES, "undefined", "queries", "samples", "reason")
"""Columns of the long form. `pool_digest` is that of the large pool. `sample` is empty in the line
for all samples. `n` counts the scores with a value; `reason` says why others have none."""


def pool_folder(out: Path, drawn: PoolSample) -> Path:
    """Return the folder of a drawn pool."""
    return out / f"size-{drawn.size}" / f"sample-{drawn.sample}" / "pool"


def run_name(drawn: PoolSample, top_k: int, several: bool) -> str:
    """Return the name of a run's folder in the sweep's.

    Args:
        drawn: Its pool.
        top_k: Its K.
        several: True: the sweep has more than one K.
    """
    run = f"run-k{top_k}" if several else "run"
    return f"size-{drawn.size}/sample-{drawn.sample}/{run}"


def discard(out: Path) -> None:
    """Remove what a sweep wrote if it failed before any of its runs began."""
    if any(out.glob("size-*/sample-*/run*/run.json")):
        return
    for path in out.glob("size-*"):
        shutil.rmtree(path)
    for name in (SWEEP.name, "sweep.csv"):
        (out / name).unlink(missing_ok=True)


def _long_rows(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each figure of a sweep as a row with `_COLUMNS`."""
    origin = {"pool": content["origin"]["benchmark"], "pool_digest": content["origin"]["digest"]}
    for entry in (*content["results"], *content["rows"]):
        common = {name: entry.get(name) for name in _COLUMNS} | origin
        for metric, found in entry["metrics"].items():
            samples = found.get("samples", entry.get("samples", 1))
            reason = "; ".join(found.get("reasons", ())) or None
            told = {"undefined": found["undefined"], "samples": samples, "reason": reason}
            yield common | figures_of(metric, found) | told


LONG = LongForm("sweep", _COLUMNS, _long_rows)


# -- A sweep: draw the pools, play each end to end with each K, put the figures together.
#
# Drawn pools are written as pool folders of their own.


def sweep(
    settings: RunSettings,
    varied: SweepSettings,
    out: Path | None = None,
    resume: bool = False,
    progress: Reporter | None = None,
) -> SeriesResult:
    """Play a benchmark over pools of several sizes, with each K.

    Args:
        settings: Settings of every run. Pools are drawn from `pool`, `varied` replaces `top_k`, and
            all runs share the budget.
        varied: Sizes, samples, K.
        out: Folder of the sweep; None: `runs/POOL-MODEL`, with a number if that exists.
        resume: Go on with the sweep in `out`: finished runs are skipped.
        progress: Called with how many runs are done, and how far the present one is.

    Raises:
        UsageError: A setting has a value that no sweep can have, the folder is in use, or it holds
            a sweep of other settings.
        DataError: The pool or a folder is damaged.
        InfrastructureError: A worker process died.
    """
    if out is None and resume:
        raise UsageError("--resume needs --out SWEEP: the folder of the sweep to go on with")
    if out is None:
        with run_folder(out, settings) as path:
            return sweep(settings, varied, path, resume, progress)
    cutoffs = tuple(sorted({*settings.cutoffs, *varied.top_k, RECALL_AT}))
    settings = changed(settings, retriever=retriever_of(settings), cutoffs=cutoffs)
    SWEEP.check_folder(out, resume)
    settings, pool = played(settings)
    drawn = draw_pools(pool, settings, varied)
    planned = sorted(
        product(drawn, varied.top_k), key=lambda pair: (pair[0].size, pair[1], pair[0].sample)
    )
    several = len(varied.top_k) > 1
    runs = {run_name(it, k, several): (it, k) for it, k in planned}
    conditions = []
    for name, (it, k) in runs.items():
        own = {"pool": pool.at(pool_folder(out, it)), "top_k": k}
        asked = changed(settings, **own, limit=None, first=None, select={})
        conditions.append(PlannedRun(name, asked))
    begun = _Sweep(settings, varied, out, pool, runs)
    with SWEEP.opened(out, begun.content([], [f"unfinished: {counted(len(runs), 'run')}"]), resume):
        try:
            for it in drawn:
                write_drawn(it, pool_folder(out, it), pool, settings.seed)
            result = play(conditions, out, settings, begun.content, progress, skip=True)
        except SealError:
            discard(out)
            raise
        write_json(result.content, out / SWEEP.name)
        LONG.write(result.content, out)
    return result


@dataclass(frozen=True, slots=True)
class _Sweep:
    """The runs of a sweep, and what its file says of them."""

    settings: RunSettings
    varied: SweepSettings
    out: Path
    pool: StoredPool
    runs: dict[str, tuple[PoolSample, int]]
    """Name to pool and K, in the order in which they are played."""

    def content(self, done: Sequence[str], notes: list[str]) -> dict[str, Any]:
        """Return the content of sweep.json.

        Args:
            done: Names of the finished runs.
            notes: On what is not finished.
        """
        settings, pool = self.settings, self.pool
        rows = [self._row(name) for name in done]
        drawn = {(it.size, it.sample): it.distractors for it, _ in self.runs.values()}
        # The system that was tested, without its K, which is in each row.
        tested = RunFolder(self.out / done[0]).manifest()["system"] if done else {}
        system = {name: said for name, said in tested.items() if name != "top_k"}
        filled = [count for (size, _), count in drawn.items() if size < len(pool.tools())]
        return {
            "protocol": {
                **self.varied.protocol(),
                "seed": settings.seed,
                "select": dict(settings.select),
                **told_of(settings),
                "trials": settings.trials,
                "cutoffs": list(settings.cutoffs),
            },
            "origin": {"benchmark": pool.name, "digest": pool.digest, "tools": len(pool.tools())},
            "system": system,
            "rows": rows,
            "results": results_of(rows, self.out),
            "notes": [*without_distractors(filled, self.varied), *notes],
        }

    def _row(self, name: str) -> dict[str, Any]:
        """Return what summary.json says of a run, without its groups."""
        drawn, top_k = self.runs[name]
        folder = RunFolder(self.out / name)
        summary = folder.summary()
        return {
            "size": drawn.size,
            "sample": drawn.sample,
            "top_k": top_k,
            "run": name,
            "pool_digest": folder.manifest()["measure"]["pool_digest"],
            "tasks": summary["tasks"],
            "queries": sum(len(task.goals) for task in drawn.tasks),
            "errors": summary["errors"],
            "skipped": summary["skipped"],
            "metrics": metrics_of(summary),
        }


def draw_pools(pool: StoredPool, settings: RunSettings, sweep: SweepSettings) -> list[PoolSample]:
    """Return the pools of a sweep, by size ascending, then by sample.

    Args:
        pool: The large pool.
        settings: The seed decides what is drawn; tags and limit select the tasks.
        sweep: Sizes, samples and the rest of the protocol.

    Raises:
        UsageError: A size is beyond the pool or serves no task, no task has relevant tools, or a
            pool has fewer tasks than `queries`.
        DataError: The pool is malformed.
    """
    tools, tasks = pool.tools(), tuple(pool.chosen(settings))
    if sweep.whole:
        samples = 1 if sweep.queries is None else sweep.samples
        drawn = [PoolSample(len(tools), sample, tools, tasks, ()) for sample in range(samples)]
    else:
        sizes = [len(tools) if size == "all" else size for size in sweep.pool_sizes]
        drawn = drawn_pools(tools, tasks, sizes, sweep, settings.seed)
    asked = []
    for it in drawn:
        named, sample = (pool.name, pool.digest), (it.size, it.sample)
        chosen = drawn_queries(it.tasks, sweep.queries, settings.seed, named, sample)
        asked.append(replace(it, tasks=chosen))
    return asked


def write_drawn(drawn: PoolSample, folder: Path, origin: StoredPool, seed: int) -> None:
    """Write a drawn pool as a pool folder; its import.json says where it was drawn from.

    Equal pools are equal bytes, so that writing one again changes nothing. The files of its worlds
    come along.

    Args:
        drawn: The tools and tasks.
        folder: Where to.
        origin: The large pool.
        seed: Of the drawing.
    """
    write_derived(
        origin,
        folder,
        drawn.tools,
        drawn.tasks,
        drawn_from=origin.digest,
        size=drawn.size,
        sample=drawn.sample,
        seed=seed,
        seeds=list(drawn.seeds),
    )
