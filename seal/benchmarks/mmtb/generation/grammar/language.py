"""What the grammar can talk about: sorts of things, and what may be done with them.

The language is in four files. `sorts.json` has the things: how they are named, referred to and
asked for. `acts.json` has the tools: what a request for one sounds like, and what its result is
told as. `themes.json` says which tools go together. `talk.json` says how people open a
conversation, what they chat about, and how requests, questions and references are framed. A
template's `{in location}` is the phrase of a slot with its preposition, and falls out whole where
the slot is not spoken of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from seal.benchmarks.mmtb.generation.evidence import NEAR, with_spoken_days
from seal.core import JSON
from seal.core.package_data import shipped_json

_Record = TypeVar("_Record")

THERE = "there"
_PLACEHOLDER = re.compile(r"\{(?:([A-Za-z]+) )?([A-Za-z][\w.]*|\.)\}")
_BLANKS = re.compile(r"\s+")
_BEFORE_MARK = re.compile(r"\s+([?.,:;!])")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeio])")


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of things, such as cities or hotels."""

    name: str
    noun: str = ""
    """How one is called; empty: nothing refers to such a thing later."""
    which: str = ""
    """What one asks for who needs one, without a parameter's name."""
    say: str = "{}"
    """How one is named in a sentence."""
    values: tuple[tuple[str, JSON], ...] = ()
    """Words and the value that they mean."""
    that: tuple[str, ...] = ()
    """References to the one just spoken of; empty: made from the noun."""
    start: tuple[str, ...] = ()
    """References to one of long ago, with `{when}`; empty: made from the noun."""
    vague: tuple[str, ...] = ()
    """Answers that do not say which."""
    whole: bool = False
    """Its words bring their own preposition."""
    adverbial: bool = False
    """A place or a time: may be said by there, and left out."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing that an act is about."""

    key: str
    """Parameter; two joined by `+`, or one and its part joined by `.`."""
    name: str
    """In templates."""
    sort: Sort
    form: str = ""
    """How an argument is made of the value: as it stands, `list`, `travellers` or `one_item`."""
    bare: str = ""
    """Said in place of a thing that is missing."""
    which: str = ""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The tool's parameters that it fills, or helps to fill."""
        return tuple(self.key.partition(".")[0].split("+"))


@dataclass(frozen=True, slots=True)
class Gift:
    """What a result brings that later calls take."""

    sort: Sort
    noun: str
    id: str
    """Field of an entry, or of the whole result, that holds the value."""
    best: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """A superlative to min, max or last, and the field it goes by."""
    owner: str = ""
    """Slot whose thing it belongs to: one is looked up and one comes, the first."""


@dataclass(frozen=True, slots=True)
class Act:
    """What may be asked of one tool."""

    tool: str
    slots: tuple[Slot, ...]
    asks: tuple[str, ...]
    """Whole questions."""
    do: tuple[str, ...]
    """What one asks somebody to do, from the verb on."""
    it: tuple[str, ...]
    """What one wants to know, as a noun."""
    told: str
    listed: str = ""
    """Field of the result whose entries are told one by one."""
    item: str = ""
    gives: Gift | None = None
    needs: str = ""
    """Slot that is always filled though the tool does not require it."""

    def can_drop(self, slot: Slot) -> bool:
        """Tell whether the nouns for it stand without a slot: it is never all of them."""
        return slot.sort.whole or all(preposition_of(noun, slot.name) for noun in self.it)


@dataclass(frozen=True, slots=True)
class Talk:
    """A chat that needs no tool."""

    slots: tuple[Slot, ...]
    asks: tuple[str, ...]
    brief: tuple[str, ...]
    """Elliptic questions that leave the thing unsaid."""
    replies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Theme:
    """Tools that one conversation may be about."""

    name: str
    tools: tuple[str, ...]
    anchors: tuple[str, ...]
    """Sorts of which a conversation may begin by naming one."""


@dataclass(frozen=True, slots=True)
class Language:
    """All that the grammar knows."""

    sorts: Mapping[str, Sort]
    acts: Mapping[str, Act]
    themes: tuple[Theme, ...]
    talks: tuple[Talk, ...]
    openers: Mapping[str, Sequence[str]]
    repeats: Mapping[str, Sequence[str]]
    phrases: Mapping[str, Sequence[str]]
    """Name of an occasion to what may be said on it."""


