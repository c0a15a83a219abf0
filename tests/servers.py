"""A local HTTP server that plays a model's server: scripted answers, and every way to fail.

    with ModelServer([calls(("get_weather", {"city": "Bern"})), text("It is sunny.")]) as server:
        ...  # talk to server.url, which ends in /v1
    assert server.received[0].body["model"] == "any"

A script is a sequence of answers, each given once (`repeat=True` starts it over), or a function of
the received request. It keeps connections alive (HTTP/1.1), answers from memory and without delay,
and serves other JSON endpoints (embeddings, Gemini) just as well: `answer({...})` holds any JSON.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Literal


@dataclass(frozen=True)
class Answer:
    """One HTTP response."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})
    cut: Literal["no", "half", "nothing", "next"] = "no"
    """half: the connection closes amid the body; nothing: it closes before any byte; next: it
    closes when the next request comes on it."""
    delay_s: float = 0.0
    drip_s: float = 0.0
    """Seconds between two parts of the body, of which each holds an event; 0: it is sent whole."""


@dataclass(frozen=True)
class Received:
    """One HTTP request."""

    method: str
    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes

    @property
    def body(self) -> Any:
        """The request's JSON."""
        return json.loads(self.raw)


Script = Sequence[Answer] | Callable[[Received], Answer]


def installed(module: str) -> bool:
    """Tell whether a module can be imported; it is not."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def answer(value: Any, status: int = 200, **headers: str) -> Answer:
    """Return an answer of any JSON."""
    return Answer(
        json.dumps(value).encode(), status, {"Content-Type": "application/json", **headers}
    )


def message(
    content: str | None = None,
    tool_calls: Sequence[Mapping[str, Any]] = (),
    finish_reason: str = "stop",
    usage: tuple[int, int] | None = (11, 7),
    **fields: Any,
) -> Answer:
    """Return a chat completion with these fields in its message."""
    said: dict[str, Any] = {"role": "assistant", "content": content, **fields}
    if tool_calls:
        said["tool_calls"] = list(tool_calls)
    value: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": said, "finish_reason": finish_reason}],
    }
    if usage:
        value["usage"] = {
            "prompt_tokens": usage[0],
            "completion_tokens": usage[1],
            "total_tokens": sum(usage),
        }
    return answer(value)


def text(content: str, **options: Any) -> Answer:
    """Return a chat completion that says something."""
    return message(content, **options)


def calls(*named: tuple[str, Any], content: str | None = None, **options: Any) -> Answer:
    """Return a chat completion with tool calls: (name, arguments); a text is sent as it is."""
    tool_calls = [
        {
            "id": f"id_{position}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given),
            },
        }
        for position, (name, given) in enumerate(named)
    ]
    return message(content, tool_calls, "tool_calls", **options)


def letters(content: str, dimension: int = 4) -> list[float]:
    """Return the vector of a text: how often it has the most frequent letters, and a 1."""
    return [*(float(content.lower().count(c)) for c in "etaoin"[: dimension - 1]), 1.0]


def openai_rows(rows: Sequence[Any], indexes: Sequence[int] | None = None) -> Answer:
    """Return embeddings as OpenAI's servers give them; each row names its index."""
    numbered = zip(range(len(rows)) if indexes is None else indexes, rows, strict=True)
    data = [{"object": "embedding", "index": i, "embedding": row} for i, row in numbered]
    return answer({"object": "list", "data": data, "model": "scripted"})


def openai_embeddings(request: Received, dimension: int = 4) -> Answer:
    """Return right embeddings to a request in OpenAI's form, the last text's first."""
    rows = [letters(content, dimension) for content in request.body["input"]]
    return openai_rows(rows[::-1], range(len(rows))[::-1])


def gemini_texts(request: Received) -> list[str]:
    """Return the texts of a request in the form of Gemini's batchEmbedContents."""
    return [
        "".join(part["text"] for part in one["content"]["parts"])
        for one in request.body["requests"]
    ]


def gemini_embeddings(request: Received, dimension: int = 4) -> Answer:
    """Return right embeddings to such a request."""
    rows = [letters(content, dimension) for content in gemini_texts(request)]
    return answer({"embeddings": [{"values": row} for row in rows]})


def failure(status: int, said: str = "no", retry_after: str | None = None, **fields: Any) -> Answer:
    """Return an HTTP error with an error document, as OpenAI's servers give it."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return answer({"error": {"message": said, **fields}}, status, **headers)


def garbage(body: bytes = b"<html>Bad gateway</html>", status: int = 200) -> Answer:
    """Return an answer that is no JSON."""
    return Answer(body, status, {"Content-Type": "text/html"})


def half() -> Answer:
    """Return an answer whose connection breaks amid the body."""
    return Answer(text("never whole").body, cut="half")


def nothing() -> Answer:
    """Return no answer: the connection closes."""
    return Answer(cut="nothing")


def late(seconds: float, then: Answer) -> Answer:
    """Return an answer that comes after a while."""
    return Answer(then.body, then.status, then.headers, then.cut, seconds)


def played(
    steps: Sequence[Answer | Callable[[Received], Answer]], then: Callable[[Received], Answer]
) -> Callable[[Received], Answer]:
    """Return a script that plays some steps in order, and answers every later request by `then`."""
    waiting = list(steps)

    def answer_to(request: Received) -> Answer:
        step = waiting.pop(0) if waiting else then
        return step if isinstance(step, Answer) else step(request)

    return answer_to


class ModelServer:
    """A server on a free port of this machine, in a thread of its own.

    Args:
        script: Answers in order, or a function of the request; requests beyond get HTTP 418.
        repeat: Start the answers over when they are spent.
        record: Keep the requests in `received`; False where memory must stay flat.
    """

    def __init__(self, script: Script, repeat: bool = False, record: bool = True) -> None:
        self.received: list[Received] = []
        self._script = script
        self._repeat = repeat
        self._record = record
        self._count = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.answers = self._next
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def root(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """Base URL for an OpenAI client."""
        return self.root + "/v1"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.close_connections()
        self._server.server_close()

    def _next(self, request: Received) -> Answer:
        with self._lock:
            position, self._count = self._count, self._count + 1
            if self._record:
                self.received.append(request)
        if callable(self._script):
            return self._script(request)
        if self._repeat:
            position %= len(self._script)
        if position >= len(self._script):
            return failure(418, f"the script has {len(self._script)} answers")
        return self._script[position]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    answers: Callable[[Received], Answer]

    def __init__(self, *args: Any) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        for connection in list(self._open):
            self.shutdown_request(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # one packet an answer
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        given = self.server.answers(Received(self.command, self.path, headers, raw))
        if given.delay_s:
            time.sleep(given.delay_s)
        if given.cut == "nothing":
            self.close_connection = True
            return
        self.send_response(given.status)
        for name, value in given.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(given.body)))
        self.end_headers()
        if given.cut == "half":
            self.wfile.write(given.body[: len(given.body) // 2])
            self.close_connection = True
        elif given.drip_s:
            for event in given.body.split(b"\n\n"):
                self.wfile.write(event + b"\n\n")
                self.wfile.flush()
                time.sleep(given.drip_s)
        else:
            self.wfile.write(given.body)
        self.wfile.flush()
        if given.cut == "next":
            self.rfile.read(1)
            self.close_connection = True

    do_GET = do_CONNECT = do_POST

    def log_message(self, *arguments: Any) -> None:
        pass
