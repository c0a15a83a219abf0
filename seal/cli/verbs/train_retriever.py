"""Train a retriever on the queries of benchmarks, and measure it before and after."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.cli.groups import argument, flag, option, repeated, settings_of, verb
from seal.cli.interruption import resumable
from seal.cli.options import JSON
from seal.cli.output import output, progress
from seal.experiments.training.training_settings import (
    CachingGroup,
    MeasureGroup,
    SplitGroup,
    TrainingGroup,
)


@dataclass(frozen=True, kw_only=True)
class Tests(MeasureGroup):
    """Tests: what the model is measured on."""

    test_on: tuple[str, ...] = repeated("Another pool to test on; repeatable.", metavar="NAME|DIR")


@dataclass(frozen=True, kw_only=True)
class Model(CachingGroup):
    """Output: where the model and embeddings are kept, and what is printed."""

    out: Path = option(..., "New folder for the model.")
    resume: bool = flag("Continue the training in --out.")
    json: bool = JSON


@verb()
def command(
    *,
    pools: list[str] = argument(
        "Names of shipped benchmarks, or folders of imported ones.", metavar="NAME|DIR..."
    ),
    training: TrainingGroup,
    split: SplitGroup,
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
    from seal.report.training_results import training_tables

    out = told["out"]
    with output(json) as shown, progress(("steps", "pools")) as advance:
        found = train_retriever(pools, progress=advance, **told)
        shown.result(found.content)
    shown.show(*training_tables(found.content))
    shown.show(f"written to {out}; use it: seal retrieve {pools[0]} --retriever dense,model={out}")
