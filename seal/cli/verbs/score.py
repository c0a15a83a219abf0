"""Score a run's trajectories again, without a chat."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.cli import options as shared
from seal.cli.groups import argument, option, settings_of, verb
from seal.cli.output import output, progress
from seal.core import UsageError
from seal.runs.score_settings import JudgeGroup, ScoreGroup, ScoreSettings

if TYPE_CHECKING:
    from seal.runs.run_folder import RunFolder


@dataclass(frozen=True, kw_only=True)
class Judging(ScoreGroup):
    """Judging: who says what is solved, and by which rules and metrics."""

    audit: str | None = option(
        None,
        "Compare the judge with rules, and with people's labels: the CSV file of `seal "
        "annotate`, a CSV of task_id,trial,label (solved, unsolved or unsure), or what the "
        "benchmark's authors recorded. planted: test the judge of roles with planted replies.",
        metavar="rules|planted|FILE",
    )


@verb("score")
def score_command(
    *,
    run: Path = argument("Run folder.", metavar="RUN"),
    judging: Judging,
    model: JudgeGroup,
    json: bool = shared.JSON,
) -> int:
    """Score the trajectories of a run again; this replaces its scores and its summary."""
    from seal.experiments.judge_audit import audit_run
    from seal.report.errata_section import errata_grid
    from seal.report.run_results import result_tables
    from seal.runs.rescore import rescore
    from seal.runs.run_folder import RunFolder, exit_code_of

    told = settings_of(judging, model)
    audit = told.pop("audit")
    planted = audit == "planted"
    with output(json) as result:
        with progress() as advance:
            summary = rescore(
                run,
                ScoreSettings(**told, planted=planted),
                lambda done, total: advance("score", done, total),
            )
        folder = RunFolder.open(run)
        if planted and not any(name.startswith("planted_") for name in summary["metrics"]):
            raise UsageError(
                f"{run}: its benchmark has no judge of roles to plant replies for; drop --audit"
            )
        if audit is not None and not planted:
            summary["audit"] = audit_run(folder, None if audit == "rules" else Path(audit))
        corrected = folder.corrected()
        summary |= {"corrected": corrected.summary()} if corrected else {}
        result.result({"run": str(run), **summary})
        beside = filter(None, [errata_grid(folder)])
        result.show(*result_tables(folder), *beside, *_notes_on(judging.match, folder, summary))
    return exit_code_of(summary)


def _notes_on(match: str | None, run: "RunFolder", summary: dict[str, Any]) -> list[str]:
    """Return what is to be said of rules by which some goals or all are not scored."""
    from seal.core.text import counted
    from seal.evaluation.calls import VERDICT
    from seal.evaluation.goals import no_missions
    from seal.evaluation.rules import rules_named

    bench = run.benchmark()
    if bench is not None and match in bench.matches:
        reasons = summary["metrics"][VERDICT].get("reasons", {})
        told = [(counted(goals, "goal"), why) for why, goals in reasons.items()]
        return [f"--match {match} does not decide {goals}: {why}" for goals, why in told]
    goals = (goal for task in run.tasks() for goal in task.goals)
    if rules_named(match).missions is None or not all(map(no_missions, goals)):
        return []
    return [f"--match {match} changes nothing: no plan of this run is a mission's"]
