"""Whether a text states a value: the one answer for judges, audits, filters and worlds.

- A text is stated by its words in their order, whatever their case, and blanks and punctuation
  between them; a phone number by its digits. A name of several words written as one, as identifiers
  have it, also by those words.
- A number, a day or a time of day is stated however it is written (`seal.core.english`). A day
  needs its year, unless it is known when the text was said. A moment (POSIX seconds) is also stated
  by its local time of day, whatever is said of the day; a number whose name is that of a part, such
  as month or hour, by a day or time that has it.
- True and False are stated by what is turned on or off, and by words such as enabled, false, yes.
  In "on Monday" and "no idea" nothing is on or false: these words count where they end a clause,
  or follow a verb such as turn. Of an argument with a name, a word of the name is enough, for "with
  two bags, non-refundable" has no other; True is not stated where that word is denied.
- None, and what is empty, always; a list or object where all that it holds is, and so a text that
  lists values or names ("08:15 and 17:40"), in whatever order and form they are said.

What is denied is not stated: "it is not 7", "anything other than 7", "7 is wrong".

Not recognised: other units, synonyms, missing accents.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from itertools import accumulate, zip_longest
from typing import Any, Literal, NamedTuple
from zoneinfo import ZoneInfo

from seal.core.english import MONTHS, Day, Text, Time, Token, Value, days, normalise, read
from seal.core.text import words

Statement = Literal["stated", "doubtful", "absent"]

_SYMBOLS = frozenset("%$€£¥₹")
_BETWEEN = re.compile(r",?\s+and\s+|\s*[,;]\s+|\s*&\s*")
"""Between the values that a text lists."""
_PHONE = re.compile(r"\+?(?:[\s().-]*\d){5,19}[\s().-]*")
_TRUTH = re.compile(
    r"\b(?:turn|switch|flip|toggle)\w*(?:[ '-]{1,9}\w+){0,3}? {1,9}(?:on|off)\b"
    r"(?! {1,9}(?:(?:the +)?\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day))"
    r"|\b(?:on|off|yes|no)(?=\W*$| *[.,;:!?)\"\u201d]| +(?:and|or|but)\b)"
    r"|\b(?:true|false|(?:en|dis)abled?|(?:de)?activated?)\b"
)
"""What says of something that it is so, or not; its last word tells which."""
_FALSE = frozenset(["off", "no", "false", "disable", "disabled", "deactivate", "deactivated"])
_LEAST = 4
"""Letters of a word of an argument's name that says what it is about, if it has such a one."""
_SMALL = frozenset(words("a and do for get has in is no of off on or the to use with"))
"""Shorter words that say nothing of an argument."""

_LINKS = (
    r"(?:at|on|in|by|for|of|to|the|an?|any|be|been|exactly|equal|costs?|means?|have|has|need|want"
    r"|take)"
)
_DENIED_BEFORE = re.compile(
    rf"(?:(?:\b(?:not|never|nor|neither|(?:other|rather) than|instead of|without)|n't)"
    rf"(?: {_LINKS})*|\bnon(?=-))[\s\"'-]*$"
)
_DENIED_AFTER = re.compile(
    r"\W{0,3}(?:is|was|are|were)(?: wrong| incorrect|(?:n't| not) (?:right|correct|it\b|so\b))"
)
_CLAUSE_END = re.compile(
    r"[.;:!?](?=\s|$)|,(?=\s)|\n|\b(?:but|and|however|yet|while|although|though|because)\b"
)
_DOUBT_BEFORE = re.compile(
    r"\b(?:not|no|nothing|nobody|never|neither|nor|without|cannot|unable|fail(?:s|ed)?|instead of"
    r"|rather than)\b|n't\b"
)
_DOUBT_AFTER = re.compile(
    r"^(?:\W*[\w']+){0,2}?\W*(?:\b(?:not|never|cannot|unavailable|incorrect|wrong)\b|\w+n't\b)"
)
_SENTENCE_END = re.compile(r"[.!?\uff1f\u3002](?=\s|$)|[\uff1f\u3002]|\n")
_OFFER = re.compile(r"^[^?]*(?<!\bor )\banything else(?: i can [^?]*)?\?")
"""An offer of further help, before which no full stop stands: it asks nothing of the value."""
_REACH = 200
"""Characters around a value in which a denial is looked for."""

MOMENTS = (315_529_200.0, 2_524_604_400.0)
"""First and last number that is taken for a moment, from 1980 to 2050.

Source: ToolSandbox, whose phone accepts no others.
"""


@dataclass(frozen=True, slots=True)
class Sense:
    """What is known of a value beside itself."""

    name: str = ""
    """Of the argument that has it; members of an object have their own."""
    today: date | None = None
    """When the text was said; None: unknown, so that a day is stated with its year alone."""
    zone: str = "UTC"
    """Where the times of day are told that moments are stated by."""
    stands_for: Callable[[str], Iterable[str]] = lambda text: ()
    """Gives other texts that state a text."""


class _Place(NamedTuple):
    """How well a text states a value, and by which part of the plain text."""

    strength: int
    start: int = 0
    end: int = 0


