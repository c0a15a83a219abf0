"""Reciprocal rank fusion: one ranking out of several, by places alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, islice

from seal.core.errors import DataError
from seal.core.protocols import Retriever
from seal.core.types import Query
from seal.retrievers.contract import DECIMALS, Hits, by_score, check_k

SMOOTHING = 60
"""k of the formula: how little the first place is worth more than the next."""


class RankFusion:
    """Retrieves by the sum of 1 / (60 + place) over several retrievers.

    Source: Cormack, Clarke and Buettcher (2009), Reciprocal Rank Fusion Outperforms Condorcet and
    Individual Rank Learning Methods. A tool gets nothing from a retriever beyond whose `depth` it
    lies, nor from a lexical one that gives it a score of 0; with nothing from any of them it stands
    behind all others, with score 0. So a shorter answer is the head of a longer one.

    Args:
        retrievers: Two or more. One that has a true attribute `lexical` gives a score above 0 to
            tools that share a term with the query alone.
        depth: Places of each that count, at least 1, whatever k is.
        ids: Of all tools, ascending.
    """

    def __init__(self, retrievers: Sequence[Retriever], depth: int, ids: Sequence[str]) -> None:
        self._retrievers = retrievers
        self._depth = depth
        self._ids = ids
        self.identity = f"rrf@{depth}({' + '.join(map(_name, retrievers))})"

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest sums, equal ones by id.

        Raises:
            UsageError: k is less than 1.
            DataError: A retriever did not answer each query.
        """
        check_k(k)
        rows = [self._asked(part, queries) for part in self._retrievers]
        return [self._filled(fused(rankings), k) for rankings in zip(*rows, strict=True)]

    def _asked(self, retriever: Retriever, queries: Sequence[Query]) -> list[Hits]:
        """Return the hits of a retriever that count."""
        rows = retriever.retrieve(queries, self._depth)
        if len(rows) != len(queries):
            raise DataError(f"{_name(retriever)}: {len(rows)} rows for {len(queries)} queries")
        lexical = getattr(retriever, "lexical", False)
        heads = (row[: self._depth] for row in rows)
        return [[hit for hit in head if hit[1] > 0 or not lexical] for head in heads]

    def _filled(self, hits: Hits, k: int) -> Hits:
        """Return k hits, the last of them tools that got nothing."""
        found = {tool for tool, _ in hits}
        others = ((tool, 0.0) for tool in self._ids if tool not in found)
        return list(islice(chain(hits, others), k))


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
