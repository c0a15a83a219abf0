"""Retrievers without a chat: ranking with them, and training one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from seal.api.settings import DrawingOptions
from seal.core.protocols import CacheMode
from seal.core.signatures import checked
from seal.experiments.drawing import Size
from seal.experiments.training.settings import Device, SplitKind
from seal.pools.benchmark import Benchmark
from seal.pools.known import Bench
from seal.runs.settings import RetrieverChoice

if TYPE_CHECKING:
    from seal.api.objects.retrieval import Retrieval


class RetrievalOptions(DrawingOptions, total=False):
    """Fields of `RetrievalSettings`, but for the cut-offs."""

    pool_sizes: Sequence[Size]
    seed: int
    options: Mapping[str, Any]
    select: Mapping[str, str]
    limit: int | None
    held_out: str | Path | None
    cache: CacheMode
    cache_dir: str | Path | None


class TrainOptions(TypedDict, total=False):
    """Fields of `TrainSettings`, but for the base model."""

    template: str
    split: SplitKind
    held_out: float
    drop_near_duplicates: bool
    threshold: float
    steps: int | None
    epochs: float | None
    batch_size: int
    learning_rate: float
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
    pools: Bench | Sequence[Bench],
    retrievers: RetrieverChoice | Sequence[RetrieverChoice] = "tfidf",
    k: int | Sequence[int] = (1, 5, 10),
    *,
    out: str | Path | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    on_result: Callable[[Mapping[str, Any]], None] | None = None,
    **options: Unpack[RetrievalOptions],
) -> Retrieval:
    """Rank every goal's tools with every retriever over every pool, and score the rankings.

    Args:
        pools: Benchmarks, names or folders; a single one may stand alone.
        retrievers: Names, texts NAME,KEY=VALUE..., dotted paths, classes or objects; a single one
            may stand alone.
        k: Cut-offs; the largest is the length of a ranking.
        out: Folder for results.json, results.csv, rankings, TREC run and qrels files, draws.jsonl
            (the queries of each sample, the tools of each drawn pool), and with the extra
            `experiments` results.parquet and figures: new or empty. None: nothing is written.
        progress: Told the stage, how many of its items are done, and how many there are.
        on_result: Told each entry of `results` when it is there.
        **options: Fields of `seal.experiments.retrieval.settings.RetrievalSettings`: pool_sizes,
            samples, distractors, queries_in, nested, queries, seed, options, select, limit,
            held_out, cache, cache_dir.

    Returns:
        The experiment: `.of(retriever="tfidf")["recall@10"].mean`, `.results`, `.frame`,
        `.table()`, `.plot()`, and as `.content` that of results.json.

        - results: for each pool, size and retriever {pool, pool_digest, size, tools, samples,
          queries, queries_deviation, retriever, identity, metrics: {name: {mean, deviation, n, low,
          high}}, by_sample}; where the retriever could not be asked, `unavailable` says why and
          `metrics` is empty. `mean` is that of the samples' means, `deviation` theirs by n - 1,
          `low` and `high` the 95 % bootstrap interval over tasks. Of a whole pool a metric has
          `undefined` (queries without relevant tools) and `by` (the same figures by group) too. Of
          a trained model `in_source` tells whether this is the pool of its training, and there
          `training_queries` how many of the queries asked it was trained on.
        - comparisons: for each pool, size and pair of retrievers the paired difference in recall
          and mrr at the largest K, its interval, and the probability of a randomisation test, alone
          and corrected by Holm over all comparisons of that metric.
        - protocol, versions, pools, retrievers, and notes on what was left out.

    Raises:
        UnknownNameError: No such setting, pool, retriever or option; names the closest.
        UsageError: No pool or retriever, a cut-off below 1, a pool size beyond every pool, too few
            queries, an option that is a service's key, or a folder that holds something else.
        DataError: A pool is malformed.
    """
    from seal.api.objects.retrieval import Retrieval
    from seal.experiments.retrieval.experiment import retrieve as rank
    from seal.experiments.retrieval.settings import RetrievalSettings
    from seal.report.experiment import write_tables_and_figures

    places = [pools] if isinstance(pools, str | Path | Benchmark) else list(pools)
    cutoffs = (k,) if isinstance(k, int) else tuple(k)
    asked = RetrievalSettings(k=cutoffs, **options)
    folder = None if out is None else Path(out)
    entered = list(retrievers) if isinstance(retrievers, (list, tuple)) else [retrievers]
    result = rank(places, entered, asked, folder, progress, on_result)
    if folder is not None:
        result["notes"] += write_tables_and_figures(result, folder)
    return Retrieval(result)


@checked
def train_retriever(
    bench: Bench,
    base: str | Path = "all-MiniLM-L6-v2",
    out: str | Path = "retriever",
    *,
    test_on: Bench | Sequence[Bench] = (),
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    **options: Unpack[TrainOptions],
) -> dict[str, Any]:
    """Train a sentence-transformers model to retrieve a pool's tools, and measure what it gained.

    The model learns that a query lies nearer to the documents of its tools than to the other
    documents of its batch. `seal.retrieve(pool, "dense,model=OUT")` uses it.

    Args:
        bench: A benchmark, the name of one, or a pool folder.
        base: The model to begin with: a name or a folder.
        out: New folder for the model and its training.json.
        test_on: Foreign pools to test on too; a single one may stand alone.
        resume: Go on with the training in `out`, from its newest checkpoint.
        progress: Told the stage, how many of its items are done, and how many there are.
        **options: Further fields of `seal.experiments.training.settings.TrainSettings`: split,
            held_out, drop_near_duplicates, threshold, steps, epochs, batch_size, learning_rate,
            max_length, checkpoint_every, device, template, seed, k, test_queries, select, limit,
            cache, cache_dir.

    Returns:
        The content of training.json.

        - pool, pool_digest, base, base_identity, template, seed, split (with the ids of its tasks
          and held-out tools), hyper_parameters, counts, versions, and losses: [{step, loss}].
        - near_duplicates: training queries that are nearly the same as a test query: {threshold,
          train_queries, test_queries, same_text, dropped, examples, pools}. `pools`: for each
          tested pool {pool, pool_digest, in_source, queries, same_text, near, left_out, examples}:
          of its queries those that stand in training, those that are near a training query (the
          former too), and those that were therefore not measured; nothing is left out of the
          training pool's held-out queries.
        - results and comparisons as of `seal.retrieve`, of the retrievers "before" and "after" on
          the tasks held out and on the foreign pools; a comparison is after less before. A foreign
          pool that has no query left is `unavailable`.
        - gap: recall and mrr at the largest K in the pool less the mean of the foreign pools,
          before and after; None where no foreign pool was measured.

    Raises:
        MissingExtraError: The extra `training` is not installed.
        UnknownNameError: No such setting, pool or template; names the closest.
        UsageError: No such base model, a setting that no training can have, or a folder that holds
            something else or a training of other settings.
        DataError: A pool is malformed, or has too little to train on.
    """
    from seal.experiments.training.settings import TrainSettings
    from seal.experiments.training.train import train_retriever as train

    places = [test_on] if isinstance(test_on, str | Path | Benchmark) else list(test_on)
    asked = TrainSettings(base=str(base), **options)
    return train(bench, Path(out), asked, places, resume, progress)
