"""Whether a text states a value: the one answer for judges, audits, filters and worlds.

- A text is stated by its words in their order, whatever their case, and blanks and punctuation
  between them; a phone number by its digits. A name of several words written as one, as identifiers
  have it, also by those words.
- A number, a day or a time of day is stated however it is written (`seal.core.quantities`). A day
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
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from functools import lru_cache
from itertools import accumulate, pairwise, zip_longest
from typing import Any, Literal, NamedTuple
from zoneinfo import ZoneInfo

from seal.core.phones import is_phone
from seal.core.quantities import (
    MONTHS,
    Day,
    Quantity,
    Text,
    Time,
    Token,
    Unit,
    Value,
    days,
    normalise,
    read,
)
from seal.core.text import words

Statement = Literal["stated", "doubtful", "absent"]

_SYMBOLS = frozenset("%$€£¥₹")
_BETWEEN = re.compile(r"(?<!\s)(?:,?\s+and\s+|\s*[,;]\s+|\s*&\s*)")
"""Between the values that a text lists."""
TRUTH = re.compile(
    r"\b(?:turn|switch|flip|toggle)\w*(?:[ '-]{1,9}\w+){0,3}? {1,9}(?:on|off)\b"
    r"(?! {1,9}(?:(?:the +)?\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day))"
    r"|\b(?:on|off|yes|no)"
    r"(?=(?: (?:now|again|already|right now|at the moment|currently|on (?:your|the) \w+))?"
    r"(?:\W*$| *[.,;:!?)\"\u201d\n]| +(?:and|or|but)\b))"
    r"|\b(?:true|false|(?:en|dis)abled?|(?:de)?activated?)\b"
)
"""What says of something that it is so, or not; its last word tells which."""
_FALSE = frozenset(["off", "no", "false", "disable", "disabled", "deactivate", "deactivated"])
_LEAST = 4
"""Letters of a word of an argument's name that says what it is about, if it has such a one."""
_SMALL = frozenset(words("a and do for get has in is no of off on or the to use with"))
"""Shorter words that say nothing of an argument."""

_LINK = frozenset(
    words(
        "at on in by for of to the a an any be been exactly equal cost costs mean means have has"
        " need want take"
    )
)
"""Words that may stand between a denial and what it denies."""
_DENIAL = re.compile(
    r"\b(?:not|never|nor|neither|(?:other|rather) than|instead of|without)\b|n't\b|\bnon(?=-)"
)
_DENIED_AFTER = re.compile(
    r"\W{0,3}(?:is|was|are|were)(?: wrong| incorrect|(?:n't| not) (?:right|correct|it\b|so\b))"
)
_DOUBT = re.compile(
    r"\b(?:not|no(?! (?:problem|worries|trouble|doubt|[-\u2013\u2014])(?!\w))|nothing|nobody"
    r"|never|neither|nor|without|cannot|unable|fail(?:s|ed)?|instead of"
    r"|rather than)\b|n't\b"
)
_DOUBT_BEHIND = re.compile(r"\b(?:not|never|cannot|unavailable|incorrect|wrong)\b|n't\b")
"""What casts doubt on a value that stands up to two words before it."""
_OVER = re.compile(r"\b(?:any ?more|any longer)\b")
_END = re.compile(
    r"([.!?](?=\s|$)|[\uff1f\u3002]|\n)"
    r"|[;:](?=\s|$)|,(?=\s)|\b(?:but|and|however|yet|while|although|though|because"
    r"|since(?= (?:the|it|your|they|i)\b))\b"
)
"""End of a clause; the group, of a sentence."""
_OFFER = re.compile(r"(?<!\bor )\banything else\b")
"""It begins an offer of further help, which asks nothing of a value before it."""
ABOUT = re.compile(
    r"\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|some"
    r"|(?:just|slightly|barely|marginally|a (?:little|bit|touch|tad|shade|hair|fraction))"
    r" (?:under|over|below|above|less than|more than|short of|shy of|past)"
    r"|not quite|close to|in the region of|more or less|getting on for)(?=\s)|[~≈]"
)
ABOUT_BEHIND = re.compile(
    r" ?(?:[^\W\d]+ ){0,2}?[^\W\d]*,? \(?(?:or (?:so|thereabouts)|more or less|give or take"
    r"|at a guess|roughly|approximately)\b"
)
"""Says behind a number, and its unit, that it is only about right."""
_BOUND = re.compile(
    r"(?:(?P<no>\b(?:not|never)\b|n't\b)\W{0,3})?"
    r"(?:\b(?:quite|much|well|even|any|a lot|far|be|is|last)\W{1,3}){0,4}"
    r"(?:(?P<below>\bunder|\bbelow|\b(?:less|fewer|shorter|lower|cheaper|colder|smaller) than"
    r"|\b(?:short|shy) of|\bno(?:t)? more than|\bat (?:the )?most|\bnot quite)"
    r"|(?<!ed )(?<!made )(?<!taken )(?<!spread )\bover|\babove"
    r"|\b(?:more|longer|greater|higher|larger|bigger|warmer|hotter) than"
    r"|\bno(?:t)? less than|\bat (?:the )?least|\bupwards of|\bin excess of)"
    r"(?: the| a| an| full| whole){0,2} [$€£¥]?$"
)
"""What says before a quantity that another is above it, or below."""
_BOUND_ENDS = ("under", "below", "than", "of", "most", "quite", "over", "above", "least")
"""The last word of such a bound, before up to two others."""
_APART = re.compile(
    r"[^\d.,;:?!()]{0,20}?"
    r"(?:(?P<below> (?:short|shy) of| (?:less|fewer|shorter|lower|colder) than| under| below)"
    r"| (?:more|longer|higher|warmer) than| over| above| past| beyond)"
    r"(?: the| a| an| full| whole| of){0,2} ?"
)
"""What stands between two quantities that make one: "17 minutes short of three hours"."""
_WIDE = 40
"""Characters before a quantity in which its bound stands."""
_NEAR = 60
"""Characters before a value in which a denial of it may begin."""


