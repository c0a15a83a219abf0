"""Counts of scenarios and of what milestones ask, and the paper's figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from statistics import fmean
from typing import Any

from seal.core import JSON, Milestone, Plan, Task, Trajectory
from seal.core.conditions import AGENT, MESSAGE, Condition, party
from seal.core.state_conditions import AllOf, DependsOn, StateHas
from seal.evaluation.plans import turn_count
from seal.evaluation.scoring import HALLUCINATION, INSTRUCTION
from seal.pools.augmentation import TAG, UNCHANGED
from seal.pools.declarations import PublishedTable, shipped_rows
from seal.pools.pool import StoredPool
from seal.report.judge_sections import user_rows
from seal.report.lanes import Lane
from seal.report.paper import Figures
from seal.report.sections import AUGMENTATION, AUGMENTATIONS, CATEGORY_GROUPS

# -- What scenarios are made of: categories, tools, calls, turns, and milestones by what they ask.
#
# Source: ToolSandbox (Lu et al., 2024), Table 6 (scenarios by category), Tables 7 and 8 (milestones
# by column and by tool). Each scenario stands in several augmentations; milestones are counted
# once, in the scenarios without distraction tools.

_CALLS = "calls"


@dataclass(frozen=True, slots=True)
class ScenarioStatistics:
    """Counts and means over the scenarios of a pool."""

    scenarios: int
    bases: int
    """Scenarios whose tools are not augmented."""
    categories: dict[str, int]
    """Tag that is true or false of a scenario to how many it is true of."""
    augmentations: dict[str, int]
    tools: float | None
    """Offered tools of a scenario, mean over all augmentations."""
    tools_by_augmentation: dict[str, float]
    """Augmentation to the offered tools of a scenario, mean."""
    gold_calls: float | None
    """Milestones of a scenario that ask for calls or for a change of the world, mean."""
    calls: float | None
    """Calls of a recorded trajectory, mean; None: no trajectory was given."""
    turns: float | None
    """Turns of a recorded trajectory (`plans.turn_count`), mean; None: no trajectory was given."""
    milestones: dict[str, int]
    """Number of milestones to the number of bases that have as many."""
    minefields: dict[str, int]
    measures: dict[str, int]
    """`table measure` to the conditions of that kind in the milestones and minefields of bases;
    guardrails that were added by rule are not counted."""
    columns: dict[str, int]
    """`table.column` to the milestones of bases that ask something of it."""
    called: dict[str, int]
    """Tool to the milestones of bases that ask for a call of it, alternatives as one each."""

    def to_json(self) -> dict[str, JSON]:
        """Return the fields as a JSON object."""
        return asdict(self)


def scenario_statistics(
    tasks: Iterable[Task], trajectories: Iterable[Trajectory] = ()
) -> ScenarioStatistics:
    """Return the statistics of scenarios; both iterables are read once.

    Args:
        tasks: Scenarios of a world.
        trajectories: Recorded ones, by whatever model.
    """
    counts: defaultdict[str, Counter[Any]] = defaultdict(Counter)
    tools: dict[str, list[int]] = {}
    gold_calls: list[int] = []
    for task in tasks:
        augmentation = task.tags.get(TAG, UNCHANGED)
        counts["augmentations"][augmentation] += 1
        tags = {tag: int(value) for tag, value in task.tags.items() if isinstance(value, bool)}
        counts["categories"].update(tags)
        plans = [goal.plans[0] for goal in task.goals if goal.plans]
        offered = [len(goal.offered) for goal in task.goals if goal.offered is not None]
        tools.setdefault(augmentation, []).extend(offered)
        gold_calls.append(sum(_asks_for_a_call(node) for plan in plans for node in plan.milestones))
        if augmentation == UNCHANGED:
            _count_plans(counts, plans)
    # The calls of the agent: the user's, which ends the chat, is none.
    lengths = [
        (sum(party(call.author) == AGENT for call, _ in played.calls()), _turns(played))
        for played in trajectories
    ]
    calls, turns = zip(*lengths, strict=True) if lengths else ((), ())
    return ScenarioStatistics(
        scenarios=len(gold_calls),
        bases=counts["augmentations"][UNCHANGED],
        categories=dict(counts["categories"]),
        augmentations=dict(counts["augmentations"]),
        tools=_mean(chain.from_iterable(tools.values())),
        tools_by_augmentation={name: fmean(offered) for name, offered in tools.items() if offered},
        gold_calls=_mean(gold_calls),
        calls=_mean(calls),
        turns=_mean(turns),
        milestones=_by_number(counts["milestones"]),
        minefields=_by_number(counts["minefields"]),
        measures=dict(counts["measures"].most_common()),
        columns=dict(counts["columns"].most_common()),
        called=dict(counts["called"].most_common()),
    )


def _count_plans(counts: Mapping[str, Counter[Any]], plans: Sequence[Plan]) -> None:
    """Count what the milestones and minefields of a base ask for."""
    counts["milestones"][sum(len(plan.milestones) for plan in plans)] += 1
    counts["minefields"][sum(len(plan.minefields) for plan in plans)] += 1
    for plan in plans:
        for node in (*plan.milestones, *plan.minefields):
            for part in _asked(node.condition):
                measure = part.measure if isinstance(part, StateHas) else "depends_on"
                counts["measures"][f"{_table(part)} {measure}"] += 1
        for node in plan.milestones:
            parts = list(_asked(node.condition))
            columns = ((part, name) for part in parts for row in part.rows for name in row)
            named = dict.fromkeys(f"{_table(part)}.{name}" for part, name in columns)
            counts["columns"].update(list(named))
            counts["called"].update(tool for part in parts for tool in sorted(_tools(part)))


def _turns(trajectory: Trajectory) -> int:
    steps = trajectory.steps
    return turn_count([step for step in steps if party(step.author) != party(step.recipient)])


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return fmean(found) if found else None


def _by_number(counts: Counter[int]) -> dict[str, int]:
    return {str(number): counts[number] for number in sorted(counts)}


def _asked(condition: Condition) -> Iterator[StateHas | DependsOn]:
    """Yield the conditions within that ask for something, guardrails left out."""
    if isinstance(condition, AllOf):
        for part in condition.conditions:
            yield from _asked(part)
    elif isinstance(condition, StateHas | DependsOn):
        yield condition


def _table(part: StateHas | DependsOn) -> str:
    return part.table if isinstance(part, StateHas) else MESSAGE


def _tools(part: StateHas | DependsOn) -> set[str]:
    return {str(call["tool"]) for row in part.rows for call in row.get(_CALLS) or ()}


def _asks_for_a_call(node: Milestone) -> bool:
    parts = _asked(node.condition)
    return any(_table(part) != MESSAGE or bool(_tools(part)) for part in parts)


# -- The tables of ToolSandbox, of a run or of a pool.
#
# - Table 1: what the benchmark asks for.
# - Tables 2 and 3: errors of the user, by its prompt and by agent.
# - Table 4: turns, calls, scenarios and tools.
# - Tables 5 and 11: similarity and turns, by category and augmentation.
# - Table 6: scenarios by category.
# - Tables 7 and 8: milestones by column and by tool.
#
# Source: Lu et al., ToolSandbox (2024). Figures are those of version 2 (arXiv 2408.04682v2), as a
# public reading note has them with their pages. Each mean of Table 5 is that of its STC, MTC and II
# by their numbers of scenarios.

_AUGMENTED = {row.partition(",")[0]: AUGMENTATION + value for value, row in AUGMENTATIONS.items()}
_GROUPS = {row.partition(",")[0]: group for group, row in CATEGORY_GROUPS.items()} | _AUGMENTED
"""The paper's short heading of a category or augmentation to its group in summary.json."""
_ROWS = shipped_rows(__package__)


