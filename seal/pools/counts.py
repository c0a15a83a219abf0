"""Counts of a pool: all of it, as Table 1 of the SEAL paper has them, and by category of tools.

A query is a goal with a text: one instruction of a task. Its gold tools are the tools that its
first plan calls and those that retrieval must find. Categories of tools are environments, each
counted by number, queries and similarity of names.

Source: "ToolScan" (Kokane et al., 2024), Table 3 (queries, turns and APIs by environment) and the
ablation on API complexity.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import combinations
from statistics import fmean

from seal.core import Goal, Task, Tool
from seal.core.conditions import Asked, Called, Replied
from seal.evaluation.goals import no_missions
from seal.evaluation.mission_gold import TYPES
from seal.evaluation.mission_labels import mission_type, relation
from seal.evaluation.missions import LEAVES, graph_of, mission_kind
from seal.pools.importer import PSEUDO_ACTIONS
from seal.pools.pool import StoredPool
from seal.pools.reading.files import function_name

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
    return count_pool(pool.tools(), pool.tasks_if_any())


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
        "answers": any(goal.told for goal in task.goals),
    }
    return {kind for kind, found in has.items() if found}


_SPOKEN = (Called, Asked, Replied)
"""Conditions about one message; every other kind looks at the world."""


def _calls(goal: Goal) -> list[Called]:
    return goal.plans[0].calls() if goal.plans else []


@dataclass(frozen=True, slots=True)
class MissionCounts:
    """What a data set has of missions, and of switches between their types.

    Source: Yu et al., Multi-Mission Tool Bench (2025), Table 1. Labels:
    `seal.evaluation.mission_labels`.
    """

    missions: int
    """Goals with a type."""
    dialogues: int
    """Tasks with a mission."""
    related: int
    """Missions that lean on earlier ones, as labels tell, or else as far as gold does."""
    types: dict[str, int]
    """Type to the number of missions."""
    leaves: dict[str, int]
    """How the gold calls of a mission hang together (serial, parallel, mixed) to their number."""
    sequences: dict[int, int]
    """Length to the number of different type sequences that a task begins with."""


def count_missions(tasks: Iterable[Task]) -> MissionCounts:
    """Return the counts of the missions of tasks; a goal without a type is none."""
    counts = {name: Counter[str]() for name in ("types", "leaves")}
    routes: defaultdict[int, set[tuple[str, ...]]] = defaultdict(set)
    related = dialogues = 0
    for task in tasks:
        route: tuple[str, ...] = ()
        for number, goal in enumerate(task.goals):
            kind = mission_type(goal)
            if kind is None:
                continue
            route = (*route, kind)
            routes[len(route)].add(route)
            related += relation(task, number) is not None
            counts["types"][kind] += 1
            counts["leaves"].update(_leaf(goal))
        dialogues += bool(route)
    return MissionCounts(
        counts["types"].total(),
        dialogues,
        related,
        {kind: counts["types"][kind] for kind in TYPES if counts["types"][kind]},
        {leaf: counts["leaves"][leaf] for leaf in LEAVES.values() if counts["leaves"][leaf]},
        {length: len(found) for length, found in sorted(routes.items())},
    )


def _leaf(goal: Goal) -> list[str]:
    if not goal.plans or no_missions(goal):
        return []
    kind = mission_kind(graph_of(goal.plans[0].without_end()))
    return [LEAVES[kind]] if kind else []


@dataclass(frozen=True, slots=True)
class ToolCategory:
    """One category of tools."""

    name: str
    tools: int
    pseudo_actions: int
    queries: int
    """Goals whose gold tools are of this category alone; where there is none, whose offered tools
    are."""
    gold_calls: float | None
    """Calls of the first plan; mean over the queries that need calls. None: there is none."""
    gold_tools: float | None
    """Different tools of the first plan, else those that retrieval must find; mean over the queries
    that have any."""
    similarity_strict: float | None
    """J_avg of the names, pseudo actions included; None: fewer than two names."""
    similarity_stopwords: float | None


def environments_of(
    pool: StoredPool, pseudo: Mapping[str, Sequence[str]] | None = None
) -> list[ToolCategory]:
    """Return the environments of a stored pool, which may have no task, by name.

    Args:
        pool: Of a pool's folder, or a run's.
        pseudo: Category to the names of its pseudo actions; None: those of the pool's import.json,
            which a run's folder has not.

    Raises:
        DataError: A line is bad.
    """
    if pseudo is None:
        pseudo = pool.report.get(PSEUDO_ACTIONS) or {}
    return count_environments(pool.tools(), pool.tasks_if_any(), pseudo)


def count_environments(
    tools: Sequence[Tool], tasks: Iterable[Task], pseudo_actions: Mapping[str, Sequence[str]]
) -> list[ToolCategory]:
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
) -> ToolCategory:
    similarity = name_similarity([*map(_full_name, tools), *pseudo])
    calls = [len(goal.plans[0].calls()) for goal in goals if goal.plans]
    called = [len(_first_tools(goal)) for goal in goals]
    return ToolCategory(
        name,
        len(tools),
        len(pseudo),
        len(goals),
        _mean(count for count in calls if count),
        _mean(count for count in called if count),
        similarity.strict,
        similarity.stopwords,
    )


def _first_tools(goal: Goal) -> set[str]:
    """Return the tools of one way to meet a goal."""
    if goal.plans:
        return set(goal.plans[0].tools())
    return set(goal.relevant[:1] if goal.any_relevant else goal.relevant)


def _full_name(tool: Tool) -> str:
    """Return a tool's name, and upstream's where it was too long for chat servers."""
    own = tool.source.get("api")
    return own if isinstance(own, str) and function_name(own) == tool.name else tool.name


def _mean(values: Iterable[int]) -> float | None:
    found = list(values)
    return fmean(found) if found else None


# -- How much the names of the tools of one environment resemble each other.
#
# J_avg is the mean Jaccard index over all pairs of names, each taken as its set of words; two names
# without a word have the index 0. Names that stand twice are two names. Two variants, since the
# text of the source and its example disagree (its rule gives its five patent names 0.000, its
# example keeps `patent` and `title`):
#
# - `strict`: words that all names share are left out, as the text says.
# - `stopwords`: function words and verbs of asking are left out instead, as the example does.
#
# Source: "ToolScan" (Kokane et al., 2024), the ablation on API complexity.

_LEFT_OUT = """
a all an and at between by fetch find for from get in list lookup of on or search show the to with
"""
STOPWORDS = frozenset(_LEFT_OUT.split())
"""Words of names that do not say what a tool is about."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class NameSimilarity:
    """J_avg of one environment's names, in [0, 1]; None: there are fewer than two names."""

    strict: float | None
    stopwords: float | None


