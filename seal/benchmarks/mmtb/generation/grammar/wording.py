"""Templates filled with phrases."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from seal.benchmarks.mmtb.generation.days import NEAR, with_spoken_days
from seal.core.types import JSON

THERE = "there"
_PLACEHOLDER = re.compile(r"\{(?:([A-Za-z]+) )?([A-Za-z][\w.]*|\.)\}")
_BLANKS = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"\s+([?.,:;!])")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeio])")


def filled(template: str, phrases: Mapping[str, str]) -> str:
    """Return a template with its phrases; one that is missing or empty takes its preposition along.

    A placeholder that begins with a capital gives its phrase one.
    """

    def phrase(found: re.Match[str]) -> str:
        preposition, name = found[1] or "", found[2]
        text = phrases.get(name) or phrases.get(_lowered(name)) or ""
        if not text:
            return ""
        begins = (preposition or name)[:1]
        if text == THERE or (preposition.lower() == "on" and text in NEAR):
            preposition = ""
        whole = f"{preposition} {text}".strip()
        return capital(whole) if begins.isupper() else whole

    return tidy(_PLACEHOLDER.sub(phrase, template))


def placeholders(template: str) -> list[str]:
    """Return the names of the slots that a template speaks of."""
    return [_lowered(found[1]) for found in _PLACEHOLDER.findall(template)]


def preposition_of(template: str, name: str) -> str:
    """Return the preposition that a template gives a slot; empty: none."""
    return next((p for p, found in _PLACEHOLDER.findall(template) if found == name), "")


def tidy(text: str) -> str:
    """Return a text without stray blanks, its articles mended."""
    text = _BEFORE_MARK.sub(r"\1", _BLANKS.sub(" ", text)).strip()
    return _ARTICLE.sub(r"\1n ", text)


def capital(text: str) -> str:
    """Return a text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def joined(texts: Sequence[str], word: str = "and") -> str:
    """Return an enumeration: `a`, `a and b`, `a, b and c`."""
    return f" {word} ".join([", ".join(texts[:-1]), texts[-1]] if texts[1:] else texts)


def told_value(value: JSON) -> str:
    """Return a value of a result as a person would write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return joined([told_value(item) for item in value])
    return with_spoken_days(str(value)).replace("_", " ")


def _lowered(name: str) -> str:
    return name[:1].lower() + name[1:]
