"""The settings of an experiment in retrieval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias

from seal.core import CacheMode
from seal.core.field_docs import with_field_docs
from seal.core.secrets import refuse_secret
from seal.core.typed_values import Count
from seal.experiments.pool_draws import Drawing
from seal.pools.task_order import told_of
from seal.runs.settings import check_seed

Perturbation: TypeAlias = Literal[
    "typos", "paraphrase", "german", "spanish", "renamed", "undescribed"
]
"""A rule of `seal.experiments.retrieval.robustness`."""


@dataclass(frozen=True, kw_only=True)
class RetrieverGroup:
    """Retrieval: which retrievers rank, and to which ranks they are measured."""

    options: Mapping[str, Any] = field(default_factory=dict)
    """Option for every retriever that has it; repeatable."""
    k: tuple[Count, ...] = (1, 5, 10)
    """Values of K for recall@K and similar metrics.

    The largest is the length of a ranking.
    """


@dataclass(frozen=True, kw_only=True)
class TaskGroup:
    """Tasks: which are asked."""

    seed: int = 0
    """Seed of everything that is drawn at random.

    Pools, queries, random retrieval and intervals depend on it.
    """
    select: Mapping[str, str] = field(default_factory=dict)
    """Take only tasks with this tag, or with id=ID; * matches any text. Repeatable."""
    limit: Count | None = None
    """Take N tasks of each pool whose tags represent all of its tasks.

    A larger limit includes a smaller one.
    """
    first: Count | None = None
    """Take the first N tasks of each pool."""
    held_out: str | Path | None = None
    """Folder of seal.split, or of a model with its training.json: of the pool that was split, ask
    only what was held out."""
    perturb: tuple[Perturbation, ...] = ()
    """Measure each pool with changed words too: typos, paraphrase, german, spanish, renamed,
    undescribed; repeatable."""


@dataclass(frozen=True, kw_only=True)
class KeptGroup:
    """Output: what is written and kept, and what is printed."""

    cache: CacheMode = "record"
    """Cached embeddings: keep and reuse them (record), only reuse them (replay), or neither
    (off)."""
    cache_dir: str | Path | None = None
    """Folder for cached embeddings and indexes."""
    prices: str | Path | None = None
    """JSON file of prices for a million tokens; they come before those that ship."""


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class RetrievalSettings(KeptGroup, TaskGroup, RetrieverGroup, Drawing):
    """What `seal retrieve` measures over its pools and retrievers.

    A pool skips sizes that are larger than itself. The whole pool is measured once with all its
    queries; if queries are drawn, it is measured in every sample.
    """

    def __post_init__(self) -> None:
        """Sort the numbers, each once, and reject values that no experiment can have.

        Raises:
            UsageError: The text names the flag, what it got and what it takes. Or an option holds a
                key of a service, which would be written to results.json.
        """
        super().__post_init__()
        refuse_secret("", self.options, "options")
        check_seed(self.seed)
        object.__setattr__(self, "k", tuple(sorted(set(self.k))))

    def protocol(self) -> dict[str, Any]:
        """Return the settings that shape the figures, for results.json, without the options.

        Each retriever's entry has its options.
        """
        apart = ("options", "cache", "cache_dir", "first", "prices")
        names = ["k", *(field.name for field in fields(self) if field.name != "k")]
        shaping = {name: _plain(getattr(self, name)) for name in names if name not in apart}
        return shaping | told_of(self)


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
