"""What the record of a chat tells, and what a text says beyond it: values and things.

Values are numbers with their units, days, times, codes, phone numbers and addresses, as
`seal.core.quantities` reads them; names too, if asked. Of what else a text speaks its words tell,
phrase by phrase: `words/plain.txt` has those that name no thing. Read by rule, without a model.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import (
    combinations_with_replacement,
    islice,
    pairwise,
    zip_longest,
)
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from seal.core.conditions import AGENT, party
from seal.core.phones import BARE_PHONE, COUNTRY, Phones, addresses_at, phone_of, phones_at
from seal.core.quantities import (
    MONTHS,
    WEEKDAYS,
    Day,
    Quantity,
    Text,
    Time,
    Token,
    Unit,
    Value,
    read,
)
from seal.core.reckoning import PER, Beside, clocks, is_among, is_share, joined, per_one, rounded
from seal.core.statements import (
    ABOUT,
    ABOUT_BEHIND,
    MOMENTS,
    MONTH,
    implied,
    is_cut,
    is_near,
    is_same,
)
from seal.core.text import countries, deed_forms, places, plain_stems, role, stem, word_list, words
from seal.core.values import json_text

if TYPE_CHECKING:
    from seal.core.types import Step, Tables


class _Said(NamedTuple):
    """Something that a text says, with its place in the plain text."""

    start: int
    end: int
    value: Quantity | Value | None
    """None: a phone number, an address or a name."""


class Record:
    """The values that a request, the calls and their results tell.

    A value that is said is explained where one of them is the same: converted, rounded to a whole
    number, in thousands or as percent (`statements.is_same`). A number is explained too as the sum,
    difference or product of two that the answer says beside it, and as the length of a list; where
    few numbers are told, also as what two of them come to.

    Args:
        texts: In any order; JSON is a text.
        now: When the answer is said, in the zone of its clock; None: unknown.
    """

    def __init__(self, texts: Iterable[str] = (), now: datetime | None = None) -> None:
        self.now, self.today = now, None if now is None else now.date()
        place = "" if now is None else str(now.tzinfo).rpartition("/")[2]
        self.zone = {stem(word) for word in words(place)}
        """Stems of the place of the clock: "7:15, Lisbon time"."""
        self._points: set[datetime] = set()
        """Moments that are told, in the zone of the clock; of days their beginning."""
        self._passed: list[float] | None = None
        self._timed: dict[tuple[int, int], set[date]] = {}
        """Times of moments, and their days."""
        self._loose: set[tuple[int, int]] = set()
        """Times that are told without a moment, by their half of the day."""
        self._called: set[tuple[int, int]] = set()
        """Likewise, of the moments in arguments of calls."""
        self.counts: set[int] = set()
        """Lengths of lists."""
        self._sizes: dict[str, int] = {}
        """Rows of tables, by name."""
        self._numbers: dict[Decimal, set[str | None]] = {}
        self._phones = Phones(set(), set())
        self._local_phones: set[str] = set()
        self._addresses: set[str] = set()
        self._quantities: dict[str | None, list[Quantity]] = {}
        self._moments: set[tuple[object, ...]] = set()
        self._lasting: set[tuple[int, int]] = set()
        """Times that pass, as a clock shows them: two hours and 43 minutes are 2:43."""
        self._words: set[str] = set()
        self.stems: set[str] = set()
        """Of the words that are told, and of the names of called tools."""
        self._asked: dict[tuple[object, ...], bool] = {}
        """Quantities that were asked of, and whether they were told."""
        self._odd: dict[tuple[str, bool, bool], list[_Said]] = {}
        """Texts that were asked of, and their values that nothing explains."""
        near = [] if self.today is None else [self.today + timedelta(n) for n in (-1, 0, 1)]
        self.weekdays = {WEEKDAYS[day.weekday()] for day in near}
        """Of the days that are told with their year, and of yesterday, today and tomorrow."""
        for text in texts:
            self.add(text)

    def add(self, said: str, bare: bool = True) -> None:
        """Take in what a text tells.

        Args:
            said: The text.
            bare: Whether a number without a unit may be of any, though it was told of one.
        """
        self._asked.clear()
        self._odd.clear()
        self._passed = None
        told = {*words(said)}
        also = (one for word in told for by in (countries(), places()) for one in by.get(word, ()))
        self.stems |= {*map(stem, told), *map(stem, also)}
        text = read(said)
        for phone, *_ in phones_at(text.plain):
            self._learn_phone(phone)
        self._addresses |= {address for address, *_ in addresses_at(text.plain)}
        named = (Quantity(Decimal(n[2]), n[1], *n.span()) for n in _NAMED_BY.finditer(text.plain))
        for one in (*text.quantities, *named):
            if not bare and one.unit is None and self._numbers.get(one.number, set()) - {None}:
                continue
            for number in (one.number, *rounded(one.number)):
                self._numbers.setdefault(number, set()).add(one.dimension)
            self._quantities.setdefault(one.dimension, []).append(one)
            if one.dimension == "time":
                self._lasting |= clocks(one)
            if (moment := self.moment(one.number)) is not None:
                self._points.add(moment)
                self._timed.setdefault((moment.hour, moment.minute), set()).add(moment.date())
                self._learn(Day(moment.year, moment.month, moment.day))
                self._learn(Time(moment.hour, moment.minute))
        for token in text.tokens:
            if (written := text.plain[token.start : token.end]).isdecimal():
                self._learn_phone(written)
            for value in (token.value, *token.others):
                if isinstance(value, Day) and value.year is not None:
                    self._points.add(datetime.combine(value.calendar, time()))
                if isinstance(value, (Day, Time)):
                    self._learn(value)
                elif isinstance(value, str):
                    parts = [part for part in _PART.split(value) if len(part) > 3]
                    self._words |= {
                        value,
                        _squeezed(value),
                        *parts,
                        *(p[-4:] for p in parts if p[-4:].isdigit()),
                    }

    def amounts_of(self, currency: str) -> list[Quantity]:
        """Return the first sums of a currency that were told."""
        return self._quantities.get(currency, [])[:_FEW]

    def is_other_money(self, one: Quantity) -> bool:
        """Tell whether a sum was told in other currencies: of 250 euros "250 dollars" is one."""
        told = self._numbers.get(one.number, {None})
        sums = (name for name in told if name and self._quantities[name][0].unit == name != "%")
        return one.unit == one.dimension and one.unit not in ("%", *told) and told == {*sums}

    def moment(self, number: Any) -> datetime | None:
        """Return the moment that POSIX seconds are, in the zone of the clock; None: none."""
        zone = UTC if self.now is None else self.now.tzinfo
        is_number = isinstance(number, (int, float, Decimal))
        is_moment = is_number and MOMENTS[0] <= number <= MOMENTS[1]
        moment = datetime.fromtimestamp(float(number), zone) if is_moment else None
        return moment and moment.replace(tzinfo=None)

    def add_step(self, step: Step) -> None:
        """Take in what a step of a chat tells that is no message of the agent."""
        self._count(step.state or {})
        if step.call is not None:
            self.stems |= {*map(stem, words(step.call.tool or step.call.name))}
            self.add(json_text(step.call.arguments), bare=False)  # what was asked, once more
            said = read(json_text(step.call.arguments)).quantities
            moments = [m for one in said if (m := self.moment(one.number)) is not None]
            self._called |= {(moment.hour % 12, moment.minute) for moment in moments}
            self._span(json_text(step.call.arguments))
        elif step.result is not None:
            for text in {step.content, json_text(step.result.value)}:
                self.add(text)
                self._loosen(text)
            self.counts |= {*_lengths(step.result.value)}
        elif party(step.author) != AGENT:
            self.add(step.content)
            self._loosen(step.content)
        self._odd.clear()  # lengths of lists and numbers of rows explain values, too

    def _span(self, text: str) -> None:
        """Take in how many days there are from one of two days to the other, both counted."""
        told = {t.value for t in read(text).tokens if isinstance(t.value, Day) and t.value.year}
        if len(told) == 2:
            first, last = sorted(one.calendar for one in told)
            self.add(f"{(last - first).days + 1} days")

    def _count(self, tables: Tables) -> None:
        """Take in how many rows changed tables have."""
        sizes = {name: len(rows) for name, rows in tables.items()}
        self.counts |= {n for name, n in sizes.items() if self._sizes.get(name, n) != n}
        self._sizes |= sizes

    def _loosen(self, text: str) -> None:
        """Note the times that a user or result tells as times of day, which are of any day."""
        values = (one for token in read(text).tokens for one in (token.value, *token.others))
        times = (one for one in values if isinstance(one, Time))
        self._loose |= {(one.hour % 12, one.minute) for one in times}

    def days_of(self, time: Time) -> set[date]:
        """Return the days of a time that moments alone tell; none: others tell it, or nothing."""
        if (time.hour % 12, time.minute) in self._loose - self._called:
            return set()
        hours = (time.hour,) if time.sure else (time.hour % 12, time.hour % 12 + 12)
        return {day for hour in hours for day in self._timed.get((hour, time.minute), ())}

    def _learn_phone(self, written: str) -> None:
        whole, local = phone_of(written)
        codes = {p[:size] for p in whole for size in (1, 2, 3) if COUNTRY.fullmatch(p[:size])}
        self._words |= codes | {f"+{one}" for one in codes}
        self.stems |= {stem(one) for code in codes for one in countries().get(code, ())}
        self._phones.whole.update(whole)
        (self._phones.local if whole else self._local_phones).update(local)

    def _knows_phone(self, written: str) -> bool:
        """Tell whether a phone number was told; either may lack its country's code."""
        whole, local = phone_of(written)
        told = [self._local_phones] if whole else [self._local_phones, self._phones.local]
        return bool(whole & self._phones.whole) or any(local & numbers for numbers in told)

    def _knows_address(self, address: str) -> bool:
        """Tell whether an address was told; one of the web may be put together of what was."""
        parts = (part for part in _PART.split(address) if len(part) > 3)
        return address in self._addresses or ("@" not in address and self._words.issuperset(parts))

    def _learn(self, value: Day | Time) -> None:
        """Keep a day or time in all forms in which less of it may be said."""
        if isinstance(value, Time):
            half = value.hour % 12, value.minute
            told = (value.hour, value.minute) if value.sure else ("unsure", *half)
            self._moments |= {("half", *half), told}
        else:
            year, month, day = value
            if year is not None:
                self.weekdays.add(WEEKDAYS[value.calendar.weekday()])
            self._numbers |= {Decimal(year): {None}} if year else {}
            self._moments |= {value, (None, month, day), (None, None, day)}
            self._moments |= {("any year", month, day)} if year is None else set()

    def tells(self, value: Value) -> bool:
        """Tell whether a day, a time of day or a word with digits was told."""
        if isinstance(value, Time):
            half = value.hour % 12, value.minute
            if not value.sure:
                return ("half", *half) in self._moments
            if not value.minute and Decimal(value.hour) in self._numbers:
                return True
            if (value.hour, value.minute) in self._lasting:
                return True
            told = {(value.hour, value.minute), ("unsure", *half)}
            return not self._moments.isdisjoint(told)
        if isinstance(value, Day):
            return value in self._moments or ("any year", *value[1:]) in self._moments
        if (parts := re.fullmatch(r"(\d\d?)/(\d\d?)", str(value))) is not None:
            day, month = int(parts[1]), int(parts[2])
            return any(self.tells(Day(None, *one)) for one in ((month, day), (day, month)))
        return self._knows_word(str(value).removesuffix("'s"))

    @property
    def days(self) -> set[date]:
        """The days that are told with their year, also by moments."""
        return {point.date() for point in self._points}

    def years_of(self, day: Day) -> set[int]:
        """Return the years in which a day of a month was told, else that of today."""
        told = {
            one.year
            for one in self._moments
            if isinstance(one, Day) and one[1:] == day[1:] and one.year is not None
        }
        return told or (set() if self.today is None else {self.today.year})

    def _knows_word(self, word: str) -> bool:
        if word in self._words or (word.isdecimal() and self._knows_phone(word)):
            return True
        return not word.isalnum() and _squeezed(word) in self._words

    def unexplained(self, answer: str, names: bool = False) -> list[str]:
        """Return the words of the values that an answer says and nothing explains, in order.

        The numbers that a list begins its lines with are none.

        Args:
            answer: Any text.
            names: True: names are values too, capitalised words that begin no sentence; and so are
                "tomorrow" and the days of the week.
        """
        whole = read(answer)
        return [whole.said(*one[:2]) for one in sorted(self.odd(whole, names), key=itemgetter(0))]

    def odd(self, whole: Text, names: bool = False, reckon: bool = True) -> Sequence[_Said]:
        """Return the values of a text that nothing explains, kind by kind.

        Args:
            whole: The text.
            names: As for `unexplained`.
            reckon: Whether the difference of two numbers is explained.
        """
        key = (whole.source, names, reckon)
        if key not in self._odd:
            self._odd[key] = [*self._odd_in(whole, names, reckon)]
        return self._odd[key]

    def _odd_in(self, whole: Text, names: bool, reckon: bool) -> Iterator[_Said]:
        plain = whole.plain
        taken = {place for m in _LINE_NUMBER.finditer(plain) for place in range(*m.span())}
        for address, start, end in addresses_at(plain):
            taken |= {*range(start, end)}
            if not self._knows_address(address):
                yield _Said(start, end, None)
        for phone, start, end in phones_at(plain):
            is_new = start not in taken
            taken |= {*range(start, end)}
            is_told = self._knows_phone(phone) or self._knows_word(phone.strip("()"))
            if is_new and not is_told:
                yield _Said(start, end, None)
        for match in BARE_PHONE.finditer(plain):
            taken |= {*range(*match.span())} if self._knows_phone(match[0]) else set()
        for known in self._quantities.values():
            known.sort(key=attrgetter("amount"))
        said = [one for one in whole.quantities if one.start not in taken]
        beside = Beside(said[: _PAIRED + 1], plain)
        told = {abs(one.number) for held in self._quantities.values() for one in held}
        # What follows from many numbers follows by chance, and so does what is said of none of two.
        few = told if len(told) <= _FEW else set[Decimal]()
        own = {abs(one.number) for one in said if few and self._is_told(one, False)} & few
        pairs = ((one, other) for one in own for other in few if one != other)
        reckoned = sorted(n for pair in pairs for n in [*joined(*pair)][1 if reckon else 2 :])
        # "7,200 seconds are two hours, and the other 2,580"
        also_said = [abs(one.number) for one in said[:_PAIRED] if beside.explains(one, False)]
        reckoned = sorted([*reckoned, *(abs(a - b) for a in also_said for b in few if reckon)])
        lasting = [o for o in said[:_PAIRED] if o.dimension == "time" and self._is_told(o, False)]
        ends = self._quantities.get("time", [])[:_FEW] if lasting else []
        rest = (abs(a.amount - b.amount) / n for a in lasting for b in ends for n in (1, 60))
        reckoned = sorted([*reckoned, *rest])  # "9,780 s are 2 h, and 2,580 s are left"
        also = {token.start: token.others for token in whole.tokens if token.others}
        follow = implied(whole, lambda one: self._is_told(one, False)) if said[1:] else set[int]()
        degrees = {one.unit for one in said if one.dimension == "temperature"}
        has_times = bool(self._moments) or bool({"time", "months"} & self._quantities.keys())
        has_time = any(isinstance(token.value, Time) for token in whole.tokens)
        for one, after in zip_longest(said, said[1:]):
            if one.start in follow or any(map(self.tells, also.get(one.start, ()))):
                continue  # 19.45 is a time
            if has_time and self._is_hour(one, plain):
                continue
            explained = self._explains(one, plain) or beside.explains(one, reckon)
            if not explained and one.unit is None:  # "a high of 92.3 °F, a low of 62.6"
                explained = any(self._explains(one._replace(unit=unit), plain) for unit in degrees)
            tells = one.dimension not in ("time", "months") or has_times
            if not explained and tells and reckoned and not _MONTH_BEHIND.match(plain, one.end):
                explained = is_among(per_one(one, after, plain), reckoned)
            if not explained and one.unit == one.dimension and one.unit not in (None, "%"):
                counts = self._quantities.get(None, [])
                explained = is_share(one, plain, self.amounts_of(str(one.unit)), counts)
            if not explained:
                yield _Said(one.start, one.end, one)
        for before, token in pairwise([None, *whole.tokens]):
            if token is None or token.start in taken:
                continue
            if isinstance(token.value, (Day, Time)) or _has_digit(token.value):
                if not any(map(self.tells, (token.value, *token.others))):
                    yield _Said(token.start, token.end, token.value)
            elif names and _is_name(whole, before, token) and not self._is_kin(whole, token):
                yield _Said(token.start, token.end, None)

    def _is_kin(self, whole: Text, token: Token) -> bool:
        """Tell whether a word, one like it, or all words that it is made of were told."""
        kin = stem(str(token.value))
        if token.value in self._words or kin in self.stems:  # Lisbon, Lisboa
            return True
        if kin in self.zone and whole.plain.startswith(" time", token.end):
            return True
        parts = _INNER.findall(whole.said(token.start, token.end))  # MasterCard
        return len(parts) > 1 and self.stems.issuperset(stem(part.lower()) for part in parts)

    def add_days_beside(self) -> None:
        """Take in the days before and after those that are told with their year."""
        for point in [*self._points]:
            for one in (-1, 1):
                with suppress(OverflowError):  # of the first and the last day that there is
                    day = point.date() + timedelta(one)
                    self._learn(Day(day.year, day.month, day.day))
        self._asked.clear()
        self._odd.clear()

    def unsupported(self, whole: Text) -> Iterator[str]:
        """Yield the words of the values that a text says and nothing explains or may lead to.

        A day or time may be reckoned from any other, a number from two: as their sum, difference,
        product or quotient. Where more than `_RECKONED` are told, any number is, but for a long
        one, which may be a code. A word with digits that is no code may be anything.
        """
        odd = sorted(self.odd(whole), key=itemgetter(0))
        strange = {one.start for one in odd}
        known = {abs(one.number) for held in self._quantities.values() for one in held}
        known |= {abs(one.number) for one in whole.quantities if one.start not in strange}
        pairs = combinations_with_replacement(known if len(known) <= _RECKONED else (), 2)
        reckoned = sorted(number for pair in pairs for number in joined(*pair))
        for start, end, value in odd:
            may_be = False
            if isinstance(value, Quantity):
                many = value.dimension == "time" and len(self._moments) > 1
                many = many or (len(known) > _RECKONED and value.number.adjusted() < _OF_A_CODE)
                may_be = many or is_among(value, reckoned)
            elif isinstance(value, (Day, Time)):
                may_be = bool(self._moments)
            elif value is not None:
                may_be = _CODE.fullmatch(whole.said(start, end)) is None
            if not may_be:
                yield whole.said(start, end)

    def finer(self, wanted: Quantity) -> list[Quantity]:
        """Return the numbers with more digits that were told, and that a quantity is rounded from.

        Each has the unit of the quantity, as results tell numbers without one. A quantity of one or
        two figures that is whole says too little: it is rounded from nothing.
        """
        if wanted.parts or (wanted.number % 1 == 0 and abs(wanted.number) < _FEW_FIGURES):
            return []
        told = {one.number for one in self._quantities.get(None, ())}
        told |= {
            one.number
            for one in self._quantities.get(wanted.dimension, ())
            if one.unit == wanted.unit
        }
        rounded = (one for one in told if one != wanted.number and is_cut(wanted.number, one))
        return [wanted._replace(number=one) for one in islice(rounded, _FINER)]

    def _is_hour(self, one: Quantity, plain: str) -> bool:
        """Tell whether a bare number is an hour that was told: "at 7.30 pm instead of 6"."""
        is_hour = one.unit is None and _BY_HOUR.search(plain, max(one.start - 12, 0), one.start)
        ends = _HOUR_BEHIND.match(plain, one.end) if is_hour else None
        return ends is not None and ("half", one.number % 12, 0) in self._moments

    def _tells_hour(self, number: Decimal) -> bool:
        return ("half", number % 12, 0) in self._moments or number in self._numbers

    def _tells_degrees(self, one: Quantity) -> bool:
        """Tell whether a temperature was told in the other unit, as results do without a unit."""
        bare = self._quantities.get(None, [])
        wanted = one.amount if one.unit == "f" else one.amount * 9 / 5 + 32
        place = bisect_left(bare, wanted, key=attrgetter("number"))
        near = bare[max(place - 1, 0) : place + 1]
        return any(is_same(one, other._replace(unit=_DEGREES[str(one.unit)])) for other in near)

    def _explains(self, one: Quantity, plain: str) -> bool:
        if _MONTH_BEHIND.match(plain, one.end):
            return False  # a day that is none
        ordinal = _ORDINAL.fullmatch(plain, one.start, one.end)
        if ordinal is not None and (None, None, int(ordinal[1])) in self._moments:
            return True  # "on the 26th"
        if _is_spelled_hour(one, plain) and not self._tells_hour(one.number):
            return False
        is_plain_word = plain[one.start].isalpha() and (one.unit is None or one.number == 1)
        if is_plain_word and not self._is_excess(one, plain):
            return True  # "two of them", "one rule that beats ten others"
        if str(one.number) in ("10", "100", "1000") and PER.search(
            plain, max(one.start - 12, 0), one.start
        ):
            return True
        if (one.unit is None and one.number in self.counts) or self._knows_word(
            plain[one.start : one.end]
        ):
            return True
        if _SCALE.search(plain, max(one.start - 8, 0), one.end):
            return True
        if one.number == 1 and one.unit and _RATE.match(plain, one.end):
            return True
        is_about = _ABOUT.search(plain, max(one.start - 16, 0), one.start) is not None
        is_about = is_about or ABOUT_BEHIND.match(plain, one.end) is not None
        return self._is_told(one, is_about)

    def _is_excess(self, one: Quantity, plain: str) -> bool:
        """Tell whether a number is of told things, and no list has so many: "three lamps"."""
        if one.number <= max(self.counts, default=1):
            return False
        counted = _PLURAL_BEHIND.match(plain, one.end)
        return counted is not None and stem(counted[1].lower()) in self.stems

    def _is_told(self, one: Quantity, is_about: bool) -> bool:
        """Tell whether a quantity was told: as it is, converted, scaled or rounded."""
        key = (one.number, one.unit, one.parts, is_about)
        if key not in self._asked:
            self._asked[key] = self._was_told(one, is_about)
        return self._asked[key]

    def _was_told(self, one: Quantity, is_about: bool) -> bool:
        scaled = [one.number, one.number * 1000, one.number / 1000]
        if one.dimension != "temperature":
            scaled.append(-one.number)  # so much less
        if one.unit == "%":
            scaled += [one.number / 100, 100 - one.number]  # so much is left
        if one.unit == "m":
            scaled.append(one.number * 100)  # as "height_cm" has it
        if one.dimension == "time" and not clocks(one).isdisjoint(self._moments):
            return True  # 3 minutes and 52 seconds are 3:52
        if one.unit in ("f", "c") and self._tells_degrees(one):
            return True
        for number in scaled:
            known_of = self._numbers.get(number, set())
            units = known_of - {None}
            if one.dimension in units or (known_of and one.dimension is None):
                return True
            if known_of and not units and one.unit not in _LONG:
                return True  # 20 days are not the 20 of "20 cm"
        bare = [] if one.unit in _LONG else [(None, one.number)]
        for dimension, amount in ((one.dimension, one.amount), *bare):
            known = self._quantities.get(dimension, [])
            place = bisect_left(known, amount, key=attrgetter("amount"))
            near = known[max(place - 1, 0) : place + 1]
            if any(is_same(one, other, is_about) for other in near):
                return True
            if is_about and any(is_near(one, other) for other in near):
                return True
        return one.dimension in ("time", "months") and self._lasts(one)

    def _lasts(self, one: Quantity) -> bool:
        """Tell whether as much time lies between now and a moment, or between two of few."""
        number, named = one.parts[-1] if one.parts else (one.number, one.unit)
        unit = float(one._replace(number=Decimal(1), unit=named).amount)
        unit *= MONTH if one.dimension == "months" else 1
        exponent = number.as_tuple().exponent
        last = unit / 2 if number % 1 * 2 == 1 else unit * 10.0 ** min(int(exponent), 0)
        said, gaps = float(one.amount) if one.parts else float(number) * unit, self._gaps()
        near = bisect_left(gaps, said - last / 2)
        return said > 0 and near < len(gaps) and gaps[near] < said + last

    def _gaps(self) -> list[float]:
        """Return the times that are told, or lie between moments, in seconds, sorted."""
        if self._passed is None:
            begins = [] if self.now is None else [self.now.replace(tzinfo=None)]
            begins += self._points if len(self._points) <= _FEW else ()
            pairs = [(begin, point) for begin in begins for point in self._points]
            passed = [gap for a, b in pairs for gap in (abs(a - b), abs(a.date() - b.date()))]
            told = [float(other.amount) for other in self._quantities.get("time", ())]
            self._passed = sorted([*(gap.total_seconds() for gap in passed), *told])
        return self._passed


