"""Hard negatives: tools that a retriever places high for a query that does not need them.

Gold names some of the tools that would serve a query, seldom all. So two kinds of candidates are
left out, as they may be false negatives:

- those whose score is above 95 % of the score of the pair's own tool;
- those whose document is nearly that of a tool that the query needs.

Source of the first: Moreira et al. (2024), NV-Retriever, section 3 (positive-aware mining,
TopK-PercPos). The second holds documents to the likeness by which queries are near-duplicates here.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice

from rapidfuzz import fuzz

from seal.core import DataError, Query, Ranking, UsageError
from seal.core.canonical import derive_seed
from seal.core.store import Store
from seal.core.text import counted
from seal.experiments.retrieval.draws import Source
from seal.experiments.training.splits import COMPARED
from seal.experiments.training.training_settings import TrainSettings
from seal.retrievers import build_retriever, rank, reads_gold
from seal.retrievers.training_pairs import GoldQuery, plain
from seal.runs.ranking import search_pool

SHARE = 0.95
"""A tool is taken as a negative if its score is at most this share of the own tool's score."""
DEPTH = 100
"""How many tools of a ranking are looked through. If the own tool is not among them, all their
scores are higher, and none of them is taken."""


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

    def counts(self) -> dict[str, int]:
        """Return {found, drawn, too_near_in_score, too_near_in_text}."""
        return {name: value for name, value in asdict(self).items() if name != "negatives"}


def mine(
    source: Source,
    asked: Sequence[GoldQuery],
    documents: Mapping[str, str],
    settings: TrainSettings,
    store: Store,
) -> Mined:
    """Return hard negatives for each query and tool that it needs.

    If too few candidates are left, tools that the query does not need are drawn by chance.

    Args:
        source: The pool.
        asked: Training queries.
        documents: Tool id to its document.
        settings: `negatives`, how many a pair, at least 1; `negatives_by`, the retriever.
        store: Where embeddings are kept.

    Raises:
        UsageError: The retriever reads gold, or only the order of its scores has meaning.
        DataError: The pool has too few tools.
    """
    by = settings.negatives_by
    if reads_gold(by):
        raise UsageError(f"--negatives-by {by}: it reads gold; name one that reads texts")
    pool = search_pool(store, source.tools, seed=settings.seed, cache=settings.cache)
    retriever = build_retriever(by, pool)
    if not getattr(retriever, "measures", True):
        raise UsageError(
            f"--negatives-by {by}: its scores hold the order alone, so they do not tell how near a "
            "tool is to the wanted one; take bm25, tfidf, dense or hybrid"
        )
    queries = [Query(query.text, query.task_id, query.goal) for query in asked]
    rankings = rank(retriever, queries, DEPTH)
    plains = {tool: plain(text)[:COMPARED] for tool, text in documents.items()}
    mined = Mined()
    chance = random.Random(derive_seed(settings.seed, "negatives", source.digest))
    for query, ranking in zip(asked, rankings, strict=True):
        for own in query.tools:
            tools = _hard(query, own, ranking, plains, settings, chance, mined)
            if len(tools) < settings.negatives:
                raise DataError(
                    f"--negatives {settings.negatives}: pool {source.label} has "
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
    settings: TrainSettings,
    chance: random.Random,
    mined: Mined,
) -> list[str]:
    """Return the hard negatives of one pair, best first, then those drawn; count them."""
    count, least = settings.negatives, settings.threshold
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
