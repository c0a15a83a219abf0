"""Values of an API's arguments, as a dialogue tells them.

Later words count before earlier ones. An argument takes one of its listed values if the user names
it. Else it takes what its kind says: a date of the year 2019, a time, a number, yes or no. Else it
takes what an earlier result or request has under the same name and the dialogue names. Last comes a
name that answers a question about it, or stands after a preposition that goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

import orjson

from seal.benchmarks.dialogtool.tool_life import TODAY
from seal.core import JSON, Message, Tool
from seal.core.english import Time, days, read
from seal.core.text import words
from seal.models.fill import Span, spans

_TODAY = date.fromisoformat(TODAY)
_PLACES = frozenset({"city", "location", "area", "destination", "place", "where"})
_FROM = frozenset({"from", "origin", "departure", "leaving", "source", "pickup", "start"})
_TO = frozenset({"to", "destination", "arrival", "going"})
_DONT_CARE = re.compile(
    r"\b(?:any(?:thing|where|time)?(?: is| will be| would be)? (?:fine|okay|ok|good|works)"
    r"|don'?t (?:care|mind)|doesn'?t matter|no preference|whatever)\b",
    re.IGNORECASE,
)


def told(tool: Tool, messages: Sequence[Message]) -> dict[str, JSON]:
    """Return the arguments of an API that a dialogue tells.

    Args:
        tool: The API.
        messages: The dialogue, with earlier requests and results.
    """
    dialogue = _Dialogue(messages)
    required = set(tool.parameters.get("required", ()))
    found: dict[str, JSON] = {}
    for name, schema in tool.parameters.get("properties", {}).items():
        named = frozenset(words(name))
        kind = _kind(named, schema)
        value = dialogue.value(name, named, kind, schema)
        if value is None and kind == "text" and name in required:
            value = dialogue.name(named, {str(value) for value in found.values()})
        if value is not None:
            found[name] = value
    return found


class _Dialogue:
    """What was said and found, the latest first."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self._exchanges = list(_exchanges(messages))
        self._known = list(_known(messages))

    def value(self, name: str, named: frozenset[str], kind: str, schema: Mapping[str, Any]) -> JSON:
        """Return the value of an argument of some kind; None: nobody told it."""
        for before, said in self._exchanges:
            asked = bool(named & set(words(before))) and before.rstrip().endswith("?")
            value = _read(kind, named, schema, said, asked)
            if value is not None:
                return value
        return self._shown(name, named) if kind in ("text", "date", "time") else None

    def _shown(self, name: str, named: frozenset[str]) -> JSON:
        """Return what an earlier result or request has under this name, or one that ends so.

        The dialogue must name the value; the latest words come first.
        """
        rows = (value for row in self._known for value in _under(name, named, row))
        texts = [v for v in rows if isinstance(v, str) and len(v) > 2]
        for before, said in self._exchanges:
            text = f"{said}\n{before}".casefold()
            for value in texts:
                if value.casefold() in text:
                    return value
        return None

    def name(self, named: frozenset[str], taken: set[str]) -> str | None:
        """Return a name that answers a question about an argument, or stands where it would."""
        for before, said in self._exchanges:
            names = [span for span in _spans(said) if span.kind in ("name", "quoted")]
            free = [span for span in names if span.text not in taken]
            cued = next((span for span in free if _fits(named, span, said)), None)
            if cued is not None:
                return cued.text
            if free and before.rstrip().endswith("?") and named & set(words(before)):
                return free[0].text
        return None


