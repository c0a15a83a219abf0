"""Near-duplicates: texts whose sets of three successive words have much in common.

The search is exact: two sets whose Jaccard similarity is at least t share an element among the
first n - ceil(t n) + 1 of each, in any order that is the same for both; here that of a hash.

Source: Broder (1997), shingles; Bayardo et al. (2007), the prefix filter.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection
from fractions import Fraction
from hashlib import blake2b

from seal.core.text import words

SIZE = 3
"""Words of a shingle."""
THRESHOLD = Fraction(7, 10)
"""Similarity from which on a text is a near-duplicate."""


def shingles(text: str) -> frozenset[str]:
    """Return the runs of `SIZE` words of a text; of a shorter one, all its words as one."""
    said = words(text)
    if not said:
        return frozenset([text.strip()])
    runs = max(1, len(said) - SIZE + 1)
    return frozenset(" ".join(said[at : at + SIZE]) for at in range(runs))


def likeness(left: str, right: str) -> float:
    """Return the Jaccard similarity of the shingles of two texts, in [0, 1]."""
    return float(_jaccard(shingles(left), shingles(right)))


class Likenesses:
    """Texts that were kept, searched for near-duplicates.

    Args:
        threshold: In (0, 1].
    """

    def __init__(self, threshold: Fraction = THRESHOLD) -> None:
        self._threshold = threshold
        self._sets: dict[str, frozenset[str]] = {}
        self._order: dict[str, int] = {}
        self._places: defaultdict[str, list[str]] = defaultdict(list)

    def add(self, own: str, text: str) -> None:
        """Keep a text under an id."""
        self._sets[own] = shingles(text)
        self._order[own] = len(self._order)
        for shingle in self._prefix(self._sets[own]):
            self._places[shingle].append(own)

    def nearest(self, text: str, apart: Collection[str] = ()) -> str | None:
        """Return the id of the kept text most like this one, at least as like as the threshold.

        Args:
            text: Of equal ones the first that was kept is told.
            apart: Ids that do not count.
        """
        asked = shingles(text)
        found = {own for one in self._prefix(asked) for own in self._places.get(one, ())}
        alike = {own: _jaccard(asked, self._sets[own]) for own in found.difference(apart)}
        near = [own for own, share in alike.items() if share >= self._threshold]
        return min(near, key=lambda own: (-alike[own], self._order[own]), default=None)

    def _prefix(self, own: frozenset[str]) -> list[str]:
        size = len(own) - math.ceil(self._threshold * len(own)) + 1
        return sorted(own, key=_rank)[:size]


def _rank(shingle: str) -> bytes:
    return blake2b(shingle.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _jaccard(left: frozenset[str], right: frozenset[str]) -> Fraction:
    common = len(left & right)
    return Fraction(common, len(left) + len(right) - common)
