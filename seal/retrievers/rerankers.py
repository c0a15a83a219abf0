"""Tools that another retriever finds, in a better order."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol

import Stemmer

from seal.core import DataError, Pool, Query, UsageError
from seal.core.registry import label_of, load_dotted
from seal.core.text import counted, words
from seal.retrievers.base import (
    DEFAULT,
    DOCUMENT_LIMIT,
    Hits,
    by_place,
    by_score,
    check_k,
    cut_texts,
    documents,
    finite,
    made_of,
    matching,
    shortened_document,
    template_name,
    whole_option,
)
from seal.retrievers.build import inner_retriever
from seal.retrievers.embedders import TRUST, check_trust
from seal.retrievers.lexical import english_stop_words
from seal.retrievers.server_embedders import OPTIONS as SERVED
from seal.retrievers.server_embedders import ServerReranker

Pairs = Sequence[tuple[str, str]]
"""Texts of a query and of a tool."""
Heads = Sequence[Sequence[str]]
"""Ids of the first tools of each query."""


class ToolScorer(Protocol):
    """Says how well tools suit queries."""

    identity: str

    def scores(self, pairs: Pairs) -> Sequence[float]:
        """Return a number for each pair; the higher, the better."""
        ...


class Rerank:
    """Orders the first tools by a score of query and tool together; the others follow as they were.

    Its own scores count down from the number of tools: they hold the order, no measure. Source:
    Nogueira and Cho (2019), Passage Re-ranking with BERT.

    Args:
        pool: Options: `of`, the retriever (default the general one); `depth`, how many of its
            tools change places (default 50); `template`, the document of a tool; and `model`: a
            cross-encoder of sentence-transformers by name or folder, `openai/NAME` behind a server
            (`base_url`), a dotted path, a function of pairs of texts, or an object or class of
            options with a method `scores(pairs)` or `predict(pairs)`. None: `WordOverlap`, the
            floor. `cut`: tokens that it reads of a query and of a tool, as of `dense`. `device`,
            `batch_size`, `revision` and `trust_remote_code` are the cross-encoder's.

    Raises:
        MissingExtraError: A cross-encoder needs the extra `embeddings`.
        UsageError: There is no such model, or an option is out of range.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset(
        {"of", "depth", "template", "cut", "model", "device", "batch_size", "revision", TRUST}
    ) | (SERVED - {"dimensions"})
    reads_text: ClassVar[bool] = False
    measures: ClassVar[bool] = False

    def __init__(self, pool: Pool) -> None:
        check_trust(pool)
        self._inner = inner_retriever(pool)
        self._depth = whole_option(pool.options, "depth", 50, 1)
        template = pool.options.get("template") or DEFAULT
        self._cut, self._pool = whole_option(pool.options, "cut", 0, 0), pool
        cut = cut_texts("document", documents(pool.tools, template), self._cut, pool)
        self._texts = dict(zip((tool.id for tool in pool.tools), cut, strict=True))
        self._scorer = _scorer(pool.options, list(self._texts.values()))
        way = f"rerank/{template_name(template)}@{self._depth}({self._scorer.identity})"
        self.identity = f"{label_of(self._inner)}/{way}"
        if self._cut:
            self.identity += f"/cut={self._cut}"

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools that stand first.

        Raises:
            UsageError: k is less than 1.
            DataError: A score is no finite number.
            ModelError: A model or its server failed.
        """
        check_k(k)
        rows = self._inner.retrieve(queries, max(k, self._depth))
        found = [[tool for tool, _ in by_score(matching(self._inner, row))] for row in rows]
        heads = self._ordered([query.text for query in queries], [f[: self._depth] for f in found])
        return [
            by_place([*head, *tools[self._depth :]], len(self._texts))[:k]
            for head, tools in zip(heads, found, strict=True)
        ]

    def _ordered(self, queries: Sequence[str], heads: Heads) -> Heads:
        read = cut_texts("query", queries, self._cut, self._pool)
        pairs = [
            (shortened_document(query, DOCUMENT_LIMIT), self._texts[tool])
            for query, head in zip(read, heads, strict=True)
            for tool in head
        ]
        scores = list(self._scorer.scores(pairs)) if pairs else []
        if len(scores) != len(pairs):
            raise DataError(
                f"{self._scorer.identity}: {counted(len(scores), 'score')} for "
                f"{counted(len(pairs), 'pair')}"
            )
        rest = iter(scores)
        return [self._best(head, [next(rest) for _ in head]) for head in heads]

    def _best(self, head: Sequence[str], scores: Sequence[Any]) -> Sequence[str]:
        try:
            exact = [finite(score, self._scorer.identity) for score in scores]
        except (TypeError, ValueError) as error:
            raise DataError(f"{self._scorer.identity}: a score is no number: {error}") from error
        places = sorted(range(len(head)), key=lambda place: -exact[place])  # equal: as they were
        return [head[place] for place in places]


_HOSTED = re.compile(r"(?:anthropic|cohere|gemini|jina|litellm|voyage)/")
"""Begins the name of a model behind a provider's server; no model of the hub has such a name."""