def name_similarity(names: Sequence[str]) -> NameSimilarity:
    """Return both variants of J_avg.

    Args:
        names: Of all tools of one environment, pseudo actions such as `finish` included, as the
            agent is given them too.
    """
    words = [words_of_name(name) for name in names]
    shared = frozenset.intersection(*words) if words else frozenset()
    return NameSimilarity(
        _mean_jaccard([own - shared for own in words]),
        _mean_jaccard([own - STOPWORDS for own in words]),
    )


def words_of_name(name: str) -> frozenset[str]:
    """Return the words of a name in lower case, which anything but letters and digits parts."""
    return frozenset(_WORD.findall(name.casefold()))


def jaccard(left: Set[str], right: Set[str]) -> float:
    """Return the share of words of both among words of either, in [0, 1]; both empty: 0.0."""
    either = len(left | right)
    return len(left & right) / either if either else 0.0


def _mean_jaccard(words: Sequence[frozenset[str]]) -> float | None:
    """Return the mean over all pairs; equal sets of words, as `finish` has, are compared once."""
    counts = Counter(words)
    pairs = len(words) * (len(words) - 1) // 2
    if not pairs:
        return None
    same = (count * (count - 1) // 2 * jaccard(own, own) for own, count in counts.items())
    others = (
        counts[left] * counts[right] * jaccard(left, right)
        for left, right in combinations(counts, 2)
    )
    return (sum(same) + sum(others)) / pairs
