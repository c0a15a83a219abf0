"""The settings of an experiment in retrieval."""

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

    A pool skips sizes that are larger than itself. The whole pool is measured once with all its
    queries; if queries are drawn, it is measured in every sample.
    """

    k: tuple[Count, ...] = (1, 5, 10)
    """Cut-offs; the largest is the length of a ranking."""
    seed: int = 0
    """Seed of everything drawn: pools, queries, random retrieval, intervals."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the retrievers; each takes those that it knows."""
    select: Mapping[str, str] = field(default_factory=dict)
    """Tag to the value that a task must have."""
    limit: Count | None = None
    """Most tasks of each pool, a representative sample. A larger limit includes a smaller one."""
    first: Count | None = None
    """Most tasks of each pool, from the head of its file."""
    held_out: str | Path | None = None
    """Folder of a trained model. From the pool that it was trained on, every retriever is asked
    only the tasks held out of the training. None: all tasks."""
    perturb: tuple[Perturbation, ...] = ()
    """Rules that change the wording of each pool; the changed pool is measured beside it."""
    cache: CacheMode = "record"
    """How kept embeddings are used."""
    cache_dir: str | Path | None = None
    """Folder of indexes and answers; None: SEAL_CACHE_DIR, else the user's cache folder."""
    prices: str | Path | None = None
    """File of prices that replace the shipped ones (`seal.runs.spending.prices`)."""
    cache_url: str | None = field(default=None, repr=False)
    """Database of the answers, instead of a file there; None: SEAL_CACHE_URL."""

    def __post_init__(self) -> None:
        """Sort the numbers, each once, and reject values that no experiment can have.

        Raises:
            UsageError: The text names the flag, what it got and what it takes. Or an option holds a
                key of a service, which would be written to results.json.
        """
        Drawing.__post_init__(self)  # slots leave no super()
        refuse_secret("", self.options, "options")
        check_seed(self.seed)
        object.__setattr__(self, "k", tuple(sorted(set(self.k))))

    def protocol(self) -> dict[str, Any]:
        """Return the settings that shape the figures, for results.json, without the options.

        Each retriever's entry has its options.
        """
        apart = ("options", "cache", "cache_dir", "cache_url", "first", "prices")
        names = ["k", *(field.name for field in fields(self) if field.name != "k")]
        shaping = {name: _plain(getattr(self, name)) for name in names if name not in apart}
        return shaping | told_of(self)


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value
