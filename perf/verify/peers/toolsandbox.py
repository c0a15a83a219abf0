"""Similarities beside those that ToolSandbox's own code recorded for its trajectories."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from peers.comparison import Peer, PeerFigure
from seal.benchmarks.toolsandbox.importer import import_trajectories
from seal.core import Task, UsageError
from seal.evaluation.plans import measure_plan, turn_count, view
from seal.pools.importer import Notes, Recorded

_FILES = ("vectors_public.jsonl.gz", "fuzz_public.jsonl.gz")
_NUMBERS = ("similarity", "milestone_similarity", "minefield_similarity")
_DECIMALS = 5
"""The peer keeps similarities in 32 bits."""


def _recorded() -> Iterator[PeerFigure]:
    folder = Path(os.environ.get("SEAL_DATA") or "data") / "toolsandbox"
    for path in (folder / name for name in _FILES):
        if not path.is_file():
            raise UsageError(f"no recorded scores of ToolSandbox: expected {path}; set SEAL_DATA")
        lines = gzip.decompress(path.read_bytes()).splitlines()
        expected = {told["id"]: told["expected"] for told in map(json.loads, lines)}
        tasks: dict[str, Task] = {}
        for record in import_trajectories(path, Notes()):
            if isinstance(record, Task):
                tasks[record.id] = record
            elif isinstance(record, Recorded):
                task = tasks[record.trajectory.task_id]
                yield from _held(task, record, expected[task.id])


def _held(task: Task, record: Recorded, expected: dict[str, Any]) -> Iterator[PeerFigure]:
    steps = view(record.trajectory, 0, task.initial_state, "toolsandbox")
    (plan,) = task.goals[0].plans or ()
    found = measure_plan(plan, steps, "toolsandbox")
    for name in _NUMBERS:
        ours, theirs = (round(value, _DECIMALS) for value in (getattr(found, name), expected[name]))
        yield PeerFigure(name, task.id, ours, theirs)
    yield PeerFigure("turns", task.id, turn_count(steps), expected["turn_count"])


PEER = Peer("ToolSandbox, its recorded scores", _recorded)
