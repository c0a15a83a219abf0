"""Retrievers that ask another one: by the sentences of a query, by siblings, within some tokens."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate, islice, takewhile
from typing import Any

from seal.core import DataError, OptionError, Pool, Query, Retriever, Tool
from seal.core.arrays import np
from seal.core.text import count_by_bytes, counted, sentences
from seal.core.values import json_text
from seal.retrievers.base import (
    Documents,
    Hits,
    by_score,
    check_k,
    finite,
    ids_of,
    in_order,
    number_option,
    service,
    whole_option,
)

SENTENCES, SIBLINGS, TOKENS = "sentences", "siblings", "tokens"
COMMON = frozenset({SENTENCES, SIBLINGS, TOKENS})
"""Options of every retriever; the first two are of those that read texts."""

LEVEL = 10
"""Place whose score is the level of a ranking."""
SHARE = 0.4
"""Of its level that a ranking is lowered by: one value for all pools, chosen on no single one."""
DEPTH = 200
"""First places of each ranking that siblings change."""


class Wrapper:
    """A retriever that asks another one, and has the same qualities.

    Args:
        retriever: What is asked.
        way: Of asking, for the name.
    """

    def __init__(self, retriever: Retriever, way: str) -> None:
        self._retriever = retriever
        self.identity = f"{getattr(retriever, 'identity', type(retriever).__name__)}/{way}"
        self.complete = bool(getattr(retriever, "complete", False))
        self.lexical = bool(getattr(retriever, "lexical", False))
        self.normalised = bool(getattr(retriever, "normalised", True))
        self.reads_text = bool(getattr(retriever, "reads_text", True))
        self.measures = bool(getattr(retriever, "measures", True))

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return what the retriever does."""
        return self._retriever.retrieve(queries, k)

    def _scored(self, hits: Iterable[tuple[str, float]]) -> Hits:
        """Return hits with their scores rounded, best first, equal ones by id."""
        return by_score((tool, finite(score, self.identity)) for tool, score in hits)


class SentenceWise(Wrapper):
    """Retrieves by the sentences of a query: a tool's score is the highest that any of them gives.

    It is exact: a tool among the k best of all is among the k best of the text that it suits best.
    The whole query is asked too, for a sentence may lack the word that another one says. They are
    asked alone of a retriever whose scores grow with the text (BM25 adds up words): the whole
    would outbid each of them, and nothing would change.

    Sentences whose scores are comparable are levelled. One that is like everything ("Please help me
    with this.") scores high for many tools and would outshout one that names a tool. So each
    ranking is lowered by a share of its own tenth-best score. It is raised by the same share of the
    whole query's, which keeps the scale. A ranking of fewer than ten has the level 0.

    Args:
        retriever: What answers each text; its scores are taken as comparable between short and long
            texts unless its attribute `normalised` is False.
    """

    def __init__(self, retriever: Retriever) -> None:
        super().__init__(retriever, SENTENCES)
        if self.normalised:  # a run that began without levels is not gone on with
            self.identity += f"/levels={SHARE:g}"

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest scores, equal ones by id.

        Raises:
            UsageError: k is less than 1.
            DataError: The retriever did not answer each text.
        """
        check_k(k)
        parts = [self._asked(query) for query in queries]
        asked = [query for part in parts for query in part]
        rows = self._retriever.retrieve(asked, max(k, LEVEL)) if asked else []
        if len(rows) != len(asked):
            raise DataError(
                f"retriever {self.identity}: {counted(len(rows), 'row')} for "
                f"{counted(len(asked), 'query')}"
            )
        answers = map(self._scored, rows)
        limit = None if self.complete else k
        return [self._merged(list(islice(answers, len(part))))[:limit] for part in parts]

    def _asked(self, query: Query) -> list[Query]:
        """Return a query for each sentence, after the whole where that is to be asked too."""
        found = dict.fromkeys(sentences(query.text))
        others = [sentence for sentence in found if sentence != query.text.strip()]
        if not others:
            return [query]
        each = [replace(query, text=sentence) for sentence in others]
        return [query, *each] if self.normalised else each

    def _merged(self, rows: Sequence[Hits]) -> Hits:
        """Return the highest score of each tool; if rows are levelled, the first is the whole's.

        Of a lexical retriever, a tool that shares no term with the text keeps its score of 0.
        """
        tenths = [row[LEVEL - 1 : LEVEL] if self.normalised else [] for row in rows]
        levels = [tenth[0][1] if tenth else 0.0 for tenth in tenths]
        highest: dict[str, float] = {}
        for row, level in zip(rows, levels, strict=True):
            lift = SHARE * (levels[0] - level)
            for tool, score in row:
                shared = score > 0 or not self.lexical
                levelled = finite(score + lift, self.identity) if shared else score
                highest[tool] = max(levelled, highest.get(tool, levelled))
        return by_score(highest.items())


class SiblingWise(Wrapper):
    """Adds to the score of each API a share of the best score among the APIs of its tool.

    That is its own score where it is the best or the only one. Siblings are APIs whose tool has the
    same name. Among the first 200 places alone scores change, whatever k is, and no score becomes
    less: so the others stay behind, and a shorter answer is the head of a longer one.

    Args:
        retriever: What answers the queries.
        pool: The tools.
        share: Of the best score, at least 0.
    """

    def __init__(self, retriever: Retriever, pool: Pool, share: float) -> None:
        from seal.retrievers.kept import kept_arrays
        from seal.retrievers.postings import numbering

        super().__init__(retriever, f"siblings={share:g}")
        services = Documents(pool.tools, service)

        def build() -> dict[str, Any]:
            number = numbering()
            return {"services": np.array([number[name] for name in services.texts])}

        kept = kept_arrays(pool.cache_dir, ["siblings"], services, build)
        self._tool: dict[str, Any] = dict(zip(services.ids, kept["services"].tolist(), strict=True))
        self._share = share

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest scores, equal ones by id.

        Raises:
            UsageError: k is less than 1.
            DataError: The retriever gave a score that is not finite.
        """
        check_k(k)
        limit = None if self.complete else k
        rows = self._retriever.retrieve(queries, max(k, DEPTH))
        return [self._raised(self._scored(row))[:limit] for row in rows]

    def _raised(self, scored: Hits) -> Hits:
        head, rest = scored[:DEPTH], scored[DEPTH:]
        best: dict[Any, float] = {}
        for tool, score in head:  # best first
            best.setdefault(self._tool.get(tool, tool), max(score, 0.0))
        raised = (
            (tool, score + self._share * best[self._tool.get(tool, tool)]) for tool, score in head
        )
        return self._scored(raised) + rest


