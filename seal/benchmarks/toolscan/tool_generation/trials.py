"""A task for each written tool: its description and one example's values, and the call for them.

So that the pool can be searched and played as it stands. The request names what the tool does in
the tool's own words, so the tasks are easy: they try a pool, they measure no model. Missions are
made by `seal generate missions`.
"""

from __future__ import annotations

from collections.abc import Iterator

from seal.core.conditions import Argument, Called
from seal.core.plain import json_text
from seal.core.text import split_identifiers
from seal.core.types import JSON, Goal, Milestone, Plan, Task, Tool


def make_task(tool: Tool, arguments: dict[str, JSON], benchmark: str) -> Task:
    """Return the task that asks for one call.

    Args:
        tool: The tool.
        arguments: What its schema accepts.
        benchmark: Name of the pool.
    """
    said = "; ".join(f"{_spoken(name)} {_told(value)}" for name, value in arguments.items())
    wanted = {name: Argument((value,)) for name, value in arguments.items()}
    goal = Goal(
        f"{tool.description.rstrip('.')}: {said}.",
        (Plan((Milestone(Called(tool.id, wanted)),)),),
        relevant=(tool.id,),
    )
    tags: dict[str, JSON] = {"multi_tool": False, "multi_step": False, "category": tool.category}
    return Task(f"try/{tool.name}", benchmark, (goal,), tags=tags)


def _spoken(name: str) -> str:
    return split_identifiers(name).lower()


def _told(value: JSON) -> str:
    """Return a value as a request states it, each text and number in it as it is."""
    if isinstance(value, dict):
        return ", ".join(f"{_spoken(name)} {_told(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        return " and ".join(map(_told, _flat(value)))
    return value if isinstance(value, str) else json_text(value)


def _flat(values: list[JSON]) -> Iterator[JSON]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        else:
            yield value
