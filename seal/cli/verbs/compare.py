"""Compare runs of one benchmark: paired differences, tests, power, tasks won and lost."""

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from seal.cli.failure import tell
from seal.cli.options import BaseUrl, CacheDir, Json, ModelOptions, Votes, new_app, typed_pairs
from seal.cli.output import output

app = new_app()


@app.command()
def command(
    runs: Annotated[
        list[Path], typer.Argument(metavar="RUN RUN...", help="Run folders; the first is the base.")
    ],
    pairs: Annotated[
        Literal["first", "all"],
        typer.Option(help="Each run with the first, or every two; the later less the earlier."),
    ] = "first",
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A metric to compare, and to correct p over; may be repeated."
        ),
    ] = None,
    success: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC",
            help="Which 1 is a solved task.  [default: the first of pass_rate, success, "
            "mission_accuracy, similarity that both runs have]",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Compare runs that do not measure the same.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of intervals and tests.")] = 0,
    resamples: Annotated[int, typer.Option(min=1, help="Of each interval and test.")] = 10_000,
    win_rate: Annotated[
        bool,
        typer.Option(
            "--win-rate",
            help="Ask a judge, in both orders, which of two runs served each goal better: each "
            "run with the first; without --judge-model by the labels of their pass rates.",
        ),
    ] = False,
    judge_model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL", help="PROVIDER/MODEL of that judge; repeated, they vote together."
        ),
    ] = None,
    votes: Votes = None,
    model_option: ModelOptions = None,
    base_url: BaseUrl = None,
    cache_dir: CacheDir = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder for comparison.json, .md, .tex and .html."),
    ] = None,
    json: Json = False,
) -> int:
    """Compare runs of one benchmark, paired by task, trial and goal.

    Of every metric the mean difference with its 95 % bootstrap interval over tasks, a randomisation
    test, what difference could have been found, and how many tasks or trials would find this one;
    the tasks won and lost; pass^k and pass@k. Runs that do not measure the same are refused.
    """
    # Of small matrices: several threads would wait longer for each other than they compute.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with output(json) as result:
        from seal.pipeline.comparison.study import CompareSettings
        from seal.report.comparison import compare
        from seal.report.comparison_tables import comparison_tables

        asked = CompareSettings(pairs, tuple(metric or ()), success, force, seed, resamples)
        content = compare(runs, asked, out)
        wins = []
        if win_rate:
            from seal.pipeline.preferring import win_rate as win_rate_of

            wins = [
                win_rate_of(
                    runs[0],
                    run,
                    judge_model=tuple(judge_model) if judge_model else None,
                    votes=1 if votes is None else votes,
                    model_options=typed_pairs("--model-option", model_option),
                    base_url=base_url,
                    cache_dir=cache_dir,
                )
                for run in runs[1:]
            ]
            content = {**content, "win_rate": wins}
        result.result(content)
        result.show(*(() if json else comparison_tables(content)))
        for found in wins:
            from seal.report.judging import win_rate_notes

            result.show(*win_rate_notes(found))
        if out is not None:
            result.show(f"comparison: {out / 'comparison.html'}")
        for text in content["differs"]:
            tell(f"compared all the same: {text}")
    return 0
