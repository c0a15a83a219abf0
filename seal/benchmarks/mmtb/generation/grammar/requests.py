"""How a request for acts is put in words, and whether other words still ask for the same.

The grammar does not read. It can tell three things of words that a person put in place of its own.
They must name the same things and no others of their sorts. They must hold a key word of each act.
They must hold no key word of another act.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache

from seal.benchmarks.mmtb.generation.grammar.choices import FromCall, Script
from seal.benchmarks.mmtb.generation.grammar.language import (
    Act,
    capital,
    filled,
    joined,
    language,
    placeholders,
    tidy,
)
from seal.benchmarks.mmtb.generation.grammar.things import Thing, is_named, known_things
from seal.core.package_data import shipped_json

_PLACEHOLDER = re.compile(r"\{[^}]*\}")
_WORD = re.compile(r"[a-z]+")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ing|ed|es|s|e)$")


def worded(
    rng: random.Random,
    spoken: Sequence[tuple[Act, Mapping[str, str]]],
    bond: str,
    elliptic: bool,
    bare: bool = False,
) -> str:
    """Return a request for acts.

    Args:
        rng: Draws the frame and the words.
        spoken: Acts with the phrases of their slots, in the order in which they are spoken of.
        bond: `both`, `then`, or nothing, of one act alone.
        elliptic: Verbs are left out.
        bare: Of one act: what it is to do, not what is to be known.
    """
    if len(spoken) == 1:
        act, phrases = spoken[0]
        return _one(rng, act, phrases, elliptic, bare)
    clauses = [
        filled(rng.choice(act.it if elliptic else act.do), phrases) for act, phrases in spoken
    ]
    what = "it" if elliptic else "do"
    if bond == "then":
        *firsts, last = clauses
        if len(firsts) == 2 and len({act.tool for act, _ in spoken}) == 3:
            firsts = [joined(firsts)]
        parts = [", ".join(firsts), last]
    else:
        parts = [joined(clauses)] if len(clauses) == 3 else clauses
    occasion = what if len(parts) == 1 else f"{bond}_{what}"
    return _sentence(rng.choice(language().phrases[occasion]).format(*parts))


def _one(
    rng: random.Random, act: Act, phrases: Mapping[str, str], elliptic: bool, bare: bool
) -> str:
    asks = []
    if not bare:  # a question is asked that has a place for every phrase
        said = {name for name, phrase in phrases.items() if phrase}
        asks = [ask for ask in act.asks if said.issubset(placeholders(ask))]
    if elliptic:
        return _sentence(
            rng.choice(language().phrases["it"]).format(filled(rng.choice(act.it), phrases))
        )
    if asks and rng.random() < 0.6:
        return _sentence(filled(rng.choice(asks), phrases))
    do = filled(rng.choice(act.do), phrases)
    return _sentence(rng.choice(language().phrases["do"]).format(do))


def _sentence(text: str) -> str:
    return capital(tidy(text))


def faults(script: Script, request: str, today: date) -> list[str]:
    """Return why a wording does not ask for what a script does; empty: it may.

    Args:
        script: What the grammar would have said, and the calls that it leads to.
        request: What is said instead.
        today: The day on which it is said.
    """
    return [
        *_missing_values(script, request),
        *_missing_words(script, request),
        *_new_things(script, request, today),
    ]


def _missing_values(script: Script, request: str) -> Iterator[str]:
    for thing in _things_of(script):
        said = thing.words in request or is_named(thing, request)
        if thing.words in script.request and not said:
            yield f"it does not say {thing.words!r}"


def _missing_words(script: Script, request: str) -> Iterator[str]:
    bare = request
    for thing in _things_of(script):
        bare = bare.replace(thing.words, " ")
    said = _keys([bare])
    acts = {call.act.tool: call.act for call in script.calls}
    wanted = {name: _act_keys(name) for name in acts} or {"this chat": _chat_keys(script.request)}
    for name, keys in wanted.items():
        act = acts.get(name)
        worded_so = act is not None and any(_stands_in(text, request) for text in act.asks)
        if not said.keys() & keys.keys() and not worded_so:
            told = ", ".join(sorted(set(keys.values())))
            yield f"it has no key word of {name} ({told or 'which has none'})"
    most = max(len(said.keys() & keys.keys()) for keys in wanted.values())
    for act in language().acts.values():
        if act.tool not in wanted and len(said.keys() & _act_keys(act.tool).keys()) > most:
            yield f"it sounds more like {act.tool}"
            return


def _new_things(script: Script, request: str, today: date) -> Iterator[str]:
    sorts = {slot.sort.name for call in script.calls for slot in call.act.slots}
    meant = {str(thing.value) for thing in _things_of(script)}
    for thing in (thing for sort in sorted(sorts) for thing in known_things(sort, today)):
        is_new = str(thing.value) not in meant and is_named(thing, request)
        if is_new and not is_named(thing, script.request):
            yield f"it says {thing.words!r}, which no call takes"


def _things_of(script: Script) -> list[Thing]:
    fills = [fill for call in script.calls for fill in call.fills.values()]
    missing = [thing for _, thing in script.missing]
    return [*(fill for fill in fills if not isinstance(fill, FromCall)), *missing]


@cache
def _act_keys(tool: str) -> Mapping[str, str]:
    """Return the key words of an act by their stems."""
    act = language().acts[tool]
    named = [slot for slot in act.slots if not slot.sort.adverbial]
    nouns = [text for slot in named for text in (slot.bare, slot.sort.noun)]
    return _keys([*act.asks, *act.do, *act.it, *nouns])


def _chat_keys(request: str) -> Mapping[str, str]:
    """Return the key words of the chat that a request of the grammar's begins."""
    templates = [text for talk in language().talks for text in (*talk.asks, *talk.brief)]
    repeats = [text for texts in language().repeats.values() for text in texts]
    found = [text for text in (*templates, *repeats) if _stands_in(text, request)]
    return _keys(found or [request])


def _stands_in(template: str, request: str) -> bool:
    return all(part.strip(" ?.,") in request for part in _PLACEHOLDER.split(template))


def _keys(texts: Iterable[str]) -> dict[str, str]:
    """Return the words of texts that say what is asked for, by their stems."""
    small = frozenset(shipped_json(__package__, "small_words.json"))
    plain = (_PLACEHOLDER.sub(" ", text).casefold() for text in texts)
    words = [word for text in plain for word in _WORD.findall(text) if word not in small]
    return {_ENDING.sub("", word): word for word in reversed(words)}
