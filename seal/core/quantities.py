"""A text as words, numbers, units, days and times of day: one pass, in time linear in its length.

- Number: digits with thousands' marks, a decimal point or comma, a sign, an exponent, a scale
  ("1.2 million", "5k"); English words up to billions ("a hundred and five", "two and a half",
  "three point five"); "3rd", and "the third". "The first" and "the second" order what is told, and
  "one" in "this one" stands for a thing: those are words. A comma before one or two digits is
  decimal ("410,60"); before three it parts thousands, unless the text has a number that shows the
  contrary ("1.200,50") or is of another language.
- Unit of a number, before or after it (`words/units.txt`): money, percent, temperature, length,
  weight and more; a label, too ("Hours: 2"). Parts of one quantity are one ("1 h 20 min",
  "5 dollars and 60 cents").
- Day: ISO 8601; with the month's name, in any order; with slashes or dots where only one order
  gives a day (3/22/2024; of 3/4/2024 both days are told as possible). Relative to a given day:
  "tomorrow", "on Friday".
- Time of day: 17:30, 17h30, 5.30pm, "5 in the evening", "half past five", "ten to six",
  "five thirty pm", "5 o'clock", noon. The number of "at 8" may be one.

What joins digits to something else stays whole ("AB-12", "10.0.0.1"), so that a part of it is never
taken for a number of its own. Words are English; digits of every script are read.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import NamedTuple

from seal.core.text import CJK, HANGUL, shipped_text, word_list, words

# -- Words.

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
_SCALES = {"dozen": 12, "thousand": 1000, "million": 10**6, "billion": 10**9}
_SHORT_SCALES = {"k": 1000, "mn": 10**6, "mio": 10**6, "bn": 10**9}
"""Written to the digits of a number."""


class _UnitKind(NamedTuple):
    """What a unit measures."""

    dimension: str
    factor: Decimal
    """Of the dimension's own unit."""
    shift: Decimal
    """Added before the factor, of temperatures."""


def _units() -> tuple[dict[str, _UnitKind], dict[str, str], dict[str, str]]:
    """Return the kinds of units, and what is written apart from a number, and to its digits."""
    kinds: dict[str, _UnitKind] = {}
    apart: dict[str, str] = {}
    glued: dict[str, str] = {}
    for line in shipped_text(__package__, "words/units.txt").splitlines():
        (name, dimension, factor, *shift), forms = (
            line.partition(":")[0].split(),
            line.split(":")[1],
        )
        above, _, below = factor.partition("/")
        amount = Decimal(above) / Decimal(below or 1)
        kinds[name] = _UnitKind(dimension, amount, Decimal(shift[0] if shift else 0))
        spelled, _, short = forms.partition(";")
        for form in spelled.split():
            apart |= {form: name, f"{form}s": name}
        glued |= dict.fromkeys(short.split(), name)
    return kinds, apart, apart | glued


_KINDS, _APART, _GLUED = _units()
UNITS = frozenset(_KINDS)
"""Names of units; each money is a dimension of its own."""
_CENTS = {"cent": "usd", "cents": "usd", "pence": "gbp", "penny": "gbp", "pennies": "gbp"}
_CENTS |= {"p": "gbp", "¢": "usd"}
_SIGNS = "$€£¥₹₩"

# -- Values.


class Unit(str):
    """Name of a unit of `UNITS`."""

    __slots__ = ()


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
    second: int = 0

    def may_be(self, other: Time) -> bool:
        """Tell whether two times are one, or may be where the half of the day is not told."""
        half = 24 if self.sure and other.sure else 12
        return self[1::2] == other[1::2] and (self.hour - other.hour) % half == 0


Value = str | Decimal | Day | Time
"""A word, a symbol or a `Unit`; a number; a day; a time."""


class Token(NamedTuple):
    """A value, with its place in the plain text."""

    value: Value
    start: int
    end: int
    others: tuple[Value, ...] = ()
    """What it may be besides: the 8 of "at 8" a time, 3/4/2024 one of two days."""


