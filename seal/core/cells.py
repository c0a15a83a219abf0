"""Whether a cell of a table that people write tells what gold's cell does.

A text need not be worded as gold's is. It has the same numbers, times, days, names and places, no
others, and the things of gold's text. The deed that it begins with may be in another verb of the
same meaning (`words/meanings.txt`), "Pick up" for "Collect", or left out; a verb of another meaning
is another deed. Of what is unknown here words do not tell (`reworded`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from seal.core.facts import Record
from seal.core.names import CAPITAL
from seal.core.phones import PHONE_DIGITS, digits_in, phones_at
from seal.core.quantities import WEEKDAYS, Day, Text, Time, normalise, read
from seal.core.slots import Slot
from seal.core.statements import MOMENTS, is_same
from seal.core.telling import DENIAL, find
from seal.core.text import is_kin, plain_stems, role, shipped_text, stem, word_list, words
from seal.core.values import alike

if TYPE_CHECKING:
    from seal.core.table_versions import Version


def is_alike(kind: str, wanted: Any, found: Any) -> bool:
    """Tell whether a cell is as it should be, where its column holds values of a type.

    Args:
        kind: Of `slots.TYPES`. A time may also be POSIX seconds, within a minute of each other. A
            text has the facts of the wanted one and no others, and most of its things.
        wanted: The cell of gold.
        found: The other cell.
    """
    if alike(wanted, found):
        return True
    numbers = [one for one in (wanted, found) if isinstance(one, (int, float))]
    if kind == "time" and len(numbers) == 2:
        return abs(numbers[0] - numbers[1]) <= _MINUTE
    if not isinstance(wanted, str) or not isinstance(found, str):
        return False
    if kind == "text":
        return _same_facts(wanted, _in_words_of(wanted, found))
    (said,) = find([Slot(wanted, type=kind)], [found], Record([wanted]))
    return said.state == "told"


_MINUTE = 60
_MOST_WORDS = 0.6
"""Share of the wanted text's things that another one has, at least."""


def _same_facts(wanted: str, found: str) -> bool:
    """Tell whether two texts tell the same values, names and deeds and, mostly, things."""
    texts = [wanted, found]
    if any(Record([one]).unexplained(other) for one, other in (texts, texts[::-1])):
        return False
    both = [read(text) for text in texts]
    if any(_differ(one, other) for one, other in (both, both[::-1])) or _is_other_deed(*texts):
        return False
    deed = [word for one in _begun(wanted) for word in words(one)]
    bare, have = ([one for one in _said_words(text) if one not in deed] for text in texts)
    names = {*words(" ".join(CAPITAL.findall(wanted)))} - word_list("english_small")
    shared = len(bare) - len(_unlike(bare, have))
    denials = [len(DENIAL.findall(normalise(text))) % 2 for text in texts]
    is_near = shared >= len(bare) * _MOST_WORDS and names <= {*words(found)}
    return is_near and denials[0] == denials[1]


def _differ(one: Text, other: Text) -> bool:
    """Tell whether a text has a number, part of the day or person, and the other only others.

    So it is too where one has a word such as "to" and the other its opposite, or where one names
    whose place it is, "at my place".
    """
    values = (value for token in other.tokens for value in (token.value, *token.others))
    times = [value for value in values if isinstance(value, Time)]
    may_be = {token.start: token.others for token in one.tokens}
    phones = [range(start, end) for _, start, end in phones_at(one.plain)]
    for said in one.quantities:
        if any(said.start in place for place in phones):
            continue  # compared whole, however it is grouped
        if said.unit is None and (said.number != 1 or not one.plain[said.start].isalpha()):
            known = any(said.number == q.number for q in other.quantities)
            own_times = [one for one in may_be.get(said.start, ()) if isinstance(one, Time)]
            if not known and not any(one.may_be(time) for one in own_times for time in times):
                return True
        of_kind = [q for q in other.quantities if q.unit and q.dimension == said.dimension]
        if of_kind and said.unit and not any(is_same(said, q) for q in of_kind):
            return True
    said_words, others = ({*words(text.plain)} for text in (one, other))
    if any(a in said_words - others and b in others - said_words for a, b in _OPPOSITES):
        return True
    if any(place not in others for place in _WHOSE.findall(one.plain)):
        return True
    kinds = (_DAY_PARTS, _PERSONS)
    return any(
        (own := kind & said_words) and (its := kind & others) and own.isdisjoint(its)
        for kind in kinds
    )


