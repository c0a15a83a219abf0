"""Upstream files in, one pool folder out: what every importer shares.

An importer is a function that yields records while it reads: tools, tasks, and recorded runs, in
any order; the folder keeps their order, so an importer yields in an order that its source alone
decides. Here the records become a pool folder, which appears whole or not at all:

    tools.jsonl  tasks.jsonl  recorded/NAME/trajectories.jsonl  import.json
    files of its worlds

A pool that is read may have its tasks packed, as `tasks.jsonl.gz`.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from seal.core import JSON, Task, Tool, Trajectory
from seal.core.files import PACKED, lines_of
from seal.core.registry import Registry

REGISTRY = Registry("benchmark", "seal.benchmarks", {})
"""Benchmarks by name, each a `seal.Benchmark` or an importer alone."""

RECORDINGS = Registry("benchmark with recorded trajectories", "seal.trajectories", {})
"""Importers of which every task comes with the trajectory that played it, in equal order."""

TOOLS = "tools.jsonl"
TASKS = "tasks.jsonl"
REPORT = "import.json"
PSEUDO_ACTIONS = "pseudo_actions"
"""Field of import.json and run.json: category to the names of actions that its chats offer besides
its tools, such as `finish`, each as often as it stands in the category's lists."""
RECORDED = "recorded"
TRAJECTORIES = "trajectories.jsonl"
RIGHT, WRONG = "right", "wrong"
"""Recordings of what solves its task, and of what does not: `seal lint` judges them."""
_PLACES = 5
"""Malformed records that are told with their place, where an importer does not say otherwise."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One run that a model left behind, played by others before us; never gold."""

    name: str
    """Of the recording, as in `--model recorded:NAME`; a folder name."""
    trajectory: Trajectory


@dataclass(frozen=True, slots=True)
class WorldFile:
    """A further file of a pool, which its worlds read, such as one of recorded answers."""

    name: str
    """As a benchmark declares it in `world_files`."""
    content: bytes


@dataclass(slots=True)
class Notes:
    """What an importer has to say besides its records; written to `import.json`."""

    dropped: Counter[str] = field(default_factory=Counter)
    """Reason to the number of records, or parts of records, that were left out."""
    lacks: set[str] = field(default_factory=set)
    """What the source says of no task or tool at all, such as "gold_calls". Of a source of tools
    alone: "tasks"; any other is refused where records were left out and no task remains. Of chats
    without tools: "tools"; any other is refused where it has none."""
    facts: dict[str, JSON] = field(default_factory=dict)
    """Further counts under a name of their own."""
    malformed: list[str] = field(default_factory=list)
    """Place and fault of the first malformed records that were left out."""

    remarks: list[str] = field(default_factory=list)
    """Place of what was taken and may be meant otherwise, and why."""
    places: float = _PLACES
    """Most entries of `malformed`."""

    def leave_out(self, reason: str, fault: str) -> None:
        """Count a malformed record that is left out.

        Args:
            reason: To count it under.
            fault: Its file, its place there, and what is wrong with it.
        """
        self.dropped[reason] += 1
        if len(self.malformed) < self.places:
            self.malformed.append(fault)


class Importer(Protocol):
    """Reads one benchmark's upstream files."""

    def __call__(
        self, source: Any, notes: Notes, **options: Any
    ) -> Iterator[Tool | Task | Recorded | WorldFile]:
        """Yield the records of a file or folder; equal sources give equal records in equal order.

        Raises:
            DataError: A file is malformed; the text names file and place.
        """
        ...


def pool_digest(folder: Path) -> str:
    """Return the SHA-256 over tools.jsonl and tasks.jsonl, as 64 hexadecimal digits.

    Packed tasks have the digest that they have unpacked.
    """
    total = hashlib.sha256()
    for path in (folder / TOOLS, tasks_of(folder)):
        own = hashlib.sha256()
        for line in lines_of(path):
            own.update(line)
        total.update(own.digest())
    return total.hexdigest()


def tasks_of(folder: Path) -> Path:
    """Return the file of a folder's tasks: tasks.jsonl, or tasks.jsonl.gz where that alone is."""
    plain, packed = folder / TASKS, folder / f"{TASKS}{PACKED}"
    return packed if packed.is_file() and not plain.exists() else plain