class Quantity(NamedTuple):
    """A number and its unit, with its place in the plain text."""

    number: Decimal
    unit: str | None
    """None: it has none, or one that `UNITS` does not hold."""
    start: int
    end: int
    parts: tuple[tuple[Decimal, str], ...] = ()
    """Of "141 days and 10 hours" both, the largest first; empty: it has no parts."""

    @property
    def dimension(self) -> str | None:
        """What it measures, such as length; None without a unit."""
        return _KINDS[self.unit].dimension if self.unit else None

    @property
    def amount(self) -> Decimal:
        """How much it is, in the dimension's own unit."""
        if self.unit is None:
            return self.number
        kind = _KINDS[self.unit]
        return (self.number + kind.shift) * kind.factor


@dataclass(frozen=True)
class Text:
    """A text without differences of case, width, dashes and quotation marks, and its tokens."""

    source: str
    """The text; its accents are composed, blanks that part its digits and marks of emphasis out."""
    plain: str
    written: tuple[Token, ...]
    """Of numbers only those in digits are read, of days and times none."""
    tokens: tuple[Token, ...]
    """All is read; a unit stands after its number."""

    @property
    def values(self) -> list[Value]:
        """The tokens without their places."""
        return [token.value for token in self.tokens]

    def said(self, start: int, end: int) -> str:
        """Return the words of the source that stand at a place of the plain text."""
        return self.source[self._places[start] : self._places[end - 1] + 1] if start < end else ""

    @cached_property
    def _places(self) -> Sequence[int]:
        """For each place of the plain text the one in the source."""
        folding = _folding(self.source)
        if not folding:
            return range(len(self.source) + 1)
        lengths = (len((folding.get(ord(c), c) or "").lower()) for c in self.source)
        places = [place for place, length in enumerate(lengths) for _ in range(length)]
        return [*places, len(self.source)]

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """The numbers with their units, in order; parts of one quantity are one."""
        return tuple(_joined(self.tokens))


# -- Numbers, days and times in words.


def _any_of(alternatives: Iterable[str]) -> str:
    return f"(?:{'|'.join(alternatives)})"


