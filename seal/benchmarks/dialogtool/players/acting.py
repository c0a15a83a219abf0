"""A text in the style of a role, by the features of its configuration alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from seal.benchmarks.dialogtool.tool_life import ROLE_MARK
from seal.core.protocols import Completion, Request

_SHORT: Mapping[str, str] = {
    "i am": "I'm",
    "i will": "I'll",
    "i have": "I've",
    "you are": "you're",
    "you will": "you'll",
    "it is": "it's",
    "there is": "there's",
    "that is": "that's",
    "what is": "what's",
    "do not": "don't",
    "does not": "doesn't",
    "did not": "didn't",
    "is not": "isn't",
    "are not": "aren't",
    "was not": "wasn't",
    "could not": "couldn't",
    "cannot": "can't",
    "we are": "we're",
    "they are": "they're",
}
_LONG: Mapping[str, str] = {
    **{short.lower(): long for long, short in _SHORT.items()},
    "i'd": "i would",
    "won't": "will not",
    "where's": "where is",
    "here's": "here is",
    "let's": "let us",
    "they're": "they are",
    "you'd": "you would",
    "you've": "you have",
    "wouldn't": "would not",
    "haven't": "have not",
    "they've": "they have",
}
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_I = re.compile(r"\bi\b(?!\.)")


def act(request: Request) -> Completion:
    """Return the last message in the style of the role that the system message tells."""
    said = request.messages[-1].content
    system = next((m.content for m in request.messages if m.role == "system"), "")
    told = next((line for line in system.splitlines() if line.startswith(ROLE_MARK)), "")
    try:
        role = orjson.loads(told.removeprefix(ROLE_MARK))
    except orjson.JSONDecodeError:
        return Completion(said)
    features = role.get("features") if isinstance(role, dict) else None
    return Completion(restyled(said, features if isinstance(features, dict) else {}))


def restyled(text: str, features: Mapping[str, Any]) -> str:
    """Return a text that has the features of a role, its facts being the same.

    Args:
        text: What is to be said.
        features: As `seal.benchmarks.dialogtool.roles.roles` lists them.
    """
    text = _with_contractions(text.strip(), features.get("contractions"))
    for word in features.get("avoid") or ():
        text = re.sub(rf"\s*\b{re.escape(word)}\b(?!')", "", text, flags=re.IGNORECASE).strip(" ,")
    sentences = [_ended(part[0].upper() + part[1:]) for part in _SENTENCE.split(text) if part]
    most = features.get("max_words")
    if most:
        sentences = [short for sentence in sentences for short in _cut(sentence, most)]
    text = _framed(" ".join(sentences), features)
    return _exclaimed(text, features.get("exclamations"))


def _with_contractions(text: str, wanted: bool | None) -> str:
    if wanted is None:
        return text
    table = _SHORT if wanted else _LONG
    text = text.replace("\u2019", "'")
    found = "|".join(map(re.escape, sorted(table, key=len, reverse=True)))

    def other(match: re.Match[str]) -> str:
        new = table[match[0].lower()]
        return new[0].upper() + new[1:] if match[0][0].isupper() else new

    return _I.sub("I", re.sub(rf"\b(?:{found})\b", other, text, flags=re.IGNORECASE))


def _ended(sentence: str) -> str:
    return sentence if sentence[-1] in ".!?" else f"{sentence}."


def _cut(sentence: str, most: int) -> list[str]:
    """Return a sentence in parts of at most so many words, cut after a comma where there is one."""
    words = sentence.split()
    parts: list[str] = []
    while len(words) > most:
        commas = [n for n in range(1, most + 1) if words[n - 1].endswith((",", ";", ":"))]
        end = commas[-1] if commas else most
        parts.append(" ".join(words[:end]).rstrip(",;:") + ".")
        words = words[end:]
    return [*parts, " ".join(words)]


def _framed(text: str, features: Mapping[str, Any]) -> str:
    opening: Sequence[str] = features.get("opening") or ()
    closing: Sequence[str] = features.get("closing") or ()
    if opening and not text.startswith(tuple(opening)):
        text = f"{opening[0]} {text}"
    if closing and not text.endswith(tuple(closing)):
        text = f"{text} {closing[0]}"
    if features.get("question") and not text.endswith("?"):
        text = f"{text} Is that right?"
    return text


def _exclaimed(text: str, wanted: bool | None) -> str:
    if wanted is False:
        return text.replace("!", ".")
    if wanted and "!" not in text:
        return re.sub(r"\.(?=\s|$)", "!", text, count=1) if "." in text else f"{text}!"
    return text