_PERSONS = frozenset(words("i we you he she they"))
_OPPOSITES = (
    *(("to", "from"), ("before", "after"), ("on", "off"), ("with", "without"), ("up", "down")),
    *(("early", "late"), ("left", "right"), ("in", "out"), ("open", "closed"), ("yes", "no")),
)
_WHOSE = re.compile(r"\b(?:at|in|near) (?:my|your|our|his|her|their) (\w+)")
_DAY_PARTS = frozenset(
    words("morning afternoon evening night tonight noon midnight yesterday today tomorrow")
)


# -- Words of one meaning.


class _Meaning(NamedTuple):
    is_deed: bool
    phrase: re.Pattern[str]
    """Any of the phrases that mean it."""
    stems: frozenset[str]
    """Of the phrases."""


@cache
def _meanings() -> list[_Meaning]:
    found = []
    for line in shipped_text(__package__, "words/meanings.txt").splitlines():
        kind, _, listed = line.partition(":")
        phrases = listed.strip().split(", ")
        any_of = re.compile(rf"(?<![\w-])(?:{'|'.join(phrases)})(?![\w-])", re.IGNORECASE)
        found.append(_Meaning(kind == "deed", any_of, frozenset(map(stem, phrases))))
    return found


def _in_words_of(wanted: str, found: str) -> str:
    """Return a text with what means the same as a phrase of another one in that one's words."""
    for _, phrase, _ in _meanings():
        if (own := phrase.search(wanted)) and own[0].lower() not in found.lower():
            found = phrase.sub(own[0], found)
    return found


def _begun(wanted: str) -> set[str]:
    """Return the phrases by which a text says what is to be done, if it begins with them."""
    return {m[0].lower() for one, phrase, _ in _meanings() if one and (m := phrase.match(wanted))}


def _is_other_deed(wanted: str, found: str) -> bool:
    """Tell whether a text says to do something else than another one, or that it was done."""
    begun, said = _begun(wanted), found.lower()
    if not begun or not _WAS_DONE.isdisjoint({*words(found)} - {*words(wanted)}):
        return bool(begun)
    deeds = (phrase for is_deed, phrase, _ in _meanings() if is_deed)
    has_it = any(is_kin(words(one)[0], word) for one in begun for word in words(said))
    return not has_it and any((m := one.search(said)) and m[0] not in begun for one in deeds)


_WAS_DONE = frozenset(["was", "were", "been", "already"])


def reworded(wanted: str, found: str, request: str = "", known: str = "") -> bool:
    """Tell whether a text has a word of its own for one of the wanted text.

    A word that the wanted text lacks is its own, but for small words, and for those of the request
    where the wanted text is in other words than the request. One that names nothing, as in "I'm
    running late", may stand beside all that is wanted.

    Args:
        wanted: The text of gold.
        found: Another one.
        request: What the user said.
        known: What results told, whose words may stand beside all that is wanted.
    """
    bare, have = map(_said_words, (wanted, _in_words_of(wanted, found)))
    own = _unlike(have, [*bare, *words(wanted)])
    lacks = _unlike(bare, have)
    asked = words(request)
    if len(_unlike(lacks, asked)) == len(lacks):
        own = _unlike(own, asked)
    if not lacks and own:
        own = _unlike(own, [*{*words(known)}])
    return any(lacks or stem(one) not in plain_stems() for one in own)


def _unlike(some: Iterable[str], others: Sequence[str]) -> list[str]:
    """Return the words that are kin to none of some others."""
    return [one for one in some if not any(is_kin(one, other) for other in others)]


def _said_words(text: str) -> list[str]:
    """Return the words of a text that are no values and no small words."""
    said = [token.value for token in read(text).tokens]
    named = [one for one in said if type(one) is str and one.isalpha() and len(one) > _ENDING]
    usual = word_list("english_small") | role("adverb", "apology") | {"degree", "degrees"}
    return [one for one in named if one not in usual]


def with_meanings(stems: AbstractSet[str], deeds: bool = False) -> set[str]:
    """Return stems of words and of all that mean the same as one of them; deeds: of verbs, too."""
    lines = (one.stems for one in _meanings() if deeds or not one.is_deed)
    return set(stems).union(*(line for line in lines if not line.isdisjoint(stems)))


