"""Progress on stderr: rate and remaining time on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from seal.cli.failure import tell

if TYPE_CHECKING:
    from rich.progress import ProgressColumn, Task, TaskID
    from rich.text import Text

Advance = Callable[[str, int, int], None]
"""Told the stage, how many of its items are done, and how many there are."""


_TENTHS = 10


def is_shown() -> bool:
    """Tell whether progress is drawn: stderr is a terminal."""
    return sys.stderr.isatty()


@contextmanager
def progress(lines: Collection[str] = ()) -> Iterator[Advance]:
    """Give what is told of progress, and show it on stderr.

    Args:
        lines: Stages of which each tenth is a line where stderr is no terminal; nothing is told
            there of others.
    """
    if not is_shown():
        yield _by_lines(lines)
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


def _by_lines(stages: Collection[str]) -> Advance:
    told = dict.fromkeys(stages, 0)

    def advance(stage: str, done: int, total: int) -> None:
        tenth = _TENTHS * done // max(total, 1)
        if tenth > told.get(stage, _TENTHS):
            told[stage] = tenth
            tell(f"{stage}: {done} of {total}")

    return advance


def _rate_column() -> ProgressColumn:
    from rich.progress import ProgressColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "", style="progress.data.speed")

    return Rate()
