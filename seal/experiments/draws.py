"""Which tools and queries are measured: pools drawn from pools, and drawn queries."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from seal.core import Pool, Query, Task, Tool, UsageError
from seal.core.text import counted
from seal.core.values import derive_seed
from seal.experiments.settings import RetrievalSettings, Size
from seal.pools.benchmark import Benchmark
from seal.pools.lookup import Bench, open_pool
from seal.pools.pool import StoredPool
from seal.retrievers.base import documents
from seal.retrievers.build import build_retriever, rank

if TYPE_CHECKING:
    from seal.experiments.settings import Drawing
    from seal.pools.samples import PoolSample


# -- Smaller pools, and fewer queries, drawn from large pools.
#
# `seal.pools.samples` says how a pool is drawn.

_Item = TypeVar("_Item")
_NEIGHBOURS = 50
"""How many tools count as near to a tool."""


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


# -- Which tools and queries are measured: whole pools, drawn pools, drawn queries.


@dataclass(frozen=True, slots=True)
class Source:
    """One pool of the experiment, read."""

    label: str
    """The name that it was asked by, or that its folder has; no two pools have the same."""
    name: str
    digest: str
    tools: tuple[Tool, ...]
    tasks: tuple[Task, ...]
    """Those that are asked."""
    all_tasks: tuple[Task, ...] = ()
    """All of the pool; empty where no retriever learns from them."""

    def to_json(self) -> dict[str, Any]:
        """Return {pool, pool_digest, tools, tasks} for results.json."""
        return {
            "pool": self.label,
            "pool_digest": self.digest,
            "tools": len(self.tools),
            "tasks": len(self.tasks),
        }


@dataclass(frozen=True, slots=True)
class Draw:
    """What one sample measures of a ranked pool."""

    sample: int
    queries: tuple[tuple[str, int], ...]
    """(task id, goal) of every query that has relevant tools."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Tools that are ranked once for some tasks, and the samples that this serves."""

    source: Source
    size: Size
    tools: tuple[Tool, ...]
    tasks: tuple[Task, ...]
    digest: str
    draws: tuple[Draw, ...]
    drawn_alone: bool = False
    """True: only the queries of the draws are ranked, not every goal of the tasks."""
    distractors: int | None = None
    """Tools of a drawn pool that none of its seed queries needs; None: of the whole pool."""

    @property
    def goals(self) -> list[tuple[Task, int]]:
        """The goals that are ranked: each task with the position of one."""
        drawn = {query for draw in self.draws for query in draw.queries}
        return [
            (task, position)
            for task in self.tasks
            for position in range(len(task.goals))
            if not self.drawn_alone or (task.id, position) in drawn
        ]

    @property
    def whole(self) -> bool:
        """True where this is the pool as it stands."""
        return self.size == "all"


def open_sources(
    pools: Sequence[Bench], settings: RetrievalSettings, learns: bool = False
) -> list[Source]:
    """Return the pools, read and labelled.

    Args:
        pools: Names or folders.
        settings: Which tasks are asked.
        learns: Whether a retriever needs all tasks.

    Raises:
        UnknownNameError: No such pool.
        UsageError: No task has the tags of `select`.
        DataError: A pool is malformed, or has no task.
    """
    opened = [open_pool(place) for place in pools]
    labels = distinct(_names(pools, opened))
    return [_read(*pair, settings, learns) for pair in zip(opened, labels, strict=True)]


def _names(places: Sequence[Bench], opened: Sequence[StoredPool]) -> list[str]:
    """Return the names that pools are asked by, and of folders the benchmarks'.

    Several folders of one benchmark have the folder's name too.
    """
    benchmarks = Counter(pool.name for pool in opened)
    names = []
    for place, pool in zip(places, opened, strict=True):
        folder = pool.folder.resolve().name
        if isinstance(place, Benchmark):
            names.append(place.name)
        elif not Path(place).is_dir():
            names.append(str(place))
        elif benchmarks[pool.name] > 1 and folder != pool.name:
            names.append(f"{pool.name}:{folder}")
        else:
            names.append(pool.name)
    return names


