"""Retrieval by words: exact search among sparse vectors, and TF-IDF.

TF-IDF needs no model. Words and pieces of words are two spaces of their own; a score is the mean of
the two cosines. Fitting takes less than a second for some thousand tools, so nothing is kept on
disk. The weights equal scikit-learn's, which takes longer to import than a small run takes to play:
(1 + ln tf) x (1 + ln((1 + n) / (1 + df))), rows of length 1. Source: scikit-learn,
`TfidfVectorizer` with `sublinear_tf=True`; a test holds both equal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from seal.core import Pool, Query
from seal.core.package_data import shipped_words
from seal.core.text import CJK, split_identifiers
from seal.retrievers.contract import DECIMALS, Hits, check_k, in_order
from seal.retrievers.documents import DEFAULT, documents, template_name
from seal.retrievers.sparse_rows import SparseRows

WORD = rf"[{CJK}]|[^\W{CJK}]+"
"""Regex of a word. Chinese and Japanese set no blanks: there each character counts as one."""

_CELLS = 4_000_000
"""Scores that are held at once: 32 MB."""


class LexicalRetriever:
    """Retrieves by the inner products of sparse vectors of words, exactly.

    The answer to a query depends on nothing but the pool and its text; safe in threads. It is a
    vector space too (`seal.retrievers.joint_space`).

    Args:
        identity: Names all that shapes the scores besides the tools.
        pool: The n tools.
        weights: A row for each tool, in the order of ids, (n, terms).
    """

    lexical: ClassVar[bool] = True
    """A score of 0 says that query and tool share no term."""

    def __init__(self, identity: str, pool: Pool, weights: SparseRows) -> None:
        self.identity = identity
        self._weights = weights
        self._ids = [tool.id for tool in in_order(pool.tools)]
        self._terms = weights.transposed()

    @classmethod
    def space(cls, pool: Pool) -> Self:
        """Return the tools of a pool as vectors."""
        return cls(pool)  # type: ignore[call-arg,arg-type]

    def documents(self) -> SparseRows:
        """Return the vectors of the tools, float64, (n, terms)."""
        return self._weights

    def queries(self, texts: Sequence[str]) -> SparseRows:
        """Return the vectors of texts, float64, (q, terms)."""
        return self._rows(texts)

    def _rows(self, texts: Sequence[str]) -> SparseRows:
        """Return texts as rows whose inner products with the weights are scores, (q, terms)."""
        raise NotImplementedError

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest scores, equal ones by id.

        Raises:
            UsageError: k is less than 1.
        """
        check_k(k)
        step = max(1, _CELLS // len(self._ids))
        found: list[Hits] = []
        for start in range(0, len(queries), step):
            texts = [query.text for query in queries[start : start + step]]
            scores = np.round(self._rows(texts) @ self._terms, DECIMALS)
            found.extend(_best(row, self._ids, k) for row in scores)
        return found


def _best(scores: npt.NDArray[np.float64], ids: Sequence[str], k: int) -> Hits:
    """Return the hits of the k highest scores, equal ones by id.

    Args:
        scores: (n,), rounded, so that equal means equal.
        ids: n tool ids, ascending.
        k: At least 1; more than n gives all.
    """
    lowest = np.partition(scores, -k)[-k] if k < len(scores) else scores.min()
    positions = np.flatnonzero(scores >= lowest)
    positions = positions[np.argsort(-scores[positions], kind="stable")][:k]
    values = scores[positions] + 0.0  # no negative zero in a record
    return [
        (ids[position], value)
        for position, value in zip(positions.tolist(), values.tolist(), strict=True)
    ]


Analyser = Callable[[str], list[str]]
"""A text to its terms, with repetitions."""

_BLANKS = re.compile(r"\s\s+")


def english_stop_words() -> frozenset[str]:
    """Return words that say nothing of what an English text is about.

    Source: the list of the Glasgow Information Retrieval Group, as scikit-learn has it.
    """
    return shipped_words("seal.retrievers", "english_stop_words.txt")


def words(pattern: str) -> Analyser:
    """Return what gives the words of a text and its pairs of neighbours, without stop words.

    Args:
        pattern: Regex of a word.
    """
    found, left_out = re.compile(pattern), english_stop_words()

    def analyse(text: str) -> list[str]:
        kept = [word for word in found.findall(text.lower()) if word not in left_out]
        return kept + [f"{one} {next_one}" for one, next_one in pairwise(kept)]

    return analyse


def pieces(text: str) -> list[str]:
    """Return the pieces of 3 to 5 characters of each word, which has a blank on both sides.

    A word that is shorter than a piece counts once, whole.
    """
    found: list[str] = []
    for word in _BLANKS.sub(" ", text.lower()).split():
        padded = f" {word} "
        for size in (3, 4, 5):
            if len(padded) <= size:
                found.append(padded)
                break
            found += [padded[at : at + size] for at in range(len(padded) - size + 1)]
    return found


class TermWeights:
    """The terms of some texts and their weights.

    Args:
        analyse: Gives the terms.
        texts: Whose terms count; those of other texts that are not among them say nothing.
    """

    def __init__(self, analyse: Analyser, texts: Sequence[str]) -> None:
        self._analyse = analyse
        counts = [Counter(analyse(text)) for text in texts]
        frequency = Counter(term for each in counts for term in each)
        self._column = {term: place for place, term in enumerate(sorted(frequency))}
        found = np.array([frequency[term] for term in self._column], dtype=np.float64)
        self._rarity = np.log((1 + len(texts)) / (1 + found)) + 1
        self.documents = self._rows(counts)
        """The texts themselves, float64, (texts, terms), rows of length 1 or 0."""

    def __bool__(self) -> bool:
        """Whether there is any term."""
        return bool(self._column)

    def rows(self, texts: Sequence[str]) -> SparseRows:
        """Return texts as rows, float64, (texts, terms), of length 1; 0 without a known term."""
        return self._rows([Counter(self._analyse(text)) for text in texts])

    def _rows(self, counts: Sequence[Counter[str]]) -> SparseRows:
        known = [
            (row, self._column[term], times)
            for row, each in enumerate(counts)
            for term, times in each.items()
            if term in self._column
        ]
        rows, columns, times = np.array(known, dtype=np.int64).reshape(-1, 3).T
        data = (np.log(times.astype(np.float64)) + 1) * self._rarity[columns]
        return SparseRows.of(rows, columns, data, len(counts), len(self._column)).unit()


class Tfidf(LexicalRetriever):
    """Retrieves by TF-IDF of words (1-2 grams) and of pieces of words (3-5 characters).

    Identifiers are split, English stop words left out, term frequencies sublinear. A score is in
    [0, 1].

    Args:
        pool: Option `template` names the document template.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"template"})

    def __init__(self, pool: Pool) -> None:
        template = pool.options.get("template") or DEFAULT
        texts = [split_identifiers(text) for text in documents(in_order(pool.tools), template)]
        spaces = (TermWeights(analyse, texts) for analyse in (words(WORD), pieces))
        self._spaces = [space for space in spaces if space]
        weights = _joined([space.documents for space in self._spaces], len(texts))
        super().__init__(f"tfidf/{template_name(template)}", pool, weights)

    def _rows(self, texts: Sequence[str]) -> SparseRows:
        split = [split_identifiers(text) for text in texts]
        return _joined([space.rows(split) for space in self._spaces], len(texts))


def _joined(parts: Sequence[SparseRows], rows: int) -> SparseRows:
    """Return unit rows of each space as one row, scaled so that inner products are mean cosines."""
    if not parts:
        return SparseRows.of([], [], [], rows, 1)
    first, *others = parts
    return reduce(SparseRows.beside, others, first) * float(np.sqrt(1 / 2))
