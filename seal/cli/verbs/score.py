"""Score a run's trajectories again, without a chat."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seal.cli.groups import grouped
from seal.cli.options import (
    AllowCode,
    BaseUrl,
    CacheDir,
    Json,
    Judge,
    Metrics,
    ModelOptions,
    Votes,
    new_app,
    typed_pairs,
)
from seal.cli.output import output
from seal.cli.progress import progress

if TYPE_CHECKING:
    from seal.runs.run_folder import RunFolder

app = new_app()


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Judging: who says what is solved, and by which rules and metrics."""

    judge: Judge = "auto"
    judge_model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL", help="PROVIDER/MODEL of the judge; repeated, they vote together."
        ),
    ] = None
    votes: Votes = None
    verdicts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Recorded verdicts of this run: pass_rate_results, JSON or CSV."
        ),
    ] = None
    audit: Annotated[
        str | None,
        typer.Option(
            metavar="rules|FILE",
            help="Hold the judge against rules, and against people's labels: the CSV file of "
            "`seal annotate`, or one of task_id,trial,label with solved, unsolved or unsure.",
        ),
    ] = None
    match: Annotated[
        str | None,
        typer.Option(
            help="Rules of scores: clean, toolsandbox, mmtb, lenient or exact; else each "
            "task's own."
        ),
    ] = None
    metric: Metrics = None
    allow_code: AllowCode = None


@dataclass(frozen=True, kw_only=True)
class Model:
    """Model: how judges are asked."""

    model_option: ModelOptions = None
    base_url: BaseUrl = None
    workers: Annotated[int, typer.Option(help="Answers judged at once.")] = 4
    cache_dir: CacheDir = None


@grouped(app)
def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    judging: Judging,
    model: Model,
    json: Json = False,
) -> int:
    """Score the trajectories of a run again; its scores and its summary are replaced."""
    from seal.experiments.judge_audit import audit_run
    from seal.report.result_tables import result_tables
    from seal.runs.rescore import rescore
    from seal.runs.run_folder import RunFolder

    with output(json) as result:
        with progress() as advance:
            summary = rescore(
                run,
                judge=judging.judge,
                judge_model=tuple(judging.judge_model) if judging.judge_model else None,
                model_options=typed_pairs("--model-option", model.model_option),
                base_url=model.base_url,
                metrics=tuple(judging.metric or ()),
                allow_code=tuple(judging.allow_code or ()),
                workers=model.workers,
                cache_dir=model.cache_dir,
                match=judging.match,
                votes=judging.votes,
                verdicts=judging.verdicts,
                progress=lambda done, total: advance("score", done, total),
            )
        folder = RunFolder.open(run)
        audit = judging.audit
        if audit is not None:
            summary["audit"] = audit_run(folder, None if audit == "rules" else Path(audit))
        result.result({"run": str(run), **summary})
        result.show(*result_tables(folder), *_notes_on(judging.match, folder))
    return int(summary["errors"] > 0)


def _notes_on(match: str | None, run: "RunFolder") -> list[str]:
    """Return what is to be said of rules that no plan of the run is scored by."""
    from seal.evaluation.mission_metrics import no_missions
    from seal.evaluation.rules import MMTB

    goals = (goal for task in run.tasks() for goal in task.goals)
    if match != MMTB or not all(map(no_missions, goals)):
        return []
    return [f"--match {MMTB} changes nothing: no plan of this run is a mission's"]
