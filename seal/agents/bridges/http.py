"""An agent in another process, in any language: it asks its model and calls tools over HTTP.

Every chat has an address of its own, such as `http://127.0.0.1:4711/3/v1`, and a token, which a
request carries as `Authorization: Bearer TOKEN`. Below the address are:

- POST `chat/completions` and `responses`, GET `models`: the model of the run, in OpenAI's
  interface. What it is asked is metered, kept and replayed as what any role asks.
- GET `task`: {request, messages, tools}, which is what is asked now, what was said before, and the
  tools as OpenAI's functions.
- POST `tools/NAME`, with the arguments: a call of the chat. It brings {content, error, value}.
- POST `answer`, with {answer}: what the user is told. It brings {request}, which is what the user
  says to it, or null where the task is finished.

The agent is a command, which is started for each chat, or a service at an address, which is told of
each chat.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from seal.agents.bridges.chat_wire import (
    Form,
    by_wire_name,
    events,
    offered_functions,
    read_asked,
    written,
)
from seal.agents.bridges.line import LeftError, Line, OverError
from seal.agents.own import asked_of, earlier_of
from seal.core import Chat, InfrastructureError, Reply, ToolCall, UsageError
from seal.core.canonical import digest
from seal.core.plain import json_bytes, well_formed
from seal.core.secrets import check_url, public_url

MOST_BYTES = 64 << 20
"""Of a request."""
_MOST_SAID = 1 << 20
"""Bytes of what a command writes that are read."""
_ENDED = 5.0
"""Seconds that a command gets to end when it is told to."""
_FORMS: dict[str, Form] = {"chat/completions": "chat/completions", "responses": "responses"}


class AgentError(RuntimeError):
    """The agent failed: its process ended in an error, or its service answered with one."""


class Bridge:
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

    plays_own_code = True

    def __init__(self, command: str | None = None, url: str | None = None) -> None:
        if (command is None) == (url is None):
            raise UsageError(
                "the agent 'bridge' is a command or a service: give --agent-command or --agent-url"
            )
        self.command = command
        self.url = url
        self.identity = f"bridge:{_checked_command(command)}" if command else f"bridge:{_told(url)}"
        self._lock = threading.Lock()
        self._server: _Server | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without the server: each process has its own."""
        return type(self), (self.command, self.url)

    def for_chat(self) -> BridgedAgent:
        """Return what plays the role in one chat."""
        with self._lock:
            if self._server is None:
                self._server = _Server()
            return BridgedAgent(self, self._server)

    def reply(self, chat: Chat) -> Reply:
        """Return the agent's answer, in a process or session of its own."""
        with closing(self.for_chat()) as agent:
            return agent.reply(chat)

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

    def __init__(self, bridge: Bridge, server: _Server) -> None:
        self._bridge = bridge
        self._server = server
        self._place = server.open()
        self._run: _Command | _Service | None = None

    def reply(self, chat: Chat) -> Reply:
        """Return what the agent answers.

        Raises:
            AgentError: It failed.
            OverdueError: It takes longer than the chat may last.
            InfrastructureError: Its service cannot be reached.
        """
        if self._run is None or self._run.ended.done():
            self._begin(chat)
        run = self._run
        assert run is not None
        try:
            return self._place.line.reply(chat)
        except LeftError:
            return Reply(run.ended.result())
        finally:
            chat.note(run.noted())

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
        told = {**_task(chat), **self._place.told()}
        one = (
            _Command(self._bridge.command, told)
            if self._bridge.command
            else _Service(str(self._bridge.url), told)
        )
        self._run = one
        one.ended.add_done_callback(lambda ended: line.leave())
        one.start()


