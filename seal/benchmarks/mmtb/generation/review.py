"""Wordings put before a person, and the person's choices taken back.

The file is a JSON list with an entry a mission, in the order of the dialogues:

    {"dialogue": "d0001", "mission": 0, "type": "single", "relation": null,
     "candidates": ["...", "..."], "choice": "...", "dropped": ""}

`choice` is what the user spoke: the first candidate at first. Another candidate, its number from 1,
or words of the person's own are taken the next time: the dialogue is made again from that mission
on, what came before stays. Words of one's own stay in force whatever becomes of the candidates; a
chosen candidate only as long as the candidates are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from seal.benchmarks.mmtb.generation.dialogues import Made
from seal.benchmarks.mmtb.generation.scenes import Assignment
from seal.core.errors import DataError, shortened
from seal.core.records import AtomicFile, to_plain
from seal.core.types import JSON
from seal.pools.reading.records import field as read_field


@dataclass(frozen=True, slots=True)
class _Entry:
    candidates: tuple[str, ...]
    choice: str

    def fits(self, candidates: Sequence[str]) -> bool:
        return self.choice not in self.candidates or tuple(candidates) == self.candidates


@dataclass(frozen=True, slots=True)
class Review:
    """Choices of a person; without any, the first wording is taken."""

    entries: Mapping[tuple[str, int], _Entry] = field(default_factory=dict)
    """By dialogue and mission."""

    @classmethod
    def read(cls, path: Path | None) -> Review:
        """Return the choices that a file holds; none where there is no file yet.

        Raises:
            DataError: It is malformed; the text names the entry.
        """
        if path is None or not path.exists():
            return cls()
        try:
            records = orjson.loads(path.read_bytes())
        except (OSError, orjson.JSONDecodeError) as error:
            raise DataError(f"{path}: not readable as JSON: {error}") from error
        if not isinstance(records, list):
            raise DataError(f"{path}: expected a list of entries, got {shortened(records)}")
        entries = {}
        for position, record in enumerate(records):
            try:
                key, entry = _read(record)
            except DataError as error:
                raise DataError(f"{path}: entry {position}: {error}") from error
            if key in entries:
                raise DataError(f"{path}: entry {position}: {key[0]}, mission {key[1]} again")
            entries[key] = entry
        return cls(entries)

    def check(self, wanted: Iterable[Sequence[Assignment]]) -> None:
        """Make sure that every choice is about a mission that is to be made.

        Raises:
            DataError: One is about another.
        """
        known = {(one.dialogue, one.number) for missions in wanted for one in missions}
        for dialogue, number in self.entries:
            if (dialogue, number) not in known:
                raise DataError(
                    f"the review has a choice for what is not made: there is no mission {number} "
                    f"of a dialogue {dialogue!r}; take out its entry, or the file"
                )

    def choice(self, assignment: Assignment, candidates: Sequence[str]) -> str:
        """Return the wording that a mission takes; empty where there is none."""
        entry = self.entries.get((assignment.dialogue, assignment.number))
        if entry is not None and entry.choice and entry.fits(candidates):
            return entry.choice
        return next((text.strip() for text in candidates if text.strip()), "")

    def unchanged(self, made: Made, assignments: Sequence[Assignment]) -> int:
        """Return how many of a dialogue's first missions were made of what is chosen now."""
        for number, (take, assignment) in enumerate(zip(made.takes, assignments, strict=False)):
            if self.choice(assignment, take.candidates) != take.choice:
                return number
        return len(made.takes)


def write_review(path: Path, dialogues: Iterable[tuple[Made, Sequence[Assignment]]]) -> None:
    """Write the candidates and choices of dialogues, for a person to look through."""
    entries = [entry for made, missions in dialogues for entry in _entries(made, missions)]
    text = orjson.dumps(to_plain(entries), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    with AtomicFile(path) as file:
        file.write(text)


def _entries(made: Made, assignments: Sequence[Assignment]) -> Iterator[dict[str, JSON]]:
    for take, assignment in zip(made.takes, assignments, strict=False):
        drop = made.dropped
        here = drop is not None and drop.mission == assignment.number
        yield {
            "dialogue": made.id,
            "mission": assignment.number,
            "type": assignment.kind,
            "relation": assignment.relation,
            "candidates": list(take.candidates),
            "choice": take.choice,
            "dropped": drop.text if here and drop else "",
        }


def _read(record: Any) -> tuple[tuple[str, int], _Entry]:
    key = read_field(record, "dialogue", str), read_field(record, "mission", int)
    candidates = read_field(record, "candidates", list)
    choice = record.get("choice")
    if isinstance(choice, int) and not isinstance(choice, bool):
        if not 1 <= choice <= len(candidates):
            raise DataError(f"choice: expected 1 to {len(candidates)}, or words, got {choice}")
        choice = candidates[choice - 1]
    if not isinstance(choice, str) or not all(isinstance(text, str) for text in candidates):
        raise DataError(f"choice and candidates: expected texts, got {shortened(record)}")
    return key, _Entry(tuple(candidates), choice.strip())
