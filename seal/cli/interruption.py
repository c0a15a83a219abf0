"""The signals by which a user, a scheduler or a closed terminal ends a command."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import threading
import time
from _thread import start_new_thread
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from seal.core.secrets import without_password

_ENDING = ("SIGINT", "SIGTERM", "SIGHUP")
_DEFAULTS = (signal.SIG_DFL, signal.default_int_handler)


class Ended(KeyboardInterrupt):
    """A signal came.

    It is no KeyboardInterrupt itself. If one leaves a text that was executed, as while a dataclass
    is made, Python later ends by SIGINT. It does so instead of its exit code, though all was
    caught.
    """


@contextmanager
def ending_signals() -> Iterator[list[signal.Signals]]:
    """Let each signal that ends a process raise a KeyboardInterrupt, as Ctrl-C does.

    So what is finished is kept, and worker processes are ended. A signal that is ignored, as
    SIGHUP is under nohup, stays ignored.

    Yields:
        The signals that came.
    """
    came: list[signal.Signals] = []
    over = False
    process = os.getpid()

    def end(number: int, frame: FrameType | None) -> None:
        if os.getpid() != process:  # forked by a function of the user's
            os._exit(128 + number)
        came.append(signal.Signals(number))
        if not over:
            raise Ended

    def unraised(what: sys.UnraisableHookArgs) -> None:
        # Raised in a callback of the interpreter, such as a weak reference's, which drops it: the
        # signal comes again once the callback has ended.
        if isinstance(what.exc_value, Ended):
            start_new_thread(again, ())
        else:
            told(what)

    def again() -> None:
        time.sleep(0.05)
        if not over:
            os.kill(process, came[-1])

    if threading.current_thread() is not threading.main_thread():
        yield came  # only the main thread is given signals
        return
    known = [getattr(signal, name) for name in _ENDING if hasattr(signal, name)]
    before = {one: signal.getsignal(one) for one in known}
    ours = [one for one in known if before[one] in _DEFAULTS]
    told, sys.unraisablehook = sys.unraisablehook, unraised
    for one in ours:
        signal.signal(one, end)
    try:
        yield came
    finally:
        over = True  # nothing is left to be ended
        for one in ours:
            signal.signal(one, before[one])
        sys.unraisablehook = told


@contextmanager
def resumable(out: Path | None, kept: str = "what is finished is kept") -> Iterator[None]:
    """Let an interruption tell what is kept, and the command that goes on in the folder `out`.

    Args:
        out: The folder; None: nothing is written, and nothing is told.
        kept: What is.
    """
    try:
        yield
    except KeyboardInterrupt:
        if out is None:
            raise
        raise Ended(f"{kept}. Go on with: {resuming(out)}") from None


def resuming(out: Path) -> str:
    """Return the command that goes on with what this one began in a folder."""
    words = sys.argv[1:]
    named = any(word == "--out" or word.startswith("--out=") for word in words)
    further = [*([] if named else ["--out", str(out)]), "--resume"]
    again = (without_password(word) for word in words if word != "--resume")
    return f"seal {shlex.join([*again, *further])}"