def _scorer(options: Mapping[str, Any], texts: Sequence[str]) -> ToolScorer:
    what = options.get("model")
    if what is None:
        return WordOverlap(texts)
    if isinstance(what, str) and what.startswith("openai/"):
        return ServerReranker(options)
    if isinstance(what, str) and ":" in what and not Path(what).exists():
        what = load_dotted(what)
    if isinstance(what, (str, Path)):
        if options.get("base_url") or (_HOSTED.match(str(what)) and not Path(what).exists()):
            raise UsageError(
                f"rerank,model={what}: a reranker behind a server is openai/NAME,base_url=ADDRESS"
            )
        from seal.retrievers.library_embedders import CrossEncoder

        return CrossEncoder({**options, "model": str(what)})
    expected = (
        f"the reranker's model {label_of(what)} is no function of pairs of texts, and has no "
        "method scores(pairs) or predict(pairs); a class must take its options, one map"
    )
    if isinstance(what, type):
        what = made_of(what, dict(options), expected)
    methods = (getattr(what, name, None) for name in ("scores", "predict"))
    function = next((one for one in methods if callable(one)), what)
    if not callable(function):
        raise UsageError(expected)
    return _Function(label_of(what), function)


class _Function:
    """A scorer made of a function of pairs."""

    def __init__(self, identity: str, function: Callable[[Pairs], Sequence[float]]) -> None:
        self.identity = identity
        self.scores = function


class WordOverlap:
    """Scores by the words that query and tool share: 2 x shared / all, rare words counting most.

    A word counts once, however often it stands in a text, and by ln((1 + n) / (1 + df)) + 1.
    English words are stemmed, stop words left out. A score is in [0, 1].

    Args:
        texts: Of the n tools.
    """

    identity = "word-overlap"

    def __init__(self, texts: Sequence[str]) -> None:
        self._stem = Stemmer.Stemmer("english").stemWord
        self._texts = {text: self._words(text) for text in texts}
        frequency = Counter(word for text in texts for word in self._texts[text])
        self._weight = {
            word: math.log((1 + len(texts)) / (1 + n)) + 1 for word, n in frequency.items()
        }
        self._unknown = math.log(1 + len(texts)) + 1

    def scores(self, pairs: Pairs) -> Sequence[float]:
        """Return the share of each pair."""
        queries = {query: self._words(query) for query, _ in pairs}
        return [self._share(queries[query], self._texts[text]) for query, text in pairs]

    def _share(self, query: frozenset[str], tool: frozenset[str]) -> float:
        both = self._sum(query) + self._sum(tool)
        return 2 * self._sum(query & tool) / both if both else 0.0

    def _sum(self, found: frozenset[str]) -> float:
        return math.fsum(self._weight.get(word, self._unknown) for word in found)

    def _words(self, text: str) -> frozenset[str]:
        return frozenset(self._stem(word) for word in words(text)) - english_stop_words()
