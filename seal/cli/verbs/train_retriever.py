"""Train a retriever on a benchmark's queries, and measure it before and after."""

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from seal.cli.failure import INTERRUPTED, tell
from seal.cli.groups import grouped
from seal.cli.options import CacheMode, Cutoffs, Json, Pool, Seed, Select, new_app, numbers, pairs
from seal.cli.output import output
from seal.cli.progress import progress
from seal.experiments.training.settings import TrainSettings

app = new_app()
_DEFAULT = TrainSettings()
_CUTOFFS = ",".join(map(str, _DEFAULT.k))
_SETTINGS = {field.name for field in fields(TrainSettings)} - {"base", "select"}
"""Those that an option gives as it is."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """Training: what is trained, how long and where."""

    base: Annotated[str, typer.Option(help="A sentence-transformers model: name or folder.")] = (
        _DEFAULT.base
    )
    template: Annotated[str, typer.Option(help="Of a tool's document.")] = _DEFAULT.template
    steps: Annotated[int | None, typer.Option(help="Batches.  [default: one epoch]")] = None
    epochs: Annotated[float | None, typer.Option(help="Times that each pair is used.")] = None
    batch_size: Annotated[int, typer.Option(help="Pairs.")] = _DEFAULT.batch_size
    learning_rate: Annotated[float, typer.Option(help="At its highest.")] = _DEFAULT.learning_rate
    max_length: Annotated[
        int | None, typer.Option(help="Tokens of a text in training.  [default: the model's]")
    ] = None
    checkpoint_every: Annotated[
        int | None, typer.Option(help="Steps.  [default: a tenth of all]")
    ] = None
    device: Annotated[
        Literal["cpu", "cuda"] | None, typer.Option(help="[default: a GPU where there is one]")
    ] = None
    seed: Seed = _DEFAULT.seed


@dataclass(frozen=True, kw_only=True)
class Split:
    """Split: which tasks are trained on, and which are held out."""

    split: Annotated[
        Literal["query", "tool", "given"],
        typer.Option(
            help="What is held out: tasks, tools with all tasks that need them, or what the "
            "benchmark says."
        ),
    ] = _DEFAULT.split
    held_out: Annotated[float, typer.Option(help="Share of it.")] = _DEFAULT.held_out
    drop_near_duplicates: Annotated[
        bool,
        typer.Option(
            "--drop-near-duplicates", help="Do not train on queries that are much like a test one."
        ),
    ] = False
    threshold: Annotated[
        float, typer.Option(help="From what likeness on queries are near-duplicates, to 100.")
    ] = _DEFAULT.threshold
    select: Select = None
    limit: Annotated[int | None, typer.Option(help="The first N tasks of the pool.")] = None


@dataclass(frozen=True, kw_only=True)
class Tests:
    """Tests: what the model is measured on."""

    test_on: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME|DIR", help="A foreign pool to test on too; may be repeated."),
    ] = None
    test_queries: Annotated[
        int | None, typer.Option(help="Draw so many tasks of each foreign pool.")
    ] = None
    cutoffs: Cutoffs = _CUTOFFS


@dataclass(frozen=True, kw_only=True)
class Model:
    """Output: where the model and embeddings are kept, and what is printed."""

    out: Annotated[Path, typer.Option(help="New folder for the model.")]
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the training in --out.")] = (
        False
    )
    cache: Annotated[
        CacheMode,
        typer.Option(help="Embeddings of the base model: keep them, use kept ones only, or none."),
    ] = _DEFAULT.cache
    cache_dir: Annotated[Path | None, typer.Option(help="Folder of kept embeddings.")] = None
    json: Json = False


@grouped(app)
def command(pool: Pool, training: Training, split: Split, tests: Tests, into: Model) -> int:
    """Train a retriever on a benchmark's queries; use it as --retriever dense,model=DIR."""
    settings = {
        name: value
        for group in (training, split, tests, into)
        for name, value in vars(group).items()
        if name in _SETTINGS
    }
    settings |= {
        "k": numbers("--cutoffs", tests.cutoffs),
        "select": pairs("--select", split.select),
    }
    try:
        _train(pool, training.base, tests.test_on or [], into, settings)
    except KeyboardInterrupt:
        words = [word for word in sys.argv[1:] if word != "--resume"]
        tell(
            "interrupted; the newest checkpoint is kept. "
            f"Go on with: seal {shlex.join([*words, '--resume'])}"
        )
        return INTERRUPTED
    return 0


def _train(
    pool: str, base: str, test_on: list[str], into: Model, settings: Mapping[str, Any]
) -> None:
    from seal.api.retrieval import train_retriever
    from seal.cli.training_tables import tables

    with output(into.json) as shown, progress(("steps", "pools")) as advance:
        found = train_retriever(
            pool,
            base,
            into.out,
            test_on=test_on,
            resume=into.resume,
            progress=advance,
            **settings,
        )
        shown.result(found)
    shown.show(*tables(found))
    shown.show(
        f"written to {into.out}; use it: seal retrieve {pool} --retriever dense,model={into.out}"
    )
