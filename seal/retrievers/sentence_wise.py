"""Retrieval by the parts of a query: its sentences, or what a model makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from seal.core import DataError, Query, Retriever
from seal.core.text import sentences
from seal.retrievers.contract import Around, Hits, by_score, check_k, finite

Parts = Callable[[Sequence[str]], Sequence[Sequence[str]]]
"""Texts to the parts of each."""


class SentenceWise(Around):
    """Retrieves by the parts of a query: a tool's score is the highest that any of them gives.

    It is exact: a tool among the k best of all is among the k best of the text that it suits best.
    The whole query is asked too, for a part may lack the word that another one says. Its sentences
    are asked alone of a retriever whose scores grow with the text (BM25 adds up words): the whole
    would outbid each of them, and nothing would change. Parts that others say may lack all of it.

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
        rows = self._retriever.retrieve(asked, k) if asked else []
        if len(rows) != len(asked):
            raise DataError(f"retriever {self.identity}: {len(rows)} rows for {len(asked)} queries")
        answers = iter(rows)
        limit = None if self.complete else k
        return [_merged((next(answers) for _ in part), self.identity)[:limit] for part in parts]

    def _asked(self, query: Query, parts: Sequence[str]) -> list[Query]:
        """Return a query for each part, after the whole where that is to be asked too."""
        others = [part for part in dict.fromkeys(parts) if part != query.text.strip()]
        if not others:
            return [query]
        each = [replace(query, text=part) for part in others]
        return [query, *each] if self._asks_whole else each


def _merged(rows: Iterator[Sequence[tuple[str, float]]], name: str) -> Hits:
    highest: dict[str, float] = {}
    for row in rows:
        for tool, score in row:
            rounded = finite(score, name)
            highest[tool] = max(rounded, highest.get(tool, rounded))
    return by_score(highest.items())
