"""Everything that an experiment in retrieval can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias

from seal.core import CacheMode
from seal.core.secrets import refuse_secret
from seal.core.typed_values import Count
from seal.experiments.pool_draws import Drawing
from seal.pools.order import told_of
from seal.runs.settings import check_seed

Perturbation: TypeAlias = Literal[
    "typos", "paraphrase", "german", "spanish", "renamed", "undescribed"
]
"""A rule of `seal.experiments.retrieval.robustness`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings(Drawing):
    """What `seal retrieve` measures over its pools and retrievers.

    A pool that is smaller than one of the sizes leaves it out. The whole pool is measured once with
    all its queries, and in every sample where queries are drawn.
    """

    k: tuple[Count, ...] = (1, 5, 10)
    """Cut-offs; the largest is the length of a ranking."""
    seed: int = 0
    """Of everything drawn: pools, queries, random retrieval, intervals."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the retrievers; each takes those that it knows."""
    select: Mapping[str, str] = field(default_factory=dict)
    """Tag to the value that a task must have."""
    limit: Count | None = None
    """At most so many tasks of each pool, which stand for all; a larger limit holds a smaller."""
    first: Count | None = None
    """At most so many tasks from the head of each pool's file."""
    held_out: str | Path | None = None
    """Folder of a trained model: of the pool that it was trained on, only the tasks held out of
    its training are asked, of every retriever; None: all tasks."""
    perturb: tuple[Perturbation, ...] = ()
    """Rules by which each pool is measured in other words too, as a pool of its own."""
    cache: CacheMode = "record"
    """Of embeddings."""
    cache_dir: str | Path | None = None
    """Folder of indexes and answers; None: SEAL_CACHE_DIR, else the user's cache folder."""
    prices: str | Path | None = None
    """File of prices that go before the shipped ones (`seal.runs.spending.prices`)."""
    cache_url: str | None = field(default=None, repr=False)
    """Database of the answers, instead of a file there; None: SEAL_CACHE_URL."""

    def __post_init__(self) -> None:
        """Put numbers in order, each once, and reject values that no experiment can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes; or an option that is a key
                of a service, for options are written to results.json.
        """
        Drawing.__post_init__(self)  # slots leave no super()
        refuse_secret("", self.options, "options")
        check_seed(self.seed)
        object.__setattr__(self, "k", tuple(sorted(set(self.k))))

    def protocol(self) -> dict[str, Any]:
        """Return what shapes the figures, for results.json; options stand with each retriever."""
        apart = ("options", "cache", "cache_dir", "cache_url", "first", "prices")
        names = ["k", *(field.name for field in fields(self) if field.name != "k")]
        shaping = {name: _plain(getattr(self, name)) for name in names if name not in apart}
        return shaping | told_of(self)


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
