"""Texts as sparse rows of TF-IDF weights, equal to scikit-learn's.

scikit-learn itself takes longer to import than a small run takes to play. Weights: (1 + ln tf) x
(1 + ln((1 + n) / (1 + df))), rows of length 1. Source: scikit-learn, `TfidfVectorizer` with
`sublinear_tf=True`; a test holds both equal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_matrix

Analyser = Callable[[str], list[str]]
"""A text to its terms, with repetitions."""

_BLANKS = re.compile(r"\s\s+")


@cache
def english_stop_words() -> frozenset[str]:
    """Return words that say nothing of what an English text is about.

    Source: the list of the Glasgow Information Retrieval Group, as scikit-learn has it.
    """
    text = (files("seal.retrievers") / "english_stop_words.txt").read_text(encoding="utf-8")
    return frozenset(text.split())


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

    def rows(self, texts: Sequence[str]) -> csr_matrix:
        """Return texts as rows, float64, (texts, terms), of length 1; 0 without a known term."""
        return self._rows([Counter(self._analyse(text)) for text in texts])

    def _rows(self, counts: Sequence[Counter[str]]) -> csr_matrix:
        column, starts = self._column, [0]
        columns: list[int] = []
        times: list[int] = []
        for each in counts:
            known = {term: n for term, n in each.items() if term in column}
            columns += map(column.__getitem__, known)
            times += known.values()
            starts.append(len(columns))
        places = np.array(columns, dtype=np.int64)
        data = (np.log(np.array(times, dtype=np.float64)) + 1) * self._rarity[places]
        rows = csr_matrix((data, places, starts), shape=(len(counts), len(column)))
        rows.sort_indices()
        lengths = np.sqrt(rows.multiply(rows).sum(axis=1)).A1
        lengths[lengths == 0] = 1
        rows.data /= np.repeat(lengths, np.diff(rows.indptr))
        return rows
