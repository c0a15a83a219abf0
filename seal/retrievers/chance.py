"""The floor: tools by seeded chance."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import ClassVar

from seal.core import Pool, Query
from seal.core.canonical import derive_seed
from seal.retrievers.contract import Hits, check_k, in_order


class Random:
    """Retrieves tools by chance, each query by a seed of its own.

    The seed derives from the pool's seed and the query's task, goal and text: neither other queries
    nor their order matter, and the first tools of a longer answer are the shorter one. The scores
    count down from the number of tools: they hold the order, no measure.
    """

    identity = "random"
    measures = False

    OPTIONS: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, pool: Pool) -> None:
        self._ids = [tool.id for tool in in_order(pool.tools)]
        self._seed = pool.seed

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query min(k, pool) tools.

        Raises:
            UsageError: k is less than 1.
        """
        check_k(k)
        return [self._drawn(query, min(k, len(self._ids))) for query in queries]

    def _drawn(self, query: Query, k: int) -> Hits:
        """Draw as Fisher and Yates shuffle, but only as far as k."""
        chance = random.Random(derive_seed(self._seed, query.task_id, query.goal, query.text))
        count = len(self._ids)
        moved: dict[int, int] = {}
        hits: Hits = []
        for position in range(k):
            other = chance.randrange(position, count)
            hits.append((self._ids[moved.get(other, other)], float(count - position)))
            moved[other] = moved.get(position, position)
        return hits
