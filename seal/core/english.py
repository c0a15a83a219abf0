"""A text as words, numbers, days and times of day, however English writes them.

- Number: digits with thousands' commas, a sign or an exponent; words up to billions ("twenty-one",
  "a hundred and five", "2.5 million"); "3rd", and "the third". "The first" and "the second" order
  what is told, and "one" in "this one" stands for a thing: those are words.
- Day: ISO 8601; with the month's name, in any order; with slashes or dots where only one order
  gives a day (3/22/2024, but not 3/4/2024). Relative to a given day: "tomorrow", "on Friday".
- Time of day: 17:30, 5:30 pm, "5 in the evening", "half past five", "5 o'clock", noon.

What joins digits to something else stays whole ("AB-12", "10:30:00"), so that a part of it is never
taken for a number of its own. Not read: decimal commas, other languages.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from seal.core.text import CJK, HANGUL, words

MONTHS = words(
    "january february march april may june july august september october november december"
)
WEEKDAYS = words("monday tuesday wednesday thursday friday saturday sunday")
_TO_19 = words(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS = words("twenty thirty forty fifty sixty seventy eighty ninety")
NUMBER_WORDS: dict[str, int] = dict(
    zip(_TO_19 + _TENS, [*range(20), *range(20, 100, 10)], strict=True)
)
_NTH = words(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth"
    " fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth"
)
_ORDINALS = dict(zip(_NTH, [*range(1, 21), 30], strict=True))
_SCALES = {"thousand": 1000, "million": 10**6, "billion": 10**9}
_UNITS = words("dollar dollars usd bucks euro euros eur yen jpy gbp percent")
_SYMBOLS = dict(zip(_UNITS, "$$$$€€€¥¥£%", strict=True))
"""Words after a number to the symbol that stands for them."""


def _any_of(alternatives: Iterable[str]) -> str:
    return f"(?:{'|'.join(alternatives)})"


MONTH = _any_of([*MONTHS, *(month[:3] for month in MONTHS), "sept"])
"""The name of a month, or its short form, as a regex."""
_SCALE, _UNIT = _any_of(_SCALES), _any_of(_SYMBOLS)
_TO_99 = rf"(?:{_any_of(_TENS)}(?:[ -]{_any_of(_TO_19[1:10])})?|{_any_of(_TO_19[:0:-1])})\b"
_TO_999 = rf"(?:(?:a|{_TO_99}) hundred\b(?:(?: and)? {_TO_99})?|{_TO_99})"
_FIGURES = r"(?:\d{1,3}(?:,\d{3}){1,5}|\d{1,15})(?:\.\d{1,15})?"
_SCALED = rf"(?:{_TO_999}|a|{_FIGURES}) {_SCALE}\b"
_BEFORE_A_THING = _any_of(
    f"(?<={word} )" for word in words("this that the which no any every each other first last")
)
"""What stands before "one" where that is no number."""
_COUNT = re.compile(
    r"(?<![\w.,:/-])(?=[-+\w])"
    rf"(?!{_BEFORE_A_THING}one\b(?! (?:hundred|{_SCALE})))(?!one(?: (?:of|another|thing|more)\b|'))"
    rf"((?:(?:minus|negative) )?(?:{_SCALED}(?:,? (?:and )?{_SCALED})*(?:,? (?:and )?{_TO_999})?"
    rf"|{_any_of(_TENS)}[ -]{_any_of(_NTH[:9])}|{_TO_999}|zero)\b"
    rf"|(?<=the ){_any_of(_NTH[2:])}\b"
    rf"|[-+]?\d{{1,15}}(?:st|nd|rd|th)\b"
    rf"|(?:minus|negative) {_FIGURES}(?![.\w])|[-+]?{_FIGURES}(?=[ -]{_UNIT}\b))"
    rf"(?:[ -]({_UNIT})\b)?"
)
"""A number with words in it: "minus five", "2.5 million dollars", "thirty-third"; not "AB-five"."""

_NUMBERED = rf"(?:\d\d?(?:st|nd|rd|th)?\b|(?:(?:twenty|thirty)[- ])?{_any_of(_NTH)})"
DAY = re.compile(
    r"\b(?=\w)(?:(?<![./-])(?:\d{4}-\d\d-\d\d(?=t\d\d:\d\d(?::00)?z?(?![\w:]|\.\d))"
    r"|(?:\d{4}(?:-\d\d?-|/\d\d?/|\.\d\d?\.)\d\d?|\d\d?(?:/\d\d?/|\.\d\d?\.)\d{4})(?![\w/-]))"
    rf"|(?:(?<![./-]){_NUMBERED}[- ](?:of )?{MONTH}\b"
    rf"|{MONTH}\b(?:[- ]|\.[- ]?)(?:the )?{_NUMBERED}(?![\w:]))(?:\.?(?:,|,?[- ])\d{{4}}(?!\w))?)",
    re.IGNORECASE,
)
"""A day as it is written: "May 1st, 2024", "1-May-2024", "3/22/2024"; also without its year."""
_AHEAD = {"day after tomorrow": 2, "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}
_NEAR = re.compile(rf"\b(?:{_any_of([*_AHEAD, *WEEKDAYS])}|\d\d?(?:st|nd|rd|th))\b")
"""What names a day to those who know today's."""
_HOUR = rf"(?:\d\d?|{_any_of(_TO_19[1:13])})"
_PART = r" (?:in the (?:morning|afternoon|evening|night)|at night)\b"
_HALF = r" ?[ap]\.?m\b\.?"
TIME = re.compile(
    r"(?<=\d\dt)\d\d:\d\d(?::00)?z?(?![\w:]|\.\d)"
    rf"|\b(?<![:.])(?=\w)(?:(?:half|quarter) (?:past|to) {_HOUR}\b(?:{_PART})?"
    rf"|\d\d?:\d\d(?:{_HALF}|{_PART})?(?![:\w])"
    rf"|{_HOUR}(?:{_HALF}| ?o'? ?clock\b(?:{_PART})?|{_PART})"
    r"|(?:morning|afternoon|evening)(?: at)? \d\d?(?::\d\d)?(?![:\w])"
    r"|(?:noon|midday|midnight)\b)",
    re.IGNORECASE,
)
"""A time of day as it is written, without seconds: "17:30", "5 p.m.", "half past five"."""

