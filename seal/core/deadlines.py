"""Until when something may take: the nearest of all limits that hold where it runs."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from typing import TypeVar

from seal.core.errors import OverdueError

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
    result: Future[Result] = Future()

    def run() -> None:
        try:
            result.set_result(function())
        except BaseException as error:  # handed to the thread that waits
            result.set_exception(error)

    threading.Thread(target=copy_context().run, args=(run,), daemon=True).start()
    if not wait([result], min(seconds, threading.TIMEOUT_MAX)).done:
        raise OverdueError("it takes longer than it may")
    return result.result()
