"""Real MCP servers for tests: a command, and a process behind an address."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVER = Path(__file__).parent / "fixtures" / "mcp_server.py"


def command(*options: str) -> list[str]:
    """Return the words that start the shop's server."""
    return [sys.executable, str(SERVER), *options]


def line(*options: str) -> str:
    """Return them as one line."""
    return " ".join(command(*options))


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
