"""A sweep: draw the pools, play each end to end with each K, put the figures together.

Drawn pools are written as pool folders of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from seal.core import SealError, Task, Tool, UsageError
from seal.core.text import counted
from seal.experiments.pool_draws import Sampled, drawn_pools, drawn_queries, without_distractors
from seal.experiments.series import PlannedRun, Reporter, SeriesResult, metrics_of, play
from seal.experiments.sweep.results import results_of
from seal.experiments.sweep.sweep_files import SWEEP, discard, pool_folder, run_name, write
from seal.experiments.sweep.sweep_settings import RECALL_AT, SweepSettings, retriever_of
from seal.pools.importer import Notes, WorldFile
from seal.pools.lookup import world_files_of
from seal.pools.pool import StoredPool
from seal.pools.pool_writer import write_pool
from seal.pools.samples import PoolSample
from seal.pools.task_order import told_of
from seal.runs.play import played
from seal.runs.run import free_folder
from seal.runs.run_folder import RunFolder
from seal.runs.settings import RunSettings, changed


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
    cutoffs = tuple(sorted({*settings.cutoffs, *varied.top_k, RECALL_AT}))
    settings = changed(settings, retriever=retriever_of(settings), cutoffs=cutoffs)
    out = out or free_folder(settings)
    SWEEP.check_folder(out, resume)
    settings, pool = played(settings)
    drawn = draw_pools(pool, settings, varied)
    planned = sorted(
        product(drawn, varied.top_k), key=lambda pair: (pair[0].size, pair[1], pair[0].sample)
    )
    several = len(varied.top_k) > 1
    runs = {run_name(it, k, several): (it, k) for it, k in planned}
    begun = _Sweep(settings, varied, out, pool, runs)
    with SWEEP.opened(out, begun.content([], [f"unfinished: {counted(len(runs), 'run')}"]), resume):
        try:
            for it in drawn:
                write_drawn(it, pool_folder(out, it), pool, settings.seed)
            result = play(begun.conditions(), out, settings, begun.content, progress, skip=True)
        except SealError:
            discard(out)
            raise
        write(out, result.content)
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

    def conditions(self) -> list[PlannedRun]:
        """Return the runs with their settings."""
        found = []
        for name, (drawn, top_k) in self.runs.items():
            pool = self.pool.at(pool_folder(self.out, drawn))
            own = changed(self.settings, pool=pool, top_k=top_k, limit=None, first=None, select={})
            found.append(PlannedRun(name, own))
        return found

    def content(self, done: Sequence[str], notes: list[str]) -> dict[str, Any]:
        """Return the content of sweep.json.

        Args:
            done: Names of the finished runs.
            notes: On what is not finished.
        """
        settings, pool = self.settings, self.pool
        rows = [self._row(name) for name in done]
        drawn = {(it.size, it.sample): it.distractors for it, _ in self.runs.values()}
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
            "system": _system(RunFolder(self.out / done[0])) if done else {},
            "rows": rows,
            "results": results_of(rows, self.out, pool.digest, settings.seed),
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


def _system(folder: RunFolder) -> dict[str, Any]:
    """Return the system that was tested, without its K, which is in each row."""
    return {name: said for name, said in folder.manifest()["system"].items() if name != "top_k"}


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
        sampled = Sampled(pool.name, pool.digest, it.size, it.sample)
        chosen = drawn_queries(it.tasks, sweep.queries, settings.seed, sampled)
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

    def records(source: Any, notes: Notes, **_: Any) -> Iterator[Tool | Task | WorldFile]:
        notes.lacks.update(origin.report.get("lacks") or ())
        notes.facts["drawn_from"] = origin.digest
        notes.facts |= {"size": drawn.size, "sample": drawn.sample, "seed": seed}
        notes.facts["seeds"] = list(drawn.seeds)
        yield from drawn.tools
        yield from drawn.tasks
        yield from world_files_of(origin.folder)

    write_pool(origin.name, records, None, folder)
