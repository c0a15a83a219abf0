"""The chats that are being played, a line each, as their last step tells."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path

import orjson
from rich.text import Text

from seal.report.printable import one_line

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
            self._texts = [_text(path) for path in self._lines]
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
        for number, path in enumerate(self._lines):
            if path is None and waiting:
                self._lines[number] = waiting.pop(0)


def _text(path: Path | None) -> Text:
    """Return the task of a chat, who spoke last, and what; of a call its tool."""
    if path is None:
        return Text()
    try:
        told = orjson.loads(_last_line(path))
        task, step = told["task_id"], told["step"]
        call = step.get("call")
        said = f" calls {call['name']}" if call else f": {step['content']}"
        words = f"{task} {step['author']}{said}"
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return Text()  # it has ended just now, its first step is to come, or its last one is long
    return Text(f"  {one_line(words, _WIDE)}", style="dim", no_wrap=True, overflow="ellipsis")


def _last_line(path: Path) -> bytes:
    """Return the last whole line, cut at its start where it is longer than `_TAIL`."""
    with path.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
        return b"".join(file.read().split(b"\n")[-2:-1])
