"""TF-IDF: the default retriever, which needs no model.

Words and pieces of words are two spaces of their own; a score is the mean of the two cosines.
Fitting takes less than a second for some thousand tools, so nothing is kept on disk.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, hstack

from seal.core.protocols import Pool
from seal.core.text import split_identifiers
from seal.retrievers.contract import in_order
from seal.retrievers.documents import DEFAULT, documents, template_name
from seal.retrievers.lexical import WORD, LexicalRetriever
from seal.retrievers.term_weights import TermWeights, pieces, words


class Tfidf(LexicalRetriever):
    """Retrieves by TF-IDF of words (1-2 grams) and of pieces of words (3-5 characters).

    Identifiers are split, English stop words left out, term frequencies sublinear. A score is in
    [0, 1].

    Args:
        pool: Option `template` names the document template.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"template"})

    def __init__(self, pool: Pool) -> None:
        space = TfidfSpace(pool)
        super().__init__(space.identity, pool, space.documents(), space.queries)

    @staticmethod
    def space(pool: Pool) -> TfidfSpace:
        """Return the tools of a pool as vectors."""
        return TfidfSpace(pool)


class TfidfSpace:
    """The tools of a pool as TF-IDF vectors, words and pieces side by side.

    Args:
        pool: As of `Tfidf`.
    """

    def __init__(self, pool: Pool) -> None:
        template = pool.options.get("template") or DEFAULT
        texts = [split_identifiers(text) for text in documents(in_order(pool.tools), template)]
        self.identity = f"tfidf/{template_name(template)}"
        spaces = (TermWeights(analyse, texts) for analyse in (words(WORD), pieces))
        self._spaces = [space for space in spaces if space]
        self._documents = _joined([space.documents for space in self._spaces], len(texts))

    def documents(self) -> csr_matrix:
        """Return the vectors of the tools, float64, (n, terms)."""
        return self._documents

    def queries(self, texts: Sequence[str]) -> csr_matrix:
        """Return the vectors of texts, float64, (q, terms)."""
        split = [split_identifiers(text) for text in texts]
        return _joined([space.rows(split) for space in self._spaces], len(texts))


def _joined(parts: Sequence[Any], rows: int) -> csr_matrix:
    """Return unit rows of each space as one row, scaled so that inner products are mean cosines."""
    if not parts:
        return csr_matrix((rows, 1))
    return hstack(parts, format="csr") * np.sqrt(1 / 2)