class _Clauses:
    """The clauses of a text, and where it denies, doubts and asks; each found once.

    Args:
        plain: As `Text.plain`.
    """

    def __init__(self, plain: str) -> None:
        self._plain = plain
        ends = list(_END.finditer(plain))
        self._ends = [end.start() for end in ends]
        self._starts = [0, *(end.end() for end in ends)]
        sentences = [end for end in ends if end[1] is not None]
        self._sentence_ends = [end.start() for end in sentences]
        self._asks = [end[1] in ("?", "\uff1f") for end in sentences]
        self._denials = [found.end() for found in _DENIAL.finditer(plain)]
        self._doubts = [found.start() for found in _DOUBT.finditer(plain)]
        self._behind = [found.start() for found in _DOUBT_BEHIND.finditer(plain)]
        self._offers = [found.start() for found in _OFFER.finditer(plain)]

    def judged(self, start: int, end: int) -> Place:
        """Return how the text speaks of what stands at a place."""
        if self._denied(start) or _DENIED_AFTER.match(self._plain, end):
            return Place(DENIED, start, end)
        doubtful = self._asked(end) or self._doubted(start, end)
        return Place(DOUBTFUL if doubtful else STATED, start, end)

    def _denied(self, start: int) -> bool:
        nearest = bisect_right(self._denials, start) - 1
        if nearest < 0 or self._denials[nearest] < start - _NEAR:
            return False
        between = self._plain[self._denials[nearest] : start]
        return not between.strip(" \"'-\n\t") or _LINK.issuperset(between.strip(" \"'-").split())

    def _asked(self, end: int) -> bool:
        sentence = bisect_left(self._sentence_ends, end)
        if sentence == len(self._asks) or not self._asks[sentence]:
            return False
        offer = bisect_left(self._offers, end)
        offers = offer < len(self._offers) and self._offers[offer] < self._sentence_ends[sentence]
        return not offers

    def _doubted(self, start: int, end: int) -> bool:
        begins = self._starts[max(bisect_right(self._starts, start) - 1, 0)]
        before = bisect_left(self._doubts, begins)
        if before < len(self._doubts) and self._doubts[before] < start:
            return True
        behind = bisect_left(self._behind, end)
        if behind == len(self._behind):
            return False
        clause = bisect_left(self._ends, end)
        last = self._ends[clause] if clause < len(self._ends) else len(self._plain)
        doubt = self._behind[behind]
        if self._plain[start : start + 1].isalpha() and _OVER.search(self._plain, doubt, last):
            return False  # "Ann won't hear of it any more"
        return doubt < last and doubt - end < _NEAR and len(words(self._plain[end:doubt])) <= 2


@lru_cache(maxsize=16)
def _clauses(plain: str) -> _Clauses:
    return _Clauses(plain)


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


class Place(NamedTuple):
    """How well a text states a value, and by which part of the plain text."""

    strength: int
    """Of `ABSENT`, `DENIED`, `DOUBTFUL` and `STATED`."""
    start: int = 0
    end: int = 0


