"""What scenarios are made of: categories, tools, calls and turns, and milestones by what they ask.

Source: ToolSandbox (Lu et al., 2024), Table 6 (scenarios by category), Tables 7 and 8 (milestones
by column and by tool). Each scenario stands in several augmentations; milestones are counted once,
in the scenarios without distraction tools.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from statistics import fmean
from typing import Any

from seal.core import JSON, Milestone, Plan, Task, Trajectory
from seal.core.conditions import AllOf, Condition, DependsOn, StateHas
from seal.core.conditions.messages import AGENT, MESSAGE, party
from seal.evaluation.milestones.plans import turn_count
from seal.pools.augmentation import TAG, UNCHANGED

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
    """Turns of a recorded trajectory (`milestones.plans.turn_count`), mean; None: no trajectory was
    given."""
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
    lengths = [(_calls(played), _turns(played)) for played in trajectories]
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
            counts["measures"].update(_kind(part) for part in _asked(node.condition))
        for node in plan.milestones:
            parts = list(_asked(node.condition))
            named = dict.fromkeys(name for part in parts for name in _columns(part))
            counts["columns"].update(list(named))
            counts["called"].update(tool for part in parts for tool in sorted(_tools(part)))


def _calls(trajectory: Trajectory) -> int:
    """Return the calls of the agent: the user's, which ends the chat, is none."""
    return sum(party(call.author) == AGENT for call, _ in trajectory.calls())


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


def _kind(part: StateHas | DependsOn) -> str:
    measure = part.measure if isinstance(part, StateHas) else "depends_on"
    return f"{_table(part)} {measure}"


def _columns(part: StateHas | DependsOn) -> list[str]:
    return [f"{_table(part)}.{name}" for row in part.rows for name in row]


def _tools(part: StateHas | DependsOn) -> set[str]:
    return {str(call["tool"]) for row in part.rows for call in row.get(_CALLS) or ()}


def _asks_for_a_call(node: Milestone) -> bool:
    parts = _asked(node.condition)
    return any(_table(part) != MESSAGE or bool(_tools(part)) for part in parts)
