"""A sweep: draw the pools, play each end to end with each K, put the figures together.

Drawn pools are written as pool folders of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from seal.core import JSON, SealError, Task, Tool, UsageError
from seal.core.folders import Lock
from seal.core.plain import INDENTED, json_bytes
from seal.core.records import AtomicFile, write_records
from seal.experiments.pool_draws import Sampled, drawn_pools, drawn_queries, without_distractors
from seal.experiments.series import Condition, Reporter, SeriesResult, outcome, play, spent_note
from seal.experiments.sweep.files import SWEEP, discard, pool_folder, run_name, write
from seal.experiments.sweep.results import Played, results_of, rows_of
from seal.experiments.sweep.settings import RECALL_AT, SweepSettings, retriever_of
from seal.pools.importer import REPORT, TASKS, TOOLS, pool_digest
from seal.pools.imports import ImportReport
from seal.pools.order import told_of
from seal.pools.pool import StoredPool
from seal.pools.samples import PoolSample
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
        settings: Of every run; `pool` is drawn from, `top_k` gives way to `varied`, and
            the budget is that of all runs together.
        varied: Sizes, samples, K.
        out: Folder of the sweep; None: `runs/POOL-MODEL`, with a number where that is taken.
        resume: Go on with the sweep that `out` holds: finished runs are skipped.
        progress: Told how many runs are done, and how far the present one is.

    Raises:
        UsageError: Settings that cannot be, a folder in use, or other settings than the sweep's.
        DataError: The pool or a folder is damaged.
        InfrastructureError: A worker process died.
    """
    if out is None and resume:
        raise UsageError("--resume needs --out SWEEP: the folder of the sweep to go on with")
    settings = changed(
        settings, retriever=retriever_of(settings), cutoffs=_cutoffs(settings, varied)
    )
    out = out or free_folder(settings)
    SWEEP.check_folder(out, resume)
    opened = played(settings)
    settings, pool = opened.settings, opened.pool
    drawn = draw_pools(pool, settings, varied)
    out.mkdir(parents=True, exist_ok=True)
    with Lock(out):
        SWEEP.check_folder(out, resume)  # again: another process may have been faster
        begun = _Sweep(settings, varied, out, pool)
        try:
            return begun.played(drawn, progress)
        except SealError:
            discard(out)
            raise


def _cutoffs(settings: RunSettings, varied: SweepSettings) -> tuple[int, ...]:
    return tuple(sorted({*settings.cutoffs, *varied.top_k, RECALL_AT}))


@dataclass(frozen=True, slots=True)
class _Sweep:
    """Plays run after run of one sweep."""

    settings: RunSettings
    varied: SweepSettings
    out: Path
    pool: StoredPool

    def played(self, drawn: list[PoolSample], report: Reporter | None) -> SeriesResult:
        """Play what is not finished, and write the figures."""
        planned = [(it, k) for k, it in product(self.varied.top_k, drawn)]
        planned.sort(key=lambda pair: (pair[0].size, pair[1], pair[0].sample))
        begun = self._content([], [f"{len(planned)} runs are not finished"])
        if not SWEEP.begun(self.out, begun):
            write(self.out, begun)
        for it in drawn:
            write_pool(it, pool_folder(self.out, it), self.pool, self.settings.seed)
        conditions = [self._condition(it, k) for it, k in planned]
        finished = play(conditions, self.out, self.settings, report, skip=True)
        done = [
            Played.of(it, k, condition.name, RunFolder(self.out / condition.name))
            for (it, k), condition in zip(planned, finished, strict=False)
        ]
        missing = len(planned) - len(done)
        smaller = [it for it in drawn if it.size < len(self.pool.tools())]
        notes = without_distractors((it.distractors for it in smaller), self.varied)
        content = self._content(done, notes + spent_note(missing, len(planned)))
        write(self.out, content)
        return outcome(self.out, content, content["rows"], missing)

    def _condition(self, drawn: PoolSample, top_k: int) -> Condition:
        pool = self.pool.at(pool_folder(self.out, drawn))
        settings = changed(self.settings, pool=pool, top_k=top_k, limit=None, first=None, select={})
        return Condition(run_name(drawn, top_k, len(self.varied.top_k) > 1), settings)

    def _content(self, done: list[Played], notes: list[str]) -> dict[str, Any]:
        settings, pool = self.settings, self.pool
        return {
            "protocol": {
                **self.varied.protocol(),
                "seed": settings.seed,
                "select": dict(settings.select),
                **told_of(settings),
                "trials": settings.trials,
                "cutoffs": list(settings.cutoffs),
            },
            "origin": {
                "benchmark": pool.name,
                "digest": pool.digest,
                "tools": len(pool.tools()),
            },
            "system": _system(done[0].folder) if done else {},
            "rows": rows_of(done),
            "results": results_of(done, pool.digest, settings.seed),
            "notes": notes,
        }


