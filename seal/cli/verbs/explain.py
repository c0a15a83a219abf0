"""Say why the failed goals of a run failed: a waterfall over stages, with examples."""

from pathlib import Path
from typing import Annotated

import typer

from seal.cli.options import Json, new_app
from seal.cli.output import output

app = new_app()


@app.command()
def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder; it must be scored.")],
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Whose verdict counts.  [default: mission_accuracy of missions, awareness, "
            "selection and execution of dialogue turns, else goal_state or pass_rate]",
        ),
    ] = None,
    examples: Annotated[int, typer.Option(min=0, help="Examples of each stage.")] = 3,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for explanation.json, .md and the figure of the waterfall."
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Attribute every failed goal of a run to the first stage that explains it.

    Stages: infrastructure, gold tool not retrieved, user simulator broke its brief, not called,
    wrong tool, wrong argument, tool error not recovered, gave up, answer contradicts or omits
    results, checker unsure. What none explains is unexplained. No model is asked.
    """
    with output(json) as result:
        from seal.report.explanation import explain
        from seal.report.explanation_tables import explanation_tables

        content = explain(run, metric, examples, out)
        result.result(content)
        result.show(*(() if json else explanation_tables(content)))
        if out is not None:
            result.show(f"explanation: {out}", *content["notes"])
    return 0
