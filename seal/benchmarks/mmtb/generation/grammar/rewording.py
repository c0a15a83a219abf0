"""Whether words that a person put in place of the grammar's still ask for what a script does.

The grammar does not read. Of other words it can tell that they name the same things and no others
of their sorts, hold a key word of each act, and hold none more of an act that is not asked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files

from seal.benchmarks.mmtb.generation.grammar.acts import Act, Slot, language
from seal.benchmarks.mmtb.generation.grammar.script import FromCall, Script
from seal.benchmarks.mmtb.generation.grammar.things import Thing, Things, is_named

_PLACEHOLDER = re.compile(r"\{[^}]*\}")
_WORD = re.compile(r"[a-z]+")
_ENDING = re.compile(r"(?<=[a-z]{3})(?:ing|ed|es|s|e)$")


def faults(script: Script, request: str, things: Things) -> list[str]:
    """Return why a wording does not ask for what a script does; empty: it may.

    Args:
        script: What the grammar would have said, and the calls that it leads to.
        request: What is said instead.
        things: How that which a script names may be called.
    """
    return [
        *_missing_values(script, request, things),
        *_missing_words(script, request),
        *_new_things(script, request, things),
    ]


def _missing_values(script: Script, request: str, things: Things) -> Iterator[str]:
    for thing in _things(script):
        if thing.words in script.request and not (
            thing.words in request or is_named(things.forms(thing), request)
        ):
            yield f"it does not say {thing.words!r}"


def _missing_words(script: Script, request: str) -> Iterator[str]:
    said = _keys([_bare(request, script)])
    acts = {call.act.tool: call.act for call in script.calls}
    wanted = {name: act_keys(act) for name, act in acts.items()} or {
        "this chat": _chat_keys(script.request)
    }
    for name, keys in wanted.items():
        if not said.keys() & keys.keys() and not _has_wording(acts.get(name), request):
            told = ", ".join(sorted(set(keys.values())))
            yield f"it has no key word of {name} ({told or 'which has none'})"
    most = max(len(said.keys() & keys.keys()) for keys in wanted.values())
    for act in language().acts.values():
        if act.tool not in wanted and len(said.keys() & act_keys(act).keys()) > most:
            yield f"it sounds more like {act.tool}"
            return


def _new_things(script: Script, request: str, things: Things) -> Iterator[str]:
    sorts = {slot.sort.name for call in script.calls for slot in call.act.slots}
    meant = {str(thing.value) for thing in _things(script)}
    for sort in sorted(sorts):
        for thing, forms in things.known(language().sorts[sort]):
            is_new = str(thing.value) not in meant and is_named(forms, request)
            if is_new and not is_named(forms, script.request):
                yield f"it says {thing.words!r}, which no call takes"


def _things(script: Script) -> list[Thing]:
    fills = [fill for call in script.calls for fill in call.fills.values()]
    missing = [thing for _, thing in script.missing]
    return [*(fill for fill in fills if not isinstance(fill, FromCall)), *missing]


def _bare(request: str, script: Script) -> str:
    """Return a request without the things that it names."""
    for thing in _things(script):
        request = request.replace(thing.words, " ")
    return request


@cache
def _small_words() -> frozenset[str]:
    """Return the words that say nothing of what is asked for."""
    text = files(__package__).joinpath("small_words.json").read_text(encoding="utf-8")
    return frozenset(json.loads(text))


@cache
def _act_keys(tool: str) -> Mapping[str, str]:
    act = language().acts[tool]
    nouns = [text for slot in act.slots for text in _nouns(slot)]
    return _keys([*act.asks, *act.do, *act.it, *nouns])


def _nouns(slot: Slot) -> tuple[str, ...]:
    return () if slot.sort.adverbial else (slot.bare, slot.sort.noun)


def act_keys(act: Act) -> Mapping[str, str]:
    """Return the key words of an act by their stems."""
    return _act_keys(act.tool)


def _chat_keys(request: str) -> Mapping[str, str]:
    """Return the key words of the chat that a request of the grammar's begins."""
    templates = [text for talk in language().talks for text in (*talk.asks, *talk.brief)]
    repeats = [text for texts in language().repeats.values() for text in texts]
    found = [text for text in (*templates, *repeats) if _stands_in(text, request)]
    return _keys(found or [request])


def _has_wording(act: Act | None, request: str) -> bool:
    """Tell whether a question of an act stands in a request, as it is worded."""
    return act is not None and any(_stands_in(text, request) for text in act.asks)


def _stands_in(template: str, request: str) -> bool:
    return all(part.strip(" ?.,") in request for part in _PLACEHOLDER.split(template))


def _keys(texts: Iterable[str]) -> dict[str, str]:
    """Return the words of texts that say what is asked for, by their stems."""
    words = [word for text in texts for word in _words(text) if word not in _small_words()]
    return {_ENDING.sub("", word): word for word in reversed(words)}


def _words(text: str) -> list[str]:
    return _WORD.findall(_PLACEHOLDER.sub(" ", text).casefold())