ABSENT, DENIED, DOUBTFUL, STATED = range(4)


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
    return "stated" if strength == STATED else "doubtful" if strength else "absent"


def states(text: str, value: Any, sense: Sense = Sense()) -> bool:
    """Tell whether a text states a JSON value.

    A question may state a value, too: "Shall I send 5 dollars?" states 5.

    >>> [states(text, 5) for text in ("five dollars", "it is not 5", "the 5th", "at 5.5")]
    [True, False, True, False]
    """
    return _best(text, value, sense).strength >= DOUBTFUL


def said(text: str, value: Any, sense: Sense = Sense()) -> str | None:
    """Return the words by which a text states a JSON value, in small letters; None: it does not.

    Of several values the words of one; empty where no words are its own.
    """
    place = _best(text, value, sense)
    return read(text).plain[place.start : place.end] if place.strength >= DOUBTFUL else None


def _best(text: str, value: Any, sense: Sense) -> Place:
    """Return where a text states a value best; of one that lists several, as one or each."""
    whole = read(text)
    return max(
        (_worst(whole, one, sense) for one in (value, *listed_values(value))),
        key=lambda place: place.strength,
    )


def _worst(whole: Text, value: Any, sense: Sense) -> Place:
    """Return where a text states a value best; of several, where it states the worst of them."""
    worst = Place(STATED)
    for name, leaf in leaves(value, sense.name):
        best = Place(ABSENT)
        for place in places_of(whole, leaf, replace(sense, name=name)):
            best = max(best, place, key=lambda one: one.strength)
            if best.strength == STATED:
                break
        worst = min(worst, best, key=lambda one: (one.strength, -one.end))
        if worst.strength == ABSENT:
            break
    return worst


def listed_values(value: Any) -> Iterator[list[str]]:
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


def places_of(whole: Text, value: Any, sense: Sense = Sense()) -> Iterator[Place]:
    """Yield where a text states, denies, doubts or asks about a value that holds no others."""
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
    yield from (judged(whole, *place) for place in found)


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
        for token in whole.tokens:
            if any(isinstance(t, Time) and t.may_be(value) for t in (token.value, *token.others)):
                yield token.start, token.end
        return
    for day, start, end in days(whole, sense.today):
        if day.may_be(value, sense.today) if value.year else day[1:] == value[1:]:
            yield start, end


def _of_text(whole: Text, value: str, sense: Sense) -> Iterator[tuple[int, int]]:
    """Yield the places of a text, or of the day, time or quantity that it is."""
    wanted = read(value)
    if len(wanted.values) == 1 and isinstance(wanted.values[0], (Day, Time)):
        yield from _of_moment(whole, wanted.values[0], sense)
    if (quantity := only_quantity(wanted)) is not None:
        said = amounts(whole)
        yield from ((one.start, one.end) for one, about in said if is_same(one, quantity, about))
    yield from _runs(whole.tokens, wanted.values)
    yield from _runs(whole.written, [token.value for token in wanted.written])
    if is_phone(value) or any(map(str.isalpha, value)) or not words(value):
        pattern = spelled(value) or re.escape(normalise(value).strip())
        yield from (match.span() for match in re.finditer(pattern, whole.plain))


def amounts(whole: Text) -> Iterator[tuple[Quantity, bool]]:
    """Yield the quantities of a text, and whether each is only about what it says."""
    about = [match.end() for match in ABOUT.finditer(whole.plain)]
    for one in whole.quantities:
        near = bisect_right(about, one.start) - 1
        is_about = near >= 0 and not whole.plain[about[near] : one.start].strip(" $€£¥₹₩")
        yield one, is_about or ABOUT_BEHIND.match(whole.plain, one.end) is not None


def bounds(whole: Text, one: Quantity, other: Quantity) -> bool | None:
    """Tell whether another quantity is as a text says of one, "over 3 hours"; None: it does not.

    Args:
        whole: The text.
        one: A quantity of the text.
        other: What is held to be above or below it.
    """
    lasting = {one.dimension, other.dimension} == {"time", "months"}
    is_alike = lasting or other.dimension == one.dimension or None in (other.unit, one.unit)
    if not is_alike:
        return None
    begin = max(one.start - _WIDE, 0)
    before = whole.plain[begin : one.start].rstrip(" $€£¥").split()[-3:]
    if not any(word.endswith(_BOUND_ENDS) for word in before):  # far quicker than the pattern
        return None
    found = _BOUND.search(whole.plain, begin, one.start)
    if found is None:
        return None
    same_unit = None in (one.unit, other.unit)
    said, wanted = (one.number, other.number) if same_unit else (one.amount, other.amount)
    if lasting:  # "141 days, so less than four months"
        pair = (one, other)
        said, wanted = (q.amount * (MONTH if q.dimension == "months" else 1) for q in pair)
    is_below = (found["below"] is not None) is (found["no"] is None)
    return wanted <= said if is_below else wanted >= said


