"""Queries as they are proposed, before any filter has seen them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from seal.benchmarks.toolscan.query_generation.seeds import Seed
from seal.benchmarks.toolscan.query_generation.settings import Kind
from seal.core.types import JSON

MOST_CONSTRAINTS = 4
LEAST_CONSTRAINTS = 3


class GoldCall(NamedTuple):
    """A call that a query asks for."""

    tool: str
    """Id."""
    arguments: dict[str, JSON]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposed query."""

    text: str
    template: str
    """What it was worded by: texts of one template have the same frame."""
    calls: list[GoldCall] = field(default_factory=list)
    """Of a constraint, its gold; of the other kinds empty."""
    ask: str = ""
    """Of a constraint: the field of the result that is asked for; empty: none in particular."""
    reason: str = ""
    """Of an irrelevant one, why no tool serves it."""
    claim: str = ""
    """Of an irrelevant one: the words of the text that no tool serves."""
    about: list[str] = field(default_factory=list)
    """Words of which no offered tool may speak."""
    foreign: list[str] = field(default_factory=list)
    """Of a foreign parameter: the tool that has it, and its name."""


@dataclass(frozen=True, slots=True)
class Unusable:
    """An answer of a writer that is no candidate."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What was proposed for one seed and kind: a line of drafts.jsonl."""

    id: str
    """Kind, a slash, the seed's id."""
    seed: str
    kind: Kind
    candidates: list[Candidate]
    unusable: list[Unusable] = field(default_factory=list)


class Writer(Protocol):
    """Proposes queries: a grammar, or a model."""

    identity: dict[str, JSON]
    """What stands in the provenance: name, version, settings; nothing secret."""

    def write(
        self, kind: Kind, seed: Seed, count: int
    ) -> tuple[Sequence[Candidate], Sequence[Unusable]]:
        """Return candidates, best first, and answers that are none.

        Args:
            kind: Of query.
            seed: What they are made of.
            count: Queries that are wanted; more may be proposed, in case some are not taken.

        Raises:
            ModelError: The model's server failed.
        """
        ...


def draft_id(kind: Kind, seed: Seed) -> str:
    """Return the id of the draft of a seed and kind."""
    return f"{kind}/{seed.id}"