def distinct(names: Sequence[str]) -> list[str]:
    """Return the names with `-2`, `-3`... after each that stood before."""
    labels: list[str] = []
    for name in names:
        number = 1
        label = name
        while label in labels:
            number += 1
            label = f"{name}-{number}"
        labels.append(label)
    return labels


def _read(pool: StoredPool, label: str, settings: RetrievalSettings, learns: bool) -> Source:
    tasks = tuple(pool.chosen(settings))
    all_tasks = tuple(pool.tasks()) if learns else ()
    return Source(label, pool.name, pool.digest, pool.tools(), tasks, all_tasks)


def left_out(sources: Sequence[Source], settings: RetrievalSettings) -> list[str]:
    """Return a sentence for every pool that is smaller than some of the sizes.

    Raises:
        UsageError: No pool has as many tools as one of the sizes.
    """
    largest = max(len(source.tools) for source in sources)
    beyond = [size for size in settings.pool_sizes if size != "all" and size > largest]
    if beyond:
        raise UsageError(
            f"--pool-sizes {beyond[0]}: the largest pool has {counted(largest, 'tool')}; "
            f"give at most {largest}, or all"
        )
    return [
        f"{source.label} has {counted(len(source.tools), 'tool')}: no pools of "
        f"{_listed(missing)} were drawn"
        for source in sources
        if (missing := [size for size in settings.pool_sizes if not _fits(size, source)])
    ]


def _listed(sizes: Sequence[Size]) -> str:
    return ", ".join(map(str, sizes))


def _fits(size: Size, source: Source) -> bool:
    return size == "all" or size <= len(source.tools)


def draw(source: Source, settings: RetrievalSettings) -> list[Ranked]:
    """Return what is ranked of a pool, sizes ascending, the whole pool last.

    Raises:
        UsageError: No query survives in a drawn pool, or fewer than `queries` do.
    """
    sizes = [size for size in settings.pool_sizes if size != "all" and size <= len(source.tools)]
    parts = list(_drawn_pools(source, sizes, settings)) if sizes else []
    if "all" in settings.pool_sizes:
        samples = settings.samples if settings.queries is not None else 1
        draws = tuple(
            Draw(sample, _queries(source, "all", sample, source.tasks, settings))
            for sample in range(samples)
        )
        alone = settings.queries is not None
        whole = Ranked(source, "all", source.tools, source.tasks, source.digest, draws, alone)
        parts.append(whole)
    return parts


def _drawn_pools(
    source: Source, sizes: Sequence[int], settings: RetrievalSettings
) -> Iterator[Ranked]:
    try:
        drawn = drawn_pools(source.tools, source.tasks, sizes, settings, settings.seed)
    except UsageError as error:
        raise UsageError(f"pool {source.label}: {error}") from error
    for pool in drawn:
        queries = _queries(source, pool.size, pool.sample, pool.tasks, settings)
        yield Ranked(
            source,
            pool.size,
            pool.tools,
            pool.tasks,
            pool.digest,
            draws=(Draw(pool.sample, queries),),
            drawn_alone=settings.queries is not None,
            distractors=pool.distractors,
        )


def queries_of(tasks: Iterable[Task]) -> list[tuple[str, int]]:
    """Return (task id, goal) of every query that has relevant tools."""
    return [
        (task.id, position)
        for task in tasks
        for position, goal in enumerate(task.goals)
        if goal.relevant
    ]


def _queries(
    source: Source, size: Size, sample: int, tasks: Sequence[Task], settings: RetrievalSettings
) -> tuple[tuple[str, int], ...]:
    sampled = Sampled(source.label, source.digest, size, sample)
    return drawn_queries(queries_of(tasks), settings.queries, settings.seed, sampled)
