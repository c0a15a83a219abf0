"""A child process of another interpreter that answers questions, as lines of JSON.

A question is `{"ask": NAME, "of": {...}}`, and its answer `{"value": ...}` or `{"error": TEXT}`.
The child is foreign code, which the user allowed. It gets of our environment what a program needs
to start, and no keys.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, NoReturn

from seal.core import JSON
from seal.core.values import json_bytes
from seal.sandbox.bubblewrap import LineProcess

_KEPT = ("PATH", "HOME", "LANG", "TMPDIR", "SYSTEMROOT")
_LONGEST = 1 << 28
_START = 60.0
"""Seconds that a child may take to begin."""


class PeerError(Exception):
    """What the child said went wrong."""


class PeerLostError(PeerError):
    """The child is gone: it took too long, or it ended."""


class Peer:
    """A child process, begun when it is first asked, and again after it was lost. Safe in threads.

    Args:
        command: Program and arguments.
        seconds: What an answer may take, after it has begun.
    """

    def __init__(self, command: Sequence[str], seconds: float) -> None:
        self._command = command
        self._seconds = seconds
        self._lock = Lock()
        self._process: LineProcess | None = None

    def ask(self, what: str, **of: Any) -> Any:
        """Return the child's answer.

        Args:
            what: Name of the question.
            of: Its arguments, as JSON.

        Raises:
            OSError: The program cannot be started.
            PeerError: The child says what went wrong.
            PeerLostError: It took too long, or ended.
        """
        line = json_bytes({"ask": what, "of": of}) + b"\n"
        with self._lock:
            seconds = self._seconds if self._process is not None else self._seconds + _START
            if self._process is None:
                kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
                environment = {**kept, "PYTHONHASHSEED": "0"}
                self._process = LineProcess(self._command, environment, _LONGEST)
            try:
                answer = self._process.ask(line, seconds)
            except TimeoutError:
                self._lose(f"no answer within {seconds:g} s")
            except BaseException:
                self.close()  # what it still answers would be taken for the next answer
                raise
            if not answer.endswith(b"\n"):
                self._lose(f"its process ended with status {self._process.status()}")
            try:
                said: Mapping[str, JSON] = json.loads(answer)
            except (ValueError, RecursionError):
                self._lose("it broke its own answer")
        if "error" in said:
            raise PeerError(str(said["error"]))
        return said["value"]

    def _lose(self, problem: str) -> NoReturn:
        self.close()
        raise PeerLostError(problem)

    def close(self) -> None:
        """End the process. Closing twice is fine."""
        if self._process is not None:
            self._process.close()
            self._process = None
