"""The service desks: scenarios that were written, then those that goal templates made.

`seal generate scenarios` makes the latter, of the world, number and seed that stand here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seal.benchmarks.apps import diary_goals
from seal.benchmarks.toolsandbox.scenarios.files import CATEGORIES
from seal.benchmarks.toolsandbox.scenarios.generation import generate_scenarios, rated
from seal.benchmarks.toolsandbox.scenarios.importer import import_scenarios
from seal.core import Step, Task
from seal.pools.importer import Notes
from seal.pools.pool import load_pool

NAME = "apps"
MADE: list[dict[str, Any]] = [
    {"bench": "shop+bank", "n": 105, "seed": 1},
    {
        "bench": "calendar+mail",
        "n": 60,
        "seed": 1,
        "templates": [template.name for template in diary_goals.GOALS.templates],
    },
    {
        "bench": "calendar+mail",
        "n": 18,
        "seed": 1,
        "templates": [
            "a_new_event_with_a_guest",
            "one_event_in_the_place_of_another",
            "who_accepted_is_invited",
            "answer_a_letter",
        ],
    },
    {
        "bench": "mail+shop",
        "n": 9,
        "seed": 1,
        "templates": ["order_what_a_letter_asks", "cancel_and_write"],
    },
    {
        "bench": "calendar+shop",
        "n": 8,
        "seed": 1,
        "templates": ["at_home_for_a_delivery", "sent_elsewhere_and_an_event_off"],
    },
    {"bench": "calendar+bank", "n": 5, "seed": 1, "templates": ["pay_and_take_an_event_off"]},
    {"bench": "mail+bank", "n": 5, "seed": 1, "templates": ["pay_an_invoice"]},
]
"""Four to six of each of the 41 templates."""


def import_sample(source: Path, notes: Notes) -> Iterator[Any]:
    """Yield tools and tasks, each with its difficulty as tags."""
    yield from with_made(source, notes, NAME, MADE)


def with_made(
    source: Path, notes: Notes, name: str, asked: Sequence[Mapping[str, Any]]
) -> Iterator[Any]:
    """Yield tools and tasks that were written, then tasks that templates make.

    Args:
        source: Folder of what was written.
        notes: Gets the counts, and how the others are made.
        name: Of the benchmark.
        asked: What `seal generate scenarios` is asked for, in order.
    """
    for record in import_scenarios(source, notes, benchmark=name, recordings=False):
        yield _told_once(rated(record)) if isinstance(record, Task) else record
    made: list[Task] = []
    for one in asked:
        with TemporaryDirectory() as place:
            generate_scenarios(out=Path(place) / "pool", **one)
            made += load_pool(Path(place) / "pool").tasks()
    yield from (_told_once(replace(task, benchmark=name)) for task in made)
    counts = notes.facts["counts"]
    for tag in CATEGORIES:
        counts[tag] += sum(bool(task.tags[tag]) for task in made)
    notes.facts["made"] = [{**one} for one in asked]


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
