"""The folder of a run before its first chat: what may be there, what is written."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from seal.core.errors import UsageError
from seal.core.records import write_records
from seal.core.types import JSON
from seal.pools.pool import StoredPool
from seal.runs.engine import Engine
from seal.runs.identity import check_resumable, warnings_of
from seal.runs.run_folder import RunFolder
from seal.runs.settings import RunSettings

_BEFORE_IT_IS_A_RUN = {".lock", "tools.jsonl", "tasks.jsonl"}


def check_folder(path: Path, resume: bool) -> None:
    """Make sure that a run may begin, or go on, in a folder.

    What a run that ended before its run.json was written left there is no hindrance.

    Raises:
        UsageError: It is a file, holds a run that is not to be resumed, or holds other things.
    """
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path} is a file; give --out a folder")
    names = {entry.name for entry in path.iterdir()} if path.is_dir() else set()
    if "run.json" in names:
        if not resume:
            raise UsageError(f"{path} holds a run already; add --resume, or give another --out")
        return
    others = sorted(n for n in names - _BEFORE_IT_IS_A_RUN if not n.endswith(".part"))
    if others:
        raise UsageError(
            f"{path} is not empty and holds no run (but {others[0]!r}); give --out a new folder"
        )


def prepare(
    settings: RunSettings,
    folder: RunFolder,
    pool: StoredPool,
    engine: Engine,
    resume: bool,
    only: Collection[str] | None = None,
) -> list[str]:
    """Write the run's tasks, tools and manifest, or make sure that they are the same as before.

    Of the tasks, those whose ids are in `only`, where it is given.

    Returns:
        What a reader of the run should be warned of; it is stored in run.json too.

    Raises:
        UsageError: The folder holds a run of other settings; names each that differs.
    """
    check_folder(folder.path, resume)  # again: another process may have been faster
    clear_rests(folder)
    measure, system = engine.measure(), engine.system()
    if (folder.path / "run.json").is_file():
        check_resumable(folder.manifest(), {"measure": measure, "system": system}, folder.path)
    else:
        write_records(folder.path / "tools.jsonl", pool.tools())
    tasks = pool.tasks(select=settings.select, limit=settings.limit)
    wanted = (task for task in tasks if only is None or task.id in only)
    write_records(folder.path / "tasks.jsonl", wanted)
    warnings = warnings_of(measure, system)
    told: dict[str, JSON] = {"measure": measure, "system": system, "warnings": warnings}
    if pool.benchmark is not None and (declared := pool.benchmark.declared()):
        told["benchmark"] = declared
    if settings.origins:
        told["origins"] = dict(sorted(settings.origins.items()))
    folder.write_json("run.json", told)
    return warnings


def clear_rests(folder: RunFolder) -> None:
    """Remove what chats in progress left, and files that were not written to their end."""
    shutil.rmtree(folder.path / "live", ignore_errors=True)
    for part in folder.path.glob(".*.json*.part"):
        part.unlink(missing_ok=True)
