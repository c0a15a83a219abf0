"""The environments of a pool: its categories of tools, each by number, queries and similarity.

Source: "ToolScan" (Kokane et al., 2024), Table 3 (queries, turns and APIs by environment) and the
ablation on API complexity (`seal.evaluation.name_similarity`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from seal.core.types import Goal, Task, Tool
from seal.evaluation.name_similarity import name_similarity
from seal.pools.counts import gold_tools
from seal.pools.importer import TASKS
from seal.pools.pool import StoredPool
from seal.pools.reading.records import function_name

PSEUDO_ACTIONS = "pseudo_actions"
"""Field of import.json: category to the names of actions that its chats offer besides its tools,
such as `finish`, each as often as it stands in the category's lists."""


@dataclass(frozen=True, slots=True)
class Environment:
    """One category of tools."""

    name: str
    tools: int
    toolsets: int
    """Different `source["tool"]` of its tools."""
    pseudo_actions: int
    queries: int
    """Goals whose gold tools are of this category alone; where there is none, whose offered tools
    are."""
    abstentions: int
    """Of these, goals that need no tool."""
    gold_calls: float | None
    """Calls of the first plan; mean over the queries that need calls. None: there is none."""
    gold_tools: float | None
    """Different tools of the first plan, else those that retrieval must find; mean over the queries
    that have any."""
    offered: float | None
    """Offered tools of a query; mean over those that offer any. None: there is none."""
    similarity_strict: float | None
    """J_avg of the names, pseudo actions included; None: fewer than two names."""
    similarity_stopwords: float | None


def environments_of(pool: StoredPool) -> list[Environment]:
    """Return the environments of a stored pool, which may have no task, by name.

    Raises:
        DataError: A line is bad.
    """
    has_tasks = (pool.folder / TASKS).stat().st_size > 0
    pseudo = pool.report.get(PSEUDO_ACTIONS) or {}
    return count_environments(pool.tools(), pool.tasks() if has_tasks else (), pseudo)


def count_environments(
    tools: Sequence[Tool], tasks: Iterable[Task], pseudo_actions: Mapping[str, Sequence[str]]
) -> list[Environment]:
    """Return the environments of tools and tasks, by name.

    Args:
        tools: All tools; those that are pseudo actions themselves (`source["pseudo"]`) are counted
            by `pseudo_actions` alone.
        tasks: All tasks, read once.
        pseudo_actions: Category to names.
    """
    own: defaultdict[str, list[Tool]] = defaultdict(list)
    for tool in tools:
        if not tool.source.get("pseudo"):
            own[tool.category].append(tool)
    category_of = {tool.id: tool.category for tool in tools}
    goals: defaultdict[str, list[Goal]] = defaultdict(list)
    for task in tasks:
        for goal in task.goals:
            home = home_of(goal, category_of)
            if home is not None:
                goals[home].append(goal)
    return [
        _environment(name, own[name], goals[name], pseudo_actions.get(name, ()))
        for name in sorted(own)
    ]


def home_of(goal: Goal, category_of: Mapping[str, str]) -> str | None:
    """Return the one category that a goal belongs to; None where there are several, or none.

    Args:
        goal: The goal.
        category_of: Id of a tool to its category.
    """
    named = gold_tools(goal) or goal.offered or ()
    categories = {category_of[tool] for tool in named if tool in category_of}
    return categories.pop() if len(categories) == 1 else None


def _environment(
    name: str, tools: Sequence[Tool], goals: Sequence[Goal], pseudo: Sequence[str]
) -> Environment:
    similarity = name_similarity([*map(_full_name, tools), *pseudo])
    calls = [len(goal.plans[0].calls()) for goal in goals if goal.plans]
    called = [len(_first_tools(goal)) for goal in goals]
    return Environment(
        name,
        len(tools),
        len({str(tool.source.get("tool", "")) for tool in tools}),
        len(pseudo),
        len(goals),
        sum(not count for count in calls),
        _mean(count for count in calls if count),
        _mean(count for count in called if count),
        _mean(len(goal.offered) for goal in goals if goal.offered),
        similarity.strict,
        similarity.stopwords,
    )


def _first_tools(goal: Goal) -> set[str]:
    """Return the tools of one way to meet a goal."""
    if goal.plans:
        return {call.tool for call in goal.plans[0].calls()}
    return set(goal.relevant[:1] if goal.any_relevant else goal.relevant)


def _full_name(tool: Tool) -> str:
    """Return a tool's name, and upstream's where it was too long for chat servers."""
    own = tool.source.get("api")
    return own if isinstance(own, str) and function_name(own) == tool.name else tool.name


def _mean(values: Iterable[int]) -> float | None:
    found = list(values)
    return fmean(found) if found else None