class _Command:
    """A command that plays one chat.

    Args:
        command: As a shell would split it; no shell runs it.
        told: Request, messages, tools, address and token.
    """

    def __init__(self, command: str, told: dict[str, Any]) -> None:
        self.ended: Future[str] = Future()
        self._told = told
        self._said: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        self._errors: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        self._noted = 0
        self._waiting = threading.Thread(target=self._wait, daemon=True)
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

    def start(self) -> None:
        """Hand the request over, and wait for the end in a thread."""
        self._waiting.start()

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
        self._waiting.join()
        self._said.close()
        self._errors.close()

    def _wait(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with suppress(BrokenPipeError), stdin:
            stdin.write(self._told["request"].encode())
        code = self._process.wait()
        if code == 0:
            self.ended.set_result(_text(self._said, 0).strip())
            return
        last = _text(self._errors, 0).strip().splitlines()[-1:] or ["it said nothing"]
        how = f"exit code {code}" if code > 0 else f"signal {-code}"
        self.ended.set_exception(AgentError(f"the agent's process ended with {how}: {last[0]}"))


class _Service:
    """A service that plays one chat.

    Args:
        url: Where it is told of the chat.
        told: Request, messages, tools, address and token.
    """

    def __init__(self, url: str, told: dict[str, Any]) -> None:
        self.ended: Future[str] = Future()
        self._url = url
        self._told = told

    def start(self) -> None:
        """Tell it of the chat, and wait for its answer in a thread."""
        threading.Thread(target=self._ask, daemon=True).start()

    def noted(self) -> str:
        """Return nothing: what a service prints is not seen here."""
        return ""

    def stop(self) -> None:
        """Do nothing: the chat's address answers no more."""

    def _ask(self) -> None:
        import urllib3

        try:
            answer = urllib3.request(
                "POST", self._url, json=self._told, retries=False, timeout=urllib3.Timeout(None)
            )
        except urllib3.exceptions.HTTPError as error:
            self.ended.set_exception(
                InfrastructureError(
                    f"the agent at {public_url(self._url)} could not be reached or broke off: "
                    f"{error}. Is it running?"
                )
            )
            return
        text = well_formed(answer.data.decode(errors="replace"))
        if answer.status >= 300:
            problem = f"the agent's service answered with {answer.status}: {text[:200]}"
            self.ended.set_exception(AgentError(problem))
            return
        with suppress(ValueError):
            said = json.loads(text)
            text = said.get("answer", text) if isinstance(said, dict) else text
        self.ended.set_result(str(text))


class _Place:
    """Where one chat is reached."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.token = secrets.token_urlsafe(24)
        self.line = Line()
        self.answers = 0
        """Of the model, so far."""

    def told(self) -> dict[str, str]:
        """Return address and token, as an agent is told them."""
        return {"base_url": self.address, "api_key": self.token}


class _Server(ThreadingHTTPServer):
    """What the agents of all chats ask, on this machine alone."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._places: dict[str, _Place] = {}
        self._opened = 0
        self._guard = threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

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

    def place(self, name: str, token: str) -> _Place | None:
        """Return the place of a name; None where there is none, or the token is another's."""
        found = self._places.get(name)
        known = found is not None and hmac.compare_digest(found.token.encode(), token.encode())
        return found if known else None


class _Answer(NamedTuple):
    """What a request brings."""

    body: Any
    status: int = 200


class _Handler(BaseHTTPRequestHandler):
    """One connection of an agent."""

    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        """Answer."""
        self._serve("GET")

    def do_POST(self) -> None:
        """Answer."""
        self._serve("POST")

    def log_message(self, format: str, *values: Any) -> None:
        """Say nothing."""

    def _serve(self, method: str) -> None:
        with suppress(ConnectionError):
            try:
                answer = self._answer(method)
            except UsageError as error:
                answer = _refused(400, str(error))
            except OverError as error:
                answer = _refused(410, str(error))
            self._send(answer)

    def _answer(self, method: str) -> _Answer:
        body = self._body()
        _, name, version, *rest = [*self.path.partition("?")[0].split("/", 3), "", "", ""]
        token = self.headers.get("Authorization", "").removeprefix("Bearer ").strip()
        place = self.server.place(name, token or self.headers.get("api-key", ""))
        if place is None or version != "v1":
            return _refused(401, "no chat has this address and token; see OPENAI_BASE_URL")
        return _routed(place, f"{method} {rest[0]}", body)

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
        return _Answer(place.line.ask(_task).result())
    if method == "POST" and path in _FORMS:
        completed: _Answer = place.line.ask(partial(_completed, place, _FORMS[path], body)).result()
        return completed
    if method == "POST" and path.startswith("tools/"):
        return _called(place.line, path.removeprefix("tools/"), body)
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
    number, place.answers = place.answers, place.answers + 1
    answer = written(form, completion, asked, number)
    return _Answer(events(form, answer) if asked.stream else answer)


def _called(line: Line, wire: str, arguments: Any) -> _Answer:
    """Make a call of the chat; one of no offered tool is made too, and refused there."""
    if not isinstance(arguments, dict):
        raise UsageError("expected the arguments as a JSON object")
    tools = line.ask(lambda chat: by_wire_name(chat.tools)).result()
    name = tools[wire].name if wire in tools else wire
    result = line.ask(ToolCall("", name, arguments)).result()
    return _Answer({"content": result.content, "error": result.error, "value": result.value})


def _task(chat: Chat) -> dict[str, Any]:
    return {
        "request": asked_of(chat),
        "messages": earlier_of(chat),
        "tools": offered_functions(chat.tools),
    }


def _refused(status: int, message: str) -> _Answer:
    return _Answer({"error": {"message": message, "type": "invalid_request_error"}}, status)


def _text(file: BinaryIO, start: int) -> str:
    """Return what a process has written from a place on; it goes on writing at the end."""
    data = os.pread(file.fileno(), _MOST_SAID, start)
    return well_formed(data.decode(errors="replace"))


def _checked_command(command: str) -> str:
    """Return a command with a digest of the files that it names."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--agent-command {command!r}: {error}") from error
    if not words or shutil.which(words[0]) is None:
        raise UsageError(f"--agent-command {command!r}: there is no such program")
    files = [Path(word) for word in words[1:]]
    contents = [file.read_bytes().hex() for file in files if file.is_file()]
    return f"{command}#{digest(contents)[:8]}" if contents else command


def _told(url: str | None) -> str:
    check_url(str(url), "--agent-url")
    return public_url(str(url))