def _system(folder: RunFolder) -> dict[str, Any]:
    """Return what was measured; its K is in each row."""
    system = dict(folder.manifest()["system"])
    del system["top_k"]
    return system


def draw_pools(pool: StoredPool, settings: RunSettings, sweep: SweepSettings) -> list[PoolSample]:
    """Return the pools of a sweep, sizes ascending, of each size sample by sample.

    Args:
        pool: The large one.
        settings: Its seed decides what is drawn; its tags and its limit, of which tasks.
        sweep: Sizes, samples and the rest of the protocol.

    Raises:
        UsageError: A size is beyond the pool or serves no task, no task has relevant tools, or a
            pool has fewer tasks than `queries`.
        DataError: The pool is malformed.
    """
    tools = pool.tools()
    tasks = tuple(pool.chosen(settings))
    drawn = (
        _whole(tools, tasks, sweep) if sweep.whole else _sampled(tools, tasks, settings.seed, sweep)
    )
    return [_with_queries(it, sweep.queries, settings.seed, pool) for it in drawn]


def _whole(
    tools: tuple[Tool, ...], tasks: tuple[Task, ...], sweep: SweepSettings
) -> list[PoolSample]:
    samples = 1 if sweep.queries is None else sweep.samples
    return [PoolSample(len(tools), sample, tools, tasks, ()) for sample in range(samples)]


def _sampled(
    tools: tuple[Tool, ...], tasks: tuple[Task, ...], seed: int, sweep: SweepSettings
) -> list[PoolSample]:
    sizes = [len(tools) if size == "all" else size for size in sweep.pool_sizes]
    return drawn_pools(tools, tasks, sizes, sweep, seed)


def _with_queries(
    drawn: PoolSample, queries: int | None, seed: int, pool: StoredPool
) -> PoolSample:
    sampled = Sampled(pool.name, pool.digest, drawn.size, drawn.sample)
    return replace(drawn, tasks=drawn_queries(drawn.tasks, queries, seed, sampled))


def write_pool(drawn: PoolSample, folder: Path, origin: StoredPool, seed: int) -> None:
    """Write a drawn pool as a pool folder; its import.json says where it was drawn from.

    Equal pools are equal bytes, so that writing one again changes nothing.

    Args:
        drawn: The tools and tasks.
        folder: Where to; `tools.jsonl`, `tasks.jsonl`, `import.json`, and `web.json` and
            `mobile.json` where the large pool has them.
        origin: The large pool.
        seed: Of the drawing.
    """
    write_records(folder / TOOLS, drawn.tools)
    write_records(folder / TASKS, drawn.tasks)
    for beside in (origin.web, origin.mobile):
        if beside is not None:
            with AtomicFile(folder / beside.name) as out:
                out.write(beside.read_bytes())
    lacks = origin.report.get("lacks")
    facts: dict[str, JSON] = {
        "drawn_from": origin.digest,
        "size": drawn.size,
        "sample": drawn.sample,
        "seed": seed,
        "seeds": list(drawn.seeds),
    }
    report = ImportReport(
        origin.name,
        len(drawn.tasks),
        len(drawn.tools),
        {},
        tuple(map(str, lacks)) if isinstance(lacks, list) else (),
        pool_digest(folder),
        {},
        facts,
    )
    with AtomicFile(folder / REPORT) as out:
        out.write(json_bytes(report.to_json(), INDENTED))
