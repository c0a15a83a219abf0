"""What the texts of queries say: names, words of tools, and how alike they are.

Texts are near-duplicates where their sets of three successive words have much in common.
Source: Broder (1997), shingles.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache
from operator import itemgetter
from typing import Any

from seal.core import Tool
from seal.core.english import DAY
from seal.core.package_data import shipped_words
from seal.core.text import words

_QUOTED = re.compile(r"[\"“](.+?)[\"”]")

SIZE = 3
"""Words of a shingle."""
THRESHOLD = Fraction(7, 10)
"""Similarity from which on a text is a near-duplicate."""


def names(text: str) -> set[str]:
    """Return the words of a text that are names, codes or quoted, in lower case.

    Words with a capital that do not begin a sentence, words with digits, and quoted ones.
    """
    return {*_names_of(text), *(word for quoted in _QUOTED.findall(text) for word in words(quoted))}


def _names_of(text: str) -> Iterator[str]:
    beginning = True
    for token in re.findall(r"\S+", DAY.sub(" ", text)):
        core = token.strip("\"'“”‘’().,;:!?")
        if core and (any(c.isdigit() for c in core) or (not beginning and core[0].isupper())):
            for word in words(core.removesuffix("'s").removesuffix("’s")):
                if len(word) > 1 or word.isdigit():
                    yield word
        beginning = token.endswith((".", "!", "?", ":", "—", "-")) or not core


def shingles(text: str) -> frozenset[str]:
    """Return the runs of `SIZE` words of a text; of a shorter one, all its words as one."""
    said = words(text)
    if not said:
        return frozenset([text.strip()])
    runs = max(1, len(said) - SIZE + 1)
    return frozenset(" ".join(said[at : at + SIZE]) for at in range(runs))


def likeness(left: frozenset[str], right: frozenset[str]) -> Fraction:
    """Return the Jaccard similarity of two sets of shingles, in [0, 1]."""
    common = len(left & right)
    return Fraction(common, len(left) + len(right) - common)


class Likenesses:
    """Texts that were kept, searched for near-duplicates.

    Args:
        threshold: In (0, 1].
    """

    def __init__(self, threshold: Fraction = THRESHOLD) -> None:
        self._threshold = threshold
        self._kept: list[tuple[str, frozenset[str]]] = []
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        """Shingle to the positions of the texts that have it."""

    def add(self, own: str, text: str) -> None:
        """Keep a text under an id."""
        made = shingles(text)
        for shingle in made:
            self._places[shingle].append(len(self._kept))
        self._kept.append((own, made))

    def nearest(self, text: str, apart: Collection[str] = ()) -> str | None:
        """Return the id of the kept text most like this one, at least as like as the threshold.

        Args:
            text: If several are equally like it, the first that was kept counts.
            apart: Ids that do not count.
        """
        asked = shingles(text)
        places = sorted({place for one in asked for place in self._places.get(one, ())})
        held = (self._kept[place] for place in places)
        alike = [(likeness(asked, kept), own) for own, kept in held if own not in apart]
        share, nearest = max(alike, key=itemgetter(0), default=(0, None))
        return nearest if share >= self._threshold else None


class Vocabulary:
    """The words of each tool of a pool.

    Args:
        tools: By id.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._of: dict[str, frozenset[str]] = {}

    def serving(self, claim: Iterable[str], offered: Iterable[str], share: float) -> str:
        """Return the first offered tool that speaks of this share of a claim; empty: none does."""
        asked = {stem(word) for word in claim} - _common()
        least = max(1.0, share * len(asked))
        return next((t for t in offered if len(asked & self._words(t)) >= least), "")

    def _words(self, own: str) -> frozenset[str]:
        if own not in self._of:
            tool = self._tools[own]
            texts = [tool.name, tool.description, *_texts(tool.parameters)]
            self._of[own] = frozenset(stem(word) for text in texts for word in words(text))
        return self._of[own]


def content_words(text: str) -> list[str]:
    """Return the stems of a text's words that are no common ones, in order."""
    return [own for own in map(stem, words(text)) if own not in _common()]


def stem(word: str) -> str:
    """Return a word without the ending of a plural."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _texts(schema: Any) -> Iterable[str]:
    """Yield names, descriptions and choices of a schema."""
    if isinstance(schema, dict):
        for name, inner in schema.items():
            if name in ("description", "title") and isinstance(inner, str):
                yield inner
            elif name == "properties" and isinstance(inner, dict):
                yield from map(str, inner)
                yield from _texts(list(inner.values()))
            elif name == "enum" and isinstance(inner, list):
                yield from map(str, inner)
            else:
                yield from _texts(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _texts(inner)


@cache
def _common() -> frozenset[str]:
    return frozenset(map(stem, shipped_words(__package__, "common_words.txt")))
