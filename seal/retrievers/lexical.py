"""TF-IDF and BM25 by inverted indexes."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import Stemmer

from seal.core import Pool, Query
from seal.core.text import composed, shipped_words, split_identifiers, terms
from seal.retrievers.base import (
    DECIMALS,
    DEFAULT,
    Documents,
    Hits,
    check_k,
    number_option,
    template_name,
)
from seal.retrievers.kept import kept_arrays
from seal.retrievers.postings import (
    Analyser,
    Arrays,
    Chunks,
    Floats,
    Places,
    Postings,
    numbering,
    spans,
)

# -- Retrieval by words: exact search in an inverted index.
#
# An index needs no model. Its terms are counted as whole numbers, from which scores are computed in
# float64 when a query comes: that takes 5 bytes for each term of a text. Of a large pool it is kept
# on disk, and opened by whoever has the same pool and settings.

_ONE = 10.0**-DECIMALS


class LexicalRetriever:
    """Retrieves by the terms that a query shares with the tools, exactly.

    The answer to a query depends on nothing but the pool and its text; safe in threads. It is a
    vector space too (`seal.retrievers.dense`).

    Args:
        identity: Names all that shapes the scores besides the tools.
        ids: Of the n tools, ascending.
    """

    lexical: ClassVar[bool] = True
    """A score of 0 says that query and tool share no term."""

    def __init__(self, identity: str, ids: Sequence[str]) -> None:
        self.identity = identity
        self._ids = ids

    @classmethod
    def space(cls, pool: Pool) -> Self:
        """Return the tools of a pool as vectors."""
        return cls(pool)  # type: ignore[call-arg,arg-type]

    def documents(self) -> SparseRows:
        """Return the vectors of the tools, float64, (n, terms)."""
        raise NotImplementedError

    def queries(self, texts: Sequence[str]) -> SparseRows:
        """Return the vectors of texts, float64, (q, terms)."""
        raise NotImplementedError

    def cosines(self, text: str) -> Floats:
        """Return the products of a text's vector with those of all tools, (n,)."""
        raise NotImplementedError

    def _scores(self, text: str) -> Floats:
        """Return the score of each tool, (n,)."""
        raise NotImplementedError

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest scores, equal ones by id.

        Raises:
            UsageError: k is less than 1.
        """
        check_k(k)
        return [best(self._scores(query.text), self._ids, k) for query in queries]


def best(scores: Floats, ids: Sequence[str], k: int) -> Hits:
    """Return the hits of the k highest scores, rounded to 6 decimals, equal ones by id.

    Args:
        scores: (n,).
        ids: n tool ids, ascending.
        k: At least 1; more than n gives all.
    """
    positions = highest(scores, k, _ONE)
    return ranked(positions, scores[positions], ids, k)


def ranked(positions: Places, scores: Floats, ids: Sequence[str], k: int) -> Hits:
    """Return the k best of some positions, ascending, with their scores, as `best` does."""
    values = np.round(scores, DECIMALS) + 0.0  # no negative zero in a record
    order = np.argsort(-values, kind="stable")[:k]
    pairs = zip(positions[order].tolist(), values[order].tolist(), strict=True)
    return [(ids[position], value) for position, value in pairs]


def highest(scores: npt.NDArray[np.floating[Any]], k: int, below: float) -> Places:
    """Return the places, ascending, of the k highest scores and of those at most so far below."""
    if k >= len(scores):
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.partition(scores, -k)[-k] - below)


_BLANKS = re.compile(r"\s\s+")


def english_stop_words() -> frozenset[str]:
    """Return words that say nothing of what an English text is about.

    Source: the list of the Glasgow Information Retrieval Group, as scikit-learn has it.
    """
    return shipped_words("seal.retrievers", "english_stop_words.txt")


def words(text: str) -> tuple[list[str], list[str]]:
    """Return the words of a text without English stop words, in order, and identifiers whole."""
    left_out, found = english_stop_words(), terms(text)
    return [word for word in found.single if word not in left_out], found.wholes


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


class Terms:
    """Which of n texts have a term, and which terms a text has.

    Args:
        analyse: Gives the words of a text in order, and what else is to be found of it.
        arrays: As `counted` gives them.
        n: Number of texts.
    """

    def __init__(self, analyse: Analyser, arrays: Arrays, n: int) -> None:
        self._analyse = analyse
        names = bytes(arrays["names"]).decode("utf-8", "surrogatepass")
        self._number = {name: number for number, name in enumerate(names.split("\n"))}
        self._pairs = arrays["pairs"]
        self.postings = Postings(arrays["starts"], arrays["texts"], arrays["times"], n)

    @staticmethod
    def counted(analyse: Analyser, chunks: Chunks, with_pairs: bool) -> dict[str, Any]:
        """Return the arrays of the terms of texts.

        Args:
            analyse: As above.
            chunks: Of the texts.
            with_pairs: Whether two words that follow each other are a term too.
        """
        number = numbering()
        ordered, others = chunks.apart(analyse, number)
        width = len(number)
        pairs = np.empty(0, dtype=np.int64)

        def neighbours(rows: Places, values: Any) -> tuple[Places, Places]:
            touch = np.flatnonzero(rows[1:] == rows[:-1])
            return rows[touch], values[touch].astype(np.int64) * width + values[touch + 1]

        def batches() -> Any:
            for texts in chunks.batches(ordered, others):
                rows, values = chunks.lists.rows(texts.start, texts.stop)
                yield texts, ordered.opened(rows, values), others.opened(rows, values)

        if with_pairs:
            kinds = [np.unique(neighbours(*found)[1]) for _, found, _ in batches()]
            pairs = np.unique(np.concatenate([pairs, *kinds]))

        def entries() -> Any:
            for texts, found, more in batches():
                parts = [found, more]
                if with_pairs:
                    rows, keys = neighbours(*found)
                    parts.append((rows, width + np.searchsorted(pairs, keys)))
                rows, values = (np.concatenate(each) for each in zip(*parts, strict=True))
                yield texts, rows, values

        postings = Postings.of(entries(), width + len(pairs), len(chunks.lists))
        names = "\n".join(number).encode("utf-8", "surrogatepass")
        return {
            "names": np.frombuffer(names, dtype=np.uint8),
            "pairs": pairs,
            "starts": postings.starts,
            "texts": postings.texts,
            "times": postings.times,
        }

    def of(self, text: str) -> tuple[Places, Floats]:
        """Return the known terms of a text, ascending, and how often it has each."""
        ordered, others = self._analyse(text)
        numbers = [self._number.get(word, -1) for word in ordered]
        found = np.array([*numbers, *(self._number.get(word, -1) for word in others)], np.int64)
        found = found[found >= 0]
        if len(self._pairs):
            width = self.postings.width - len(self._pairs)
            keys = [a * width + b for a, b in pairwise(numbers) if a >= 0 and b >= 0]
            at = np.searchsorted(self._pairs, keys)
            known = self._pairs[np.minimum(at, len(self._pairs) - 1)] == keys
            found = np.concatenate([found, width + at[known]])
        places, times = np.unique(found, return_counts=True)
        return places, times.astype(np.float64)

    def having(self) -> Floats:
        """Return how many texts have each term, (terms,)."""
        return np.diff(self.postings.starts).astype(np.float64)

    def rows(self, scores: Callable[[slice, Places], Floats]) -> SparseRows:
        """Return the texts as rows of what each of their terms scores, (n, terms)."""
        found = [(span, terms, scores(span, terms)) for span, terms in self.postings.pieces()]
        texts, columns, data = (
            np.concatenate([[], *each])
            for each in (
                [self.postings.texts[span] for span, _, _ in found],
                [terms for _, terms, _ in found],
                [numbers for _, _, numbers in found],
            )
        )
        return SparseRows.of(texts, columns, data, self.postings.n, max(1, self.postings.width))

    def lengths(self, scores: Callable[[slice, Places], Floats]) -> Floats:
        """Return the length of each text's row, (n,); 1 for a row of zeros."""
        squares = np.zeros(self.postings.n)
        for span, places in self.postings.pieces():
            numbers = scores(span, places)
            squares += np.bincount(self.postings.texts[span], numbers**2, self.postings.n)
        squares[squares == 0] = 1
        return np.sqrt(squares)


