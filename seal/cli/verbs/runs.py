"""List the runs below a folder: benchmark, model, chats, first metric, when."""

from pathlib import Path

from seal.cli.groups import argument, verb
from seal.cli.options import JSON
from seal.cli.output import output


@verb("runs")
def runs_command(
    folder: Path = argument("Folder that holds runs.", "runs", metavar="[FOLDER]"),
    json: bool = JSON,
) -> int:
    """List the runs below a folder, the latest last, without floors and ceilings."""
    from seal.core import UsageError
    from seal.report.grids import Grid, number
    from seal.report.run_facts import facts_of
    from seal.report.run_places import runs_below

    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; give the one that runs lie in")
    with output(json) as result:
        found = list(map(facts_of, runs_below(folder)))
        told = [
            {
                **{name: getattr(run, name) for name in _TOLD},
                "run": str(run.run.path),
                "mean": run.headline.mean,
            }
            for run in found
        ]
        result.result({"runs": told})
        rows = []
        for run in found:
            score = f"{run.metric} {number(run.headline.mean)}" if run.metric else run.state
            tasks = str(run.tasks) if run.state == "scored" else ""
            rows.append([str(run.run.path), run.benchmark, run.model, score, tasks, run.played])
        columns = ["run", "benchmark", "model", "score", "tasks", "played (UTC)"]
        result.show(Grid("", columns, rows, names=4) if rows else f"no run lies below {folder}")
        result.show(*(run.damage for run in found if run.damage))
    return 0


_TOLD = ("benchmark", "model", "damage", "state", "metric", "tasks", "played", "errors", "dollars")