@cache
def language() -> Language:
    """Return the language, read once."""
    talk = _read("talk.json")
    sorts = {}
    for name, given in _read("sorts.json").items():
        pairs = [v if isinstance(v, list) else (v, v) for v in given.get("values", ())]
        sorts[name] = _made(Sort, given, name=name, values=tuple((w, v) for w, v in pairs))
    acts = {tool: _act(tool, given, sorts) for tool, given in _read("acts.json").items()}
    themes = (_made(Theme, given, name=name) for name, given in _read("themes.json").items())
    chats = talk["chats"]
    talks = (_made(Talk, given, slots=_slots(given["slots"], sorts)) for given in chats)
    said = (talk[name] for name in ("openers", "repeats", "phrases"))
    return Language(sorts, acts, tuple(themes), tuple(talks), *said)


def _read(name: str) -> Any:
    return shipped_json(__package__, name)


def _made(kind: Callable[..., _Record], given: Mapping[str, Any], **own: Any) -> _Record:
    """Return a record of fields as JSON has them, its lists as tuples, some given otherwise."""
    fields = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}
    return kind(**{**fields, **own})


def _act(tool: str, given: Mapping[str, Any], sorts: Mapping[str, Sort]) -> Act:
    gives = None
    if "gives" in given:
        gift = given["gives"]
        sort = sorts.get(gift["sort"]) or Sort(gift["sort"], gift["noun"])
        gives = _made(Gift, gift, sort=sort)
    return _made(Act, given, tool=tool, slots=_slots(given["slots"], sorts), gives=gives)


def _slots(given: Mapping[str, str], sorts: Mapping[str, Sort]) -> tuple[Slot, ...]:
    """Return slots, which are written by their keys as `sort*form|bare|which`."""
    slots = []
    for key, text in given.items():
        what, bare, which = [*text.split("|"), "", ""][:3]
        sort_name, _, form = what.partition("*")
        sort, name = sorts[sort_name], sort_name if "+" in key else key
        slots.append(Slot(key, name, sort, form, bare, which or sort.which))
    return tuple(slots)


def filled(template: str, phrases: Mapping[str, str]) -> str:
    """Return a template with its phrases; one that is missing or empty takes its preposition along.

    A placeholder that begins with a capital gives its phrase one.
    """

    def phrase(found: re.Match[str]) -> str:
        preposition, name = found[1] or "", found[2]
        text = phrases.get(name) or phrases.get(_lowered(name)) or ""
        if not text:
            return ""
        begins = (preposition or name)[:1]
        if text == THERE or (preposition.lower() == "on" and text in NEAR):
            preposition = ""
        whole = f"{preposition} {text}".strip()
        return capital(whole) if begins.isupper() else whole

    return tidy(_PLACEHOLDER.sub(phrase, template))


def placeholders(template: str) -> list[str]:
    """Return the names of the slots that a template speaks of."""
    return [_lowered(found[1]) for found in _PLACEHOLDER.findall(template)]


def preposition_of(template: str, name: str) -> str:
    """Return the preposition that a template gives a slot; empty: none."""
    return next((p for p, found in _PLACEHOLDER.findall(template) if found == name), "")


def tidy(text: str) -> str:
    """Return a text without stray blanks, its articles mended."""
    text = _BEFORE_MARK.sub(r"\1", _BLANKS.sub(" ", text)).strip()
    return _ARTICLE.sub(r"\1n ", text)


def capital(text: str) -> str:
    """Return a text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def joined(texts: Sequence[str], word: str = "and") -> str:
    """Return an enumeration: `a`, `a and b`, `a, b and c`."""
    return f" {word} ".join([", ".join(texts[:-1]), texts[-1]] if texts[1:] else texts)


def told_value(value: JSON) -> str:
    """Return a value of a result as a person would write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return joined([told_value(item) for item in value])
    return with_spoken_days(str(value)).replace("_", " ")


def _lowered(name: str) -> str:
    return name[:1].lower() + name[1:]
