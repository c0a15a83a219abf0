"""Counts of the benchmarks whose files are here."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from seal.core import JSON, SealError, UsageError
from seal.core.registry import load_dotted
from seal.pools.catalogue import Card, by_any_name
from seal.pools.counts import PoolCounts, count_stored
from seal.pools.importer import REGISTRY
from seal.pools.lookup import is_shipped, open_pool
from seal.pools.pool import StoredPool, load_pool
from seal.pools.upstream import source_folder
from seal.runs.run_folder import RunFolder


@dataclass(frozen=True, slots=True)
class Counted:
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
    """Why there are none, where the benchmark has any."""


def figures_of(what: Card | StoredPool, run: Path | None = None) -> Figures:
    """Return a benchmark's own statistics; upstream files are imported first, once.

    Args:
        what: A benchmark, or a pool folder of one.
        run: Run folder whose trajectories are counted too; None: only the gold is counted.

    Raises:
        UsageError: A run is given, and the benchmark has no statistics of its own.
        DataError: There is no run in the folder.
    """
    entry = what if isinstance(what, Card) else by_any_name().get(what.name)
    if entry is None or entry.statistics is None:
        if run is not None:
            raise UsageError(f"{what.name} has no statistics of runs: leave out --run")
        return Figures(None)
    trajectories = () if run is None else RunFolder.open(run).trajectories()
    if isinstance(what, Card) and not is_here(entry):
        return Figures(
            None,
            f"no files under SEAL_DATA; set it to the folder that holds {entry.folder}/, or import "
            f"the files ({entry.command}) and name the pool: seal benchmarks POOL",
        )
    try:
        pool = open_pool(entry.name) if isinstance(what, Card) else what
        return Figures(load_dotted(entry.statistics)(pool.tasks(), trajectories).to_json())
    except SealError as error:
        return Figures(None, str(error))


def named_pool(name: str) -> StoredPool | None:
    """Return the pool of a folder or of somebody else's benchmark; None for any other name.

    Raises:
        DataError: The folder is no pool.
        UsageError: The benchmark is broken, or its files are not here.
    """
    if name in by_any_name():
        return None
    if name in REGISTRY:
        return open_pool(name)
    return load_pool(Path(name)) if Path(name).is_dir() else None


def is_here(entry: Card) -> bool:
    """Tell whether a benchmark ships or its files lie under SEAL_DATA."""
    return is_shipped(entry.name) or source_folder(entry.name) is not None


def measure(entry: Card) -> Counted:
    """Count a benchmark's pool; upstream files are imported first, once.

    What cannot be counted, for its files are absent or refused, says why: it stops no other.
    """
    if not is_here(entry):
        return Counted(None, "no files under SEAL_DATA")
    if entry.importer is None and not is_shipped(entry.name):
        return Counted(None, entry.status)
    try:
        return Counted(count_stored(open_pool(entry.name)))
    except SealError as error:
        return Counted(None, str(error))
