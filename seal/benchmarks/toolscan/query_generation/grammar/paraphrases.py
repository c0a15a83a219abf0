"""A seed's request in other words: another frame, other common words, another form of dates.

Nothing that carries a value is touched but the form of days; what is said of them stays in place.
"""

from __future__ import annotations

import random
import re
from functools import partial

from seal.benchmarks.toolscan.query_generation.candidates import Candidate
from seal.benchmarks.toolscan.query_generation.grammar.requests import IMPERATIVES, Worded, framed
from seal.benchmarks.toolscan.query_generation.seeds import Seed
from seal.core.canonical import derive_seed
from seal.core.english import DAY, MONTHS, day_of
from seal.core.package_data import shipped_json
from seal.core.text import sentences, words

_TEXTS = shipped_json(__package__, "paraphrases.json")

_ASKING = re.compile(
    r"(?:(?:in|on|at|for|from|by|to|with|of) )?(?:what|which|who|whom|whose|when|where|why|how|is"
    r"|are|was|were|do|does|did|has|have|will|should|may)\b",
    re.IGNORECASE,
)
_NOUN = re.compile(
    r"what(?:'s|’s| is| are| was| were) ((?:the|my|our|your) [^?,;]+)\?", re.IGNORECASE
)
_PREDICATE = re.compile(
    r"\b(?:worth|like|called|named|doing|going|trading|supposed|about|and|if|when|that|which|saying"
    r"|being|made|due|paid|used|to)\b",
    re.IGNORECASE,
)
_FRONT = re.compile(
    r"(?P<rest>(?:what|which|who|when|where|how|is|are|was|were|do|does|did|find|show|give|list|get)"
    rf"\b.+?) (?P<date>(?:on|in|for) (?:{DAY.pattern}"
    rf"|(?:{'|'.join(MONTHS)}) \d{{4}}))(?P<end>[?.])",
    re.IGNORECASE,
)
_LEADING = re.compile(r"[\s,.:;-]+")
_QUOTES = re.compile(r"(\"[^\"]*\"|'[^']*'(?!\w))")
_EDGE = r"[\w'\u2019\x00]"
_SWAPS = [
    (re.compile(rf"(?<!{_EDGE}){re.escape(old)}(?!{_EDGE})", re.IGNORECASE), new)
    for old, new in _TEXTS["swaps"]
]
_TRIES = 6
_SWAPPED = 0.75
"""Chance of a swap where one fits."""
_TURNED = 0.4
"""Chance that two sentences change places where they can."""
_LEANING = frozenset({
    "it", "its", "that", "this", "those", "these", "they", "them", "their", "there", "he", "she",
    "his", "her", "one", "ones", "then", "both", "same", "two", "so", "such",
})  # fmt: skip
"""Words that may speak of what an earlier sentence named."""
_WHOLE = 6
"""Words of a question that can stand before what it is about."""


def paraphrases(seed: Seed, count: int, generation: int) -> list[Candidate]:
    """Return paraphrases of a seed's text, no two of them equal.

    Args:
        seed: The seed.
        count: Of those that are wanted; more are made.
        generation: Seed of the generation.
    """
    chance = random.Random(derive_seed(generation, "paraphrase", seed.id))
    found: dict[str, Candidate] = {}
    for _ in range(_TRIES * (count + 1)):
        candidate = _paraphrase(" ".join(seed.text.split()), chance)
        found.setdefault(candidate.text, candidate)
    return list(found.values())[: 3 * count + 3]


def _paraphrase(text: str, chance: random.Random) -> Candidate:
    changed = _swapped(_dated(text, chance), chance)
    framed, frame = _framed(changed, chance)
    tail = chance.choice(_TEXTS["tails"])
    asks = framed.rstrip().endswith((".", "?", "!"))
    return Candidate(f"{framed} {tail}".strip() if asks else framed, frame)


