"""Words of natural language and of identifiers."""

from __future__ import annotations

import re

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")


def split_identifiers(text: str) -> str:
    """Return the text with camelCase and snake_case identifiers split into words."""
    return _CAMEL.sub(" ", text).replace("_", " ")


def words(text: str) -> list[str]:
    """Return the lower-cased words of a text, identifiers split, in order."""
    return [word.lower() for word in _WORD.findall(split_identifiers(text))]


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, without empty ones."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]
