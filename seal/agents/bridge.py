"""An agent in another process, in any language, in the place of the role that calls tools.

It is a command, which is started for each chat, or a service at an address, which is told of each
chat. Both reach the chat by a server of ours (`ChatServer`), which also serves its model and tools.
"""

from __future__ import annotations

import hmac
import json
import os
import queue
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from seal.agents import PlayedAnew
from seal.agents.openai_requests import (
    Form,
    by_wire_name,
    events,
    offered_functions,
    read_asked,
    written,
)
from seal.agents.own import asked_of, earlier_of
from seal.agents.replies import NeverBegunError
from seal.core import (
    Chat,
    InfrastructureError,
    OverdueError,
    Reply,
    Tool,
    ToolCall,
    UsageError,
    needing,
    shortened,
)
from seal.core.secrets import check_url, public_url
from seal.core.values import digest, json_bytes, well_formed

if TYPE_CHECKING:
    from seal.agents.mcp_bridge import McpPosts

# -- Between the thread that plays a chat and an agent that reaches the chat from elsewhere.


FINISHED = "The task is finished. End the session."
_TOGETHER = 0.2
"""Seconds in which calls of one answer arrive from an agent that makes them at once."""


class LeftError(Exception):
    """The agent ended without an answer."""


class OverError(Exception):
    """Nothing can be asked of a chat: it has ended, or there is none."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What an agent wants of the chat: a call, to say a text to the user, or anything else."""

    what: ToolCall | str | Callable[[Chat], Any]
    answered: Future[Any] = field(default_factory=Future)


