"""Chats that others recorded, as runs that can be scored: no chat is held.

A file of trajectories becomes a run folder (`import_run`), and so does each recording of a pool
(`runs_of_recordings`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from seal.core import JSON, DataError, Trajectory, UsageError, check_name
from seal.core.files import AtomicFile
from seal.core.records import write_records
from seal.core.values import json_bytes
from seal.evaluation.rule_judge import RuleJudge
from seal.evaluation.scoring import RecordedScores
from seal.pools.importer import RECORDED, RECORDINGS
from seal.pools.imports import ImportReport, check_options, write_pool
from seal.pools.pool import StoredPool
from seal.runs.finished import rescore
from seal.runs.run import CALLS, GOLD, TIMINGS, RunFolder, write_tasks
from seal.runs.settings import ScoreSettings

CUTOFFS = (1, 5, 10)
_HEADLINE = 10
"""Scores of others that a short table shows."""


def import_run(
    name: str, source: Path, out: Path, options: Mapping[str, JSON] | None = None
) -> ImportReport:
    """Turn recorded trajectories into a run folder, of which `seal score` makes scores.

    The folder holds run.json, tasks.jsonl, tools.jsonl, trajectories.jsonl, and in import.json what
    was left out.

    Args:
        name: Of the benchmark.
        source: Its file of trajectories.
        out: New folder.
        options: Of the importer; ToolSandbox's has none: its chats are read as they are.

    Raises:
        UnknownNameError: No recorded trajectories of that benchmark can be read, or an option.
        UsageError: No such source, or the folder holds something.
        DataError: No record can be used; nothing is left behind.
    """
    importer = RECORDINGS.resolve(name)
    given = dict(options or {})
    check_options(importer, given, "option of recorded trajectories")
    if (out / "run.json").exists():
        raise UsageError(f"{out} holds a run already; give --out another folder")
    benchmark = name.rpartition(":")[2]
    report = write_pool(benchmark, importer, source, out, **given)
    folder = RunFolder(out)
    files = sorted((out / RECORDED).glob(f"*/{folder.trajectories_path.name}"))
    if len(files) != 1:
        shutil.rmtree(out)
        found = ", ".join(report.recordings) or "none"
        raise UsageError(
            f"{source} holds the recordings {found}; expected one, for a run is of one: leave the "
            "others out, or import without --trajectories and play them by --model recorded:NAME"
        )
    (recording,) = report.recordings
    files[0].replace(folder.trajectories_path)
    shutil.rmtree(out / RECORDED)
    played = source.name.partition(".")[0] if recording == benchmark else recording
    facts = report.facts
    manifest = _manifest(
        str(facts.get("pool") or report.benchmark),
        report.digest,
        facts,
        str(facts.get("model") or f"recorded:{played}"),
        facts.get("trials") or 1,
    )
    folder.write_json("run.json", manifest)
    _write_timings(folder)
    return report


ALL = "all"
"""Stands for every recording of a pool."""


def score_recordings(
    pool: StoredPool,
    names: Sequence[str],
    out: Path,
    how: ScoreSettings | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[tuple[RunFolder, dict[str, Any]]]:
    """Make a run of each recording of a pool, and score it.

    A run has the tasks of which there is a recording, and measures what the pool is, so that runs
    of the same tasks can be compared.

    Args:
        pool: With the recordings.
        names: Of recordings; `ALL`: every one.
        out: New folder, which gets a run folder for each recording, of its name.
        how: As of `rescore`.
        progress: Called with (recordings scored, their number).

    Yields:
        Each run, and its summary.

    Raises:
        UnknownNameError: The pool has no such recording.
        UsageError: It has none at all, the folder holds something, or as of `rescore`.
        DataError: A recording is of tasks that the pool lacks, or a file is damaged.
    """
    known = pool.recordings()
    if not known:
        raise UsageError(
            f"{pool.folder} has no recordings; import them with its benchmark, such as BFCL's by "
            "-T answers=FOLDER, or play the pool: seal run"
        )
    chosen = [*known] if ALL in names else [*dict.fromkeys(names)]
    for name in chosen:
        check_name(f"recording in {pool.name}", name, known)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} holds something already; give --out a new folder")
    for number, name in enumerate(chosen, 1):
        folder = _made(pool, name, out / name)
        yield folder, rescore(folder.path, how)
        if progress is not None:
            progress(number, len(chosen))


def _made(pool: StoredPool, name: str, place: Path) -> RunFolder:
    """Write the run of a recording, without scores."""
    chats: list[Trajectory] = sorted(pool.recorded(name), key=lambda chat: chat.trial)
    recorded = {chat.task_id for chat in chats}
    order = {task.id: at for at, task in enumerate(pool.tasks()) if task.id in recorded}
    if lost := sorted(recorded - order.keys()):
        raise DataError(
            f"{pool.recordings()[name]}: a chat is of task {lost[0]!r}, which is not in the pool; "
            "import the pool again"
        )
    place.mkdir(parents=True)
    folder = RunFolder(place)
    write_records(place / "tools.jsonl", pool.tools())
    tasks = (task for task in pool.tasks() if task.id in order)
    calls_alone = write_tasks(place / "tasks.jsonl", tasks, [pool.digest, sorted(order)])
    chats.sort(key=lambda chat: order[chat.task_id])
    write_records(folder.trajectories_path, chats)
    facts = pool.report.get("facts")
    manifest = _manifest(
        pool.name,
        pool.digest,
        facts if isinstance(facts, Mapping) else {},
        f"recorded:{name}",
        1 + max((chat.trial for chat in chats), default=0),
    )
    manifest |= {GOLD: CALLS} if calls_alone else {}
    if pool.benchmark is not None and "benchmark" not in manifest:
        manifest["benchmark"] = pool.benchmark.declared(pool.name)
    folder.write_json("run.json", manifest)
    _write_timings(folder)
    return folder


def _write_timings(folder: RunFolder) -> None:
    """Write how long each chat took, as far as its recording says so; else no file."""
    lines = [
        {"task_id": chat.task_id, "trial": chat.trial, "seconds": took, "tokens": 0}
        for chat in folder.trajectories()
        if isinstance(took := chat.provenance.get("latency_s"), (int, float))
    ]
    if lines:
        with AtomicFile(folder.path / TIMINGS) as out:
            out.writelines(json_bytes(line) + b"\n" for line in lines)


def _manifest(
    pool: str, digest: str, facts: Mapping[str, JSON], played: str, trials: JSON
) -> dict[str, JSON]:
    """Return the run.json of chats, as far as their importer knows what was played and scored."""
    scores = facts.get("scores")
    measure: dict[str, JSON] = {
        "cutoffs": list(CUTOFFS),
        "judge": {"judge": RuleJudge().identity},
        "metrics": [RecordedScores.name] if scores else [],
        "pool": pool,
        "pool_digest": digest,
        "seed": 0,
        "trials": trials,
    }
    manifest: dict[str, JSON] = {
        "measure": measure,
        "system": {"model": {"model": played}},
        "warnings": [],
    }
    if isinstance(scores, list) and scores:
        manifest["benchmark"] = {"name": pool, "headline": scores[:_HEADLINE], "success": scores[0]}
    return manifest
