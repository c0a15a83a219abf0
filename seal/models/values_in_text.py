"""Values that a text names: quoted strings, numbers, dates, names... each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from seal.core import JSON
from seal.core.spoken import DAY, MONTH, NUMBER_WORDS, day_of
from seal.core.text import words

Kind = Literal["email", "url", "date", "time", "quoted", "code", "number", "name", "phrase"]

_DAY_WORD = (
    r"today|tomorrow|tonight|yesterday|(?:next |this )?"
    r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|week|weekend|month)"
)
_NUMBER_WORD = "|".join(word for word, number in NUMBER_WORDS.items() if number > 1)
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w'’&-]*"
_JOINT = "and|in|at|to|from|with"
_PATTERNS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("quoted", re.compile(r"\"([^\"]+)\"|“([^”]+)”|`([^`]+)`|(?<!\w)['‘]([^'’]+)['’](?!\w)")),
    ("email", re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")),
    ("url", re.compile(r"https?://[^\s<>\"]*[\w/]")),
    ("date", re.compile(r"\d{4}-\d{2}-\d{2}(?:T[\d:]+Z?)?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4}")),
    ("date", re.compile(rf"(?i)\b{MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b")),
    ("date", re.compile(rf"(?i)\b\d{{1,2}}(?:st|nd|rd|th)? (?:of )?{MONTH}(?:,? \d{{4}})?\b")),
    ("date", re.compile(rf"(?i)\b(?:{_DAY_WORD})\b")),
    ("time", re.compile(r"(?i)\b\d{1,2}:\d{2}(?::\d{2})?(?: ?[ap]m)?\b|\b\d{1,2} ?[ap]m\b")),
    ("code", re.compile(r"\b[A-Z][A-Za-z]*-?\d[\w-]*\b|\b\d+(?:-\d+){2,}\b")),
    ("number", re.compile(r"(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?")),
    ("number", re.compile(rf"(?i)\b(?:{_NUMBER_WORD})\b")),
    ("name", re.compile(rf"{_CAPITAL}(?:(?: (?:of|de|la|the))? {_CAPITAL})*")),
    ("phrase", re.compile(rf"\b(?:for|of|on|about) ((?:(?!(?:{_JOINT})\b)\w+ ?){{1,4}})")),
)
_STARTERS = frozenset(
    words(
        "a an the there i we he she it they my our please what which who when where why how is are "
        "do does can could would will should find get give show tell list search fetch check book "
        "look suggest recommend convert calculate compute send set add create play order make "
        "need want also then and if in on at for from to with let help provide translate remind "
        "turn hi hello thanks call email schedule write read open close start stop delete remove "
        "update compare"
    )
)


@dataclass(frozen=True, slots=True)
class Span:
    """A value and where it stands."""

    kind: Kind
    text: str
    start: int
    end: int

    @property
    def number(self) -> int | float | None:
        """The value of a number's text; None for other texts."""
        if self.text.lower() in NUMBER_WORDS:
            return NUMBER_WORDS[self.text.lower()]
        try:
            value = float(self.text.replace(",", ""))
        except ValueError:
            return None
        if value.is_integer() and abs(value) < 2**53:
            return int(value)
        return value if abs(value) != float("inf") else None

    @property
    def iso_date(self) -> str | None:
        """The date as YYYY-MM-DD where the text gives day, month and year in a clear order."""
        found = DAY.search(self.text)
        day = day_of(found[0]) if found else None
        return day.calendar.isoformat() if day and day.year else None


def spans(text: str) -> list[Span]:
    """Return the values of a text; no two of them overlap, but phrases may hold others.

    A word that begins a sentence and is no name ("Find", "What") is none.
    """
    found: list[Span] = []
    taken = bytearray(len(text))
    for kind, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            for span in _found(kind, match, text):
                free = kind == "phrase" or not any(taken[span.start : span.end])
                if span.text and free:
                    found.append(span)
                    if kind != "phrase":
                        taken[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    return sorted(found, key=lambda span: (span.start, span.kind))


def _found(kind: Kind, match: re.Match[str], text: str) -> Iterator[Span]:
    if match.lastindex is not None:
        group = match.lastindex
        yield Span(kind, match[group].strip(), match.start(group), match.end(group))
    elif kind == "name":
        yield _without_starter(match, text)
    else:
        value = match.group().strip()
        yield Span(kind, value, match.start(), match.start() + len(value))


def _without_starter(match: re.Match[str], text: str) -> Span:
    """Return the name without the words before it that are capital for another reason."""
    start = match.start()
    value = match.group()
    while value:
        first, _, rest = value.partition(" ")
        if re.split("['’]", first.lower())[0] not in _STARTERS:
            break
        start += len(first) + (1 if rest else 0)
        value = rest
    return Span("name", value, start, start + len(value))


def as_json(span: Span, schema_type: str) -> JSON:
    """Return the span's value as a JSON type; None where it has none of that type."""
    if schema_type == "integer":
        number = span.number
        return number if isinstance(number, int) else None
    if schema_type == "number":
        return span.number
    return span.text
