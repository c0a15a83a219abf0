"""A run: prepare its folder, play what is not finished, put it in order, score it."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from seal.core.errors import UsageError
from seal.core.records import AtomicFile, encode, write_records
from seal.pipeline.engine import Engine
from seal.pipeline.identity import check_resumable, name_of
from seal.pipeline.journal import Journal, Lock
from seal.pipeline.pools import open_pool
from seal.pipeline.run_folder import BASELINES, RunFolder
from seal.pipeline.score import score_run
from seal.pipeline.settings import RunSettings
from seal.pipeline.workers import Job, Outcome, ProcessWorkers, ThreadWorkers, Workers

_RANKED_AT_ONCE = 64
"""Tasks whose queries are retrieved in one batch."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    stage: str
    """`play`, `score`, `floor` or `ceiling`."""
    done: int
    total: int
    errors: int = 0


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run left."""

    folder: RunFolder
    summary: dict[str, Any]
    exit_code: int
    """0 fine, 1 finished with task errors, 3 a budget stopped it."""


Reporter = Callable[[Progress], None]


def run(
    settings: RunSettings,
    out: Path | None = None,
    resume: bool = False,
    progress: Reporter | None = None,
) -> RunResult:
    """Play and score tasks.

    Args:
        settings: What to play.
        out: Run folder; None: `runs/POOL-MODEL`, with a number where that is taken.
        resume: Go on with a run that `out` holds: finished tasks stay, errors are played again.
        progress: Called as chats end.

    Raises:
        UsageError: Settings that cannot be, a folder in use, or other settings than the run's.
        DataError: The pool or the run folder is damaged.
        InfrastructureError: A worker process died.
    """
    folder = _folder(settings, out, resume)
    report = progress or (lambda state: None)
    with Lock(folder.path):
        engine = _prepare(settings, folder)
        stopped = _play(settings, folder, engine, report)
        summary = score_run(
            folder,
            engine.judge_of,
            settings.cutoffs,
            settings.seed,
            engine.judging_threads,
            progress=lambda n, m: report(Progress("score", n, m)),
        )
        engine.close()
    if settings.baselines and not stopped:
        _play_baselines(settings, folder, resume, report)
    code = 3 if stopped else int(summary["errors"] > 0)
    return RunResult(folder, summary, code)


def _folder(settings: RunSettings, out: Path | None, resume: bool) -> RunFolder:
    if out is None:
        if resume:
            raise UsageError("--resume needs --out RUN: the folder of the run to go on with")
        out = free_folder(settings)
    if (out / "run.json").is_file() and not resume:
        raise UsageError(f"{out} holds a run already; add --resume, or give another --out")
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; give --out a folder")
    if out.is_dir() and not resume and any(p.name != ".lock" for p in out.iterdir()):
        raise UsageError(f"{out} is not empty and holds no run; give --out a new folder")
    out.mkdir(parents=True, exist_ok=True)
    return RunFolder(out)


def free_folder(settings: RunSettings) -> Path:
    """Return the folder of a run that names none: `runs/POOL-MODEL`, numbered where it is taken."""
    name = f"{Path(str(settings.pool)).name}-{name_of(settings.model)}"
    slug = re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._")[:80] or "run"
    numbered = (Path("runs") / (f"{slug}-{n}" if n else slug) for n in itertools.count())
    return next(path for path in numbered if not path.exists())


def _prepare(settings: RunSettings, folder: RunFolder) -> Engine:
    """Write the run's tasks, tools and manifest, or make sure that they are the same as before."""
    pool = open_pool(settings.pool)
    fresh = not (folder.path / "run.json").is_file()
    if fresh:
        write_records(folder.path / "tools.jsonl", pool.tools())
    engine = Engine(settings, folder, pool)
    identity = {"measure": engine.measure(), "system": engine.system()}
    if not fresh:
        check_resumable(folder.manifest(), identity, folder.path)
    tasks = pool.tasks(select=settings.select, limit=settings.limit)
    if write_records(folder.path / "tasks.jsonl", tasks) == 0:
        raise UsageError("no task is left to play; loosen --select")
    folder.write_json("run.json", identity)
    return engine


