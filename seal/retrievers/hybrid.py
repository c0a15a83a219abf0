"""The hybrid: several retrievers as one, by their cosines or by their rankings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from seal.core import DataError, OptionError, Pool, Query, Retriever, UnknownNameError
from seal.core.registry import label_of
from seal.core.text import counted
from seal.retrievers.base import (
    DECIMALS,
    Hits,
    RetrieverSpec,
    by_score,
    check_k,
    finite,
    ids_of,
    matching,
    number_option,
    refuse_unknown_options,
    whole_option,
)
from seal.retrievers.build import REGISTRY, build_retriever
from seal.retrievers.dense import JointSpace, VectorSpace, WeightedCosines
from seal.retrievers.vector_index import FLAT, INDEX_OPTIONS, index_kind

DEFAULT_PARTS = "tfidf+dense"
DEFAULT_WEIGHT = 0.5
"""Of the first part."""
DEFAULT_DIMENSIONS = 4096
DEFAULT_DEPTH = 100
PLAIN: Mapping[str, Any] = {"1.template": "full", "sentences": True, "siblings": 0.5, "weight": 0.6}
"""Options of the hybrid of which neither parts nor fusion are named: one setting for all pools."""

_OWN: Mapping[str, frozenset[str]] = {
    "cosine": frozenset({"dimensions", "weight", *INDEX_OPTIONS}),
    "rrf": frozenset({"depth"}),
}
"""Options of each fusion; those of its index go to the parts where the fusion has none."""
_NUMBERED = re.compile(r"(\d+)\.(.+)")


def hybrid(pool: Pool) -> Retriever:
    """Return a retriever that joins others.

    Args:
        pool: Options: `parts` (names joined by `+`, default tfidf+dense) and `fusion`.
            fusion=cosine, the default, joins two parts that are vector spaces (tfidf, bm25, dense,
            or a class with a function `space(pool)`): `weight` of the first part (default 0.5).
            Every tool is scored, unless an `index` that is not exact holds both: then `dimensions`
            (default 4096) that a sparse part is projected to.
            fusion=rrf joins the rankings of two or more retrievers of any kind: `depth`, the places
            of each that count (default 100). Where neither parts nor fusion are named, `PLAIN`
            holds. An option `1.NAME` goes to the first part, any other to the parts that know it.

    Raises:
        UnknownNameError: No retriever, fusion or index of a name, or an option that nothing knows.
        UsageError: A part is no vector space under fusion=cosine, there are too few or too many
            parts, or an option is out of range.
    """
    fusion, own, specs = _read(pool.options)
    pools = [replace(pool, options=spec.options) for spec in specs]
    if fusion == "rrf":
        depth = whole_option(own, "depth", DEFAULT_DEPTH, 1)
        parts = map(build_retriever, [spec.what for spec in specs], pools)
        return RankFusion(list(parts), depth)
    if len(specs) != 2:
        raise OptionError(
            f"fusion=cosine joins two parts, got {len(specs)}: give two, or fusion=rrf"
        )
    ids = ids_of(pool.tools)
    weight = number_option(own, "weight", DEFAULT_WEIGHT, 1)
    dimensions = whole_option(own, "dimensions", DEFAULT_DIMENSIONS, 4)
    kind = index_kind(own)
    spaces = (_space(1, specs[0].what, pools[0]), _space(2, specs[1].what, pools[1]))
    if kind == FLAT:
        return WeightedCosines(ids, spaces, weight, dimensions)
    return JointSpace(ids, spaces, weight, dimensions, kind, pool.cache_dir)


def _defaults(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the options of the plain hybrid; a given template is that of both parts."""
    if options.get("parts") or options.get("fusion"):
        return {}
    return {
        name: PLAIN[name] for name in PLAIN if not ("template" in name and "template" in options)
    }


def _read(given: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], Sequence[RetrieverSpec]]:
    """Return the fusion, its own options, and the parts with theirs."""
    options = dict(given)
    parts = options.pop("parts", None) or DEFAULT_PARTS
    names = [name.strip() for name in parts.split("+")] if isinstance(parts, str) else list(parts)
    if len(names) < 2 or not all(names):
        raise OptionError(
            f"parts={parts}: expected two or more retrievers, such as {DEFAULT_PARTS}"
        )
    fusion = str(options.pop("fusion", None) or "cosine")
    if fusion not in _OWN:
        raise UnknownNameError("fusion", fusion, _OWN)
    own = {name: options.pop(name) for name in list(options) if name in _OWN[fusion]}
    for other, known in _OWN.items():
        for name in sorted((known - INDEX_OPTIONS) & options.keys()):
            raise OptionError(f"{name} is an option of fusion={other}, not of fusion={fusion}")
    return fusion, own, list(_parts(names, options))