def differences(whole: Text) -> Iterator[tuple[Quantity, int]]:
    """Yield what two quantities of a text make, "17 minutes short of three hours"; 163 minutes.

    Each has the place of both, and stands beside the place where the second begins.
    """
    for one, other in pairwise(whole.quantities[:_COMPARED]):
        gap = _APART.fullmatch(whole.plain, one.end, other.start)
        if gap is None or (one.unit and other.dimension != one.dimension):
            continue
        sign, factor = -1 if gap["below"] else 1, Decimal(1)
        if one.unit and one.unit != other.unit and one.dimension != "temperature":
            factor = other._replace(number=factor).amount / one._replace(number=factor).amount
        number = other.number * factor + sign * one.number
        unit = one.unit or other.unit
        yield Quantity(number, unit, one.start, other.end), other.start


def implied(whole: Text, is_told: Callable[[Quantity], bool]) -> set[int]:
    """Return where quantities of a text begin that follow from one that is told.

    Two make it (`differences`). Or one bounds it that the text says: "two hours and 43 minutes, so
    under three hours".
    """
    found = set[int]()
    for made, second in differences(whole):
        found |= {made.start, second} if is_told(made) else set()
    said = whole.quantities[:_COMPARED]
    for one in said:
        fits = (bounds(whole, one, other) and is_told(other) for other in said if other is not one)
        found |= {one.start} if any(fits) else set()
    return found


MONTH = 2_629_746
"""Seconds of a month, on average."""
_COMPARED = 20
"""Quantities of a text that are held against one another, at most."""


def judged(whole: Text, start: int, end: int) -> Place:
    """Return how a text speaks of what stands at a place of its plain text."""
    return _clauses(whole.plain).judged(start, end)


def only_quantity(text: Text) -> Quantity | None:
    """Return the quantity that a text is, and nothing besides; None: it is none."""
    others = (one.value for one in text.tokens if not isinstance(one.value, (Decimal, Unit)))
    if len(text.quantities) != 1 or text.quantities[0].start or {*others} - {"and"}:
        return None
    return text.quantities[0]


def is_same(said: Quantity, wanted: Quantity, is_about: bool = False) -> bool:
    """Tell whether a quantity that was said is another, converted or rounded as people do.

    A unit may be left out, but for percent. In another unit, it is right to the last digit that is
    said; "about" allows what `_is_about` says. A number may be rounded to two figures or more, but
    for money.
    """
    if said.unit is None or wanted.unit is None:
        if wanted.unit == "%":
            return False
        is_money = wanted.unit is not None and wanted.dimension == wanted.unit
        if said.number == wanted.number or (is_about and _is_about(said, wanted)):
            return True
        return not is_money and _is_rounded(said.number, wanted.number)
    if {said.unit, wanted.unit} == {"gbp", "lb"}:  # pounds
        return said.number == wanted.number
    if said.unit == "gbp" and wanted.dimension == "weight":  # pounds
        said = said._replace(unit="lb")
    if said.dimension != wanted.dimension:
        return False
    same_unit = said.unit == wanted.unit
    if said.parts and same_unit and said.dimension == "time" and said.amount >= _DAY:
        # Of "141 days and 10 hours" the days.
        return wanted.number in (said.number, said.parts[0][0])
    pair = (said.number, wanted.number) if same_unit else (said.amount, wanted.amount)
    if pair[0] == pair[1] or (is_about and _is_about(said, wanted)):
        return True
    if same_unit:
        return said.dimension != said.unit and _is_rounded(said.number, wanted.number)
    exponent = said.number.as_tuple().exponent
    step = Decimal(1).scaleb(exponent if isinstance(exponent, int) else 0)
    unit = said._replace(number=said.number + step).amount - said.amount
    return abs(said.amount - wanted.amount) <= max(unit / 2, abs(wanted.amount) / 10**9)


_DAY = 86_400
"""Seconds; whoever tells of hours besides so many days tells these, too."""


