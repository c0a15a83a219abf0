"""The plan of a goal that a chat kept best, and its values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seal.core.conditions import Match
from seal.core.types import JSON
from seal.evaluation.goals import GoalChat, Value
from seal.evaluation.milestones.checks import check_plan
from seal.evaluation.milestones.plans import PlanResult, Reached, measure_plan, turn_count, view


@dataclass(frozen=True, slots=True)
class Best:
    """The plan of a goal that was kept best."""

    plan: int
    """Its position among the goal's plans."""
    result: PlanResult
    turns: int
    """Messages between user, agent and executor."""


def measure_goal(goal: GoalChat, match: Match) -> Best:
    """Return how well the best of a goal's plans was kept, of equally good ones the first.

    Args:
        goal: One that is measured so (`applies`), and what was done for it.
        match: By which rules.

    Raises:
        DataError: A plan cannot be measured.
    """
    plans = goal.goal.plans or ()
    for plan in plans:
        check_plan(plan, measured=True)
    steps = view(goal.trajectory, goal.position, goal.task.initial_state, match)
    results = [measure_plan(plan, steps, match) for plan in plans]
    best = max(range(len(results)), key=lambda plan: results[plan].similarity)
    return Best(best, results[best], turn_count(steps))


def values_of(best: Best, match: Match) -> dict[str, Value]:
    """Return the metrics of a goal by name."""
    result = best.result
    return {
        "similarity": Value(result.similarity, details={"plan": best.plan, "match": match}),
        "milestone_similarity": Value(
            result.milestone_similarity, details=_details(result.milestones)
        ),
        "minefield_similarity": Value(
            result.minefield_similarity, details=_details(result.minefields)
        ),
        "turn_count": Value(float(best.turns)),
    }


def _details(found: Sequence[Reached]) -> dict[str, JSON]:
    return {
        "mapping": [[one.node, one.index, one.similarity] for one in found],
        "conditions": [list(one.conditions) for one in found],
    }
