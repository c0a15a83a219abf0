"""ROUGE-L: how much of two texts is a common subsequence of stems.

Source: Lin, ROUGE: a package for automatic evaluation of summaries (2004), section 3, with the
tokens of Google's `rouge_score`: runs of a-z and 0-9 in lower case, those of more than three
characters stemmed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from seal.core.conditions.stems import stem

_TOKEN = re.compile(r"[a-z0-9]+")
_STEMMED_FROM = 4
"""Characters of the shortest token that is stemmed."""


def rouge_l(target: str, text: str) -> float:
    """Return the F-measure of the longest common subsequence, in [0, 1].

    Args:
        target: What should be said.
        text: What was said. Where either text has no token, as in Chinese ones, 0.
    """
    return overlap(tokens(target), tokens(text))


def overlap(wanted: Sequence[str], said: Sequence[str]) -> float:
    """Return the F-measure of the longest common subsequence of tokens, in [0, 1]; none: 0."""
    common = _common(wanted, said)
    if not common:
        return 0.0
    recall, precision = common / len(wanted), common / len(said)
    return 2 * precision * recall / (precision + recall)


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[str, ...]:
    """Return the stems of a text in order."""
    found = _TOKEN.findall(text.lower())
    return tuple(stem(token) if len(token) >= _STEMMED_FROM else token for token in found)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    The columns of the usual table are bits of one number, in which 0 says that the length grows.
    Source: Hyyrö, Bit-parallel LCS-length computation revisited (2004), equation 6.
    """
    places: dict[str, int] = {}
    for place, token in enumerate(left):
        places[token] = places.get(token, 0) | 1 << place
    whole = (1 << len(left)) - 1
    column = whole
    for token in right:
        here = column & places.get(token, 0)
        column = (column + here | column - here) & whole
    return len(left) - column.bit_count()
