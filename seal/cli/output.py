"""What is printed: for a person, or as one JSON object; progress."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import orjson
from rich.text import Text

from seal.cli.failure import tell
from seal.core.text import escaped_json, field_lines
from seal.core.values import INDENTED, json_bytes
from seal.report.grids import told

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import ProgressColumn, Task, TaskID


# -- What a verb prints: for a person, or as exactly one JSON object; and progress on stderr.
#
# Progress is live on a terminal; elsewhere it is a line for each tenth, or each minute.

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
            for renderable in told(renderables):
                console.print(renderable, soft_wrap=isinstance(renderable, str))

    def fields(self, report: Mapping[str, Any], *further: str, **unshown: Any) -> None:
        """Set a report as the object and print it in lines; `unshown` is in the object alone."""
        self.result({**report, **unshown})
        self.show(*field_lines(report), *further)


def new_console() -> Console:
    """Return a console on stdout: colours on a terminal only, never with NO_COLOR."""
    from rich.console import Console

    class Piped(Console):
        """Leaves a reader that is gone to the command (`seal.cli.failure`); rich exits with 1."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _PIPE_WIDTH
    return Piped(width=width, highlight=False, markup=False, emoji=False)


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


class Advance(Protocol):
    """Is told how far a stage is."""

    def __call__(self, stage: str, done: int, total: int, *more: str, unit: str = "") -> None:
        """Tell how many items of a stage are done, how many there are, and more in words.

        `unit` names what is counted.
        """
        ...


_TENTHS = 10
_PAUSE = 15.0
"""Seconds of a stage before its first line of progress, and between two, where stderr is no
terminal."""
_LONG = 60.0
"""Seconds after which a line comes though no further tenth is done."""
_SOON = 5.0
"""Seconds for which it is not worth to tell that they are left."""
_ENOUGH = 5
"""Items of which the time is known before it is told what the others will take."""
_CHATS = 4
"""Chats beneath the bars."""


def _left(passed: float, fresh: int, left: int) -> float | None:
    """Return how many seconds are left; None before there is enough to estimate from.

    Args:
        passed: Seconds since the first item of a stage that was told.
        fresh: Items done since then; not those that a resumed run has already.
        left: Items that are not done.
    """
    if fresh < _ENOUGH or passed < _SOON:
        return None
    return passed / fresh * left


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"


def is_shown() -> bool:
    """Tell whether progress is drawn: stderr is a terminal."""
    return sys.stderr.isatty()


@contextmanager
def progress(lines: Collection[str] = (), run: Path | None = None) -> Iterator[Advance]:
    """Give what is told of progress, and show it on stderr.

    Args:
        lines: Stages of which each tenth is a line where stderr is no terminal; of others it is
            one where they take long.
        run: Folder whose chats have a line each beneath the bars, as they go on; on a terminal.
    """
    if not is_shown():
        yield _by_lines(lines)
        return
    from rich.console import Console, RenderableType
    from rich.progress import BarColumn, Progress

    from seal.core.concurrency import Screen
    from seal.report.live import LiveChats

    chats = None if run is None else LiveChats(run, _CHATS)

    class Bars(Progress):
        def get_renderables(self) -> Iterator[RenderableType]:
            yield from super().get_renderables()
            yield from chats.texts() if chats else ()

    bars: dict[str, TaskID] = {}
    count = "{task.completed:,} of {task.total:,}{task.fields[unit]}"
    columns = (BarColumn(bar_width=20), count, _time_column(), "{task.fields[more]}")
    with Bars("{task.description}", *columns, console=Console(stderr=True)) as shown:

        def advance(stage: str, done: int, total: int, *more: str, unit: str = "") -> None:
            fresh: dict[str, Any] = {"more": "", "before": done, "unit": f" {unit}" if unit else ""}
            if stage not in bars:
                bars[stage] = shown.add_task(stage, total=total, **fresh)
            elif done < shown.tasks[bars[stage]].completed:  # the next run of an experiment
                shown.reset(bars[stage], **fresh)
            shown.update(bars[stage], completed=done, total=total, more=", ".join(more))

        @contextmanager
        def resting() -> Iterator[None]:
            shown.stop()
            try:
                yield
            finally:
                shown.start()

        before, Screen.rests = Screen.rests, resting
        try:
            yield advance
        finally:
            Screen.rests = before
            if chats:
                chats.close()


def _by_lines(stages: Collection[str]) -> Advance:
    begun: dict[str, tuple[float, int]] = {}
    """Stage to the time of its first item that was told, and how many were done then."""
    latest: dict[str, float] = {}
    told: dict[str, int] = {}
    reached: dict[str, int] = {}

    def advance(stage: str, done: int, total: int, *more: str, unit: str = "") -> None:
        now = time.monotonic()
        if done < reached.get(stage, done + 1):  # the first, or the next run of an experiment
            begun[stage], latest[stage], told[stage] = (now, done), now, 0
        reached[stage] = done
        start, before = begun[stage]
        left = _left(now - start, done - before, total - done)
        tenth = _TENTHS * done // max(total, 1)
        silent = now - latest[stage]
        if tenth <= told[stage] and silent < _LONG:
            return
        parts = [f"{stage}: {done:,} of {total:,} {unit}".rstrip()]
        if stage not in stages:
            if silent < _PAUSE or (left is not None and left < _SOON):
                return
            if left is not None:
                parts.append(f"{_span(left)} left")
        told[stage], latest[stage] = tenth, now
        tell(", ".join((*parts, *more)))

    return advance


def _time_column() -> ProgressColumn:
    """Return the time that a stage has taken, and what the rest takes by the mean of its items."""
    from rich.progress import ProgressColumn
    from rich.text import Text

    class Time(ProgressColumn):
        def render(self, task: Task) -> Text:
            passed = task.elapsed or 0.0
            told = _span(passed)
            fresh = int(task.completed) - task.fields["before"]
            left = _left(passed, fresh, int(task.remaining or 0))
            if left is not None and not task.finished:
                told += f", {_span(left)} left"
            return Text(told, style="progress.elapsed")

    return Time()