class Line:
    """Between the thread of one chat and the agent that plays it."""

    def __init__(self) -> None:
        self._inbox: queue.Queue[_Asked | None] = queue.Queue()
        self._next: deque[_Asked | None] = deque()
        self._submitted: Future[Any] | None = None
        self._over = False
        self._lock = threading.Lock()
        self._answer: list[Any] = []
        """Name and arguments of each call of the model's last answer that is not made yet."""
        self._one_by_one = False
        """Whether the agent was seen to wait for each result before it makes the next call."""

    @property
    def is_over(self) -> bool:
        """Whether the chat has ended."""
        return self._over

    def ask(self, what: ToolCall | str | Callable[[Chat], Any]) -> Future[Any]:
        """Return what the chat will answer.

        Args:
            what: A call, which is made at once with others that wait, and brings its result. A
                text is the reply to the user, and brings what the user says to it, or None where
                the task is finished. A function is called with the chat.

        Returns:
            A future. It fails with `OverError` where the chat has ended.
        """
        asked = _Asked(what)
        with self._lock:
            if self._over:
                asked.answered.set_exception(OverError(FINISHED))
            else:
                self._inbox.put(asked)
        return asked.answered

    def expect(self, calls: Sequence[ToolCall]) -> None:
        """Take note of the calls of the model's answer: made at once they are made in its order."""
        self._answer = [(call.name, call.arguments) for call in calls]

    def leave(self) -> None:
        """Take note that the agent has ended."""
        self._inbox.put(None)

    def reply(self, chat: Chat) -> Reply:
        """Serve the agent until it says something to the user, in the thread of the chat.

        Raises:
            LeftError: It ended before.
            OverdueError: It takes longer than the chat may last.
        """
        if self._submitted is not None:
            self._submitted.set_result(asked_of(chat))
            self._submitted = None
        while True:
            asked = self._taken(chat)
            if asked is None:
                raise LeftError("the agent ended its session without an answer")
            if isinstance(asked.what, str):
                self._submitted = asked.answered
                return Reply(asked.what)
            if isinstance(asked.what, ToolCall):
                self._run(chat, asked)
            else:
                self._do(chat, asked.answered, asked.what)

    def close(self) -> None:
        """End the line with its chat: what is still asked fails."""
        with self._lock:
            self._over = True
        while not self._inbox.empty():
            self._next.append(self._inbox.get())
        for asked in self._next:
            if asked is not None and asked.answered.set_running_or_notify_cancel():
                asked.answered.set_exception(OverError(FINISHED))
        self._next.clear()
        submitted, self._submitted = self._submitted, None
        if submitted is not None:
            submitted.set_result(None)

    def _taken(self, chat: Chat) -> _Asked | None:
        """Return what is asked next; of what its agent has given up nothing is left."""
        while True:
            asked = self._next.popleft() if self._next else self._waited(chat)
            if asked is None or asked.answered.set_running_or_notify_cancel():
                return asked

    def _waited(self, chat: Chat) -> _Asked | None:
        try:
            return self._inbox.get(timeout=chat.seconds_left)
        except queue.Empty as error:
            raise OverdueError("the agent takes longer than the chat may last") from error

    def _do(self, chat: Chat, answered: Future[Any], function: Callable[[Chat], Any]) -> None:
        try:
            answered.set_result(function(chat))
        except BaseException as error:  # ends the chat; the agent hears why
            answered.set_exception(OverError(str(error)))
            raise

    def _run(self, chat: Chat, first: _Asked) -> None:
        """Run a call, and at once with it those that come meanwhile, in the order of the answer."""
        made, order = [first, *self._beside(first)], self._answer
        made.sort(key=lambda one: [*order, _call_of(one)].index(_call_of(one)))
        self._answer = [called for called in order if called not in map(_call_of, made)]
        try:
            results = chat.execute([each.what for each in made])  # type: ignore[misc]
        except BaseException as error:  # also that the budget of calls is spent
            for each in made:
                each.answered.set_exception(OverError(str(error)))
            raise
        for each, result in zip(made, results, strict=True):
            each.answered.set_result(result)

    def _beside(self, first: _Asked) -> list[_Asked]:
        """Return the calls that came beside the first; others of its answer are waited for."""
        waits = _call_of(first) in self._answer and not self._one_by_one
        others = len(self._answer) - 1 if waits else 0
        until = time.monotonic() + _TOGETHER
        made: list[_Asked] = []
        while True:
            while not self._inbox.empty():
                self._next.append(self._inbox.get())
            while self._next and (each := self._next[0]) and isinstance(each.what, ToolCall):
                self._next.popleft()
                if each.answered.set_running_or_notify_cancel():
                    made.append(each)
            if self._next or len(made) >= others:
                return made
            try:
                self._next.append(self._inbox.get(timeout=max(0.0, until - time.monotonic())))
            except queue.Empty:
                self._one_by_one = True
                return made


def _call_of(asked: _Asked) -> Any:
    call = asked.what
    return (call.name, call.arguments) if isinstance(call, ToolCall) else None


_MOST_SAID = 1 << 20
"""Bytes of what a command writes that are read."""
_ENDED = 5.0
"""Seconds that a command gets to end when it is told to."""
_HOPELESS = 3
"""Chats after which an agent that never asked anything is given up."""
_ERROR = re.compile(r"^\s*[\w.]*(Error|Exception)\b")
"""Line that names an error: `ValueError: no`, `Error: no module`, and not `at f (a.js:1)`."""


class AgentError(RuntimeError):
    """The agent failed: its process ended in an error, or its service answered with one."""


