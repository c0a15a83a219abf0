"""A benchmark's upstream files imported by name, and answers of others read into a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import IO, Any

from seal.core import JSON, DataError, Task, Tool, UsageError, check_name, shortened
from seal.core.files import PACKED, in_work, naming, part_of, remove, within
from seal.core.records import encode, without_cycle_search
from seal.core.registry import load_dotted
from seal.core.schema_faults import default_faults
from seal.core.settings import takes
from seal.core.store import Store
from seal.core.values import INDENTED, json_bytes
from seal.pools.benchmark import Benchmark, loaded
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
from seal.pools.lookup import answer_formats, refuse_former, world_files
from seal.simulator_cache.exchange import StoreImport


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import made, as `import.json` holds it."""

    benchmark: str
    tasks: int
    tools: int
    dropped: dict[str, int]
    """Reason to count."""
    lacks: tuple[str, ...]
    digest: str
    """SHA-256 of tools.jsonl and tasks.jsonl, as `StoredPool.digest`."""
    recordings: dict[str, int]
    """Name of a recording to its number of trajectories."""
    facts: dict[str, JSON]
    """Counts of this benchmark's own."""
    malformed: tuple[str, ...] = ()
    """Place and fault of the first malformed records that were left out."""
    remarks: tuple[str, ...] = ()
    """Place of what was taken and may be meant otherwise, and why."""

    def to_json(self) -> dict[str, JSON]:
        """Return the content of `import.json`."""
        return {
            "benchmark": self.benchmark,
            "tasks": self.tasks,
            "tools": self.tools,
            "dropped": self.dropped,
            "lacks": list(self.lacks),
            "digest": self.digest,
            "recordings": self.recordings,
            **({"malformed": list(self.malformed)} if self.malformed else {}),
            **({"remarks": list(self.remarks)} if self.remarks else {}),
            **self.facts,
        }


def import_benchmark(name: str, source: Path | None, out: Path, **options: Any) -> ImportReport:
    """Import a benchmark's upstream files into a pool folder.

    Args:
        name: Of the importer, or a dotted path to one.
        source: File or folder as upstream publishes it; None: what the options say.
        out: Folder to make; an earlier pool there is replaced.
        options: Handed to the importer.

    Raises:
        UnknownNameError: No such importer, or it has no such option.
        UsageError: No such source, or `out` may not be replaced.
        DataError: A file is missing or malformed, or the source holds no usable record; nothing is
            left behind.
    """
    refuse_former(name)
    found = REGISTRY.resolve(name)
    importer = _importer_of(found)
    if importer is None:
        raise UsageError(f"the benchmark {name!r} is complete as it is: nothing of it is imported")
    if not callable(importer) or not takes(importer, 2):
        raise UsageError(f"{name!r} is no importer: expected a function of (source, notes)")
    if source is None and "servers" not in options:
        raise UsageError(f"{name}: no source; give its upstream files, or of mcp `servers`")

    check_options(importer, options, f"option -T of {name}")
    made = found.name if isinstance(found, Benchmark) else name.rpartition(":")[2]
    return write_pool(made, importer, source, out, **options)


def _importer_of(found: Any) -> Importer | None:
    """Return what imports: a function, or the importer of a benchmark; None: it is complete."""
    given: Any = getattr(found, "importer", found)
    importer: Importer | None = load_dotted(given) if isinstance(given, str) else given
    return importer


def check_options(importer: Importer, options: Iterable[str], kind: str) -> None:
    """Make sure that an importer takes options of these names.

    Args:
        importer: Its options are its keyword-only parameters, or any.
        options: Names.
        kind: What they are called in the message.

    Raises:
        UnknownNameError: It has none of a name; lists those that it has.
    """
    parameters = signature(importer).parameters.values()
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
        return
    known = [p.name for p in parameters if p.kind is Parameter.KEYWORD_ONLY]
    for name in options:
        check_name(kind, name, known)


_FORMER = {
    "seal": "a store is one file, answers.sqlite, to be copied; machines share one by "
    "SEAL_CACHE_URL",
}
"""Former format of answers to what replaces it."""


def import_answers(
    store: Store, source: Path, format: str, tools: Mapping[str, Tool] | None = None
) -> StoreImport:
    """Read answers into a store; what is stored already stays as it is.

    Args:
        store: Takes the entries.
        source: A folder in the format.
        format: One of those that benchmarks read (`Benchmark.answers`).
        tools: The pool by id, in which the tools are found that the answers are of.

    Raises:
        DataError: The source does not exist, or holds nothing of the format.
        UsageError: There is no such format, or the pool is missing.
    """
    formats = answer_formats()
    if format in _FORMER and format not in formats:
        raise UsageError(f"cache format {format!r} is gone: {_FORMER[format]}")
    if format not in formats:
        known = ", ".join(sorted(formats))
        raise UsageError(f"cache format {format!r}; known: {known}")
    if not source.exists():
        raise DataError(f"no file or folder {source}")
    if not tools:
        raise UsageError(
            f"format {format} names APIs as upstream: give the pool that has them, --pool DIR"
        )
    report: StoreImport = loaded(formats[format])(store, source, tools)
    return report


# -- Writes what an importer yields into a pool folder, whole or not at all.


_OURS = {TOOLS, TASKS, f"{TASKS}{PACKED}", REPORT, RECORDED}
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
    (folder / REPORT).write_bytes(json_bytes(report.to_json(), INDENTED))
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
