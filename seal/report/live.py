"""What a run does now: how far it is, its means until now, and the chats that go on."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from seal.core.files import opened
from seal.core.text import counted, one_line
from seal.core.values import json_value
from seal.report.grids import Grid
from seal.report.lanes import (
    answer_of,
    decisive_of,
    facts_of,
    outcome_label,
    summary_table,
)
from seal.report.pages import link, task_link
from seal.report.transcript import COLOURS
from seal.runs.running import RunningRun

if TYPE_CHECKING:
    from rich.text import Text


# -- A running run for a person: lines and tables, for a terminal or a page.

_GOING = 12
"""Chats that go on, of which a reader is told."""
_SAID = 100
"""Characters of what is said in one."""


def live_parts(run: RunningRun, linked: bool = False) -> Iterator[str | Grid]:
    """Yield how far a run is, its answer and means until now, its chats, and those that ended last.

    Args:
        run: It.
        linked: Whether tasks lead to their places in the run's page.

    Raises:
        DataError: A file of the run is damaged.
    """
    state = run.state()
    parts = [f"{state.done:,} of {counted(state.total, 'chat')}", counted(state.errors, "error")]
    parts.append(f"cost: {facts_of(run).cost}")
    parts += [] if state.left_s is None else [f"about {_lasting(state.left_s)} left"]
    yield f"running: {', '.join(parts)}"
    if state.scored:
        yield from answer_of(run)
        yield summary_table(run)._replace(
            title=f"until now, {counted(state.scored, 'chat')} scored"
        )

    def shown(task: str, trial: int | None = None) -> str:
        return link(task, task_link(task, trial=trial)) if linked else task

    paths = sorted((run.path / "live").glob("*.jsonl"))[:_GOING]
    going = [
        (shown(told[0]), told[1], one_line(told[2], _SAID)) for told in map(_now, paths) if told
    ]
    if going:
        yield Grid("goes on", ("task", "who", "says or calls"), going, names=3)
    decisive = decisive_of([run])
    labels = (outcome_label(failed, scores, decisive) for _, failed, scores in state.last)
    badge = Markup('<span class="badge {0}">{0}</span>').format if linked else str
    last = [
        (shown(*pair), str(pair[1]), badge(label))
        for (pair, *_), label in zip(state.last, labels, strict=True)
    ]
    if last:
        yield Grid("ended last", ("task", "trial", "outcome"), last, names=3, colours=COLOURS)


def _lasting(seconds: float) -> str:
    """Return how long something takes: `20 s`, `5 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# -- The chats that are being played, a line each, as their last step tells.

_EVERY = 0.5
"""Seconds between two looks at the files; what changes faster cannot be read."""
_AGE = 1.0
"""Seconds for which a chat has to go on before it has a line."""
_TAIL = 1 << 16
"""Bytes of a file that are looked at."""
_WIDE = 300
"""Most characters of a line, however wide the terminal is."""


class LiveChats:
    """The chats of a run folder. A chat keeps its line until it ends; then another one gets it.

    Args:
        run: The folder, which need not be there yet.
        most: Lines.
    """

    def __init__(self, run: Path, most: int) -> None:
        self._folder = run.resolve() / "live"  # an agent may change the working folder
        self._seen: dict[Path, float] = {}
        self._lines: list[Path | None] = [None] * most
        self._texts: list[Text] = []
        self._looked = 0.0

    def texts(self) -> list[Text]:
        """Return the lines; one is empty where a chat above others has ended."""
        now = time.monotonic()
        if now - self._looked >= _EVERY:
            self._looked = now
            self._place(now)
            self._texts = [_live_text(path) for path in self._lines]
            while self._texts and not self._texts[-1]:
                self._texts.pop()
        return self._texts

    def close(self) -> None:
        """Have no lines from now on."""
        self._texts = []
        self._looked = math.inf

    def _place(self, now: float) -> None:
        """Free the lines of chats that have ended, and give them to others."""
        there = sorted(self._folder.glob("*.jsonl"))
        self._seen = {path: self._seen.get(path, now) for path in there}
        self._lines = [path if path in self._seen else None for path in self._lines]
        waiting = [p for p in there if now - self._seen[p] >= _AGE and p not in self._lines]
        for place, path in enumerate(self._lines):
            if path is None and waiting:
                self._lines[place] = waiting.pop(0)


def _live_text(path: Path | None) -> Text:
    """Return a chat as a line: its task, who spoke last, and what."""
    from rich.text import Text

    told = None if path is None else _now(path)
    if told is None:
        return Text()
    task, who, said = told
    words = f"{task} {who}{'' if said.startswith('calls ') else ':'} {said}"
    return Text(f"  {one_line(words, _WIDE)}", style="dim", no_wrap=True, overflow="ellipsis")


def _now(path: Path) -> tuple[str, str, str] | None:
    """Return the task of a chat, who spoke last, and what; of a call its tool."""
    try:
        told = json_value(_last_line(path))
        step, call = told["step"], told["step"].get("call")
        said = f"calls {call['name']}" if call else step["content"]
        return str(told["task_id"]), str(step["author"]), one_line(said, _WIDE)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None  # it has ended just now, its first step is to come, or its last one is long


def _last_line(path: Path) -> bytes:
    """Return the last whole line, cut at its start where it is longer than `_TAIL`."""
    with opened(path) as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
        return b"".join(file.read().split(b"\n")[-2:-1])