class Bridge(PlayedAnew):
    """An agent that runs elsewhere, in the place of the role that calls tools.

    Args:
        command: Is started for each chat, with the request at its standard input. The variables
            OPENAI_BASE_URL and OPENAI_API_KEY hold the chat's address and token. Where the command
            gave no answer by HTTP, what it writes to its standard output is the answer.
        url: Of a service that is told of each chat by a POST of {request, messages, tools,
            base_url, api_key}. It answers with {answer}, unless it gave the answer before.

    Raises:
        UsageError: Neither or both are given, or there is no such command.
    """

    def __init__(self, command: str | None = None, url: str | None = None) -> None:
        if (command is None) == (url is None):
            raise UsageError(
                "the agent 'bridge' is a command or a service: give bridge:COMMAND or bridge:URL"
            )
        for given in (command, url):
            if not isinstance(given, str | None):
                raise UsageError(
                    f"the agent 'bridge' takes a text, got {shortened(given)}; of a list of words "
                    "shlex.join makes one"
                )
        self.command = command
        self.url = url
        self.identity = f"bridge:{_checked_command(command)}" if command else f"bridge:{_told(url)}"
        self._lock = threading.Lock()
        self._server: ChatServer | None = None
        self._begun = False
        """Whether the agent of any chat has sent a request or given an answer."""
        self._failed = 0
        """Chats whose agent failed before that."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the server: each process has its own."""
        return type(self), (self.command, self.url)

    def for_chat(self) -> BridgedAgent:
        """Return what plays the role in one chat."""
        with self._lock:
            if self._server is None:
                self._server = ChatServer()
            return BridgedAgent(self, self._server)

    def count(self, begun: bool, failure: AgentError | None) -> None:
        """Take note of a chat.

        Raises:
            NeverBegunError: In the first chats the agent failed, and never asked anything.
        """
        with self._lock:
            self._begun |= begun or failure is None
            self._failed += failure is not None
            if failure is not None and not self._begun and self._failed >= _HOPELESS:
                raise NeverBegunError(
                    f"the agent failed before its first request in {self._failed} chats, so the "
                    f"run stops: {failure}; mend the agent"
                ) from failure

    def close(self) -> None:
        """End the server."""
        with self._lock:
            server, self._server = self._server, None
        if server is not None:
            server.end()


class BridgedAgent:
    """An agent that runs elsewhere, in one chat.

    Args:
        bridge: How it is reached.
        server: What it asks.
    """

    plays_own_code = True

    def __init__(self, bridge: Bridge, server: ChatServer) -> None:
        self._bridge = bridge
        self._server = server
        self._place = server.open()
        self._run: _Elsewhere | None = None

    def reply(self, chat: Chat) -> Reply:
        """Return what the agent answers.

        Raises:
            AgentError: It failed.
            OverdueError: It takes longer than the chat may last.
            InfrastructureError: Its service cannot be reached.
            NeverBegunError: It fails in every chat before it asks anything.
        """
        failure: AgentError | None = None
        if self._run is None or self._run.ended.done():
            self._begin(chat)
        run = self._run
        assert run is not None
        try:
            return self._place.line.reply(chat)
        except LeftError:
            try:
                return Reply(run.ended.result())
            except AgentError as error:
                failure = error
                raise
        finally:
            chat.note(run.noted())
            self._bridge.count(self._place.is_asked, failure)

    def close(self) -> None:
        """End the chat for the agent, and its process."""
        self._server.shut(self._place)
        if self._run is not None:
            self._run.stop()

    def _begin(self, chat: Chat) -> None:
        if self._run is not None:
            self._run.stop()
            self._place.line.close()
            self._place.line = Line()
        line = self._place.line
        address = {"base_url": self._place.address, "api_key": self._place.token}
        told = {**self._place.task(chat), **address}
        command, url = self._bridge.command, self._bridge.url
        self._run = _Command(command, told) if command else _Service(str(url), told)
        self._run.ended.add_done_callback(lambda ended: line.leave())
        self._run.waiting.start()


class _Elsewhere(ABC):
    """An agent elsewhere that plays one chat.

    Args:
        told: Request, messages, tools, address and token.
    """

    def __init__(self, told: dict[str, Any]) -> None:
        self.ended: Future[str] = Future()
        self.told = told
        self.waiting = threading.Thread(target=self._wait, daemon=True)

    @abstractmethod
    def answer(self) -> str:
        """Hand the request over, and return what the agent has answered when it ends."""

    def noted(self) -> str:
        """Return what it has printed since this was asked last; of a service nothing is seen."""
        return ""

    def stop(self) -> None:  # noqa: B027 - a service goes on, and the chat's address answers no more
        """End it."""

    def _wait(self) -> None:
        try:
            self.ended.set_result(self.answer())
        except Exception as error:  # raised where the result is asked for
            self.ended.set_exception(error)


