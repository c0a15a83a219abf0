"""Retrieval by the sentences of a query: each asks for itself, and so does the whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from seal.core.errors import DataError
from seal.core.protocols import Retriever
from seal.core.text import sentences
from seal.core.types import Query
from seal.retrievers.contract import DECIMALS, Hits, by_score, check_k


class SentenceWise:
    """Retrieves by a query and its sentences: a tool's score is the highest that any of them gives.

    It is exact: a tool among the k best of all is among the k best of the text that it suits best.
    The whole query is asked too, for a sentence may lack the word that another one says.

    Args:
        retriever: What answers each text.
    """

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever
        self.identity = f"{getattr(retriever, 'identity', type(retriever).__name__)}/sentences"
        self.complete = bool(getattr(retriever, "complete", False))

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest scores, equal ones by id.

        Raises:
            UsageError: k is less than 1.
            DataError: The retriever did not answer each text.
        """
        check_k(k)
        parts = [_texts(query) for query in queries]
        asked = [text for part in parts for text in part]
        rows = self._retriever.retrieve(asked, k) if asked else []
        if len(rows) != len(asked):
            raise DataError(f"retriever {self.identity}: {len(rows)} rows for {len(asked)} queries")
        answers = iter(rows)
        limit = None if self.complete else k
        return [_merged(next(answers) for _ in part)[:limit] for part in parts]


def _texts(query: Query) -> list[Query]:
    """Return the query, and one for each sentence where there are several."""
    parts = sentences(query.text)
    return [query, *(replace(query, text=part) for part in parts if len(parts) > 1)]


def _merged(rows: Iterator[Sequence[tuple[str, float]]]) -> Hits:
    highest: dict[str, float] = {}
    for row in rows:
        for tool, score in row:
            rounded = round(float(score), DECIMALS)
            highest[tool] = max(rounded, highest.get(tool, rounded))
    return by_score(highest.items())
