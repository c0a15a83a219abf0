"""Counts of the benchmarks whose files are here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seal.benchmarks.catalogue import Entry
from seal.benchmarks.counting import PoolCounts, count_stored
from seal.core.errors import SealError, UsageError
from seal.core.registry import load_dotted
from seal.core.types import JSON
from seal.pipeline.pools import SHIPPED, open_pool, source_folder
from seal.pipeline.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class Measured:
    """What counting one benchmark gave."""

    counts: PoolCounts | None
    """None: there was nothing to count."""
    reason: str = ""
    """Why there are no counts."""


@dataclass(frozen=True, slots=True)
class Figures:
    """A benchmark's own statistics."""

    values: dict[str, JSON] | None
    """None: there are none."""
    reason: str = ""
    """Why there are none."""


def figures_of(entry: Entry, run: Path | None = None) -> Figures:
    """Return a benchmark's own statistics; upstream files are imported first, once.

    Args:
        entry: The benchmark.
        run: Run folder whose trajectories are counted too; None: the gold alone.

    Raises:
        UsageError: A run is given, and the benchmark has no statistics of its own.
        DataError: There is no run in the folder.
    """
    if entry.statistics is None:
        if run is not None:
            raise UsageError(f"{entry.name} has no statistics of runs: leave out --run")
        return Figures(None, "none of its own")
    trajectories = () if run is None else RunFolder.open(run).trajectories()
    if not is_here(entry):
        return Figures(None, "no files under SEAL_DATA")
    try:
        tasks = open_pool(entry.name).tasks()
        return Figures(load_dotted(entry.statistics)(tasks, trajectories).to_json())
    except SealError as error:
        return Figures(None, str(error))


def is_here(entry: Entry) -> bool:
    """Tell whether a benchmark ships or its files lie under SEAL_DATA."""
    return entry.name in SHIPPED or source_folder(entry.name) is not None


def measure(entry: Entry) -> Measured:
    """Count a benchmark's pool; upstream files are imported first, once.

    What cannot be counted, for its files are absent or refused, says why: it stops no other.
    """
    if not is_here(entry):
        return Measured(None, "no files under SEAL_DATA")
    if entry.importer is None and entry.name not in SHIPPED:
        return Measured(None, entry.status)
    try:
        return Measured(count_stored(open_pool(entry.name)))
    except SealError as error:
        return Measured(None, str(error))
