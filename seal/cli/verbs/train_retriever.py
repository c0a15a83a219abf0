"""Train a retriever on a benchmark's queries, and measure it before and after."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from seal.cli.groups import flag, like, option, repeated, settings_of, verb
from seal.cli.interruption import resumable
from seal.cli.options import CACHE_URL, CUTOFFS, JSON, POOL, SEED, SELECT, CacheMode, new_app
from seal.cli.output import output, progress
from seal.experiments.training.settings import TrainSettings

app = new_app()
_DEFAULT = TrainSettings()


@dataclass(frozen=True, kw_only=True)
class Training:
    """Training: what is trained, how long and where."""

    base: str = option(_DEFAULT.base, "A sentence-transformers model: name or folder.")
    template: str = option(_DEFAULT.template, "Of a tool's document.")
    steps: int | None = option(None, "Batches.  [default: one epoch]")
    epochs: float | None = option(None, "Times that each pair is used.")
    batch_size: int = option(_DEFAULT.batch_size, "Pairs.")
    learning_rate: float = option(_DEFAULT.learning_rate, "At its highest.")
    max_length: int | None = option(None, "Tokens of a text in training.  [default: the model's]")
    checkpoint_every: int | None = option(None, "Steps.  [default: a tenth of all]")
    device: Literal["cpu", "cuda"] | None = option(None, "[default: a GPU where there is one]")
    seed: int = like(SEED, _DEFAULT.seed)


@dataclass(frozen=True, kw_only=True)
class Split:
    """Split: which tasks are trained on, and which are held out."""

    split: Literal["query", "tool", "given"] = option(
        _DEFAULT.split,
        "What is held out: tasks, tools with all tasks that need them, or what the benchmark says.",
    )
    held_out: float = option(_DEFAULT.held_out, "Share of it.")
    drop_near_duplicates: bool = flag("Do not train on queries that are much like a test one.")
    threshold: float = option(
        _DEFAULT.threshold, "From what likeness on queries are near-duplicates, to 100."
    )
    select: dict[str, str] = SELECT
    limit: int | None = option(None, "N tasks of the pool that stand for all by their tags.")


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
    *, pool: str = POOL, training: Training, split: Split, tests: Tests, into: Model
) -> int:
    """Train a retriever on a benchmark's queries; use it as --retriever dense,model=DIR."""
    told = settings_of(training, split, tests, into)
    json = told.pop("json")
    with resumable(told["out"], "the newest checkpoint is kept"):
        _train(pool, told, json)
    return 0


def _train(pool: str, told: dict[str, Any], json: bool) -> None:
    from seal.api.retrieval import train_retriever
    from seal.cli.training_tables import tables

    out = told["out"]
    with output(json) as shown, progress(("steps", "pools")) as advance:
        found = train_retriever(pool, progress=advance, **told)
        shown.result(found)
    shown.show(*tables(found))
    shown.show(f"written to {out}; use it: seal retrieve {pool} --retriever dense,model={out}")
