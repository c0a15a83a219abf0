"""The signals by which a user, a scheduler or a closed terminal ends a command."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
_DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)


@contextmanager
def ending_signals() -> Iterator[list[signal.Signals]]:
    """Let each signal that ends a process raise KeyboardInterrupt, as Ctrl-C does.

    So what is finished is kept, and worker processes are ended. A signal that is ignored, as
    SIGHUP is under nohup, stays ignored.

    Yields:
        The signals that came.
    """
    came: list[signal.Signals] = []

    process = os.getpid()

    def end(number: int, frame: FrameType | None) -> NoReturn:
        if os.getpid() != process:  # forked by a function of the user's
            os._exit(128 + number)
        came.append(signal.Signals(number))
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield came  # only the main thread is given signals
        return
    known = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
    before = {one: signal.getsignal(one) for one in known}
    ours = [one for one in known if before[one] in _DEFAULTS]
    for one in ours:
        signal.signal(one, end)
    try:
        yield came
    finally:
        for one in ours:
            signal.signal(one, before[one])
