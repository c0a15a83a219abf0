"""What a goal of a tool's life is: a turn of a dialogue, a tool to create, or a request."""

from __future__ import annotations

from collections.abc import Sequence

from seal.benchmarks.dialogtool.metrics.dialogue.turns import DECIDING, is_turn
from seal.benchmarks.dialogtool.tool_life import CREATION
from seal.core.types import Goal, Task


def is_request(goal: Goal) -> bool:
    """Tell whether a goal asks for something to be done.

    A turn of a recorded dialogue asks for the next act alone, which neither solves nor fails what
    the user is after.
    """
    return not is_turn(goal) and not is_creation(goal)


def decided_by(goal: Goal) -> Sequence[Sequence[str]]:
    """Return the metrics that decide whether a goal is solved, in groups."""
    booked = ("goal_state",)
    return (DECIDING, booked) if is_turn(goal) else (booked,)


def is_creation(goal: Goal) -> bool:
    """Tell whether a goal is to create a tool."""
    return goal.labels.get("task") == CREATION


def creates(task: Task) -> bool:
    """Tell whether a goal of a task is to create a tool."""
    return any(map(is_creation, task.goals))


__all__ = ["creates", "decided_by", "is_creation", "is_request"]