def _asked_for(pool: StoredPool) -> Figures:
    """Return of how many scenarios in a hundred each column of Table 1 holds."""
    tasks = list(pool.tasks())
    has = {
        "state dependency": [task.tags.get("state_dependency") is True for task in tasks],
        "conversational": [task.persona is not None or len(task.goals) > 1 for task in tasks],
        "interactive": [bool(task.world) for task in tasks],
    }
    return {"": {head: 100 * sum(found) / len(tasks) for head, found in has.items() if tasks}}


def _size(lane: Lane) -> Figures:
    found = scenario_statistics(lane.run.tasks(), lane.run.trajectories())
    sizes = {"scenarios": found.scenarios, "tools": len(lane.run.tools())}
    return {"": {"turns": found.turns, "tool calls": found.calls, **sizes}}


def _users(lane: Lane) -> Figures:
    return {
        row.brief or "not known": {
            "hallucination": _per_cent(row.hallucination.mean),
            "instruction following": _per_cent(row.instruction.mean),
            "conversations": row.conversations,
        }
        for row in user_rows([lane])
    }


def _per_cent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _of_pool(figures: Callable[[ScenarioStatistics], Figures]) -> Callable[[StoredPool], Figures]:
    return lambda pool: figures(scenario_statistics(pool.tasks()))


