"""How a role may fail, and whose failure it is: the role's, a server's, or ours."""

from __future__ import annotations

import asyncio
import socket
import threading
import traceback
from pathlib import Path

from seal.core import InfrastructureError, SealError, UsageError, fault

_OUTAGES = (InfrastructureError, ConnectionError, socket.gaierror)
_OURS = Path(__file__).resolve().parents[1]
_CHAT = str(Path(__file__).with_name("view.py"))
"""What a role sees of its chat."""


class PluginError(InfrastructureError):
    """A role, or what it used, raised an exception that is none of ours: a fault of the program."""


class NeverBegunError(UsageError):
    """An agent elsewhere fails in every chat before it asks anything: the run ends."""


class CallsSpentError(BaseException):
    """A role goes on calling after its results said that the budget is spent: its reply ends.

    It never leaves the conversation, which ends with the stop reason `max_calls`.
    """


FAULTS = (Exception, SystemExit, asyncio.CancelledError, CallsSpentError)
"""What a plug-in may end with. The last is no `Exception`, so that its own code lets it by."""


def is_interrupt(error: BaseException) -> bool:
    """Tell whether it is the user who ends the program; in other threads code raised it itself."""
    main = threading.current_thread() is threading.main_thread()
    return isinstance(error, KeyboardInterrupt) and main


def is_outage(error: BaseException) -> bool:
    """Tell whether an exception, or what led to it, is the failure of a server or of ours.

    A server says so by an HTTP status of 429 or from 500 on, a network by a broken connection. A
    `TimeoutError` is one where it led to another exception; by itself it may be the role's own.
    """
    earlier: BaseException | None = error
    while earlier is not None:
        late = isinstance(earlier, TimeoutError) and earlier is not error
        if late or _is_refused(earlier) or isinstance(earlier, _OUTAGES):
            return True
        earlier = earlier.__cause__ or earlier.__context__
    return False


def _is_refused(error: BaseException) -> bool:
    """Tell whether an exception has the HTTP status of a server that is busy or broken.

    httpx and requests keep it in the exception's `response`; urllib and aiohttp call it `status`.
    """
    answers = (error, getattr(error, "response", None))
    stated = [getattr(one, name, None) for one in answers for name in ("status_code", "status")]
    return any(isinstance(code, int) and (code == 429 or 500 <= code < 600) for code in stated)


def is_of_the_chat(error: SealError) -> bool:
    """Tell whether a role got an error from its chat: a server's, a budget's, or a misuse of it.

    Any other one is the role's own, such as one that it raises or that a verb of ours told it.
    """
    places = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
    return isinstance(error, (InfrastructureError, NeverBegunError)) or _CHAT in places


def crash(error: BaseException) -> str:
    """Return what an exception of a user's code says, and below it where it came from.

    Files stand without their folders.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not Path(frame.filename).is_relative_to(_OURS)]
    lines = (f"  {Path(f.filename).name}, line {f.lineno}, in {f.name}: {f.line}" for f in own)
    return "\n".join([fault(error), *lines])
