"""Everything that an experiment in retrieval can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from seal.core.errors import UnknownNameError, UsageError
from seal.core.protocols import CacheMode
from seal.core.secrets import refuse_secret

Size: TypeAlias = int | Literal["all"]
"""Tools of a pool; "all": the pool as it stands."""
Distractors = Literal["uniform", "same_tool", "nearest"]
QueriesIn = Literal["closure", "seeds", "fixed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalSettings:
    """What `seal retrieve` measures over its pools and retrievers."""

    k: tuple[int, ...] = (1, 5, 10)
    """Cut-offs; the largest is the length of a ranking."""
    pool_sizes: tuple[Size, ...] = ("all",)
    """Sizes of the pools that are drawn; a pool that is smaller than one of them leaves it out."""
    samples: int = 10
    """Pools drawn of each size, and draws of `queries`; the whole pool with all its queries is
    measured once."""
    distractors: Distractors = "uniform"
    """What fills a drawn pool up: any tools, those of the same services first, or those most like
    the relevant ones by tf-idf first."""
    queries_in: QueriesIn = "closure"
    """Tasks that are asked: all that a drawn pool can answer, those that it was drawn for, or the
    same ones at every size."""
    nested: bool = True
    """True: of one sample, every pool lies inside the larger ones."""
    queries: int | None = None
    """Queries that are drawn of each pool in each sample, so that pools count alike; None: all."""
    seed: int = 0
    """Of everything drawn: pools, queries, random retrieval, intervals."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Of the retrievers; each takes those that it knows."""
    select: Mapping[str, str] = field(default_factory=dict)
    """Tag to the value that a task must have."""
    limit: int | None = None
    """At most so many tasks of each pool."""
    held_out: str | Path | None = None
    """Folder of a trained model: of the pool that it was trained on, only the tasks held out of
    its training are asked, of every retriever; None: all tasks."""
    cache: CacheMode = "record"
    """Of embeddings."""
    cache_dir: str | Path | None = None
    """Folder of indexes and answers; None: SEAL_CACHE_DIR, else the user's cache folder."""

    def __post_init__(self) -> None:
        """Put numbers in order, each once, and reject values that no experiment can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes; or an option that is a key
                of a service, for options are written to results.json.
        """
        refuse_secret("", self.options, "options")
        check_above_zero("cutoffs", self.k)
        check_above_zero("pool-sizes", [size for size in self.pool_sizes if size != "all"])
        if not self.k or not self.pool_sizes:
            raise UsageError("--cutoffs and --pool-sizes need at least one number, such as 1,5,10")
        for flag in ("samples", "queries", "limit"):
            if getattr(self, flag) is not None:
                check_above_zero(flag, [getattr(self, flag)])
        check_known("distractors", self.distractors, get_args(Distractors))
        check_known("queries_in", self.queries_in, get_args(QueriesIn))
        check_known("cache", self.cache, get_args(CacheMode))
        object.__setattr__(self, "k", tuple(sorted(set(self.k))))
        object.__setattr__(self, "pool_sizes", in_order(self.pool_sizes))

    def protocol(self) -> dict[str, Any]:
        """Return what shapes the figures, for results.json; options stand with each retriever."""
        apart = ("options", "cache", "cache_dir")
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: _plain(value) for name, value in values.items() if name not in apart}


def _plain(value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


def in_order(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    """Return the sizes ascending, each once; "all" stands last."""
    numbers = sorted({size for size in sizes if size != "all"})
    return (*numbers, "all") if "all" in sizes else tuple(numbers)


def check_above_zero(flag: str, numbers: Any) -> None:
    """Raise UsageError where one of the values of a flag is no whole number of at least 1."""
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise UsageError(f"--{flag} {number!r}: expected whole numbers of at least 1")


def check_known(setting: str, value: Any, known: tuple[str, ...]) -> None:
    """Raise UnknownNameError where a setting has none of its known values."""
    if value not in known:
        raise UnknownNameError(f"value of {setting}", str(value), known)
