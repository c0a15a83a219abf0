"""Score a run's trajectories again, without a chat."""

from pathlib import Path
from typing import Annotated

import typer

from seal.cli.options import Json, new_app
from seal.cli.output import output

app = new_app()


@app.command()
def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder.")],
    judge: Annotated[
        str, typer.Option(help="rule, llm, or auto: llm where a judge's model is named.")
    ] = "auto",
    json: Json = False,
) -> int:
    """Score the trajectories of a run again; scores.jsonl and summary.json are replaced."""
    from seal.pipeline.run_folder import RunFolder
    from seal.pipeline.score import score_run
    from seal.report.tables import summary_table

    folder = RunFolder.open(run)
    with output(json) as result:
        summary = score_run(folder, judge=judge)
        result.result({"run": str(folder.path), **summary})
        result.show(summary_table(folder))
    return 1 if summary.get("errors") else 0
