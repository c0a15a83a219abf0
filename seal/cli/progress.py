"""Progress on a terminal: rate and remaining time; nothing where stderr is a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

Advance = Callable[[int, int], None]
"""Told how many are done and how many there are."""


@contextmanager
def progress(what: str, quiet: bool = False) -> Iterator[Advance | None]:
    """Give what tells of progress while the block runs; None where nobody watches.

    Args:
        what: Said before the bar, such as "chats".
        quiet: True: nobody watches, whatever stderr is.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    bar = Progress(
        "{task.description}",
        BarColumn(),
        MofNCompleteColumn(),
        _rate_column(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _rate_column() -> ProgressColumn:
    from rich.progress import ProgressColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "", style="progress.data.speed")

    return Rate()
