"""One trajectory from chats that each played one goal or all of them."""

from __future__ import annotations

from collections.abc import Sequence

from seal.core.types import Step, Task, Trajectory
from seal.runs.gold_history import append_renumbered


def merge_goals(task: Task, trial: int, parts: Sequence[Trajectory]) -> Trajectory:
    """Return what chats played as one trajectory.

    Indices, turns and call ids are numbered anew from 0, in the order of the chats.

    Args:
        task: The task.
        trial: Number of the repetition.
        parts: What was said in each chat, without the history before it.
    """
    steps: list[Step] = []
    for part in parts:
        append_renumbered(steps, part.steps)
    return Trajectory(
        task.id,
        trial,
        tuple(steps),
        tuple(ranking for part in parts for ranking in part.rankings),
        tuple(offered for part in parts for offered in part.offered),
        tuple(stop for part in parts for stop in part.stops),
        tuple(answer for part in parts for answer in part.answers),
    )