class _Command(_Elsewhere):
    """A command that plays one chat.

    Args:
        command: As a shell would split it; no shell runs it.
        told: As of `_Elsewhere`.
    """

    def __init__(self, command: str, told: dict[str, Any]) -> None:
        super().__init__(told)
        self._said: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        self._errors: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        self._noted = 0
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": told["base_url"],
            "OPENAI_API_KEY": told["api_key"],
        }
        self._process = subprocess.Popen(
            shlex.split(command),
            stdin=subprocess.PIPE,
            stdout=self._said,
            stderr=self._errors,
            env=environment,
            start_new_session=True,
        )

    def noted(self) -> str:
        """Return what the command has written to its standard error since this was asked last."""
        text = _text(self._errors, self._noted)
        self._noted += len(text.encode())
        return text

    def stop(self) -> None:
        """End the process and all that it started."""
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, sign)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_ENDED)
                break
        with suppress(ProcessLookupError):  # what it started may have outlived it
            os.killpg(self._process.pid, signal.SIGKILL)
        self.waiting.join()
        self._said.close()
        self._errors.close()

    def answer(self) -> str:
        """Return what the command has written to its standard output.

        Raises:
            AgentError: It ended in an error.
        """
        stdin = self._process.stdin
        assert stdin is not None
        with suppress(BrokenPipeError), stdin:
            stdin.write(self.told["request"].encode())
        code = self._process.wait()
        if code == 0:
            return _text(self._said, 0).strip()
        lines = _text(self._errors, 0).strip().splitlines() or ["it said nothing"]
        said = next(filter(_ERROR.search, reversed(lines)), lines[-1])
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        raise AgentError(f"the agent's process ended with {how}: {said}")


class _Service(_Elsewhere):
    """A service that plays one chat.

    Args:
        url: Where it is told of the chat.
        told: As of `_Elsewhere`.
    """

    def __init__(self, url: str, told: dict[str, Any]) -> None:
        super().__init__(told)
        self._url = url

    def answer(self) -> str:
        """Return what the service answers.

        Raises:
            AgentError: It answered with an error, or without a text.
            InfrastructureError: It cannot be reached.
        """
        import urllib3

        try:
            answer = urllib3.request(
                "POST", self._url, json=self.told, retries=False, timeout=urllib3.Timeout(None)
            )
        except urllib3.exceptions.HTTPError as error:
            raise InfrastructureError(
                f"the agent at {public_url(self._url)} could not be reached or broke off: "
                f"{error}. Is it running?"
            ) from error
        text = well_formed(answer.data.decode(errors="replace"))
        if answer.status >= 300:
            raise AgentError(f"the agent's service answered with {answer.status}: {text[:200]}")
        said = None
        with suppress(ValueError, RecursionError):
            said = json.loads(text)
        answered = said.get("answer") if isinstance(said, dict) else None
        if not isinstance(answered, str):
            raise AgentError(
                f"the agent's service answered without {{'answer': TEXT}}: {text[:200]}"
            )
        return answered


def _text(file: BinaryIO, start: int) -> str:
    """Return what a process has written from a place on; it goes on writing at the end."""
    data = os.pread(file.fileno(), _MOST_SAID, start)
    return well_formed(data.decode(errors="replace"))


