"""Requests that no tool of a seed's environment serves, in three kinds."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from itertools import islice
from string import Formatter
from typing import Any

from seal.benchmarks.toolscan.queries import IRRELEVANCE
from seal.benchmarks.toolscan.query_generation.candidates import Candidate
from seal.benchmarks.toolscan.query_generation.grammar.requests import framed, named
from seal.benchmarks.toolscan.query_generation.seeds import Seed
from seal.benchmarks.toolscan.query_generation.texts import Vocabulary, content_words
from seal.core import JSON, Tool
from seal.core.canonical import derive_seed
from seal.core.package_data import shipped_json
from seal.core.text import words

_TEXTS = shipped_json(__package__, "irrelevance.json")
_TRIES = 4
"""Candidates of a kind for each that is wanted."""
_DRAWN = 30
"""Foreign parameters that are looked at for each candidate."""
_LONGEST = 40
"""Characters of a foreign value."""


class Irrelevance:
    """Proposes irrelevant variants of seeds.

    Args:
        seeds: All; foreign values are taken from their gold calls.
        tools: The pool by id.
        seed: Of the generation.
    """

    def __init__(self, seeds: Sequence[Seed], tools: Mapping[str, Tool], seed: int) -> None:
        self._seed = seed
        self._vocabulary = Vocabulary(tools)
        self._places = {one.id: place for place, one in enumerate(seeds)}
        self._foreign = _foreign(seeds, tools)

    def propose(self, seed: Seed, count: int) -> list[Candidate]:
        """Return candidates; kinds take turns, and which begins goes by the seed's place."""
        chance = random.Random(derive_seed(self._seed, "irrelevance", seed.id))
        first = self._places[seed.id]
        kinds = [IRRELEVANCE[(first + turn) % len(IRRELEVANCE)] for turn in range(count)]
        made: dict[str, list[Candidate]] = {}
        for kind in dict.fromkeys(kinds):
            draw = self._of_others if kind == "foreign_parameter" else self._authored
            made[kind] = draw(kind, seed, _TRIES * kinds.count(kind), chance)
        turns = [made[kind].pop(0) for kind in kinds if made[kind]]
        return turns + [one for rest in made.values() for one in rest]

    def _authored(
        self, kind: str, seed: Seed, count: int, chance: random.Random
    ) -> list[Candidate]:
        """Return requests, or conditions after the seed's text, of which no tool speaks."""
        name = "unrelated" if kind == "unrelated_request" else "unsupported"
        entries = _TEXTS[name]
        places = [
            place
            for place, entry in enumerate(entries)
            if not self._vocabulary.heard(entry["about"], seed.offered)
        ]
        found = []
        for place in chance.sample(places, min(count, len(places))):
            claim, about = _filled(entries[place]["text"], chance), entries[place]["about"]
            text = claim if name == "unrelated" else f"{_ended(seed.text)} {claim}"
            found.append(Candidate(text, f"{name}{place}", reason=kind, claim=claim, about=about))
        return found

    def _of_others(
        self, kind: str, seed: Seed, count: int, chance: random.Random
    ) -> list[Candidate]:
        """Return the seed's text with a parameter that only tools which are not offered have."""
        drawn = chance.sample(self._foreign, min(_DRAWN * count, len(self._foreign)))
        fitting = (
            (tool, name, value)
            for tool, name, value in drawn
            if tool not in seed.offered
            and not self._vocabulary.heard(content_words(name), seed.offered)
        )
        found = []
        for tool, name, value in islice(fitting, count):
            phrase = named(name, value)
            parts = {"phrase": phrase, "phrase_first": phrase[:1].upper() + phrase[1:]}
            text, frame = framed(
                _TEXTS["foreign"], "foreign", chance, seed=_ended(seed.text), **parts
            )
            about = content_words(name)
            found.append(
                Candidate(text, frame, reason=kind, claim=phrase, about=about, foreign=[tool, name])
            )
        return found


def reply(candidate: Candidate) -> str:
    """Return what a right agent answers."""
    return str(_TEXTS["replies"][candidate.reason].format(claim=candidate.claim))


def _filled(text: str, chance: random.Random) -> str:
    names = [name for _, name, _, _ in Formatter().parse(text) if name]
    told = text.format(**{name: chance.choice(_TEXTS["slots"][name]) for name in names})
    return told[:1].upper() + told[1:]


def _ended(text: str) -> str:
    """Return a text that ends in a mark, so that a sentence can follow."""
    plain = text.strip()
    return plain if plain.endswith((".", "?", "!", "。", "？")) else f"{plain}."


def _foreign(seeds: Sequence[Seed], tools: Mapping[str, Tool]) -> list[tuple[str, str, JSON]]:
    """Return tool, name and value of arguments whose value can be said, one of each name."""
    generic = frozenset(_TEXTS["generic"].split())
    values: dict[tuple[str, str], JSON] = {}
    for call in (call for seed in seeds for plan in seed.plans for call in plan):
        for name, value in call.canonical_arguments().items():
            values.setdefault((call.tool, name), value)
    found: dict[str, tuple[str, str, JSON]] = {}
    for tool in tools.values():
        properties = tool.parameters.get("properties")
        for name, schema in (properties if isinstance(properties, dict) else {}).items():
            own = [word for word in words(name) if word not in generic and len(word) > 2]
            value = values.get((tool.id, name), _named(schema))
            if own and content_words(name) and _can_be_said(value):
                found.setdefault(" ".join(own), (tool.id, name, value))
    return list(found.values())


def _named(schema: Any) -> JSON:
    if not isinstance(schema, dict):
        return None
    for key in ("enum", "examples"):
        if isinstance(schema.get(key), list) and schema[key]:
            return schema[key][0]
    return schema.get("default")


def _can_be_said(value: JSON) -> bool:
    if isinstance(value, str):
        return bool(words(value)) and len(value) <= _LONGEST and value != "dontcare"
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value not in (0, 1)