_FEW_FIGURES = 100
"""A whole number below it may be many things."""
_FINER = 20
"""Numbers that one is rounded from, at most."""
_LONG = frozenset(["d", "week", "month", "year"])
"""Units of which no bare number tells, for a day of a month or an hour is one, too."""
_NAMED_BY = re.compile(r"(week|month|year|d)(?:ay)?s\W{1,4}(\d{1,9})(?![\d.])")
"""A number of so many days, as a result names it: {"days": 3}."""
_DEGREES = {"f": "c", "c": "f"}


def _is_spelled_hour(one: Quantity, plain: str) -> bool:
    """Tell whether a number in words is an hour: "they open at seven every morning"."""
    is_word = plain[one.start].isalpha() and one.unit is None and 1 < one.number <= 12
    is_told = is_word and _BY_HOUR.search(plain, max(one.start - 12, 0), one.start)
    return bool(is_told) and _HOUR_ENDS.match(plain, one.end) is not None


def _squeezed(word: str) -> str:
    """Return a code without what parts it."""
    return re.sub(r"[\W_]", "", word)


_PART = re.compile(r"[^\w]|_")
"""Between the parts of a code: card_981239 is told as 981239, too, and as one ending in 1239."""
_LINE_NUMBER = re.compile(r"^[ \t]*\(?\d{1,3}[.):](?=\s)", re.MULTILINE)
_PAIRED = 12
"""Values that an answer says of which two and two are reckoned together, at most."""
_FEW = 10
"""Numbers of a record of which two and two are reckoned together to explain a value, at most."""
_RECKONED = 30
"""Numbers of which two and two are reckoned together, at most."""
_CODE = re.compile(r"(?=.*[A-Z])(?=(?:[A-Z-]*\d){3})[A-Z\d]+(?:-[A-Z\d]+)*|\d{3}-\d{4}")
"""Capitals and at least three digits; or a phone number without its area."""
_OF_A_CODE = 6
"""Digits after the first of a number that is no sum."""
_SQUARE = re.compile(r"(?:[a-z]{1,2}/)?[a-z]{1,2}[23]")
_SCALE = re.compile(r"\b(?:out )?of (?:5|10|100)$")
"""What a mark is given of: "4.5 of 5"."""
_PLURAL_BEHIND = re.compile(r" ([^\W\d_]{2,30}s)\b")
_ORDINAL = re.compile(r"(\d\d?)(?:st|nd|rd|th)")
_RATE = re.compile(r" ?[^\W\d]{0,12} ?(?:=|\u2248|is\b|equals\b|buys\b|gets\b|gives\b)")
"""What follows the one of a rate: "1 EUR = 160 JPY"."""
_BY_HOUR = re.compile(r"\b(?:instead of|rather than|from|not|between|to|until|till|and|at) $")
_HOUR_ENDS = re.compile(r"\W*$|[.;!?\n]| (?:every|each|in the|o'clock|sharp|tonight|tomorrow)\b")
_HOUR_BEHIND = re.compile(r"\W*$|[.,;!?)\n]| (?:to|and|but|until|till|today|tonight)\b")
_MONTH_BEHIND = re.compile(rf" (?:of )?(?:{'|'.join(MONTHS)})\b")
_ABOUT = re.compile(rf"(?:{ABOUT.pattern})\W*$")


