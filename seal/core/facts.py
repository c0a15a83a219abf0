"""Facts that a text states, and whether a body of texts knows them: found by rule, without a model.

A fact is a thing that cannot be made up innocently: an address of the web or of mail, a code such
as "X1234567", a number, a name. Days, months, quotations and short answers to a question are facts
too. Facts in plain lower-case prose ("the one in paris") are missed, unless they are a whole short
answer.

- A number is known where its digits stand in a known number, or each group of its digits is one:
  "3/22" of "3/22/2024", "5 PM" of "17:00", "two" of "2". So is a phone number that was told without
  its country's code and is said with one, "+1 (720) 555-0128", or the other way round; which
  country's, no rule can tell. Two numbers with such codes are the same where all digits are.
- A code, capitals and digits in one word, is known where its letters and digits stand together.
- A name is a capitalised word that begins no sentence; it is known where the word is, whatever its
  case and a plural or possessive ending aside.
- A quotation is known where its words are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

from seal.core.english import MONTHS, NUMBER_WORDS, WEEKDAYS
from seal.core.text import sentences, word_list, words

Kind = Literal["address", "code", "number", "name", "day", "quotation", "answer"]

_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+|\b[\w.+-]+@[\w-]+\.[\w.-]+")
_NUMBER = re.compile(r"\+?\(?\d(?:[\d()./:,\-–]|\s(?=[\d(]))*\d\)?|\d")
_CODE = re.compile(
    r"(?<![\w-])(?!\d{4}-\d\d-\d\d)(?!\d{1,4}[AP]M\b)(?=[A-Z\d-]*[A-Z])(?=(?:[A-Z-]*\d){3})"
    r"[A-Z\d]+(?:-[A-Z\d]+)*(?![\w-])"
)
"""At least three digits, and no moment."""
_QUOTED = re.compile(
    r"\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^\n]+?)'(?!\w)|‘([^\n]+?)’(?!\w)|「([^」\n]+)」"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMBER_WORDS = {word: str(number) for word, number in NUMBER_WORDS.items()} | {
    "noon": "12",
    "midnight": "0",
}
_DAYS = frozenset(
    [*words("tomorrow tonight yesterday"), *WEEKDAYS]
    + [month for month in MONTHS if month not in ("march", "may")]  # those have other senses
)
_PHONE_DIGITS = range(7, 16)
"""Digits of a phone number; E.164 allows 15, its country's code among them."""
_COUNTRY = re.compile(
    r"1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    r"|2[1-689]\d|3[578]\d|42\d|50\d|59\d|6[7-9]\d|8[05789]\d|9[679]\d"
)
"""Country calling codes. Source: ITU-T E.164, list of assigned codes."""
_SHORT_ANSWER = 4
"""Words of a short answer, at most."""


@dataclass(frozen=True, slots=True)
class StatedFact:
    """One fact as it was written."""

    kind: Kind
    text: str


class _Phone(NamedTuple):
    """A phone number, or what may be one."""

    digits: str
    """Without what is dialled before a country's code, and without "(0)" after it."""
    international: bool
    """It has a country's code for certain."""

    @classmethod
    def of(cls, text: str) -> _Phone:
        """Return a number as it was written."""
        digits = _digits(re.sub(r"(?<=\d)\s*\(0\)", "", text))
        if digits.startswith("00"):
            return cls(digits[2:], True)
        return cls(digits, text.lstrip(" (").startswith("+"))


@dataclass(frozen=True)
class Knowledge:
    """What a body of texts says.

    Args:
        texts: In any order.
    """

    texts: tuple[str, ...] = field(default=())

    def with_texts(self, texts: Iterable[str]) -> Knowledge:
        """Return what these texts say besides."""
        return Knowledge((*self.texts, *texts))

    def unknown(self, text: str, answers: bool = False) -> list[StatedFact]:
        """Return the facts that a text states and these texts do not, each once.

        Args:
            text: What was said.
            answers: True: it answers a question, so that a few words are a fact.
        """
        found = [fact for fact in stated(text) if not self.has(fact)]
        if not found and answers:
            found = [StatedFact("answer", word) for word in self._made_up(text)]
        return list(dict.fromkeys(found))

    def has(self, fact: StatedFact) -> bool:
        """Tell whether these texts say a fact."""
        if fact.kind == "address":
            return fact.text.casefold() in self._folded
        if fact.kind == "code":
            return _squeezed(fact.text) in self._squeezed
        if fact.kind == "number":
            parts = re.split(r",\s+", fact.text)
            return self._has_number(fact.text) or all(map(self._has_number, parts))
        if fact.kind == "quotation":
            return all(self._has_word(word) for word in _WORD.findall(fact.text) if len(word) > 2)
        return self._has_word(fact.text)

    def _has_number(self, text: str) -> bool:
        digits = _digits(text)
        if any(digits in known for known in self._digits if len(digits) > 2 or digits == known):
            return True
        if any(_same_phone(_Phone.of(text), known) for known in self._phones):
            return True
        return all(group in self._groups for group in _groups(text))

    def _has_word(self, word: str) -> bool:
        folded = _stem(word)
        if folded in self._words:
            return True
        if folded in MONTHS:
            return str(MONTHS.index(folded) + 1) in self._groups
        return False

    def _made_up(self, text: str) -> list[str]:
        """Return the words of a short answer that nobody has said and that mean something."""
        said = _WORD.findall(text)
        if len(said) > _SHORT_ANSWER:
            return []
        plain = {word: re.sub(r"['’]", "", word.casefold()) for word in said}
        return [
            word
            for word in said
            if plain[word] not in word_list("casual") and len(word) > 1 and not self._has_word(word)
        ]

    @cached_property
    def _folded(self) -> str:
        return "\n".join(self.texts).casefold()

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset().union(*map(_stems_in, self.texts))

    @cached_property
    def _digits(self) -> frozenset[str]:
        return frozenset().union(*map(_digits_in, self.texts))

    @cached_property
    def _squeezed(self) -> str:
        return "\n".join(map(_squeezed, self.texts))

    @cached_property
    def _phones(self) -> frozenset[_Phone]:
        return frozenset().union(*map(_phones_in, self.texts))

    @cached_property
    def _groups(self) -> frozenset[str]:
        found = set[str]().union(*map(_groups_in, self.texts))
        found |= {_NUMBER_WORDS[word] for word in self._words & _NUMBER_WORDS.keys()}
        found |= {str(n + 1) for n, month in enumerate(MONTHS) if month in self._words}
        hours = {str(int(group) % 12) for group in found if len(group) < 3 and int(group) < 25}
        halves = {str(int(hour) + 12) for hour in hours}
        return frozenset(found | hours | halves)


