"""What every metric needs to know of a goal: who acted, and whether anything may be scored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from seal.core.types import JSON, Goal, Score, Step, Task, ToolCall, Trajectory

USER = "user_simulator"
EXECUTOR = "executor"
FIND_TOOLS = "find_tools"
"""Function through which a chat retrieves on demand; it is no API of any benchmark."""
INFRASTRUCTURE = "infrastructure"
"""First word of the reason of a score that an infrastructure failure left without a value."""


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


def made_calls(trajectory: Trajectory, goal: int) -> list[tuple[ToolCall, Step | None]]:
    """Return the agent's API calls for a goal, each with its result's step, in order.

    A call counts as the model wrote it, whether it could run or not. The user's own calls and
    retrieval through `find_tools` are none of the agent's API calls.
    """
    return [
        (step.call, result)
        for step, result in trajectory.calls(goal)
        if step.call is not None
        and step.author != USER
        and not (step.call.tool is None and step.call.name == FIND_TOOLS)
    ]


def was_cut(trajectory: Trajectory, call: ToolCall) -> bool:
    """Tell whether the call's arguments are unknown because its text was cut before we had it.

    `provenance["truncated"]` says so: True for every text of the trajectory, or a list of call ids.
    """
    marked = trajectory.provenance.get("truncated")
    if call.arguments is not None or not marked:
        return False
    return call.id in marked if isinstance(marked, (list, tuple)) else True