def _checked_command(command: str) -> str:
    """Return a command with a digest of the files that it names."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"agent bridge:{command}: {error}") from error
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"agent bridge:{command}: there is no such program")
    files = [Path(word) for word in words[1:]]
    contents = [file.read_bytes().hex() for file in files if file.is_file()]
    return f"{command}#{digest(contents)[:8]}" if contents else command


def _told(url: str | None) -> str:
    check_url(str(url), "agent bridge:URL")
    return public_url(str(url))


# -- What an agent in another process asks over HTTP: its model, and the tools of its chat.
#
# Every chat has an address of its own, such as `http://127.0.0.1:4711/3/v1`, and a token, which a
# request carries as `Authorization: Bearer TOKEN`. Below the address are:
#
# - POST `chat/completions` and `responses`, GET `models`: the model of the run, in OpenAI's
#   interface. What it is asked is metered, kept and replayed as what any role asks.
# - GET `task`: {request, messages, tools}, which is what is asked now, what was said before, and
#   the tools as OpenAI's functions.
# - POST `tools/NAME`, with the arguments: a call of the chat. It brings {content, error, value}.
# - POST `answer`, with {answer}: what the user is told. It brings {request}, which is what the user
#   says to it, or null where the task is finished.
# - POST `mcp`: request, tools and answer by the Model Context Protocol (streamable HTTP).

MOST_BYTES = 64 << 20
"""Of a request."""
_FORMS: dict[str, Form] = {"chat/completions": "chat/completions", "responses": "responses"}


class _Place:
    """Where one chat is reached."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.token = secrets.token_urlsafe(24)
        self.line = Line()
        self.is_asked = False
        """Whether the agent has sent a request."""
        self.answers = 0
        """Of the model, so far."""
        self.names: dict[str, str] = {}
        """What the agent was told last: its name of a tool to the tool's own."""

    def offer(self, tools: Sequence[Tool]) -> None:
        """Take note of the tools that the agent may call now."""
        self.names = {wire: tool.name for wire, tool in by_wire_name(tools).items()}

    def task(self, chat: Chat) -> dict[str, Any]:
        """Return what is asked now, what was said before, and the tools as OpenAI's functions."""
        self.offer(chat.tools)
        tools = offered_functions(chat.tools)
        return {"request": asked_of(chat), "messages": earlier_of(chat), "tools": tools}


class ChatServer(ThreadingHTTPServer):
    """What the agents of all chats ask, on this machine alone."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._places: dict[str, _Place] = {}
        self._opened = 0
        self._guard = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, request: Any, address: Any) -> None:
        """Say nothing of a connection that an agent broke off; tell what else went wrong."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, address)

    def open(self) -> _Place:
        """Return a place for another chat."""
        with self._guard:
            name = str(self._opened)
            self._opened += 1
            self._places[name] = _Place(f"http://127.0.0.1:{self.server_port}/{name}/v1")
            return self._places[name]

    def shut(self, place: _Place) -> None:
        """Answer no more for a chat."""
        with self._guard:
            self._places = {n: each for n, each in self._places.items() if each is not place}
        place.line.close()

    def end(self) -> None:
        """Stop serving."""
        self.shutdown()
        self.server_close()
        if "_mcp" in vars(self):
            self._mcp.close()

    @cached_property
    def _mcp(self) -> McpPosts:
        with needing("mcp", "mcp"):
            from seal.agents.mcp_bridge import McpPosts

        return McpPosts()

    def by_mcp(self, place: _Place, headers: Iterable[tuple[str, str]], body: Any) -> _Answer:
        """Return the answer to a request of an MCP client.

        Raises:
            MissingExtraError: The SDK is not installed.
        """
        with self._guard:
            posts = self._mcp
        return _Answer(*posts.answer(place.line, headers, json_bytes(body)))

    def place(self, name: str, token: str) -> _Place | None:
        """Return the place of a name; None where there is none, or the token is another's."""
        found = self._places.get(name)
        if found is None or not hmac.compare_digest(found.token.encode(), token.encode()):
            return None
        found.is_asked = True
        return found


class _Answer(NamedTuple):
    """What a request brings."""

    body: Any
    status: int = 200


