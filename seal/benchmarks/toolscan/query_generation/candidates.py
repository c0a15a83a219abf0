"""What a generation of queries is told, and queries as they are proposed, before any filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, get_args

from seal.core import JSON, UsageError
from seal.core.field_docs import with_field_docs
from seal.core.typed_values import Count, Within, check_fields
from seal.experiments.generation.writer_group import WriterGroup
from seal.runs.settings import ModelChoice

Kind = Literal["constraint", "paraphrase", "irrelevance"]
"""What is made of a seed. Source: Kokane et al. (2024), the augmentation of queries."""
KINDS: tuple[Kind, ...] = get_args(Kind)

MOST_CONSTRAINTS = 4
LEAST_CONSTRAINTS = 3


@dataclass(frozen=True, kw_only=True)
class QueryGroup:
    """Queries: which are made, of how many seeds."""

    kinds: Sequence[Kind] = KINDS
    """Kinds of queries: constraint (three or four on arguments), paraphrase (other words),
    irrelevance (what no tool serves)."""
    per_seed: Annotated[int, Within(least=1, most=100)] = 1
    """Most queries of each kind for a seed."""
    limit: Count | None = None
    """Most seeds; the same command may ask for more later."""
    seed: int = 0
    """Seed of chance; another one gives other queries."""


@dataclass(frozen=True, kw_only=True)
class ReviewGroup:
    """Pool and review: what is read and made, and what a person refuses."""

    name: str = ""
    """Name of the new pool.  [default: that of its folder]"""
    review: str | Path | None = field(default=None, metadata={"metavar": "FILE.csv"})
    """File for the queries that pass; refusals and wordings that you edit in it are used."""
    allow_code: Sequence[str] = ()


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class QuerySettings(QueryGroup, WriterGroup, ReviewGroup):
    """Settings of one generation.

    Raises:
        UnknownNameError: A kind is unknown.
        UsageError: There is no kind, or a number is out of range.
    """

    def __post_init__(self) -> None:
        """Reject what cannot be."""
        check_fields(self)
        if not self.kinds:
            raise UsageError(f"kinds: expected at least one of {', '.join(KINDS)}")

    def shape(self) -> dict[str, JSON]:
        """Return the settings that shape the queries."""
        return {"kinds": list(self.kinds), "per_seed": self.per_seed, "seed": self.seed}


class QueryOptions(TypedDict, total=False):
    """Fields of `QuerySettings`."""

    kinds: Sequence[Kind]
    per_seed: int
    limit: int | None
    seed: int
    model: ModelChoice | None
    model_options: Mapping[str, Any] | None
    base_url: str | None
    name: str
    review: str | Path | None
    allow_code: Sequence[str]


class GoldCall(NamedTuple):
    """A call that a query asks for."""

    tool: str
    """Id."""
    arguments: dict[str, JSON]


@dataclass(frozen=True, slots=True)
class Candidate:
    """One proposed query."""

    text: str
    template: str = ""
    """Empty; the grammar of earlier versions named its frame here."""
    calls: list[GoldCall] = field(default_factory=list)
    """Of a constraint, its gold; of the other kinds empty."""
    ask: str = ""
    """Empty; the grammar of earlier versions named a field of the result here."""
    reason: str = ""
    """Of an irrelevant one, why no tool serves it."""
    claim: str = ""
    """Of an irrelevant one: the words of the text that no tool serves."""
    about: list[str] = field(default_factory=list)
    """Empty; the grammar of earlier versions named words here of which no tool may speak."""
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

    @classmethod
    def of(cls, id: str, seed: str, kind: Kind, found: Sequence[Candidate | Unusable]) -> Draft:
        """Return the draft of what a writer found."""
        candidates = [one for one in found if isinstance(one, Candidate)]
        return cls(id, seed, kind, candidates, [one for one in found if isinstance(one, Unusable)])


@dataclass(frozen=True, slots=True)
class Request:
    """A call in words, for a tool of a pool without tasks: a line of requests.jsonl."""

    id: str
    """The seed's."""
    text: str
    """Empty: no answer of the model states all that the call takes."""
    unusable: list[Unusable] = field(default_factory=list)
