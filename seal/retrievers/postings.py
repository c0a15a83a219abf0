"""Search by words: the terms of texts, and which texts have each."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]
Numbers: TypeAlias = npt.NDArray[np.int32]

Analyser: TypeAlias = Callable[[str], tuple[list[str], list[str]]]
"""Gives the words of a text in order, and what else is to be found of it."""
Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""What is kept on disk, by its name."""

_ENTRIES = 200_000
"""Terms of texts that are counted, or looked at, at once: some 10 MB."""


# -- Texts as chunks.
#
# Blanks part a text into chunks, and no term lies in two of them. The same chunks stand in many
# texts: so each is taken apart once, whatever the number of texts is.


@dataclass(frozen=True, slots=True)
class Lists:
    """Lists of whole numbers, one behind the other."""

    values: Numbers
    starts: Places
    """Where each list begins, and where the last one ends, (lists + 1,)."""

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def lengths(self) -> Places:
        """Of each list."""
        return np.diff(self.starts)

    def rows(self, first: int, last: int) -> tuple[Places, Numbers]:
        """Return the numbers of some lists, and before them the list of each, from 0 on."""
        edges = self.starts[first : last + 1]
        values = self.values[edges[0] : edges[-1]]
        return np.repeat(np.arange(last - first), np.diff(edges)), values

    def opened(self, rows: Places, values: Numbers) -> tuple[Places, Numbers]:
        """Return rows with the numbers of the lists that their values name."""
        lengths = self.lengths[values]
        return np.repeat(rows, lengths), self.values[spans(self.starts[values], lengths)]


def numbering() -> defaultdict[str, int]:
    """Return a map that gives each new text the next number."""
    return defaultdict(count().__next__)


class Chunks:
    """Texts as lists of chunks.

    Args:
        texts: Their order is that of the lists.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        number = numbering()
        values, starts = array("i"), array("q", [0])
        for text in texts:
            values.extend(map(number.__getitem__, text.split()))
            starts.append(len(values))
        self.lists = Lists(np.array(values), np.array(starts))
        """Of each text, the numbers of its chunks in order."""
        self.names = list(number)

    def apart(self, analyse: Analyser, number: Mapping[str, int]) -> tuple[Lists, Lists]:
        """Return for each chunk the numbers of its terms, which `number` gives, of both kinds."""
        parts = (array("i"), array("q", [0])), (array("i"), array("q", [0]))
        for name in self.names:
            for found, (values, starts) in zip(analyse(name), parts, strict=True):
                values.extend(map(number.__getitem__, found))
                starts.append(len(values))
        one, other = (Lists(*map(np.array, part)) for part in parts)
        return one, other

    def batches(self, *parts: Lists) -> Iterator[range]:
        """Yield ranges of texts, each with not too many terms of the chunks' parts."""
        lengths = np.sum([part.lengths for part in parts], axis=0)
        first, step, total = 0, 4096, len(self.lists)
        while first < total:
            last = min(total, first + 2 * step)
            while last - first > 1:
                _, values = self.lists.rows(first, last)
                if len(values) <= _ENTRIES and lengths[values].sum() <= _ENTRIES:
                    break
                last = first + (last - first) // 2
            yield range(first, last)
            first, step = last, last - first


# -- Which texts have a term.


class _Block(NamedTuple):
    """Terms of some texts."""

    terms: Numbers
    """Ascending, those that there are."""
    found: Numbers
    """Texts that have each of them."""
    texts: Numbers
    times: npt.NDArray[np.unsignedinteger]


