"""BLEU of a reply, as DialogTool publishes it, and the counts of which that of a corpus is made.

Source: Papineni et al., BLEU (2002); smoothing method 7 of NLTK, which is 4 and then 5 of Chen and
Cherry, A systematic comparison of smoothing techniques for sentence-level BLEU (2014).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

from seal.core.errors import MissingExtraError

ORDER = 4
"""Longest n-grams."""
_K = 5
"""NLTK's constant of method 4."""


def sentence_bleu(wanted: Sequence[str], said: Sequence[str]) -> float:
    """Return 4-gram BLEU with method 7, at least 0.

    Method 5 adds 1 to the first share, so that a verbatim reply has more than 1: 1.12 where it has
    five tokens or more.

    Args:
        wanted: Tokens of the reference.
        said: Tokens to score; none, or none of the reference's: 0.
    """
    found = matches(wanted, said, ORDER + 1)
    if not found or not found[0]:
        return 0.0
    length = len(said)
    shares = [n / max(1, length - order) for order, n in enumerate(found)]
    halvings = 1
    for order, count in enumerate(found[:ORDER]):
        if not count and length > 1:
            shares[order] = log(length) / (2**halvings * _K) / max(1, length - order)
            halvings += 1
    before = shares[0] + 1
    total = 0.0
    for share, after in pairwise(shares):
        before = (before + share + after) / 3
        total += log(before) / ORDER
    brevity = 1.0 if length > len(wanted) else exp(1 - len(wanted) / length)
    return brevity * exp(total)


def matches(wanted: Sequence[str], said: Sequence[str], order: int = ORDER) -> list[int]:
    """Return for n = 1 to `order` how many n-grams occur in both, each as often as in both."""
    found = []
    for n in range(1, order + 1):
        left, right = (
            list(zip(*(text[i:] for i in range(n)), strict=False)) for text in (wanted, said)
        )
        kinds, others = set(left), set(right)
        common = kinds & others
        count = len(common)
        if len(kinds) < len(left) and len(others) < len(right):
            count = (Counter(left) & Counter(right)).total()
        found.append(count)
        if not count:
            return found + [0] * (order - n)
    return found


@dataclass(frozen=True, slots=True)
class Counts:
    """What BLEU is computed from, of a reply or of many."""

    matched: tuple[int, ...]
    """N-grams in both, for n = 1 to 4."""
    said: int
    """Tokens."""
    wanted: int
    total: tuple[int, ...]
    """N-grams said."""

    @classmethod
    def of(cls, wanted: Sequence[str], said: Sequence[str]) -> Counts:
        """Return the counts of one reply."""
        total = tuple(max(0, len(said) - n) for n in range(ORDER))
        return cls(tuple(matches(wanted, said)), len(said), len(wanted), total)


def corpus_bleu(counts: Iterable[Counts]) -> float | None:
    """Return the corpus's BLEU as sacrebleu computes it, in [0, 100]; None: there is nothing.

    Raises:
        MissingExtraError: sacrebleu is not installed.
    """
    try:
        from sacrebleu.metrics.bleu import BLEU
    except ImportError as error:
        raise MissingExtraError("sacrebleu", "dialogue") from error
    matched, total = [0] * ORDER, [0] * ORDER
    said = wanted = 0
    for one in counts:
        matched = [a + b for a, b in zip(matched, one.matched, strict=True)]
        total = [a + b for a, b in zip(total, one.total, strict=True)]
        said += one.said
        wanted += one.wanted
    if not wanted:
        return None
    return float(BLEU.compute_bleu(matched, total, said, wanted, smooth_method="exp").score)
