"""Requests that no tool of a seed's environment serves, in three kinds."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import islice
from string import Formatter
from typing import Any

import orjson

from seal.benchmarks.toolscan.queries import IRRELEVANCE
from seal.benchmarks.toolscan.query_generation.candidates import Candidate
from seal.benchmarks.toolscan.query_generation.grammar.phrases import named
from seal.benchmarks.toolscan.query_generation.seeds import Seed
from seal.benchmarks.toolscan.query_generation.vocabulary import Vocabulary, content_words
from seal.core.canonical import derive_seed
from seal.core.text import words
from seal.core.types import JSON, Tool

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
        self._foreign = list(_foreign(seeds, tools))

    def propose(self, seed: Seed, count: int) -> list[Candidate]:
        """Return candidates; kinds take turns, and which begins goes by the seed's place."""
        chance = random.Random(derive_seed(self._seed, "irrelevance", seed.id))
        first = self._places[seed.id]
        kinds = [IRRELEVANCE[(first + turn) % len(IRRELEVANCE)] for turn in range(count)]
        made: dict[str, list[Candidate]] = {}
        for kind in dict.fromkeys(kinds):
            wanted = _TRIES * kinds.count(kind)
            if kind == "unsupported_constraint":
                made[kind] = self._unsupported(seed, wanted, chance)
            elif kind == "foreign_parameter":
                made[kind] = self._of_others(seed, wanted, chance)
            else:
                made[kind] = self._unrelated(seed, wanted, chance)
        turns = [made[kind].pop(0) for kind in kinds if made[kind]]
        return turns + [one for rest in made.values() for one in rest]

    def _unsupported(self, seed: Seed, count: int, chance: random.Random) -> list[Candidate]:
        found = []
        for place in _drawn(self._heard("unsupported", seed), count, chance):
            entry = _texts()["unsupported"][place]
            claim = _filled(entry["text"], chance)
            found.append(
                Candidate(
                    f"{_ended(seed.text)} {claim}",
                    f"unsupported{place}",
                    reason="unsupported_constraint",
                    claim=claim,
                    about=entry["about"],
                )
            )
        return found

    def _of_others(self, seed: Seed, count: int, chance: random.Random) -> list[Candidate]:
        drawn = chance.sample(self._foreign, min(_DRAWN * count, len(self._foreign)))
        fitting = (
            (tool, name, value)
            for tool, name, value in drawn
            if tool.id not in seed.offered
            and not self._vocabulary.heard(content_words(name), seed.offered)
        )
        found = []
        frames = _texts()["foreign"]
        for tool, name, value in islice(fitting, count):
            place = chance.randrange(len(frames))
            phrase = named(name, value)
            text = frames[place].format(
                seed=_ended(seed.text), phrase=phrase, phrase_first=phrase[:1].upper() + phrase[1:]
            )
            found.append(
                Candidate(
                    text,
                    f"foreign{place}",
                    reason="foreign_parameter",
                    claim=phrase,
                    about=content_words(name),
                    foreign=[tool.id, name],
                )
            )
        return found

    def _unrelated(self, seed: Seed, count: int, chance: random.Random) -> list[Candidate]:
        found = []
        for place in _drawn(self._heard("unrelated", seed), count, chance):
            entry = _texts()["unrelated"][place]
            text = _filled(entry["text"], chance)
            found.append(
                Candidate(
                    text,
                    f"unrelated{place}",
                    reason="unrelated_request",
                    claim=text,
                    about=entry["about"],
                )
            )
        return found

    def _heard(self, kind: str, seed: Seed) -> list[int]:
        """Return the places of the texts of which no offered tool speaks."""
        return [
            place
            for place, entry in enumerate(_texts()[kind])
            if not self._vocabulary.heard(entry["about"], seed.offered)
        ]


def reply(candidate: Candidate) -> str:
    """Return what a right agent answers."""
    return str(_texts()["replies"][candidate.reason].format(claim=candidate.claim))


def _drawn(places: Sequence[int], count: int, chance: random.Random) -> list[int]:
    return chance.sample(places, min(count, len(places)))


def _filled(text: str, chance: random.Random) -> str:
    names = [name for _, name, _, _ in Formatter().parse(text) if name]
    told = text.format(**{name: chance.choice(_texts()["slots"][name]) for name in names})
    return told[:1].upper() + told[1:]


def _ended(text: str) -> str:
    """Return a text that ends in a mark, so that a sentence can follow."""
    plain = text.strip()
    return plain if plain.endswith((".", "?", "!", "。", "？")) else f"{plain}."


def _foreign(seeds: Sequence[Seed], tools: Mapping[str, Tool]) -> list[tuple[Tool, str, JSON]]:
    """Return arguments with names of their own and a value that can be said, one of each name."""
    generic = frozenset(_texts()["generic"].split())
    values: dict[tuple[str, str], JSON] = {}
    for call in (call for seed in seeds for plan in seed.plans for call in plan):
        for name, value in call.canonical_arguments().items():
            values.setdefault((call.tool, name), value)
    found: dict[str, tuple[Tool, str, JSON]] = {}
    for tool in tools.values():
        properties = tool.parameters.get("properties")
        for name, schema in (properties if isinstance(properties, dict) else {}).items():
            own = [word for word in words(name) if word not in generic and len(word) > 2]
            value = values.get((tool.id, name), _named(schema))
            if own and content_words(name) and _can_be_said(value):
                found.setdefault(" ".join(own), (tool, name, value))
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


@cache
def _texts() -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads((files(__package__) / "irrelevance.json").read_bytes())
    return found
