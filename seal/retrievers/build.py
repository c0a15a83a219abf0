"""Retrievers choose the tools of a pool that a query may need.

A retriever is anything with `retrieve(queries, k)`; it is built as `factory(pool)`. A custom one is
passed as an object, a class or a dotted path. It may also have a name, which is registered here or
is an entry point of the group `seal.retrievers`. Any text may carry options:
`NAME[,KEY=VALUE...]`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from seal.core import DataError, OptionError, Pool, Query, Ranking, UsageError, shortened
from seal.core import Retriever as Retriever
from seal.core.registry import Registry, name_of, naming_stranger
from seal.core.settings import takes
from seal.core.text import counted
from seal.core.values import digest
from seal.retrievers.base import (
    Hits,
    by_score,
    check_k,
    finite,
    made_of,
    matching,
    refuse_unknown_options,
    spec_of,
)
from seal.retrievers.base import RetrieverSpec as RetrieverSpec
from seal.retrievers.base import parse_spec as parse_spec
from seal.retrievers.wrappers import COMMON, TOKENS, taken_common, with_common

REGISTRY = Registry(
    "retriever",
    "seal.retrievers",
    {
        "bm25": "seal.retrievers.lexical:Bm25",
        "dense": "seal.retrievers.dense:Dense",
        "given": "seal.retrievers.references:Given",
        "hybrid": "seal.retrievers.hybrid:hybrid",
        "oracle": "seal.retrievers.references:Oracle",
        "random": "seal.retrievers.references:Random",
        "rerank": "seal.retrievers.rerankers:Rerank",
        "tfidf": "seal.retrievers.lexical:Tfidf",
        "trec": "seal.retrievers.trec_run:TrecRun",
    },
    {
        **dict.fromkeys(
            ("expand", "listwise", "rewrite"),
            "a class of your own asks what model it likes; see docs/retrievers.md",
        ),
        "hierarchy": "a class of your own can search groups of tools first; see docs/retrievers.md",
    },
)

DEFAULT = "hybrid"
"""The retriever of whoever names none."""

OF = "of"
"""Option that names the retriever that another one asks."""


def build_retriever(what: Any, pool: Pool) -> Retriever:
    """Return a retriever over a pool.

    Options of the text or spec go before those of the pool, and these before the plain ones of the
    retriever, its `defaults(options)`. Every retriever has three options:

    - `sentences=true`, if it reads texts: it is asked by each sentence of a query
      (`SentenceWise`).
    - `siblings=SHARE` adds a share of the best score among the APIs of the same tool
      (`SiblingWise`).
    - `tokens=N` keeps the first tools whose schemas take at most N tokens (`TokenBudget`).

    Args:
        what: A name or a dotted path, either with options (`NAME,KEY=VALUE`), a `RetrieverSpec`, a
            class or factory that takes the pool, or an object that has `retrieve` already.
        pool: The tools, and what the retriever may need besides.

    Raises:
        DataError: The pool has no tools.
        UnknownNameError: No retriever of that name, or an option that it does not know.
        OptionError: What was found is no retriever, or does not take a pool.
        UsageError: It is ready and so takes no options; or the text is no spec.
    """
    if not pool.tools:
        raise DataError("the pool has no tools: nothing can be retrieved; check its tools.jsonl")
    spec = spec_of(what)
    plugin = REGISTRY.resolve(spec.what)
    with naming_stranger(spec.what):
        return _built(spec, plugin, pool)


def _built(spec: RetrieverSpec, plugin: Any, pool: Pool) -> Retriever:
    options = {**pool.options, **spec.options}
    _check_options(RetrieverSpec(spec.what, options))
    if hasattr(plugin, "defaults"):
        options = {**plugin.defaults(options), **options}
    common = taken_common(options)
    if isinstance(plugin, type) or not hasattr(plugin, "retrieve"):
        plugin = made_of(
            plugin,
            replace(pool, options=options),
            f"{name_of(plugin)} is no retriever: expected an object with retrieve(queries, k), or "
            "a class or function that takes the pool alone",
        )
    elif spec.options.keys() - COMMON:
        raise UsageError(f"{spec.identity}: the retriever is built already and takes no options")
    retrieve = getattr(plugin, "retrieve", None)
    if not callable(retrieve) or not takes(retrieve, 2):
        raise OptionError(
            f"the retriever {spec.identity} gave {shortened(plugin)}, which has no method "
            "retrieve(queries, k); give a class or function whose result has one"
        )
    return with_common(plugin, pool, *common)


def check_known(what: Any, options: Mapping[str, Any] | None = None) -> None:
    """Make sure that a retriever, and each that it asks, is known and knows its options.

    Raises:
        UnknownNameError: No retriever of that name, or an option that it does not know.
    """
    for spec in layers(what, options):
        _check_options(spec)


def _check_options(spec: RetrieverSpec) -> None:
    known = known_options(spec)
    if known is not None:
        refuse_unknown_options(str(spec.what), spec.options, known)


def inner_retriever(pool: Pool) -> Retriever:
    """Return the retriever that an option `of` names, over the same pool.

    Of the pool's options it gets `base_url` alone; its own stand in its text, in quotes:
    `rerank,of="bm25,k1=1.2"`.

    Raises:
        OptionError: It asks itself, or is no retriever.
        UnknownNameError: No retriever of that name, or an option that it does not know.
    """
    options = {name: value for name, value in pool.options.items() if name == "base_url"}
    return build_retriever(pool.options.get(OF) or DEFAULT, replace(pool, options=options))


def layers(what: Any, options: Mapping[str, Any] | None = None) -> Iterator[RetrieverSpec]:
    """Yield the spec of a retriever, and of those that it asks, and so on.

    Those are the one that its option `of` names, and what `parts(options)` of its class tells.

    Args:
        what: As `build_retriever` takes it.
        options: Of the pool, which the retriever itself gets beside those of its text.
    """
    spec = spec_of(what)
    spec = RetrieverSpec(spec.what, {**(options or {}), **spec.options})
    yield spec
    if OF in spec.options:
        yield from layers(spec.options[OF] or DEFAULT)
    plugin = REGISTRY.resolve(spec.what)
    if callable(getattr(plugin, "parts", None)):
        own = {name: value for name, value in spec.options.items() if name not in COMMON}
        for part in plugin.parts(own):
            yield from layers(part)


def reads_gold(what: Any, options: Mapping[str, Any] | None = None) -> bool:
    """Tell whether a retriever reads the pool's tasks, by its `reads_gold` or that of a layer."""
    return any(getattr(plugin, "reads_gold", False) for plugin, _ in _plugins(what, options))


