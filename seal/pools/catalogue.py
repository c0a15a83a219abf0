"""The catalogue: every benchmark that ships or can be imported, out of `catalogue.json`."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any

from seal.core import UnknownNameError
from seal.core.package_data import shipped_json

STAGES = ("retrieval", "calls", "arguments", "state", "conversation", "final answer")
"""What can be scored, in the order of a chat."""

_GOLD_OF_STAGE = {
    "retrieval": "relevant",
    "calls": "calls",
    "arguments": "arguments",
    "state": "state",
    "conversation": "turns",
    "final answer": "answers",
}


@dataclass(frozen=True, slots=True)
class PaperCounts:
    """A column of Table 1 of the SEAL paper."""

    queries: int
    multi_step: int
    tools_per_query: float
    tools_with_queries: int
    tools: int


@dataclass(frozen=True, slots=True)
class Card:
    """One benchmark."""

    name: str
    """What `seal run`, `seal retrieve` and `seal fetch` call it."""
    title: str
    about: str
    """What it is, in a sentence or two."""
    gold: tuple[str, ...]
    """What its import gives, or, where there is no importer, what it has: relevant (tools), calls,
    arguments, state, turns (of a conversation), answers, verdicts (of recorded runs)."""
    licence: str
    where: str
    """Where its files are, and what stands in the way."""
    aliases: tuple[str, ...] = ()
    """Other names of it."""
    importer: str | None = None
    """Name of the importer; None: it ships, or there is none yet."""
    folder: str | None = None
    """Its folder under SEAL_DATA; None: it is not looked for."""
    beside: tuple[str, ...] = ()
    """Folders beside that one which its importer may read; a change in any makes its pool anew."""
    options: dict[str, Any] = field(default_factory=dict)
    """Of the importer, where it is opened by name."""
    statistics: str | None = None
    """Function of tasks and trajectories, as `module:attribute`, whose figures are told besides the
    counts; None: there is none."""
    status: str = ""
    """What is missing: an importer, a part of it, or files that nobody publishes."""
    repository: str | None = None
    """`owner/name` at GitHub."""
    commit: str | None = None
    """Of the files that the importer was tried on; None: not recorded."""
    files: str | None = None
    """List of pinned files, below `benchmarks` (`seal.pools.downloads`); None: nothing to fetch."""
    prefix: str = ""
    """What stands before the files' paths in the repository."""
    paper: str | None = None
    paper_counts: PaperCounts | None = None
    """What the SEAL paper's Table 1 says; None: the paper does not have it."""
    paper_part: str = ""
    """The part of the benchmark that the paper counts."""
    difference: str = ""
    """Why our counts are not the paper's."""

    @property
    def command(self) -> str | None:
        """The command that imports it; None where there is none."""
        if self.importer is None:
            return None
        options = "".join(f" -T {key}={value}" for key, value in self.options.items())
        return f"seal import {self.importer} SOURCE --out POOL{options}"


@cache
def catalogue() -> dict[str, Card]:
    """Return every benchmark by name, in the order of the catalogue."""
    records = shipped_json("seal.pools", "catalogue.json")
    return {record["name"]: _entry(record) for record in records}


def find_entry(name: str) -> Card:
    """Return the benchmark of a name or alias.

    Raises:
        UnknownNameError: There is none; lists the names.
    """
    entry = by_any_name().get(name)
    if entry is None:
        raise UnknownNameError("benchmark", name, by_any_name())
    return entry


@cache
def by_any_name() -> dict[str, Card]:
    """Return every benchmark by its name and by each of its aliases."""
    return {name: entry for entry in catalogue().values() for name in (entry.name, *entry.aliases)}


def stages(gold: tuple[str, ...] | frozenset[str]) -> dict[str, str]:
    """Return how each of `STAGES` can be scored with such gold.

    Returns:
        Stage to `gold`, `judge` (a final answer, by a judge alone) or an empty text (not at all:
        without any gold there are no tasks either).
    """
    found = {stage: "gold" if kind in gold else "" for stage, kind in _GOLD_OF_STAGE.items()}
    if gold and not found["final answer"]:
        found["final answer"] = "judge"
    return found


def _entry(record: dict[str, Any]) -> Card:
    counts = record.get("paper_counts")
    plain = {**record, "paper_counts": None if counts is None else PaperCounts(**counts)}
    for name in ("gold", "aliases", "beside"):
        plain[name] = tuple(record.get(name, ()))
    return Card(**plain)
