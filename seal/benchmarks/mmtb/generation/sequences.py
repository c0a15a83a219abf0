"""Which missions a set of dialogues is made of: their types, relations, dates and seeds.

Up to four missions every sequence of types is made, in the order of counting; of more missions a
covering array: each window of a de Bruijn cycle, so that at every place every run of `cover` types
occurs exactly once. A smaller set could not do that.

Source: "Multi-Mission Tool Bench" (2025), the mission switching space; the covering array is ours.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import product

from seal.benchmarks.mmtb.dialogues import MissionType
from seal.benchmarks.mmtb.generation.scenes import Assignment, Relation
from seal.core.errors import UsageError

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
