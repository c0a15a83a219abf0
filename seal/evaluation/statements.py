"""Whether a text states a value, however numbers, case and punctuation are written.

A text becomes tokens: numbers by value ("1,200", "1200.0" and "1200" are one token), words without
case, and everything that joins digits to something else as it stands ("2024-05-01", "10:30",
"AB-12"), so that a part of it is never taken for a number of its own. A value is stated where its
tokens stand in a row.

Not recognised: numbers in words, other date and time formats, other units, decimal commas,
synonyms, missing accents.

`leaves` gives the texts and numbers of a value by which its use elsewhere is told.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal

from seal.core.text import CJK, HANGUL
from seal.core.types import JSON

_CJK = CJK + HANGUL
_LETTER = rf"[^\W_{_CJK}]"
_CHUNK = re.compile(
    rf"(?P<cjk>[{_CJK}])|(?P<symbol>[%$€£¥₹])"
    rf"|(?P<chunk>(?:(?<!\S)|(?<=[(\[{{<\"'=:~$€£¥₹]))[-+]?{_LETTER}+"
    rf"(?:(?:[-_/.,'@+]|(?<=\d):(?=\d)){_LETTER}+)*|{_LETTER}+(?:(?:[-_/.,'@+]|(?<=\d):(?=\d)){_LETTER}+)*)"
)
_NUMBER = r"[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:e[-+]?\d{1,3})?"
_PURE_NUMBER = re.compile(_NUMBER)
_WITH_UNIT = re.compile(
    rf"({_NUMBER})(km|cm|mm|kg|mg|lbs?|mi|mph|gb|mb|ms|hrs?|mins?|usd|eur|gbp|c|f)"
)
_CODE = re.compile(r"0\d+")
"""Digits with a leading zero are a code, such as a post code: 02139 is not 2139."""
_THIN_SPACE = re.compile(r"(?<=\d)[\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_LIKE_ASCII = str.maketrans({"\u2212": "-", "\u2013": "-", "\u2018": "'", "\u2019": "'"})
_SYMBOLS = frozenset("%$€£¥₹")

_CLAUSE_END = re.compile(
    r"[.;:!?](?=\s|$)|,(?=\s)|\n|\b(?:but|and|however|yet|while|although|though|because)\b"
)
_DENIAL_BEFORE = re.compile(
    r"\b(?:not|no|never|neither|nor|without|cannot|unable|fail(?:s|ed)?|instead of|rather than)\b"
    r"|n't\b"
)
_DENIAL_AFTER = re.compile(
    r"^(?:\W*[\w']+){0,2}?\W*(?:\b(?:not|never|cannot|unavailable|incorrect|wrong)\b|\w+n't\b)"
)
_SENTENCE_END = re.compile(r"[.!?\uff1f\u3002](?=\s|$)|[\uff1f\u3002]|\n")

_REACH = 200
"""Characters around a value in which a denial is looked for."""

Statement = Literal["stated", "doubtful", "absent"]


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a symbol, with its place in the normalised text."""

    value: str | Decimal
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Text:
    """A text without differences of case, width, dashes and quotation marks, and its tokens."""

    plain: str
    tokens: tuple[Token, ...]

    @property
    def values(self) -> list[str | Decimal]:
        """The tokens without their places."""
        return [token.value for token in self.tokens]


def normalise(text: str) -> str:
    """Return the text without differences of case, width, dashes and quotation marks."""
    joined = _THIN_SPACE.sub("", text).translate(_LIKE_ASCII)
    return unicodedata.normalize("NFKC", joined).casefold()


@lru_cache(maxsize=256)  # an answer is held against every value of every result
def read(text: str) -> Text:
    """Return the text as it is compared."""
    plain = normalise(text)
    found: list[Token] = []
    for match in _CHUNK.finditer(plain):
        chunk = match.group()
        if match.lastgroup == "chunk" and not chunk.isalpha():
            found += _split(chunk, match.start())
        else:
            found.append(Token(chunk, *match.span()))
    return Text(plain, tuple(found))


def _split(chunk: str, start: int) -> Iterator[Token]:
    """Yield a chunk as a number, a number and its unit, one piece with digits, or its words."""
    end = start + len(chunk)
    with_unit = _WITH_UNIT.fullmatch(chunk)
    if _PURE_NUMBER.fullmatch(chunk) and not _CODE.fullmatch(chunk):
        yield Token(_decimal(chunk), start, end)
    elif with_unit:
        middle = start + with_unit.end(1)
        yield Token(_decimal(with_unit[1]), start, middle)
        yield Token(with_unit[2], middle, end)
    elif any(character.isdigit() for character in chunk):
        yield Token(chunk.lstrip("+"), start, end)
    else:
        for word in re.finditer(r"[^\W_]+", chunk):
            yield Token(word.group(), start + word.start(), start + word.end())


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


def numbers(text: str) -> list[Decimal]:
    """Return the numbers that stand on their own in a text, in order."""
    return [value for value in read(text).values if isinstance(value, Decimal)]


def same_words(left: str, right: str) -> bool:
    """Tell whether two texts have the same tokens in the same order."""
    return read(left).values == read(right).values


def statement(text: str, value: str) -> Statement:
    """Return whether a text states a value.

    Args:
        text: A final answer.
        value: What it must state; without any letter, digit or symbol it is absent.

    Returns:
        "doubtful" where the value occurs only in questions or beside a denial, as in "could not
        find 1200"; "absent" where it does not occur in a form that is recognised.
    """
    wanted = read(value).values
    held: Sequence[Token] = read(text).tokens
    if not _SYMBOLS.intersection(v for v in wanted if isinstance(v, str)):
        held = [token for token in held if token.value not in _SYMBOLS]
    doubtful = False
    for first, last in _occurrences(held, wanted):
        if not _denied(read(text).plain, first.start, last.end):
            return "stated"
        doubtful = True
    return "doubtful" if doubtful else "absent"


def _occurrences(
    held: Sequence[Token], wanted: Sequence[str | Decimal]
) -> Iterator[tuple[Token, Token]]:
    width = len(wanted)
    for start in range(len(held) - width + 1 if width else 0):
        window = held[start : start + width]
        if all(token.value == value for token, value in zip(window, wanted, strict=True)):
            yield window[0], window[-1]


def _denied(text: str, start: int, end: int) -> bool:
    """Tell whether the clause around a span denies it, or its sentence is a question."""
    reach = max(0, start - _REACH)
    clause_start = max((m.end() for m in _CLAUSE_END.finditer(text, reach, start)), default=reach)
    clause_end = _CLAUSE_END.search(text, end, end + _REACH)
    after = text[end : clause_end.start() if clause_end else end + _REACH]
    closing = _SENTENCE_END.search(text, end, end + _REACH)
    asks = closing is not None and closing.group() in ("?", "\uff1f")
    before = text[clause_start:start]
    return asks or bool(_DENIAL_BEFORE.search(before)) or bool(_DENIAL_AFTER.match(after))


Leaf = str | float

_WITH_DIGIT = re.compile(r"\w*\d\w*")


def leaves(value: JSON) -> Iterator[Leaf]:
    """Yield the texts and numbers that a value holds and that are evidence where they recur."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, str):
        if len(value.strip()) > 1:
            yield value
            yield from (
                code for code in _WITH_DIGIT.findall(value) if len(code) > 2 and code != value
            )
    elif isinstance(value, (int, float)) and value not in (0, 1):  # True and False are 1 and 0
        with suppress(OverflowError):  # what no float holds, nobody repeats
            yield float(value)