def _exchanges(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Yield (what the assistant said before, what the user said), the latest first."""
    pairs = []
    before = ""
    for message in messages:
        if message.role == "user":
            pairs.append((before, message.content))
        elif message.role == "assistant" and message.content:
            before = message.content
    return reversed(pairs)


def _known(messages: Sequence[Message]) -> Iterator[Mapping[str, JSON]]:
    """Yield rows of results and arguments of requests, the latest first."""
    for message in reversed(messages):
        if message.role == "tool":
            try:
                rows = orjson.loads(message.content)
            except orjson.JSONDecodeError:
                continue
            if isinstance(rows, list):
                yield from (row for row in rows if isinstance(row, dict))
        for call in message.calls:
            yield call.arguments or {}


def _kind(named: frozenset[str], schema: Mapping[str, Any]) -> str:
    declared = schema.get("type")
    if declared in ("boolean", "integer"):
        return str(declared)
    if schema.get("enum"):
        return "choice"
    return next((kind for kind in ("date", "time") if kind in named), "text")


def _read(
    kind: str, named: frozenset[str], schema: Mapping[str, Any], said: str, asked: bool
) -> JSON:
    if kind == "choice":
        return _choice(tuple(map(str, schema["enum"])), said)
    if kind == "date":
        return _date(said)
    if kind == "time":
        return _time(said)
    if kind == "integer":
        return _integer(named, schema, said, asked)
    return _yes_or_no(named, said, asked) if kind == "boolean" else None


def _choice(values: tuple[str, ...], said: str) -> str | None:
    """Return the listed value that a text names, whole or by the word that only it has."""
    folded = f" {' '.join(words(said))} "
    named = [value for value in values if f" {' '.join(words(value))} " in folded]
    if named:
        return max(named, key=len)
    spoken = set(folded.split())
    marks = _marks(values)
    return next((value for value in values if spoken & marks[value]), None)


@lru_cache(maxsize=1024)
def _marks(values: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """Return each value's words of five letters or more that no other value has."""
    parts = {value: {word for word in words(value) if len(word) > 4} for value in values}
    return {
        value: frozenset(own.difference(*(w for other, w in parts.items() if other != value)))
        for value, own in parts.items()
    }


def _date(said: str) -> str | None:
    """Return the first day that a text names; a month or year that it does not tell is today's."""
    for day, *_ in days(read(said), _TODAY):
        with suppress(ValueError):
            return date(day.year or _TODAY.year, day.month or _TODAY.month, day.day).isoformat()
    return None


def _time(said: str) -> str | None:
    whole = read(said)
    times = (value for value in whole.values if isinstance(value, Time))
    named = (f"{time.hour:02d}:{time.minute:02d}" for time in times)
    return next(named, "10:00" if "morning" in whole.plain else None)


def _integer(
    named: frozenset[str], schema: Mapping[str, Any], said: str, asked: bool
) -> int | None:
    """Return the number that stands beside the argument's words, or answers a question for it."""
    allowed = schema.get("enum")
    people = bool(named & {"guests", "riders", "people", "passengers", "seats", "party", "size"})
    whole = read(said)
    for value, start, end in whole.tokens:
        if not isinstance(value, Decimal) or value != value.to_integral_value():
            continue
        if allowed and value not in allowed:
            continue
        after = set(words(whole.plain[end : end + 30])[:2])
        before = set(words(whole.plain[max(0, start - 20) : start])[-2:])
        beside = {word.rstrip("s") for word in after}
        fits = bool(beside & {word.rstrip("s") for word in named if len(word) > 2})
        of_people = people and bool(
            beside & {"people", "person", "guest", "passenger", "of", "ticket"} or "for" in before
        )
        if asked or fits or of_people:
            return int(value)
    if people and re.search(r"\b(?:just (?:me|myself)|by myself|alone|only me)\b", said, re.I):
        return 1
    return None


def _yes_or_no(named: frozenset[str], said: str, asked: bool) -> bool | None:
    wanted = {w for w in named if len(w) > 3 and w not in ("has", "with", "include", "allowed")}
    spoken = {word.rstrip("s") for word in words(said)}
    mentioned = bool({w.rstrip("s") for w in wanted} & spoken)
    if not mentioned and not asked:
        return None
    if asked and _DONT_CARE.search(said):
        return None
    negative = re.search(r"\b(?:no|nope|not|don'?t|without|doesn'?t)\b", said, re.IGNORECASE)
    return not negative


def _under(name: str, named: frozenset[str], row: Mapping[str, JSON]) -> Iterator[JSON]:
    if name in row:
        yield row[name]
        return
    last = name.rpartition("_")[2]
    for key, value in row.items():
        if key.rpartition("_")[2] == last or named & {"location", "city", "area"} & set(words(key)):
            yield value


@lru_cache(maxsize=4096)
def _spans(text: str) -> tuple[Span, ...]:
    return tuple(spans(text))


def _fits(named: frozenset[str], span: Span, said: str) -> bool:
    """Tell whether the words before a name go with the argument."""
    before = words(said[max(0, span.start - 30) : span.start])[-2:]
    if named & set(before):
        return True
    last = before[-1] if before else ""
    if named & _FROM:
        return last == "from"
    if named & _TO:
        return last in ("to", "for", "in")
    return bool(named & _PLACES) and last in ("in", "at", "near", "around")
