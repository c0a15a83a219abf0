"""Partial orders: what may come next, and whether an order is one at all."""

from __future__ import annotations

from collections.abc import Sequence

from seal.core.errors import DataError
from seal.core.text import counted


def ready(after: Sequence[Sequence[int]], done: frozenset[int] | set[int]) -> list[int]:
    """Return the positions not done whose predecessors all are, ascending.

    Args:
        after: For each position its predecessors.
        done: Finished positions.
    """
    return [i for i, before in enumerate(after) if i not in done and done.issuperset(before)]


def levels(after: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the positions in groups: each as early as its predecessors allow.

    The number of groups is the length of the longest chain (Mirsky's theorem): no order needs
    fewer.

    Raises:
        DataError: A predecessor does not exist, or the order has a cycle.
    """
    count = len(after)
    for position, before in enumerate(after):
        for predecessor in before:
            if not 0 <= predecessor < count:
                raise DataError(
                    f"step {position} comes after step {predecessor}, but there are "
                    f"{counted(count, 'step')}"
                )
    done: set[int] = set()
    groups = []
    while len(done) < count:
        group = ready(after, done)
        if not group:
            stuck = sorted(set(range(count)) - done)
            raise DataError(f"steps {stuck} wait for each other: the order has a cycle")
        groups.append(group)
        done.update(group)
    return groups