@dataclass(frozen=True, slots=True)
class Postings:
    """Of each term the texts that have it, and how often."""

    starts: Places
    """Where each term begins, and where the last one ends, (terms + 1,)."""
    texts: Numbers
    """Ascending within a term, in [0, n)."""
    times: npt.NDArray[np.unsignedinteger]
    """How often each of these texts has the term, at least 1."""
    n: int
    """Number of texts."""

    @classmethod
    def of(cls, batches: Iterable[tuple[range, Places, Any]], width: int, n: int) -> Postings:
        """Count terms.

        Args:
            batches: Some texts, and of each of their terms the text, from 0 on, and its number in
                [0, width). Texts ascend from batch to batch.
            width: Number of terms.
            n: Number of texts.
        """
        blocks = [_block(*batch) for batch in batches]
        found: Places = np.zeros(width, dtype=np.int64)
        for block in blocks:
            found[block.terms] += block.found
        starts: Places = np.concatenate([np.zeros(1, np.int64), np.cumsum(found)])
        most = max((int(block.times.max()) for block in blocks if len(block.times)), default=1)
        texts = np.empty(starts[-1], dtype=np.int32)
        times = np.empty(starts[-1], dtype=np.min_scalar_type(most))
        free = starts[:-1].copy()
        while blocks:  # the first that was counted is the first whose memory is given back
            block = blocks.pop(0)
            at = spans(free[block.terms], block.found)
            texts[at], times[at] = block.texts, block.times
            free[block.terms] += block.found
        return cls(starts, texts, times, n)

    @property
    def width(self) -> int:
        """Number of terms."""
        return len(self.starts) - 1

    def pieces(self) -> Iterator[tuple[slice, Places]]:
        """Yield parts of all entries, and the term of each of their entries."""
        first = 0
        while first < self.width:
            last = int(np.searchsorted(self.starts, self.starts[first] + _ENTRIES, "right")) - 1
            last = max(last, first + 1)
            edges = self.starts[first : last + 1]
            terms = np.repeat(np.arange(first, last), np.diff(edges))
            yield slice(int(edges[0]), int(edges[-1])), terms
            first = last

    def sums(self, terms: Places, score: Callable[[slice], Floats], weights: Floats) -> Floats:
        """Return for each text the sum of the scores of some terms, each by its weight, (n,).

        Args:
            terms: Their numbers.
            score: Gives the scores of a term's entries.
            weights: Of the terms.
        """
        total = np.zeros(self.n)
        held: list[tuple[slice, float]] = []
        size = 0
        for term, weight in zip(terms.tolist(), weights.tolist(), strict=True):
            held.append((slice(int(self.starts[term]), int(self.starts[term + 1])), weight))
            size += held[-1][0].stop - held[-1][0].start
            if size > _ENTRIES:
                total += self._sum(held, score)
                held, size = [], 0
        return total + self._sum(held, score) if held else total

    def _sum(self, held: Sequence[tuple[slice, float]], score: Callable[[slice], Floats]) -> Floats:
        texts = np.concatenate([self.texts[span] for span, _ in held])
        numbers = np.concatenate([score(span) * weight for span, weight in held])
        return np.bincount(texts, numbers, self.n).astype(np.float64, copy=False)


def _block(texts: range, rows: Places, terms: Any) -> _Block:
    """Return how often each of some texts has each term."""
    size = len(texts)
    small = len(terms) == 0 or (int(terms.max()) + 1) * size < 2**31
    place: npt.NDArray[Any] = np.asarray(terms, dtype=np.int32 if small else np.int64) * size
    place += rows.astype(place.dtype)
    place.sort()
    edges = np.flatnonzero(np.diff(place, prepend=-1))
    times = np.diff(edges, append=len(place))
    found, row = np.divmod(place[edges], size)
    heads = np.flatnonzero(np.diff(found, prepend=-1))
    return _Block(
        found[heads].astype(np.int32),
        np.diff(heads, append=len(found)).astype(np.int32),
        (row + texts.start).astype(np.int32),
        times.astype(np.min_scalar_type(int(times.max(initial=1)))),
    )


def spans(starts: Places, lengths: Any) -> Places:
    """Return the places of spans, one span behind the other."""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(np.sum(lengths)))
