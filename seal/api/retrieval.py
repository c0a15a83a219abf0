"""Retrievers without a chat: ranking with them, and data to train one."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from seal.api.runs import DrawingOptions
from seal.core import CacheMode, Task
from seal.core.settings import checked
from seal.experiments.settings import Perturbation, Size
from seal.pools.benchmark import Benchmark, OwnTool
from seal.pools.lookup import Bench, bench_of
from seal.runs.settings import RetrieverChoice

if TYPE_CHECKING:
    from seal.api.experiment_results import PoolSplit, Retrieval
    from seal.experiments.splits import SplitKind


class RetrievalOptions(DrawingOptions, total=False):
    """Fields of `RetrievalSettings`, but for the cut-offs."""

    pool_sizes: Sequence[Size]
    seed: int
    options: Mapping[str, Any]
    select: Mapping[str, str]
    limit: int | None
    first: int | None
    held_out: str | Path | None
    perturb: tuple[Perturbation, ...]
    prices: str | Path | None
    cache: CacheMode
    cache_dir: str | Path | None


@checked
def retrieve(
    pools: Bench | Sequence[Bench | Task],
    retrievers: RetrieverChoice | Sequence[RetrieverChoice] | None = None,
    k: int | Sequence[int] = (1, 5, 10),
    *,
    tools: Sequence[OwnTool] = (),
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    on_result: Callable[[Mapping[str, Any]], None] | None = None,
    **options: Unpack[RetrievalOptions],
) -> Retrieval:
    """Rank every goal's tools with every retriever over every pool, and score the rankings.

    Args:
        pools: Benchmarks, names or folders; a single one may stand alone. A list of tasks does too,
            with `tools`.
        retrievers: Names, texts NAME,KEY=VALUE..., dotted paths, classes or objects; a single one
            may stand alone. None: hybrid.
        k: Cut-offs of the metrics, at least 1; a single one may stand alone. The largest is the
            length of a ranking.
        tools: Functions, schemas or `seal.Tool` records, for tasks that are given as a list.
        out: Folder for the results, new or empty. None: nothing is written. It gets results.json,
            results.csv, rankings, TREC run and qrels files, and draws.jsonl. The last names the
            queries of each sample and the tools of each drawn pool. The extra `experiments` adds
            results.parquet and figures. Until all are there, results.json has no results.
        resume: Go on with the experiment that `out` holds: what was measured is not ranked again.
        progress: Called with the stage, how many of its items are done, and how many there are.
        on_result: Called with each entry of `results` as soon as it is there.
        **options: Fields of `seal.experiments.settings.RetrievalSettings`:
            pool_sizes, samples, distractors, queries_in, nested, queries, seed, options, select,
            limit, first, held_out, prices, cache, cache_dir.

    Returns:
        The experiment: `.of(retriever="tfidf")["recall@10"].mean`, `.results`, `.frame`, `.table()`
        and `.plot()`; `seal.api.experiment_results.Retrieval` says what its `.content` holds.

    Raises:
        UnknownNameError: There is no such setting, pool, retriever or option; the text names the
            closest.
        UsageError: There is no pool or retriever, too few queries, or a cut-off below 1. Or a pool
            size is larger than every pool. Or an option is a service's key, or the folder holds
            something else.
        DataError: A pool is malformed.

    Example:
        >>> import seal
        >>> found = seal.retrieve("sample", ["tfidf", "bm25"], k=[1, 10])
        >>> found.of("tfidf")["recall@10"].n
        72
    """
    from seal.api.experiment_results import Retrieval
    from seal.experiments.retrieval import retrieve as rank
    from seal.experiments.settings import RetrievalSettings
    from seal.report.experiments import write_tables_and_figures
    from seal.retrievers.build import DEFAULT

    cutoffs = (k,) if isinstance(k, int) else tuple(k)
    asked = RetrievalSettings(k=cutoffs, **options)
    folder = None if out is None else Path(out)
    named = DEFAULT if retrievers is None else retrievers
    entered = list(named) if isinstance(named, (list, tuple)) else [named]
    places, figures = _places(pools, tools), write_tables_and_figures
    return Retrieval(rank(places, entered, asked, folder, progress, on_result, resume, figures))


def _places(pools: Bench | Sequence[Bench | Task], tools: Sequence[OwnTool]) -> Sequence[Bench]:
    """Return the benchmarks to rank in; of a list of tasks its own."""
    if isinstance(pools, str | Path | Benchmark):
        return [bench_of(pools, tools)]
    if tools or any(isinstance(each, Task) for each in pools):
        return [bench_of(cast("Sequence[Task]", pools), tools)]
    return cast("Sequence[Bench]", pools)


@checked
def split(
    pool: Bench | Sequence[Task],
    by: SplitKind = "query",
    *,
    test: int | float | None = None,
    train: int | float | None = None,
    seed: int = 0,
    threshold: float = 90.0,
    out: str | Path | None = None,
    tools: Sequence[OwnTool] = (),
) -> PoolSplit:
    """Split a pool into tasks to train a retriever on, and tasks to test it on, without leaks.

    No training query is nearly the same as a test query: such tasks are left out.
    docs/train-a-retriever.md trains a model on the one part, and measures it on the other.

    Args:
        pool: A benchmark, the name of one, or a pool folder. A list of tasks does too, with
            `tools`.
        by: What is held out. query: tasks. tool: tools, with the tasks that need no others; tasks
            that need tools of both parts are left out. given: the tasks that the benchmark itself
            puts in another split than `train`.
        test: How many tasks, or tools, are held out, or which share of them, below 1. None: a
            fifth. With `by="given"` the benchmark says it.
        train: How many tasks are kept for training, or which share of all. None: all that are left.
        seed: Equal seeds give equal parts.
        threshold: From which likeness on two queries count as nearly the same, at most 100: the
            share of equal letters, in small letters and without punctuation.
        out: Folder for the parts, new or an earlier split's. It gets the pool folders `train` and
            `test`, and training.json, which names the tasks of each. None: a temporary folder.
        tools: Functions, schemas or `seal.Tool` records, for tasks that are given as a list.

    Returns:
        `.train` and `.test`, which `seal.retrieve`, `seal.api.benchmarks.export` and others take.
        Both have all tools, but the training part no held-out tool that none of its tasks names.
        `.folder` holds the parts as pool folders, for `seal retrieve` and `seal export`.

    Raises:
        UnknownNameError: No such pool, or no such `by`; the text names the closest.
        UsageError: A size that cannot be, or more than the pool has. Or a benchmark without a split
            of its own, or a folder that holds something else.
        DataError: No task names the tools that it needs, or nothing is left for one part.

    Example:
        >>> import seal
        >>> parts = seal.split("sample", by="tool", out="parts")
        >>> found = seal.retrieve(parts.test, "tfidf")
    """
    from seal.api.experiment_results import PoolSplit
    from seal.experiments.splits import TEST, TRAIN, SplitSettings, write_split
    from seal.pools.lookup import open_pool

    asked = SplitSettings(by=by, test=test, train=train, seed=seed, threshold=threshold)
    whole = open_pool(bench_of(pool, tools))
    folder = _temporary() if out is None else Path(out)
    record = write_split(whole, asked, folder)
    return PoolSplit(record, whole.at(folder / TRAIN), whole.at(folder / TEST), folder)


def _temporary() -> Path:
    """Return a new folder that goes with this process."""
    folder = Path(tempfile.mkdtemp(prefix="seal-"))
    atexit.register(shutil.rmtree, folder, True)
    return folder
