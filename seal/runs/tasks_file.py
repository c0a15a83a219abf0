"""The tasks that a run plays, as its folder holds them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from seal.core import JSON, Task
from seal.core.canonical import digest
from seal.core.records import write_records
from seal.evaluation.goals import asks_calls_alone, no_call_besides
from seal.runs.file_index import FileIndex, read_index, write_index


def write_tasks(path: Path, tasks: Iterable[Task], chosen_by: JSON) -> bool:
    """Write a run's tasks, unless a large file holds those that were chosen by the same before.

    Args:
        path: The file.
        tasks: Read only where they are to be written.
        chosen_by: All that decides which tasks these are.

    Returns:
        Whether the gold of every task is calls and nothing else.
    """
    chosen = digest(chosen_by)
    known = read_index(path).known
    if known.get("chosen") == chosen and known.get("content") == _digest_of(path):
        return bool(known.get("calls"))
    gold = _Gold()
    count = write_records(path, map(gold.seen, tasks))
    told = {"chosen": chosen, "content": _digest_of(path), "calls": gold.is_calls}
    write_index(path, FileIndex(path.stat().st_size, count, told))
    return gold.is_calls


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


class _Gold:
    """What the gold of tasks asks for, as they pass by."""

    def __init__(self) -> None:
        self.is_calls = False
        """Calls and nothing else, in every task."""
        self._besides = False

    def seen(self, task: Task) -> Task:
        """Return a task that is counted in."""
        self._besides = self._besides or not all(map(no_call_besides, task.goals))
        called = any(map(asks_calls_alone, task.goals))
        self.is_calls = not self._besides and (self.is_calls or called)
        return task
