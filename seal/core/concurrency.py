"""Limits of time."""

from __future__ import annotations

import math
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar, copy_context
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from seal.core.errors import OverdueError

# -- Until when something may take: the nearest of all limits that hold where it runs.

Result = TypeVar("Result")

_LATE = "it takes longer than it may"
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
        raise OverdueError(_LATE) from None
    if failure is not None:
        raise failure
    return value  # type: ignore[return-value]


_AGAIN_S = 1.0
"""Seconds after which code that caught the end of its time is told again."""
_SOON_S = 0.01
"""Seconds after which it is told again, where it was amid what drops every exception."""
_TIMES = 5
"""How often it is told before the process is ended, where somebody may end that."""
STUCK: ContextVar[Callable[[str], object] | None] = ContextVar("stuck", default=None)
"""Ends the process, with why; None: nobody does."""

_LIBRARY = str(Path(os.__file__).parent) + os.sep


def unending(frame: FrameType | None) -> str:
    """Return which code does not end though it is told to, and the likely repair.

    That is the nearest code that is not of Python's own library: a metric, not `pathlib` below it.
    """
    while frame is not None and frame.f_back is not None and _is_of_python(frame):
        frame = frame.f_back
    place = "" if frame is None else f" at {frame.f_code.co_filename}, line {frame.f_lineno}"
    return f"what runs{place} does not end; if it catches every exception, let it catch its own"


def _is_of_python(frame: FrameType) -> bool:
    """Tell whether a frame runs code of Python's own library."""
    path = frame.f_code.co_filename
    is_installed = "site-packages" in path or "dist-packages" in path
    return path.startswith(("<frozen ", _LIBRARY)) and not is_installed


def _drops_errors(frame: FrameType | None) -> bool:
    """Tell whether Python drops an exception here: amid a `__del__`, or for a weak reference."""
    near = (frame, frame.f_back) if frame is not None else ()
    return any(
        one is not None
        and (
            one.f_code.co_name == "__del__"
            or one.f_globals.get("__name__") in ("weakref", "_weakrefset")
        )
        for one in near
    )


def in_time(function: Callable[[], Result]) -> Result:
    """Return what a function returns, which is ended where it runs when the nearest limit ends.

    In the main thread a signal ends it, even amid a regular expression. In others, and where
    there are no such signals, it is given up.

    Raises:
        OverdueError: It takes longer, or the limit has passed already: then it is not run.
    """
    left = seconds_left()
    if left == math.inf:
        return function()
    if left <= 0:
        raise OverdueError(_LATE)
    main = threading.current_thread() is threading.main_thread()
    if not main or not hasattr(signal, "setitimer"):
        return given_up(function, left)
    over = False
    told = 0

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal told
        if not over and _drops_errors(frame):
            signal.setitimer(signal.ITIMER_REAL, _SOON_S, _AGAIN_S)
            return
        told += 1
        if not over and told > _TIMES and (stuck := STUCK.get()) is not None:
            stuck(unending(frame))
        if not over:
            raise OverdueError(_LATE)

    before = signal.signal(signal.SIGALRM, end)
    began = time.monotonic()
    rest, interval = signal.setitimer(signal.ITIMER_REAL, left, _AGAIN_S)
    try:
        try:
            return function()
        finally:
            over = True
    finally:
        rest = rest and max(0.001, rest - (time.monotonic() - began))  # of a limit around it
        signal.setitimer(signal.ITIMER_REAL, rest, interval)
        signal.signal(signal.SIGALRM, before)


# -- A person on the terminal.

_ASKING = threading.Lock()


class Screen:
    """What else is shown on the terminal."""

    rests: Callable[[], AbstractContextManager[Any]] = staticmethod(nullcontext)
    """Within it nothing else writes there: the command line lets its bars rest."""


@contextmanager
def asking() -> Iterator[None]:
    """Ask a person on the terminal: one question at a time, and nothing else is shown."""
    with _ASKING, Screen.rests():
        yield
