"""Gold steps of ToolSandbox's scenarios, from the conversations that were recorded of them.

Among the recorded conversations, those of the variant `oracle` play a scenario's gold calls and say
what it wants said; no language model made them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from seal.benchmarks.toolsandbox.milestones import PARTIES
from seal.benchmarks.toolsandbox.trajectories import recorded_steps
from seal.benchmarks.toolsandbox.upstream_scenarios import scenario_lines
from seal.core.types import Step
from seal.pools.importer import Notes
from seal.pools.reading.records import field
from seal.pools.reading.tolerance import usable

FILES = ("vectors_*.jsonl.gz", "vectors_*.jsonl")
GOLD = "oracle"
"""Upstream's name of the variant that plays the gold."""

_USER = PARTIES["USER"]


def references(folder: Path, notes: Notes) -> Mapping[str, tuple[Step, ...]]:
    """Return base scenario to the agent's gold calls, their results, and its texts.

    Args:
        folder: Where the recorded conversations may lie; empty where it has none.
        notes: Gets the counts of malformed records, which are left out.

    Raises:
        DataError: A file is torn, or no record of it can be used.
    """
    paths = sorted({path for name in FILES for path in folder.glob(name)})
    found: dict[str, tuple[Step, ...]] = {}
    for path in paths:
        for base, steps in usable(path, _read, notes, scenario_lines):
            if steps:
                found.setdefault(base, steps)
    return found


def _read(record: dict[str, Any]) -> tuple[str, tuple[Step, ...]]:
    if field(record, "variant", str) != GOLD:
        return "", ()
    steps = recorded_steps(record, {})
    gold = [s for s in steps if s.author != _USER and (s.result is None or s.recipient != _USER)]
    return field(record, "base", str), tuple(replace(step, state=None) for step in gold)
