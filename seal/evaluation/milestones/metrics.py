"""How well a chat keeps to milestones and off minefields, as metrics of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from seal.core.conditions import Match
from seal.core.errors import DataError
from seal.core.types import JSON, Goal, Score, Task, Tool, Trajectory
from seal.evaluation.goals import Value, score_goals, undefined
from seal.evaluation.milestones.checks import check_plan
from seal.evaluation.milestones.plans import (
    PlanResult,
    Reached,
    asks_of_world,
    measure_plan,
    turn_count,
    view,
)

NAMES = ("similarity", "milestone_similarity", "minefield_similarity", "turn_count")
MATCHES: tuple[Match, ...] = get_args(Match)


@dataclass(frozen=True, slots=True)
class Milestones:
    """Similarity of a chat to the plans of each goal, in [0, 1], and its turns.

    - similarity: the milestones' similarity, or 0 where a minefield was hit. Of several plans the
      best one counts, of equally good ones the first. `details`: the plan's position, and the
      rules.
    - milestone_similarity, minefield_similarity: the two of which it is made (`PlanResult`), for
      that plan. `details`: `mapping`, [[node, step index, similarity]], and `conditions`, for each
      entry of it the similarities of the node's conditions.
    - turn_count: messages between user, agent and executor (`plans.turn_count`), unbounded above.

    A goal without plan has no value, and neither has one with a plan that cannot be measured
    (`checks`), one whose task names rules that there are not, nor one whose plans only hold what
    the metrics of calls and answers measure, `Called`, `Asked` and `Replied`, unless the task names
    its rules.

    Source: ToolSandbox, section 4.

    Args:
        match: Rules to measure by; None: those that the task's metadata name under `match`, else
            `clean`.
    """

    match: Match | None = None

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal and name."""

        def measure(position: int, goal: Goal) -> dict[str, Value]:
            if not applies(task, goal):
                return dict.fromkeys(NAMES, undefined("no milestones of the world"))
            try:
                match = self.match or match_of(task)
                best = measure_goal(task, trajectory, position, match)
            except DataError as error:
                return dict.fromkeys(NAMES, undefined(f"the plan cannot be measured: {error}"))
            turns = Value(float(best.turns))
            return {**_values(best.result, best.plan, match), "turn_count": turns}

        return score_goals(task, trajectory, NAMES, measure)


@dataclass(frozen=True, slots=True)
class Best:
    """The plan of a goal that was kept best."""

    plan: int
    """Its position among the goal's plans."""
    result: PlanResult
    turns: int
    """Messages between user, agent and executor."""


def measure_goal(task: Task, trajectory: Trajectory, position: int, match: Match) -> Best:
    """Return how well the best of a goal's plans was kept, of equally good ones the first.

    Args:
        task: Whose goal it is.
        trajectory: What was done.
        position: Of a goal that is measured so (`applies`).
        match: By which rules.

    Raises:
        DataError: A plan cannot be measured.
    """
    plans = task.goals[position].plans or ()
    for plan in plans:
        check_plan(plan, measured=True)
    steps = view(trajectory, position, task.initial_state, match)
    results = [measure_plan(plan, steps, match) for plan in plans]
    best = max(range(len(results)), key=lambda plan: results[plan].similarity)
    return Best(best, results[best], turn_count(steps))


def match_of(task: Task) -> Match:
    """Return the rules that a task is measured by.

    Raises:
        DataError: The task names rules that there are not.
    """
    named = task.metadata.get("match", "clean")
    for match in MATCHES:
        if named == match:
            return match
    raise DataError(
        f"task {task.id!r}: metadata.match: expected one of {', '.join(MATCHES)}, got {named!r}"
    )


def applies(task: Task, goal: Goal) -> bool:
    """Tell whether a goal is measured by the milestones of its plans."""
    plans = goal.plans or ()
    return bool(plans) and ("match" in task.metadata or any(map(asks_of_world, plans)))


def _values(result: PlanResult, plan: int, match: Match) -> dict[str, Value]:
    return {
        "similarity": Value(result.similarity, details={"plan": plan, "match": match}),
        "milestone_similarity": Value(
            result.milestone_similarity, details=_details(result.milestones)
        ),
        "minefield_similarity": Value(
            result.minefield_similarity, details=_details(result.minefields)
        ),
    }


def _details(found: Sequence[Reached]) -> dict[str, JSON]:
    return {
        "mapping": [[one.node, one.index, one.similarity] for one in found],
        "conditions": [list(one.conditions) for one in found],
    }
