"""What a generation of missions is told, and which missions follow: types, relations, dates, seeds.

Up to four missions every sequence of types is made, in the order of counting; of more missions a
covering array: each window of a de Bruijn cycle, so that at every place every run of `cover` types
occurs exactly once. A smaller set could not do that.

Source: "Multi-Mission Tool Bench" (2025), the mission switching space; the covering array is ours.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import product
from typing import Any, get_args

from seal.benchmarks.mmtb.dialogues import MissionType, check_language
from seal.benchmarks.mmtb.generation.scenes import Assignment, Relation
from seal.core.errors import UnknownNameError, UsageError
from seal.core.protocols import CacheMode
from seal.core.types import JSON, Tool

GRAMMAR = "grammar"
"""Name that stands for speakers by rule instead of a model."""
TYPES: tuple[MissionType, ...] = get_args(MissionType)
RELATIONS: tuple[Relation, ...] = get_args(Relation)
ROLES = ("user_simulator", "planner", "agent", "simulator")
"""Who may have a model of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionSettings:
    """Settings of one generation.

    Raises:
        UnknownNameError: A type, relation, role, cache mode or language that there is not.
        UsageError: A number that cannot be.
    """

    missions: int = 4
    """Of each dialogue."""
    types: Sequence[MissionType] = TYPES
    """What sequences are made of; up to four missions all sequences, else those that `cover`."""
    relations: Sequence[Relation] = RELATIONS
    """How a mission may lean on earlier ones."""
    cover: int = 2
    """Of more than four missions: each run of so many types stands in some dialogue."""
    model: Any = GRAMMAR
    """Plays user, planner and agent: `grammar`, a model as `seal run` takes it, or an object of
    `seal.benchmarks.mmtb.generation.scenes.Speakers`."""
    role_models: Mapping[str, Any] = field(default_factory=dict)
    """Models of single roles, and of the simulator `llm`."""
    model_options: Mapping[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    simulator: Any = "template"
    """Brings the results of calls."""
    cache: CacheMode = "record"
    """How kept answers of models and simulators are used."""
    language: str = "en"
    limit: int | None = None
    """Dialogues at most."""
    workers: int = 1
    """Dialogues at once."""
    seed: int = 0
    name: str = ""
    """Of the pool; empty: that of its folder."""

    def __post_init__(self) -> None:
        """Reject what cannot be."""
        for kind, given, known in (
            ("mission type", self.types, TYPES),
            ("relation", self.relations, RELATIONS),
            ("role", tuple(self.role_models), ROLES),
            ("cache mode", (self.cache,), get_args(CacheMode)),
        ):
            for name in given:
                if name not in known:
                    raise UnknownNameError(kind, str(name), known)
        check_language(self.language)
        if self.model == GRAMMAR and self.language != "en":
            raise UsageError(f"the grammar speaks en, not {self.language}: name a model that does")
        for name, least in (("workers", 1), ("limit", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise UsageError(f"{name} {value}: expected at least {least}")

    def shape(self) -> dict[str, JSON]:
        """Return what of the settings shapes the dialogues, models and simulator apart."""
        return {
            "missions": self.missions,
            "types": list(self.types),
            "relations": list(self.relations),
            "cover": self.cover,
            "language": self.language,
            "seed": self.seed,
        }


MOST_COMPLETE = 4
"""Missions up to which every sequence of types is made."""
DATE = "%Y-%m-%d %H:%M, %A"
_YEAR = datetime(2024, 1, 1)
_DAYS = 366
_WAKING = (7 * 60, 22 * 60)
"""Minutes of a day between which people ask."""


def assignments(
    missions: int,
    kinds: Sequence[MissionType],
    relations: Sequence[Relation],
    *,
    language: str,
    seed: int,
    cover: int = 2,
) -> list[list[Assignment]]:
    """Return what is to be made, dialogue by dialogue.

    Relations are dealt out evenly among the missions of a place and type, memory from the third
    mission on.

    Args:
        missions: Of each dialogue, at least 1.
        kinds: Types, each once.
        relations: Each once; none needed for dialogues of one mission.
        language: en or zh.
        seed: Shapes relations, dates and the seeds of missions.
        cover: Length of the runs of types that more than four missions cover, at least 1.

    Raises:
        UsageError: An argument has a value that it cannot have.
    """
    _check(missions, kinds, relations, cover)
    sequences = type_sequences(missions, kinds, cover)
    dealt = _relations(sequences, relations, seed)
    return [
        [
            Assignment(
                _name(number),
                place,
                kind,
                dealt[number][place],
                _date(seed, number),
                language,
                _drawn(seed, number, place).getrandbits(31),
            )
            for place, kind in enumerate(sequence)
        ]
        for number, sequence in enumerate(sequences)
    ]


def type_sequences(
    missions: int, kinds: Sequence[MissionType], cover: int = 2
) -> list[tuple[MissionType, ...]]:
    """Return the sequences of types: all of them, or a covering array of `len(kinds) ** cover`."""
    if missions <= max(MOST_COMPLETE, cover):
        return list(product(kinds, repeat=missions))
    cycle = list(_cycle(len(kinds), cover))
    return [
        tuple(kinds[cycle[(start + place) % len(cycle)]] for place in range(missions))
        for start in range(len(cycle))
    ]


def coverage(
    sequences: Sequence[Sequence[MissionType]], kinds: Sequence[MissionType], length: int
) -> float:
    """Return the share of the runs of a length, at each place, that some sequence has.

    Args:
        sequences: All of one length.
        kinds: Types of which there could be runs.
        length: Of the runs, at least 1.

    Returns:
        In [0, 1]; 1.0 where the sequences are shorter than the runs.
    """
    places = max(len(sequences[0]) - length + 1, 0) if sequences else 0
    seen = {
        (place, *sequence[place : place + length])
        for sequence in sequences
        for place in range(places)
    }
    return len(seen) / (places * len(kinds) ** length) if places else 1.0


def _check(
    missions: int, kinds: Sequence[MissionType], relations: Sequence[Relation], cover: int
) -> None:
    if missions < 1:
        raise UsageError(f"missions: expected at least 1 a dialogue, got {missions}")
    if cover < 1:
        raise UsageError(f"cover: expected at least 1, such as 2 or 3, got {cover}")
    for what, values in (("types", kinds), ("relations", relations)):
        if len(set(values)) != len(values):
            raise UsageError(f"{what}: each may stand once, got {', '.join(values)}")
    if not kinds:
        raise UsageError("types: expected at least one of single, multi, chat, clarify")
    if missions > 1 and not {"implicit", "ellipsis"} & set(relations):
        raise UsageError(
            "relations: a second mission can lean on the first by implicit or ellipsis alone; "
            "give one of them"
        )


def _cycle(count: int, length: int) -> Iterator[int]:
    """Yield a de Bruijn cycle: each word of `length` letters out of `count` occurs once in it.

    Source: Fredricksen and Maiorana (1978): the Lyndon words whose length divides `length`, in
    order.
    """
    word = [-1]
    while word:
        word[-1] += 1
        if length % len(word) == 0:
            yield from word
        grown = [word[n % len(word)] for n in range(length)]
        while grown and grown[-1] == count - 1:
            grown.pop()
        word = grown


def _relations(
    sequences: Sequence[Sequence[MissionType]], relations: Sequence[Relation], seed: int
) -> list[list[Relation | None]]:
    """Return the relation of each mission of each dialogue."""
    dealt: list[list[Relation | None]] = [[None] * len(sequence) for sequence in sequences]
    cells: dict[tuple[int, MissionType], list[int]] = defaultdict(list)
    for number, sequence in enumerate(sequences):
        for place, kind in enumerate(sequence[1:], 1):
            cells[place, kind].append(number)
    for (place, kind), numbers in cells.items():
        usable = [relation for relation in relations if relation != "memory" or place > 1]
        random.Random(f"{seed}/relations/{place}/{kind}").shuffle(numbers)
        for position, number in enumerate(numbers):
            dealt[number][place] = usable[position % len(usable)]
    return dealt


def _drawn(seed: int, number: int, place: int) -> random.Random:
    return random.Random(f"{seed}/{number}/{place}")


def _date(seed: int, number: int) -> str:
    drawn = random.Random(f"{seed}/{number}/date")
    moment = timedelta(days=drawn.randrange(_DAYS), minutes=drawn.randrange(*_WAKING))
    return (_YEAR + moment).strftime(DATE)


def _name(number: int) -> str:
    return f"d{number + 1:04d}"


MOST = 10
"""Tools of a dialogue where the pool has no lists."""
_CATEGORIES = 3


def draw_tools(tools: Sequence[Tool], seed: int) -> list[Tool]:
    """Return the tools of one dialogue, of no two names alike, in the pool's order.

    A pool with tool lists (`source["lists"]`, as Multi-Mission Tool Bench has them) gives one of
    them; any other up to `MOST` tools of three categories.

    Args:
        tools: The pool, at least one.
        seed: Of the dialogue.
    """
    chance = random.Random(seed)
    lists = sorted({number for tool in tools for number in tool.source.get("lists", ())})
    if lists:
        number = chance.choice(lists)
        return _of_own_names(tool for tool in tools if number in tool.source.get("lists", ()))
    categories = sorted({tool.category for tool in tools})
    chosen = set(chance.sample(categories, min(_CATEGORIES, len(categories))))
    found = _of_own_names(tool for tool in tools if tool.category in chosen)
    taken = set(chance.sample(range(len(found)), min(MOST, len(found))))
    return [tool for position, tool in enumerate(found) if position in taken]


def _of_own_names(tools: Iterable[Tool]) -> list[Tool]:
    by_name: dict[str, Tool] = {}
    for tool in tools:
        by_name.setdefault(tool.name, tool)
    return list(by_name.values())