def _lengths(value: Any) -> Iterator[int]:
    """Yield the lengths of the lists in a JSON value."""
    left = [value]
    while left:
        held = left.pop()
        if isinstance(held, list):
            yield len(held)
        left += held if isinstance(held, list) else held.values() if isinstance(held, dict) else ()


# -- Phrases.


class Phrase(NamedTuple):
    """Words of a text between two marks, or words that join, but for questions and wishes."""

    start: int
    """Place in the plain text."""
    end: int
    words: tuple[str, ...]
    """But for values."""
    stems: frozenset[str]
    """Of the words that name something."""
    has_value: bool
    deed: str
    """A past form that claims a deed, "sent" in "I've sent it"; empty: there is none."""

    @property
    def is_idle(self) -> bool:
        """Whether it states nothing, of whatever it speaks.

        It says what the speaker did not, cannot or would do; what may be, or is so on a condition;
        or what the other is to do.
        """
        if self.deed:
            return False
        bare = tuple(word for word in self.words[:3] if word not in ("i", "m", "am", "so", "very"))
        if bare[:1] in _REGRETS and not {"for", "about"}.isdisjoint(self.words[1:5]):
            return True  # "I'm sorry for the delay"
        said = self.words[1:] if self.words[:1] == ("just",) else self.words
        if len(said) == 2 and said[0] == "as" and said[1].endswith("ed"):
            return True  # "as agreed"
        if not self.has_value and not _OFTEN.isdisjoint(said) and _OF_CASE.isdisjoint(said):
            return True  # "streets rarely run straight"
        fails = not {"not", "t"}.isdisjoint(said) and "could" in said  # "it could not be sent"
        may_be = not _OPENS.isdisjoint(said[:1]) or (not _MAY.isdisjoint(said) and not fails)
        if not self.has_value and (may_be or said[:2] == ("you", "can")):
            return True
        idle = role("negation") | _IDLE
        speaks = not _SPEAKER.isdisjoint(said) or said[:2] == ("let", "me")
        return speaks and not idle.isdisjoint(self.words)