def schema_tokens(tool: Tool) -> int:
    """Return about how many tokens a tool takes as a model is offered it.

    That is a quarter of the bytes of its JSON schema, the same on every machine.
    """
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return count_by_bytes(json_text({"type": "function", "function": function}))


def token_counts(tools: Sequence[Tool]) -> Callable[[str], int]:
    """Return what tells of a tool's id the `schema_tokens`, counted when they are first asked for.

    Those of what is no tool are 0.
    """
    ordered, places = in_order(tools), {id: n for n, id in enumerate(ids_of(tools))}
    return cache(lambda id: schema_tokens(ordered[places[id]]) if id in places else 0)


class TokenBudget(Wrapper):
    """Retrieves the first tools whose schemas together take at most so many tokens.

    It stops at the first tool that does not fit. So the answer of a smaller budget is the head of a
    larger one's, and may be empty.

    Args:
        retriever: What answers the queries.
        tools: Of the pool.
        tokens: At least 1.
    """

    def __init__(self, retriever: Retriever, tools: Sequence[Tool], tokens: int) -> None:
        super().__init__(retriever, f"tokens={tokens}")
        self._cost = token_counts(tools)
        self._tokens = tokens

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query at most k tools.

        Raises:
            UsageError: k is less than 1.
        """
        check_k(k)
        return [self._fitting(by_score(row)) for row in self._retriever.retrieve(queries, k)]

    def _fitting(self, row: Hits) -> Hits:
        filled = accumulate(self._cost(tool) for tool, _ in row)
        return row[: sum(1 for _ in takewhile(lambda total: total <= self._tokens, filled))]


def taken_common(options: dict[str, Any]) -> tuple[bool, float, int | None]:
    """Take the `COMMON` options out, and return sentences, siblings and tokens.

    Raises:
        OptionError: One of them has a value that it cannot have.
    """
    taken = {name: options.pop(name) for name in COMMON & options.keys()}
    by_sentence = taken.get(SENTENCES, False)
    if not isinstance(by_sentence, bool):
        raise OptionError(f"{SENTENCES}={by_sentence}: expected true or false")
    siblings = number_option(taken, SIBLINGS, 0, math.inf)
    limited = taken.get(TOKENS) is not None
    return by_sentence, siblings, whole_option(taken, TOKENS, 1, 1) if limited else None


def with_common(
    retriever: Retriever,
    pool: Pool,
    by_sentence: bool,
    siblings: float,
    tokens: int | None,
) -> Retriever:
    """Return a retriever that does what the `COMMON` options ask for.

    Args:
        retriever: What is asked.
        pool: The tools.
        by_sentence: Whether each sentence of a query is asked.
        siblings: Share of the best score among the APIs of the same tool, at least 0.
        tokens: That the schemas of the answer may take; None: any number.
    """
    if by_sentence:
        retriever = SentenceWise(retriever)
    if siblings:
        retriever = SiblingWise(retriever, pool, siblings)
    return retriever if tokens is None else TokenBudget(retriever, pool.tools, tokens)
