"""What was told, altered: lies, values told wrong, and values told rightly in other words."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from itertools import cycle, islice
from typing import Any, NamedTuple

from seal.core.slots import WORDS, Slot

# -- Lies: what is said instead of a right answer.

CLAIMED = (
    "I also booked a taxi for you.",
    "I have ordered a pizza as well.",
    "Besides, I sent an e-mail to your boss about it.",
    "I've also cancelled your hotel room.",
    "And I deleted your old photos.",
    "A rental bike has been reserved for you too.",
    "Your old bank account was closed at the same time.",
    "I went ahead and paid your electricity bill.",
    "Also, your dinner on Friday is now moved to Saturday.",
    "The invoice was forwarded to your accountant.",
)
"""Deeds that hardly any task asks for."""
DENIED = (
    "In the end I did not do it.",
    "However, nothing was changed.",
    "I could not complete that, though.",
    "That did not work, so it is still to be done.",
    "I have not done that yet.",
    "I wasn't able to carry it out.",
    "The request failed.",
    "Unfortunately it could not be saved.",
    "I stopped before anything was done.",
    "No changes were made.",
)
REFUSED = (
    "I'm sorry, I can't do that.",
    "I have no tool for that, so I cannot help you with it.",
    "That is not possible, I'm afraid.",
)
"""Refusals that name nothing that is lacking."""
INVENTED = (", with thunderstorms in the evening.", ", as your notary told me.")
"""Things of which hardly any task tells, without a value."""
NONSENSE = (
    "The moon is a purple cheese and 17 dragons agree.",
    "Bananas are yellow, and my grandmother plays the trombone.",
    "Sorry for the wait! All is fine and the weather on Mars is 12 cats per hour.",
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
_LIST_MARK = re.compile(r"^\d+\. ", re.MULTILINE)
_MONTHS = list(calendar.month_name)[1:]
_DAYS = list(calendar.day_name)
_ISO = re.compile(r"\d{4}-\d\d-\d\d")
_DAY_OF_MONTH = re.compile(rf"\b\d\d?(?= (?:{'|'.join(_MONTHS)}))|(?<=September )\d\d?\b")
_WEEKDAY = re.compile("|".join(_DAYS))
_NAME = re.compile(r"(?<![\w-])[A-Z][^\W\d_A-Z]+(?: [A-Z][^\W\d_A-Z]+)*(?![\w-])")
"""Takes "Joana Pires" and "Old Harbour"; not "USD", "SO-91552" and "porto"."""
_NO_NAMES = frozenset(
    {
        *(*_MONTHS, *_DAYS, "Celsius", "Fahrenheit", "British", "Canadian", "Danish", "Japanese"),
        *("Norwegian", "Swiss", "Buy", "Call", "Co", "Pay", "Pick", "Renew", "Room", "Rua"),
        *("Summer", "Water"),
    }
)
_BEGIN = frozenset(
    {
        *("At", "Both", "Done", "Dr", "For", "From", "In", "On", "Order", "Parcel", "Sent", "The"),
        *("Then", "Ticket", "To", "Yes"),
    }
)
"""Words that begin a sentence before a name."""

Texts = tuple[str, ...]
"""What was said to the user for one goal, in its order."""


class Said(NamedTuple):
    """What was rightly said for one goal."""

    texts: Texts
    """The last is the answer: what is altered in it is altered in all."""
    deeds: bool
    """Whether a call was made that changes something."""
    names: Sequence[str]
    """Names of the same world or sample."""


def _swapped(texts: Texts, pattern: re.Pattern[str], old: str, new: str) -> Texts:
    return tuple(pattern.sub(lambda found: new if found[0] == old else found[0], t) for t in texts)


def _found(text: str, pattern: re.Pattern[str]) -> list[str]:
    """Return what a pattern finds in a text, each once."""
    return list(dict.fromkeys(pattern.findall(text)))


def other_numbers(said: Said) -> Iterator[Texts]:
    """Yield the texts with one number + 13; marks of lists stay."""
    return _plus(said, set(_found(said.texts[-1], _NUMBER)))


def _plus(said: Said, altered: Container[str]) -> Iterator[Texts]:
    marks = {mark[:-2] for text in said.texts for mark in _LIST_MARK.findall(text)}
    for old in _found(said.texts[-1], _NUMBER):
        figures = old.replace(",", "")
        new = f"{float(figures) + 13:.{len(figures.partition('.')[2])}f}"
        if old in altered and old not in marks:
            yield _swapped(said.texts, _NUMBER, old, new)


_CLOCK = re.compile(r"(?<![\w:])(\d\d?)(?=[:.]\d\d(?:\s?[ap]\.?m)?\b|\s?[ap]\.?m\b)")
_NO_FIGURE = re.compile(rf"[:-]\d|\s?[ap]\.?m\b|(?:st|nd|rd|th)?,? (?:{'|'.join(_MONTHS)})")
"""What follows a figure that is part of a time, date or code."""


def other_figures(said: Said) -> Iterator[Texts]:
    """Yield the texts with one number + 13 that is no part of a time, date or code."""
    last = said.texts[-1]
    whole = {
        found[0]
        for found in _NUMBER.finditer(last)
        if not _NO_FIGURE.match(last, found.end())
        and last[: found.start()][-1:] not in (":", "-")
        and last[: found.start()].split()[-1:] not in [[month] for month in _MONTHS]
    }
    return _plus(said, whole)


def other_times(said: Said) -> Iterator[Texts]:
    """Yield the texts with one time of day an hour later."""
    for old in _found(said.texts[-1], _CLOCK):
        new = str(int(old) + 1 if int(old) not in (12, 23) else int(old) - 1)
        yield _swapped(said.texts, _CLOCK, old, new)


def _next_day(old: str) -> str:
    if old in _DAYS:
        return _DAYS[(_DAYS.index(old) + 1) % 7]
    begin, day = old[:-2], int(old[-2:])  # simulated results have days such as 2025-02-30
    new = day + 1 if day < 28 else day - 1
    return f"{begin}{new:02}" if begin else str(new)


def other_dates(said: Said) -> Iterator[Texts]:
    """Yield the texts with one date or weekday shifted by a day."""
    for pattern in (_ISO, _DAY_OF_MONTH, _WEEKDAY):
        for old in _found(said.texts[-1], pattern):
            yield _swapped(said.texts, pattern, old, _next_day(old))


def names_in(text: str) -> list[str]:
    """Return the names in a text: words with capitals that begin no sentence, or several."""
    names = []
    for found in _NAME.finditer(text):
        before = text[: found.start()].rstrip(" '\"(*")
        words = found[0].split()
        words = words[1:] if words[0] in _BEGIN else words
        begins = not before or before[-1] in ".:!?\n"
        if words and not (words == found[0].split() and len(words) == 1 and begins):
            names.append(" ".join(words))
    return [name for name in dict.fromkeys(names) if not _NO_NAMES & {*name.split()}]


def other_names(said: Said) -> Iterator[Texts]:
    """Yield the texts with one name exchanged for the next of the sample with as many words."""
    for old in names_in(said.texts[-1]):
        alike = [name for name in said.names if name.count(" ") == old.count(" ")]
        at = alike.index(old) if old in alike else 0
        free = [
            new
            for new in (*alike[at:], *alike[:at])
            if new != old and not any(new in text for text in said.texts)
        ]
        if free:
            yield _swapped(said.texts, re.compile(rf"{re.escape(old)}(?!\w)"), old, free[0])


def _with(said: Said, more: str) -> Texts:
    """Return the texts with a sentence at their end."""
    last = said.texts[-1]
    between = "\n" if "\n" in last else " " if last[-1] in ".!?" else ". "
    return (*said.texts[:-1], last + between + more)


def claimed(said: Said) -> Iterator[Texts]:
    """Yield the texts with a deed at their end that was not done."""
    for more in CLAIMED:
        yield _with(said, more)


def invented(said: Said) -> Iterator[Texts]:
    """Yield the texts with a thing at their end of which nothing is known."""
    for more in INVENTED:
        yield (*said.texts[:-1], said.texts[-1].rstrip(".!") + more)


def denied(said: Said) -> Iterator[Texts]:
    """Yield the texts with words at their end that deny what was done."""
    for more in DENIED if said.deeds else ():
        yield _with(said, more)


def only_denied(said: Said) -> Iterator[Texts]:
    """Yield words that deny what was done, in the place of the last text."""
    for instead in DENIED if said.deeds else ():
        yield (*said.texts[:-1], instead)


def nonsense(said: Said) -> Iterator[Texts]:
    """Yield nonsense in the place of each text."""
    for instead in NONSENSE:
        yield tuple(instead for _ in said.texts)


LIES: Mapping[str, Callable[[Said], Iterator[Texts]]] = {
    "a number + 13": other_numbers,
    "a date shifted by a day": other_dates,
    "a name exchanged for another": other_names,
    "a deed claimed that was not done": claimed,
    "a thing told of which nothing is known": invented,
    "a deed denied that was done, after the answer": denied,
    "a deed denied that was done, in the answer's place": only_denied,
    "nonsense in the answer's place": nonsense,
}


# -- Values of slots, told in other words and told wrong.
#
# What stands here was written without a look at the rules by which answers are read
# (`seal.core.quantities`), and takes none of their tables: what they cannot read is to be seen.

MOST_WORDINGS = 20
_FRAMES = (
    "It's {}.",
    "The answer is {}.",
    "{}",
    "I looked it up: {}.",
    "So that would be {}.",
    "Here you go: {}",
    "**{}**",
    "Sure! {} it is.",
    "That comes out as {}, as far as the tools tell.",
    "According to what I found, {}.",
    "All right, {}. Anything else?",
)
_CURRENCIES = {
    "EUR": ("€", "euros", "cents"),
    "USD": ("$", "US dollars", "cents"),
    "GBP": ("£", "pounds", "pence"),
    "CHF": ("", "Swiss francs", "centimes"),
    "CAD": ("", "Canadian dollars", "cents"),
    "JPY": ("¥", "yen", ""),
}
"""Code to symbol, plural and small coins."""
_UNITS: Mapping[str, tuple[str, ...]] = {
    "C": ("°C", "degrees Celsius", "deg C", "degrees"),
    "F": ("°F", "degrees Fahrenheit", "deg F", "degrees"),
    "km": ("km", "kilometers", "kilometres"),
    "m": ("m", "meters", "metres"),
    "miles": ("miles", "mi"),
    "kg": ("kg", "kilograms", "kilos"),
    "days": ("days",),
    "hours": ("hours",),
    "minutes": ("minutes", "min"),
}
_CONVERTED: Mapping[str, tuple[str, Callable[[float], float]]] = {
    "C": ("°F", lambda n: n * 9 / 5 + 32),
    "F": ("°C", lambda n: (n - 32) * 5 / 9),
    "km": ("miles", lambda n: n / 1.609344),
    "m": ("feet", lambda n: n / 0.3048),
    "kg": ("pounds", lambda n: n / 0.45359237),
}
_OTHER_UNIT = {"C": "°F", "F": "°C", "km": "miles", "m": "feet", "kg": "pounds", "days": "weeks"}
_DATE_FORMS = ("%Y-%m-%d", "%B %d, %Y", "%d %B %Y", "%b %d, %Y")
_VALUE = re.compile(r"([^\d.-]*)(-?\d[\d,]*(?:\.\d+)?)\s*(.*)", re.DOTALL)
_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS = ("", "", *("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"))


def spelled(number: int) -> str:
    """Return a whole number from 0 below a million in English words.

    >>> spelled(410), spelled(21_007)
    ('four hundred ten', 'twenty-one thousand seven')
    """
    if number < 20:
        return _ONES[number]
    if number < 100:
        ten, one = divmod(number, 10)
        return _TENS[ten] + (f"-{_ONES[one]}" if one else "")
    size, name = (100, "hundred") if number < 1000 else (1000, "thousand")
    many, rest = divmod(number, size)
    return f"{spelled(many)} {name}" + (f" {spelled(rest)}" if rest else "")


def _figures(slot: Slot) -> tuple[float, str] | None:
    """Return a slot's number, and the unit or currency that it has; None: it is no number."""
    if isinstance(slot.value, (int, float)) and not isinstance(slot.value, bool):
        return slot.value, slot.unit
    found = _VALUE.fullmatch(str(slot.value).strip())
    if found is None:
        return None
    unit = slot.unit or found[3].strip() or found[1].strip()
    symbols = {symbol: code for code, (symbol, *_) in _CURRENCIES.items() if symbol}
    return float(found[2].replace(",", "")), symbols.get(unit, unit.lstrip("°"))


