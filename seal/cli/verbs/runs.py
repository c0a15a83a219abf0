"""List the runs below a folder: benchmark, model, chats, first metric, when."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.cli.groups import argument, verb
from seal.cli.options import JSON, new_app
from seal.cli.output import output
from seal.core import DataError

if TYPE_CHECKING:
    from seal.runs.run_folder import RunFolder

app = new_app()


@verb(app)
def command(
    folder: Path = argument("Where runs lie.", "runs", metavar="[FOLDER]"), json: bool = JSON
) -> int:
    """List the runs below a folder, the latest last; floors and ceilings are left out."""
    from seal.core import UsageError
    from seal.report.grids import Grid, number

    if not folder.is_dir():
        raise UsageError(f"there is no folder {folder}; give the one that runs lie in")
    with output(json) as result:
        found = [_told(run) for run in _runs_below(folder)]
        result.result({"runs": found})
        rows = []
        for run in found:
            score = f"{run['metric']} {number(run['mean'])}" if run["metric"] else run["state"]
            chats = str(run["tasks"])
            rows.append([run["run"], run["benchmark"], run["model"], score, chats, run["played"]])
        columns = ["run", "benchmark", "model", "score", "tasks", "played"]
        result.show(Grid("", columns, rows, names=4) if rows else f"no run lies below {folder}")
        result.show(*(run["damage"] for run in found if run["damage"]))
    return 0


def _runs_below(folder: Path) -> "Iterator[RunFolder]":
    """Yield the runs of a folder, also those in folders of it, by when they were begun."""
    from seal.runs.run_folder import BASELINES, RunFolder

    manifests = [
        path
        for pattern in ("run.json", "*/run.json", "*/*/run.json")
        for path in folder.glob(pattern)
        if path.parent.name not in BASELINES
    ]
    for path in sorted(manifests, key=lambda path: (path.stat().st_mtime, path)):
        yield RunFolder(path.parent)


def _told(run: "RunFolder") -> dict[str, Any]:
    """Return what stands in the list of a run; of a damaged one, that it is."""
    from seal.report.lanes import headline_of, main_metrics, model_name

    played = datetime.fromtimestamp(run.path.joinpath("run.json").stat().st_mtime)
    told: dict[str, Any] = {"run": str(run.path), "benchmark": "", "model": "", "damage": ""}
    told |= {
        "state": "",
        "metric": "",
        "mean": None,
        "tasks": "",
        "played": f"{played:%Y-%m-%d %H:%M}",
    }
    try:
        told |= {"benchmark": run.pool_name, "model": model_name(run), "state": "not scored"}
        if (run.path / "summary.json").is_file():
            summary = run.summary()
            metrics = summary["metrics"]
            first, *_ = [*main_metrics([metrics], headline_of([run])), ""]
            mean = metrics[first]["mean"] if first else None
            told |= {"metric": first, "mean": mean, "tasks": summary["tasks"], "state": "scored"}
    except DataError as error:
        told |= {"state": "damaged", "damage": str(error)}
    return told
