"""One browser for many pages, driven by its DevTools protocol over a pair of pipes."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
        self.request("Browser.close")
        self._process.wait(PATIENCE_S)
        self._ask.close()
        self._answer.close()

    def dump(self, address: str) -> str:
        """Return the elements of a page after its scripts ran, opened as if by a new profile."""
        with self.page(address) as page:
            found: str = page.value(DOM)
            return found

    @contextmanager
    def page(self, address: str, width: int = 1400, scheme: str = "light") -> Iterator[Page]:
        """Give a page that was loaded, opened as if by a new profile.

        Args:
            address: Of the page.
            width: Of the window; a narrow one is a phone's.
            scheme: light or dark.
        """
        profile = self.request("Target.createBrowserContext")
        target = self.request("Target.createTarget", url="about:blank", **profile)
        (session,) = self.request("Target.attachToTarget", **target, flatten=True).values()
        for part in ("Page", "Runtime"):
            self.request(f"{part}.enable", session)
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
        self.request("Emulation.setDeviceMetricsOverride", session, **size)
        wanted = [{"name": "prefers-color-scheme", "value": scheme}]
        self.request("Emulation.setEmulatedMedia", session, features=wanted)
        self.request("Page.navigate", session, url=address)
        next(said for said in self._said if said.get("method") == "Page.loadEventFired")
        yield Page(self, session)
        self.request("Target.disposeBrowserContext", **profile)

    def request(self, method: str, session: str | None = None, **values: Any) -> dict[str, Any]:
        """Return the result of a request of the protocol."""
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


KEYS = {"Enter": ("Enter", "\r"), "Escape": ("Escape", "")}


@dataclass(frozen=True)
class Page:
    """One page that is open."""

    browser: Browser
    session: str

    def value(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript; a promise is waited for."""
        asked = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        found = self.browser.request("Runtime.evaluate", self.session, **asked)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until an expression is true."""
        ends = time.monotonic() + PATIENCE_S
        while not self.value(f"Boolean({expression})"):
            assert time.monotonic() < ends, f"never true: {expression}"
            time.sleep(0.02)

    def press(self, key: str) -> None:
        """Press a key and let it go, as a person does: `j`, `Enter`."""
        name, text = KEYS.get(key, (key, key))
        code = {"Enter": 13, "Escape": 27}.get(key, ord(key[0].upper()))
        told = {"key": name, "windowsVirtualKeyCode": code}
        down = {"type": "keyDown", "text": text} if text else {"type": "rawKeyDown"}
        self.browser.request("Input.dispatchKeyEvent", self.session, **down, **told)
        self.browser.request("Input.dispatchKeyEvent", self.session, type="keyUp", **told)
