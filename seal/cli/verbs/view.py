"""Show a run's tasks, or read one chat, finished or running."""

from pathlib import Path

from seal.cli.groups import argument, flag, option, verb
from seal.cli.output import new_console


@verb("view")
def view_command(
    run: Path = argument("Run folder; the run may still go on.", metavar="RUN"),
    task: str | None = argument(
        "Id of a task, or its beginning or last part.", None, metavar="[TASK]"
    ),
    trial: int = option(0, "Trial of the task to show."),
    follow: bool = flag("Print chats as they grow."),
    full: bool = flag("Do not shorten long texts."),
) -> int:
    """List a run's tasks, or show who said what to whom in one chat."""
    from seal.report.chat_views import view
    from seal.report.transcript import FOLD
    from seal.runs.run_folder import RunFolder

    fold = None if full else FOLD
    console = new_console()
    view(RunFolder.open(run), task, trial, follow, out=console, fold=fold)
    return 0
