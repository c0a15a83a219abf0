"""What every client of a server needs: bounded tries, the waits asked for, no secrets in errors."""

from __future__ import annotations

import base64
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Generic, Protocol, TypeVar
from urllib.parse import quote

import stamina

from seal.core.errors import ModelError
from seal.core.secrets import SHORTEST_KEY

Answer = TypeVar("Answer")
Client = TypeVar("Client")

_log = logging.getLogger(__name__)
# Its warnings name no reason; without a handler Python would print them to standard error.
logging.getLogger("stamina").addHandler(logging.NullHandler())

_LONG_S = 2.0
"""Seconds that may pass between two requests before the user is told why."""

RETRIED = frozenset({408, 409, 425, 429})
"""Statuses below 500 after which the same request may still succeed."""


class Tries(Protocol):
    """How often and how patiently a request is repeated."""

    @property
    def max_tries(self) -> int:
        """Requests for one answer, the first included; at least 1."""
        ...

    @property
    def first_wait_s(self) -> float:
        """Seconds before the second try; doubles with every try, plus a random part."""
        ...

    @property
    def max_wait_s(self) -> float:
        """Longest wait in seconds, whatever the server asks for."""
        ...


class PerProcess(Generic[Client]):
    """One client a process, built when first used: a fork must not share its parent's connections.

    Safe in threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._built: tuple[int, Client] | None = None

    def get(self, build: Callable[[], Client]) -> Client:
        """Return this process's client, which `build` makes where there is none."""
        built = self._built
        if built is not None and built[0] == os.getpid():
            return built[1]
        with self._lock:
            built = self._built
            if built is None or built[0] != os.getpid():
                built = (os.getpid(), build())
                self._built = built
        return built[1]


class TransientError(ModelError):
    """A failure that may pass.

    Args:
        text: What happened; without secrets, it may be shown.
        wait_s: Seconds that the server asked to wait; None: it did not say.
    """

    def __init__(self, text: str, wait_s: float | None = None) -> None:
        super().__init__(text)
        self.wait_s = wait_s


class Redactor:
    """Removes secrets from texts that a server or library wrote.

    Args:
        secrets: What must never be shown; what is shorter than `SHORTEST_KEY` is no secret.
    """

    def __init__(self, secrets: Iterable[str | None]) -> None:
        plain = {secret for secret in secrets if secret and len(secret) >= SHORTEST_KEY}
        quoted = {quote(secret, safe="") for secret in plain}
        encoded = {base64.b64encode(secret.encode()).decode() for secret in plain}
        self._secrets = sorted(plain | quoted | encoded, key=len, reverse=True)

    def __call__(self, text: str, limit: int = 300) -> str:
        """Return the text on one line, secrets starred out, cut at `limit` characters."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        text = " ".join(text.split())
        return text if len(text) <= limit else text[:limit] + "..."

    def __repr__(self) -> str:
        return "Redactor()"


def with_tries(ask: Callable[[], Answer], settings: Tries) -> Answer:
    """Return what `ask` returns, tried again after each `TransientError`.

    The wait is what the server asked for, else doubles with every try and has a random part; at
    most `max_wait_s`. A warning is logged where more than 2 seconds pass between two requests.

    Raises:
        ModelError: A failure that does not pass, or the last of `max_tries`.
    """
    waits = _Waits(settings)
    failure = ""
    try:
        for attempt in stamina.retry_context(
            on=waits.wait,
            attempts=settings.max_tries,
            timeout=None,
            wait_initial=settings.first_wait_s,
            wait_max=settings.max_wait_s,
            wait_jitter=settings.first_wait_s,
        ):
            waits.begin(attempt)
            with attempt:
                return ask()
    except TransientError as error:
        failure = str(error)
    count = "once" if settings.max_tries == 1 else f"{settings.max_tries} times"
    # Raised outside the handler: the failures before it would only repeat the text.
    raise ModelError(f"{failure} (tried {count})")


class _Waits:
    """Says how long to wait after each failure, and tells the user of long waits.

    Args:
        settings: Number of tries and longest wait.
    """

    def __init__(self, settings: Tries) -> None:
        self._settings = settings

    def begin(self, attempt: stamina.Attempt) -> None:
        """Note that a request begins."""
        self._attempt = attempt
        self._began = time.monotonic()

    def wait(self, error: Exception) -> bool | float:
        """Return the seconds to wait; True: the doubling wait; False: this failure stays."""
        if not isinstance(error, TransientError):
            return False
        self._tell(error)
        return True if error.wait_s is None else min(error.wait_s, self._settings.max_wait_s)

    def _tell(self, error: TransientError) -> None:
        number, tries = self._attempt.num + 1, self._settings.max_tries
        if number > tries:
            return
        wait_s, asked = self._attempt.next_wait, ""
        if error.wait_s is not None:
            wait_s = min(error.wait_s, self._settings.max_wait_s)
            asked = f" (it asked for {error.wait_s:.0f} s)" if wait_s < error.wait_s else ""
        is_long = time.monotonic() - self._began + wait_s > _LONG_S
        told = f"Waiting {wait_s:.3g} s{asked}, then try {number} of {tries}."
        _log.log(logging.WARNING if is_long else logging.INFO, sentences(str(error), told))


def sentences(first: str, second: str) -> str:
    """Return two sentences in a row; the first may lack its full stop."""
    return f"{first}{'' if first.endswith(('.', '!', '?')) else '.'} {second}"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a Retry-After header asks for: a number, or a date.

    None where there is no such header or it cannot be read. Source: RFC 9110, 10.2.3;
    `retry-after-ms` is OpenAI's own.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        seconds = _seconds(headers.get(name), unit)
        if seconds is not None:
            return seconds
    return None


def _seconds(value: str | None, unit: float) -> float | None:
    if not value:
        return None
    try:
        seconds = float(value) * unit
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        except (TypeError, ValueError):
            return None
    return max(0.0, seconds) if seconds == seconds else None  # NaN is no wait
