"""MCP servers for tests: a command, a process, and one whose answers are written."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from servers import Answer as Answered
from servers import ModelServer, Received, answer

from seal.environments.mcp_servers import McpServer, Sessions

FIXTURES = Path(__file__).parent / "fixtures"
OWNER = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
"""The process of this test run: all its workers share what forks servers."""


def command(*options: str) -> list[str]:
    """Return the words that start the shop's server (fixtures/mcp_server.py)."""
    door = ["-I", "-S", str(FIXTURES / "mcp_door.py"), socket_path(), str(OWNER)]
    return [sys.executable, *door, *options]


def line(*options: str) -> str:
    """Return them as one line."""
    return " ".join(command(*options))


def socket_path() -> str:
    """Return where the process that forks servers listens, in a folder that it removes."""
    return str(Path(tempfile.gettempdir(), f"seal-mcp-{OWNER}", "doors"))


@contextmanager
def behind_address() -> Iterator[str]:
    """Start the shop's server over HTTP, and yield its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(command("--http", str(port)), stderr=subprocess.DEVNULL)
    try:
        while process.poll() is None:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait()


LISTED: dict[str, Any] = {"name": "look", "inputSchema": {"type": "object"}}


class Scripted:
    """An MCP server behind an address, whose answers to calls a test writes."""

    def __init__(self, *answers: Any, tools: Any = (LISTED,)) -> None:
        self.answers, self.tools = list(answers), list(tools)
        self.session, self.calls = 1, 0
        self.pages: Any = None
        """Returns the list of tools at a cursor, if a test asks for pages."""

    def __call__(self, request: Received) -> Answered:
        if not request.raw:
            return Answered(status=405)
        asked = request.body
        if "id" not in asked:
            return Answered(status=202)
        told = {"mcp-session-id": str(self.session)}
        if asked["method"] == "initialize":
            info = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
            info |= {"serverInfo": {"name": "shop", "version": "1"}}
            return answer({"jsonrpc": "2.0", "id": asked["id"], "result": info}, 200, **told)
        if asked["method"] not in ("tools/list", "tools/call"):
            error = {"code": -32601, "message": "no such method"}
            return answer({"jsonrpc": "2.0", "id": asked["id"], "error": error})
        given: Any = {"tools": self.tools}
        if self.pages is not None:
            given = self.pages(asked.get("params", {}).get("cursor"))
        if asked["method"] == "tools/call":
            self.calls += 1
            given = self.answers.pop(0) if self.answers else "sunny"
            if given == "over":
                self.session += 1
        if request.headers.get("mcp-session-id") != str(self.session):
            error = {"code": -32001, "message": "Session not found"}
            return answer({"jsonrpc": "2.0", "id": asked["id"], "error": error}, 404)
        if callable(given):
            given = given(asked)
        if isinstance(given, Answered):
            return given
        if isinstance(given, int):
            return Answered(b"<html>no</html>", given, {"Content-Type": "text/html"})
        if isinstance(given, str):
            given = {"content": [{"type": "text", "text": given}]}
        if "error" in given:
            return answer({"jsonrpc": "2.0", "id": asked["id"], **given})
        return answer({"jsonrpc": "2.0", "id": asked["id"], "result": given})


@contextmanager
def scripted(shop: Scripted) -> Iterator[Sessions]:
    with ModelServer(shop) as server, Sessions(at(server), 5) as sessions:
        yield sessions


def at(server: ModelServer) -> dict[str, McpServer]:
    return {"shop": McpServer(url=f"{server.root}/mcp")}
