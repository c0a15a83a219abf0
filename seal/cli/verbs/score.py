"""Score a run's trajectories again, without a chat."""

from pathlib import Path
from typing import Annotated

import typer

from seal.cli.options import (
    BaseUrl,
    CacheDir,
    Json,
    Judge,
    Metrics,
    ModelOptions,
    new_app,
    typed_pairs,
)
from seal.cli.output import output
from seal.cli.progress import progress

app = new_app()


@app.command()
def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    judge: Judge = "auto",
    judge_model: Annotated[
        str | None, typer.Option(help="PROVIDER/MODEL of the judge; `seal models`.")
    ] = None,
    model_option: ModelOptions = None,
    base_url: BaseUrl = None,
    match: Annotated[
        str | None,
        typer.Option(
            help="Rules of scores: clean, toolsandbox, mmtb, lenient or exact; else each "
            "task's own."
        ),
    ] = None,
    metric: Metrics = None,
    workers: Annotated[int, typer.Option(help="Answers judged at once.")] = 4,
    cache_dir: CacheDir = None,
    json: Json = False,
) -> int:
    """Score the trajectories of a run again; its scores and its summary are replaced."""
    from seal.evaluation.mission_metrics import no_missions
    from seal.evaluation.rules import MMTB
    from seal.pipeline.rescore import rescore
    from seal.pipeline.run_folder import RunFolder
    from seal.report.breakdown import breakdown_tables
    from seal.report.dialogue_section import dialogue_breakdown
    from seal.report.error_patterns import environment_patterns
    from seal.report.missions import mission_breakdown
    from seal.report.notes import summary_notes
    from seal.report.tables import summary_table

    with output(json) as result:
        with progress() as advance:
            summary = rescore(
                run,
                judge=judge,
                judge_model=judge_model,
                model_options=typed_pairs("--model-option", model_option),
                base_url=base_url,
                metrics=tuple(metric or ()),
                workers=workers,
                cache_dir=cache_dir,
                match=match,
                progress=lambda done, total: advance("score", done, total),
            )
        result.result({"run": str(run), **summary})
        folder = RunFolder.open(run)
        tables = (
            *breakdown_tables(folder),
            *mission_breakdown(folder),
            *dialogue_breakdown(folder),
            *environment_patterns(folder),
        )
        notes = summary_notes(folder)
        goals = (goal for task in folder.tasks() for goal in task.goals)
        if match == MMTB and all(map(no_missions, goals)):
            notes.append(f"--match {MMTB} changes nothing: no plan of this run is a mission's")
        result.show(summary_table(folder), *tables, *notes)
    return int(summary["errors"] > 0)
