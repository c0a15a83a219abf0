"""Whether a text states a value, such as an argument that a user is asked to confirm."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any
from zoneinfo import ZoneInfo

Tables = Mapping[str, Sequence[Mapping[str, Any]]]

_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?!\w)")
_PHONE = re.compile(r"\+?[\d\s().-]{5,}")
_NAME = re.compile(r"[^\W\d_]+(?:[ '.-]+[^\W\d_]+){0,2}\.?$")
_SWITCHED = re.compile(
    r"\b(?:turn|switch|flip|toggle)\w*(?:[ '\u2019-]+\w+){0,3}? +(?P<how>on|off)\b"
    r"(?! +(?:(?:the +)?\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day))"
)
_CLOSING = re.compile(r"\b(?P<how>on|off|yes|no)(?=\W*$| *[.,;:!?)\"\u201d]| +(?:and|or|but)\b)")
_TRUTH = re.compile(r"\b(?P<how>true|false|(?:en|dis)abled?|(?:de)?activated?)\b")
_FALSE = frozenset(["off", "no", "false", "disable", "disabled", "deactivate", "deactivated"])
_NEGATED = re.compile(r"(?:\bnot|n['\u2019]t|\bnever) +$")


def states(text: str, value: Any, tables: Tables, zone: str = "UTC") -> bool:
    """Tell whether a text states a JSON value.

    - A text: its words in their order, whatever their case, and blanks and punctuation between
      them; a phone number by its digits. The first cell of a row, which names it, also by another
      text of that row that no other row of the table has: an id by the name it stands for.
    - A number: the same number; a moment (POSIX seconds) also by its local time of day, "17:30" or
      "5:30 pm", whatever is said of the day.
    - True and False: that something is turned on or off, and words such as enabled, false, yes;
      "not" turns them round. In "on Monday" and "no idea" nothing is on or false: these words count
      where they end a clause, or follow a verb such as turn. None, and what is empty: always.
    - A list or object: all that it holds.
    """
    if isinstance(value, Mapping):
        return all(states(text, item, tables, zone) for item in value.values())
    if isinstance(value, (list, tuple)):
        return all(states(text, item, tables, zone) for item in value)
    if isinstance(value, bool):
        return value in _truths(text)
    if isinstance(value, (int, float)):
        return _has_number(text, value) or _tells_time(text, value, zone)
    if not isinstance(value, str):
        return True
    return _has(text, value) or any(_has(text, other) for other in _others(value, tables))


def standing_for(value: Any, tables: Tables, zone: str = "UTC") -> Iterator[str]:
    """Yield the texts of a JSON value, and what stands for each in the world.

    For a text the names (`names_in`) in the rows that hold it; for a moment its local time.
    """
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from standing_for(item, tables, zone)
    elif isinstance(value, str):
        yield value
        rows = (row for rows in tables.values() for row in rows)
        yield from names_in(row for row in rows if any(map(partial(_same, value), row.values())))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield f"{value:,}"
        yield from _times(value, zone)


def names_in(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the cells that are names: one to three words of letters, the first one capitalised."""
    for row in rows:
        yield from (cell for cell in row.values() if _is_name(cell))


def numbers(text: str) -> set[float]:
    """Return the numbers of a text; 40,000 is 40000."""
    return {float(found.replace(",", "")) for found in _NUMBER.findall(text)}


def _truths(text: str) -> Iterator[bool]:
    """Yield what a text says to be so, or not so."""
    said = text.casefold()
    for pattern in (_SWITCHED, _CLOSING, _TRUTH):
        for found in pattern.finditer(said):
            negated = _NEGATED.search(said[: found.start()]) is not None
            yield (found["how"] in _FALSE) is negated


def _has_number(text: str, value: float) -> bool:
    try:
        return float(value) in numbers(text)
    except OverflowError:  # an integer that no float holds
        return str(value) in text.replace(",", "")


def _has(text: str, value: str) -> bool:
    if _PHONE.fullmatch(value.strip()):
        return _digits(value) in _digits(text)
    wanted, said = _words(value), _words(text)
    if not value.isascii() and value.casefold() in text.casefold():
        return True  # some scripts set no blanks between words
    return any(said[n : n + len(wanted)] == wanted for n in range(len(said) - len(wanted) + 1))


def _same(value: str, cell: Any) -> bool:
    if not isinstance(cell, str):
        return False
    if cell == value:
        return True
    return all(map(_PHONE.fullmatch, (value, cell))) and _digits(value) == _digits(cell)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _digits(text: str) -> str:
    return "".join(filter(str.isdecimal, text))


def _others(name: str, tables: Tables) -> Iterator[str]:
    """Yield the texts of a row that no other row of its table has."""
    for rows in tables.values():
        found = next((row for row in rows if row and next(iter(row.values())) == name), None)
        if found is not None:
            counts = Counter(cell for row in rows for cell in row.values() if _is_word(cell))
            yield from (cell for cell in found.values() if _is_word(cell) and counts[cell] == 1)


def _is_name(cell: Any) -> bool:
    return isinstance(cell, str) and bool(_NAME.match(cell)) and not cell[0].islower()


def _is_word(cell: Any) -> bool:
    return isinstance(cell, str) and bool(_WORD.search(cell))


def _tells_time(text: str, moment: float, zone: str) -> bool:
    spoken = "|".join(f"0?{time.replace(' ', '')}" for time in _times(moment, zone))
    plain = re.sub(r"([ap])\.m\.?", r"\1m", text.casefold())
    plain = re.sub(r"(?<=\d)\s+(?=[ap]m\b)", "", plain)
    return bool(spoken) and re.search(rf"(?<![\w:])(?:{spoken})(?![\w:])", plain) is not None


def _times(moment: float, zone: str) -> Iterator[str]:
    """Yield how the local time of day of a moment is told; nothing for any other number."""
    if not is_moment(moment):
        return
    local = datetime.fromtimestamp(moment, ZoneInfo(zone))
    hour, half = local.hour % 12 or 12, "am" if local.hour < 12 else "pm"
    yield f"{local.hour}:{local.minute:02d}"
    yield f"{hour}:{local.minute:02d} {half}"
    if not local.minute:
        yield f"{hour} {half}"
        yield from {0: ("midnight",), 12: ("noon", "midday")}.get(local.hour, ())


MOMENTS = (315_529_200.0, 2_524_604_400.0)
"""First and last number that is taken for a moment, from 1980 to 2050.

Source: ToolSandbox, whose phone accepts no others.
"""


def is_moment(value: Any) -> bool:
    """Tell whether a JSON value may be POSIX seconds."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and MOMENTS[0] <= value <= MOMENTS[1]
