"""What a retriever is trained on: queries with the documents that they need, and others.

In a batch every document is a negative for each query that does not need it: those of the other
pairs (in-batch negatives), and those that stand beside a pair as its hard negatives.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seal.core.canonical import derive_seed
from seal.core.text import words


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """One query with the tools that it needs."""

    task_id: str
    goal: int
    text: str
    tools: tuple[str, ...]
    """Ids of the relevant tools."""


@dataclass(frozen=True, slots=True)
class GoldPair:
    """A query and the document of one tool that it needs."""

    query: str
    document: str
    negatives: tuple[str, ...] = ()
    """Documents that the query does not need; every pair of a training has as many."""


def plain(text: str) -> str:
    """Return a query's words in small letters, by which two queries are the same."""
    return " ".join(words(text)) or text.strip()


def pairs_of(
    asked: Iterable[GoldQuery],
    documents: Mapping[str, str],
    negatives: Mapping[tuple[str, str], tuple[str, ...]] | None = None,
) -> tuple[GoldPair, ...]:
    """Return the pairs of some queries, each query with each document once, in their order.

    Args:
        asked: A query with several relevant tools gives a pair for each.
        documents: Tool id to its document; tools without a word in theirs give no pair.
        negatives: Query's text and tool to the hard negatives of their pair; None: none.
    """
    found: dict[tuple[str, str], GoldPair] = {}
    for query in asked:
        for tool in query.tools:
            document = documents[tool]
            if words(document):
                hard = () if negatives is None else negatives[query.text, tool]
                found.setdefault((query.text, document), GoldPair(query.text, document, hard))
    return tuple(found.values())


def batches_of(pairs: int, size: int, count: int, seed: int) -> tuple[tuple[int, ...], ...]:
    """Return batches of positions, drawn in shuffled passes.

    No pair is drawn a second time before all others were drawn.

    Args:
        pairs: How many there are, at least 1.
        size: Pairs of a batch; all pairs where they are fewer.
        count: Batches.
        seed: Equal seeds give equal batches.
    """
    chance = random.Random(derive_seed(seed, "batches"))
    size = min(size, pairs)
    drawn: list[int] = []
    while len(drawn) < size * count:
        drawn += chance.sample(range(pairs), pairs)
    return tuple(tuple(drawn[n * size : (n + 1) * size]) for n in range(count))


class Relevance:
    """Which documents queries need, by all pairs of a training.

    Args:
        pairs: All of them; queries that differ in case and punctuation alone are one query.
    """

    def __init__(self, pairs: Sequence[GoldPair]) -> None:
        self._pairs = pairs
        self._queries = [plain(pair.query) for pair in pairs]
        self._needed: defaultdict[str, set[str]] = defaultdict(set)
        for query, pair in zip(self._queries, pairs, strict=True):
            self._needed[query].add(pair.document)

    def documents(self, positions: Sequence[int]) -> list[str]:
        """Return the documents of a batch: those of its pairs, then their negatives by place."""
        pairs = [self._pairs[position] for position in positions]
        places = zip(*(pair.negatives for pair in pairs), strict=True)
        return [pair.document for pair in pairs] + [text for place in places for text in place]

    def needed_too(self, positions: Sequence[int]) -> npt.NDArray[np.bool_]:
        """Return which documents of a batch a query needs, but for that of its own pair.

        Args:
            positions: n pairs.

        Returns:
            (n, documents of the batch): they are no negatives.
        """
        places: defaultdict[str, list[int]] = defaultdict(list)
        for place, text in enumerate(self.documents(positions)):
            places[text].append(place)
        needed = np.zeros((len(positions), sum(map(len, places.values()))), dtype=bool)
        for row, position in enumerate(positions):
            for text in self._needed[self._queries[position]]:
                needed[row, places.get(text, [])] = True
        np.fill_diagonal(needed, False)
        return needed

    @property
    def teaches(self) -> bool:
        """True where a query has a negative at all: a document of a pair that it does not need."""
        documents = {text for pair in self._pairs for text in (pair.document, *pair.negatives)}
        return any(not documents <= needed for needed in self._needed.values())