class TermWeights:
    """The terms of some texts and their weights.

    The weights equal scikit-learn's: (1 + ln tf) x (1 + ln((1 + n) / (1 + df))), rows of length 1.
    Source: scikit-learn, `TfidfVectorizer` with `sublinear_tf=True`; a test holds both equal.

    Args:
        terms: Of the texts.
    """

    def __init__(self, terms: Terms, lengths: Floats | None = None) -> None:
        self.terms = terms
        postings = terms.postings
        self._rarity = np.log((1 + postings.n) / (1 + terms.having())) + 1
        most = int(postings.times.max(initial=1))
        self._grown = np.concatenate([[0.0], np.log(np.arange(1, most + 1)) + 1])
        self.lengths: Floats = terms.lengths(self._weights) if lengths is None else lengths
        """Of each text's row, (n,)."""

    def _weights(self, span: slice, terms: Places) -> Floats:
        weights: Floats = self._grown[self.terms.postings.times[span]] * self._rarity[terms]
        return weights

    def documents(self) -> SparseRows:
        """Return the texts themselves, float64, (texts, terms), rows of length 1 or 0."""
        texts = self.terms.postings.texts
        return self.terms.rows(
            lambda span, terms: self._weights(span, terms) / self.lengths[texts[span]]
        )

    def row(self, text: str) -> tuple[Places, Floats]:
        """Return the known terms of a text and their weights, of length 1 together."""
        places, times = self.terms.of(text)
        weights = (np.log(times) + 1) * self._rarity[places]
        return places, weights / (np.sqrt(np.sum(weights**2)) or 1.0)

    def cosines(self, text: str) -> Floats:
        """Return the cosine of a text with each text, (texts,)."""
        places, weights = self.row(text)
        postings = self.terms.postings
        products = postings.sums(
            places, lambda span: self._grown[postings.times[span]], weights * self._rarity[places]
        )
        return products / self.lengths