_ABSENT, _DENIED, _DOUBTFUL, _STATED = range(4)


def statement(answer: str, value: Any, sense: Sense = Sense()) -> Statement:
    """Return whether an answer states a JSON value, by the rules of this module.

    Args:
        answer: Of an agent.
        value: What it must state; an empty text is absent.
        sense: What is known of the value.

    Returns:
        "doubtful" where the value is denied, or occurs only in questions or beside a denial, as in
        "could not find 1200"; "absent" where it does not occur in a form that is recognised.
    """
    if isinstance(value, str) and not value.strip():
        return "absent"
    strength = _best(answer, value, sense).strength
    return "stated" if strength == _STATED else "doubtful" if strength else "absent"


def states(text: str, value: Any, sense: Sense = Sense()) -> bool:
    """Tell whether a text states a JSON value.

    A question may state a value, too: "Shall I send 5 dollars?" states 5.

    >>> [states(text, 5) for text in ("five dollars", "it is not 5", "the 5th", "at 5.5")]
    [True, False, True, False]
    """
    return _best(text, value, sense).strength >= _DOUBTFUL


def said(text: str, value: Any, sense: Sense = Sense()) -> str | None:
    """Return the words by which a text states a JSON value, in small letters; None: it does not.

    Of several values the words of one; empty where no words are its own.
    """
    place = _best(text, value, sense)
    return read(text).plain[place.start : place.end] if place.strength >= _DOUBTFUL else None


def _best(text: str, value: Any, sense: Sense) -> _Place:
    """Return where a text states a value best; of one that lists several, as one or each."""
    whole = read(text)
    return max(
        (_worst(whole, one, sense) for one in (value, *_listed(value))),
        key=lambda place: place.strength,
    )


def _worst(whole: Text, value: Any, sense: Sense) -> _Place:
    """Return where a text states a value best; of several, where it states the worst of them."""
    worst = _Place(_STATED)
    for name, leaf in leaves(value, sense.name):
        best = _Place(_ABSENT)
        for place in _places_of(whole, leaf, replace(sense, name=name)):
            best = max(best, place, key=lambda one: one.strength)
            if best.strength == _STATED:
                break
        worst = min(worst, best, key=lambda one: (one.strength, -one.end))
        if worst.strength == _ABSENT:
            break
    return worst