def _plugins(
    what: Any, options: Mapping[str, Any] | None
) -> Iterator[tuple[Any, Mapping[str, Any]]]:
    """Yield what builds a retriever and each that it asks, with its options."""
    for spec in layers(what, options):
        yield REGISTRY.resolve(spec.what), spec.options


def files_digest(what: Any, options: Mapping[str, Any] | None = None) -> str | None:
    """Return the digest of the files that a retriever reads: `files(options)` of its class.

    None: it reads none, or none of them is there.
    """
    named = [
        file
        for plugin, own in _plugins(what, options)
        if hasattr(plugin, "files")
        for file in plugin.files(own)
    ]
    contents = [hashlib.sha256(f.read_bytes()).hexdigest() for f in named if f.is_file()]
    return digest(contents) if contents else None


def known_options(what: Any) -> frozenset[str] | None:
    """Return the names of a retriever's options; None: it looks at them itself.

    Those are its `OPTIONS`, `tokens`, and `sentences` and `siblings` unless it says by `reads_text`
    that its scores tell nothing of a query's text.
    """
    plugin = REGISTRY.resolve(spec_of(what).what)
    known: frozenset[str] | None = getattr(plugin, "OPTIONS", None)
    if known is None:
        return None
    return known | (COMMON if getattr(plugin, "reads_text", True) else {TOKENS})


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
        DataError: The retriever's answer is no list of rankings, or one is none: too few rows, no
            pairs of id and score, an id twice or unknown, a score that is no finite number.
    """
    check_k(k)
    name = getattr(retriever, "identity", type(retriever).__name__)
    rows = retriever.retrieve(queries, k)
    if isinstance(rows, (str, bytes, Mapping)) or not hasattr(rows, "__len__"):
        raise _no_ranking(name, rows)
    if len(rows) != len(queries):
        raise DataError(
            f"retriever {name}: {counted(len(rows), 'row')} for {counted(len(queries), 'query')}"
        )
    limit = None if getattr(retriever, "complete", False) else k
    return [
        Ranking(query.task_id, query.goal, query.text, tuple(matching(retriever, hits)))
        for query, hits in zip(
            queries, (_ordered(row, name, known)[:limit] for row in rows), strict=True
        )
    ]


def _ordered(row: Any, name: str, known: Collection[str]) -> Hits:
    if isinstance(row, (str, bytes, Mapping)) or not isinstance(row, Iterable):
        raise _no_ranking(name, row)
    hits = [_hit(item, name) for item in row]
    ids = {tool for tool, _ in hits}
    if len(ids) < len(hits):
        raise DataError(f"retriever {name}: a tool stands twice in one ranking")
    if known and not ids.issubset(known):
        raise DataError(f"retriever {name}: {min(ids.difference(known))!r} is no tool of the pool")
    return by_score(hits)


def _hit(item: Any, name: str) -> tuple[str, float]:
    """Return a hit with its score rounded, never -0.0."""
    if isinstance(item, (str, bytes)):  # two letters would pass for a pair
        raise _no_ranking(name, item)
    try:
        tool, score = item
        number = finite(score, name)
    except (TypeError, ValueError) as error:
        raise _no_ranking(name, item) from error
    if not isinstance(tool, str):
        raise _no_ranking(name, item)
    return tool, number


def _no_ranking(name: str, got: Any) -> DataError:
    return DataError(
        f"retriever {name}: expected one list of (tool id, score) per query, got {shortened(got)}"
    )
