"""What every metric needs to know of a goal: who acted, and whether anything may be scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from seal.core.conditions import Asked, Called, Replied, parts
from seal.core.types import (
    CHAT_TOOLS,
    JSON,
    Goal,
    Plan,
    Score,
    Step,
    Task,
    ToolCall,
    ToolResult,
    Trajectory,
)

USER = "user_simulator"
EXECUTOR = "executor"
INFRASTRUCTURE = "infrastructure"
"""First word of the reason of a score that an infrastructure failure left without a value."""
WHOLLY = 1 - 1e-6
"""Value from which a goal, or a node of its plan, is met wholly; cells are rounded to 32 bits."""
MISSION = "mission_accuracy"
JUDGED = ("pass_rate", "tooleval", "sopr", "fac", "success")
DECIDING = frozenset({MISSION, *JUDGED})
"""Metrics that may say whether a goal is solved, on any benchmark."""


@dataclass(frozen=True, slots=True)
class Value:
    """One metric of one goal."""

    value: float | None
    weight: float = 1.0
    """Denominator for micro means."""
    reason: str = ""
    details: dict[str, JSON] = field(default_factory=dict)

    def score(self, task_id: str, trial: int, goal: int, metric: str) -> Score:
        """Return the value as a record."""
        return Score(
            task_id, trial, goal, metric, self.value, self.weight, self.reason, self.details
        )


def undefined(reason: str) -> Value:
    """Return the value of a metric that does not apply."""
    return Value(None, 0.0, reason)


def score_goals(
    task: Task,
    trajectory: Trajectory,
    names: Sequence[str],
    measure: Callable[[int, Goal], Mapping[str, Value]],
) -> list[Score]:
    """Return one score for each goal and name.

    Args:
        task: The task.
        trajectory: What was done. Where the infrastructure failed, nothing is measured and every
            value is None.
        names: Metrics, in the order of the scores.
        measure: Goal's position and goal to a value for each name.
    """
    scores = []
    failure = failure_reason(trajectory)
    for position, goal in enumerate(task.goals):
        values = {} if failure else measure(position, goal)
        for name in names:
            found = undefined(failure) if failure else values[name]
            scores.append(found.score(task.id, trajectory.trial, position, name))
    return scores


def failure_reason(trajectory: Trajectory) -> str:
    """Return why nothing may be scored; empty where everything may."""
    for stop in trajectory.stops:
        if stop.reason == "error":
            return f"{INFRASTRUCTURE}: {stop.error or 'unknown failure'}"
    return ""


def goal_steps(trajectory: Trajectory, goal: int) -> list[Step]:
    """Return what was said and done for one goal."""
    return [step for step in trajectory.steps if step.goal == goal]


def answer_of(trajectory: Trajectory, goal: int) -> str | None:
    """Return the final answer to a goal; None where there is none."""
    return trajectory.answers[goal] if goal < len(trajectory.answers) else None


def stop_of(trajectory: Trajectory, goal: int, unknown: str = "not played") -> str:
    """Return why the chat about a goal ended; `unknown` where nobody says."""
    return trajectory.stops[goal].reason if goal < len(trajectory.stops) else unknown


def asks_of_world(plan: Plan) -> bool:
    """Tell whether a plan asks more than calls, questions and replies, or forbids something."""
    if plan.minefields:
        return True
    conditions = (part for node in plan.milestones for part in parts(node.condition))
    return any(not isinstance(part, (Called, Asked, Replied)) for part in conditions)


def made_calls(steps: Iterable[Step]) -> list[ToolCall]:
    """Return the agent's API calls in order, as the model wrote them: rejected ones too.

    The user's own calls and those of the harness's own tools are none of the agent's API calls.
    """
    return [
        step.call
        for step in steps
        if step.call is not None
        and step.author != USER
        and not (step.call.tool or "").startswith(CHAT_TOOLS)
    ]


def cut_calls(trajectory: Trajectory, goal: int) -> set[str]:
    """Return the ids of the calls whose arguments are unknown because upstream cut their text.

    Such a call has no arguments, and its result's error lists "arguments" under "cut". One without
    a result counts as cut where `provenance["truncated"]` counts cut arguments.
    """
    counted = trajectory.provenance.get("truncated")
    any_cut = isinstance(counted, dict) and bool(counted.get("arguments"))
    cut = set()
    for step, answer in trajectory.calls(goal):
        if step.call is not None and step.call.arguments is None:
            error = answer.result.error if answer is not None and answer.result else None
            unmarked = answer is None and any_cut
            if unmarked or (error is not None and "arguments" in error.get("cut", ())):
                cut.add(step.call.id)
    return cut


def failed(result: ToolResult | None) -> bool:
    """Tell whether a call brought an error, or nothing at all.

    A result that upstream cut is no failure, unless what is left of it reports one.
    """
    if result is None:
        return True
    error = result.error
    return error is not None and (error.get("kind") != "truncated" or bool(error.get("upstream")))
