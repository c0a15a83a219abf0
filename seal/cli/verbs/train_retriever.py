"""Train a retriever on a benchmark's queries, and measure it before and after."""

import shlex
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from seal.cli.failure import INTERRUPTED, tell
from seal.cli.options import CacheMode, Cutoffs, Json, Pool, Seed, Select, new_app, numbers, pairs
from seal.cli.output import output
from seal.cli.progress import progress
from seal.pipeline.training.settings import TrainSettings

app = new_app()
_DEFAULT = TrainSettings()
_CUTOFFS = ",".join(map(str, _DEFAULT.k))
_SETTINGS = {field.name for field in fields(TrainSettings)} - {"base", "select"}
"""Those that an option gives as it is."""


@app.command()
def command(
    context: typer.Context,
    pool: Pool,
    out: Annotated[Path, typer.Option(help="New folder for the model.")],
    base: Annotated[
        str, typer.Option(help="A sentence-transformers model: name or folder.")
    ] = _DEFAULT.base,
    template: Annotated[str, typer.Option(help="Of a tool's document.")] = _DEFAULT.template,
    split: Annotated[
        Literal["query", "tool", "given"],
        typer.Option(
            help="What is held out: tasks, tools with all tasks that need them, or what the "
            "benchmark says."
        ),
    ] = _DEFAULT.split,
    held_out: Annotated[float, typer.Option(help="Share of it.")] = _DEFAULT.held_out,
    drop_near_duplicates: Annotated[
        bool,
        typer.Option(
            "--drop-near-duplicates", help="Do not train on queries that are much like a test one."
        ),
    ] = False,
    threshold: Annotated[
        float, typer.Option(help="From what likeness on queries are near-duplicates, to 100.")
    ] = _DEFAULT.threshold,
    steps: Annotated[int | None, typer.Option(help="Batches.  [default: one epoch]")] = None,
    epochs: Annotated[float | None, typer.Option(help="Times that each pair is used.")] = None,
    batch_size: Annotated[int, typer.Option(help="Pairs.")] = _DEFAULT.batch_size,
    learning_rate: Annotated[float, typer.Option(help="At its highest.")] = _DEFAULT.learning_rate,
    max_length: Annotated[
        int | None, typer.Option(help="Tokens of a text in training.  [default: the model's]")
    ] = None,
    checkpoint_every: Annotated[
        int | None, typer.Option(help="Steps.  [default: a tenth of all]")
    ] = None,
    device: Annotated[
        Literal["cpu", "cuda"] | None, typer.Option(help="[default: a GPU where there is one]")
    ] = None,
    test_on: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME|DIR", help="A foreign pool to test on too; may be repeated."),
    ] = None,
    test_queries: Annotated[
        int | None, typer.Option(help="Draw so many tasks of each foreign pool.")
    ] = None,
    cutoffs: Cutoffs = _CUTOFFS,
    select: Select = None,
    limit: Annotated[int | None, typer.Option(help="The first N tasks of the pool.")] = None,
    seed: Seed = _DEFAULT.seed,
    cache: Annotated[
        CacheMode,
        typer.Option(help="Embeddings of the base model: keep them, use kept ones only, or none."),
    ] = _DEFAULT.cache,
    cache_dir: Annotated[Path | None, typer.Option(help="Folder of kept embeddings.")] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the training in --out.")
    ] = False,
    json: Json = False,
) -> int:
    """Train a retriever on a benchmark's queries; use it as --retriever dense,model=DIR."""
    try:
        _train(context.params)
    except KeyboardInterrupt:
        words = [word for word in sys.argv[1:] if word != "--resume"]
        tell(
            "interrupted; the newest checkpoint is kept. "
            f"Go on with: seal {shlex.join([*words, '--resume'])}"
        )
        return INTERRUPTED
    return 0


def _train(options: Mapping[str, Any]) -> None:
    """Train what the parsed options say; one has the name of its setting where it can."""
    from seal.api.retrieval import train_retriever
    from seal.cli.training_tables import tables

    pool, out = options["pool"], options["out"]
    settings = {name: options[name] for name in _SETTINGS & options.keys()}
    with output(options["json"]) as shown, progress(("steps", "pools")) as advance:
        found = train_retriever(
            pool,
            options["base"],
            out,
            test_on=options["test_on"] or [],
            resume=options["resume"],
            progress=advance,
            **settings
            | {
                "k": numbers("--cutoffs", options["cutoffs"]),
                "select": pairs("--select", options["select"]),
            },
        )
        shown.result(found)
    shown.show(*tables(found))
    shown.show(f"written to {out}; use it: seal retrieve {pool} --retriever dense,model={out}")
