"""Arguments in the words of a request: `max_height_cm` 50 is "at most 50 cm in height"."""

from __future__ import annotations

import datetime
import random
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from seal.benchmarks.toolscan.query_generation.stated import MONTHS, told
from seal.core.text import split_identifiers, words
from seal.core.types import JSON

_SPANS = (
    ("from", "to"),
    ("start", "end"),
    ("min", "max"),
    ("begin", "end"),
    ("origin", "destination"),
)
_ENDS = frozenset(word for span in _SPANS for word in span)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_LONG = 5
"""Words from which on a text is set in quotes."""


def phrases(arguments: Mapping[str, JSON], chance: random.Random) -> list[str]:
    """Return a phrase for each argument, or for two that bound a span; each states its values.

    Args:
        arguments: Name to value.
        chance: Of forms of dates.
    """
    style = chance.random() < 0.7
    return list(_phrases(dict(arguments), style))


def _phrases(left: dict[str, JSON], written_out: bool) -> Iterator[str]:
    while left:
        name = next(iter(left))
        value = left.pop(name)
        other = _other_end(name, left)
        if other is not None and not isinstance(value, (dict, list, bool)):
            yield _span(name, value, left.pop(other), written_out)
        else:
            yield _phrase(name, value, written_out)


def _other_end(name: str, left: Mapping[str, JSON]) -> str | None:
    """Return the argument that ends the span which this one begins; None: there is none."""
    said = words(name)
    for begin, end in _SPANS:
        if begin in said:
            wanted = [end if word == begin else word for word in said]
            return next((other for other in left if words(other) == wanted), None)
    return None


def _span(name: str, begin: JSON, end: JSON, written_out: bool) -> str:
    first, last = spoken(begin, written_out), spoken(end, written_out)
    if begin == end:
        return _phrase(
            " ".join(w for w in words(name) if w not in _ENDS) or name, begin, written_out
        )
    noun = [word for word in words(name) if word not in _ENDS]
    if not isinstance(begin, str):
        unit = _unit(noun)
        if noun in ([], ["year"]):
            return f"from {first} to {last}"
        return f"{_without_unit(noun)} from {first} to {last}{unit}".strip()
    return f"from {first} to {last}"


def spoken(value: JSON, written_out: bool = True) -> str:
    """Return a value in the words of a request: dates written out, long texts in quotes."""
    if isinstance(value, str):
        if written_out and _DATE.fullmatch(value):
            return _day(value)
        return f'"{value}"' if len(value.split()) >= _LONG and '"' not in value else value.strip()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return told(value)


def _day(value: str) -> str:
    try:
        day = datetime.date.fromisoformat(value)
    except ValueError:
        return value
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def noun_of(name: str) -> str:
    """Return an argument's name as words."""
    said = words(split_identifiers(name))
    return " ".join(_texts()["nouns"].get(word, word) for word in said) or name


def named(name: str, value: JSON) -> str:
    """Return an argument's name with its value, never the value alone."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _amount(words(name), value, spoken(value))
    return f"{noun_of(name)} {spoken(value)}"


@cache
def imperatives() -> frozenset[str]:
    """Return the verbs, in their base form, with which a request may begin."""
    found = orjson.loads((files(__package__) / "constraints.json").read_bytes())["verbs"]
    return frozenset(str(found).split())


def field_of(name: str) -> str:
    """Return a field's name as words, without the unit at its end."""
    return _without_unit(words(split_identifiers(name))) or noun_of(name)


def _phrase(name: str, value: JSON, written_out: bool) -> str:
    said = words(name)
    if isinstance(value, bool):
        return _truth(said, value)
    text = spoken(value, written_out)
    if isinstance(value, (int, float)):
        return _amount(said, value, text)
    if isinstance(value, str) and said:
        before = _texts()["before"].get(said[-1] if len(said) < 3 else " ".join(said))
        a_day = said[-1] in ("date", "day", "time") and not any(c.isdigit() for c in value)
        if (
            before
            and not a_day
            and (said[-1] not in ("language", "currency", "unit", "units") or value.isalpha())
        ):
            first = [word for word in said[:-1] if word not in ("the", "target")]
            return str(before[0 if not first or len(before) == 1 else 1]).format(
                value=text, noun=noun_of(name)
            )
    return f"{noun_of(name)} {text}"


def _truth(said: list[str], value: bool) -> str:
    """Return what is switched on or off; a word of the name is always in it."""
    if said[:1] == ["is"] and len(said) > 1:
        return f"{'' if value else 'not '}{' '.join(said[1:])}"
    if said[:1] in (["include"], ["with"], ["has"], ["show"], ["return"], ["get"]) and said[1:]:
        return f"{'with' if value else 'without'} the {' '.join(said[1:])}"
    if len(said) == 1 and said[0].endswith(("ed", "able", "ible", "only", "free")):
        return said[0] if value else f"not {said[0]}"
    if said[-1:] == ["only"] and len(said) > 1:
        return " ".join(said) if value else f"not necessarily {' '.join(said[:-1])}"
    if len(said) == 1 or said[:1] == ["no"] or said[0] in imperatives() or said[0] == "consider":
        return f"{' '.join(said)}: {'yes' if value else 'no'}"
    return f"{'with' if value else 'without'} {' '.join(said)}"


def _amount(said: list[str], value: int | float, text: str) -> str:
    unit, noun = _unit(said), _without_unit(said)
    if said and said[-1] == "year" and isinstance(value, int) and 1000 < value < 3000:
        return f"in {text}" if len(said) == 1 else f"{noun} {text}"
    if said == ["month"] and isinstance(value, int) and 1 <= value <= 12:
        return f"in {MONTHS[value - 1]}"
    for marks, words_of in ((("max", "maximum"), "at most"), (("min", "minimum"), "at least")):
        mark = next((mark for mark in marks if mark in said), None)
        if mark is not None:
            rest = " ".join(word for word in noun.split() if word not in marks)
            return f"{rest} {words_of} {text}{unit}" if rest else f"{words_of} {text}{unit}"
    if said in (
        ["limit"],
        ["top"],
        ["count"],
        ["num", "results"],
        ["max", "results"],
        ["top", "n"],
    ):
        return f"no more than {text} results"
    if not noun and unit:
        return f"for {text}{unit.removesuffix('s') if value == 1 else unit}"
    return f"{noun} {text}{unit}"


def _unit(said: list[str]) -> str:
    unit = _texts()["units"].get(said[-1]) if said else None
    return f" {unit}" if unit else ""


def _without_unit(said: list[str]) -> str:
    kept = said[:-1] if _unit(said) else said
    return " ".join(_texts()["nouns"].get(word, word) for word in kept)


@cache
def _texts() -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads((files(__package__) / "arguments.json").read_bytes())
    return found
