"""A server that answers with bytes of the test's own, as slowly and as wrongly as it likes.

Each connection gets one answer and is closed. A stopped server lets its answers end early.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any


class Wire:
    """One connection, whose request was read.

    Args:
        connection: To write to.
        number: Of the request, from 0.
        body: The request's JSON.
        over: Set where the server is stopped.
    """

    def __init__(
        self, connection: socket.socket, number: int, body: Any, over: threading.Event
    ) -> None:
        self.number = number
        self.body = body
        self._connection = connection
        self._over = over

    def send(self, data: bytes) -> None:
        """Send bytes."""
        self._connection.sendall(data)

    def wait(self, seconds: float) -> None:
        """Wait; ends the answer where the server is stopped."""
        if self._over.wait(seconds):
            raise ConnectionAbortedError

    def drip(self, data: bytes, every: float = 0.4) -> None:
        """Send a byte each so many seconds."""
        for place in range(len(data)):
            self.send(data[place : place + 1])
            self.wait(every)

    def reset(self) -> None:
        """Let the other side get a reset when this one closes."""
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")


def response(
    body: bytes, status: int = 200, kind: str = "application/json", **headers: str
) -> bytes:
    """Return a whole HTTP response; a header that is empty is left out."""
    named = {
        "Content-Type": kind,
        "Content-Length": str(len(body)),
        "Connection": "close",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in named.items() if value)
    return f"HTTP/1.1 {status} Said\r\n{lines}\r\n".encode() + body


def stream_head(kind: str = "text/event-stream") -> bytes:
    """Return the head of a response that lasts until the connection closes."""
    return f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n".encode()


def chunked(pieces: Iterable[bytes], end: bytes = b"0\r\n\r\n") -> bytes:
    """Return a chunked response of a stream."""
    head = stream_head().replace(b"close", b"close\r\nTransfer-Encoding: chunked")
    return head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + end


def events(*chunks: Mapping[str, Any], done: bool = True) -> bytes:
    """Return the events of a stream."""
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n" if done else ""]).encode()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """Return a chunk of a stream."""
    return {"id": "c", "choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


class RawServer:
    """A server on a free port of this machine.

    Args:
        answer: What is done on each connection.
    """

    def __init__(self, answer: Callable[[Wire], None]) -> None:
        self._answer = answer
        self._over = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.received: list[Any] = []
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def __enter__(self) -> RawServer:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                threading.Thread(target=self._one, args=(connection,), daemon=True).start()

    def _one(self, connection: socket.socket) -> None:
        with suppress(OSError, ValueError), connection, connection.makefile("rb") as lines:
            size = 0
            while (line := lines.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    size = int(value)
            body = json.loads(lines.read(size))
            self.received.append(body)
            self._answer(Wire(connection, len(self.received) - 1, body, self._over))
