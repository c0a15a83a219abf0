"""BM25: words that are rare in the pool count most, long documents little.

Source: Robertson and Zaragoza (2009), The Probabilistic Relevance Framework: BM25 and Beyond; in
the form of Lucene, which bm25s computes when it indexes.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import Stemmer

from seal.core import Pool
from seal.core.text import split_identifiers
from seal.retrievers.contract import in_order, number_option
from seal.retrievers.documents import DEFAULT, documents, template_name
from seal.retrievers.lexical import WORD, LexicalRetriever, english_stop_words
from seal.retrievers.sparse_rows import SparseRows

with warnings.catch_warnings():  # tqdm, which it imports, warns in notebooks without widgets
    warnings.simplefilter("ignore")
    import bm25s

_WORD = re.compile(WORD)


class Bm25(LexicalRetriever):
    """Retrieves by BM25 of stemmed English words; identifiers are split, stop words left out.

    A score is at least 0.

    Args:
        pool: Options: `k1` (default 1.5, at least 0: how much a repeated word adds), `b` (default
            0.75, in [0, 1]: how much length takes away) and `template`.

    Raises:
        UsageError: `k1` or `b` is out of range.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"b", "k1", "template"})
    normalised: ClassVar[bool] = False
    """A score is a sum over the words of the query, so that it grows with the query."""

    def __init__(self, pool: Pool) -> None:
        template = pool.options.get("template") or DEFAULT
        k1 = number_option(pool.options, "k1", 1.5, math.inf)
        b = number_option(pool.options, "b", 0.75, 1)
        self._stem = Stemmer.Stemmer("english").stemWords
        self._left_out = english_stop_words()
        words = [self._words(text) for text in documents(in_order(pool.tools), template)]
        self._columns = {word: column for column, word in enumerate(sorted(set().union(*words)))}
        identity = f"bm25/k1={k1:g}/b={b:g}/{template_name(template)}"
        super().__init__(identity, pool, _weights(words, self._columns, k1, b))

    def documents(self) -> SparseRows:
        """Return the weights of the tools as rows of length 1, float64, (n, words)."""
        return self._weights.unit()

    def queries(self, texts: Sequence[str]) -> SparseRows:
        """Return the counts of texts as rows of length 1, float64, (q, words)."""
        return self._rows(texts).unit()

    def _rows(self, texts: Sequence[str]) -> SparseRows:
        """Return how often each text has each word of the tools, float64, (q, words)."""
        words = [self._words(text) for text in texts]
        rows = [row for row, part in enumerate(words) for word in part if word in self._columns]
        columns = [self._columns[word] for part in words for word in part if word in self._columns]
        return SparseRows.of(rows, columns, np.ones(len(rows)), len(texts), self._weights.width)

    def _words(self, text: str) -> list[str]:
        found = _WORD.findall(split_identifiers(text).lower())
        stems: list[str] = self._stem([word for word in found if word not in self._left_out])
        return stems


def _weights(
    words: Sequence[Sequence[str]], columns: Mapping[str, int], k1: float, b: float
) -> SparseRows:
    if not columns:  # bm25s indexes no empty vocabulary
        return SparseRows.of([], [], [], len(words), 1)
    ids = [[columns[word] for word in part] for part in words]
    model = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64")
    model.index((ids, dict(columns)), create_empty_token=False, show_progress=False)
    data, tools, starts = (model.scores[name] for name in ("data", "indices", "indptr"))
    of_words = np.repeat(np.arange(len(columns)), np.diff(starts))
    return SparseRows.of(tools, of_words, data, len(words), len(columns))