def _is_rounded(said: Decimal, wanted: Decimal, figures: int = 2) -> bool:
    """Tell whether a number is another one with fewer decimals, of which some figures are left."""
    exponent = said.as_tuple().exponent
    places = min(exponent, 0) if isinstance(exponent, int) else 0
    step = Decimal(1).scaleb(places)
    if abs(said) < step * 10 ** (figures - 1) or wanted.adjusted() - places > _LONGEST:
        return False
    return any(said == wanted.quantize(step, way) for way in (ROUND_HALF_UP, ROUND_HALF_EVEN))


_LONGEST = 20
"""Digits of a number that is rounded, at most."""


def is_cut(said: Decimal, wanted: Decimal) -> bool:
    """Tell whether a number is another one with fewer decimals, rounded or cut."""
    exponent = said.as_tuple().exponent
    step = Decimal(1).scaleb(min(exponent, 0) if isinstance(exponent, int) else 0)
    fits = 0 <= wanted.adjusted() - step.adjusted() <= _LONGEST
    cut = fits and said == wanted.quantize(step, ROUND_DOWN)
    return cut or _is_rounded(said, wanted, 1)


def _is_about(said: Quantity, wanted: Quantity) -> bool:
    """Tell whether a quantity is another one where a text says "about".

    With decimals it is right to one more or less of its last digit. A whole number may be 2 % off,
    or 5 % where it is rounded to the last digit that is no nought: "about 70" of 67.86.
    """
    is_same_unit = said.unit == wanted.unit or None in (said.unit, wanted.unit)
    one, other = (said.number, wanted.number) if is_same_unit else (said.amount, wanted.amount)
    off, exponent = abs(one - other), said.number.as_tuple().exponent
    is_scaled = said.number % 1 == 0 and abs(said.number) >= _THOUSAND  # "1.5 million"
    if isinstance(exponent, int) and exponent < 0 and not (said.parts or is_scaled):
        digit = Decimal(1).scaleb(exponent)
        more = said._replace(number=said.number + digit).amount - said.amount
        return off <= (digit if is_same_unit else abs(more))
    last = Decimal(1).scaleb(int(said.number.normalize().as_tuple().exponent))
    is_round = is_same_unit and last > 1 and off * 2 <= last
    near = Decimal("0.05" if is_round else "0.02")
    return _is_rounded(one, other, 1) or off <= abs(other) * near


_THOUSAND = 1000


def is_near(said: Quantity, wanted: Quantity) -> bool:
    """Tell whether a quantity is another one, but for 2 %, whatever digits it shows."""
    if said.unit == wanted.unit or None in (said.unit, wanted.unit):
        one, other = said.number, wanted.number
    elif said.dimension == wanted.dimension:
        one, other = said.amount, wanted.amount
    else:
        return False
    return abs(one - other) <= abs(other) * Decimal("0.02")


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


def spelled(value: str) -> str:
    """Return a regex of a phone number's digits, or of a text's words, however they are parted."""
    if is_phone(value):
        parted = r"[\s().-]*".join(re.findall(r"\d", value))
        return rf"(?<!\d)(?:\+|00)?{parted}(?!\d)"
    pieces = (words(part) for part in re.findall(r"[^\W_]+", value))
    spaced = r"[\W_]+".join(r"[\W_]*".join(map(re.escape, piece)) for piece in pieces)
    return rf"(?<![^\W_])(?<!\d[.,:/-]){spaced}(?![^\W_])(?![.,:/-]\d)" if spaced else ""


def _truth(whole: Text, value: bool, name: str) -> Iterator[Place]:
    """Yield how well a text says that something is so, or not so; by no words of its own."""
    for match in TRUTH.finditer(whole.plain):
        strength = _clauses(whole.plain).judged(*match.span()).strength
        so = (match[0].split()[-1] in _FALSE) is (strength == DENIED)
        if so is value:
            yield Place(DOUBTFUL if strength == DOUBTFUL else STATED)
    parts = set(words(name))
    about = {part for part in parts if len(part) >= _LEAST} or parts - _SMALL
    for token in (token for token in whole.written if token.value in about):
        strength = _clauses(whole.plain).judged(token.start, token.end).strength
        lacks = strength == DENIED or whole.plain.endswith("no ", 0, token.start)
        yield Place(strength if value and not lacks else DENIED if value else DOUBTFUL)


def is_moment(value: Any) -> bool:
    """Tell whether a JSON value may be POSIX seconds."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and MOMENTS[0] <= value <= MOMENTS[1]
