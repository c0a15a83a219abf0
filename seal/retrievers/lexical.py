"""TF-IDF and BM25 over sparse rows."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import Stemmer

from seal.core import Pool, Query
from seal.core.text import composed, shipped_words, split_identifiers, terms
from seal.retrievers.base import (
    DECIMALS,
    DEFAULT,
    Hits,
    check_k,
    documents,
    in_order,
    number_option,
    template_name,
)

# -- Retrieval by words: exact search among sparse vectors, and TF-IDF.
#
# TF-IDF needs no model. Words and pieces of words are two spaces of their own; a score is the mean
# of the two cosines. Fitting takes less than a second for some thousand tools, so nothing is kept
# on disk. The weights equal scikit-learn's, which takes longer to import than a small run takes to
# play: (1 + ln tf) x (1 + ln((1 + n) / (1 + df))), rows of length 1. Source: scikit-learn,
# `TfidfVectorizer` with `sublinear_tf=True`; a test holds both equal.

_CELLS = 4_000_000
"""Scores that are held at once: 32 MB."""


class LexicalRetriever:
    """Retrieves by the inner products of sparse vectors of words, exactly.

    The answer to a query depends on nothing but the pool and its text; safe in threads. It is a
    vector space too (`seal.retrievers.dense`).

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


def words(text: str) -> list[str]:
    """Return the terms of a text without English stop words, and pairs of neighbours."""
    left_out, found = english_stop_words(), terms(text)
    kept = [word for word in found.single if word not in left_out]
    pairs = [f"{one} {next_one}" for one, next_one in pairwise(kept)]
    return [*kept, *pairs, *found.wholes]


def pieces(text: str) -> list[str]:
    """Return the pieces of 3 to 5 characters of each word, which has a blank on both sides.

    A word that is shorter than a piece counts once, whole.
    """
    found: list[str] = []
    split = split_identifiers(composed(text))
    for word in _BLANKS.sub(" ", split.lower()).split():
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
        texts = documents(in_order(pool.tools), template)
        spaces = (TermWeights(analyse, texts) for analyse in (words, pieces))
        self._spaces = [space for space in spaces if space]
        weights = _joined([space.documents for space in self._spaces], len(texts))
        super().__init__(f"tfidf/{template_name(template)}", pool, weights)

    def _rows(self, texts: Sequence[str]) -> SparseRows:
        return _joined([space.rows(texts) for space in self._spaces], len(texts))


def _joined(parts: Sequence[SparseRows], rows: int) -> SparseRows:
    """Return unit rows of each space as one row, scaled so that inner products are mean cosines."""
    if not parts:
        return SparseRows.of([], [], [], rows, 1)
    first, *others = parts
    return reduce(SparseRows.beside, others, first) * float(np.sqrt(1 / 2))


# -- BM25: words that are rare in the pool count most, long documents little.
#
# Source: Robertson and Zaragoza (2009), The Probabilistic Relevance Framework: BM25 and Beyond; in
# the form of Lucene, which bm25s computes when it indexes.


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
        found = terms(text)
        kept = [word for word in found.words if word not in self._left_out]
        stems: list[str] = self._stem([*kept, *found.wholes])
        return stems


def _weights(
    words: Sequence[Sequence[str]], columns: Mapping[str, int], k1: float, b: float
) -> SparseRows:
    if not columns:  # bm25s indexes no empty vocabulary
        return SparseRows.of([], [], [], len(words), 1)
    with warnings.catch_warnings():  # tqdm, which it imports, warns in notebooks without widgets
        warnings.simplefilter("ignore")
        import bm25s  # a quarter of a second, of which the plain hybrid has no need
    ids = [[columns[word] for word in part] for part in words]
    model = bm25s.BM25(k1=k1, b=b, method="lucene", dtype="float64")
    model.index((ids, dict(columns)), create_empty_token=False, show_progress=False)
    data, tools, starts = (model.scores[name] for name in ("data", "indices", "indptr"))
    of_words = np.repeat(np.arange(len(columns)), np.diff(starts))
    return SparseRows.of(tools, of_words, data, len(words), len(columns))


# -- Rows of numbers of which most are 0, and their products.
#
# What retrieval by words asks of sparse matrices is little, and is here in numpy. Sums run in the
# order of the columns, so that equal rows have equal products to the last bit.

