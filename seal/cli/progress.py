"""Progress on a terminal: rate and remaining time; nothing where stderr is a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import ProgressColumn, Task, TaskID
    from rich.text import Text

Advance = Callable[[str, int, int], None]
"""Told the stage, how many of its items are done, and how many there are."""


@contextmanager
def progress() -> Iterator[Advance]:
    """Give what is told of progress, and shows it where stderr is a terminal."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    bars: dict[str, TaskID] = {}
    columns = (BarColumn(), MofNCompleteColumn(), _rate_column(), TimeRemainingColumn())
    with Progress("{task.description}", *columns, console=Console(stderr=True)) as shown:

        def advance(stage: str, done: int, total: int) -> None:
            if stage not in bars:
                bars[stage] = shown.add_task(stage, total=total)
            shown.update(bars[stage], completed=done, total=total)

        yield advance


def _rate_column() -> ProgressColumn:
    from rich.progress import ProgressColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "", style="progress.data.speed")

    return Rate()
