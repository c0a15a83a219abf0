"""What tools speak of: the words of their names, descriptions and arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from seal.core.text import words
from seal.core.types import Tool


class Vocabulary:
    """The words of each tool of a pool.

    Args:
        tools: By id.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._of: dict[str, frozenset[str]] = {}

    def heard(self, about: Iterable[str], offered: Iterable[str]) -> str:
        """Return the first offered tool that speaks of one of these words; empty: none does."""
        asked = {stem(word) for text in about for word in words(text)}
        return next((tool for tool in offered if asked & self._words(tool)), "")

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
    text = (files(__package__) / "common_words.txt").read_text(encoding="utf-8")
    return frozenset(map(stem, text.split()))
