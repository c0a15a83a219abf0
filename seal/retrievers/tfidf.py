"""TF-IDF: the default retriever, which needs no model.

Words and pieces of words are two spaces of their own; a score is the mean of the two cosines.
Fitting takes less than a second for some thousand tools, so nothing is kept on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer

from seal.core.protocols import Pool
from seal.core.text import split_identifiers
from seal.core.types import Query
from seal.retrievers.contract import DECIMALS, Hits, check_k, in_order
from seal.retrievers.documents import DEFAULT, documents, template_name
from seal.retrievers.selection import best

_CJK = r"\u3040-\u30ff\u3400-\u9fff"
_WORD = rf"[{_CJK}]|[^\W{_CJK}]+"
"""Chinese and Japanese set no blanks: there each character counts as a word, two as a 2-gram."""
_CELLS = 4_000_000
"""Scores that are held at once: 32 MB."""


class Tfidf:
    """Retrieves by TF-IDF of words (1-2 grams) and of pieces of words (3-5 characters).

    Identifiers are split, English stop words left out, term frequencies sublinear. A score is in
    [0, 1]. The answer to a query depends on nothing but the pool and its text; safe in threads.

    Args:
        pool: Option `template` names the document template.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"template"})

    def __init__(self, pool: Pool) -> None:
        tools = in_order(pool.tools)
        template = pool.options.get("template") or DEFAULT
        texts = [split_identifiers(text) for text in documents(tools, template)]
        self.identity = f"tfidf/{template_name(template)}"
        self._ids = [tool.id for tool in tools]
        self._spaces = [space for space in _spaces() if _has_terms(space, texts)]
        vectors = _joined([space.fit_transform(texts) for space in self._spaces], len(texts))
        self._terms = vectors.T.tocsr()  # a product with another layout would convert it each time

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest scores, equal ones by id.

        Raises:
            UsageError: k is less than 1.
        """
        check_k(k)
        step = max(1, _CELLS // len(self._ids))
        found: list[Hits] = []
        for start in range(0, len(queries), step):
            texts = [split_identifiers(query.text) for query in queries[start : start + step]]
            vectors = _joined([space.transform(texts) for space in self._spaces], len(texts))
            scores = np.round((vectors @ self._terms).toarray(), DECIMALS)
            found.extend(best(row, self._ids, k) for row in scores)
        return found


def _spaces() -> list[TfidfVectorizer]:
    """Return the two spaces, not yet fitted."""
    words = TfidfVectorizer(
        stop_words="english", sublinear_tf=True, ngram_range=(1, 2), token_pattern=_WORD
    )
    pieces = TfidfVectorizer(analyzer="char_wb", sublinear_tf=True, ngram_range=(3, 5))
    return [words, pieces]


def _has_terms(space: TfidfVectorizer, texts: Sequence[str]) -> bool:
    """Tell whether any text has a term in the space: scikit-learn fits no empty vocabulary."""
    terms = space.build_analyzer()
    return any(terms(text) for text in texts)


def _joined(parts: Sequence[Any], rows: int) -> csr_matrix:
    """Return unit rows of each space as one row, scaled so that inner products are mean cosines."""
    if not parts:
        return csr_matrix((rows, 1))
    return hstack(parts, format="csr") * np.sqrt(1 / 2)
