"""Show a run's tasks, or read one chat, finished or running."""

from pathlib import Path
from typing import Annotated

import typer

from seal.cli.options import new_app
from seal.cli.output import new_console

app = new_app()


@app.command()
def command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder; it may be running.")],
    task: Annotated[
        str | None, typer.Argument(metavar="[TASK]", help="Task id, its start or its last part.")
    ] = None,
    trial: Annotated[int, typer.Option(help="Which trial of the task.")] = 0,
    follow: Annotated[bool, typer.Option("--follow", help="Print chats as they grow.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Do not shorten long texts.")] = False,
    patterns: Annotated[
        bool,
        typer.Option("--patterns", help="Table of error patterns alone, on any benchmark."),
    ] = False,
) -> int:
    """List a run's tasks, or show who said what to whom in one chat."""
    from seal.report.chat_views import view
    from seal.report.transcript import FOLD
    from seal.runs.run_folder import RunFolder

    fold = None if full else FOLD
    console = new_console()
    view(RunFolder.open(run), task, trial, follow, out=console, fold=fold, patterns=patterns)
    return 0
