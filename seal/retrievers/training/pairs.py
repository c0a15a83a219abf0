"""What a retriever is trained on: pairs of a query and a tool's document, and their batches.

In a batch every document is a negative for the queries of the other pairs (in-batch negatives), so
two pairs stand in one batch only where neither document is relevant to the other's query.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from seal.core.canonical import derive_seed
from seal.core.text import words

_LOOKAHEAD = 20
"""Batches' worth of pairs that are looked through to fill a batch; one that still lacks pairs then
stays small."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One query with the tools that it needs."""

    task_id: str
    goal: int
    text: str
    tools: tuple[str, ...]
    """Ids of the relevant tools."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A query and the document of one tool that it needs."""

    query: str
    document: str


def plain(text: str) -> str:
    """Return a query's words in small letters, by which two queries are the same."""
    return " ".join(words(text)) or text.strip()


def pairs_of(asked: Iterable[Asked], documents: Mapping[str, str]) -> tuple[Pair, ...]:
    """Return the pairs of some queries, each once, in their order.

    Args:
        asked: A query with several relevant tools gives a pair for each.
        documents: Tool id to its document; tools without a word in theirs give no pair.
    """
    pairs = (Pair(query.text, documents[tool]) for query in asked for tool in query.tools)
    return tuple(dict.fromkeys(pair for pair in pairs if words(pair.document)))


def batches_of(
    pairs: Sequence[Pair], size: int, count: int, seed: int
) -> tuple[tuple[int, ...], ...]:
    """Return batches of positions, without false negatives.

    Pairs are drawn in shuffled passes: none a second time before all others were drawn, but for
    those that had to wait for a batch that could hold them.

    Args:
        pairs: At least one.
        size: Pairs of a batch at most; fewer where no more can stand together.
        count: Batches.
        seed: Equal seeds give equal batches.
    """
    relevant: defaultdict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        relevant[plain(pair.query)].add(pair.document)
    wanted = [relevant[plain(pair.query)] for pair in pairs]
    chance = random.Random(derive_seed(seed, "batches"))
    waiting: deque[int] = deque()
    batches = []
    for _ in range(count):
        batch: list[int] = []
        positives: set[str] = set()
        passed: list[int] = []
        documents: set[str] = set()
        while len(batch) < size and len(passed) < _LOOKAHEAD * size:
            if not waiting:
                if len(passed) >= len(pairs):  # each of them was tried
                    break
                waiting.extend(chance.sample(range(len(pairs)), len(pairs)))
            position = waiting.popleft()
            document = pairs[position].document
            if document in positives or not wanted[position].isdisjoint(documents):
                passed.append(position)
                continue
            batch.append(position)
            documents.add(document)
            positives |= wanted[position]
        waiting.extendleft(reversed(passed))
        batches.append(tuple(batch))
    return tuple(batches)