hybrid.defaults = _defaults  # type: ignore[attr-defined]
hybrid.parts = lambda options: _read(options)[2]  # type: ignore[attr-defined]


def _space(number: int, what: Any, pool: Pool) -> VectorSpace:
    """Return the tools of a part as vectors.

    Raises:
        UnknownNameError: An option that the part does not know.
        UsageError: It has no vectors, or an index of its own is asked for.
    """
    plugin = REGISTRY.resolve(what)
    build = getattr(plugin, "space", None)
    if not callable(build):
        raise OptionError(
            f"part {number} of the hybrid, {what}, is no vector space: fusion=cosine takes tfidf, "
            "bm25, dense, or a class with a function space(pool); give fusion=rrf, which joins any "
            "retrievers"
        )
    for name in sorted(INDEX_OPTIONS & pool.options.keys()):
        raise OptionError(
            f"{number}.{name}: under fusion=cosine the parts share one index; give {name} without "
            "a number"
        )
    known = getattr(plugin, "OPTIONS", None)
    if known is not None:
        refuse_unknown_options(str(what), pool.options, known)
    space: VectorSpace = build(pool)
    return space


def _parts(names: Sequence[Any], given: Mapping[str, Any]) -> Iterator[RetrieverSpec]:
    """Yield the parts, each with the options that are meant for it."""
    numbered, shared = _by_number(given, len(names))
    plugins = [REGISTRY.resolve(name) for name in names]
    is_open = [getattr(plugin, "OPTIONS", None) is None for plugin in plugins]
    sure = [
        frozenset(getattr(plugin, "OPTIONS", None) or getattr(plugin, "SURE_OPTIONS", None) or ())
        for plugin in plugins
    ]
    everywhere = frozenset().union(*sure)
    unknown = sorted(shared.keys() - everywhere - {"base_url"})
    if unknown and not any(is_open):
        own = frozenset({"fusion", "parts"}).union(*_OWN.values())
        raise UnknownNameError("option -R of hybrid", unknown[0], everywhere | own)
    for position, name in enumerate(names):
        taken = {
            key: value
            for key, value in shared.items()
            if key in sure[position] or (is_open[position] and key not in everywhere)
        }
        yield RetrieverSpec(name, {**taken, **numbered[position]})


def _by_number(
    options: Mapping[str, Any], count: int
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the options of each part by its number, and those of no number."""
    numbered: list[dict[str, Any]] = [{} for _ in range(count)]
    shared = {}
    for key, value in options.items():
        match = _NUMBERED.fullmatch(key)
        if match is None:
            shared[key] = value
        elif 1 <= int(match[1]) <= count:
            numbered[int(match[1]) - 1][match[2]] = value
        else:
            raise OptionError(f"{key}: the hybrid has the parts 1 to {count}; number one of them")
    return numbered, shared


SMOOTHING = 60
"""k of the formula: how little the first place is worth more than the next."""


class RankFusion:
    """Retrieves by the sum of 1 / (60 + place) over several retrievers.

    Source: Cormack, Clarke and Buettcher (2009), Reciprocal Rank Fusion Outperforms Condorcet and
    Individual Rank Learning Methods. A tool gets nothing from a retriever beyond whose `depth` it
    lies, nor from a lexical one that gives it a score of 0; with nothing from any of them it is not
    found. So a shorter answer is the head of a longer one.

    Args:
        retrievers: Two or more. One that has a true attribute `lexical` gives a score above 0 to
            tools that share a term with the query alone.
        depth: Places of each that count, at least 1, whatever k is.
    """

    def __init__(self, retrievers: Sequence[Retriever], depth: int) -> None:
        self._retrievers = retrievers
        self._depth = depth
        self.identity = f"rrf@{depth}({' + '.join(map(label_of, retrievers))})"

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest sums, equal ones by id.

        Raises:
            UsageError: k is less than 1.
            DataError: A retriever did not answer each query, or gave a score that is not finite.
        """
        check_k(k)
        rows = [self._asked(part, queries) for part in self._retrievers]
        return [fused(rankings)[:k] for rankings in zip(*rows, strict=True)]

    def _asked(self, retriever: Retriever, queries: Sequence[Query]) -> list[Hits]:
        """Return the hits of a retriever that count."""
        rows = retriever.retrieve(queries, self._depth)
        if len(rows) != len(queries):
            raise DataError(
                f"{label_of(retriever)}: {counted(len(rows), 'row')} for "
                f"{counted(len(queries), 'query')}"
            )
        name = label_of(retriever)
        heads = ([(t, finite(s, name)) for t, s in row[: self._depth]] for row in rows)
        return [matching(retriever, head) for head in heads]


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
