"""What an agent says of rows that calls changed, and of others of the same table.

A message is wrong if it

- gives a row another day or time than it has now: "the dentist begins at 11:00", which is at 10:00
- claims a deed on a row that no call touched, where one of its table was: "the eye test is off your
  calendar", and the dentist is
- says that a row still has a house number that it has no more: "it still goes to 174"
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain
from typing import Any

from seal.core.cells import key_of
from seal.core.facts import Record
from seal.core.quantities import WEEKDAYS, Day, Text, Time, read
from seal.core.statements import spelled
from seal.core.text import deed_forms, role, singular, stem, words
from seal.evaluation.mislabels import street_of

Row = Mapping[str, Any]
Rows = Mapping[str, Sequence[Row]]


class ChangedRows:
    """The rows that calls changed, and the others of their tables that the chat tells of.

    Args:
        tables: Of the world, as they are.
        changed: By table the rows that were added or changed, as they are.
        gone: By table the rows that were changed or removed, as they were.
        done: Kinds of deeds with the words of the tools that did them.
        known: Of the chat; its clock tells what moments are.
    """

    def __init__(
        self, tables: Rows, changed: Rows, gone: Rows, done: Container[object], known: Record
    ) -> None:
        self._tables, self._changed, self._gone = tables, changed, gone
        self._done, self._known = done, known

    @cached_property
    def _there(self) -> dict[str, _Table]:
        return {
            name: _Table([row for row in self._tables[name] if _was_seen(row, self._known)])
            for name in {*self._changed, *self._gone}
        }

    def belie(self, text: str) -> bool:
        """Tell whether a sentence is wrong of a row that calls changed, or of another."""
        if not (self._changed or self._gone):
            return False
        return (
            _is_mistimed(text, self._there, self._changed, self._known)
            or _is_of_another(text, self._there, self._changed, self._gone, self._done)
            or _still_lies(text, self._tables, self._gone)
        )


class _Table:
    """Rows of a table, and the cells that name one of them alone."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._own = set(map(id, rows))
        texts = ({cell for cell in row.values() if isinstance(cell, str)} for row in rows)
        self._held = Counter(chain.from_iterable(texts))
        self._titles = [(row, [*self._titles_of(row)]) for row in rows]

    def _titles_of(self, row: Row) -> Iterator[tuple[str, str]]:
        """Yield texts of a few words that no other row has, whole and bare."""
        own = int(id(row) in self._own)
        for name, cell in row.items():
            if not isinstance(cell, str) or name in ("state", "status") or len(cell) > _LONGEST:
                continue
            if any(map(str.isalpha, cell)) and self._held[cell] == own:
                yield cell, "".join(words(cell))

    def named(self, text: Text) -> Iterator[tuple[Row, str]]:
        """Yield the rows that a text names, each with each of its names."""
        bare = _bare(text)
        for row, titles in self._titles:
            yield from ((row, title) for title, letters in titles if letters in bare)

    def names_of(self, row: Row, text: Text) -> Iterator[str]:
        """Yield the names that a text may have of a row, which may be gone."""
        bare = _bare(text)
        yield from (title for title, letters in self._titles_of(row) if letters in bare)


def _bare(text: Text) -> str:
    """Return the letters and digits of a text, in which those of any name of it stand in a row."""
    return _PARTED.sub("", text.plain)


_PARTED = re.compile(r"[\W_]+")


def _was_seen(row: Row, known: Record) -> bool:
    """Tell whether the chat tells of a row, as far as a code says; others may be of anybody."""
    key = next(iter(row.values()), None)
    return not (isinstance(key, str) and any(map(str.isdigit, key))) or known.tells(key.lower())


def _is_mistimed(text: str, tables: Mapping[str, _Table], changed: Rows, known: Record) -> bool:
    """Tell whether words give a changed row another day or time than it has."""
    if not changed or _BEGINS.search(text) is None:
        return False
    whole, fits = read(text), set[bool | None]()
    for table, rows in changed.items():
        named = [row for row in rows if _place_of(row, tables[table], whole) is not None]
        if len(named) != 1 or _names_others(whole, tables[table], named[0]):
            continue
        said = _BEGINS.match(whole.plain, _place_of(named[0], tables[table], whole) or 0)
        fits |= set() if said is None else {_fits(read(said[1]), named[0], known)}
    # A letter may have the name of the event that it is about.
    return False in fits and True not in fits


def _fits(said: Text, row: Row, known: Record) -> bool | None:
    """Tell whether the first day and time of a text are some of a row; None: it has none such."""
    if not _OF_OTHER_TIMES.isdisjoint(words(said.plain)):
        return True
    begins = {name: cell for name, cell in row.items() if not _BEGIN.isdisjoint(words(name))}
    days, times = _moments_of(row, known)[0], _moments_of(begins or row, known)[1]
    told = [token.value for token in said.tokens]
    time = next((one for one in told if isinstance(one, Time)), None)
    day = next((one for one in told if isinstance(one, Day)), None)
    weekday = next((one for one in told if one in WEEKDAYS), None)
    fits = list[bool]()
    if time is not None and times:
        fits.append(any(time.may_be(one) for one in times))
    if day is not None and days:
        fits.append(any(day[1:] == one[1:] and day.year in (None, one.year) for one in days))
    elif weekday is not None and days:
        fits.append(weekday in {WEEKDAYS[one.calendar.weekday()] for one in days})
    return all(fits) if fits else None


def _moments_of(row: Row, known: Record) -> tuple[list[Day], list[Time]]:
    """Return the days and times that a row has, but for when it was made."""
    days, times = list[Day](), list[Time]()
    for name, cell in row.items():
        if name.startswith("creat"):
            continue
        moment = known.moment(cell)
        if moment is not None:
            days.append(Day(moment.year, moment.month, moment.day))
            times.append(Time(moment.hour, moment.minute))
        values = [token.value for token in read(cell).tokens] if isinstance(cell, str) else []
        days += [one for one in values if isinstance(one, Day) and one.year]
        times += [one for one in values if isinstance(one, Time)]
    return days, times