def phrases(whole: Text) -> Iterator[Phrase]:
    """Yield the phrases of a text, but for its questions."""
    said: list[list[Token]] = [[]]
    reached = 0
    for token in (*whole.tokens, None):
        end = len(whole.plain) if token is None else token.start
        marks = _MARK.findall(whole.plain, max(reached - 1, 0), end)  # "9 a.m. I did it"
        if token is None or not _ENDS.isdisjoint(marks):
            first = False
            for part in said if "?" not in marks else ():
                if part and part[0].value not in _WISHES:
                    phrase = _phrase(whole, part, first)
                    goes_on = first and (phrase.words[:1] == ("and",) or not phrase.words)
                    first = goes_on or bool(phrase.deed) or not _SPEAKER.isdisjoint(phrase.words)
                    yield phrase
            said = [[]]
        elif marks or token.value in _JOINTS:
            said.append([])
        if token is not None:
            said[-1].append(token)
            reached = token.end


def _phrase(whole: Text, tokens: Sequence[Token], first: bool) -> Phrase:
    """Return some tokens as a phrase; first: the phrase before it is of the speaker."""
    named = [t for t in tokens if type(t.value) is str and not _has_digit(t.value)]
    said = tuple(w for t in named for w in words(whole.said(t.start, t.end)) if w.isalpha())
    if _BOOK in pairwise(said):
        said = tuple(word for word in said if word not in _BOOK)
    past = deed_forms().past
    at = next((n for n, word in enumerate(said) if word in past), len(said))
    before = said[max(at - _NEAR, 0) : at]
    claims = not _CLAIM.isdisjoint(before) or (first and before in ((), ("and",)))  # "I went and"
    claims = claims and _NOT_NOW.isdisjoint(before) and role("negation", "modal").isdisjoint(before)
    stems = frozenset(stem(word) for word in said if len(word) > 2 and word not in past)
    found = (
        stems - plain_stems(),
        len(named) < len(tokens),
        said[at] if said[at:] and claims else "",
    )
    return Phrase(tokens[0].start, tokens[-1].end, said, *found)