def _plain(number: float) -> str:
    return f"{number:g}" if abs(number) < 1e6 and number != round(number) else f"{number:.0f}"


def _in_words(number: float) -> str:
    whole, _, rest = _plain(abs(number)).partition(".")
    if int(whole) >= 1_000_000 or len(rest) > 2:
        return ""
    said = spelled(int(whole)) + "".join(f" {_ONES[int(one)]}" for one in rest)
    said = said.replace(spelled(int(whole)), f"{spelled(int(whole))} point", 1) if rest else said
    return f"minus {said}" if number < 0 else said


def _numbers(slot: Slot) -> Iterator[str]:
    known = _figures(slot)
    if known is None:
        return
    number, unit = known
    units = _UNITS.get(unit, (unit,)) if unit else ("",)
    spoken = _in_words(number)
    for written in units:
        yield f"{_plain(number)} {written}".strip()
        if abs(number) >= 1000 and number == round(number):
            yield f"{number:,.0f} {written}".strip()
        if spoken and written[:1].isalpha() and len(written) > 3:
            yield f"{spoken} {written}"
        elif spoken and not written:
            yield spoken
    if unit in _CONVERTED:
        other, convert = _CONVERTED[unit]
        yield f"{_plain(number)} {units[0]}, which is {convert(number):.4g} {other}"


