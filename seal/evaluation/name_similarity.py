"""API similarity: how much the names of the tools of one environment resemble each other.

J_avg is the mean Jaccard index over all pairs of names, each taken as its set of words; two names
without a word have the index 0. Names that stand twice are two names. Two variants, since the text
of the source and its example disagree (its rule gives its five patent names 0.000, its example
keeps `patent` and `title`):

- `strict`: words that all names share are left out, as the text says.
- `stopwords`: function words and verbs of asking are left out instead, as the example does.

Source: "ToolScan" (Kokane et al., 2024), the ablation on API complexity.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import combinations

_LEFT_OUT = """
a all an and at between by fetch find for from get in list lookup of on or search show the to with
"""
STOPWORDS = frozenset(_LEFT_OUT.split())
"""Words of names that do not say what a tool is about."""

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class NameSimilarity:
    """J_avg of one environment's names, in [0, 1]; None: there are fewer than two names."""

    strict: float | None
    stopwords: float | None


def name_similarity(names: Sequence[str]) -> NameSimilarity:
    """Return both variants of J_avg.

    Args:
        names: Of all tools of one environment, pseudo actions such as `finish` included, as the
            agent is given them too.
    """
    words = [words_of_name(name) for name in names]
    shared = frozenset.intersection(*words) if words else frozenset()
    return NameSimilarity(
        _mean_jaccard([own - shared for own in words]),
        _mean_jaccard([own - STOPWORDS for own in words]),
    )


def words_of_name(name: str) -> frozenset[str]:
    """Return the words of a name in lower case, which anything but letters and digits parts."""
    return frozenset(_WORD.findall(name.casefold()))


def jaccard(left: Set[str], right: Set[str]) -> float:
    """Return the share of words of both among words of either, in [0, 1]; both empty: 0.0."""
    either = len(left | right)
    return len(left & right) / either if either else 0.0


def _mean_jaccard(words: Sequence[frozenset[str]]) -> float | None:
    """Return the mean over all pairs; equal sets of words, as `finish` has, are compared once."""
    counts = Counter(words)
    pairs = len(words) * (len(words) - 1) // 2
    if not pairs:
        return None
    same = (count * (count - 1) // 2 * jaccard(own, own) for own, count in counts.items())
    others = (
        counts[left] * counts[right] * jaccard(left, right)
        for left, right in combinations(counts, 2)
    )
    return (sum(same) + sum(others)) / pairs
