"""Known things that an agent tells otherwise than results, tables and calls have them.

A message is wrong if it

- gives a number the name of another column of its row: "a high of 17.4", which is the current
  temperature
- tells a phone number as the new one that a call has replaced, or another as the old one
- gives a sum another currency than all that tell it, or a share another exchange
- gives somebody another second name, or says what somebody is who is not that: "your sister", "as
  a friend"
- says of a told amount that it is over or under another, and it is not: "2 h 43 min, so well over
  three hours"
- tells a rate of two currencies upside down: "a euro is worth 1.19 pounds", of 640 pounds that
  are 760 euros
- puts a street that a result tells into another town, or tells a street or house number of its own
  in its place
- gives a known thing another day than the results: "the bill was due on the 12th", which a row
  has on the 10th
- gives a day another weekday than it has, or a time of a call another day: "tomorrow at 19:30",
  which is today
- says that something was moved another way, by more, or from or to another time than it was
- says of a text that was sent a value, place or thing that it lacks: "I told Duarte that dinner
  is at your place"; or that it was sent word for word, which nobody told so
- quotes a text that a call wrote with a word of its own: "I set 'Train to Lisbon'"
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from decimal import Decimal
from itertools import chain, islice, pairwise, permutations, product
from typing import Any

from seal.core.cells import misquotes
from seal.core.clauses import Clause
from seal.core.facts import Record
from seal.core.phones import same_phone
from seal.core.quantities import MONTHS, WEEKDAYS, Quantity, Time, read
from seal.core.statements import is_cut, is_same
from seal.core.telling import PHONE
from seal.core.text import deed_forms, plain_stems, role, singular, stem, word_list, words

Row = Mapping[str, Any]


def misplaced(text: str, rows: Sequence[Mapping[tuple[str, ...], Decimal]]) -> str:
    """Return what gives a number the name of another column of its row: "a high of 17", the low.

    Args:
        text: A sentence.
        rows: Of results the numbers, by the words of their columns.
    """
    if not any(_CALLED.keys() & {word for name in row for word in name} for row in rows):
        return ""
    for part in _PARTS.split(text):
        called = {_CALLED[word] for word in words(part) if word in _CALLED}
        if len(called) != 1 or len((whole := read(part)).quantities) != 1:
            continue
        said, (name,) = whole.quantities[0], called
        named = [(row, one) for row in rows for one in row if name in one]
        if any(_is_number(said, row[one]) for row, one in named):
            continue
        for row, one in named:
            alike = (o for o in row if o != one and (o[-1] == one[-1] or name == "previous"))
            if any(_is_number(said, row[other]) for other in alike):
                return part.strip()
    return ""


def _is_number(said: Quantity, number: Decimal) -> bool:
    """Tell whether a quantity is a number, in whatever unit a result may have it."""
    units = {"c", "f"} if said.dimension == "temperature" else {said.unit}
    return any(is_same(said, said._replace(number=number, unit=unit)) for unit in units)


_PARTS = re.compile(
    r"[,;()|\n]|\.(?=\s|$)|\b(?:and|with|but|while|from|since|than|over|against|versus|vs|above"
    r"|below|compared|relative|after|on (?=(?:the|its|yesterday's) (?:previous|last)))\b"
)
"""What parts a number from the name of another: "up 2 % since the previous close"."""
_CALLED = {
    **dict.fromkeys(words("max maximum high highs highest"), "max"),
    **dict.fromkeys(words("min minimum low lows lowest"), "min"),
    **dict.fromkeys(words("current currently now moment"), "current"),
    **dict.fromkeys(words("average mean"), "average"),
    **dict.fromkeys(words("previous closed"), "previous"),
}
"""What people call a column that has a word in its name."""


def outdated(
    text: str, tables: Mapping[str, Sequence[Row]], lost: Mapping[str, Sequence[Row]]
) -> str:
    """Return a text that tells a replaced phone number as the new one, or another as the old one.

    Any other is returned as empty.

    Args:
        text: A sentence.
        tables: Of the world, as they are.
        lost: By table the rows that were changed or removed, as they were.
    """
    gone = list[str]()
    for name, rows in lost.items():
        texts = {cell for row in rows for cell in row.values() if type(cell) is str}
        before = {cell for cell in texts if PHONE.fullmatch(cell)}
        now = tables[name] if before else ()
        held = {cell for row in now for cell in row.values() if type(cell) is str}
        gone += before - held
    for found in PHONE.finditer(text) if gone and _GONE.search(text) is None else ():
        led = text[: found.start()][-_NEAR_PHONE:]
        told = [one[0].lower() for one in _WHICH.finditer(_SENDER.sub("", led))]
        is_new = told[-1:] and told[-1] in ("to", "now", "new", "still")
        is_gone = any(same_phone(found[0], phone) for phone in gone)
        if is_gone if is_new else (not is_gone and not _WAS.isdisjoint(told[-2:])):
            return text
    return ""


_NEAR_PHONE = 60
_WHICH = re.compile(
    r"\b(?:used to be|to|now|new|still|from|was|were|not|old|previous|instead|former|replac\w+)\b"
    r"|[.;\n](?=\s)",
    re.IGNORECASE,
)
_SENDER = re.compile(
    r"\b(?:wrote|written|writes|text(?:s|ed)?|messag(?:es?|ed)|sent|came|comes)\b[^.;\n]*?\bfrom\b",
    re.IGNORECASE,
)
"""Leads to the number that somebody wrote from, which is no replaced one."""
_WAS = frozenset(["used to be", "from", "old", "previous", "former"])
"""The last of them before a phone number tells whether it is the new one."""
_GONE = re.compile(r"\b(?:no longer|any ?more|gone|invalid|out of (?:use|date))\b")


def moved_otherwise(text: str, shifts: Sequence[tuple[datetime, datetime]]) -> bool:
    """Tell whether words say that something was moved another way, or by more, than it was.

    Args:
        text: A sentence.
        shifts: Of each moved row the moments before and after, in the zone of the clock.
    """
    said = {*words(text)}
    whole = read(text) if shifts and not (said & _LATER_ON) else None
    if whole is None:
        return False
    gaps = {(new - old).total_seconds() for old, new in shifts}
    pairs = {*pairwise(words(whole.plain))}
    earlier = bool(said & role("earlier_than") or pairs & _FORWARD)
    later = bool(said & role("later_than") or pairs & _BACK)
    if earlier is not later and all((gap < 0) is later for gap in gaps):
        return True
    by = [
        one.amount
        for one in whole.quantities
        if one.dimension == "time"
        and (_BY.search(whole.plain, max(one.start - _NEAR_BY, 0), one.start) or earlier or later)
    ]
    if by and not ({float(one) for one in by} & {abs(gap) for gap in gaps}):
        return True
    times = [(token.start, token.value) for token in whole.tokens if isinstance(token.value, Time)]
    return any(
        _FROM_TO.search(whole.plain[:start]) is not None
        and not any(
            value.may_be(Time(new.hour, new.minute)) and first.may_be(Time(old.hour, old.minute))
            for old, new in shifts
        )
        for (_, first), (start, value) in pairwise(times)
    )


_LATER_ON = frozenset(["today", "else"])
_FORWARD = frozenset([("brought", "forward"), ("pulled", "forward"), ("it", "forward")])
_BACK = frozenset([("pushed", "back"), ("put", "off"), ("put", "back")])
_NEAR_BY = 8
_BY = re.compile(r"\bby (?:an? )?$")
_FROM_TO = re.compile(r"\bfrom (?:\S+ ){1,4}to $")


def quoted_otherwise(text: str, sent: Sequence[str]) -> bool:
    """Tell whether words say of a text that was sent what it does not say.

    Args:
        text: A sentence.
        sent: Texts that calls sent.
    """
    told = _TELLS.search(text) if sent else None
    if told is None:
        return False
    return all(misquotes(one, _VERBATIM.sub("", told[1])) for one in sent)


_TELLS = re.compile(
    r"\b(?:told|texted|messaged|informed|notified|wrote(?: to)?|knows?|replied|let)\b"
    r"(?: (?!you\b|that\b)[^\s,;.]+){0,4},? that (?!(?:on |along )?to\b)([^;()\u2014\n]+)",
    re.IGNORECASE,
)


def goes_other_way(text: str, ups: AbstractSet[Decimal], downs: AbstractSet[Decimal]) -> bool:
    """Tell whether words say that something rose by what a result says it fell by, or fell.

    Args:
        text: A clause.
        ups: Changes above 0 that results tell.
        downs: Those below, without their sign.
    """
    if not ups | downs:
        return False
    whole = read(text)
    for one in whole.quantities:
        before = whole.plain[max(one.start - _BESIDE, 0) : one.start]
        near = words(before) + words(whole.plain[one.end : one.end + _BESIDE])[:3]
        rises, falls = (not way.isdisjoint(near) for way in (role("rising"), role("falling")))
        rises = rises or before.endswith("+")
        wrong = downs - ups if rises and not falls else ups - downs
        if rises is not falls and abs(one.number) in wrong:
            return True
    return False


_BESIDE = 20
"""Characters beside a number in which its direction is told."""


def unlike_told(text: str, sent: Sequence[str], told: Sequence[str]) -> bool:
    """Tell whether words say that something was sent word for word that nothing told so.

    Args:
        text: A sentence.
        sent: Texts that calls sent.
        told: The words of what the user and results told, in order.
    """
    said = words(text)
    passes_on = any(deed_forms().past.get(word, ("",))[0] == "send" for word in said)
    if not sent or not (passes_on or _PASSED & {*said}) or not role("negation").isdisjoint(said):
        return False
    is_exact = _VERBATIM.search(text) is not None
    return is_exact and not any(_joined(words(one)) in each for one in sent for each in told)


def _joined(said: Sequence[str]) -> str:
    return f" {' '.join(said)} "


_PASSED = frozenset(["passed", "relayed", "shared", "quoted", "copied", "went", "gone"])
_VERBATIM = re.compile(
    r"\b(?:(?:word|letter)[ -]for[ -](?:word|letter)|verbatim|to the letter|un(?:altered|edited)"
    r"|exactly as (?:it (?:stands?|stood|was|is|reads?|came)|written|worded|received"
    r"|(?:he|she|they|you) (?:wrote|put|said|worded|sent|typed))|exact (?:words|wording|text)"
    r"|in (?:his|her|their|your|[^\W\d_]+['\u2019]s) own words)\b",
    re.IGNORECASE,
)


def retitled(text: str, held: Iterable[str], told: Sequence[str]) -> bool:
    """Tell whether words quote a text that a call wrote with a word of which nothing tells.

    Args:
        text: A sentence.
        held: Texts in the arguments of calls with an effect.
        told: The words of what the user and results told, in order.
    """
    texts = [{*words(one)} for one in held]
    for found in _TITLE.finditer(text) if texts else ():
        said = words(found[1])
        near = [one for one in texts if len(said) > 1 and 2 * len(one & {*said}) >= len(said)]
        if near and not any(_joined(said) in each for each in told):
            own = {word for word in said if stem(word) not in plain_stems()}
            if all(own - one for one in near):
                return True
    return False


_TITLE = re.compile(
    r"(?<!\w)[\"'\u201c\u2018]([^\"'\u201c\u201d\u2019\n]{3,80})[\"'\u201d\u2019](?!\w)"
)


def misrated(text: str, known: Record) -> bool:
    """Tell whether words give a rate of two currencies upside down: "a euro is 1.19 pounds".

    Args:
        text: A sentence.
        known: What request, results and gold tell.
    """
    whole = read(text)
    odd = (said.value for said in known.odd(whole))
    if any(isinstance(one, Quantity) and known.is_other_money(one) for one in odd):
        return True  # "250 dollars", of 250 euros
    for other in whole.quantities:
        found = _ONE_IS.search(whole.plain, max(other.start - _NEAR_ONE, 0), other.start)
        one = read(f"1 {found[1]}").quantities[:1] if found and other.unit else []
        if not one or one[0].unit in (None, other.unit):
            continue
        pairs = product(known.amounts_of(str(one[0].unit)), known.amounts_of(str(other.unit)))
        rates = [b.number / a.number for a, b in pairs if a.number and b.number]
        told = other.number
        if any(is_cut(told, 1 / r) for r in rates) and not any(is_cut(told, r) for r in rates):
            return True
    return False


def on_other_market(text: str, known: AbstractSet[str]) -> bool:
    """Tell whether words name a stock exchange of which nothing tells, and another is known."""
    named = {*map(stem, words(text))} & _EXCHANGES
    return bool(named - known) and not known.isdisjoint(_EXCHANGES)


def tells_several(text: str, sent: Sequence[str]) -> bool:
    """Tell whether words say that both of two were told something, where one text was sent."""
    return len(sent) == 1 and _TELLS_BOTH.search(text) is not None


_EXCHANGES = frozenset(map(stem, words("nasdaq nyse amex lse xetra euronext")))
_BOTH = r"both (?:of (?:them|your|the)\b|(?:your |the )?(?!texts|messages)\w+[^\Ws]s\b)"
_TELLS_BOTH = re.compile(rf"(?i)\b(?:(?:told|texted|let|to) {_BOTH}|{_BOTH}(?: \w+){{0,2}} know\b)")
_NEAR_ONE = 40
_ONE_IS = re.compile(
    r"\b(?:an?|one|1|each|every) (?:[a-z]+ )??([a-z]+) "
    r"(?:=|is|equals|buys|gets|gives|makes|costs)(?: (?:worth|you|about|roughly)){0,2} [^\w\s]?$"
)


def names_spared(said: str, spared: Iterable[tuple[AbstractSet[str], AbstractSet[str]]]) -> bool:
    """Tell whether words name rows that are there, and none that went.

    Args:
        said: What is said to be removed.
        spared: Of each table that lost rows the words in its rows, and those of the lost ones.
    """
    own = {*words(said)} - word_list("english_small") - deed_forms().past.keys()
    own = {word for word in own if stem(word) not in plain_stems()}
    return any(own & there and not own & gone for there, gone in spared)


def other_sky(said: AbstractSet[str], read: AbstractSet[str]) -> bool:
    """Tell whether words say that it rains where results have sun alone, or the contrary.

    Args:
        said: The words of a clause that denies nothing.
        read: The stems of the words in rows of results.
    """
    for one, other in permutations(_SKIES):
        if said & one:
            ours, theirs = ({stem(word) for word in sky} for sky in (one, other))
            return bool(read & theirs) and not read & (ours | {"part"})
    return False


_SKIES = (
    frozenset(words("sunny sunshine")),
    frozenset(words("raining rainy pouring drizzling snowing snowy stormy overcast cloudy")),
)
"""Words of a sky of which one cannot be where another is."""


def elsewhere(text: str, streets: AbstractSet[str], known: AbstractSet[str]) -> str:
    """Return a street or town of which nothing tells, in the place of the one that a result tells.

    Only the town right behind a street that is told is one: "12 Canal Street in Oslo".

    Args:
        text: A sentence.
        streets: Of addresses that results have.
        known: Stems of the words that request, calls and results tell.
    """
    for found in _STREET.finditer(text) if streets else ():
        led, street, town = found.groups()
        said = [one for one in words(street) if len(one) > _OF_STREETS and one.isalpha()]
        named = {*said} - _WAYS
        is_street = led and any(map(str.isdigit, street)) and len(said) > 1 and named
        if is_street and known.isdisjoint(map(stem, named)) and named.isdisjoint(_CALENDAR):
            return street
        told = words(street)
        numbers = [one for one in told if one.isdigit()]
        same = any({*words(one)} - {*told} and {*said} <= {*words(one)} for one in streets)
        if numbers and len(said) > 1 and same and known.isdisjoint(map(stem, numbers)):
            return street  # "171 Mill Lane", which is 177
        ends = {" ".join(told[at:]) for at in range(len(told))}
        other = {stem(one) for one in words(town or "")}
        if other and ends & streets and other.isdisjoint(known | plain_stems()):
            return town
    return ""


def street_of(value: object) -> set[str]:
    """Return the street of an address, number and town, in small letters; of other values none."""
    is_address = isinstance(value, str) and _ADDRESS.fullmatch(value) is not None
    return {" ".join(words(str(value).partition(",")[0]))} if is_address else set()


_ADDRESS = re.compile(r"(?=.{0,80}\d)[A-Z\d][^\n,;:?!]{2,60}(?:, [A-Z\d][^\n,;:?!]{1,60}){1,4}")
_OF_STREETS = 3
"""Letters of words such as "Rua" and "del", which tell no street from another."""
_WAYS = frozenset(words("street avenue road lane drive boulevard square place court alley"))
_CALENDAR = frozenset((*WEEKDAYS, *MONTHS))
_PART_OF_STREET = r"(?:[A-Z]\w+|d[aeo]s?|del|\d+[a-z]?)"
_STREET = re.compile(
    rf"\b(?:(at|on|in|is) )?\**({_PART_OF_STREET}(?: {_PART_OF_STREET}){{1,6}})\**"
    r"(?:(?: in|,)(?: [\d-]+)? ([A-Z][a-z]\w+(?: [A-Z]\w+){0,2})\b)?"
)


def is_another(text: str, known: AbstractSet[str], there: Container[str]) -> bool:
    """Tell whether words say what somebody is, "your sister", "as a friend", and nothing tells it.

    In a world that tells of nobody what he is, nothing is false.

    Args:
        text: A sentence.
        known: Stems of the words that request, calls and results tell.
        there: What those are whom the world has.
    """
    if not any(word in there for word in role("person")):
        return False
    told = ((one[1], one[2].lower()) for one in _WHO.finditer(text))
    return any(
        word in role("person") and stem(word) not in known and not (of_user and word in there)
        for of_user, word in told
    )


_WHO = re.compile(
    r"\b(?:(your )(?:\w+ )??|as (?:an? )?[\"'\u201c]?(?!your\b))([a-z]+)\b(?! of\b)", re.IGNORECASE
)


def is_nobody(said: str, held: Mapping[str, Sequence[Row]], there: Mapping[str, object]) -> bool:
    """Tell whether words say that a table has what no row is named: "Oslo is in your contacts"."""
    found = _IN_TABLE.match(said)
    tables = (name for name in held if found and singular(name) == singular(found[2]))
    several = any(len(held[name]) > 1 for name in tables)
    return several and found is not None and there.keys().isdisjoint(words(found[1]))


_IN_TABLE = re.compile(
    r"([A-Z][^\W\d_]+(?: [A-Z][^\W\d_]+)+) (?:is|was|has been)"
    r"(?: (?!not |no |never )\w+){0,2} (?:in|to) your (\w+)"
)


def takes_along(text: str, tables: Iterable[str], changed: Mapping[str, AbstractSet[str]]) -> bool:
    """Tell whether words say that more went or came than did: "along with all messages".

    Args:
        text: A sentence.
        tables: Names of the world's tables.
        changed: Those that changed, and how: `grown`, `shrunk` or `other`.
    """
    said, named = text.lower(), {singular(name): name for name in tables}
    for found in _ALONG.finditer(said):
        done = words(said[: found.start()])
        kinds = {deed_forms().past.get(word, ("",))[0] for word in done}
        kinds |= {"remove"} if "gone" in done else set()
        if not KEEPS.isdisjoint(words(said[found.start() :])):
            continue
        for before, word in pairwise(words(found[0])):
            name = named.get(singular(word), "")
            ways = changed.get(name, set())
            is_many = singular(word) != word
            if name and is_many and "remove" in kinds and "shrunk" not in ways:
                return True
            if name and before in ("a", "an") and "add" in kinds and not ways:
                return True
    return False


KEEPS = frozenset(words("kept left keep remain remains stay stays still untouched unchanged not"))
_ALONG = re.compile(
    r"\b(?:(?:along|together) with|as well as|plus|and(?: so (?:are|were|have))?(?= all))"
    r"(?: \w+){1,5}"
)
"""What leads to something else that a deed is said to be done to."""


def misnames(text: str, names: Mapping[str, AbstractSet[str]], known: AbstractSet[str]) -> bool:
    """Tell whether words give somebody of the world another second name, not the first letters.

    Args:
        text: A sentence.
        names: First word of a name of several to those that follow it.
        known: Stems of the words that request, calls and results tell. Such a word may be no name,
            unless it is somebody else's second one.
    """
    pairs = (map(str.lower, found.groups()) for found in _PAIR.finditer(text))
    usual = word_list("no_names") | deed_forms().past.keys()
    of_others = {name for seconds in names.values() for name in seconds} - names.keys()
    return any(
        one in names
        and other not in usual
        and not any(name.startswith(other) for name in names[one])
        and (other in of_others or stem(other) not in known | plain_stems())
        for one, other in pairs
    )


def mistakes(text: str, rows: Mapping[str, AbstractSet[frozenset[str]]]) -> bool:
    """Tell whether words say of somebody what somebody else of the world is.

    Args:
        text: A sentence.
        rows: Word of a name, or of what somebody is, to the keys of the rows that have it.
    """
    pairs = (map(str.lower, found.groups()) for found in _WHO_IS.finditer(text))
    return any(
        one in rows and other in rows and rows[one].isdisjoint(rows[other]) for one, other in pairs
    )


_WHO_IS = re.compile(r"\b([A-Z][^\W\d_]+)(?:,| is) your ([a-z]+)\b")
_PAIR = re.compile(r"\b([A-Z][^\W\d_]+) ([A-Z][^\W\d_]+)\b")


def names_strangers(text: str, rows: Container[str], known: AbstractSet[str]) -> bool:
    """Tell whether words have a name of the world that no request, call or result tells.

    Args:
        text: A clause.
        rows: Words of names, and of what somebody is.
        known: Stems of the words that request, calls and results tell.
    """
    named = (one for name in _CAPITAL.findall(text) for one in words(name) if one in rows)
    usual = plain_stems()
    return any((kin := stem(one)) not in known and kin not in usual for one in named)


_CAPITAL = re.compile(r"\b[A-Z][^\W\d_]{2,}")


def nouns_behind(plain: str, start: int) -> set[str]:
    """Return the words behind a number, of which one may be what it counts."""
    behind = re.match(r"(?: [a-z]+){1,3}", plain[start : start + _COUNTED])
    return {*map(singular, behind[0].split())} if behind else set()


_COUNTED = 40
"""Characters behind a number in which stands what it counts."""


def empties(text: str, tables: Mapping[str, Sequence[Row]]) -> bool:
    """Tell whether words say that a table is empty now that has rows: "all reminders are deleted".

    Args:
        text: A clause that says that something was removed.
        tables: Of the world, as they are.
    """
    found = _ALL_OF.search(text.lower())
    return found is not None and any(
        rows for name, rows in tables.items() if singular(name) == singular(found[1])
    )


_ALL_OF = re.compile(
    r"\b(?:all|every)(?: of)? (?:your |the |my )?(\w+)(?=$| (?:are|is|have|has|were|was|now)\b)"
)
"""Says that a deed was done to each row of a table."""


def lacks_somebody(
    clause: Clause, there: AbstractSet[str], rows: Mapping[str, set[frozenset[str]]]
) -> bool:
    """Tell whether a clause says that somebody is nowhere, who is in the world's tables.

    Nothing else may stand behind who it is: "no dentist in your contacts", "no dentist named Ann".

    Args:
        clause: Of a statement.
        there: The words of the names that tables have, and of what those are.
        rows: Each of them to the keys of the rows that have it.
    """
    if clause.is_tied or clause.said.isdisjoint(_NONE | role("negation")):
        return False
    said = clause.words[-_LAST:]
    named = [one for one in said if one in there]
    is_one = bool(named and set.intersection(*(rows[one] for one in named)))
    for at, word in enumerate(said if is_one else ()):
        if word not in there:
            continue
        before = said[max(at - 2, 0) : at]
        of_verb = not _ARTICLES.isdisjoint(before[-1:]) and before[0] in _THERE
        looked = bool((_NONE | FIND) & {*said[:at]})
        denied = of_verb or before == ("no",)
        denied = denied or (looked and before[-1:] in (("named",), ("called",)))
        if denied and {*said[at + 1 :]} - {*named} <= _WHERE:
            return True
    return False


_NONE = frozenset(["no", "none", "nobody", "neither"])
_ARTICLES = frozenset(["a", "an", "any", "your", "no"])
_THERE = frozenset(
    words("have has is are as find found see locate include includes contain contains list lists")
)
_WHERE = frozenset(
    words(
        "in on among of your the my contacts contact list address book phone phonebook directory"
        " saved listed stored there named called at all entries anywhere is are currently"
        " near nearby around here you me phone device set"
    )
)
"""Words behind somebody who is nowhere."""
FIND = frozenset(["find", "locate", "see"])
_LAST = 12
"""Words of a clause in which somebody may be, and not be there."""


def lacks_row(
    said: Sequence[str], tables: Mapping[str, Sequence[Row]], rows: Sequence[AbstractSet[str]]
) -> bool:
    """Tell whether words say that there is no row about what a row is: "no reminder about rent".

    Args:
        said: The words of a clause.
        tables: Of the world.
        rows: The stems of the words in each row of a result; without one, the tables' are held.
    """
    named, small = {*map(singular, tables)}, word_list("english_small")
    named |= {"text"} if "message" in named else set()
    for at, word in enumerate(said):
        near = range(at - 1, max(at - _NEAR_NO, 0) - 1, -1) if singular(word) in named else ()
        no = next((place for place in near if said[place] in ("no", "any", "a")), at)
        denied = no < at and (said[no] == "no" or not role("negation").isdisjoint(said[:no]))
        behind = said[at + 1 :]
        if denied and (behind[:1] in _OF_WHAT or _WHERE.issuperset(behind)):
            own = {stem(one) for one in (*said[no + 1 : at], *behind) if one not in small | _WHERE}
            held = map(str, islice(chain(*tables.values()), _MANY))
            found = rows or ({stem(one) for one in words(row)} for row in held)
            return bool(own - plain_stems()) and any(own <= row for row in found)
    return False


_MANY = 500
"""Rows of tables that are read, at most."""
_NEAR_NO = 4
"""Words between "no" and the name of a table, and one."""
_OF_WHAT = tuple((word,) for word in words("about on for from called named to"))
