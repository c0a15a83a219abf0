"""Limits of time, and child processes that answer line by line."""

from __future__ import annotations

import math
import os
import queue
import selectors
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TypeVar

from seal.core.errors import OverdueError

# -- Until when something may take: the nearest of all limits that hold where it runs.

Result = TypeVar("Result")

_UNTIL: ContextVar[float] = ContextVar("until", default=math.inf)
"""On the monotonic clock; threads and tasks that copy their context have the limits of its chat."""


@contextmanager
def within(seconds: float | None) -> Iterator[None]:
    """Let what runs in the block take at most so long; a limit around it that ends sooner holds.

    Args:
        seconds: From now; None: no limit besides those around it.
    """
    until = math.inf if seconds is None else time.monotonic() + seconds
    token = _UNTIL.set(min(until, _UNTIL.get()))
    try:
        yield
    finally:
        _UNTIL.reset(token)


def seconds_left() -> float:
    """Return how long what runs here may still take, at least 0; infinity where nothing limits."""
    until = _UNTIL.get()
    return until if until == math.inf else max(0.0, until - time.monotonic())


def given_up(function: Callable[[], Result], seconds: float) -> Result:
    """Return what a function returns in a thread of its own, which is given up after a while.

    Raises:
        OverdueError: It takes longer. Its thread goes on, if it can.
    """
    done: queue.SimpleQueue[tuple[Result | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            done.put((function(), None))
        except BaseException as error:  # handed to the thread that waits
            done.put((None, error))

    threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    try:
        value, failure = done.get(timeout=min(seconds, threading.TIMEOUT_MAX))
    except queue.Empty:
        raise OverdueError("it takes longer than it may") from None
    if failure is not None:
        raise failure
    return value  # type: ignore[return-value]


# -- A child process that answers lines: each line that it is sent with one of its own.


class LineProcess:
    """One child process. What it writes to its standard error is dropped.

    Args:
        command: Program and arguments; no shell runs it.
        environment: Its variables, all of them.
        longest: Bytes of an answer, at most about.
        passed: File descriptors that it inherits.

    Raises:
        OSError: The program is not there, or the machine has no process left.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        longest: int,
        passed: Sequence[int] = (),
    ) -> None:
        self._longest = longest
        self._process = subprocess.Popen(
            command,
            pass_fds=passed,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(environment),
            bufsize=0,
        )
        assert self._process.stdin and self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        for stream in (self._stdin, self._stdout):
            os.set_blocking(stream.fileno(), False)
        self._end = weakref.finalize(self, _end, self._process)

    def ask(self, line: bytes, seconds: float) -> bytes:
        """Return the child's answer to a line; one without a newline at its end is not whole.

        Raises:
            TimeoutError: There was none in time.
        """
        try:
            return self._exchange(line, time.monotonic() + seconds)
        except TimeoutError:
            raise
        except OSError:  # it closed its streams, or is gone
            return b""

    def status(self) -> int | None:
        """Return the status with which the child ended; None: it runs on."""
        try:
            return self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return None

    def close(self) -> None:
        """Kill the child, as happens with this object too. Closing twice is fine."""
        self._end()

    def _exchange(self, line: bytes, deadline: float) -> bytes:
        """Write a line and read one; nothing blocks, for the child may do neither."""
        answer = bytearray()
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdin, selectors.EVENT_WRITE)
            selector.register(self._stdout, selectors.EVENT_READ)
            while len(answer) <= self._longest:
                left = deadline - time.monotonic()
                ready = selector.select(left) if left > 0 else []
                if not ready:  # nor may a child that never stops talking have more time
                    raise TimeoutError
                for key, _ in ready:
                    if key.fileobj is self._stdin:
                        line = line[os.write(key.fd, line) :]
                        if not line:
                            selector.unregister(self._stdin)
                        continue
                    piece = os.read(key.fd, 65_536)
                    answer += piece
                    if not piece or b"\n" in piece:
                        return bytes(answer[: answer.find(b"\n") + 1])
        return b""


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()
