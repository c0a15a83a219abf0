"""Retrieval by the parts of a query: its sentences, or what a model makes of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from heapq import nlargest
from itertools import islice

from seal.core import DataError, Query, Retriever
from seal.core.text import sentences
from seal.retrievers.contract import Around, Hits, by_score, check_k, finite

Parts = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""Texts to the parts of each."""

LEVEL = 10
"""Place whose score is the level of a ranking."""
SHARE = 0.4
"""Of its level that a ranking is lowered by: one value for all pools, chosen on no single one."""


class SentenceWise(Around):
    """Retrieves by the parts of a query: a tool's score is the highest that any of them gives.

    It is exact: a tool among the k best of all is among the k best of the text that it suits best.
    The whole query is asked too, for a part may lack the word that another one says. Its sentences
    are asked alone of a retriever whose scores grow with the text (BM25 adds up words): the whole
    would outbid each of them, and nothing would change. Parts that others say may lack all of it.

    Sentences whose scores are comparable are levelled. One that is like everything ("Please help me
    with this.") scores high for many tools and would outshout one that names a tool. So each
    ranking is lowered by a share of its own tenth-best score, and raised by the same share of the
    whole query's, which keeps the scale. A ranking of fewer than ten has the level 0.

    Args:
        retriever: What answers each text; its scores are taken as comparable between short and long
            texts unless its attribute `normalised` is False.
        way: What the parts are, for the name.
        parts: Gives the parts of each text, any number, in other words. None: its sentences.
    """

    def __init__(
        self, retriever: Retriever, way: str = "sentences", parts: Parts | None = None
    ) -> None:
        super().__init__(retriever, way)
        self._parts = parts or (lambda texts: [sentences(text) for text in texts])
        self._asks_whole = parts is not None or self.normalised
        self._levels = parts is None and self.normalised
        if self._levels:  # a run that began without is not gone on with
            self.identity += f"/levels={SHARE:g}"

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest scores, equal ones by id.

        Raises:
            UsageError: k is less than 1.
            DataError: The retriever did not answer each text.
        """
        check_k(k)
        split = self._parts([query.text for query in queries])
        parts = [self._asked(*pair) for pair in zip(queries, split, strict=True)]
        asked = [query for part in parts for query in part]
        rows = self._retriever.retrieve(asked, max(k, LEVEL)) if asked else []
        if len(rows) != len(asked):
            raise DataError(f"retriever {self.identity}: {len(rows)} rows for {len(asked)} queries")
        answers = (self._rounded(row) for row in rows)
        limit = None if self.complete else k
        return [self._merged(list(islice(answers, len(part))))[:limit] for part in parts]

    def _asked(self, query: Query, parts: Sequence[str]) -> list[Query]:
        """Return a query for each part, after the whole where that is to be asked too."""
        others = [part for part in dict.fromkeys(parts) if part != query.text.strip()]
        if not others:
            return [query]
        each = [replace(query, text=part) for part in others]
        return [query, *each] if self._asks_whole else each

    def _rounded(self, row: Sequence[tuple[str, float]]) -> Hits:
        return [(tool, finite(score, self.identity)) for tool, score in row]

    def _merged(self, rows: Sequence[Hits]) -> Hits:
        """Return the highest score of each tool; if rows are levelled, the first is the whole's.

        Of a lexical retriever, a tool that shares no term with the text keeps its score of 0.
        """
        levels = [_level(row) if self._levels else 0.0 for row in rows]
        highest: dict[str, float] = {}
        for row, level in zip(rows, levels, strict=True):
            lift = SHARE * (levels[0] - level)
            for tool, score in row:
                shared = score > 0 or not self.lexical
                levelled = finite(score + lift, self.identity) if shared else score
                highest[tool] = max(levelled, highest.get(tool, levelled))
        return by_score(highest.items())


def _level(row: Hits) -> float:
    """Return the tenth-best score, 0 where there are fewer."""
    best = nlargest(LEVEL, (score for _, score in row))
    return best[-1] if len(best) == LEVEL else 0.0
