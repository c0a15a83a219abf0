"""What an agent in another process asks over HTTP: its model, and the tools of its chat.

Every chat has an address of its own, such as `http://127.0.0.1:4711/3/v1`, and a token, which a
request carries as `Authorization: Bearer TOKEN`. Below the address are:

- POST `chat/completions` and `responses`, GET `models`: the model of the run, in OpenAI's
  interface. What it is asked is metered, kept and replayed as what any role asks.
- GET `task`: {request, messages, tools}, which is what is asked now, what was said before, and the
  tools as OpenAI's functions.
- POST `tools/NAME`, with the arguments: a call of the chat. It brings {content, error, value}.
- POST `answer`, with {answer}: what the user is told. It brings {request}, which is what the user
  says to it, or null where the task is finished.
- POST `mcp`: request, tools and answer by the Model Context Protocol (streamable HTTP).
"""

from __future__ import annotations

import hmac
import json
import secrets
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from seal.agents.bridge_line import Line, OverError
from seal.agents.mcp_bridge import McpPosts
from seal.agents.openai_requests import (
    Form,
    by_wire_name,
    events,
    offered_functions,
    read_asked,
    written,
)
from seal.agents.own import asked_of, earlier_of
from seal.core import Chat, Tool, ToolCall, UsageError
from seal.core.values import json_bytes, well_formed

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

    def told(self) -> dict[str, str]:
        """Return address and token, as an agent is told them."""
        return {"base_url": self.address, "api_key": self.token}

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
        if rest[0] == "mcp":
            if method == "GET":
                return _refused(405, "streams are not offered; POST does all")
            return self.server.by_mcp(place, self.headers.items(), body)
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