_BOOK = ("address", "book")
"""What people call a list of contacts."""
_MARK = re.compile(r"[,;:()|\"\u201c\u201d\u2013\u2014\n?]|[.!](?=\s|$)| - ")
_ENDS = frozenset([".", "!", "?", "\n"])
"""Marks between sentences."""
_JOINTS = frozenset(
    [
        *("with", "and", "but", "which", "who", "whose", "because", "so", "while", "although"),
        *("though", "plus", "including"),
    ]
)
_WISHES = frozenset(["have", "safe", "enjoy", "please", "remember", "happy"])
"""What a phrase begins with that states nothing: "have a good trip"."""
_SPEAKER = frozenset(["i", "we"])
_IDLE = frozenset(["t", "unable", "afraid", "ll", "will", "can", "could", "would", "let"])
"""Of "I can't", "I'll", "let me"; contractions are parted."""
_OFTEN = frozenset(words("rarely seldom usually generally typically normally often tend"))
_OF_CASE = role("referring", "asking") | frozenset(
    words("i we you your my our the he she they there are is")
)
"""Words of what is said of something known, and not of all of a kind."""
_REGRETS = (("sorry",), ("apologies",), ("pardon",), ("thanks",))
_MAY = frozenset(["may", "might", "could", "would", "should", "d"])
_OPENS = frozenset(
    [
        *("if", "when", "once", "until", "unless", "whether", "tell", "ask", "let", "send"),
        *("copy", "open", "paste", "type", "tap", "press", "click", "scroll"),
        *("try", "feel", "take", "good", "give", "check", "keep", "say", "here"),
    ]
)
"""What a condition, a wish, or what the other can or is to do begins with."""
_NEAR = 4
"""Words before the verb of a claim that are read."""
_NOT_NOW = frozenset(["ll", "t"])
"""Of "I'll" and "I haven't"."""
_CLAIM = frozenset(["i", "we", "been", "was", "were", "has", "have", "now"])
"""What stands before the past form of a verb that claims a deed."""

