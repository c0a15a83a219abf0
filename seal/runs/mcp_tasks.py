"""`seal mcp`: tasks served to MCP clients, and who is still there."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from seal.agents.bridge_line import Line, OverError
from seal.agents.mcp_bridge import McpClients, mcp_server
from seal.core import Task, UnknownNameError, UsageError
from seal.core.text import counted
from seal.runs.play import RunResult, run
from seal.runs.resolve import played
from seal.runs.run import RunFolder
from seal.runs.settings import RunSettings
from seal.runs.tried import trying

# -- Which clients are still there: HTTP tells it by what they ask and what they close.

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


# -- Runs whose agent is an MCP client: the benchmark's tasks are served, the run is as any other.

MOST = 1000
"""Chats that are open at once."""
_LEAVING = 2.0
"""Seconds in which clients may close their connections after the last chat."""
Tell = Callable[[str], None]


@contextmanager
def serve_stdio(
    settings: RunSettings, out: Path, task: str | None, name: str
) -> Iterator[RunResult]:
    """Play one task with the client at stdin and stdout, in a run that several such calls make.

    The client hears that its task is finished when the block ends: it may then end this process.

    Args:
        settings: Of the run.
        out: Run folder; a run that it holds is gone on with.
        task: Its id; None: the first that is not played.
        name: Of the agent, for the run's record.

    Raises:
        UsageError: No such task, or it is played already; or settings that cannot be.
    """
    before = _finished(out)
    known = [each.id for each in _tasks(settings)]
    if task is not None and task not in known:
        raise UnknownNameError("task", task, known[:20], max(0, len(known) - 20))
    chosen = next((each for each in known if each not in before), None) if task is None else task
    if chosen is None or chosen in before:
        what = "every task is" if task is None else f"the task {task!r} is"
        raise UsageError(f"{out}: {what} played already; give another --out")
    line = Line(holds=True)
    server = mcp_server(lambda context: line)
    thread = threading.Thread(target=_over_stdio, args=(server, line), daemon=True)
    seated = _seated(settings, McpClients({chosen: line}, name, thread.start))
    yield run(seated, out, RunFolder(out).is_begun, only={*before, chosen})
    line.finish()
    thread.join()


def serve_http(
    settings: RunSettings,
    out: Path,
    task: str | None,
    name: str,
    port: int,
    tell: Tell,
    patience: Patience = PATIENT,
) -> RunResult:
    """Play tasks with clients that come over HTTP; each task has an address of its own.

    Args:
        settings: Of the run.
        out: Run folder; a run that it holds is gone on with.
        task: The only one to be played; None: all that are selected.
        name: Of the agent, for the run's record.
        port: Of this machine alone; 0: any that is free.
        tell: Given the address of the list of tasks.
        patience: How long a client may be away, until its chat ends as crashed.

    Raises:
        UsageError: No such task, nothing left to play, too many tasks, or the port is taken.
    """
    before = _finished(out)
    known = {each.id: each.goals[0].text for each in _tasks(settings)}
    if task is not None and task not in known:
        raise UnknownNameError("task", task, [*known][:20], max(0, len(known) - 20))
    wanted = [each for each in known if each not in before and task in (None, each)]
    if not 0 < len(wanted) <= MOST:
        raise UsageError(
            f"{len(wanted)} tasks are to be played; expected 1 to {MOST}: give --limit, --first, "
            "--select, --task or another --out"
        )
    lines = {each: Line() for each in wanted}
    web = _Web(lines, known, port, tell, patience)
    seated = _seated(settings, McpClients(lines, name, web.start))
    every = {*before, *wanted}
    try:
        return run(replace(seated, workers=len(wanted)), out, RunFolder(out).is_begun, only=every)
    finally:
        web.stop()


def _tasks(settings: RunSettings) -> Iterator[Task]:
    """Yield the tasks of a run.

    Raises:
        UsageError: Settings that cannot be, or under which a session would be several chats.
    """
    if settings.trials > 1 or settings.history == "gold" or settings.processes != 1:
        raise UsageError(
            "a client's session is one chat of one task: leave --trials, --processes and "
            "--history gold out; give each trial an --out of its own"
        )
    settings, pool = played(settings)
    yield from pool.chosen(settings)


def _finished(out: Path) -> set[str]:
    """Return the ids of the tasks that a run has played; empty where there is no run."""
    folder = RunFolder(out)
    if not folder.is_begun:
        return set()
    return {chat.task_id for chat in folder.trajectories() if not chat.failed}


def _seated(settings: RunSettings, clients: McpClients) -> RunSettings:
    """Return settings under which the clients call the tools; who else is named stays."""
    model = {"model": settings.model} if "model" in settings.origins else {}
    asked = trying(clients, {"team": settings.team, **model})
    roles = {**settings.roles, **asked.pop("roles")}
    return replace(settings, **asked, history="own", roles=roles)


def _over_stdio(server: Any, line: Line) -> None:
    """Serve until the client closes our stdin."""
    import anyio
    from mcp.server.stdio import stdio_server

    async def serve() -> None:
        async with stdio_server() as (reads, writes):
            await server.run(reads, writes, server.create_initialization_options())

    try:
        anyio.run(serve)
    finally:
        line.leave()


class _Web:
    """The server of all lines over HTTP, in a thread.

    Args:
        lines: Task id to its line.
        requests: Task id to what the user asks.
        port: As of `serve_http`.
        tell: As of `serve_http`.
        patience: As of `serve_http`.
    """

    def __init__(
        self,
        lines: Mapping[str, Line],
        requests: Mapping[str, str],
        port: int,
        tell: Tell,
        patience: Patience,
    ) -> None:
        import socket

        import uvicorn
        from starlette.responses import JSONResponse
        from starlette.routing import Route

        self._lines, self._requests, self._tell = lines, requests, tell
        try:
            self._socket = socket.create_server(("127.0.0.1", port))
        except OSError as error:
            raise UsageError(f"port {port}: {error.strerror}; give another --port") from error
        self.address = f"http://127.0.0.1:{self._socket.getsockname()[1]}"

        async def index(request: Any) -> Any:
            return JSONResponse({"tasks": self._told()})

        app = mcp_server(self._line)
        served = app.streamable_http_app(
            streamable_http_path=f"{TASKS}{{task:path}}",
            custom_starlette_routes=[Route("/", index)],
            session_idle_timeout=None,
        )
        watched = Attendance(served, lines, patience)
        config = uvicorn.Config(watched, log_level="warning", timeout_graceful_shutdown=2)
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )

    def start(self) -> None:
        """Serve from now on, and say where."""
        self._thread.start()
        self._tell(f"{counted(len(self._lines), 'task')} to play, listed at {self.address}/")

    def stop(self) -> None:
        """End, once the clients have gone; one may ask more after its last answer, as for tools."""
        until = time.monotonic() + _LEAVING
        while self._server.server_state.connections and time.monotonic() < until:
            time.sleep(0.01)
        self._server.should_exit = True
        if self._thread.is_alive():
            self._thread.join(5)
        self._socket.close()

    def _line(self, context: Any) -> Line:
        task = context.request.path_params["task"]
        if task not in self._lines:
            raise OverError(f"no task {task!r} is open; they are listed at {self.address}/")
        return self._lines[task]

    def _told(self) -> list[dict[str, Any]]:
        return [
            {
                "id": task,
                "request": self._requests[task],
                "url": f"{self.address}{TASKS}{quote(task)}",
                "finished": line.is_over,
            }
            for task, line in self._lines.items()
        ]