def _listed(value: Any) -> Iterator[list[str]]:
    """Yield the values or names that a text lists, as "08:15 and 17:40" or "Ghent, Oslo" do."""
    items = _BETWEEN.split(value.strip()) if isinstance(value, str) else []
    parts = [read(item).values for item in items]
    named = (
        all(word[0].isupper() or word[0].isdigit() for word in item.split())
        or not any(isinstance(one, str) for one in part)
        for item, part in zip(items, parts, strict=True)
    )
    # A day such as "March 5, 2026" is no list: apart, its parts mean something else.
    apart = [one for part in parts for one in part]
    is_list = len(items) > 1 and all(parts) and all(named)
    if is_list and apart == [one for one in read(value).values if one != "and"]:
        yield items


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what a value holds that says something, each with the name of its argument."""
    left = [(name, value)]
    while left:
        name, value = left.pop()
        if isinstance(value, (Day, Time)):
            yield name, value
        elif isinstance(value, Mapping):
            left += [(str(key), item) for key, item in value.items()]
        elif isinstance(value, (list, tuple)):
            left += [(name, item) for item in value]
        elif isinstance(value, str):
            parts = read(value).values
            if len(parts) == 2 and all(isinstance(part, (Day, Time)) for part in parts):
                yield from ((name, part) for part in parts)
            elif normalise(value).strip():
                yield name, value
        elif value is not None:
            yield name, value


def _places_of(whole: Text, value: Any, sense: Sense) -> Iterator[_Place]:
    if isinstance(value, bool):
        yield from _truth(whole, value, sense.name)
        return
    if isinstance(value, (int, float, Decimal)):
        found = _of_number(whole, value, sense)
    elif isinstance(value, str):
        found = (
            place
            for other in (value, *sense.stands_for(value))
            for place in _of_text(whole, other, sense)
        )
    else:
        found = _of_moment(whole, value, sense)
    yield from (_judged(whole.plain, *place) for place in found)


def _judged(plain: str, start: int, end: int) -> _Place:
    """Return how a text speaks of what stands at a place."""
    before, after = plain[max(0, start - _REACH) : start], plain[end : end + _REACH]
    if _DENIED_BEFORE.search(before) or _DENIED_AFTER.match(after):
        return _Place(_DENIED, start, end)
    clause = before[max((m.end() for m in _CLAUSE_END.finditer(before)), default=0) :]
    end_of_clause, closing = _CLAUSE_END.search(after), _SENTENCE_END.search(after)
    rest = after[: end_of_clause.start()] if end_of_clause else after
    asks = closing is not None and closing.group() in ("?", "\uff1f")
    asks = asks and _OFFER.search(after) is None
    doubtful = asks or _DOUBT_BEFORE.search(clause) or _DOUBT_AFTER.match(rest)
    return _Place(_DOUBTFUL if doubtful else _STATED, start, end)


def _of_number(whole: Text, value: float | Decimal, sense: Sense) -> Iterator[tuple[int, int]]:
    number = Decimal(repr(value) if isinstance(value, float) else value)
    percent = number * 100 if -100 <= number <= 100 else None
    for tokens in (whole.tokens, whole.written):
        for token, after in zip_longest(tokens, tokens[1:]):
            share = after is not None and after.value == "%" and token.value == percent
            if share or token.value == number:
                yield token.start, token.end
    parts = {"year", "month", "day", "hour", "minute"} & {*words(sense.name)}
    for token in whole.tokens if parts else ():
        if any(getattr(token.value, part, None) == number for part in parts):
            yield token.start, token.end
    if "month" in parts and value in range(1, 13):
        month = rf"\b{MONTHS[int(value) - 1]}\b"
        yield from (match.span() for match in re.finditer(month, whole.plain))
    if is_moment(value):
        local = datetime.fromtimestamp(float(value), ZoneInfo(sense.zone))
        yield from _of_moment(whole, Time(local.hour, local.minute), sense)


def _of_moment(whole: Text, value: Day | Time, sense: Sense) -> Iterator[tuple[int, int]]:
    if isinstance(value, Time):
        times = (t for t in whole.tokens if isinstance(t.value, Time) and t.value.may_be(value))
        yield from ((token.start, token.end) for token in times)
        return
    for day, start, end in days(whole, sense.today):
        if day.may_be(value, sense.today) if value.year else day[1:] == value[1:]:
            yield start, end


def _of_text(whole: Text, value: str, sense: Sense) -> Iterator[tuple[int, int]]:
    """Yield the places of a text, or of the day or time that it is."""
    wanted = read(value)
    if len(wanted.values) == 1 and isinstance(wanted.values[0], (Day, Time)):
        yield from _of_moment(whole, wanted.values[0], sense)
    yield from _runs(whole.tokens, wanted.values)
    yield from _runs(whole.written, [token.value for token in wanted.written])
    if is_phone(value) or any(map(str.isalpha, value)) or not words(value):
        pattern = spelled(value) or re.escape(normalise(value).strip())
        yield from (match.span() for match in re.finditer(pattern, whole.plain))


def _runs(held: Sequence[Token], wanted: Sequence[Value]) -> Iterator[tuple[int, int]]:
    """Yield the places where tokens stand in a row; symbols count where one is wanted."""
    if not wanted:
        return
    if _SYMBOLS.isdisjoint(wanted):
        held = [token for token in held if token.value not in _SYMBOLS]
    keys = [_key(token.value) for token in held]
    # One search in one text: comparing at each token would take the product of both lengths.
    ends = list(accumulate((len(key) + 1 for key in keys), initial=0))
    row, run = "\0".join(["", *keys, ""]), "\0".join(["", *map(_key, wanted), ""])
    at = row.find(run)
    while at >= 0:
        first = bisect_left(ends, at)
        yield held[first].start, held[first + len(wanted) - 1].end
        at = row.find(run, at + 1)


def _key(value: Value) -> str:
    if isinstance(value, Decimal):
        figures = format(value or Decimal(0), "f")
        return "#" + (figures.rstrip("0").rstrip(".") if "." in figures else figures)
    return value if isinstance(value, str) else f"@{value}"


def is_phone(value: str) -> bool:
    """Tell whether a text is a phone number, or another with as many digits, as people part it."""
    return _PHONE.fullmatch(value.strip()) is not None


def spelled(value: str) -> str:
    """Return a regex of a phone number's digits, or of a text's words, however they are parted."""
    if is_phone(value):
        parted = r"[\s().-]*".join(re.findall(r"\d", value))
        return rf"(?<!\d)(?:\+|00)?{parted}(?!\d)"
    pieces = (words(part) for part in re.findall(r"[^\W_]+", value))
    spaced = r"[\W_]+".join(r"[\W_]*".join(map(re.escape, piece)) for piece in pieces)
    return rf"(?<![^\W_])(?<!\d[.,:/-]){spaced}(?![^\W_])(?![.,:/-]\d)" if spaced else ""


def _truth(whole: Text, value: bool, name: str) -> Iterator[_Place]:
    """Yield how well a text says that something is so, or not so; by no words of its own."""
    for match in _TRUTH.finditer(whole.plain):
        strength = _judged(whole.plain, *match.span()).strength
        so = (match[0].split()[-1] in _FALSE) is (strength == _DENIED)
        if so is value:
            yield _Place(max(strength, _DOUBTFUL))
    parts = set(words(name))
    about = {part for part in parts if len(part) >= _LEAST} or parts - _SMALL
    for token in (token for token in whole.written if token.value in about):
        strength = _judged(whole.plain, token.start, token.end).strength
        lacks = strength == _DENIED or whole.plain.endswith("no ", 0, token.start)
        yield _Place(strength if value and not lacks else _DENIED if value else _DOUBTFUL)


def is_moment(value: Any) -> bool:
    """Tell whether a JSON value may be POSIX seconds."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and MOMENTS[0] <= value <= MOMENTS[1]