def _by_category(found: ScenarioStatistics) -> Figures:
    counts = {f"{tag}=true": count for tag, count in found.categories.items()}
    counts |= {AUGMENTATION + value: count for value, count in found.augmentations.items()}
    return {"scenarios": {heading: counts.get(group, 0) for heading, group in _GROUPS.items()}}


def _milestones(number: int, by: str, counts: str) -> PublishedTable:
    """Return the table of milestones by column or tool; `counts` is the field that has them."""

    def figures(found: ScenarioStatistics) -> Figures:
        """Return counts of bases, and of all scenarios where these are as many of each base."""
        times, rest = divmod(found.scenarios, found.bases) if found.bases else (0, 1)
        return {
            name: {"of bases": count, "of all scenarios": None if rest else times * count}
            for name, count in getattr(found, counts).items()
        }

    return PublishedTable(
        f"Milestones by {by}; the paper counts all scenarios",
        f"ToolSandbox, Table {number}",
        figures=_of_pool(figures),
        of="pool",
    )


_ASKED = {"": "seal run toolsandbox, with tasks of every category"}
TABLES = (
    PublishedTable(
        "What the benchmark asks for, % of scenarios; the paper says yes or no",
        "ToolSandbox, Table 1",
        digits=1,
        figures=_asked_for,
        of="pool",
        needs={"state dependency": "scenarios with categories: seal import toolsandbox"},
    ),
    PublishedTable(
        "Errors of the user by what it was told, % of conversations",
        "ToolSandbox, Table 2, page 4",
        _ROWS["table-2"],
        scale=100.0,
        figures=_users,
        needs={
            "": "a simulated user, told more and more: seal run toolsandbox --user-brief goal, "
            "goal+boundary, goal+boundary+demonstration"
        },
    ),
    PublishedTable(
        "Errors of the user by agent, % of conversations",
        "ToolSandbox, Table 3",
        columns={"hallucination": HALLUCINATION, "instruction following": INSTRUCTION},
        scale=100.0,
        needs={
            "": "a simulated user: seal run toolsandbox --user-brief goal+boundary+demonstration"
        },
    ),
    PublishedTable(
        "Turns and calls of a conversation, scenarios and tools",
        "ToolSandbox, Table 4, page 5; turns and calls of ToolSandbox are those of GPT-4o",
        _ROWS["table-4"],
        figures=_size,
        needs=_ASKED,
    ),
    PublishedTable(
        "Similarity by category and tool augmentation, %",
        "ToolSandbox, Table 5, page 7",
        _ROWS["table-5"],
        lacks="the columns of tool augmentations",
        columns={"all": "similarity", **{h: f"similarity|{g}" for h, g in _GROUPS.items()}},
        scale=100.0,
        needs={
            **dict.fromkeys(
                _AUGMENTED,
                "scenarios in all augmentations: seal import toolsandbox, or seal augment POOL "
                "--augment toolsandbox --out DIR",
            ),
            **_ASKED,
        },
    ),
    PublishedTable(
        "Scenarios by category and tool augmentation",
        "ToolSandbox, Table 6",
        _ROWS["table-6"],
        figures=_of_pool(_by_category),
        of="pool",
    ),
    _milestones(7, "column", "columns"),
    _milestones(8, "tool", "called"),
    PublishedTable(
        "Turns by category and tool augmentation",
        "ToolSandbox, Table 11, page 24",
        _ROWS["table-11"],
        lacks="categories and augmentations, and the other models",
        digits=1,
        columns={"all": "turn_count", **{h: f"turn_count|{g}" for h, g in _GROUPS.items()}},
        needs=_ASKED,
    ),
)