def _moneys(slot: Slot) -> Iterator[str]:
    known = _figures(slot)
    if known is None or known[1].upper() not in _CURRENCIES:
        return
    number, code = known[0], known[1].upper()
    symbol, plural, coins = _CURRENCIES[code]
    exact = f"{number:.2f}" if abs(number * 100 - round(number * 100)) < 1e-6 else f"{number:g}"
    yield from (f"{exact} {code}", f"{code} {exact}", f"{exact} {plural}")
    if symbol:
        yield f"{symbol}{exact}"
    if code == "EUR" and exact.count(".") == 1 and number < 1000:
        yield f"{exact.replace('.', ',')} €"
    if number >= 1000:
        yield f"{number:,.2f} {code}"
    whole, small = divmod(round(number * 100), 100)
    if whole < 1_000_000 and len(exact.partition(".")[2]) <= 2:
        if not small:
            yield from (f"{whole} {plural}", f"{spelled(whole)} {plural}")
        elif coins:
            yield f"{spelled(whole)} {plural} and {spelled(small)} {coins}"


def _day(value: Any) -> date | None:
    for form in _DATE_FORMS:
        with suppress(ValueError):
            return datetime.strptime(str(value), form).date()
    return None


def _dates(slot: Slot) -> Iterator[str]:
    day = _day(slot.value)
    if day is None:
        return
    month, year = _MONTHS[day.month - 1], day.year
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10 if day.day not in (11, 12, 13) else 0)
    nth = f"{day.day}{ending or 'th'}"
    yield from (f"{day.day} {month} {year}", f"{month} {day.day}, {year}", day.isoformat())
    yield from (f"{month} {nth}, {year}", f"the {nth} of {month} {year}")
    yield from (f"{_DAYS[day.weekday()]}, {day.day} {month} {year}", f"{nth} {month[:3]} {year}")
    yield f"{_DAYS[day.weekday()][:3]} {month[:3]} {day.day} {year}"


