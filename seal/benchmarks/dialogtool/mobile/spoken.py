"""Whether a user has confirmed just the arguments that a call is made with.

The agent must have said every one of them, and the user's next word must allow just that
(`seal.core.confirmation`). Dates and times count however they are said: 2019-03-08 as "March 8th",
17:30 as "5:30 pm"; small numbers also in words. Of True and False it is enough that a word of the
argument's name is said, for "with two bags, non-refundable" has no other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from seal.core.conditions.messages import AGENT, USER, party
from seal.core.confirmation import confirms
from seal.core.consent import calls_off
from seal.core.text import words
from seal.core.types import JSON, Step

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_TIME = re.compile(r"(\d\d?):(\d\d)")
_NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_LEAST = 4
"""Letters of a word of an argument's name that says what it is about."""


def confirmed(steps: Sequence[Step], arguments: Mapping[str, JSON]) -> bool:
    """Tell whether the user has allowed a call with just these arguments.

    Args:
        steps: What was said so far; the last words of the agent that state all arguments decide,
            and what the user answered to them. A later word that calls things off ends it.
        arguments: Of the call.
    """
    spoken = [step for step in steps if _is_spoken(step)]
    for place in range(len(spoken) - 1, 0, -1):
        answer, told = spoken[place], spoken[place - 1]
        if answer.author != USER or told.author == USER:
            continue
        values = list(_stated(told.content, arguments))
        if len(values) == len(arguments):
            return confirms(answer.content, told.content, [value for value in values if value])
        if calls_off(answer.content):
            return False
    return False


def _is_spoken(step: Step) -> bool:
    between = step.author == USER or (party(step.author) == AGENT and step.recipient == USER)
    return between and step.call is None and step.result is None and bool(step.content.strip())


def _stated(text: str, arguments: Mapping[str, JSON]) -> Iterator[str]:
    """Yield the words by which a text states an argument, for each that it states."""
    for name, value in arguments.items():
        if isinstance(value, bool):
            about = {word for word in words(name) if len(word) >= _LEAST}
            if about & set(words(text)):
                yield ""
            continue
        found = next((said for said in ways_to_say(value) if _has(text, said)), None)
        if found is not None:
            yield found


def ways_to_say(value: JSON) -> Iterator[str]:
    """Yield the texts that state a value: itself, and what people say for it.

    >>> list(ways_to_say("2019-03-08"))[:3]
    ['2019-03-08', 'march 8', 'march 8th']
    """
    text = str(value)
    yield text
    if day := _DATE.fullmatch(text):
        yield from _ways_to_say_day(*map(int, day.groups()))
    elif time := _TIME.fullmatch(text):
        yield from _ways_to_say_time(int(time[1]), int(time[2]))
    elif text.isdecimal() and int(text) < len(_NUMBERS):
        yield _NUMBERS[int(text)]


def _ways_to_say_day(year: int, month: int, day: int) -> Iterator[str]:
    try:
        name = date(year, month, day).strftime("%B").lower()
    except ValueError:
        return
    ending = "th" if 10 < day < 14 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    for month_name in (name, name[:3]):
        yield f"{month_name} {day}"
        yield f"{month_name} {day}{ending}"
        yield f"{day}{ending} of {month_name}"
        yield f"{day}{ending} {month_name}"
        yield f"{day} {month_name}"
    yield f"the {day}{ending}"


def _ways_to_say_time(hour: int, minute: int) -> Iterator[str]:
    half = "am" if hour < 12 else "pm"
    clock = hour % 12 or 12
    yield f"{hour}:{minute:02d}"
    for ending in (half, f"{half[0]}.m", f"{half[0]}.m."):
        yield f"{clock}:{minute:02d} {ending}"
        if not minute:
            yield f"{clock} {ending}"
    if not minute:
        yield from {0: ("midnight",), 12: ("noon", "midday")}.get(hour, ())
        part = "morning" if hour < 12 else "afternoon" if hour < 17 else "evening"
        yield f"{clock} in the {part}"
        yield f"{part} {clock}"
        yield f"{clock} o'clock"


def _has(text: str, said: str) -> bool:
    """Tell whether a text has a phrase as whole words, whatever its case and punctuation."""
    wanted, heard = _words(said), _words(text)
    size = len(wanted)
    return bool(wanted) and any(heard[n : n + size] == wanted for n in range(len(heard) - size + 1))


def _words(text: str) -> list[str]:
    parted = re.sub(r"(?<=\d)(?=[ap]\.?m\b)", " ", text.casefold())
    return re.findall(r"\w+", parted.replace(".m.", "m").replace(".m", "m"))
