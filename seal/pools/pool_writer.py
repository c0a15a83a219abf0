"""Writes what an importer yields into a pool folder, whole or not at all."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import orjson

from seal.core import DataError, Task, Tool, UsageError, shortened
from seal.core.files import in_work, naming, part_of, remove, within
from seal.core.records import encode, without_cycle_search
from seal.core.schema_faults import default_faults
from seal.pools.importer import (
    RECORDED,
    REGISTRY,
    REPORT,
    TASKS,
    TOOLS,
    TRAJECTORIES,
    Importer,
    Notes,
    Recorded,
    WorldFile,
    pool_digest,
)
from seal.pools.imports import ImportReport
from seal.pools.lookup import world_files

_OURS = {TOOLS, TASKS, REPORT, RECORDED}
"""What a pool folder holds, besides the files of its worlds."""


def write_pool(
    name: str, importer: Importer, source: Path | None, out: Path, **options: Any
) -> ImportReport:
    """Write the records that an importer yields into a pool folder, as `import_benchmark` does.

    Args:
        name: Of the pool.
        importer: Reads the source.
        source: What it reads; None: records that are no file's.
        out: Folder to make; an earlier pool there is replaced.
        options: Handed to the importer.

    Raises:
        UsageError: No such source, or `out` may not be replaced.
        DataError: As the importer; nothing is left behind.
    """
    _check_places(source, out)
    part = part_of(out)
    part.mkdir(parents=True)
    try:
        with naming(out), in_work(part):
            report = _write(name, importer, source, part, options)
            _swap(part, out)
    finally:
        remove(part)
    return report


def _check_places(source: Path | None, out: Path) -> None:
    if source is not None and not source.exists():
        raise UsageError(f"no file or folder {source}: name the benchmark's upstream files")
    if source is not None and out.resolve().is_relative_to(source.resolve()):
        raise UsageError(f"{out} lies inside {source}: choose an output folder outside the source")
    if source is not None and source.resolve().is_relative_to(out.resolve()):
        raise UsageError(f"{source} lies inside {out}: choose another output folder")
    is_pool = out.is_dir() and ((out / REPORT).is_file() or not any(out.iterdir()))
    if out.exists() and not is_pool:
        raise UsageError(
            f"{out} exists and is no pool (it has no {REPORT}): choose a new folder or empty it"
        )
    others = {path.name for path in out.iterdir()} - _OURS if is_pool else set()
    if others and (others := others - world_files()):
        raise UsageError(
            f"{out} holds {shortened(min(others))}, which is not of a pool and would be lost: "
            "move it, or choose a new folder"
        )


def _swap(part: Path, out: Path) -> None:
    """Put the finished folder in the place of an earlier one."""
    old = part.with_suffix(".old")
    if out.exists():
        out.rename(old)
    part.rename(out)
    remove(old)


def _write(
    name: str, importer: Importer, source: Path | None, folder: Path, options: dict[str, Any]
) -> ImportReport:
    notes = Notes()
    with ExitStack() as files, without_cycle_search():
        writer = _Writer(folder, files)
        try:
            for record in importer(source, notes, **options):
                writer.add(record)
                if isinstance(record, Tool):
                    _tell_defaults(record, notes)
        except DataError as error:
            point = "" if str(error).endswith(("?", "!", ".")) else "."
            raise DataError(f"{error}{point} Nothing was imported") from error
    tools, tasks = writer.counts[TOOLS], writer.counts[TASKS]
    needs_tasks = notes.dropped and not writer.recordings and "tasks" not in notes.lacks
    needs_tools = "tools" not in notes.lacks
    if (needs_tools and not tools) or (needs_tasks and not tasks):
        what = "record" if not tools + tasks else "task" if tools else "tool"
        raise DataError(_nothing(what, name, source, notes))
    report = ImportReport(
        name,
        writer.counts[TASKS],
        writer.counts[TOOLS],
        dict(sorted(notes.dropped.items())),
        tuple(sorted(notes.lacks)),
        pool_digest(folder),
        dict(sorted(writer.recordings.items())),
        notes.facts,
        tuple(notes.malformed),
        tuple(notes.remarks),
    )
    text = orjson.dumps(report.to_json(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    (folder / REPORT).write_bytes(text)
    return report


_REFUSED = "defaults_refused"
_MOST_TOLD = 5
"""Defaults that are told with their place."""


def _tell_defaults(tool: Tool, notes: Notes) -> None:
    """Count the defaults of a tool that its own schema refuses, and tell the first ones."""
    for fault in default_faults(tool.parameters):
        count = notes.facts.get(_REFUSED, 0)
        if count < _MOST_TOLD:
            notes.remarks.append(f"{tool.id}: the default at {fault.path} is refused: {fault.text}")
        notes.facts[_REFUSED] = count + 1


def _nothing(what: str, name: str, source: Path | None, notes: Notes) -> str:
    """Return that a source holds none of what it should, what it holds instead, and the repair."""
    files = notes.facts.get("files")
    parts = [
        f"{what}: {', '.join(f'{count} {kind}' for kind, count in counts.items())}"
        for what, counts in (("its files", files), ("left out", dict(notes.dropped)))
        if isinstance(counts, dict) and counts
    ]
    found = f" ({'; '.join(parts)})" if parts else ""
    return (
        f"{source} holds no {what} of {name}{found}: name the file or folder that upstream "
        f"publishes, or another importer ({', '.join(REGISTRY.names())})"
    )


class _Writer:
    """Appends each record to the file of its kind."""

    def __init__(self, folder: Path, files: ExitStack) -> None:
        self.counts: Counter[str] = Counter()
        self.recordings: Counter[str] = Counter()
        self._folder = folder
        self._stack = files
        self._tools = self._open(folder / TOOLS)
        self._tasks = self._open(folder / TASKS)
        self._recorded: dict[str, IO[bytes]] = {}

    def add(self, record: Tool | Task | Recorded | WorldFile) -> None:
        if isinstance(record, WorldFile):
            (self._folder / record.name).write_bytes(record.content)
        elif isinstance(record, Recorded):
            self._recording(record.name).write(encode(record.trajectory))
            self.recordings[record.name] += 1
        elif isinstance(record, Task):
            self._tasks.write(encode(record))
            self.counts[TASKS] += 1
        else:
            self._tools.write(encode(record))
            self.counts[TOOLS] += 1

    def _recording(self, name: str) -> IO[bytes]:
        if name not in self._recorded:
            self._recorded[name] = self._open(within(self._folder / RECORDED, name) / TRAJECTORIES)
        return self._recorded[name]

    def _open(self, path: Path) -> IO[bytes]:
        path.parent.mkdir(parents=True, exist_ok=True)
        file: IO[bytes] = self._stack.enter_context(path.open("wb"))
        return file
