"""The files of a run held against each other, so that nothing is measured on files that were cut.

Tasks and chats of a run only grow in number: it may be told to play more, never fewer. So what
summary.json or one file tells of, the others must have. What a run in progress has not played or
scored yet is no damage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from pathlib import Path
from typing import Any

import orjson

from seal.core import DataError
from seal.core.text import counted
from seal.runs.run_folder import LINES, Pair, RunFolder


def check_tasks(run: RunFolder, tasks: Collection[str], chats: Iterable[Pair]) -> None:
    """Make sure that tasks.jsonl has every task of the chats, and as many as were scored.

    Args:
        run: The run.
        tasks: Ids in tasks.jsonl.
        chats: Those of trajectories.jsonl.

    Raises:
        DataError: It lacks tasks; names how many, and the repair.
    """
    expected = {*tasks, *(task_id for task_id, _ in chats)}
    count = max(len(expected), _summary(run).get("tasks", 0))
    if len(tasks) < count:
        raise DataError(
            f"{run.path / 'tasks.jsonl'} was cut: it has {len(tasks)} of the "
            f"{counted(count, 'task')} that "
            f"trajectories.jsonl and summary.json tell of; put the file back, or {_resume(run)}"
        )


def check_chats(run: RunFolder, played: Set[Pair], scored: Set[Pair]) -> None:
    """Make sure that trajectories.jsonl has every chat that was scored.

    Args:
        run: The run.
        played: Chats of trajectories.jsonl.
        scored: Chats of scores.jsonl.

    Raises:
        DataError: It lacks chats; names how many, one of them, and the repair.
    """
    lacking = sorted(scored - played)
    if lacking:
        task_id, trial = lacking[0]
        raise DataError(
            f"{run.trajectories_path} was cut: it has {len(scored) - len(lacking)} of the "
            f"{counted(len(scored), 'chat')} in scores.jsonl, and not that of task {task_id!r}, "
            "trial "
            f"{trial}; put the file back, or {_resume(run)}"
        )


def check_whole(run: RunFolder) -> None:
    """Make sure that a scored run and its baselines have every line that was scored.

    Raises:
        DataError: A file has fewer; names it, both numbers and the repair.
    """
    for part in (run, *run.baselines().values()):
        told = _summary(part).get(LINES)
        found = part.lines()
        for name, expected in told.items() if isinstance(told, dict) else ():
            if found.get(name, expected) < expected:
                again = f"score the run again with `seal score {run.path}`"
                repair = again if name == run.scores_path.name else _resume(run)
                raise DataError(
                    f"{part.path / name} was cut: it has {found[name]} of the "
                    f"{counted(expected, 'line')} "
                    f"that summary.json tells of; put the file back, or {repair}"
                )


def scored_chats(path: Path) -> set[Pair]:
    """Return the chats of a file of scores; lines that are none, or no such file, tell of none."""
    found: set[Pair] = set()
    if not path.is_file():
        return found
    with path.open("rb") as lines:
        for line in lines:
            try:
                fields = orjson.loads(line)
                found.add((str(fields["task_id"]), int(fields["trial"])))
            except (ValueError, KeyError, TypeError):
                continue  # scoring writes the file anew
    return found


def _summary(run: RunFolder) -> dict[str, Any]:
    """Return the summary; empty where the run has none or a damaged one, which scoring replaces."""
    try:
        return run.summary()
    except DataError:
        return {}


def _resume(run: RunFolder) -> str:
    return f"go on by the run's own command with --resume --out {run.path}"
