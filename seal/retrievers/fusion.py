"""Reciprocal rank fusion: one ranking out of several, by places alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from seal.core.errors import DataError
from seal.core.protocols import Retriever
from seal.core.types import Query
from seal.retrievers.contract import DECIMALS, Hits, by_score, check_k

SMOOTHING = 60
"""k of the formula: how little the first place is worth more than the next."""


class RankFusion:
    """Retrieves by the sum of 1 / (60 + place) over several retrievers.

    Source: Cormack, Clarke and Buettcher (2009), Reciprocal Rank Fusion Outperforms Condorcet and
    Individual Rank Learning Methods. A tool beyond `depth` of a retriever gets nothing from it.

    Args:
        retrievers: Two or more.
        depth: Places of each that count, at least 1; a longer answer asks for as many as it has.
    """

    def __init__(self, retrievers: Sequence[Retriever], depth: int) -> None:
        self._retrievers = retrievers
        self._depth = depth
        self.identity = f"rrf@{depth}({' + '.join(map(_name, retrievers))})"

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest sums, equal ones by id.

        Raises:
            UsageError: k is less than 1.
            DataError: A retriever did not answer each query.
        """
        check_k(k)
        rows = [self._asked(part, queries, max(k, self._depth)) for part in self._retrievers]
        return [fused(rankings)[:k] for rankings in zip(*rows, strict=True)]

    def _asked(
        self, retriever: Retriever, queries: Sequence[Query], depth: int
    ) -> Sequence[Iterable[tuple[str, float]]]:
        rows = retriever.retrieve(queries, depth)
        if len(rows) != len(queries):
            raise DataError(f"{_name(retriever)}: {len(rows)} rows for {len(queries)} queries")
        return rows


def fused(rankings: Iterable[Iterable[tuple[str, float]]]) -> Hits:
    """Return the tools of all rankings by the sum of 1 / (60 + place), rounded to 6 decimals.

    Args:
        rankings: Each best first; places count from 1.
    """
    sums: defaultdict[str, float] = defaultdict(float)
    for ranking in rankings:
        for place, (tool, _) in enumerate(ranking, 1):
            sums[tool] += 1 / (SMOOTHING + place)
    return by_score((tool, round(total, DECIMALS)) for tool, total in sums.items())


def _name(retriever: Retriever) -> str:
    return str(getattr(retriever, "identity", type(retriever).__name__))
