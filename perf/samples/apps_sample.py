"""The service desks: scenarios that were written, then those that goal templates made.

`seal generate scenarios` makes the latter, of the world, number and seed that stand here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seal.benchmarks.toolsandbox.scenarios.files import CATEGORIES
from seal.benchmarks.toolsandbox.scenarios.generation import generate_scenarios, rated
from seal.benchmarks.toolsandbox.scenarios.importer import import_scenarios
from seal.core import Task
from seal.pools.importer import Notes
from seal.pools.pool import load_pool

NAME = "apps"
MADE: dict[str, Any] = {"bench": "shop+bank", "n": 80, "seed": 1}
"""Three or four of each of the 21 templates."""


def import_sample(source: Path, notes: Notes) -> Iterator[Any]:
    """Yield tools and tasks, each with its difficulty as tags."""
    for record in import_scenarios(source, notes, benchmark=NAME, recordings=False):
        yield rated(record) if isinstance(record, Task) else record
    with TemporaryDirectory() as place:
        generate_scenarios(out=Path(place) / "pool", **MADE)
        made = list(load_pool(Path(place) / "pool").tasks())
    yield from (replace(task, benchmark=NAME) for task in made)
    counts = notes.facts["counts"]
    for tag in CATEGORIES:
        counts[tag] += sum(bool(task.tags[tag]) for task in made)
    notes.facts["made"] = {**MADE}
