"""Values of an API's arguments, as a dialogue tells them.

Later words count before earlier ones. An argument takes, in this order: one of its listed values
that the user names; what its kind says (a date of the year 2019, a time, a number, yes or no); what
an earlier result or request has under the same name and the dialogue names; a name that answers a
question about it or stands after a preposition that goes with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import Any

import orjson

from seal.benchmarks.dialogtool.tool_life import TODAY
from seal.core.protocols import Message
from seal.core.text import words
from seal.core.types import JSON, Tool
from seal.models.values_in_text import Span, spans

_TODAY = date.fromisoformat(TODAY)
_MONTHS = words(
    "january february march april may june july august september october november december"
)
_DAYS = words("monday tuesday wednesday thursday friday saturday sunday")
_NUMBERS = words("zero one two three four five six seven eight nine ten")
_PART_OF_DAY = r"(?P<part>\s+in the (?:morning|afternoon|evening|night)|\s+at night)?"
_DATE = re.compile(
    r"\b(?P<month>(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)\.? (?P<day>\d{1,2})\b"
    r"(?:st|nd|rd|th)?|\b(?P<only>\d{1,2})(?:st|nd|rd|th)\b(?: of (?P<later>[a-z]+))?"
    r"|\b(?P<near>today|tonight|tomorrow|day after tomorrow)\b"
    r"|\b(?P<next>next )?(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?P<hour>\d{1,2})(?:[:.](?P<minute>\d{2}))?(?:\s*o'?clock)?\s*(?P<half>[ap]\.?m\b)?"
    + _PART_OF_DAY,
    re.IGNORECASE,
)
_WORD_TIME = re.compile(
    r"\b(?P<half>half|quarter) (?P<side>past|to) (?P<hour>\d{1,2}|[a-z]+)" + _PART_OF_DAY,
    re.IGNORECASE,
)
_NUMBER = re.compile(rf"(?<![\w:.])(\d+|{'|'.join(_NUMBERS)})(?![\w:]|\.\d)", re.IGNORECASE)
_NAMED_TIMES = {"morning": "10:00", "noon": "12:00", "midnight": "00:00"}
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

        Of such values the dialogue must name it; the latest words come first.
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
    match = _DATE.search(said)
    if match is None:
        return None
    if match["near"]:
        days = {"today": 0, "tonight": 0, "tomorrow": 1}.get(match["near"].lower(), 2)
        return (_TODAY + timedelta(days)).isoformat()
    if match["weekday"]:
        ahead = (_DAYS.index(match["weekday"].lower()) - _TODAY.weekday()) % 7
        return (_TODAY + timedelta(ahead or 7)).isoformat()
    month = (match["month"] or match["later"] or "march").lower()[:3]
    number = next((n for n, m in enumerate(_MONTHS, 1) if m[:3] == month), 3)
    try:
        return date(2019, number, int(match["day"] or match["only"])).isoformat()
    except ValueError:
        return None


def _time(said: str) -> str | None:
    spoken = _WORD_TIME.search(said)
    if spoken:
        hour = _number(spoken["hour"])
        if hour is not None:
            minutes = 30 if spoken["half"].lower() == "half" else 15
            total = hour * 60 + (minutes if spoken["side"].lower() == "past" else -minutes)
            return _clock(total // 60, total % 60, spoken["part"] or "")
    for match in _TIME.finditer(said):
        if match["minute"] or match["half"] or match["part"] or "clock" in match[0]:
            half = (match["half"] or match["part"] or "").lower()
            return _clock(int(match["hour"]), int(match["minute"] or 0), half)
    folded = said.lower()
    return next((time for word, time in _NAMED_TIMES.items() if word in folded), None)


def _clock(hour: int, minute: int, half: str) -> str | None:
    late = half.strip().startswith("p") or any(w in half for w in ("noon", "evening", "night"))
    if late and hour < 12:
        hour += 12
    if half.strip().startswith("a") and "m" in half and hour == 12:
        hour = 0
    return f"{hour:02d}:{minute:02d}" if hour < 24 and minute < 60 else None


def _number(text: str) -> int | None:
    folded = text.lower()
    if folded.isdigit():
        return int(folded)
    return _NUMBERS.index(folded) if folded in _NUMBERS else None


def _integer(
    named: frozenset[str], schema: Mapping[str, Any], said: str, asked: bool
) -> int | None:
    """Return the number that stands beside the argument's words, or answers a question for it."""
    allowed = schema.get("enum")
    people = bool(named & {"guests", "riders", "people", "passengers", "seats", "party", "size"})
    for match in _NUMBER.finditer(said):
        value = _number(match[1])
        if value is None or (allowed and value not in allowed):
            continue
        after = set(words(said[match.end() : match.end() + 30])[:2])
        before = set(words(said[max(0, match.start() - 20) : match.start()])[-2:])
        beside = {word.rstrip("s") for word in after}
        fits = bool(beside & {word.rstrip("s") for word in named if len(word) > 2})
        of_people = people and bool(
            beside & {"people", "person", "guest", "passenger", "of", "ticket"} or "for" in before
        )
        if asked or fits or of_people:
            return value
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