_NO_BLANKS = CJK + HANGUL + r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Scripts that set no blanks between words: each character is a token."""
_LETTER = rf"[^\W_{_NO_BLANKS}]"
_JOINED = rf"{_LETTER}+(?:(?:[-_/.,'@+]|(?<=\d):(?=\d)){_LETTER}+)*"
_CHUNK = re.compile(
    rf"(?P<alone>[{_NO_BLANKS}%$€£¥₹])"
    rf"|(?:(?<!\S)|(?<=[(\[{{<\"'=:~$€£¥₹]))[-+]?{_JOINED}|{_JOINED}"
)
_NUMBER = re.compile(
    r"([-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d{1,3})?)"
    r"(km|cm|mm|kg|mg|lbs?|mi|mph|ft|gb|mb|kb|ms|hrs?|mins?|[kmg]?hz|k?wh?|usd|eur|gbp|[cfghlsv])?"
)
_LIST = re.compile(r"\d+(?:,\d+){2,}|(?=\d*\.|\d+,[\d,]*\.)[\d.]+(?:,[\d.]+)+")
_COMPOUND = re.compile(r"\d+(?:\.\d+)?(?:-[^\W\d_]{3,})+")
_CODE = re.compile(r"0\d+")
"""Digits with a leading zero are a code, such as a post code: 02139 is not 2139."""
_THIN_SPACE = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_LIKE_ASCII = str.maketrans("\u2212\u2013\u2018\u2019", "--''")
_UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Marks that nobody sees, such as those of the direction of writing."""


class Day(NamedTuple):
    """A day, as far as a text tells it."""

    year: int | None
    month: int | None
    day: int

    @property
    def calendar(self) -> date:
        """The day of the calendar; of the year 2000 and of January where that is not told."""
        return date(self.year or 2000, self.month or 1, self.day)

    def may_be(self, other: Day, today: date | None) -> bool:
        """Tell whether a day, told whole, may be this one: what is not told is near today."""
        if self == other or today is None:
            return self == other
        told = all(own in (None, its) for own, its in zip(self, other, strict=True))
        reach = timedelta(366 if self.month else 31)
        return told and (self.year is not None or abs(other.calendar - today) <= reach)


