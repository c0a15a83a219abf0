"""Smaller pools and fewer queries, drawn from large pools: what every experiment is told of it.

`seal.pools.samples` says how a pool is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from seal.core import Pool, Query, Task, Tool, UsageError
from seal.core.canonical import derive_seed
from seal.core.typed_values import Count, check_fields
from seal.pools.samples import PoolSample, sample_pools
from seal.retrievers import build_retriever, rank
from seal.retrievers.documents import documents

Size: TypeAlias = Count | Literal["all"]
"""Tools of a pool; "all": the pool as it stands."""
Distractors = Literal["uniform", "same_tool", "nearest"]
QueriesIn = Literal["closure", "seeds", "fixed"]

_Item = TypeVar("_Item")
_NEIGHBOURS = 50
"""Tools that count as near to one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """Which pools are drawn of a large one, and which of their queries are asked."""

    pool_sizes: Sequence[Size] = ("all",)
    """Tools of the drawn pools; "all": the whole pool."""
    samples: Count = 10
    """Pools drawn of each size."""
    distractors: Distractors = "uniform"
    """What fills a drawn pool up: any tools, those of the same services first, or those most like
    the relevant ones by tf-idf first."""
    queries_in: QueriesIn = "closure"
    """Tasks that are asked: all that a drawn pool can answer, those that it was drawn for, or the
    same ones at every size."""
    nested: bool = True
    """True: of one sample, every pool lies inside the larger ones."""
    queries: Count | None = None
    """Queries that are drawn of each pool, so that pools count alike; None: all."""

    def __post_init__(self) -> None:
        """Put sizes in order, each once, and reject values that no drawing can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes.
        """
        check_fields(self, k="cutoffs")
        object.__setattr__(self, "pool_sizes", _in_order(self.pool_sizes))


def _in_order(sizes: Sequence[Size]) -> tuple[Size, ...]:
    """Return the sizes ascending, each once; "all" stands last."""
    numbers = sorted({size for size in sizes if size != "all"})
    return (*numbers, "all") if "all" in sizes else tuple(numbers)


def drawn_pools(
    tools: tuple[Tool, ...],
    tasks: tuple[Task, ...],
    sizes: Sequence[int],
    drawing: Drawing,
    seed: int,
) -> list[PoolSample]:
    """Return the pools that are drawn, sizes ascending, of each size sample by sample.

    Of the large pool's own size there is one sample where all would be the same.

    Args:
        tools: Of the large pool.
        tasks: Of the large pool.
        sizes: Numbers of tools, which stand for `drawing.pool_sizes`.
        drawing: The rest of the protocol; of `queries`, only whether there is one.
        seed: Of all chance.

    Raises:
        UsageError: A size is beyond the pool or serves no query, or no task has relevant tools.
        DataError: A task needs a tool that the pool lacks.
    """
    found = sample_pools(
        tools,
        tasks,
        sizes,
        drawing.samples,
        seed,
        distractors=drawing.distractors,
        queries=drawing.queries_in,
        nested=drawing.nested,
        neighbours=_nearest_tools(tools) if drawing.distractors == "nearest" else None,
    )
    # Closure makes every sample of the whole pool the same one.
    once = drawing.queries_in == "closure" and drawing.queries is None
    drawn = [pool for pool in found if not (once and pool.size == len(tools) and pool.sample)]
    return sorted(drawn, key=lambda pool: (pool.size, pool.sample))


def without_distractors(distractors: Iterable[int | None], drawing: Drawing) -> list[str]:
    """Return a sentence where pools are drawn and none of them holds a distractor.

    Args:
        distractors: Of each drawn pool, how many tools none of its queries needs.
        drawing: How they were drawn.
    """
    counts = list(distractors)
    if not counts or any(counts):
        return []
    return [
        f"no drawn pool holds a distractor, so --distractors {drawing.distractors} has no effect: "
        "queries were drawn until the tools that they need filled each pool; "
        "--queries-in fixed with several --pool-sizes asks the queries of the smallest pool at "
        "every size and fills the larger ones with distractors"
    ]


def _nearest_tools(
    tools: tuple[Tool, ...],
) -> Callable[[Sequence[str]], Mapping[str, Sequence[str]]]:
    """Return the function that finds the tools whose documents are most like some tools'."""
    retriever = build_retriever("tfidf", Pool(tools))
    texts = dict(zip([tool.id for tool in tools], documents(tools), strict=True))

    def nearest(ids: Sequence[str]) -> dict[str, list[str]]:
        queries = [Query(texts[tool], tool) for tool in ids]
        return {
            found.task_id: [tool for tool, _ in found.hits if tool != found.task_id]
            for found in rank(retriever, queries, _NEIGHBOURS + 1)
        }

    return nearest


@dataclass(frozen=True, slots=True)
class Sampled:
    """The one of several samples that queries are drawn in."""

    pool: str
    """Name of the large pool, for messages."""
    digest: str
    """Of the large pool."""
    size: Size
    sample: int


def drawn_queries(
    asked: Sequence[_Item], queries: int | None, seed: int, sampled: Sampled
) -> tuple[_Item, ...]:
    """Return so many of the queries as are drawn in a sample, in their order; None: all of them.

    Raises:
        UsageError: There are fewer.
    """
    if queries is None:
        return tuple(asked)
    size, sample = sampled.size, sampled.sample
    if queries > len(asked):
        raise UsageError(
            f"--queries {queries}: pool {sampled.pool} of size {size}, sample {sample}, "
            f"has {len(asked)} queries with relevant tools; give at most {len(asked)}"
        )
    chance = random.Random(derive_seed(seed, "queries", sampled.digest, size, sample))
    rows = sorted(chance.sample(range(len(asked)), queries))
    return tuple(asked[row] for row in rows)