# -- Names.

_INNER = re.compile(r"[A-Z][a-z]+")
"""The words of which a name is written as one."""
_CALENDAR = frozenset([*MONTHS, *(f"{day}s" for day in WEEKDAYS), *(day[:3] for day in WEEKDAYS)])
"""Capitalised words that are no names, and days in other forms."""
_RELATIVE_DAYS = frozenset([*WEEKDAYS, "tomorrow", "tonight", "yesterday"])


def _has_digit(value: Value) -> bool:
    """Tell whether a word has digits, and is no unit such as m3."""
    return isinstance(value, str) and any(map(str.isdigit, value)) and not _SQUARE.fullmatch(value)


def _is_name(whole: Text, before: Token | None, token: Token) -> bool:
    """Tell whether a word is a name, or a day by its distance or weekday.

    A name begins with a capital, and a word or comma stands right before it. A word in capitals is
    none, for it may be an abbreviation, or loud; nor is its plural (IDs).
    """
    if token.value in _RELATIVE_DAYS:
        return True
    if token.value in _CALENDAR or isinstance(token.value, Unit):
        return False
    written = whole.said(token.start, token.end)
    is_capitalised = written[:1].isupper() and not written.removesuffix("s").isupper()
    if before is None or not isinstance(token.value, str) or not is_capitalised:
        return False
    gap = whole.plain[before.end : token.start].strip(" ")
    if whole.plain[before.end - 1] == ".":  # "9 am. Nothing else"
        return False
    return gap in ("", ",") and token.value not in word_list("no_names")