class Time(NamedTuple):
    """A time of day."""

    hour: int
    minute: int
    sure: bool = True
    """False: the half of the day is not told ("5 o'clock")."""

    def may_be(self, other: Time) -> bool:
        """Tell whether two times are one, or may be where the half of the day is not told."""
        half = 24 if self.sure and other.sure else 12
        return self.minute == other.minute and (self.hour - other.hour) % half == 0


Value = str | Decimal | Day | Time


class Token(NamedTuple):
    """A word, a symbol, a number, a day or a time, with its place in the plain text."""

    value: Value
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Text:
    """A text without differences of case, width, dashes and quotation marks, and its tokens."""

    plain: str
    written: tuple[Token, ...]
    """Of numbers only those in digits are read, of days and times none."""
    tokens: tuple[Token, ...]
    """All is read."""

    @property
    def values(self) -> list[Value]:
        """The tokens without their places."""
        return [token.value for token in self.tokens]


def normalise(text: str) -> str:
    """Return the text without differences of case, width, dashes and quotation marks."""
    joined = _UNSEEN.sub("", _THIN_SPACE.sub("", text)).translate(_LIKE_ASCII)
    return unicodedata.normalize("NFKC", joined).casefold()


def read(text: str) -> Text:
    """Return the text as it is compared."""
    return (_kept if len(text) < _LONG else _kept_long)(text)


def _read(text: str) -> Text:
    plain = normalise(text)
    written: list[Token] = []
    for match in _CHUNK.finditer(plain):
        chunk = match.group()
        if match.lastgroup or chunk.isalpha():
            written.append(Token(chunk, *match.span()))
        else:
            written += _split(chunk, match.start())
    return Text(plain, tuple(written), tuple(_replaced(written, _spoken(plain))))


_LONG = 100_000
"""Characters of a text of which only one is kept."""
# An answer is held against every value of every result.
_kept, _kept_long = lru_cache(maxsize=256)(_read), lru_cache(maxsize=1)(_read)


def numbers(text: str) -> list[Decimal]:
    """Return the numbers that stand on their own in a text, in order; none of a day or time.

    >>> [str(number) for number in numbers("five of 1,200 on May 3, 2024 at 5 pm")]
    ['5', '1200']
    """
    return [value for value in read(text).values if isinstance(value, Decimal)]


def days(whole: Text, today: date | None = None) -> list[tuple[Day, int, int]]:
    """Return the days that a text names, with their places in its plain text, in order.

    Args:
        whole: Any text.
        today: Its clock; None: what has no month is no day.
    """
    found = [(t.value, t.start, t.end) for t in whole.tokens if isinstance(t.value, Day)]
    if today is not None:
        taken = {place for _, start, end in found for place in range(start, end)}
        for match in _NEAR.finditer(whole.plain):
            if match.start() not in taken:
                found.append((_near(match[0], today), *match.span()))
    return sorted(found, key=lambda one: one[1])


def _near(said: str, today: date) -> Day:
    if said in WEEKDAYS:
        ahead = (WEEKDAYS.index(said) - today.weekday()) % 7 or 7
    elif said in _AHEAD:
        ahead = _AHEAD[said]
    else:
        return Day(None, None, int(said[:-2]))
    day = today + timedelta(ahead)
    return Day(day.year, day.month, day.day)


def day_of(said: str) -> Day | None:
    """Return the day that a match of `DAY` is; None: there is none, or its order is not clear."""
    parts = words(said)
    figures = [int(part) for part in re.findall(r"\d+", said)]
    names = [month[:3] for month in MONTHS]
    month = next((names.index(part[:3]) + 1 for part in parts if part[:3] in names), None)
    if month is not None:
        year = figures.pop() if figures and figures[-1] > 31 else None
        worded = _count(re.sub(r"\d", "", said).casefold())
        day = Day(year, month, figures[0] if figures else int(worded))
    elif figures[0] > 31:
        day = Day(*figures)
    else:
        first, second, year = figures
        if first <= 12 and second <= 12 and first != second:
            return None
        day = Day(year, *((first, second) if second > 12 else (second, first)))
    try:
        return day if day.calendar else None
    except ValueError:
        return None


