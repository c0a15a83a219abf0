"""Train a retriever on the queries of benchmarks, and measure it before and after."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from seal.cli.groups import argument, flag, like, option, repeated, settings_of, verb
from seal.cli.interruption import resumable
from seal.cli.options import CACHE_URL, CUTOFFS, JSON, SEED, SELECT, CacheMode, new_app
from seal.cli.output import output, progress
from seal.experiments.training.settings import TrainSettings

app = new_app()
_DEFAULT = TrainSettings()


@dataclass(frozen=True, kw_only=True)
class Training:
    """Training: what is trained, how long and where."""

    base: str = option(
        _DEFAULT.base,
        "Model to train: a sentence-transformers model, as a name or folder; a map takes any "
        "embedder.",
    )
    trains: Literal["encoder", "map"] = option(
        _DEFAULT.trains,
        "What to train: the whole model, or a linear map of its vectors (seconds, without torch).",
    )
    template: str = option(_DEFAULT.template, "Template of a tool's document.")
    steps: int | None = option(None, "Number of batches.  [default: as many as the epochs need]")
    epochs: float | None = option(
        None, "Number of times that each pair is used.  [default: 1; map: 10]"
    )
    batch_size: int = option(_DEFAULT.batch_size, "Number of pairs in a batch.")
    learning_rate: float | None = option(None, "Highest learning rate.  [default: 5e-5; map: 1e-4]")
    negatives: int = option(
        _DEFAULT.negatives, "Number of hard negatives for each pair, besides its batch."
    )
    negatives_by: str = option(
        _DEFAULT.negatives_by, "Retriever that finds hard negatives.", metavar="NAME[,KEY=VALUE...]"
    )
    max_length: int | None = option(
        None, "Most tokens of a text in training.  [default: the model's]"
    )
    checkpoint_every: int | None = option(
        None, "Number of steps between checkpoints.  [default: a tenth of all]"
    )
    device: Literal["cpu", "cuda"] | None = option(
        None, "Where to train.  [default: a GPU if there is one]"
    )
    seed: int = like(SEED, _DEFAULT.seed)


@dataclass(frozen=True, kw_only=True)
class Split:
    """Split: which tasks are trained on, and which are held out."""

    split: Literal["query", "tool", "given", "benchmark"] = option(
        _DEFAULT.split,
        "What to hold out: tasks, tools with all tasks that need them, what the benchmark "
        "says (given), or nothing but the pools of --test-on (benchmark).",
    )
    held_out: float = option(_DEFAULT.held_out, "Share that is held out.")
    drop_near_duplicates: bool = flag("Do not train on queries that are similar to a test query.")
    threshold: float = option(
        _DEFAULT.threshold, "Least similarity of near-duplicate queries, at most 100."
    )
    select: dict[str, str] = SELECT
    limit: int | None = option(
        None, "Take N tasks of each pool whose tags represent all of its tasks."
    )


@dataclass(frozen=True, kw_only=True)
class Tests:
    """Tests: what the model is measured on."""

    test_on: tuple[str, ...] = repeated("Another pool to test on; repeatable.", metavar="NAME|DIR")
    test_queries: int | None = option(None, "Number of tasks to draw from each other pool.")
    cutoffs: tuple[int, ...] = like(CUTOFFS, ",".join(map(str, _DEFAULT.k)))


@dataclass(frozen=True, kw_only=True)
class Model:
    """Output: where the model and embeddings are kept, and what is printed."""

    out: Path = option(..., "New folder for the model.")
    resume: bool = flag("Continue the training in --out.")
    cache: CacheMode = option(
        _DEFAULT.cache,
        "Cached embeddings of the base model: keep and reuse them (record), only reuse them "
        "(replay), or neither (off).",
    )
    cache_dir: Path | None = option(None, "Folder for cached embeddings.")
    cache_url: str | None = CACHE_URL
    json: bool = JSON


@verb(app)
def command(
    *,
    pools: list[str] = argument(
        "Names of shipped benchmarks, or folders of imported ones.", metavar="NAME|DIR..."
    ),
    training: Training,
    split: Split,
    tests: Tests,
    into: Model,
) -> int:
    """Train a retriever on the queries of benchmarks; use it as --retriever dense,model=DIR."""
    told = settings_of(training, split, tests, into)
    json = told.pop("json")
    with resumable(told["out"], "the newest checkpoint is kept"):
        _train(pools, told, json)
    return 0


def _train(pools: list[str], told: dict[str, Any], json: bool) -> None:
    from seal.api.retrieval import train_retriever
    from seal.cli.training_tables import tables

    out = told["out"]
    with output(json) as shown, progress(("steps", "pools")) as advance:
        found = train_retriever(pools, progress=advance, **told)
        shown.result(found)
    shown.show(*tables(found))
    shown.show(f"written to {out}; use it: seal retrieve {pools[0]} --retriever dense,model={out}")
