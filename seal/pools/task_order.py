"""The order in which `--limit` takes tasks, so that a few of them stand for all.

Tasks are sorted by their tags, those with few values first, and by chance among equal tags. They
are then taken from that row in the order of a binary van der Corput sequence: each next task halves
a widest gap between those before it. So every prefix has each tag about as often as the whole, and
a longer prefix holds a shorter one. It is systematic sampling of a sorted list, made nested. No
seed of a run changes the order, so that runs of several seeds play the same tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from seal.core import JSON, Task
from seal.core.canonical import canonical_json, derive_seed

ORDER = "spread/1"
"""Name of the order; another order gets another version."""


class TaskChoice(Protocol):
    """Settings that say which tasks of a pool are played."""

    @property
    def select(self) -> Mapping[str, str]:
        """Tag to the value that a task must have."""

    @property
    def limit(self) -> int | None:
        """So many tasks of `ORDER`; None: all."""

    @property
    def first(self) -> int | None:
        """So many tasks of the head of the file; None: all."""


def told_of(choice: TaskChoice) -> dict[str, JSON]:
    """Return what a record says of how many tasks were chosen, and by which order."""
    first: dict[str, JSON] = {} if choice.first is None else {"first": choice.first}
    return {"limit": choice.limit} | first | ({} if choice.limit is None else {"order": ORDER})


def prefix(tasks: Iterable[Task], limit: int) -> frozenset[str]:
    """Return the ids of the first tasks in `ORDER`: of at most `limit`, in whatever order given."""
    tags = {task.id: task.tags for task in tasks}
    values: dict[str, set[bytes]] = {}
    for mine in tags.values():
        for tag, value in mine.items():
            values.setdefault(tag, set()).add(canonical_json(value))
    coarse_first = sorted(values, key=lambda tag: (len(values[tag]), tag))

    def place(task: str) -> tuple[Any, ...]:
        by_tag = tuple(canonical_json(tags[task].get(tag)) for tag in coarse_first)
        return (by_tag, derive_seed(ORDER, task), task)

    row = sorted(tags, key=place)
    bits = len(row).bit_length()
    reversed_bits = (int(f"{at:0{bits}b}"[::-1], 2) for at in range(1 << bits))
    taken = [row[at] for at in reversed_bits if at < len(row)] if row else []
    return frozenset(taken[:limit])
