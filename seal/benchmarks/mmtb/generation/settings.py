"""What a generation of missions is told, and which missions follow: types, relations, dates, seeds.

Up to four missions every sequence of types is made, in the order of counting. For more missions a
covering array is made: each window of a de Bruijn cycle. At every place every run of `cover` types
then occurs exactly once. A smaller set could not do that.

Source: "Multi-Mission Tool Bench" (2025), the mission switching space; the covering array is ours.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any, TypedDict, get_args

from seal.benchmarks.mmtb.dialogues import MissionType, check_language
from seal.benchmarks.mmtb.generation.scenes import Assignment, Relation, Speakers
from seal.core import JSON, CacheMode, Tool, UsageError, check_name
from seal.core.field_docs import with_field_docs
from seal.core.typed_values import Count, check_fields
from seal.experiments.generation.writer_group import check_named
from seal.runs.settings import ModelChoice, SimulatorChoice

TYPES: tuple[MissionType, ...] = get_args(MissionType)
RELATIONS: tuple[Relation, ...] = get_args(Relation)
ROLES = ("user_simulator", "planner", "agent", "simulator")
"""Who may have a model of its own."""
MOST_COMPLETE = 4
"""Missions up to which every sequence of types is made."""
DATE = "%Y-%m-%d %H:%M, %A"
_YEAR = datetime(2024, 1, 1)
_DAYS = 366
_WAKING = (7 * 60, 22 * 60)
"""Minutes of a day between which people ask."""

MOST = 10
"""Tools of a dialogue where the pool has no lists."""
_CATEGORIES = 3


@dataclass(frozen=True, kw_only=True)
class MissionGroup:
    """Missions: what dialogues are made of."""

    missions: Count = 4
    """Number of missions of a dialogue."""
    types: Sequence[MissionType] = TYPES
    """Types of missions: single, multi, chat, clarify. Up to four missions give every sequence of
    types.

    More missions give the sequences that `cover` asks for.
    """
    relations: Sequence[Relation] = RELATIONS
    """How later missions refer to earlier ones: implicit, ellipsis, memory."""
    cover: Count = 2
    """With more than four missions: cover all sequences of so many types."""
    language: str = "en"
    """Language: en or zh."""
    limit: Count | None = None
    """Most dialogues; the same command may ask for more later."""
    seed: int = 0
    """Seed; another one gives other dialogues."""


@dataclass(frozen=True, kw_only=True)
class SpeakerGroup:
    """Models: who plays user, planner and agent, and what answers calls."""

    model: ModelChoice | Speakers | None = None
    """Model that plays user, planner and agent, as PROVIDER/MODEL; it must be named."""
    role_models: Mapping[str, ModelChoice] = field(
        default_factory=dict, metadata={"metavar": "ROLE=MODEL"}
    )
    """Model for user_simulator, planner, agent or simulator."""
    model_options: Mapping[str, Any] = field(default_factory=dict)
    base_url: str | None = None
    simulator: SimulatorChoice = "template"
    workers: Count = 1
    """Number of dialogues that are made at once."""
    cache: CacheMode = "record"
    """Cached answers of models and simulators: keep and reuse them (record), only reuse them
    (replay), or neither (off)."""
    cache_dir: str | Path | None = None


@dataclass(frozen=True, kw_only=True)
class ReviewGroup:
    """Pool and review: what the pool is called, and what a person chooses."""

    name: str = ""
    """Name of the new pool.  [default: that of its folder]"""
    review: str | Path | None = field(default=None, metadata={"metavar": "FILE"})
    """File for the candidates of every mission; choices that you edit in it are used."""


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class MissionSettings(MissionGroup, SpeakerGroup, ReviewGroup):
    """Settings of one generation.

    Raises:
        UnknownNameError: A type, relation, role, cache mode or language is unknown.
        UsageError: No model is named, or a number is out of range.
    """

    def __post_init__(self) -> None:
        """Reject what cannot be."""
        check_fields(self)
        for role in self.role_models:
            check_name("role", role, ROLES)
        check_language(self.language)
        self._check_sequences()
        check_named(self.model, "missions")

    def _check_sequences(self) -> None:
        for what, values in (("types", self.types), ("relations", self.relations)):
            if len(set(values)) != len(values):
                raise UsageError(f"{what}: each may stand once, got {', '.join(values)}")
        if not self.types:
            raise UsageError("types: expected at least one of single, multi, chat, clarify")
        if self.missions > 1 and not {"implicit", "ellipsis"} & set(self.relations):
            raise UsageError(
                "relations: a second mission can lean on the first by implicit or ellipsis alone; "
                "give one of them"
            )

    def shape(self) -> dict[str, JSON]:
        """Return the settings that shape the dialogues, without models and simulator."""
        return {
            "missions": self.missions,
            "types": list(self.types),
            "relations": list(self.relations),
            "cover": self.cover,
            "language": self.language,
            "seed": self.seed,
        }


class MissionOptions(TypedDict, total=False):
    """Fields of `MissionSettings`."""

    missions: int
    types: Sequence[MissionType]
    relations: Sequence[Relation]
    cover: int
    model: ModelChoice | Speakers | None
    role_models: Mapping[str, ModelChoice]
    model_options: Mapping[str, Any]
    base_url: str | None
    simulator: SimulatorChoice
    cache: CacheMode
    language: str
    limit: int | None
    workers: int
    seed: int
    name: str
    review: str | Path | None
    cache_dir: str | Path | None


def assignments(settings: MissionSettings) -> list[list[Assignment]]:
    """Return what is to be made, dialogue by dialogue.

    Relations are dealt out evenly among the missions of a place and type, memory from the third
    mission on.
    """
    seed = settings.seed
    sequences = type_sequences(settings.missions, settings.types, settings.cover)
    dealt = _relations(sequences, settings.relations, seed)
    made = []
    for number, sequence in enumerate(sequences):
        drawn = random.Random(f"{seed}/{number}/date")
        moment = timedelta(days=drawn.randrange(_DAYS), minutes=drawn.randrange(*_WAKING))
        date = (_YEAR + moment).strftime(DATE)
        missions = []
        for place, kind in enumerate(sequence):
            own = random.Random(f"{seed}/{number}/{place}").getrandbits(31)
            name, relation = f"d{number + 1:04d}", dealt[number][place]
            missions.append(Assignment(name, place, kind, relation, date, settings.language, own))
        made.append(missions)
    return made[: settings.limit]


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