class _Handler(BaseHTTPRequestHandler):
    """One connection of an agent."""

    protocol_version = "HTTP/1.1"
    server: ChatServer

    def log_message(self, format: str, *values: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """Answer."""
        with suppress(ConnectionError):
            try:
                answer = self._answer()
            except UsageError as error:
                answer = _refused(400, str(error))
            except OverError as error:
                answer = _refused(410, str(error))
            self._send(answer)

    do_GET = do_POST

    def _answer(self) -> _Answer:
        body = self._body()
        _, name, version, *rest = [*self.path.partition("?")[0].split("/", 3), "", "", ""]
        token = self.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        place = self.server.place(name, token or self.headers.get("api-key", ""))
        if place is None or version != "v1":
            return _refused(401, "no chat has this address and token; see OPENAI_BASE_URL")
        if rest[0] == "mcp":
            if self.command == "GET":
                return _refused(405, "streams are not offered; POST does all")
            return self.server.by_mcp(place, self.headers.items(), body)
        return _routed(place, f"{self.command} {rest[0]}", body)

    def _body(self) -> Any:
        try:
            length = int(self.headers.get("Content-Length") or 0)
        except ValueError:
            length = -1
        if not 0 <= length <= MOST_BYTES or "Transfer-Encoding" in self.headers:
            self.close_connection = True
            raise UsageError(f"expected a Content-Length of at most {MOST_BYTES} bytes")
        text = self.rfile.read(length)
        try:
            return json.loads(text) if text else {}
        except (ValueError, RecursionError) as error:
            raise UsageError(f"the body is no JSON: {error}") from error

    def _send(self, answer: _Answer) -> None:
        streams = isinstance(answer.body, Iterator)
        if isinstance(answer.body, bytes):
            data = answer.body
        else:
            data = "".join(answer.body).encode() if streams else json_bytes(answer.body)
        self.send_response(answer.status)
        self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("x-should-retry", "false")
        self.end_headers()
        self.wfile.write(data)


def _routed(place: _Place, what: str, body: Any) -> _Answer:
    """Return the answer to a request.

    Args:
        place: Of the chat.
        what: Method and path below `/v1/`.
        body: JSON.

    Raises:
        UsageError: The request cannot be answered.
        OverError: The chat has ended.
    """
    method, _, path = what.partition(" ")
    if what == "GET models":
        model = {"id": "seal", "object": "model", "created": 0, "owned_by": "seal"}
        return _Answer({"object": "list", "data": [model]})
    if what == "GET task":
        return _Answer(place.line.ask(place.task).result())
    if method == "POST" and path in _FORMS:
        completed: _Answer = place.line.ask(partial(_completed, place, _FORMS[path], body)).result()
        return completed
    if method == "POST" and path.startswith("tools/"):
        return _called(place, path.removeprefix("tools/"), body)
    if what == "POST answer":
        said = body.get("answer") if isinstance(body, dict) else None
        if not isinstance(said, str):
            raise UsageError("expected {'answer': TEXT}")
        return _Answer({"request": place.line.ask(well_formed(said)).result()})
    return _refused(404, f"{what}: no such request")


def _completed(place: _Place, form: Form, body: Any, chat: Chat) -> _Answer:
    """Ask the run's model; a request that cannot be read is the agent's mistake."""
    try:
        asked = read_asked(form, body, chat.tools)
    except UsageError as error:
        return _refused(400, str(error))
    completion = chat.complete(asked.messages, asked.tools, asked.json_object)
    place.offer(chat.tools)
    offered = set(place.names.values())
    place.line.expect([call for call in completion.calls if call.name in offered])
    number, place.answers = place.answers, place.answers + 1
    answer = written(form, completion, asked, number)
    return _Answer(events(form, answer) if asked.stream else answer)


def _called(place: _Place, wire: str, arguments: Any) -> _Answer:
    """Make a call of the chat; one of no offered tool is made too, and refused there."""
    if not isinstance(arguments, dict):
        raise UsageError("expected the arguments as a JSON object")
    if wire not in place.names:  # it may be offered since, as what `find_tools` found
        place.line.ask(lambda chat: place.offer(chat.tools)).result()
    result = place.line.ask(ToolCall("", place.names.get(wire, wire), arguments)).result()
    return _Answer({"content": result.content, "error": result.error, "value": result.value})


def _refused(status: int, message: str) -> _Answer:
    return _Answer({"error": {"message": message, "type": "invalid_request_error"}}, status)
