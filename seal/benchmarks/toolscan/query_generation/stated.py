"""Whether a text states a value, in any way that a person writes it."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence

from seal.core.plain import json_text
from seal.core.text import words
from seal.core.types import JSON

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
)
_NUMBER = re.compile(r"(?<![\w.])[-−]?\d[\d,]*(?:\.\d+)?")
_PLAIN_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_QUOTED = re.compile(r"[\"“](.+?)[\"”]")
_MONTH = "|".join(MONTHS)
WRITTEN_DATE = re.compile(
    rf"\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?(?P<month>{_MONTH})"
    rf"|(?P<month2>{_MONTH}) (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?),? (?P<year>\d{{4}})\b"
    r"|\b(?P<iso>\d{4}-\d{2}-\d{2})(?![\dT])"
)
"""A day as it is written out, or in ISO 8601."""


def is_stated(value: JSON, text: str, name: str = "") -> bool:
    """Tell whether a text states a value: each text, number and truth in it.

    A text is stated by its words in their order, a day by any usual form of it, a number by its
    digits, up to twelve by its word, and as a month by that; true and false by a word of the name.

    Args:
        value: Any JSON value; null and the empty text say nothing, and are stated.
        text: A request.
        name: Of the argument.
    """
    if isinstance(value, dict):
        return all(is_stated(inner, text, key) for key, inner in value.items())
    if isinstance(value, list):
        return all(is_stated(inner, text, name) for inner in value)
    if isinstance(value, bool):
        return not name or bool(set(words(name)) & set(words(text)))
    if isinstance(value, (int, float)):
        return _states_number(value, text, name)
    return value is None or _states_text(str(value), text)


def _states_number(value: int | float, text: str, name: str) -> bool:
    if any(abs(found - value) < 1e-9 for found in numbers(text)):
        return True
    if not isinstance(value, int):
        return False
    said = words(text)
    if 0 <= value < len(_COUNTED) and _COUNTED[value] in said:
        return True
    return "month" in words(name) and 1 <= value <= 12 and MONTHS[value - 1].lower() in said


def _states_text(value: str, text: str) -> bool:
    wanted, said = words(value), words(text)
    if not wanted:
        return value.strip() in text
    if _runs(wanted, said):
        return True
    day = _DATE.fullmatch(value)
    return bool(day) and value in days(text)


def _runs(wanted: Sequence[str], said: Sequence[str]) -> bool:
    size = len(wanted)
    return any(said[at : at + size] == wanted for at in range(len(said) - size + 1))


def numbers(text: str) -> list[float]:
    """Return the numbers that a text writes in digits, 40,000 as 40000."""
    plain = _PLAIN_THOUSANDS.sub("", text)
    return [
        float(found.group().replace(",", "").replace("−", "-")) for found in _NUMBER.finditer(plain)
    ] + [float(found.group(1)) for found in re.finditer(r"(?<=[A-Za-z_-])(\d+)", plain)]


def days(text: str) -> set[str]:
    """Return the days that a text names, in ISO 8601."""
    found = set()
    for match in WRITTEN_DATE.finditer(text):
        day = day_of(match)
        if day is not None:
            found.add(day.isoformat())
    return found


def day_of(match: re.Match[str]) -> datetime.date | None:
    """Return the day of a match of `WRITTEN_DATE`; None: there is no such day."""
    try:
        if match["iso"]:
            return datetime.date.fromisoformat(match["iso"])
        month = MONTHS.index(match["month"] or match["month2"]) + 1
        return datetime.date(int(match["year"]), month, int(match["day"] or match["day2"]))
    except ValueError:
        return None


def names(text: str) -> set[str]:
    """Return the words of a text that are names, codes or quoted, in lower case.

    Words with a capital that do not begin a sentence, words with digits, and quoted ones.
    """
    found = set(_named(text))
    for quoted in _QUOTED.findall(text):
        found.update(words(quoted))
    return found


def _named(text: str) -> Iterator[str]:
    beginning = True
    for token in re.findall(r"\S+", WRITTEN_DATE.sub(" ", text)):
        core = token.strip("\"'“”‘’().,;:!?")
        if core and (any(c.isdigit() for c in core) or (not beginning and core[0].isupper())):
            for word in words(core.removesuffix("'s").removesuffix("’s")):
                if len(word) > 1 or word.isdigit():
                    yield word
        beginning = token.endswith((".", "!", "?", ":", "—", "-")) or not core


def told(value: JSON) -> str:
    """Return a value as a request states it, each text and number in it as it is."""
    if isinstance(value, dict):
        return ", ".join(f"{' '.join(words(name))} {told(inner)}" for name, inner in value.items())
    if isinstance(value, list):
        parts = [told(inner) for inner in value]
        return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return value if isinstance(value, str) else json_text(value)
