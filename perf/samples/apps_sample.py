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
from seal.core import Step, Task
from seal.pools.importer import Notes
from seal.pools.pool import load_pool

NAME = "apps"
MADE: list[dict[str, Any]] = [
    {"bench": "shop+bank", "n": 63, "seed": 1},
    {"bench": "calendar+mail", "n": 24, "seed": 1},
]
"""Three of each of the 21 templates of shop and bank, and two or three of the ten others."""


def import_sample(source: Path, notes: Notes) -> Iterator[Any]:
    """Yield tools and tasks, each with its difficulty as tags."""
    for record in import_scenarios(source, notes, benchmark=NAME, recordings=False):
        yield _told_once(rated(record)) if isinstance(record, Task) else record
    made: list[Task] = []
    for asked in MADE:
        with TemporaryDirectory() as place:
            generate_scenarios(out=Path(place) / "pool", **asked)
            made += load_pool(Path(place) / "pool").tasks()
    yield from (_told_once(replace(task, benchmark=NAME)) for task in made)
    counts = notes.facts["counts"]
    for tag in CATEGORIES:
        counts[tag] += sum(bool(task.tags[tag]) for task in made)
    notes.facts["made"] = [{**asked} for asked in MADE]


def _told_once(task: Task) -> Task:
    """Return a task whose gold has the text of each result in its step alone.

    What ran is the call before it.
    """
    goals = (replace(goal, reference=tuple(map(_briefly, goal.reference))) for goal in task.goals)
    return replace(task, goals=tuple(goals))


def _briefly(step: Step) -> Step:
    if step.result is None or step.result.value is None:
        return step
    return replace(step, result=replace(step.result, content="", executed=None))
