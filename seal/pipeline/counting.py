"""Counts of the benchmarks whose files are here."""

from __future__ import annotations

from dataclasses import dataclass

from seal.benchmarks.catalogue import Entry
from seal.benchmarks.counting import PoolCounts, count_stored
from seal.core.errors import SealError
from seal.pipeline.pools import SHIPPED, open_pool, source_folder


@dataclass(frozen=True, slots=True)
class Measured:
    """What counting one benchmark gave."""

    counts: PoolCounts | None
    """None: there was nothing to count."""
    reason: str = ""
    """Why there are no counts."""


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
