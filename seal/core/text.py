"""Words of natural language and of identifiers."""

from __future__ import annotations

import re

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD = re.compile(r"[^\W_]+", re.UNICODE)
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?\d+[.):])\s*")
_CLAUSE = re.compile(
    r"(?:,?\s+(?:and then|and also|then|also|additionally|furthermore|moreover|plus|as well as)\s+"
    r"|;\s+|,\s+and\s+|\s+and\s+(?=(?:find|get|give|show|tell|list|search|fetch|provide|check|book"
    r"|look|suggest|recommend|convert|calculate|send|set|add|create|play|order|please|can|could"
    r"|i'd|i would|what|which|how|who|when|where)\b))",
    re.IGNORECASE,
)


def split_identifiers(text: str) -> str:
    """Return the text with camelCase and snake_case identifiers split into words."""
    return _CAMEL.sub(" ", text).replace("_", " ")


def words(text: str) -> list[str]:
    """Return the lower-cased words of a text, identifiers split, in order."""
    return [word.lower() for word in _WORD.findall(split_identifiers(text))]


def sentences(text: str) -> list[str]:
    """Return the sentences of a text in order, without empty ones."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def plan_steps(text: str) -> list[str]:
    """Return the lines of a plan without bullets, numbers and empty lines."""
    lines = (_BULLET.sub("", line).strip() for line in text.splitlines())
    return [line for line in lines if line]


def clauses(text: str, least: int = 3) -> list[str]:
    """Return the sub-requests of a text: its sentences, split where a further demand is joined on.

    Args:
        text: A request in natural language.
        least: A part with fewer words than this joins the part before it.
    """
    parts: list[str] = []
    for sentence in sentences(text):
        for part in _CLAUSE.split(sentence):
            part = part.strip(" ,;")
            if parts and len(words(part)) < least:
                parts[-1] = f"{parts[-1]} {part}".strip()
            elif part:
                parts.append(part)
    return parts
