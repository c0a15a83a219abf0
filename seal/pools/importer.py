"""Upstream files in, one pool folder out: what every importer shares.

An importer is a function that yields records while it reads: tools, tasks, and recorded runs, in
any order; the folder keeps their order, so an importer yields in an order that its source alone
decides. Here the records become a pool folder, which appears whole or not at all:

    tools.jsonl  tasks.jsonl  recorded/NAME/trajectories.jsonl  web.json  mobile.json
    import.json
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, Protocol

from seal.core import JSON, Task, Tool, Trajectory, UsageError, check_name
from seal.core.registry import Registry, load_dotted

REGISTRY = Registry("benchmark", "seal.benchmarks", {})
"""Benchmarks by name, each a `seal.Benchmark` or an importer alone."""

RECORDINGS = Registry("benchmark with recorded trajectories", "seal.trajectories", {})
"""Importers of which every task comes with the trajectory that played it, in equal order."""

TOOLS = "tools.jsonl"
TASKS = "tasks.jsonl"
REPORT = "import.json"
RECORDED = "recorded"
TRAJECTORIES = "trajectories.jsonl"
WEB = "web.json"
MOBILE = "mobile.json"
_PLACES = 5
"""Malformed records that are told with their place."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One run that a model left behind, played by others before us; never gold."""

    name: str
    """Of the recording, as in `--model recorded:NAME`; a folder name."""
    trajectory: Trajectory


@dataclass(frozen=True, slots=True)
class Web:
    """Recorded answers of the web that the worlds of a pool are played with.

    A run whose `-T web=` says otherwise does without them.
    """

    content: bytes
    """JSON, as `-T web=FILE` takes it (`seal.benchmarks.toolsandbox.phone.answers`)."""


@dataclass(frozen=True, slots=True)
class Mobile:
    """Recorded calls that the virtual mobile of a pool answers with."""

    content: bytes
    """JSON, as `seal.benchmarks.dialogtool.mobile.recordings.read_recordings` takes it."""


@dataclass(slots=True)
class Notes:
    """What an importer has to say besides its records; written to `import.json`."""

    dropped: Counter[str] = field(default_factory=Counter)
    """Reason to the number of records, or parts of records, that were left out."""
    lacks: set[str] = field(default_factory=set)
    """What the source says of no task or tool at all, such as "gold_calls"."""
    facts: dict[str, JSON] = field(default_factory=dict)
    """Further counts under a name of their own."""
    malformed: list[str] = field(default_factory=list)
    """Place and fault of the first malformed records that were left out, at most `_PLACES`."""

    remarks: list[str] = field(default_factory=list)
    """Place of what was taken and may be meant otherwise, and why."""

    def leave_out(self, reason: str, fault: str) -> None:
        """Count a malformed record that is left out.

        Args:
            reason: To count it under.
            fault: Its file, its place there, and what is wrong with it.
        """
        self.dropped[reason] += 1
        if len(self.malformed) < _PLACES:
            self.malformed.append(fault)


class Importer(Protocol):
    """Reads one benchmark's upstream files."""

    def __call__(
        self, source: Any, notes: Notes, **options: Any
    ) -> Iterator[Tool | Task | Recorded | Web | Mobile]:
        """Yield the records of a file or folder; equal sources give equal records in equal order.

        Raises:
            DataError: A file is malformed; the text names file and place.
        """
        ...


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
    importer = importer_of(name)
    if importer is None:
        raise UsageError(f"the benchmark {name!r} is complete as it is: nothing of it is imported")
    from seal.pools.writing import write_pool

    check_options(importer, options, f"option -T of {name}")
    return write_pool(name.rpartition(":")[2], importer, source, out, **options)


def importer_of(name: str) -> Importer | None:
    """Return the importer of a name or dotted path: a function, or that of a benchmark.

    None: the benchmark is complete as it is.

    Raises:
        UnknownNameError: No such name.
    """
    found = REGISTRY.resolve(name)
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


def pool_digest(folder: Path) -> str:
    """Return the SHA-256 over tools.jsonl and tasks.jsonl, as 64 hexadecimal digits."""
    total = hashlib.sha256()
    for name in (TOOLS, TASKS):
        with (folder / name).open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()