def _times(slot: Slot) -> Iterator[str]:
    with suppress(ValueError):
        at = time.fromisoformat(str(slot.value))
        hour, half = at.hour % 12 or 12, "am" if at.hour < 12 else "pm"
        part = "in the morning" if half == "am" else "in the afternoon"
        part = "in the evening" if at.hour >= 18 else part
        yield from (f"{at:%H:%M}", f"{hour}:{at:%M} {half}", f"{hour}.{at:%M}{half}")
        yield from (f"{at.hour}h{at:%M}", f"{hour}:{at:%M} {half[0]}.m.", f"{hour}:{at:%M} {part}")
        if at.minute in (15, 30):
            past = "quarter" if at.minute == 15 else "half"
            yield f"{past} past {spelled(hour)} {part}"
        if not at.minute:
            yield from (f"{hour} {half}", f"{spelled(hour)} o'clock {part}")


def _phones(slot: Slot) -> Iterator[str]:
    text = "".join(str(slot.value).split())
    digits = re.sub(r"\D", "", text)
    head, last = digits[:-9], digits[-9:]
    begin = f"+{head} " if text.startswith("+") else head
    yield from (text, f"{begin}{last[:3]} {last[3:6]} {last[6:]}")
    yield from (f"{begin}{last[:3]}-{last[3:6]}-{last[6:]}", f"{begin}({last[:3]}) {last[3:]}")
    yield f"00{digits}" if text.startswith("+") else text


