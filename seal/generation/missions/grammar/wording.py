"""Templates filled with phrases, and days in words."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping, Sequence
from datetime import date, timedelta

from seal.core.types import JSON

THERE = "there"
NEAR = ("today", "tomorrow")
_PLACEHOLDER = re.compile(r"\{(?:([A-Za-z]+) )?([A-Za-z][\w.]*|\.)\}")
_BLANKS = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"\s+([?.,:;!])")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeio])")
_DAY = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b(?!T)")
_MONTHS = tuple(calendar.month_name)[1:]
_WEEKDAYS = tuple(calendar.day_name)


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


def day_name(day: date) -> str:
    """Return a day as it is told: `18 May`."""
    return f"{day.day} {_MONTHS[day.month - 1]}"


def spoken_day(day: date, today: date) -> str:
    """Return a day as a person says it today."""
    ahead = (day - today).days
    if 0 <= ahead <= 1:
        return NEAR[ahead]
    return _WEEKDAYS[day.weekday()] if 2 <= ahead <= 6 else day_name(day)


def day_forms(day: date, today: date) -> set[str]:
    """Return the words by which a text may mean a day."""
    return {day.isoformat(), day_name(day), spoken_day(day, today)}


def with_spoken_days(text: str) -> str:
    """Return a text in which days are told as `18 May`, where they are days at all."""

    def spoken(found: re.Match[str]) -> str:
        month, day = int(found[2]), int(found[3])
        return f"{day} {_MONTHS[month - 1]}" if 1 <= month <= 12 else found[0]

    return _DAY.sub(spoken, text)


def day_after(today: date, days: int) -> date:
    """Return the day so many days after."""
    return today + timedelta(days=days)


def told_value(value: JSON) -> str:
    """Return a value of a result as a person would write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return joined([told_value(item) for item in value])
    return with_spoken_days(str(value)).replace("_", " ")


def _lowered(name: str) -> str:
    return name[:1].lower() + name[1:]
