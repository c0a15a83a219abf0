"""Where names of people, things and places stand in a message, whole or in part."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import chain

from seal.core.quantities import MONTHS, WEEKDAYS, Text, normalise
from seal.core.text import word_list, words

Span = tuple[int, int]

_SHORT_FORMS = {
    **{"st": "street", "ave": "avenue", "av": "avenue", "rd": "road", "blvd": "boulevard"},
    **{"dr": "drive", "ln": "lane", "sq": "square", "apt": "apartment", "pl": "place"},
    **{"mt": "mount", "n": "north", "s": "south", "e": "east", "w": "west", "ct": "court"},
}
"""Words of places and their short forms."""
_TITLES = frozenset(words("mr mrs ms miss dr doctor prof professor sir madam"))
_SHIFT = 9
"""Characters by which a place in the plain text is before that in the source, at most."""
_BEHIND = 40
"""Characters behind a name that are looked at, at most."""
CAPITAL = re.compile(r"(?<=[a-z,] )[A-Z]\w+")


def joins_names(text: str) -> bool:
    """Tell whether a text says names and small words between them: "Copper Rain by Ana Roque".

    A part of such a one does not stand for all of it.
    """
    own = text.split()
    return not word_list("english_small").isdisjoint(own) and all(
        word[0].isupper() or word in word_list("english_small") for word in own
    )


def all_names(whole: Text, text: str) -> Iterator[Span]:
    """Yield where a message has each name that a text joins: "Ana Roque wrote Copper Rain"."""
    usual = word_list("english_small")
    said = [m.span() for m in WORD.finditer(whole.plain)]
    found = {
        _bare(whole.plain[slice(*span)], False): span
        for span in said
        if whole.said(*span)[:1].isupper()
    }
    wanted = [one for one in WORD.findall(normalise(text)) if one not in usual]
    spans = [found.get(_bare(one, False)) for one in wanted]
    known = [span for span in spans if span is not None]
    if known and len(known) == len(spans):
        yield min(known)[0], max(known)[1]


def other_names(texts: Sequence[str], whole: Text, request: str) -> Iterator[Span]:
    """Yield the capitalised words that are no part of a name and not of the request."""
    usual = word_list("english_small") | {*WEEKDAYS, *MONTHS} | _TITLES
    usual |= {*words(request), *(word for text in texts for word in words(text))}
    parts = {word for text in texts for word in words(text)[1:]}
    kin = (m for m in _FIRST_NAME.finditer(whole.source) if m[1].casefold() in parts)
    for match in chain(CAPITAL.finditer(whole.source), kin):
        name = match[0].casefold()
        start = whole.plain.find(name, max(match.start() - _SHIFT, 0), match.end() + _SHIFT)
        if start >= 0 and name not in usual:
            yield start, start + len(name)


_FIRST_NAME = re.compile(r"(?<![^\s\"'*])[A-Z][^\W\d_]+(?= ([A-Z][^\W\d_]+))")
"""A name before another one, of somebody with the same family: "Ann Moreau" for "Gus Moreau"."""


def places_of_name(whole: Text, text: str, is_place: bool) -> Iterator[Span]:
    """Yield where a name stands, or a part of it that no other capitalised word goes on.

    Of a place the part before its first comma is enough, and a house's number may stand on either
    side of the street. Of names that small words join, all are needed, in any order.
    """
    head = text.partition(",")[0] if is_place else text
    named = [_bare(word, is_place) for word in WORD.findall(normalise(head))]
    wanted = [word for word in named if word not in _TITLES]
    said = [(m[0], *m.span()) for m in WORD.finditer(whole.plain)]
    plain = [_bare(word, is_place) for word, *_ in said]
    numbers = [word for word in wanted if is_place and word[0].isdigit()]
    street = [word for word in wanted if word not in numbers] or wanted
    size, found = len(street), False
    for at in range(len(said) - size + 1):
        if plain[at : at + size] == street:
            around = plain[max(at - _NEAR_STREET, 0) : at + size + _NEAR_STREET]
            if all(number in around for number in numbers) and not _is_others(
                whole, said[at + size - 1][2]
            ):
                found = True
                yield said[at][1], said[at + size - 1][2]
    if found or is_place:
        return
    yield from all_names(whole, text) if joins_names(text) else parts_of_name(whole, text)


def parts_of_name(whole: Text, text: str) -> Iterator[Span]:
    """Yield where a part of a name stands that no other capitalised word goes on."""
    named = (_bare(word, False) for word in WORD.findall(normalise(text)))
    wanted = [word for word in named if word not in _TITLES]
    said = [(m[0], *m.span()) for m in WORD.finditer(whole.plain)]
    plain = [_bare(word, False) for word, *_ in said]
    for at, (word, start, end) in enumerate(said):
        is_part = plain[at] in wanted and whole.said(start, end)[:1].isupper()
        if is_part and len(word) >= LEAST_PART and plain[at] not in word_list("english_small"):
            beside = [one for one in (at - 1, at + 1) if 0 <= one < len(said)]
            strange = [said[one] for one in beside if plain[one] not in {*wanted, *_TITLES}]
            if not any(_goes_on(whole, (start, end), (one[1], one[2])) for one in strange):
                yield start, end


_NEAR_STREET = 4
"""Words between a street and the number of a house, at most."""


def _bare(word: str, is_place: bool) -> str:
    """Return a word without accents and the ending of a possessive, in its long form."""
    plain = word if word.isascii() else _MARKS.sub("", unicodedata.normalize("NFD", word))
    plain = plain.removesuffix("'s")
    return _SHORT_FORMS.get(plain, plain) if is_place else plain


_MARKS = re.compile(r"[\u0300-\u036f]")


def _is_others(whole: Text, end: int) -> bool:
    """Tell whether a name says whose another one is: "Sofia's brother Miguel"."""
    return (
        _OTHERS.match(whole.said(max(end - 2, 0), min(end + _BEHIND, len(whole.plain)))) is not None
    )


_OTHERS = re.compile(r"['\u2019]s \w+ [A-Z]\w+")
WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
LEAST_PART = 3
"""Letters of a part of a name that stands for all of it, at least."""


def _goes_on(whole: Text, one: Span, other: Span) -> bool:
    """Tell whether a word beside one is another part of a name: capitalised, and no usual one."""
    first, second = sorted([one, other])
    usual = word_list("english_small") | _USUAL
    word = _bare(whole.plain[slice(*other)], False)
    is_name = whole.said(*other)[:1].isupper() and word not in usual
    return whole.plain[first[1] : second[0]] == " " and is_name


_USUAL = frozenset(words("hi hello dear yes sure ask call contact tell text thanks sorry both"))
