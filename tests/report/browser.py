"""One browser for many pages, driven by its DevTools protocol over a pair of pipes."""

from __future__ import annotations

import json
import os
import select
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-debugging-pipe",  # reads from 3, writes to 4
)  # fmt: skip
START = 'exec 3<"$0/ask" 4>"$0/answer"; exec "$@"'
DOM = "document.documentElement.outerHTML"
PATIENCE_S = 120
"""A busy machine is no failure."""


class Browser:
    """A Chromium without a window.

    Args:
        program: Its executable.
        folder: A new folder for its profile and the pipes.
    """

    def __init__(self, program: str, folder: Path) -> None:
        for name in ("ask", "answer"):
            os.mkfifo(folder / name)
        words = [program, *FLAGS, f"--user-data-dir={folder / 'profile'}"]
        self._process = subprocess.Popen(
            ["sh", "-c", START, folder, *words], stderr=subprocess.DEVNULL
        )
        self._ask = (folder / "ask").open("wb", buffering=0)
        self._answer = (folder / "answer").open("rb", buffering=0)
        self._said, self._asked = self._messages(), 0

    def close(self) -> None:
        """End it."""
        self._request("Browser.close")
        self._process.wait(PATIENCE_S)
        self._ask.close()
        self._answer.close()

    def dump(self, address: str) -> str:
        """Return the elements of a page after its scripts ran, opened as if by a new profile."""
        profile = self._request("Target.createBrowserContext")
        page = self._request("Target.createTarget", url="about:blank", **profile)
        (session,) = self._request("Target.attachToTarget", **page, flatten=True).values()
        self._request("Page.enable", session)
        self._request("Page.navigate", session, url=address)
        next(said for said in self._said if said.get("method") == "Page.loadEventFired")
        found = self._request("Runtime.evaluate", session, expression=DOM)
        self._request("Target.disposeBrowserContext", **profile)
        return found["result"]["value"]

    def _request(self, method: str, session: str | None = None, **values: Any) -> dict[str, Any]:
        self._asked += 1
        message = {"id": self._asked, "method": method, "params": values}
        if session is not None:
            message["sessionId"] = session
        self._ask.write(json.dumps(message).encode() + b"\0")
        answer = next(said for said in self._said if said.get("id") == self._asked)
        return answer["result"]

    def _messages(self) -> Iterator[dict[str, Any]]:
        kept = b""
        while True:
            *whole, kept = kept.split(b"\0")
            yield from map(json.loads, whole)
            ready, _, _ = select.select([self._answer], [], [], PATIENCE_S)
            assert ready, f"the browser said nothing for {PATIENCE_S} s"
            more = self._answer.read(1 << 20)
            assert more, "the browser ended"
            kept += more
