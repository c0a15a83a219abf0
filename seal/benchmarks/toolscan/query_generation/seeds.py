"""The tasks that queries are made of: one request, and gold calls that say how it is met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from seal.core.conditions import Called
from seal.core.types import Goal, Task, Tool


@dataclass(frozen=True)
class Seed:
    """One task that queries are made of."""

    task: Task
    tools: Mapping[str, Tool]
    """The pool by id."""
    offered: tuple[str, ...]
    """Its environment: tools that it offers, else those of its gold tools' categories."""
    made: bool = False
    """True: from a tool, by rule."""

    @property
    def id(self) -> str:
        """The task's."""
        return self.task.id

    @property
    def goal(self) -> Goal:
        """The one goal."""
        return self.task.goals[0]

    @property
    def text(self) -> str:
        """The request."""
        return self.goal.text

    @cached_property
    def plans(self) -> tuple[list[Called], ...]:
        """The gold calls of each plan."""
        return tuple(plan.calls() for plan in self.goal.plans or ())

    @property
    def environment(self) -> str:
        """Tag of that name, else the category of the first gold tool."""
        named = self.task.tags.get("environment")
        return str(named) if named else self.tools[self.plans[0][0].tool].category


@dataclass(frozen=True, slots=True)
class Seeds:
    """All seeds of a pool."""

    seeds: list[Seed]
    skipped: dict[str, int]
    """Why tasks are no seeds, to their number."""
