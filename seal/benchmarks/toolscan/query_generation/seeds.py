"""The tasks that queries are made of: one request, and gold calls that say how it is met."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from seal.core import JSON, Goal, Milestone, Plan, Task, Tool, UsageError
from seal.core.canonical import derive_seed
from seal.core.conditions import Called
from seal.core.schemas import schema_validator
from seal.pools.gold_values import GoldCheck, admits
from seal.pools.importer import TASKS
from seal.pools.pool import StoredPool
from seal.simulator_cache.plausible import UnsatisfiableError, Writer

MOST_OFFERED = 20
"""Tools that an irrelevant query offers where its seed offers none itself."""
_MOST_MADE = 4
"""Arguments of a made call, unless more are required."""


@dataclass(frozen=True)
class Seed:
    """One task that queries are made of."""

    task: Task
    tools: Mapping[str, Tool]
    """The pool by id."""
    offered: tuple[str, ...]
    """Its environment: tools that it offers, else those of its gold tools' categories."""
    made: bool = False
    """True: its call was made of a tool, and a model says it in words."""

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


def read_seeds(pool: StoredPool, tools: Mapping[str, Tool], seed: int) -> Seeds:
    """Return the seeds of a pool: tasks with gold calls, else calls made of the tools.

    Calls that are made have no words yet.

    Args:
        pool: With tasks, or with tools alone.
        tools: The pool's, by id.
        seed: Shapes made calls.

    Raises:
        UsageError: No task is a seed, and none lacks its gold; or no tool can be called.
        DataError: The pool is malformed.
    """
    skipped: Counter[str] = Counter()
    seeds = []
    categories: dict[str, list[str]] = {}
    for tool in tools.values():
        categories.setdefault(tool.category, []).append(tool.id)
    check = GoldCheck(tools)
    has_tasks = (pool.folder / TASKS).stat().st_size > 0
    for task in pool.tasks() if has_tasks else ():
        reason = _unfit(task, check)
        if reason:
            skipped[reason] += 1
        else:
            seeds.append(Seed(task, tools, _offered(task, tools, categories)))
    if not seeds and not skipped.keys() - {"without_gold"}:
        made = (_made(tool, pool.name, seed, check) for tool in tools.values())
        for task in (task for task in made if task is not None):
            seeds.append(Seed(task, tools, _offered(task, tools, categories), made=True))
    if not seeds:
        told = ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.items()))
        raise UsageError(
            f"{pool.name} has no seed ({told or 'no tool that can be called'}): a seed is a task "
            "of one request whose gold is calls with their arguments, or a tool of a pool without "
            "gold; give another pool, such as toolscan-sample"
        )
    return Seeds(seeds, dict(sorted(skipped.items())))


def _unfit(task: Task, check: GoldCheck) -> str:
    """Return why a task is no seed; empty: it is one."""
    if len(task.goals) > 1:
        return "several_goals"
    if task.history or task.persona is not None:
        return "part_of_a_talk"
    goal = task.goals[0]
    if not goal.plans:
        return "without_gold"
    if not goal.text.strip():
        return "without_text"
    conditions = [m.condition for plan in goal.plans for m in plan.milestones]
    calls = [c for c in conditions if isinstance(c, Called)]
    if len(calls) < len(conditions) or any(plan.minefields for plan in goal.plans):
        return "gold_of_a_state_or_talk"
    if not all(plan.calls() for plan in goal.plans):
        return "needs_no_call"
    if any(call.arguments is None for call in calls):
        return "gold_of_any_arguments"
    if any(check.refused(call) for call in calls):
        return "gold_that_its_schema_refuses"
    return ""


def _offered(
    task: Task, tools: Mapping[str, Tool], categories: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    goal = task.goals[0]
    if goal.offered is not None:
        return goal.offered
    gold = list(dict.fromkeys(tool for plan in goal.plans or () for tool in plan.tools()))
    beside = [other for tool in gold for other in categories[tools[tool].category]]
    return tuple(dict.fromkeys([*gold, *beside]))[: max(MOST_OFFERED, len(gold))]


def _made(tool: Tool, pool: str, seed: int, check: GoldCheck) -> Task | None:
    """Return a task without words for a tool; None: its schema allows no call with arguments."""
    arguments = _arguments(tool, derive_seed(seed, "call", tool.id))
    if not arguments or check.fault(tool.id, arguments):
        return None
    goal = Goal("", (Plan((Milestone(Called.exact(tool.id, arguments)),)),), relevant=(tool.id,))
    return Task(f"made/{tool.id}", pool, (goal,))


def _arguments(tool: Tool, seed: int) -> dict[str, JSON]:
    """Return arguments that a tool's schema should allow; empty: none were found."""
    try:
        written = Writer(schema_validator(tool.parameters), {}, str(seed)).write()
    except UnsatisfiableError:
        return {}
    if not isinstance(written, dict):
        return {}
    required = [name for name in tool.parameters.get("required") or () if name in written]
    optional = [name for name in written if name not in required]
    names = {*required, *optional[: max(0, _MOST_MADE - len(required))]}
    declared = tool.parameters.get("properties") or {}
    chance = random.Random(seed)
    kept = {name: value for name, value in written.items() if name in names}
    return {name: _likely(declared.get(name), value, chance) for name, value in kept.items()}


def _likely(schema: JSON, value: JSON, chance: random.Random) -> JSON:
    """Return a day of the year to come instead of any digits in its form; other values as are."""
    if not isinstance(value, str) or not isinstance(schema, dict) or "enum" in schema:
        return value
    day = f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}"
    if len(value) >= len(day) and value[4:5] == value[7:8] == "-":
        moment = f"{day}T{chance.randint(8, 19):02}:30"
        return next((v for v in (day, moment, f"{moment}:00") if _fits(schema, v, value)), value)
    clock = f"{chance.randint(8, 19):02}:30"
    return clock if value[2:3] == ":" and _fits(schema, clock, value) else value


def _fits(schema: JSON, likely: str, value: str) -> bool:
    return len(likely) == len(value) and admits(schema, likely)
