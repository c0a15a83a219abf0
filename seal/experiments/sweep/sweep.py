"""A sweep: draw the pools, play each end to end with each K, put the figures together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from seal.core.errors import SealError, UsageError
from seal.core.folders import Lock
from seal.experiments.pool_draws import without_distractors
from seal.experiments.sweep.draws import draw_pools, write_pool
from seal.experiments.sweep.files import begin, check_folder, discard, pool_folder, run_name, write
from seal.experiments.sweep.results import Played, results_of, rows_of
from seal.experiments.sweep.settings import RECALL_AT, SweepSettings, retriever_of
from seal.pools.pool import StoredPool
from seal.pools.samples import PoolSample
from seal.runs.engine import Engine
from seal.runs.identity import check_resumable, measure_of, system_of
from seal.runs.journal import spent_on
from seal.runs.play import played
from seal.runs.run import Progress, budget_of, free_folder, run, within
from seal.runs.run_folder import BASELINES, RunFolder
from seal.runs.settings import RunSettings, changed

Reporter = Callable[[str, int, int], None]
"""Told the stage, how many of its items are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class SweepResult:
    """What a sweep left."""

    folder: Path
    content: dict[str, Any]
    """Of sweep.json."""
    exit_code: int
    """0 fine, 1 finished with task errors, 3 a budget stopped it."""


def sweep(
    settings: RunSettings,
    varied: SweepSettings,
    out: Path | None = None,
    resume: bool = False,
    progress: Reporter | None = None,
) -> SweepResult:
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
    check_folder(out, resume)
    opened = played(settings)
    settings, pool = opened.settings, opened.pool
    drawn = draw_pools(pool, settings, varied)
    out.mkdir(parents=True, exist_ok=True)
    with Lock(out):
        check_folder(out, resume)  # again: another process may have been faster
        begun = _Sweep(settings, varied, out, pool, progress or (lambda stage, done, total: None))
        try:
            return begun.played(drawn)
        except SealError:
            discard(out)
            raise


def _cutoffs(settings: RunSettings, varied: SweepSettings) -> tuple[int, ...]:
    return tuple(sorted({*settings.cutoffs, *varied.top_k, RECALL_AT}))


class _Sweep:
    """Plays run after run of one sweep."""

    def __init__(
        self,
        settings: RunSettings,
        varied: SweepSettings,
        out: Path,
        pool: StoredPool,
        report: Reporter,
    ) -> None:
        self._settings = settings
        self._varied = varied
        self._out = out
        self._pool = pool
        self._report = report
        self._budget = budget_of(settings)
        """Tokens of the runs so far."""

    def played(self, drawn: list[PoolSample]) -> SweepResult:
        """Play what is not finished, and write the figures."""
        planned = [(it, k) for k, it in product(self._varied.top_k, drawn)]
        planned.sort(key=lambda pair: (pair[0].size, pair[1], pair[0].sample))
        begin(self._out, self._content([], [f"{len(planned)} runs are not finished"]))
        for it in drawn:
            write_pool(it, pool_folder(self._out, it), self._pool, self._settings.seed)
        done: list[Played] = []
        for it, k in planned:
            self._report("runs", len(done), len(planned))
            finished = self._run(it, k)
            if finished is None:
                break
            done.append(finished)
        self._report("runs", len(done), len(planned))
        missing = len(planned) - len(done)
        smaller = [it for it in drawn if it.size < len(self._pool.tools())]
        notes = without_distractors((it.distractors for it in smaller), self._varied)
        if missing:
            notes.append(f"the budget is spent: {missing} of {len(planned)} runs are not finished")
        content = self._content(done, notes)
        write(self._out, content)
        failed = any(row["errors"] for row in content["rows"])
        return SweepResult(self._out, content, 3 if missing else int(failed))

    def _run(self, drawn: PoolSample, top_k: int) -> Played | None:
        """Return a run, played where it is not finished; None: the budget stopped it."""
        name = run_name(drawn, top_k, len(self._varied.top_k) > 1)
        folder = RunFolder(self._out / name)
        settings = changed(
            self._settings,
            pool=self._pool.at(pool_folder(self._out, drawn)),
            top_k=top_k,
            limit=None,
            select={},
        )
        if self._finished(folder):
            _check_same(settings, folder)
        elif not self._play(settings, folder):
            return None
        spent = spent_on(folder)
        self._budget.add(spent.asked, spent.tokens)
        return Played.of(drawn, top_k, name, folder)

    def _play(self, settings: RunSettings, folder: RunFolder) -> bool:
        """Play a run; returns False where the budget stopped it."""
        asked = within(settings, self._budget)
        if asked is None:
            return False
        return run(asked, folder.path, resume=True, progress=self._advance).exit_code != 3

    def _advance(self, state: Progress) -> None:
        self._report(state.stage, state.done, state.total)

    def _finished(self, folder: RunFolder) -> bool:
        """Tell whether a run has all its chats and scores, without an error."""
        if not (folder.path / "summary.json").is_file():
            return False
        summary = folder.summary()
        with folder.trajectories_path.open("rb") as lines:
            chats = sum(1 for _ in lines)
        whole = chats + summary["skipped"] == summary["tasks"] * self._settings.trials
        baselines = not self._settings.baselines or len(folder.baselines()) == len(BASELINES)
        return whole and not summary["errors"] and baselines

    def _content(self, done: list[Played], notes: list[str]) -> dict[str, Any]:
        settings, pool = self._settings, self._pool
        return {
            "protocol": {
                **self._varied.protocol(),
                "seed": settings.seed,
                "select": dict(settings.select),
                "limit": settings.limit,
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


def _check_same(settings: RunSettings, folder: RunFolder) -> None:
    """Raise UsageError where a finished run has other settings."""
    opened = played(settings)
    with Engine(opened.settings, folder, opened.pool) as engine:
        now = {"measure": measure_of(engine), "system": system_of(engine)}
    check_resumable(folder.manifest(), now, folder.path)


def _system(folder: RunFolder) -> dict[str, Any]:
    """Return what was measured; its K is in each row."""
    system = dict(folder.manifest()["system"])
    del system["top_k"]
    return system
