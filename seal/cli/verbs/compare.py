"""Compare runs of one benchmark: paired differences, tests, power, tasks won and lost."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from seal.cli.failure import tell
from seal.cli.groups import grouped
from seal.cli.options import BaseUrl, CacheDir, Json, ModelOptions, Votes, new_app, typed_pairs
from seal.cli.output import output

app = new_app()
Runs = Annotated[
    list[Path], typer.Argument(metavar="RUN RUN...", help="Run folders; the first is the base.")
]
Pairs = Annotated[
    Literal["first", "all"],
    typer.Option(help="Each run with the first, or every two; the later less the earlier."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="A metric to compare, and to correct p over; may be repeated."
    ),
]
Success = Annotated[
    str | None,
    typer.Option(
        metavar="METRIC",
        help="Which 1 is a solved task.  [default: the first of pass_rate, success, "
        "mission_accuracy, similarity that both runs have]",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Compare runs that do not measure the same.")]
Seed = Annotated[int, typer.Option(help="Of intervals and tests.")]
Resamples = Annotated[int, typer.Option(min=1, help="Of each interval and test.")]
WinRate = Annotated[
    bool,
    typer.Option(
        "--win-rate",
        help="Ask a judge, in both orders, which of two runs served each goal better; without "
        "--judge-model by the labels of their pass rates.",
    ),
]
JudgeModels = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODEL",
        help="With --win-rate: PROVIDER/MODEL of that judge; repeated, they vote together.",
    ),
]
Preferences = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Win rate by recorded preferences instead of a judge: preference_results, JSON or "
        "CSV, or CSV of task_id,first,second,better (first, second or tie).",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder for comparison.json, .md, .tex and .html."),
]


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Comparison: which pairs, by which metrics, and how surely."""

    pairs: Pairs = "first"
    metric: Metrics = None
    success: Success = None
    force: Force = False
    seed: Seed = 0
    resamples: Resamples = 10_000


@dataclass(frozen=True, kw_only=True)
class Preferred:
    """Win rate: who says which of two runs served a goal better."""

    win_rate: WinRate = False
    judge_model: JudgeModels = None
    votes: Votes = None
    preferences: Preferences = None
    model_option: ModelOptions = None
    base_url: BaseUrl = None
    cache_dir: CacheDir = None


@dataclass(frozen=True, kw_only=True)
class Written:
    """Output: what is written, and what is printed."""

    out: Out = None
    json: Json = False


@grouped(app)
def command(runs: Runs, compared: Compared, preferred: Preferred, into: Written) -> int:
    """Compare runs of one benchmark, paired by task, trial and goal.

    Of every metric the mean difference with its 95 % bootstrap interval over tasks, a randomisation
    test, what difference could have been found, and how many tasks or trials would find this one;
    the tasks won and lost; pass^k and pass@k. Runs that do not measure the same are refused. The
    exit code is 1 where the server of a judge failed.
    """
    # Of small matrices: several threads would wait longer for each other than they compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with output(into.json) as result:
        from seal.api.results import compare
        from seal.report.comparison_tables import comparison_tables

        content = compare(
            runs,
            pairs=compared.pairs,
            metrics=tuple(compared.metric or ()),
            success=compared.success,
            force=compared.force,
            seed=compared.seed,
            resamples=compared.resamples,
            win_rate=preferred.win_rate,
            judge_model=tuple(preferred.judge_model) if preferred.judge_model else None,
            votes=preferred.votes,
            model_options=typed_pairs("--model-option", preferred.model_option),
            base_url=preferred.base_url,
            cache_dir=preferred.cache_dir,
            preferences=preferred.preferences,
            out=into.out,
        ).content
        result.result(content)
        result.show(*(() if into.json else comparison_tables(content)))
        if into.out is not None:
            result.show(f"comparison: {into.out / 'comparison.html'}")
        for text in content["differs"]:
            tell(f"compared all the same: {text}")
    judged = [pair["win_rate"] for pair in content["pairs"] if pair["win_rate"] is not None]
    return int(any("error" in found["by"] for found in judged))
