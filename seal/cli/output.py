"""What a verb prints: for a person, or as exactly one JSON object; and progress on stderr.

Progress has rate and remaining time on a terminal; elsewhere it is a line now and then.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import TYPE_CHECKING, Any

import orjson

from seal.cli.failure import tell
from seal.core.plain import INDENTED, json_bytes
from seal.report.grids import told
from seal.report.printable import escaped_json, printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import ProgressColumn, Task, TaskID
    from rich.text import Text

_PIPE_WIDTH = 120
"""Columns of a table that is not written to a terminal, where COLUMNS does not say."""


class Output:
    """Where a verb puts its result.

    Args:
        json: Print one JSON object instead of texts and tables.
    """

    def __init__(self, json: bool) -> None:
        self.json = json
        self.object: Mapping[str, Any] = {}

    def result(self, value: Mapping[str, Any]) -> None:
        """Set the object that `--json` prints."""
        self.object = value

    def show(self, *renderables: Any) -> None:
        """Print texts and tables for a person; with `--json` nothing."""
        if not self.json:
            console = new_console()
            for renderable in told(renderables, padding=(0, 1)):
                console.print(renderable, soft_wrap=isinstance(renderable, str))

    def fields(self, report: Mapping[str, Any], *further: str, **unshown: Any) -> None:
        """Set a report as the object and print it in lines; `unshown` is in the object alone."""
        self.result({**report, **unshown})
        self.show(*field_lines(report), *further)


def new_console() -> Console:
    """Return a console on stdout: colours on a terminal only, never with NO_COLOR."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return Console(width=width, highlight=False, markup=False, emoji=False)


def field_lines(report: Mapping[str, Any]) -> list[str]:
    """Return a report for a person, printable: a line a field, one for each part of a map of parts.

    Of a list with more than `_LISTED` items the length is told; `--json` has them all.
    """
    return [printable(f"{key}: {_readable(value)}") for key, value in report.items()]


_LISTED = 5


def _readable(value: Any) -> str:
    if isinstance(value, Mapping):
        if any(isinstance(item, (Mapping, list, tuple)) for item in value.values()):
            return "".join(f"\n  {key}: {_readable(item)}" for key, item in value.items())
        return ", ".join(f"{key} {item}" for key, item in value.items()) or "none"
    if isinstance(value, (list, tuple)):
        if len(value) > _LISTED:
            return f"{len(value)}, listed by --json"
        return ", ".join(map(str, value)) or "none"
    return str(value)


@contextmanager
def output(json: bool) -> Iterator[Output]:
    """Give a verb its output; with `json`, print the object at the end and nothing before.

    What the verb, a library or a child process writes to stdout meanwhile goes to stderr.
    """
    out = Output(json)
    with _stdout_to_stderr() if json else nullcontext():
        yield out
    if json:
        text = json_bytes(out.object, INDENTED | orjson.OPT_NON_STR_KEYS, default=str)
        sys.stdout.write(escaped_json(text.decode()))
        sys.stdout.flush()


@contextmanager
def _stdout_to_stderr() -> Iterator[None]:
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


Advance = Callable[[str, int, int], None]
"""Told the stage, how many of its items are done, and how many there are."""


_TENTHS = 10
_PAUSE = 15.0
"""Seconds of a stage before its first line of progress, and between two, where stderr is no
terminal."""
_SOON = 5.0
"""Seconds for which it is not worth to tell that they are left."""


def is_shown() -> bool:
    """Tell whether progress is drawn: stderr is a terminal."""
    return sys.stderr.isatty()


@contextmanager
def progress(lines: Collection[str] = ()) -> Iterator[Advance]:
    """Give what is told of progress, and show it on stderr.

    Args:
        lines: Stages of which each tenth is a line where stderr is no terminal; of others it is
            one where they take long.
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
    told: dict[str, int] = {}
    begun: dict[str, float] = {}
    latest: dict[str, float] = {}

    def advance(stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        passed = now - begun.setdefault(stage, now)
        left = passed / max(done, 1) * (total - done)
        tenth = _TENTHS * done // max(total, 1)
        if tenth <= told.get(stage, 0):
            return
        if stage in stages:
            about = ""
        elif now - latest.get(stage, begun[stage]) < _PAUSE or left < _SOON:
            return
        else:
            about = f", {left / 60:.0f} min left" if left >= 60 else f", {left:.0f} s left"
        told[stage], latest[stage] = tenth, now
        tell(f"{stage}: {done} of {total}{about}")

    return advance


def _rate_column() -> ProgressColumn:
    from rich.progress import ProgressColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.1f}/s" if task.speed else "", style="progress.data.speed")

    return Rate()