Floats: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]
Floats32: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SparseRows:
    """Compressed rows, float64, (n, width)."""

    data: Floats
    """The numbers that are not 0, row by row."""
    columns: Places
    """Of each number; ascending in a row."""
    starts: Places
    """Where each row begins in `data`, and where the last one ends, (n + 1,)."""
    width: int

    @classmethod
    def of(
        cls, rows: npt.ArrayLike, columns: npt.ArrayLike, data: npt.ArrayLike, n: int, width: int
    ) -> SparseRows:
        """Return n rows that hold numbers at places; those of one place are summed.

        Args:
            rows: Of each number, in [0, n).
            columns: Of each number, in [0, width).
            data: The numbers.
            n: Number of rows.
            width: Number of columns.
        """
        place = np.asarray(rows, dtype=np.int64) * width + np.asarray(columns, dtype=np.int64)
        numbers = np.asarray(data, dtype=np.float64)
        if (np.diff(place) <= 0).any():
            place, index = np.unique(place, return_inverse=True)
            numbers = _sums(index, numbers, len(place))
        starts = np.searchsorted(place, np.arange(n + 1) * width)
        return cls(numbers, place % width, starts, width)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        return len(self), self.width

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, rows: slice | npt.NDArray[np.intp]) -> SparseRows:
        """Return some of the rows, in the order asked."""
        asked = np.arange(len(self))[rows]
        lengths = np.diff(self.starts)[asked]
        entries = _spans(self.starts[asked], lengths)
        starts = np.concatenate([[0], np.cumsum(lengths)])
        return SparseRows(self.data[entries], self.columns[entries], starts, self.width)

    def __mul__(self, factor: float) -> SparseRows:
        return replace(self, data=self.data * factor)

    def __matmul__(self, other: SparseRows) -> Floats:
        """Return the products with the columns of another, (n, other.width)."""
        found = np.zeros((len(self), other.width))
        for row, (start, end) in enumerate(pairwise(self.starts.tolist())):
            columns = self.columns[start:end]
            first, last = other.starts[columns], other.starts[columns + 1]
            spans = [slice(*span) for span in zip(first.tolist(), last.tolist(), strict=True)]
            if spans:  # slices that are joined cost half of what one index of all numbers does
                numbers = np.concatenate([other.data[span] for span in spans])
                numbers *= np.repeat(self.data[start:end], last - first)
                places = np.concatenate([other.columns[span] for span in spans])
                found[row] = _sums(places, numbers, other.width)
        return found

    def dot(self, vector: Floats) -> Floats:
        """Return the product of each row with a vector, (n,)."""
        return _sums(self.rows(), self.data * vector[self.columns], len(self))

    def rows(self) -> Places:
        """Return the row of each number."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def transposed(self) -> SparseRows:
        """Return the columns as rows, (width, n)."""
        order = np.argsort(self.columns, kind="stable")
        ends = np.cumsum(np.bincount(self.columns, minlength=self.width))
        starts = np.concatenate([[0], ends])
        return SparseRows(self.data[order], self.rows()[order], starts, len(self))

    def unit(self) -> SparseRows:
        """Return the rows with length 1; a row of zeros stays one."""
        lengths = np.sqrt(_sums(self.rows(), self.data**2, len(self)))
        lengths[lengths == 0] = 1
        return replace(self, data=self.data / lengths[self.rows()])

    def beside(self, other: SparseRows) -> SparseRows:
        """Return the rows with those of another to their right, (n, both widths)."""
        return SparseRows.of(
            np.concatenate([self.rows(), other.rows()]),
            np.concatenate([self.columns, other.columns + self.width]),
            np.concatenate([self.data, other.data]),
            len(self),
            self.width + other.width,
        )

    def toarray(self) -> Floats:
        """Return all numbers, (n, width)."""
        dense = np.zeros(self.shape)
        dense[self.rows(), self.columns] = self.data
        return dense


def _sums(places: Places, numbers: Floats, n: int) -> Floats:
    """Return what the numbers of each place in [0, n) sum up to, in their order."""
    sums: Floats = np.bincount(places, numbers, n).astype(np.float64, copy=False)
    return sums


def _spans(starts: Places, lengths: Places) -> Places:
    """Return the places of spans, one span behind the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(lengths.sum())
