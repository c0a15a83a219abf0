"""Retrievers choose the tools of a pool that a query may need.

A retriever is anything with `retrieve(queries, k)`; it is built as `factory(pool)`. A custom one is
passed as an object, a class, a dotted path, or by a name that is registered here or announced as an
entry point of the group `seal.retrievers`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from seal.core.errors import DataError, UsageError
from seal.core.protocols import Pool, Retriever
from seal.core.registry import Registry
from seal.core.types import Query, Ranking
from seal.retrievers.contract import DECIMALS, Hits, check_k, refuse_unknown_options

REGISTRY = Registry(
    "retriever",
    "seal.retrievers",
    {
        "dense": "seal.retrievers.dense:Dense",
        "given": "seal.retrievers.gold:Given",
        "oracle": "seal.retrievers.gold:Oracle",
        "random": "seal.retrievers.chance:Random",
        "tfidf": "seal.retrievers.tfidf:Tfidf",
    },
)


def build_retriever(what: Any, pool: Pool) -> Retriever:
    """Return a retriever over a pool.

    Args:
        what: A name, a dotted path, a class or factory that takes the pool, or an object that has
            `retrieve` already.
        pool: The tools, and what the retriever may need besides.

    Raises:
        DataError: The pool has no tools.
        UnknownNameError: No retriever of that name, or an option that it does not know.
        UsageError: What was found is no retriever, or does not take a pool.
    """
    if not pool.tools:
        raise DataError("the pool has no tools: nothing can be retrieved; check its tools.jsonl")
    plugin = REGISTRY.resolve(what)
    known = known_options(what)
    if known is not None:
        refuse_unknown_options(str(what), pool.options, known)
    if isinstance(plugin, type) or not hasattr(plugin, "retrieve"):
        plugin = _built(plugin, pool)
    if not callable(getattr(plugin, "retrieve", None)):
        raise UsageError(
            f"{what!r} gave a {type(plugin).__name__}, which has no method retrieve(queries, k)"
        )
    retriever: Retriever = plugin
    return retriever


def known_options(what: Any) -> frozenset[str] | None:
    """Return the names of a retriever's options, its `OPTIONS`; None: it looks at them itself."""
    known: frozenset[str] | None = getattr(REGISTRY.resolve(what), "OPTIONS", None)
    return known


def _built(factory: Any, pool: Pool) -> Any:
    try:
        inspect.signature(factory).bind(pool)
    except (TypeError, ValueError) as error:  # ValueError: a built-in without a signature
        raise UsageError(
            f"{factory!r} is no retriever: expected an object with retrieve(queries, k), or a "
            f"class or function that takes the pool alone ({error})"
        ) from error
    return factory(pool)


def rank(
    retriever: Retriever, queries: Sequence[Query], k: int, known: Collection[str] = ()
) -> list[Ranking]:
    """Return one ranking for each query, in their order.

    Scores are rounded to 6 decimals and hits put in order (score, then id), whatever the retriever
    did. At most k hits are kept, except of a retriever that sets `complete` (such as `given`).

    Args:
        retriever: From `build_retriever`.
        queries: What to look for.
        k: At least 1; more than the pool holds gives the whole pool.
        known: Ids of the pool's tools; where given, a hit outside them is an error.

    Raises:
        UsageError: k is less than 1.
        DataError: The retriever's answer is no ranking: too few rows, an id twice or unknown, a
            score that is no finite number.
    """
    check_k(k)
    name = getattr(retriever, "identity", type(retriever).__name__)
    rows = retriever.retrieve(queries, k)
    if len(rows) != len(queries):
        raise DataError(f"retriever {name}: {len(rows)} rows for {len(queries)} queries")
    limit = None if getattr(retriever, "complete", False) else k
    return [
        Ranking(query.task_id, query.goal, query.text, tuple(_ordered(row, name, known)[:limit]))
        for query, row in zip(queries, rows, strict=True)
    ]


def _ordered(row: Iterable[tuple[str, float]], name: str, known: Collection[str]) -> Hits:
    hits = [(tool, round(float(score), DECIMALS) + 0.0) for tool, score in row]
    ids = {tool for tool, _ in hits}
    if len(ids) < len(hits):
        raise DataError(f"retriever {name}: a tool stands twice in one ranking")
    if not all(math.isfinite(score) for _, score in hits):
        raise DataError(f"retriever {name}: a score is not a finite number")
    if known and not ids.issubset(known):
        raise DataError(f"retriever {name}: {min(ids.difference(known))!r} is no tool of the pool")
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))


__all__ = ["REGISTRY", "Retriever", "build_retriever", "known_options", "rank"]
