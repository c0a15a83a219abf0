"""Real MCP servers for tests: a command, and a process behind an address."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