def _play(settings: RunSettings, folder: RunFolder, engine: Engine, report: Reporter) -> bool:
    """Play what is not finished. Returns True where a budget stopped the run."""
    order = {task.id: position for position, task in enumerate(folder.tasks())}
    journal = Journal(folder.trajectories_path)
    done = {pair for pair in journal.finished if pair[0] in order and pair[1] < settings.trials}
    tally = _Tally(len(order) * settings.trials, len(done), settings.max_total_tokens)
    tally.tokens = _spent(folder)
    workers = _workers(settings, folder, engine)
    timings = (folder.path / "timings.jsonl").open("ab")
    try:
        for outcome in workers.outcomes(_jobs(settings, folder, engine, done, tally)):
            if outcome.line is not None:
                pair = (outcome.task_id, outcome.trial)
                journal.append_line(outcome.line, pair, outcome.failed)
            timings.write(_timing(outcome))
            timings.flush()
            tally.count(outcome)
            report(Progress("play", tally.done, tally.total, tally.errors))
    finally:
        timings.close()
        journal.close()
    journal.put_in_order(order)
    _write_rankings(folder)
    manifest = folder.manifest()
    manifest["cache"] = engine.used_entries()
    manifest["skipped"] = dict(sorted(tally.skipped.items()))
    folder.write_json("run.json", manifest)
    return tally.stopped


@dataclass(slots=True)
class _Tally:
    total: int
    done: int
    budget: int | None
    tokens: int = 0
    errors: int = 0
    stopped: bool = False
    skipped: Counter[str] = field(default_factory=Counter)

    def count(self, outcome: Outcome) -> None:
        self.done += 1
        self.tokens += outcome.tokens
        self.errors += outcome.failed
        if outcome.line is None:
            self.skipped["no recording to play"] += 1

    def spent(self) -> bool:
        self.stopped = self.budget is not None and self.tokens >= self.budget
        return self.stopped


def _jobs(
    settings: RunSettings,
    folder: RunFolder,
    engine: Engine,
    done: set[tuple[str, int]],
    tally: _Tally,
) -> Iterator[Job]:
    for trial in range(settings.trials):
        waiting = (task for task in folder.tasks() if (task.id, trial) not in done)
        while batch := list(itertools.islice(waiting, _RANKED_AT_ONCE)):
            ranked = engine.rank(batch)
            for task in batch:
                if tally.spent():
                    return
                yield Job(task, trial, ranked.get(task.id, ()))


def _workers(settings: RunSettings, folder: RunFolder, engine: Engine) -> Workers:
    if settings.processes == 1:
        return ThreadWorkers(engine, settings.workers)
    return ProcessWorkers(settings, folder, settings.processes, settings.workers)


def _timing(outcome: Outcome) -> bytes:
    fields = {
        "task_id": outcome.task_id,
        "trial": outcome.trial,
        "started": outcome.started,
        "seconds": round(outcome.seconds, 6),
        "tokens": outcome.tokens,
        "note": outcome.note,
    }
    return orjson.dumps(fields) + b"\n"


def _spent(folder: RunFolder) -> int:
    """Return the tokens that earlier parts of the run spent."""
    path = folder.path / "timings.jsonl"
    if not path.is_file():
        return 0
    with path.open("rb") as lines:
        return sum(orjson.loads(line).get("tokens", 0) for line in lines if line.endswith(b"\n"))


def _write_rankings(folder: RunFolder) -> None:
    with AtomicFile(folder.path / "rankings.jsonl") as out:
        for trajectory in folder.trajectories():
            if trajectory.trial == 0:
                for ranking in trajectory.rankings:
                    out.write(encode(ranking))


def _play_baselines(
    settings: RunSettings, folder: RunFolder, resume: bool, report: Reporter
) -> None:
    """Play the same tasks with a floor and with the ceiling, in folders beside the run's files."""
    floor = "random" if settings.model == "lexical" else "lexical"
    parts = {
        "floor": replace(settings, model=floor, model_options={}),
        "ceiling": replace(settings, model="oracle", model_options={}, retriever="oracle"),
    }
    for name in BASELINES:
        baseline = replace(
            parts[name],
            role_models={
                r: m for r, m in settings.role_models.items() if r in ("judge", "simulator")
            },
            roles={},
            trials=1,
            baselines=False,
            max_total_tokens=None,
        )
        path = folder.path / name

        def stage(state: Progress, name: str = name) -> None:
            report(Progress(name, state.done, state.total, state.errors))

        run(baseline, path, resume=(path / "run.json").is_file(), progress=stage)
