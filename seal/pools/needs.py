"""What a task needs of a pool, and what of it a smaller pool leaves.

A task needs every relevant tool of every goal, or one of them where they are alternatives; and
where a goal has plans, all tools that one of its plans calls.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain

from seal.core import Goal, Plan, Task
from seal.pools.named_tools import called_tools, stated_tools

_Choice = tuple[frozenset[str], ...]
"""Sets of tools of which one is enough."""


@dataclass(frozen=True, slots=True)
class Need:
    """The tools that serve a task."""

    all_of: frozenset[str]
    one_of: tuple[_Choice, ...] = ()
    """Of each choice one set, besides."""

    @property
    def tools(self) -> frozenset[str]:
        """Every tool that is named."""
        return self.all_of.union(*chain.from_iterable(self.one_of))

    @property
    def size(self) -> int:
        """Number of tools that suffice; fewer may, where choices overlap."""
        return len(self.all_of) + sum(
            min(len(tools - self.all_of) for tools in choice) for choice in self.one_of
        )

    def met(self, held: AbstractSet[str]) -> bool:
        """Tell whether these tools serve the task."""
        return self.all_of <= held and all(
            any(tools <= held for tools in choice) for choice in self.one_of
        )

    def missing(self, held: AbstractSet[str], chance: random.Random) -> set[str]:
        """Return the tools to add to these; of the smallest sets of a choice chance takes one."""
        added = set(self.all_of - held)
        for choice in self.one_of:
            rests = [tools - held - added for tools in choice]
            least = min(map(len, rests))
            if least:
                added |= chance.choice([rest for rest in rests if len(rest) == least])
        return added


def need_of(task: Task) -> Need:
    """Return what the task needs."""
    choices = dict.fromkeys(chain.from_iterable(map(_choices, task.goals)))
    single = [choice[0] for choice in choices if len(choice) == 1]
    return Need(frozenset().union(*single), tuple(c for c in choices if len(c) > 1))


def _choices(goal: Goal) -> Iterator[_Choice]:
    if goal.any_relevant and goal.relevant:
        yield tuple(frozenset([tool]) for tool in dict.fromkeys(goal.relevant))
    else:
        yield (frozenset(goal.relevant),)
    if goal.plans:
        yield tuple(dict.fromkeys(map(_called, goal.plans)))


def restricted(task: Task, held: AbstractSet[str]) -> Task:
    """Return the task as far as these tools go; they must meet its need.

    Tools that are not among them are taken out of alternatives and of what goals offer; plans,
    minefields and references that call such are left out.
    """
    return replace(task, goals=tuple(_restricted_goal(goal, held) for goal in task.goals))


def _restricted_goal(goal: Goal, held: AbstractSet[str]) -> Goal:
    plans = goal.plans
    if plans is not None:
        plans = tuple(_without_minefields(p, held) for p in plans if _called(p) <= held)
    return replace(
        goal,
        plans=plans,
        offered=None if goal.offered is None else tuple(t for t in goal.offered if t in held),
        relevant=tuple(tool for tool in goal.relevant if tool in held),
        reference=goal.reference if set(stated_tools(goal.reference)) <= held else (),
    )


def _without_minefields(plan: Plan, held: AbstractSet[str]) -> Plan:
    return replace(plan, minefields=tuple(m for m in plan.minefields if called_tools(m) <= held))


def _called(plan: Plan) -> frozenset[str]:
    return frozenset().union(*map(called_tools, plan.milestones))
