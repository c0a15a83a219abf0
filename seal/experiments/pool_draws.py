"""Settings by which experiments draw smaller pools and fewer queries from large pools.

`seal.pools.samples` says how a pool is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from seal.core import Pool, Query, Task, Tool, UsageError
from seal.core.canonical import derive_seed
from seal.core.text import counted
from seal.core.typed_values import Count, check_fields
from seal.retrievers import build_retriever, rank
from seal.retrievers.documents import documents

if TYPE_CHECKING:
    from seal.pools.samples import PoolSample

Size: TypeAlias = Count | Literal["all"]
"""Number of tools of a pool; "all": the whole pool."""
Distractors = Literal["uniform", "same_tool", "nearest"]
QueriesIn = Literal["closure", "seeds", "fixed"]

_Item = TypeVar("_Item")
_NEIGHBOURS = 50
"""How many tools count as near to a tool."""


@dataclass(frozen=True, kw_only=True)
class DrawnGroup:
    """Pools: which are drawn of larger ones, and what they are asked."""

    pool_sizes: Sequence[Size] = ("all",)
    """Draw pools of these numbers of tools, and take the whole pool: 50,100,200,500,1000,all."""
    samples: Count = 10
    """Number of pools to draw of each size."""
    distractors: Distractors = "uniform"
    """Which further tools fill a drawn pool.

    Any; first those of the same services; or first those that are most like the relevant ones by
    tf-idf.
    """
    queries_in: QueriesIn = "closure"
    """What a drawn pool is asked: all queries that it can answer (closure), those that it was drawn
    for (seeds), or the same at every size (fixed)."""
    nested: bool = True
    """Let the larger pools of a sample contain its smaller ones."""
    queries: Count | None = None
    """Number of queries to draw from each pool, so that all pools count alike."""


@dataclass(frozen=True, kw_only=True)
class Drawing(DrawnGroup):
    """Which pools are drawn from a large one, and which of their queries are asked."""

    def __post_init__(self) -> None:
        """Sort the sizes, each once, and reject values that no drawing can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes.
        """
        check_fields(self, k="cutoffs")
        object.__setattr__(self, "pool_sizes", _in_order(self.pool_sizes))


def _in_order(sizes: Sequence[Size]) -> tuple[Size, ...]:
    """Return the sizes ascending, each once; "all" is last."""
    numbers = sorted({size for size in sizes if size != "all"})
    return (*numbers, "all") if "all" in sizes else tuple(numbers)


def drawn_pools(
    tools: tuple[Tool, ...],
    tasks: tuple[Task, ...],
    sizes: Sequence[int],
    drawing: Drawing,
    seed: int,
) -> list[PoolSample]:
    """Return the drawn pools, by size ascending, then by sample.

    If all samples of the large pool's own size would be the same, there is one of them.

    Args:
        tools: Tools of the large pool.
        tasks: Tasks of the large pool.
        sizes: Numbers of tools; they replace `drawing.pool_sizes`.
        drawing: The rest of the protocol. Of `queries` only matters whether it is None.
        seed: Seed of all chance.

    Raises:
        UsageError: A size is beyond the pool or serves no query, or no task has relevant tools.
        DataError: A task needs a tool that the pool lacks.
    """
    from seal.pools.samples import sample_pools

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
    """Return a note if pools are drawn and none of them holds a distractor.

    Args:
        distractors: For each drawn pool, the number of tools that none of its queries needs.
        drawing: How the pools were drawn.
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
    """Return a function that finds the tools whose documents are most like those of given tools."""
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
    """The sample that queries are drawn in."""

    pool: str
    """Name of the large pool, for messages."""
    digest: str
    """Of the large pool."""
    size: Size
    sample: int


def drawn_queries(
    asked: Sequence[_Item], queries: int | None, seed: int, sampled: Sampled
) -> tuple[_Item, ...]:
    """Return the queries that are drawn in a sample, in their order.

    Args:
        asked: Queries to draw from.
        queries: How many are drawn; None: all.
        seed: Seed of the drawing.
        sampled: The sample.

    Raises:
        UsageError: There are fewer queries than are to be drawn.
    """
    if queries is None:
        return tuple(asked)
    size, sample = sampled.size, sampled.sample
    if queries > len(asked):
        raise UsageError(
            f"--queries {queries}: pool {sampled.pool} of size {size}, sample {sample}, "
            f"has {counted(len(asked), 'query')} with relevant tools; give at most {len(asked)}"
        )
    chance = random.Random(derive_seed(seed, "queries", sampled.digest, size, sample))
    rows = sorted(chance.sample(range(len(asked)), queries))
    return tuple(asked[row] for row in rows)
