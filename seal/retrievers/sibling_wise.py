"""Retrieval by siblings: an API counts for more where its tool has another that suits the query."""

from __future__ import annotations

from collections.abc import Sequence

from seal.core import Query, Retriever, Tool
from seal.retrievers.contract import Around, Hits, by_score, check_k, finite
from seal.retrievers.documents import names

DEPTH = 200
"""First places of each ranking that siblings change."""


class SiblingWise(Around):
    """Adds to the score of each API a share of the best score among the APIs of its tool.

    That is its own score where it is the best or the only one. Siblings are APIs whose tool has the
    same name. Among the first 200 places alone scores change, whatever k is, and no score becomes
    less: so the others stay behind, and a shorter answer is the head of a longer one.

    Args:
        retriever: What answers the queries.
        tools: Of the pool.
        share: Of the best score, at least 0.
    """

    def __init__(self, retriever: Retriever, tools: Sequence[Tool], share: float) -> None:
        super().__init__(retriever, f"siblings={share:g}")
        self._tool = {tool.id: names(tool).tool or tool.id for tool in tools}
        self._share = share

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest scores, equal ones by id.

        Raises:
            UsageError: k is less than 1.
            DataError: The retriever gave a score that is not finite.
        """
        check_k(k)
        limit = None if self.complete else k
        rows = self._retriever.retrieve(queries, max(k, DEPTH))
        return [self._raised(row)[:limit] for row in rows]

    def _raised(self, row: Sequence[tuple[str, float]]) -> Hits:
        scored = by_score((tool, finite(score, self.identity)) for tool, score in row)
        head, rest = scored[:DEPTH], scored[DEPTH:]
        best: dict[str, float] = {}
        for tool, score in head:  # best first
            best.setdefault(self._tool.get(tool, tool), max(score, 0.0))
        raised = (
            (tool, finite(score + self._share * best[self._tool.get(tool, tool)], self.identity))
            for tool, score in head
        )
        return by_score(raised) + rest