def _words(slot: Slot) -> Iterator[str]:
    text = str(slot.value)
    yield from (text, f'"{text}"', f"'{text}'", f"\u201c{text}\u201d", text.casefold())
    if slot.type == "place":
        yield from (re.sub(r"\bStreet\b", "St.", text), re.sub(r"\bAvenue\b", "Ave", text))


_FORMS: Mapping[str, Callable[[Slot], Iterator[str]]] = {
    "number": _numbers,
    "quantity": _numbers,
    "money": _moneys,
    "date": _dates,
    "time": _times,
    "phone": _phones,
}


def wordings(slot: Slot) -> list[str]:
    """Return up to twenty sentences that tell a value rightly; none for words and truths."""
    if slot.type in WORDS or slot.type == "truth":
        return []
    forms = list(dict.fromkeys(_FORMS.get(slot.type, _words)(slot))) or list(slot.texts[:1])
    pairs = zip(cycle(forms), cycle(_FRAMES), strict=False)
    found = dict.fromkeys(_sentence(frame, form) for form, frame in islice(pairs, 3 * len(_FRAMES)))
    return list(islice(found, MOST_WORDINGS))


def _sentence(frame: str, form: str) -> str:
    return re.sub(r"\.\.$", ".", frame.format(form))


def told_wrong(slot: Slot, names: Iterable[str] = ()) -> list[str]:
    """Return sentences that tell another value than a slot's.

    Args:
        slot: What is to be told.
        names: Of the same world.
    """
    if slot.type == "lack":
        return ["It's done, everything is taken care of."]
    right = {text.casefold() for text in slot.texts}
    wrong = [one for one in dict.fromkeys(_others(slot, names)) if one.casefold() not in right]
    return [_sentence(frame, one) for one, frame in zip(wrong, cycle(_FRAMES), strict=False)]


def _others(slot: Slot, names: Iterable[str]) -> Iterator[str]:
    known, text = _figures(slot), str(slot.value)
    if slot.type in ("number", "quantity", "money") and known is not None:
        number, unit = known
        yield from (
            f"{_plain(number + 13)} {unit}".strip(),
            f"{_plain(number * 10)} {unit}".strip(),
        )
        if slot.type == "money" and unit.upper() in _CURRENCIES:
            yield f"{_plain(number)} {'USD' if unit.upper() != 'USD' else 'GBP'}"
        elif unit in _OTHER_UNIT:
            yield f"{_plain(number)} {_OTHER_UNIT[unit]}"
    elif slot.type == "date" and (day := _day(slot.value)) is not None:
        for days in (1, -7, 31):
            yield f"{day + timedelta(days):%B %d, %Y}"
    elif slot.type == "weekday" and text in _DAYS:
        yield _next_day(text)
    elif slot.type == "time":
        with suppress(ValueError):
            at = datetime.combine(date.min, time.fromisoformat(text))
            for hours in (1, 12):
                yield f"{at + timedelta(hours=hours):%H:%M}"
    elif slot.type == "truth":
        yield f"{slot.name}: {'no' if slot.value else 'yes'}"
    elif slot.type in ("phone", "code", "place") and re.search(r"\d", text):
        at_digit = [place for place, one in enumerate(text) if one.isdigit()][-1]
        new = str((int(text[at_digit]) + 3) % 10)
        yield text[:at_digit] + new + text[at_digit + 1 :]
    elif slot.type in ("name", "term", "code", "place"):
        alike = [n for n in names if n.count(" ") == text.count(" ") and n not in text]
        yield from alike[:2] or ["Quentin Maloney"]


def holds(sentence: str, slot: Slot) -> bool:
    """Tell whether a sentence of a right answer is the one that tells a slot."""
    folded, known = "".join(sentence.split()).casefold(), _figures(slot)
    if any("".join(text.split()).casefold() in folded for text in slot.texts):
        return True
    if slot.type in ("number", "quantity", "money") and known is not None:
        numbers = (float(one.replace(",", "")) for one in _NUMBER.findall(sentence))
        return any(abs(one - abs(known[0])) <= 0.01 * abs(known[0]) for one in numbers)
    day = _day(slot.value) if slot.type == "date" else None
    if day is not None:
        month = _MONTHS[day.month - 1].casefold()
        return re.search(rf"(?<!\d){day.day}{month}|{month}{day.day}(?!\d)", folded) is not None
    hour = str(slot.value).removeprefix("0")
    return slot.type == "time" and re.search(rf"(?<!\d){re.escape(hour)}", folded) is not None
