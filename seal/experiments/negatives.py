"""Hard negatives: tools that a retriever places high for a query that does not need them.

Gold names some of the tools that would serve a query, seldom all. So two kinds of candidates are
left out, as they may be false negatives:

- those whose score is above 95 % of the score of the pair's own tool;
- those whose document is nearly that of a tool that the query needs.

Source of the first: Moreira et al. (2024), NV-Retriever, section 3 (positive-aware mining,
TopK-PercPos). The second holds documents to the likeness by which `seal.split` calls queries near.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from rapidfuzz import fuzz

from seal.core import DataError, Query, Ranking, UsageError
from seal.core.settings import Count, check_fields
from seal.core.store import Store
from seal.core.text import counted
from seal.core.values import derive_seed
from seal.experiments.splits import COMPARED, GoldQuery, plain
from seal.pools.pool import StoredPool
from seal.retrievers.build import build_retriever, rank, reads_gold
from seal.runs.engine import search_pool
from seal.runs.settings import check_seed

SHARE = 0.95
"""A tool is taken as a negative if its score is at most this share of the own tool's score."""
DEPTH = 100
"""How many tools of a ranking are looked through. If the own tool is not among them, all their
scores are higher, and none of them is taken."""
LIKENESS = 90.0
"""From which likeness on, at most 100, a document is nearly that of a tool that is needed."""


@dataclass(frozen=True, kw_only=True)
class MiningSettings:
    """How hard negatives are mined."""

    negatives: Count = 1
    """Number of hard negatives for each query and tool that it needs."""
    negatives_by: str = "tfidf"
    """Retriever that finds them."""
    seed: int = 0
    """Seed of negatives that are drawn by chance, where it finds too few."""

    def __post_init__(self) -> None:
        """Reject values that no mining can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes.
        """
        check_fields(self)
        check_seed(self.seed)


@dataclass(slots=True)
class Mined:
    """The hard negatives of pairs, and counts of what was left out."""

    negatives: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    """(query's text, id of its tool) to documents, equally many for each pair."""
    found: int = 0
    """Negatives that the retriever found."""
    drawn: int = 0
    """Negatives that were drawn by chance."""
    too_near_in_score: int = 0
    """Candidates ranked above the last one taken that were left out."""
    too_near_in_text: int = 0


def mine(
    pool: StoredPool,
    asked: Sequence[GoldQuery],
    documents: Mapping[str, str],
    settings: MiningSettings,
    store: Store,
) -> Mined:
    """Return hard negatives for each query and tool that it needs.

    If too few candidates are left, tools that the query does not need are drawn by chance.

    Args:
        pool: Whose tools are mined.
        asked: Training queries.
        documents: Tool id to its document.
        settings: How many, found by what.
        store: Where embeddings are kept.

    Raises:
        UnknownNameError: There is no such retriever.
        UsageError: The retriever reads gold, or only the order of its scores has meaning.
        DataError: The pool has too few tools.
    """
    by = settings.negatives_by
    if reads_gold(by):
        raise UsageError(f"--negatives-by {by}: it reads gold; name one that reads texts")
    retriever = build_retriever(by, search_pool(store, pool.tools(), seed=settings.seed))
    if not getattr(retriever, "measures", True):
        raise UsageError(
            f"--negatives-by {by}: its scores hold the order alone, so they do not tell how near a "
            "tool is to the wanted one; take bm25, tfidf, dense or hybrid"
        )
    queries = [Query(query.text, query.task_id, query.goal) for query in asked]
    rankings = rank(retriever, queries, DEPTH)
    plains = {tool: plain(text)[:COMPARED] for tool, text in documents.items()}
    mined = Mined()
    chance = random.Random(derive_seed(settings.seed, "negatives", pool.digest))
    for query, ranking in zip(asked, rankings, strict=True):
        for own in query.tools:
            tools = _hard(query, own, ranking, plains, settings, chance, mined)
            if len(tools) < settings.negatives:
                raise DataError(
                    f"--negatives {settings.negatives}: pool {pool.name} has "
                    f"{counted(len(tools), 'tool')} neither needed by a query nor nearly the "
                    "same; give fewer"
                )
            mined.negatives[query.text, own] = tuple(documents[tool] for tool in tools)
    return mined


def _hard(
    query: GoldQuery,
    own: str,
    ranking: Ranking,
    plains: Mapping[str, str],
    settings: MiningSettings,
    chance: random.Random,
    mined: Mined,
) -> list[str]:
    """Return the hard negatives of one pair, best first, then those drawn; count them."""
    count, least = settings.negatives, LIKENESS
    wanted = [plains[tool] for tool in query.tools]

    def near(tool: str) -> bool:
        text = plains[tool]
        return any(fuzz.ratio(text, other, score_cutoff=least) >= least for other in wanted)

    found: list[str] = []
    highest = SHARE * dict(ranking.hits).get(own, 0.0)
    for tool, score in ranking.hits:
        if len(found) == count:
            break
        if tool in query.tools:
            continue
        if score > highest or highest <= 0:
            mined.too_near_in_score += 1
        elif near(tool):
            mined.too_near_in_text += 1
        else:
            found.append(tool)
    mined.found += len(found)
    if len(found) == count:
        return found
    free = [tool for tool in plains if tool not in query.tools and tool not in found]
    shuffled = (tool for tool in chance.sample(free, len(free)) if not near(tool))
    drawn = list(islice(shuffled, count - len(found)))
    mined.drawn += len(drawn)
    return found + drawn