def time_of(said: str) -> Time | None:
    """Return the time that a match of `TIME` is; None: there is no such time."""
    said = said.casefold()
    if said in ("noon", "midday", "midnight"):
        return Time(0 if said == "midnight" else 12, 0)
    figures = [int(part) for part in re.findall(r"\d+", said)]
    hour = figures[0] if figures else int(_count(said))
    minute = figures[1] if len(figures) > 1 else 0
    if said.startswith(("half", "quarter")):
        away = 30 if said.startswith("half") else 15
        hour, minute = divmod(hour * 60 + (away if " past " in said else -away), 60)
    part = re.search(r"[ap](?=\.?m\b)|morning|afternoon|evening|night", said)
    if part is not None and hour <= 12:
        at_night = part[0] == "night" and 6 <= hour < 12
        hour = hour % 12 + 12 * (at_night or part[0] in ("p", "afternoon", "evening"))
    sure = ":" in said or part is not None
    return Time(hour, minute, sure) if hour < 24 and minute < 60 else None


def _count(said: str) -> Decimal:
    """Return the number that words and figures are: "minus a hundred and 5th" is -105."""
    total = group = Decimal(0)
    for part in re.findall(r"[a-z]+|[\d.,]*\d", said):
        if part[-1].isdigit():
            group = Decimal(part.replace(",", ""))
        elif part == "a":
            group = Decimal(1)
        elif part == "hundred":
            group *= 100
        elif part in _SCALES:
            total, group = total + group * _SCALES[part], Decimal(0)
        else:
            group += NUMBER_WORDS.get(part, _ORDINALS.get(part, 0))
    return -(total + group) if said.startswith(("minus", "negative", "-")) else total + group


def _spoken(plain: str) -> Iterator[list[Token]]:
    """Yield what is read of a text besides numbers in digits: its tokens, in order."""
    found: list[tuple[int, int, Value | None, str]]
    found = [(*m.span(), day_of(m[0]), "") for m in DAY.finditer(plain)]
    found += [(*m.span(), time_of(m[0]), "") for m in TIME.finditer(plain)]
    found += [(*m.span(), _count(m[1]), _SYMBOLS.get(m[2], "")) for m in _COUNT.finditer(plain)]
    reached = 0
    for start, end, value, symbol in sorted(found, key=lambda one: (one[0], -one[1])):
        if value is not None and start >= reached:
            reached = end
            number = [Token(value, start, end)]
            if symbol == "%":
                number.append(Token(symbol, end, end))
            elif symbol:
                number.insert(0, Token(symbol, start, start))
            yield number


def _replaced(written: list[Token], spoken: Iterator[list[Token]]) -> Iterator[Token]:
    """Yield the tokens with what is read in the place of what it is written by."""
    at = 0
    for tokens in spoken:
        start, end = tokens[0].start, tokens[-1].end
        while at < len(written) and written[at].start < start:
            yield written[at]
            at += 1
        yield from tokens
        while at < len(written) and written[at].start < end:
            at += 1
    yield from written[at:]


def _split(chunk: str, start: int) -> Iterator[Token]:
    """Yield a chunk as a number, a number and its unit, one piece with digits, or its words."""
    end = start + len(chunk)
    number = _NUMBER.fullmatch(chunk)
    if number and not _CODE.fullmatch(chunk):
        middle = start + number.end(1)
        yield Token(Decimal(number[1].replace(",", "")), start, middle)
        if number[2]:
            yield Token(number[2], middle, end)
    elif (listed := _LIST.fullmatch(chunk)) or _COMPOUND.fullmatch(chunk):
        for part in re.finditer(r"[^,]+" if listed else r"[^-]+", chunk):
            yield from _split(part.group(), start + part.start())
    elif any(character.isdigit() for character in chunk):
        yield Token(chunk.lstrip("+"), start, end)
    else:
        for word in re.finditer(r"[^\W_]+", chunk):
            yield Token(word.group(), start + word.start(), start + word.end())
