"""Counts of a pool, as Table 1 of the SEAL paper has them.

A query is a goal with a text: one instruction of a task. Its gold tools are the tools that its
first plan calls and those that retrieval must find.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from seal.core.conditions import Asked, Called, Replied
from seal.core.types import Goal, Task, Tool
from seal.pools.importer import TASKS
from seal.pools.pool import StoredPool

GOLD_KINDS = ("relevant", "calls", "arguments", "state", "turns", "answers")
"""What may be gold about a task, in the order of the stages."""


@dataclass(frozen=True, slots=True)
class PoolCounts:
    """What a pool holds."""

    tasks: int
    queries: int
    multi_step: int
    """Queries with more than one gold call; where no call is annotated, with more than one gold
    tool. Tools that are alternatives count as one. Source: the SEAL paper's Table 1."""
    tools_per_query: float | None
    """Distinct gold tools of a query, alternatives as one; mean over the queries that have any.
    None: none has."""
    tools_with_queries: int
    """Tools that are gold of at least one query."""
    tools: int
    gold: dict[str, int] = field(default_factory=dict)
    """Kind of gold (`GOLD_KINDS`) to the number of tasks that have it."""


def count_pool(tools: Iterable[Tool], tasks: Iterable[Task]) -> PoolCounts:
    """Return the counts of a pool; both iterables are read once.

    Args:
        tools: All tools of the pool.
        tasks: All tasks of the pool.
    """
    total = queries = multi_step = annotated = links = 0
    used: set[str] = set()
    gold = dict.fromkeys(GOLD_KINDS, 0)
    for task in tasks:
        total += 1
        for kind in gold_kinds(task):
            gold[kind] += 1
        for goal in task.goals:
            if not goal.text.strip():
                continue
            named = gold_tools(goal)
            queries += 1
            multi_step += is_multi_step(goal)
            annotated += bool(named)
            links += min(len(named), 1) if goal.any_relevant else len(named)
            used |= named
    mean = links / annotated if annotated else None
    return PoolCounts(total, queries, multi_step, mean, len(used), sum(1 for _ in tools), gold)


def count_stored(pool: StoredPool) -> PoolCounts:
    """Return the counts of a stored pool, which may have no task.

    Raises:
        DataError: A line is bad.
    """
    has_tasks = (pool.folder / TASKS).stat().st_size > 0
    return count_pool(pool.tools(), pool.tasks() if has_tasks else ())


def gold_tools(goal: Goal) -> set[str]:
    """Return the ids of a goal's gold tools: relevant ones, and those that the first plan calls."""
    return {*goal.relevant, *(call.tool for call in _calls(goal))}


def is_multi_step(goal: Goal) -> bool:
    """Tell whether a goal takes more than one call (`PoolCounts.multi_step`)."""
    calls = _calls(goal)
    if calls:
        return len(calls) > 1
    return len(goal.relevant) > 1 and not goal.any_relevant


def gold_kinds(task: Task) -> set[str]:
    """Return which of `GOLD_KINDS` a task has.

    `turns` is a conversation: more than one goal, or a brief for a user who answers.
    """
    calls = [call for goal in task.goals for call in _calls(goal)]
    conditions = [
        milestone.condition
        for goal in task.goals
        for plan in goal.plans or ()
        for milestone in plan.milestones
    ]
    has = {
        "relevant": any(goal.relevant for goal in task.goals),
        "calls": bool(calls),
        "arguments": any(call.arguments is not None for call in calls),
        "state": not all(isinstance(condition, _SPOKEN) for condition in conditions),
        "turns": len(task.goals) > 1 or task.persona is not None,
        "answers": any(goal.answers for goal in task.goals),
    }
    return {kind for kind, found in has.items() if found}


_SPOKEN = (Called, Asked, Replied)
"""Conditions about one message; every other kind looks at the world."""


def _calls(goal: Goal) -> list[Called]:
    return goal.plans[0].calls() if goal.plans else []