class Tfidf(LexicalRetriever):
    """Retrieves by TF-IDF of words (1-2 grams) and of pieces of words (3-5 characters).

    Words and pieces of words are two spaces of their own; a score is the mean of the two cosines,
    in [0, 1]. Identifiers are split, English stop words left out, term frequencies sublinear.

    Args:
        pool: Option `template` names the document template.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"template"})

    def __init__(self, pool: Pool) -> None:
        template = pool.options.get("template") or DEFAULT
        documents = Documents(pool.tools, template)

        def build() -> Arrays:
            chunks = Chunks(documents.texts)
            return {
                f"{kind}.{name}": array
                for kind, analyse in _ANALYSERS.items()
                for name, array in _weighed(analyse, chunks, kind == "words").items()
            }

        arrays = kept_arrays(pool.cache_dir, _identity("tfidf"), documents, build)
        self._spaces = []
        for kind, analyse in _ANALYSERS.items():
            own = {name.partition(".")[2]: a for name, a in arrays.items() if name.startswith(kind)}
            terms = Terms(analyse, own, len(documents.ids))
            self._spaces.append(TermWeights(terms, own["lengths"]))
        super().__init__(f"tfidf/{template_name(template)}", documents.ids)

    def documents(self) -> SparseRows:
        """Return the vectors of the tools, float64, (n, terms)."""
        one, other = (space.documents() for space in self._spaces)
        return one.beside(other) * float(np.sqrt(1 / 2))

    def queries(self, texts: Sequence[str]) -> SparseRows:
        """Return the vectors of texts, float64, (q, terms)."""
        one, other = (
            SparseRows.of_each(map(space.row, texts), max(1, space.terms.postings.width))
            for space in self._spaces
        )
        return one.beside(other) * float(np.sqrt(1 / 2))

    def cosines(self, text: str) -> Floats:
        """Return the mean of both cosines of a text with each tool, (n,)."""
        one, other = (space.cosines(text) for space in self._spaces)
        return (one + other) / 2

    _scores = cosines


_ANALYSERS: Mapping[str, Analyser] = {
    "words": words,
    "pieces": lambda text: ([], pieces(text)),
}


def _weighed(analyse: Analyser, chunks: Chunks, with_pairs: bool) -> dict[str, Any]:
    """Return the arrays of a space, and the lengths of its rows."""
    arrays = Terms.counted(analyse, chunks, with_pairs)
    space = TermWeights(Terms(analyse, arrays, len(chunks.lists)))
    return {**arrays, "lengths": space.lengths}


def _identity(kind: str) -> list[str]:
    """Return what shapes the terms of texts, besides the texts."""
    return [kind, unicodedata.unidata_version, Stemmer.version()]


# -- BM25: words that are rare in the pool count most, long documents little.
#
# Source: Robertson and Zaragoza (2009), The Probabilistic Relevance Framework: BM25 and Beyond; in
# the form of Lucene: idf = ln(1 + (n - df + 0.5) / (df + 0.5)), and a word that a text of length l
# has tf times adds idf x tf / (tf + k1 (1 - b + b l / mean l)). A test holds it equal to bm25s.


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
        documents = Documents(pool.tools, template)
        ids = documents.ids
        arrays = kept_arrays(
            pool.cache_dir,
            _identity("bm25"),
            documents,
            lambda: Terms.counted(self._words, Chunks(documents.texts), with_pairs=False),
        )
        self._terms = Terms(self._words, arrays, len(ids))
        having = self._terms.having()
        self._rarity = np.log(1 + (len(ids) - having + 0.5) / (having + 0.5))
        lengths = np.zeros(len(ids))
        postings = self._terms.postings
        for span, _ in postings.pieces():
            lengths += np.bincount(postings.texts[span], postings.times[span], len(ids))
        self._held = k1 * (1 - b + b * lengths / (lengths.mean() or 1.0))
        """What tf is held against, of each tool, (n,)."""
        super().__init__(f"bm25/k1={k1:g}/b={b:g}/{template_name(template)}", ids)

    def documents(self) -> SparseRows:
        """Return the weights of the tools as rows of length 1, float64, (n, words)."""
        return self._terms.rows(self._weights).unit()

    def queries(self, texts: Sequence[str]) -> SparseRows:
        """Return the counts of texts as rows of length 1, float64, (q, words)."""
        width = max(1, self._terms.postings.width)
        return SparseRows.of_each(map(self._terms.of, texts), width).unit()

    def cosines(self, text: str) -> Floats:
        """Return the cosine of a text's counts with the weights of each tool, (n,)."""
        _, times = self._terms.of(text)
        length = np.sqrt(np.sum(times**2)) or 1.0
        return self._scores(text) / (length * self._terms.lengths(self._weights))

    def _scores(self, text: str) -> Floats:
        places, times = self._terms.of(text)
        return self._terms.postings.sums(places, self._grown, times * self._rarity[places])

    def _grown(self, span: slice) -> Floats:
        """Return what entries count beside the rarity of their words."""
        times = self._terms.postings.times[span].astype(np.float64)
        return times / (times + self._held[self._terms.postings.texts[span]])

    def _weights(self, span: slice, terms: Places) -> Floats:
        return self._grown(span) * self._rarity[terms]

    def _words(self, text: str) -> tuple[list[str], list[str]]:
        left_out, found = english_stop_words(), terms(text)
        kept = [word for word in found.words if word not in left_out]
        stems: list[str] = self._stem([*kept, *found.wholes])
        return [], stems


# -- Rows of numbers of which most are 0, and their products.
#
# What indexes of vectors that are not exact ask of sparse matrices is little, and is here in numpy.
# Sums run in the order of the columns, so that equal rows have equal products to the last bit.

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

    @classmethod
    def of_each(cls, rows: Iterable[tuple[Places, Floats]], width: int) -> SparseRows:
        """Return rows of which each has its columns, ascending, and its numbers."""
        listed = list(rows)
        starts = np.cumsum([0, *(len(columns) for columns, _ in listed)])
        columns, data = (np.concatenate([[], *each]) for each in zip(*listed, strict=True))
        return cls(data, columns.astype(np.int64), starts, width)

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
        entries = spans(self.starts[asked], lengths)
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