def misquotes(sent: str, told: str) -> bool:
    """Tell whether what is told of a text says a value, place or thing that is not the text's.

    Who speaks to whom does not count: "I told him that you're late", or Ann is, of "I'm late".
    """
    if _SPEAKS.search(sent):
        told = _SPEAKER.sub("", told)
    sent, told = (_PRONOUN.sub("", one) for one in (sent, _in_words_of(sent, told)))
    if Record([sent]).unexplained(told, names=True) or _differ(read(told), read(sent)):
        return True
    bare, have = map(_said_words, (sent, told))
    own = _unlike(have, [*bare, *words(sent)])
    return bool(_unlike(bare, have)) and any(stem(one) not in plain_stems() for one in own)


_SPEAKER = re.compile(
    r"\b[A-Z][a-z]+(?= (?:also|always|now|just|still|is|are|was|were|has|have|had|will|would|can"
    r"|could|needs?|wants?|says?|said)\b|'(?:s|ll|d)\b)"
)
"""Who does what is told: "Ann is late", "Bo'll be there"."""
_SPEAKS = re.compile(r"\bI\b|\b(?:[Ww]e|[Mm]y)\b")
_PRONOUN = re.compile(
    r"\b(?:i|you|we|he|she|they|my|me|him|them|us)\b(?:['\u2019]\w+)?", re.IGNORECASE
)
_ENDING = 2
"""Letters of what is left of a word, as of "I'll" and "Bo's", at most."""


def kinds_of(value: Any) -> Iterator[str]:
    """Yield the kinds of values that a cell or argument holds: moment, code, phone, a dimension."""
    if isinstance(value, (int, float)) and MOMENTS[0] <= value <= MOMENTS[1]:
        yield "moment"
    elif isinstance(value, str):
        whole = read(value)
        yield from (one.dimension for one in whole.quantities if one.dimension)
        told = (token.value for token in whole.tokens)
        for one in told:
            if isinstance(one, (Day, Time)) or one in WEEKDAYS:
                yield "moment"
            elif isinstance(one, str) and digits_in(one):
                yield "code"
        yield from ["phone"] * (digits_in(value) >= PHONE_DIGITS)


# -- What rows are known and named by.


def key_of(value: Any) -> str:
    """Return a cell without case and marks, by which a row is known."""
    return "".join(words(str(value)))


class Named(NamedTuple):
    """What a row is known and named by."""

    keys: frozenset[str]
    words: tuple[str, ...]
    names: tuple[tuple[str, frozenset[str]], ...]
    """First word of each name of several to those that follow it."""


def named_row(row: Mapping[str, Any]) -> Named:
    """Return what a row is known and named by."""
    cells = (cell for cell in row.values() if isinstance(cell, str) and " " in cell)
    names = (_NAME_WORD.findall(cell.lower()) for cell in cells if _NAME.fullmatch(cell))
    parted = tuple((first, frozenset(others)) for first, *others in names)
    return Named(frozenset(keys_of(row)), tuple(named_by(row)), parted)


def named_rows(table: Version) -> tuple[Named, ...]:
    """Return what the rows of a table are known and named by, in their order."""
    return tuple(map(named_row, table))


def keys_of(row: Mapping[str, Any]) -> set[str]:
    """Return the cells by which a row is known: its names, numbers, codes and addresses."""
    cells = [str(one) for one in row.values() if type(one) in (str, int, float)]
    return {key for cell in cells if not _IS.fullmatch(cell) and len(key := key_of(cell)) > SHORT}


SHORT = 3
"""Characters of what is too short to be known by."""
_NAME = re.compile(r"[A-Z][^\W\d_]+(?:[ '.-]+[A-Z][^\W\d_]+){0,2}")
_NAME_WORD = re.compile(r"[^\W\d_]+")
_IS = re.compile(r"[a-z]{3,20}")
"""What somebody is, as a row has it: dentist."""


def named_by(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield the words of a row's names, and of what they are who have one."""
    cells = [cell for cell in row.values() if isinstance(cell, str)]
    names = [cell for cell in cells if _NAME.fullmatch(cell)]
    for cell in names:
        yield from (word for word in words(cell) if len(word) >= SHORT)
    yield from (cell for cell in cells if names and _IS.fullmatch(cell))
