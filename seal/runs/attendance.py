"""Which clients are still there: HTTP tells it by what they ask and what they close."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from seal.agents.bridges.line import Line

TASKS = "/tasks/"
"""How the paths begin at which tasks are served."""
_SESSION = b"mcp-session-id"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a client may be away, in seconds."""

    closed: float = 15.0
    """After it closed its session, or the stream on which a session hears of the server."""
    idle: float = 600.0
    """After its last request was answered, where it has no stream open that it could close."""


PATIENT = Patience()


class Attendance:
    """An ASGI application around another, which ends the line of a client that left.

    Args:
        served: Serves the tasks.
        lines: Task id to its line.
        patience: How long a client may be away.
    """

    def __init__(self, served: Any, lines: Mapping[str, Line], patience: Patience) -> None:
        self._served = served
        self._guests = {task: _Guest(line, patience) for task, line in lines.items()}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve a request, and take note of what it says of its client."""
        guest = self._guests.get(str(scope.get("path", "")).removeprefix(TASKS))
        method = str(scope.get("method"))
        has_session = any(name == _SESSION for name, _ in scope.get("headers", ()))
        if guest is None or not (method == "POST" or has_session):
            await self._served(scope, receive, send)
            return
        with guest.there(method):
            await self._served(scope, receive, send)


class _Guest:
    """The client of one task; it came with its first request."""

    def __init__(self, line: Line, patience: Patience) -> None:
        self._line, self._patience = line, patience
        self._open: Counter[str] = Counter()
        """Method to the number of its requests that are being answered."""
        self._has_closed = False
        self._leaving: asyncio.TimerHandle | None = None

    @contextmanager
    def there(self, method: str) -> Iterator[None]:
        """While a request is answered, GET's by a stream, its client is there."""
        self._open[method] += 1
        self._has_closed = method == "DELETE"
        self._wait()
        try:
            yield
        finally:
            self._open[method] -= 1
            if method == "GET":
                self._has_closed = not self._open[method]
            self._wait()

    def _wait(self) -> None:
        """Wait from now on for the next request, where nothing of the client is open."""
        if self._leaving is not None:
            self._leaving.cancel()
        self._leaving = None
        if not self._open.total():
            seconds = self._patience.closed if self._has_closed else self._patience.idle
            loop = asyncio.get_running_loop()
            self._leaving = loop.call_later(seconds, self._line.leave)