def _framed(text: str, chance: random.Random) -> Worded:
    """Return the text in another frame, and the frame's name."""
    parts = sentences(text)
    fronted = _fronted(parts, chance)
    if fronted:
        return Worded(fronted, "front")
    can_turn = len(parts) == 2 and _stands_alone(parts[1]) and not _asks(parts[0])
    if can_turn and chance.random() < _TURNED:
        return Worded(f"{parts[1]} {parts[0]}", "turned")
    for place, part in enumerate(parts):
        made = _as_noun(part, chance) or _as_request(part, chance) or _as_question(part, chance)
        if made is not None:
            return Worded(" ".join([*parts[:place], made.text, *parts[place + 1 :]]), made.frame)
    return framed(_TEXTS["mixed"], "mixed", chance, Text=text[:1].upper() + text[1:])


def _as_noun(first: str, chance: random.Random) -> Worded | None:
    """Ask for what a question wants to know: "What is the X?" as "Please tell me the X."."""
    found = _NOUN.fullmatch(first)
    if found is None or _PREDICATE.search(found[1]):
        return None
    return framed(_TEXTS["noun"], "noun", chance, np=found[1])


def _as_request(first: str, chance: random.Random) -> Worded | None:
    opening = re.match(rf"(?:{_TEXTS['imperative_openings']})\b", first, re.IGNORECASE)
    body = first[opening.end() :] if opening else first
    body = _LEADING.sub("", body, count=1) if opening else body
    body = re.sub(r"[\s,]*\bplease\b[\s,]*(?=[.?!]*$)", "", body, flags=re.IGNORECASE)
    verb = words(body)[:1]
    if not body[:1].isalpha() or verb[0] not in IMPERATIVES or "?" in body[:-1]:
        return None
    return framed(_TEXTS["told"], "told", chance, verb=_small(body).rstrip(".?! "))


def _as_question(first: str, chance: random.Random) -> Worded | None:
    if not _asks(first):
        return None
    return framed(_TEXTS["asked"], "asked", chance, text=_small(first), Text=first)


def _asks(sentence: str) -> bool:
    return sentence.endswith("?") and _ASKING.match(sentence) is not None


def _stands_alone(sentence: str) -> bool:
    """Tell whether a question is whole, and speaks of nothing that an earlier sentence named."""
    said = words(sentence)
    return _asks(sentence) and len(said) >= _WHOLE and not _LEANING & set(said)


def _fronted(parts: list[str], chance: random.Random) -> str:
    """Put a day at the end of the first request before it; empty: there is none there."""
    found = _FRONT.fullmatch(parts[0]) if parts else None
    if found is None or chance.random() < 0.5:
        return ""
    date = found["date"][:1].upper() + found["date"][1:]
    return " ".join([f"{date}, {_small(found['rest'])}{found['end']}", *parts[1:]])


def _small(text: str) -> str:
    """Return a text with a small first letter, unless it begins with a name or "I"."""
    first = re.match(r"[^\s'’]+", text)
    if first is None or first[0] == "I" or first[0][1:] != first[0][1:].lower():
        return text
    return text[:1].lower() + text[1:]


def _swapped(text: str, chance: random.Random) -> str:
    """Put other words for some common ones, each place at most once, never within quotes."""
    pieces = _QUOTES.split(text)
    for pattern, new in _SWAPS:
        if chance.random() < _SWAPPED:
            pieces[::2] = [pattern.sub(partial(_like, new=new), p, count=1) for p in pieces[::2]]
    return "".join(pieces).replace("\x00", "")


def _like(match: re.Match[str], new: str) -> str:
    """Return words for others, capital where those were, and marked as done with."""
    first_person = re.match(r"I\b", new) is not None
    small = match[0][:1].islower() and not first_person
    told = (new[:1].lower() if small else new[:1].upper()) + new[1:]
    return "\x00".join(["", *re.split(r"(?<=\w)(?=\W)|(?<=\W)(?=\w)", told), ""])


def _dated(text: str, chance: random.Random) -> str:
    """Write days in another form, all of them alike."""
    form = chance.choice(("day", "month", "iso", ""))

    def written(match: re.Match[str]) -> str:
        day = day_of(match[0])
        if day is None or day.year is None or not form:
            return match[0]
        month = MONTHS[(day.month or 1) - 1].title()
        forms = {"day": f"{day.day} {month} {day.year}", "month": f"{month} {day.day}, {day.year}"}
        return forms.get(form) or day.calendar.isoformat()

    return DAY.sub(written, text)
