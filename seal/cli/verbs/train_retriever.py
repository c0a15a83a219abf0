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

    base: str = option(_DEFAULT.base, "A sentence-transformers model: name or folder; map: any.")
    trains: Literal["encoder", "map"] = option(
        _DEFAULT.trains, "The whole model, or a linear map of its vectors: seconds, no torch."
    )
    template: str = option(_DEFAULT.template, "Of a tool's document.")
    steps: int | None = option(None, "Batches.  [default: what the epochs need]")
    epochs: float | None = option(None, "Times that each pair is used.  [default: 1; map: 10]")
    batch_size: int = option(_DEFAULT.batch_size, "Pairs.")
    learning_rate: float | None = option(None, "At its highest.  [default: 5e-5; map: 1e-4]")
    negatives: int = option(_DEFAULT.negatives, "Hard negatives of a pair, beside its batch.")
    negatives_by: str = option(
        _DEFAULT.negatives_by, "The retriever that finds them.", metavar="NAME[,KEY=VALUE...]"
    )
    max_length: int | None = option(None, "Tokens of a text in training.  [default: the model's]")
    checkpoint_every: int | None = option(None, "Steps.  [default: a tenth of all]")
    device: Literal["cpu", "cuda"] | None = option(None, "[default: a GPU where there is one]")
    seed: int = like(SEED, _DEFAULT.seed)


@dataclass(frozen=True, kw_only=True)
class Split:
    """Split: which tasks are trained on, and which are held out."""

    split: Literal["query", "tool", "given", "benchmark"] = option(
        _DEFAULT.split,
        "What is held out: tasks, tools with all tasks that need them, what the benchmark says, "
        "or the pools of --test-on alone.",
    )
    held_out: float = option(_DEFAULT.held_out, "Share of it.")
    drop_near_duplicates: bool = flag("Do not train on queries that are much like a test one.")
    threshold: float = option(
        _DEFAULT.threshold, "From what likeness on queries are near-duplicates, to 100."
    )
    select: dict[str, str] = SELECT
    limit: int | None = option(None, "N tasks of each pool that stand for all by their tags.")


@dataclass(frozen=True, kw_only=True)
class Tests:
    """Tests: what the model is measured on."""

    test_on: tuple[str, ...] = repeated(
        "A foreign pool to test on too; may be repeated.", metavar="NAME|DIR"
    )
    test_queries: int | None = option(None, "Draw so many tasks of each foreign pool.")
    cutoffs: tuple[int, ...] = like(CUTOFFS, ",".join(map(str, _DEFAULT.k)))


@dataclass(frozen=True, kw_only=True)
class Model:
    """Output: where the model and embeddings are kept, and what is printed."""

    out: Path = option(..., "New folder for the model.")
    resume: bool = flag("Go on with the training in --out.")
    cache: CacheMode = option(
        _DEFAULT.cache, "Embeddings of the base model: keep them, use kept ones only, or none."
    )
    cache_dir: Path | None = option(None, "Folder of kept embeddings.")
    cache_url: str | None = CACHE_URL
    json: bool = JSON


@verb(app)
def command(
    *,
    pools: list[str] = argument("Shipped or imported benchmarks.", metavar="NAME|DIR..."),
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