# Each answer of a user is held against all that was said before, which grows message by message.
_TEXTS = 4096


@lru_cache(_TEXTS)
def _stems_in(text: str) -> frozenset[str]:
    return frozenset(map(_stem, _WORD.findall(text.casefold())))


@lru_cache(_TEXTS)
def _digits_in(text: str) -> frozenset[str]:
    """Return the digits of each number; of what stands together as one."""
    return frozenset(_digits(number.group()) for number in _NUMBER.finditer(text))


@lru_cache(_TEXTS)
def _phones_in(text: str) -> frozenset[_Phone]:
    parts = (part for n in _NUMBER.finditer(text) for part in re.split(r",\s+", n.group()))
    return frozenset(p for p in map(_Phone.of, parts) if len(p.digits) in _PHONE_DIGITS)


def _same_phone(one: _Phone, other: _Phone) -> bool:
    """Tell whether two numbers are one, of which one may lack its country's code."""
    if one.international and other.international:
        return one.digits == other.digits
    if len(one.digits) < len(other.digits) or other.international:
        one, other = other, one
    local = other.digits.removeprefix("0")
    if len(local) < _PHONE_DIGITS.start or len(one.digits) not in _PHONE_DIGITS:
        return False
    if not one.international:  # of North America, whose code is dialled at home too
        return len(local) == 10 and one.digits == f"1{local}"
    ends = (end for end in (local, other.digits) if one.digits.endswith(end))
    return any(_COUNTRY.fullmatch(one.digits.removesuffix(end)) for end in ends)


@lru_cache(_TEXTS)
def _squeezed(text: str) -> str:
    """Return the letters and digits of a text, small."""
    return re.sub(r"[\W_]", "", text.casefold())


@lru_cache(_TEXTS)
def _groups_in(text: str) -> frozenset[str]:
    return frozenset(_groups(text))


def stated(text: str) -> Iterator[StatedFact]:
    """Yield the facts that a text states, kind by kind."""
    for address in _ADDRESS.findall(text):
        yield StatedFact("address", address.rstrip(".,;:!?)'\""))
    rest = _ADDRESS.sub(" ", text)
    for code in _CODE.findall(rest):
        yield StatedFact("code", code)
    rest = _CODE.sub(" ", rest)
    for number in _NUMBER.finditer(rest):
        yield StatedFact("number", number.group().rstrip(".,:-–/ ("))
    for parts in _QUOTED.findall(rest):
        yield StatedFact("quotation", next(part for part in parts if part))
    rest = _QUOTED.sub(" ", rest)
    for word in _WORD.findall(rest):
        if word.casefold() in _DAYS:
            yield StatedFact("day", word)
    for sentence in sentences(rest):
        yield from _names(sentence)


def _names(sentence: str) -> Iterator[StatedFact]:
    """Yield capitalised words but the first; none of a sentence that is written in capitals."""
    found = list(_WORD.finditer(sentence))
    capitalised = [m for m in found if m.group()[0].isupper()]
    if len(found) > 3 and len(capitalised) * 3 > len(found) * 2:
        return
    for match in capitalised:
        before = sentence[: match.start()].rstrip()
        word = match.group()
        begins = not before or before[-1] in ":;-–—*•(\"'“‘…" or before.endswith(("...", ". "))
        plain = re.sub(r"['’]\w+$", "", word).casefold()
        if not begins and plain not in word_list("no_names") | word_list("casual") | _DAYS:
            yield StatedFact("name", word)


def _stem(word: str) -> str:
    folded = re.sub(r"['’]s?$", "", word.casefold())
    return folded[:-1] if folded.endswith("s") and len(folded) > 3 else folded


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _groups(text: str) -> list[str]:
    """Return the groups of digits as numbers, without thousands' commas and trailing zeros."""
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    plain = re.sub(r"(?<=\d)\.0+\b", "", plain)
    plain = re.sub(r"(?<=\d):00\b", "", plain)
    return [group.lstrip("0") or "0" for group in re.findall(r"\d+", plain)]