def _is_of_another(
    text: str,
    tables: Mapping[str, _Table],
    changed: Rows,
    gone: Rows,
    done: Container[object],
) -> bool:
    """Tell whether words claim a deed on a row that no call touched, and on none that one did."""
    said, whole = words(text), read(text)
    if not ((role("negation", "modal") - {"to"}) | _AS_WELL).isdisjoint(said):
        return False
    for table in {*changed, *gone}:
        own = [*changed.get(table, ()), *gone.get(table, ())]
        if any(_place_of(row, tables[table], whole) is not None for row in own):
            continue
        for row, title in tables[table].named(whole):
            if row in own:
                continue
            held = {stem(word) for cell in row.values() for word in words(str(cell))}
            for verb in _done_to(row, title, whole):
                kind, base = _OFF if verb == "off" else deed_forms().past.get(verb, ("", ""))
                is_done = any((kind, one) in done for one in (singular(table), table))
                if kind in ("change", "remove") and is_done and held.isdisjoint((stem(base),)):
                    return True
    return False


def _done_to(row: Row, title: str, whole: Text) -> Iterator[str]:
    """Yield the past forms of what a text says was done to a row by one of its names, and "off".

    A code may stand anywhere, another name only right beside the verb.
    """
    name = spelled(title)
    if not name:
        return
    if title == next(iter(row.values()), "") and any(map(str.isdigit, title)):
        is_there = re.search(name, whole.plain) is not None
        yield from (one[1] for one in _DONE.finditer(whole.plain) if is_there)
    for found in re.finditer(name, whole.plain):
        before = _DEED_BEFORE.search(whole.plain[max(found.start() - _NEAR, 0) : found.start()])
        behind = _DEED_BEHIND.match(whole.plain, found.end())
        yield from (one[1] for one in (before, behind) if one is not None)


def _still_lies(text: str, tables: Rows, gone: Rows) -> bool:
    """Tell whether words say that something still has a house number that no row has any more."""
    said = _STILL.search(text)
    if said is None:
        return False
    before = {n for rows in gone.values() for row in rows for n in _numbers_in(row.values())}
    now = {n for name in gone for row in tables[name] for n in _numbers_in(row.values())}
    return said[1] in before - now


def _numbers_in(cells: Iterable[object]) -> set[str]:
    """Return the house numbers of the addresses in cells."""
    streets = (street for cell in cells for street in street_of(cell))
    return {word for street in streets for word in words(street) if word.isdigit()}


def is_still_there(
    said: Sequence[str],
    rows: Mapping[str, object],
    now: tuple[AbstractSet[str], AbstractSet[str]],
    kinds: Container[str],
) -> bool:
    """Tell whether words say of a row that it is still there, and a call has removed it.

    Args:
        said: Of a clause.
        rows: Words of names that the world has, or had.
        now: The words of the names that tables have, and the numbers that they had before.
        kinds: Of the deeds of calls that worked.
    """
    if "still" not in said or not role("negation").isdisjoint(said):
        return False
    named, (there, gone) = {*said} & rows.keys(), now
    is_there = bool(named - there) and "remove" in kinds
    return is_there or any(key in "".join(map(key_of, said[:_MOST])) for key in gone)


def _place_of(row: Row, table: _Table, whole: Text) -> int | None:
    """Return where the name of a row ends in a text; None: it is not there."""
    patterns = filter(None, map(spelled, table.names_of(row, whole)))
    found = (re.search(pattern, whole.plain) for pattern in patterns)
    return next((one.end() for one in found if one is not None), None)


def _names_others(whole: Text, table: _Table, named: Row) -> bool:
    """Tell whether a text names another row of a table, too."""
    others = (title for row, title in table.named(whole) if row != named)
    patterns = filter(None, map(spelled, others))
    return any(re.search(pattern, whole.plain) is not None for pattern in patterns)


_MOST = 40
"""Words of a clause that are read for a value, at most."""
_STILL = re.compile(r"\bstill (?:[a-z]+ ){1,4}(\d+)\b")
_LONGEST = 40
"""Characters of a name of a row, at most."""
_BEGIN = frozenset(words("start starts begin begins"))
_BEGINS = re.compile(
    r"['\"\u2019\u201d]? ?(?:now |also |then |will ){0,2}"
    r"(?:begins?|starts?|rings?|takes place|goes off|go off)\b"
    r"(.*?)(?=[;()\n]|\.(?:\s|$)|,? (?:and|but|as|so|since|because|instead|rather|not|which)\b|$)",
    re.IGNORECASE,
)
"""What says when something begins, behind its name."""
_OF_OTHER_TIMES = frozenset(
    words("before after earlier later until from was originally instead than next")
) | role("negation")
_AS_WELL = frozenset(words("already still if unless before until same other others"))
_NEAR = 30
"""Characters before a name in which a deed on it is told."""
_OFF = ("remove", "cancel")
"""What is done to what is "off your calendar"."""
_DONE = re.compile(r"\b(?:is|are|i|i've|i have|has been|have been) (?:now )?([a-z]+ed)\b")
_DEED_BEFORE = re.compile(r"\b(?:i|i've|i have) ([a-z]+) (?:the |your |order |event ){0,2}['\"]?$")
_DEED_BEHIND = re.compile(
    r"['\"]? (?:is|are|has been|have been) (?:now )?"
    r"(off(?= (?:your|the) (?:calendar|diary|list|schedule)\b)|[a-z]+ed)\b"
)
