"""A sample of dialogues, drawn by chance with a fixed share of those that use one app.

Source: the DialogTool paper evaluates on 900 dialogues of the test split, of which 360 use several
apps; it does not say how they were chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappush, heapreplace

from seal.core.canonical import digest
from seal.core.errors import UsageError
from seal.core.types import Task

SINGLE, MULTI = "single_app", "multi_app"
_SINGLE_SHARE = 0.6


class Drawing:
    """Draws while dialogues pass, holding no more than it keeps.

    Which are kept depends on the seed and their ids alone, not on their order.

    Args:
        size: How many: three in five of one app, as in the paper; None: all.
        seed: Of the drawing.

    Raises:
        UsageError: The size is no positive whole number, or the seed no whole number.
    """

    def __init__(self, size: int | None, seed: int) -> None:
        if size is not None and (type(size) is not int or size < 1):
            raise UsageError(f"sample: expected a number of dialogues above 0, got {size!r}")
        if type(seed) is not int:
            raise UsageError(f"seed: expected a whole number, got {seed!r}")
        single = 0 if size is None else round(size * _SINGLE_SHARE)
        self._room = {SINGLE: single, MULTI: (size or 0) - single}
        self._all = size is None
        self._seed = seed
        self._kept: dict[str, list[tuple[int, int, Task]]] = {SINGLE: [], MULTI: []}
        self._met = 0

    def passing(self, task: Task) -> Task | None:
        """Return the task where all are taken; else keep it for now where it is drawn so far."""
        if self._all:
            return task
        group = str(task.tags["group"])
        kept, room = self._kept[group], self._room[group]
        # The largest number leaves first; ids are unique, so ties are broken by their place.
        entry = (-int(digest([self._seed, task.id])[:16], 16), -self._met, task)
        self._met += 1
        if len(kept) < room:
            heappush(kept, entry)
        elif kept and entry[:2] > kept[0][:2]:
            heapreplace(kept, entry)
        return None

    def drawn(self) -> Iterator[Task]:
        """Yield the tasks that were drawn, in the order in which they passed.

        Raises:
            UsageError: Fewer passed than are asked for.
        """
        for group, kept in self._kept.items():
            if len(kept) < self._room[group]:
                raise UsageError(
                    f"sample: {self._room[group]} dialogues of group {group} are asked for, and "
                    f"the source has {len(kept)}: ask for fewer, or take another split"
                )
        every = [entry for kept in self._kept.values() for entry in kept]
        for _, _, task in sorted(every, key=lambda entry: -entry[1]):
            yield task
