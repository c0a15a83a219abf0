"""Retrievers without a chat: ranking with them, and training one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from seal.api.settings import DrawingOptions
from seal.core import CacheMode, Task
from seal.core.signatures import checked
from seal.experiments.pool_draws import Size
from seal.experiments.retrieval.retrieval_settings import Perturbation
from seal.experiments.training.training_settings import Device, SplitKind, Trains
from seal.pools.benchmark import Benchmark
from seal.pools.lookup import Bench, bench_of
from seal.pools.own_parts import OwnTool
from seal.runs.settings import RetrieverChoice

if TYPE_CHECKING:
    from seal.api.objects.json_results import Retrieval
    from seal.api.objects.products import Training


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


class TrainOptions(TypedDict, total=False):
    """Fields of `TrainSettings`, but for the base model."""

    trains: Trains
    template: str
    split: SplitKind
    held_out: float
    drop_near_duplicates: bool
    threshold: float
    negatives: int
    negatives_by: str
    steps: int | None
    epochs: float | None
    batch_size: int
    learning_rate: float | None
    max_length: int | None
    checkpoint_every: int | None
    device: Device | None
    seed: int
    k: Sequence[int]
    test_queries: int | None
    select: Mapping[str, str]
    limit: int | None
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
        **options: Fields of `seal.experiments.retrieval.retrieval_settings.RetrievalSettings`:
            pool_sizes, samples, distractors, queries_in, nested, queries, seed, options, select,
            limit, first, held_out, prices, cache, cache_dir.

    Returns:
        The experiment: `.of(retriever="tfidf")["recall@10"].mean`, `.results`, `.frame`, `.table()`
        and `.plot()`; `seal.api.objects.json_results.Retrieval` says what its `.content` holds.

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
    from seal.api.objects.json_results import Retrieval
    from seal.experiments.retrieval.measurement import retrieve as rank
    from seal.experiments.retrieval.retrieval_settings import RetrievalSettings
    from seal.report.experiment_files import write_tables_and_figures
    from seal.retrievers import DEFAULT

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
def train_retriever(
    pools: Bench | Sequence[Bench | Task],
    base: str | Path = "all-MiniLM-L6-v2",
    out: str | Path = "retriever",
    *,
    tools: Sequence[OwnTool] = (),
    test_on: Bench | Sequence[Bench] = (),
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    **options: Unpack[TrainOptions],
) -> Training:
    """Train a sentence-transformers model to retrieve tools, and measure what it gained.

    The model learns that a query lies nearer to the documents of its tools than to the other
    documents of its batch. Hard negatives are among these. `seal.retrieve(pool, "dense,model=OUT")`
    uses it.

    Args:
        pools: Benchmarks, names or pool folders; a single one may stand alone. A list of tasks does
            too, with `tools`.
        base: The model to begin with: a name or a folder. With `trains="map"` any embedder, which
            stays as it is: what it gives is mapped. That needs no torch.
        out: New folder for the model and its training.json.
        tools: Functions, schemas or `seal.Tool` records, for tasks that are given as a list.
        test_on: Other pools to test on too; a single one may stand alone.
        resume: Continue the training in `out` from its newest checkpoint.
        progress: Called with the stage, how many of its items are done, and how many there are.
        **options: Further fields of `seal.experiments.training.training_settings.TrainSettings`.

    Returns:
        The training: `.of("after")["recall@10"].mean`, `.results`, `.folder` and `.table()`. Its
        `.content` is that of training.json, whose entries it also gives by name:

        - pool, the names of the training pools; sources, {pool, pool_digest, train, test,
          held_out_tools} of each, ids of tasks and tools; base, base_identity, template, seed,
          split, hyper_parameters, counts, versions, and losses: [{step, loss}].
        - negatives: {found, drawn, too_near_in_score, too_near_in_text}, counts of hard negatives
          and of candidates that were left out as false ones; None where none were wanted.
        - near_duplicates: training queries that are nearly the same as a test query: {threshold,
          train_queries, test_queries, same_text, dropped, examples, pools}.
        - Its `pools` has {pool, pool_digest, in_source, queries, same_text, near, left_out, tools,
          tools_trained, unseen, examples} for each tested pool. `same_text` counts its queries that
          occur in training. `near` counts those that are near a training query. `left_out` counts
          those that were therefore not measured; no held-out query of a training pool is.
          `tools` counts the tools that the measured queries need, `tools_trained` those of them
          whose documents stand in training, `unseen` the queries that need another.
        - results and comparisons: as of `seal.retrieve`, of the retrievers "before" and "after", on
          the tasks held out and on the other pools. A comparison is after less before. A pool that
          has no query left is `unavailable`.
        - gap: recall and mrr at the largest K in the training pools, less the mean of the other
          pools, before and after. None where no other pool or no training pool was measured.

    Raises:
        MissingExtraError: The extra `training` is not installed.
        UnknownNameError: There is no such setting, pool or template; the text names the closest.
        UsageError: There is no such base model, or a setting has a value that no training can have.
            Or the folder holds something else, or a training under other settings.
        DataError: A pool is malformed, or has too little to train on.

    Example:
        >>> import seal
        >>> trained = seal.train_retriever("sample", out="mine", steps=5)
        >>> found = seal.retrieve("sample", "dense,model=mine", k=5)
    """
    from seal.api.objects.products import Training
    from seal.experiments.training.train import train_retriever as train
    from seal.experiments.training.training_settings import TrainSettings

    places = [test_on] if isinstance(test_on, str | Path | Benchmark) else list(test_on)
    asked = TrainSettings(base=str(base), **options)
    found = train(_places(pools, tools), Path(out), asked, places, resume, progress)
    return Training(found, Path(out))