_MONTH = _any_of([*MONTHS, *(month[:3] for month in MONTHS), "sept"])
_SCALE = _any_of(_SCALES)
_DIGIT = _any_of(_TO_19[:10])
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
    rf"(?:(?:minus|negative) )?"
    rf"(?:{_SCALED}(?:,? (?:and )?{_SCALED})*(?:,? (?:and )?{_TO_999})?"
    rf"|{_any_of(_TENS)}[ -]{_any_of(_NTH[:9])}|{_TO_999}|zero)\b"
    rf"(?: and a half\b| point(?: {_DIGIT}\b){{1,15}})?"
    rf"|(?<=the ){_any_of(_NTH[2:])}\b|(?:half )?an(?= hour\b)"
    rf"|(?<![\w.,:/-])[-+]?\d{{1,15}}(?:st|nd|rd|th)\b"
    rf"|(?<![\w.,:/-])(?:minus|negative) {_FIGURES}(?![.\w])"
)
"""A number with words in it: "minus five", "2.5 million", "thirty-third"; not "AB-five"."""
_NUMBERED = rf"(?:\d\d?(?:st|nd|rd|th)?\b|(?:(?:twenty|thirty)[- ])?{_any_of(_NTH)})"
_DAY = re.compile(
    r"\b(?=\w)(?:(?<![./-])(?:\d{4}-\d\d-\d\d(?=t(?:[01]\d|2[0-4]):[0-5]\d)"
    r"|(?:\d{4}(?:-\d\d?-|/\d\d?/|\.\d\d?\.)\d\d?|\d\d?(?:/\d\d?/|\.\d\d?\.)\d{4}"
    r"|\d\d?/\d\d?/\d\d)(?![\w/-]))"
    rf"|(?:(?<![./-]){_NUMBERED}[- ](?:of )?{_MONTH}\b"
    rf"|{_MONTH}\b(?:[- ]|\.[- ]?)(?:the )?{_NUMBERED}(?!\w|:\d))(?:\.?(?:,|,?[- ])\d{{4}}(?!\w))?)"
)
"""A day as it is written: "may 1st, 2024", "1-may-2024", "3/22/2024"; also without its year."""
_AHEAD = {"day after tomorrow": 2, "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1}
_NEAR = re.compile(rf"\b(?:{_any_of([*_AHEAD, *WEEKDAYS])}|\d\d?(?:st|nd|rd|th))\b")
"""What names a day to those who know today's."""
_HOUR_WORD = _any_of(_TO_19[12:0:-1])
_HOUR = rf"(?:\d\d?|{_HOUR_WORD})"
_ONE_TO_9 = _any_of(_TO_19[1:10])
_MINUTES = (
    rf"(?:(?:oh|o) {_ONE_TO_9}|{_any_of(_TENS[:4])}(?:[ -]{_ONE_TO_9})?|{_any_of(_TO_19[:9:-1])})"
)
_PART = (
    r" (?:in the (?:morning|afternoon|evening|night)|at night|tonight"
    r"|(?:this |tomorrow )?(?:morning|afternoon|evening))\b"
)
_HALF = r" ?[ap]\.?m\b\.?"
_ENDS = rf"(?=\W*$|[.,;:!?)\n]|{_PART}|{_HALF})"
_TIME = re.compile(
    r"(?<=\d\dt)\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:z|[-+]\d\d:?\d\d)?(?![:\w])"
    r"|\b(?<![:.])(?=\w)(?:(?:"
    rf"(?:half|quarter|{_any_of(_TO_19[1:])}|twenty(?:-five)?|\d\d?)"
    rf"(?:(?<=half)|(?<=quarter)| min(?:ute)?s) (?:past|to|after|before) {_HOUR}\b"
    rf"|(?:five|ten|twenty(?:-five)?|\d\d?) past {_HOUR}\b"
    rf"|(?:five|ten|twenty(?:-five)?) to {_HOUR}\b{_ENDS}"
    rf")(?:{_PART}|{_HALF})?"
    rf"|\d\d?:\d\d(?::\d\d)?(?:{_HALF}|{_PART}|h\b)?(?!\w|:\d)|\d\d?\.\d\d{_HALF}|\d\d?h\d\d\b"
    rf"|{_HOUR_WORD}[ -]{_MINUTES}\b(?:{_HALF}|{_PART})"
    rf"|(?:(?<=\bat )|(?<=\bby )){_HOUR_WORD}[ -]{_MINUTES}\b(?! {_SCALE})"
    rf"|{_HOUR}(?:{_HALF}| ?o'? ?clock\b(?:{_PART})?|{_PART})"
    r"|(?:morning|afternoon|evening)(?: at)? \d\d?(?::\d\d)?(?![:\w])"
    r"|(?:noon|midday|midnight)\b)"
)
"""A time of day as it is written: "17:30", "5 p.m.", "half past five"."""

# -- Reading.

_NO_BLANKS = CJK + HANGUL + r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Scripts that set no blanks between words: each character is a token."""
_LETTER = rf"[^\W_{_NO_BLANKS}]"
_JOINED = rf"{_LETTER}+(?:(?:[-_/.,'@+]|(?<=\d):(?=\d)){_LETTER}+)*"
_CHUNK = re.compile(
    rf"(?P<alone>[{_NO_BLANKS}%{_SIGNS}°])"
    rf"|(?:(?<!\S)|(?<=[(\[{{<\"'=:~{_SIGNS}]))[-+]?{_JOINED}|{_JOINED}"
)
_NUMBER = re.compile(
    r"([-+]?(?:\d{1,3}(?:,\d{2,3})*,\d{3}|\d{1,3}(?:'\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d{1,3})?)"
    r"([a-z]{1,4})?"
)
_COMMA_NUMBER = re.compile(
    r"([-+]?(?:\d{1,3}(?:\.\d{3})+|\d+),(?:\d{1,2}|\d{4,15})|[-+]?\d{1,3}(?:\.\d{3})+)([a-z]{1,4})?"
)
"""With a decimal comma, or with points that part thousands."""
_SHOWS_COMMA = re.compile(r"\d\.\d{3},\d")
_LIST = re.compile(r"\d+(?:,\d+){2,}|(?=\d*\.|\d+,[\d,]*\.)[\d.]+(?:,[\d.]+)+")
_COMPOUND = re.compile(r"\d+(?:\.\d+)?(?:-[^\W\d_]{3,})+|[1-9]\d{0,2}(?:\.\d+)?-[1-9]\d{0,2}")
_CODE = re.compile(r"[-+]?0\d+")
"""Digits with a leading zero are a code, such as a post code: 02139 is not 2139."""
_THIN_SPACE = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_LIKE_ASCII = {0x2212: "-", 0x2013: "-", 0x2018: "'", 0x2019: "'"}
_UNSEEN = frozenset(
    map(chr, (0xAD, 0x200B, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF))
)
"""Marks that nobody sees, such as those of the direction of writing."""
_BEFORE_TIME = frozenset(words("at by until till from around before after"))
_WORD = re.compile(r"[^\W\d_]+")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|`)(?=[^\s*`])([^*`\n]*[^\s*`])\1(?![*`])")
"""Takes "**2** hours" and "`B12`"; not "2*3*4" and "a * b"."""


def normalise(text: str) -> str:
    """Return the text without differences of case, width, dashes, quotation marks and emphasis."""
    return _folded(_composed(text))


def _folded(composed: str) -> str:
    return composed.translate(_folding(composed)).lower()


def _composed(text: str) -> str:
    """Return a text as its places are counted: NFC, no thin spaces in numbers, no emphasis."""
    bare = _EMPHASIS.sub(r"\2", text) if "*" in text or "`" in text else text
    return bare if bare.isascii() else unicodedata.normalize("NFC", _THIN_SPACE.sub("", bare))


_CONTROL = re.compile(r"(?:\\u00[01][0-9A-Fa-f])+")
"""Control characters as JSON writes them: their digits are no numbers."""


def _folding(text: str) -> Mapping[int, str | None]:
    """Return what each character beyond ASCII of a text is compared as."""
    strange = set() if text.isascii() else {c for c in text if c > "\x7f"}
    folded = {ord(c): unicodedata.normalize("NFKC", c).casefold() for c in strange}
    return (
        {**folded, **_LIKE_ASCII, **dict.fromkeys(map(ord, strange & _UNSEEN))} if strange else {}
    )


def read(text: str) -> Text:
    """Return the text as it is compared."""
    return (_kept if len(text) < _LONG else _kept_long)(text)


def _read(text: str) -> Text:
    source = _composed(_CONTROL.sub(" ", text) if "\\u00" in text else text)
    plain = _folded(source)
    comma = _SHOWS_COMMA.search(plain) is not None or is_foreign(plain)
    written: list[Token] = []
    for match in _CHUNK.finditer(plain):
        chunk = match.group()
        if match.lastgroup or chunk.isalpha():
            written.append(Token(chunk, *match.span()))
        else:
            written += _split(chunk, match.start(), comma)
    tokens = list(_replaced(written, _spoken(plain)))
    return Text(source, plain, tuple(written), tuple(_with_units(plain, tokens)))


_LONG = 100_000
"""Characters of a text of which only one is kept."""
# An answer is held against every value of every result.
_kept, _kept_long = lru_cache(maxsize=256)(_read), lru_cache(maxsize=1)(_read)


def is_foreign(plain: str) -> bool:
    """Tell whether a text is of another language than English, as far as its small words tell.

    Args:
        plain: In small letters.
    """
    said = _WORD.findall(plain)
    if sum(word[0] <= "\u024f" for word in said) * 2 < len(said):
        return True
    english, foreign = word_list("english_small"), word_list("foreign_small")
    theirs = [word for word in said if word in foreign - english]
    return len({*theirs}) > 1 and len(theirs) > sum(word in english for word in said)


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


def _days_of(said: str) -> list[Day]:
    """Return the days that a match of `_DAY` may be: one, two where its order is not clear."""
    parts = words(said)
    figures = [int(part) for part in re.findall(r"\d+", said)]
    names = [month[:3] for month in MONTHS]
    month = next((names.index(part[:3]) + 1 for part in parts if part[:3] in names), None)
    if month is not None:
        year = figures.pop() if figures and figures[-1] > 31 else None
        told = [(year, month, figures[0] if figures else int(_count(re.sub(r"\d", "", said))))]
    elif figures[0] > 31:
        told = [(figures[0], figures[1], figures[2])]
    else:
        first, second, year = figures
        year += 2000 if year < 100 else 0
        told = [(year, first, second), (year, second, first)]
    found = []
    for day in dict.fromkeys(Day(*one) for one in told):
        try:
            found += [day] if day.calendar else []
        except ValueError:  # no such day
            continue
    return found


def _time_of(said: str) -> Time | None:
    """Return the time that a match of `_TIME` is; None: there is no such time."""
    if said in ("noon", "midday", "midnight"):
        return Time(0 if said == "midnight" else 12, 0)
    clock = said.partition("z")[0].partition("+")[0] if said[:2].isdigit() and "z" in said else said
    part = re.search(r"(?<![a-z])[ap](?=\.?m\b)|morning|afternoon|evening|night", clock)
    bare = re.sub(r"o'? ?clock", "", clock[: part.start()] if part else clock)
    away = re.match(r"(half|quarter|[\w-]+)(?: min(?:ute)?s)? (past|to|after|before) ", bare)
    figures = [int(one) for one in re.findall(r"\d+", bare[away.end() if away else 0 :])]
    told = [word for word in words(bare[away.end() if away else 0 :]) if word in NUMBER_WORDS]
    if not figures and told:
        figures = [NUMBER_WORDS[told[0]], sum(NUMBER_WORDS[word] for word in told[1:])]
    if not figures and part:
        figures = [int(one) for one in re.findall(r"\d+", clock[part.end() :])]
    hour, minute, second = (*figures[:3], 0, 0, 0)[:3]
    if away:
        shift = {"half": 30, "quarter": 15}.get(away[1]) or int(_count(away[1]))
        shift = shift if away[2] in ("past", "after") else -shift
        hour, minute = divmod((hour * 60 + shift) % 1440, 60)
    if part is not None and hour <= 12:
        at_night = part[0] == "night" and 5 <= hour < 12
        hour = hour % 12 + 12 * (at_night or part[0] in ("p", "afternoon", "evening"))
    sure = bool(re.search(r"\d[:h]\d", said)) or part is not None or hour > 12
    is_time = hour < 24 and minute < 60 and second < 60
    return Time(hour, minute, sure, second) if is_time else None


def _count(said: str) -> Decimal:
    """Return the number that words and figures are: "minus a hundred and 5th" is -105."""
    total = group = Decimal(0)
    said, _, decimals = said.partition(" point ")
    said, half, _ = said.partition(" and a half")
    for part in re.findall(r"[a-z]+|(?<![\d.,])[\d.,]*\d", said):
        if part[-1].isdigit():
            group = Decimal(part.replace(",", ""))
        elif part in ("a", "an"):
            group = group or Decimal(1)
        elif part == "half":
            group = Decimal("0.5")
        elif part == "hundred":
            group *= 100
        elif part in _SCALES:
            total, group = total + group * _SCALES[part], Decimal(0)
        else:
            group += NUMBER_WORDS.get(part, _ORDINALS.get(part, 0))
    figures = "".join(str(NUMBER_WORDS[word]) for word in decimals.split())
    number = total + group
    if half or decimals:
        number += Decimal("0.5" if half else f"0.{figures}")
    return -number if said.startswith(("minus", "negative", "-")) else number


def _spoken(plain: str) -> Iterator[list[Token]]:
    """Yield what is read of a text besides numbers in digits: its tokens, in order."""
    found: list[tuple[int, int, Value | None, tuple[Value, ...]]] = []
    for match in _DAY.finditer(plain):
        days = _days_of(match[0])
        told = (days[0] if len(days) == 1 else match[0]) if days else None
        found.append((*match.span(), told, tuple(days[1:] and days)))
    found += [(*m.span(), _time_of(m[0]), ()) for m in _TIME.finditer(plain)]
    found += [(*m.span(), _count(m[0]), ()) for m in _COUNT.finditer(plain)]
    reached = 0
    for start, end, value, others in sorted(found, key=lambda one: (one[0], -one[1])):
        if value is not None and start >= reached:
            reached = end
            yield [Token(value, start, end, others)]


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


def _split(chunk: str, start: int, comma: bool) -> Iterator[Token]:
    """Yield a chunk as a number, a number and its unit, one piece with digits, or its words."""
    end = start + len(chunk)
    number, unit = _number_of(chunk, comma)
    if number is not None:
        yield Token(number, start, end - len(unit))
        if unit:
            yield Token(unit, end - len(unit), end)
    elif (listed := _LIST.fullmatch(chunk)) or _COMPOUND.fullmatch(chunk):
        for part in re.finditer(r"[^,]+" if listed else r"[^-]+", chunk):
            yield from _split(part[0], start + part.start(), False)
    elif any(character.isdigit() for character in chunk):
        yield Token(chunk.lstrip("+"), start, end)
    else:
        for word in re.finditer(r"[^\W_]+", chunk):
            yield Token(word[0], start + word.start(), start + word.end())


def _number_of(chunk: str, comma: bool) -> tuple[Decimal | None, str]:
    """Return the number that a chunk is, and the unit written to it; None: it is none.

    Args:
        chunk: Without blanks.
        comma: A comma is decimal in this text.
    """
    if chunk.isdecimal() and chunk[0] != "0":
        return Decimal(chunk), ""
    forms = (_COMMA_NUMBER, _NUMBER) if comma else (_NUMBER, _COMMA_NUMBER)
    found = next(filter(None, (form.fullmatch(chunk) for form in forms)), None)
    if found is None or _CODE.fullmatch(found[1]) or (found[2] or "") not in _AFTER_DIGITS:
        return None, ""
    figures, unit = found[1].replace("'", ""), found[2] or ""
    if found.re is _COMMA_NUMBER:
        figures = figures.replace(".", "").replace(",", ".")
    number = Decimal(figures.replace(",", ""))
    return (number, unit) if unit not in _SHORT_SCALES else (number * _SHORT_SCALES[unit], "")


_AFTER_DIGITS = {"", "p", *_SHORT_SCALES, *_GLUED}


# -- Units.


def _with_units(plain: str, tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield tokens; the unit of a number, before or after it, as a `Unit` after it."""
    at = 0
    while at < len(tokens):
        token = tokens[at]
        before = _APART.get(str(token.value), "")
        is_money = bool(before) and _KINDS[before].dimension == before != "%"
        if is_money and _follows(plain, tokens, at + 1) and _is_number(tokens, at + 1):
            number, last = tokens[at + 1], at + 1
            if plain[number.end : number.end + 1] == "m" and _follows(plain, tokens, at + 2):
                number, last = number._replace(value=Decimal(str(number.value)) * 10**6), at + 2
            unit, last = _unit_at(plain, tokens, last + 1)
            yield number._replace(start=token.start)
            yield Token(Unit(unit or before), number.end, number.end)
            at = last + 1
            continue
        at += 1
        if str(token.value) in _LABELS and _is_number(tokens, at):
            gap = plain[token.end : tokens[at].start]
            if gap.strip(" ") in _LABELLING and not _unit_at(plain, tokens, at + 1)[0]:
                yield tokens[at]._replace(start=token.start)
                yield Token(Unit(_APART[str(token.value)]), tokens[at].end, tokens[at].end)
                at += 1
                continue
        if not isinstance(token.value, Decimal):
            yield token
            continue
        unit, last = _unit_at(plain, tokens, at)
        yield (
            token if unit and unit != "h" else token._replace(others=_other(plain, tokens, at - 1))
        )
        if unit:
            yield Token(Unit(unit), tokens[at].start, tokens[last].end)
            at = last + 1


def _unit_at(plain: str, tokens: Sequence[Token], at: int) -> tuple[str, int]:
    """Return the unit at a place behind a number, and the last place of both."""
    if not _follows(plain, tokens, at):
        return "", at - 1
    said, further = str(tokens[at].value), str(tokens[at + 1].value) if at + 1 < len(tokens) else ""
    if said in ("°", "degree", "degrees", "deg") and further:
        unit = _GLUED.get(further, "")
        return (unit, at + 1) if _KINDS.get(unit, ("",))[0] == "temperature" else ("", at - 1)
    if said == "per" and further == "cent":
        return "%", at + 1
    if further and (unit := _APART.get(f"{said}_{further}", "")):
        return unit, at + 1
    if said in _FULL and further in _APART and _follows(plain, tokens, at + 1):
        return _APART[further], at + 1
    glued = tokens[at].start == tokens[at - 1].end
    unit = (_GLUED if glued else _APART).get(said, "%" if said == "%" else "")
    return (unit, at) if unit else ("", at - 1)


_LABELS = frozenset(form for form in _APART if form[-1] == "s" and form[:-1] in _APART)
"""Units that a number may stand behind, as in "Hours: 2"; "Day: 5" is no time that passes."""
_LABELLING = frozenset([":", "=", "|"])
_FULL = frozenset(["full", "whole", "more", "entire", "working", "business", "calendar"])
"""Words between a number and its unit: "three full days"."""


def _follows(plain: str, tokens: Sequence[Token], at: int) -> bool:
    """Tell whether nothing but a blank or dash stands between a token and the one before it."""
    return at < len(tokens) and plain[tokens[at - 1].end : tokens[at].start].strip(" ") in ("", "-")


def _is_number(tokens: Sequence[Token], at: int) -> bool:
    return at < len(tokens) and isinstance(tokens[at].value, Decimal)


def _other(plain: str, tokens: Sequence[Token], at: int) -> tuple[Value, ...]:
    """Return the time of day that a number may be: of "at 8", "19h", "19.30"."""
    token = tokens[at]
    number, said = Decimal(str(token.value)), plain[token.start : token.end]
    if not 0 <= number < 24 or number * 100 % 1:
        return ()
    hour, minute = int(number), int(number % 1 * 100)
    is_told = at > 0 and tokens[at - 1].value in _BEFORE_TIME
    behind = [one.value for one in tokens[at + 1 : at + 3]]  # "9 to 10 am"
    is_told = is_told or (behind[:1] == ["to"] and isinstance(behind[-1], Time))
    is_clock = re.fullmatch(r"\d\d?\.[0-5]\d", said) or plain[token.end : token.end + 1] == "h"
    if minute < 60 and (is_told or is_clock):
        return (Time(hour, minute, hour > 12),)
    return ()


def _joined(tokens: Sequence[Token]) -> Iterator[Quantity]:
    """Yield the numbers with their units; smaller parts that follow on are added."""
    held: Quantity | None = None
    reached = 0
    for place, token in enumerate(tokens):
        if not isinstance(token.value, Decimal):
            continue
        after = str(tokens[place + 1].value) if place + 1 < len(tokens) else ""
        unit = (
            after if place + 1 < len(tokens) and isinstance(tokens[place + 1].value, Unit) else None
        )
        one = Quantity(token.value, unit, token.start, token.end)
        if [t.value for t in tokens[place + 2 : place + 5]] == ["and", "a", "half"]:
            one = one._replace(number=one.number + Decimal("0.5"))
        if held is not None and (held.unit, after) in (("ft", "in"), ("h", "m")):
            one = one._replace(unit="inch" if after == "in" else "min")
        if cents := _CENTS.get(after):
            money = held.unit if held is not None and held.dimension == held.unit else None
            one = one._replace(number=one.number / 100, unit=money or cents)
        is_rest = held is not None and place - reached == 1 and _is_rest(one, held, tokens, place)
        if held is not None and is_rest:
            parts = 100 if held.unit != "h" else 60
            one = one._replace(number=one.number / parts, unit=held.unit)
        # "450 francs, about 0.94 francs" are two.
        is_smaller = bool(cents) or is_rest or held is None or one.unit != held.unit or after == ""
        between = [str(token.value) for token in tokens[reached + 1 : place][:_FAR_PART]]
        is_near = len(between) < 2 or (
            place - reached <= _FAR_PART and between[0] in _AND and {*between[1:]} <= _BEFORE_PART
        )
        if held is not None and is_near and is_smaller and _is_part(one, held):
            share = one.amount / _KINDS[str(held.unit)].factor
            told = (*(held.parts or ((held.number, str(held.unit)),)), (one.number, str(one.unit)))
            held = held._replace(number=held.number + share, end=one.end, parts=told)
            reached = place + 1
            continue
        if held is not None:
            yield held
        held, reached = one, place + (one.unit is not None)
    if held is not None:
        yield held


def _is_rest(one: Quantity, whole: Quantity, tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a number is the cents or minutes of what stands before it: "36 euros fifty"."""
    if one.unit is not None or not 10 <= one.number < 100 or one.number % 1:
        return False
    is_money = whole.dimension is not None and whole.dimension == whole.unit != "%"
    if not is_money and (whole.unit != "h" or one.number >= 60):
        return False
    follows = tokens[place + 1] if place + 1 < len(tokens) else None
    if follows is None or follows.start - one.end > 1 or isinstance(follows.value, Unit):
        return True
    return follows.value in word_list("plain") or follows.value in word_list("english_small")


_AND = frozenset(["and", "plus"])
_FAR_PART = 6
"""Words from a quantity to its next part, at most: "141 days and a bit under ten hours"."""
_BEFORE_PART = frozenset(
    words(
        "almost about nearly roughly around some approximately another a bit little touch shade"
        " just slightly well under over more less than not quite close to"
    )
)


def _is_part(one: Quantity, whole: Quantity) -> bool:
    """Tell whether a quantity is a smaller part of the one before it, as minutes of hours."""
    number, unit = whole.parts[-1] if whole.parts else (whole.number, whole.unit)
    if one.dimension is None or one.dimension != whole.dimension or number % 1:
        return False
    return one.number > 0 and one.amount < _KINDS[str(unit)].factor


_WEEKDAY = re.compile(
    rf"\b(?:{'|'.join(WEEKDAYS)})s?\b|\b(?:mon|tues?|wed|thurs?|thu|fri|sat|sun)\b"
)


def weekdays(whole: Text) -> Iterator[tuple[str, int, int]]:
    """Yield the days of the week that a text names; short ones are capitalised there."""
    for match in _WEEKDAY.finditer(whole.plain):
        is_short = len(match[0]) < _SHORTEST_DAY
        if not is_short or whole.said(*match.span())[:1].isupper():
            yield next(day for day in WEEKDAYS if day[:3] == match[0][:3]), *match.span()


_SHORTEST_DAY = 6
"""Letters of a day of the week that is written in full, at least."""
