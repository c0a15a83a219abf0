"""What was made: benchmarks that were generated, and the parts of those that were split."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.api.objects.base import Entries
from seal.core.signatures import checked_names
from seal.core.text import counted
from seal.pools.imports import ImportReport
from seal.pools.lookup import Bench
from seal.report.glance import Glance
from seal.report.grids import Grid


@checked_names
@dataclass(frozen=True, repr=False, eq=False)
class PoolSplit(Entries):
    """A pool in two: `parts.train` and `parts.test`, which `seal.retrieve` and others take.

    `content` is that of training.json (`seal.split`); `parts["counts"]` is one entry.
    """

    train: Bench
    """The tasks for training."""
    test: Bench
    """The tasks that are held out."""
    folder: Path
    """Holds train/, test/ and training.json; without `out` a temporary one, which goes with the
    process."""

    def _glance(self) -> Glance:
        counts = self.content["counts"]
        rows = [
            (part, str(counts[f"{part}_tasks"]), str(counts[f"{part}_tools"]))
            for part in ("train", "test")
        ]
        title = f"{self.content['pool']}, split by {self.content['split']['by']}"
        left = [f"left out, {why}: {count}" for why, count in counts["left_out"].items()]
        return Glance(Grid(title, ("part", "tasks", "tools needed"), rows), left)


@checked_names
@dataclass(frozen=True, repr=False, eq=False)
class Generated(Entries):
    """What was generated; `content` is what `seal.generate` says of its kind."""

    place: Path | None = None
    """The folder that was made, or the file; None: nothing was written."""
    report: ImportReport | None = None
    """What the pool holds; None: no pool was made."""
    errors: tuple[str, ...] = ()
    """Dialogues that the infrastructure failed at, with the failure."""

    @property
    def statistics(self) -> dict[str, Any]:
        """What was proposed, kept and left out, where the kind tells that; else empty."""
        found: dict[str, Any] = self.content.get("generation", {})
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the content."""
        return self.content

    def _glance(self) -> Glance:
        rows = [(name, _short(value)) for name, value in self.content.items() if value]
        grid = Grid(f"generated: {self.place or 'nothing written'}", ("entry", "value"), rows, 2)
        failed = counted(len(self.errors), "dialogue")
        return Glance(grid, [f"{failed} failed: {error}" for error in self.errors[:1]])


def _short(value: Any) -> str:
    """Return an entry in short: of a list how long it is, of an object its names."""
    if isinstance(value, Mapping):
        return ", ".join(map(str, value))
    return str(len(value)) if isinstance(value, list | tuple) else str(value)
