"""A benchmark's upstream files imported by name, and answers of others read into a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from seal.core import JSON, DataError, Tool, UsageError, check_name
from seal.core.registry import load_dotted
from seal.core.settings import takes
from seal.core.store import Store
from seal.pools.benchmark import Benchmark, loaded
from seal.pools.importer import REGISTRY, Importer
from seal.pools.lookup import answer_formats
from seal.simulator_cache.exchange import StoreImport, import_entries


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
    found = REGISTRY.resolve(name)
    importer = _importer_of(found)
    if importer is None:
        raise UsageError(f"the benchmark {name!r} is complete as it is: nothing of it is imported")
    if not callable(importer) or not takes(importer, 2):
        raise UsageError(f"{name!r} is no importer: expected a function of (source, notes)")
    if source is None and "servers" not in options:
        raise UsageError(f"{name}: no source; give its upstream files, or of mcp `servers`")
    from seal.pools.pool_writer import write_pool

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


def import_answers(
    store: Store, source: Path, format: str = "seal", tools: Mapping[str, Tool] | None = None
) -> StoreImport:
    """Read answers into a store; what is stored already stays as it is.

    Args:
        store: Takes the entries.
        source: A file or folder in one of the formats.
        format: `seal`: JSON Lines as `seal cache export` writes them; or one of those that
            benchmarks read (`Benchmark.answers`).
        tools: The pool by id; the formats of benchmarks need it to find the tools they speak of.

    Raises:
        DataError: The source does not exist, or holds nothing of the format.
        UsageError: There is no such format, or the pool is missing.
    """
    if format == "seal":
        return import_entries(store, source)
    formats = answer_formats()
    if format not in formats:
        known = ", ".join(["seal", *sorted(formats)])
        raise UsageError(f"cache format {format!r}; known: {known}")
    if not source.exists():
        raise DataError(f"no file or folder {source}")
    if not tools:
        raise UsageError(
            f"format {format} names APIs as upstream: give the pool that has them, --pool DIR"
        )
    report: StoreImport = loaded(formats[format])(store, source, tools)
    return report
