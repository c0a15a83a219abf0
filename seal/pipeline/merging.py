"""One trajectory from chats that each played one goal (`--history gold`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seal.core.types import Step, Task, Trajectory


def merge_goals(task: Task, trial: int, parts: Sequence[Trajectory]) -> Trajectory:
    """Return the trajectories of all goals as one; the golden history before each is left out.

    Indices, turns and call ids are numbered anew in the order of the goals.

    Args:
        task: The task.
        trial: Number of the repetition.
        parts: The n-th played goal n after the references of the goals before it.
    """
    steps: list[Step] = []
    for goal, part in enumerate(parts):
        history = len(task.history) + sum(len(g.reference) for g in task.goals[:goal])
        _append(steps, part.steps[history:])
    return Trajectory(
        task.id,
        trial,
        tuple(steps),
        tuple(ranking for part in parts for ranking in part.rankings),
        tuple(offered for part in parts for offered in part.offered),
        tuple(stop for part in parts for stop in part.stops),
        tuple(answer for part in parts for answer in part.answers),
    )


def _append(steps: list[Step], played: Sequence[Step]) -> None:
    first_turn = steps[-1].turn + 1 if steps else 0
    offset = first_turn - (played[0].turn if played else 0)
    calls = sum(step.call is not None for step in steps)
    ids: dict[str, str] = {}
    for step in played:
        if step.call is not None:
            ids[step.call.id] = f"call_{calls + len(ids)}"
    for step in played:
        call = replace(step.call, id=ids[step.call.id]) if step.call else None
        result = step.result
        if result is not None:
            result = replace(result, call_id=ids.get(result.call_id, result.call_id))
        steps.append(
            replace(step, index=len(steps), turn=step.turn + offset, call=call, result=result)
        )
