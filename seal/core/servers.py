"""A server that is asked: tries, waits, who is down."""

from __future__ import annotations

import errno
import logging
import math
import os
import random
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from seal.core.concurrency import seconds_left, within
from seal.core.errors import InfrastructureError, ModelError, OverdueError, RequestError, UsageError
from seal.core.outcomes import (
    FAILED_LOAD,
    is_over_a_minute,
    lacks_room,
    may_pass,
    refusal_of,
)
from seal.core.secrets import (
    SHORTEST_IN_FILES,
    SHORTEST_KEY,
    ServerSettings,
    check_url,
    in_addresses,
    is_secret,
    note_addresses,
    note_keys,
    public_url,
    read_key,
    secrets_of,
    spellings,
)
from seal.core.text import counted

# -- What every client of a server needs: bounded tries, the waits asked for, no secrets in errors.

Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)
_LONG_S = 2.0
"""Seconds that may pass between two requests before the user is told why."""
_UNABLE = frozenset({429, 502, 503, 504, 529})
"""Statuses of a server that takes no request at all, whatever it holds."""
_BUSY = frozenset({429, 529})
"""Statuses of a server that has too many requests; the second is Anthropic's."""
_BY_CHANCE = 0.05
"""Share of requests that may be refused as too many while no fewer are sent at once."""
_FEWEST = 8
"""Requests over which the share is taken at least."""
_UNPAID = re.compile(r"credit balance is too low|(?:doesn't|does not) have any credits")
"""How Anthropic says so, by 400, and xAI, by 403."""
_OF_A_GATE = re.compile(
    r"<html|\berror code: 1\d{3}\b|\b(?:country|location)\b.{0,40}not supported",
    re.IGNORECASE,
)
"""How gateways and providers refuse a machine, whatever the key (Cloudflare, OpenAI, Google)."""
_SHORTEST_WAIT_S = 0.1
"""Doubles from the third try on where the first wait is 0: no server is hammered."""
_LONGEST_WAIT_S = 10.0**9
"""What asks for more says nothing."""
_MANY_TOOLS = re.compile(
    r"\b(?:tools|functions)\b[^.]{0,40}\b(?:too (?:long|many)|at most|maximum|limit|exceed)"
    r"|\b(?:too many|at most \d+|more than \d+|maximum(?: number)? of \d*) ?(?:tools|functions)\b",
    re.IGNORECASE,
)
_OF_A_TOOL = re.compile(
    r"\bschema (?:for|of) (?:the )?(?:function|tool)|\b(?:tools|functions)(?:\[|\.)\d"
    r"|\binput_schema\b|\bfunction_?declarations?\b"
    r"|\b(?:tool|function)s?\W{0,3} ?(?:name|parameters|schema)\b",
    re.IGNORECASE,
)
_OF_A_MESSAGE = re.compile(r"\bmessages(?:\[|\.)\d")
NO_THINKING = re.compile(
    r"(?:extra inputs|not permitted|unsupported|un(?:known|recognized|expected))\b.{0,80}"
    r"\breasoning_content\b"
    r"|\breasoning_content\W.{0,60}(?:not (?:permitted|allowed|supported)|unsupported|unknown)",
    re.IGNORECASE,
)
"""How servers refuse the thinking before a call."""
_OF_THINKING = re.compile(r"\breasoning_content\b", re.IGNORECASE)
_OF_OUTPUT = re.compile(r"max_(?:\w{1,40}_)?tokens\W{1,3}\d+ > \d+")
_OF_A_VALUE = re.compile(r"\b\w{1,40} must be (?:set to )?(?:true|false)\b", re.IGNORECASE)
_OF_SIZE = re.compile(
    r"(?:entity|payload|body) (?:is )?too large|request_too_large|exceeds the maximum size",
    re.IGNORECASE,
)
LARGER_WINDOW = (
    "Give the server a larger window (Ollama: OLLAMA_CONTEXT_LENGTH), or send less (of a chat: "
    "--top-k N)."
)
_SEND_LESS = (
    "One request has more tokens than the account may send in a minute, those that the answer may "
    "have among them. Send fewer at once (of a chat: -M max_tokens=N, --top-k N), or ask for a "
    "higher limit."
)
_SEND_SLOWER = (
    "Send fewer: requests_per_minute=N in the text of the model or retriever (of --model: "
    "--requests-per-minute N)."
)
_OF_A_GRAMMAR = re.compile(r"grammar\b", re.IGNORECASE)
_FAULTS = {
    _OF_A_GRAMMAR: "It makes no grammar of the schemas: offer fewer tools (--top-k N), or send "
    "them as text (--format json).",
    FAILED_LOAD: "Load the model at its server, with room for it.",
}
"""Words of a fault that comes again, whatever the status, to what helps."""
_OF_THIS_REQUEST = frozenset({400, 404, 405, 406, 409, 411, 413, 414, 415, 422, 431})
"""Statuses that speak of a request; of others nobody knows what helps."""
_REPAIRS = {
    NO_THINKING: "It takes no thinking before a call back: -M profile=FILE, a file with the line "
    "thinking_with_calls = false.",
    _OF_THINKING: "It wants the thinking before a call back: -M profile=FILE, a file with the line "
    "thinking_with_calls = true.",
    _OF_OUTPUT: "Let answers be shorter: -M max_tokens=N.",
    _MANY_TOOLS: "Offer fewer tools: --top-k N.",
    _OF_A_TOOL: "Mend the tool that it names in the pool, or send tools as text: --format json.",
    _OF_A_MESSAGE: "It takes no message such as this one of the chat.",
    _OF_A_VALUE: "Set the field that it names: -M 'extra_body={\"FIELD\": VALUE}'.",
    _OF_SIZE: "It takes no request of this size: offer fewer tools by --top-k N.",
}
"""Words of a refused request to what helps; else a field of it may be left out."""
_MISSES = 3
"""Requests in a row that are given up before a server counts as down."""
LONGEST_OUTAGE = 999
"""Characters of what is kept of an outage, for memory that processes share has no more room."""


_LONGEST_HEADER = 40


def _says_cached(name: str, value: str) -> bool:
    """Tell whether a header says that a gateway has answered by what it kept.

    Of Cloudflare, Helicone, Kong, OpenRouter and Portkey it has `cache` in its name, and `HIT`, or
    `SEMANTIC HIT`; LiteLLM gives the key of what it kept.
    """
    name = name.lower()
    if "cache" not in name:
        return False
    return name == "x-litellm-cache-key" or _HIT.fullmatch(value.strip()) is not None


_HIT = re.compile(r"(?:semantic )?hit", re.IGNORECASE)


def repair_of(said: str) -> str:
    """Return what helps against a fault that comes again, by its words; empty: nobody knows."""
    if lacks_room(said):
        return LARGER_WINDOW
    return next((repair for words, repair in _FAULTS.items() if words.search(said)), "")


def server_url(given: str | None, setting: str, variable: str) -> str | None:
    """Return the address of a server: the given one, else the variable's; None: the provider's own.

    Args:
        given: The address; None or empty: none.
        setting: Where it is given, for the message.
        variable: Environment variable that may hold it.

    Raises:
        UsageError: It is no address.
    """
    note_addresses(variable)
    url = given or os.environ.get(variable, "").strip() or None
    return check_url(url, setting if given else variable) if url else None


def held_keys() -> list[str]:
    """Return what stands in variables of the environment that are named like keys.

    For libraries that find a provider's key by themselves: no file holds these keys, either.
    """
    values = {name: os.environ[name].strip() for name in os.environ}
    long = {name: key for name, key in values.items() if len(key) >= SHORTEST_IN_FILES}
    held = {name: key for name, key in long.items() if is_secret(name, key)}
    note_keys(*held)
    return list(held.values())


class TransientError(ModelError):
    """A failure that may pass.

    Args:
        text: What happened; without secrets, it may be shown.
        wait_s: Seconds that the server asked to wait; None: it did not say.
        status: Of HTTP; 0: no answer came.
        found: False where no connection could be made at all.
        said: The server's own words beside a status, all of them; without secrets.
    """

    def __init__(
        self,
        text: str,
        wait_s: float | None = None,
        status: int = 200,
        found: bool = True,
        said: str = "",
    ) -> None:
        super().__init__(text, said)
        self.wait_s = wait_s
        self.status = status
        self.found = found


@dataclass(slots=True)
class Counts:
    """How a server does, in numbers. Moments are on the monotonic clock."""

    most: float = math.inf
    """Requests at once; infinity: as many as are asked."""
    good: float = 1.0
    """The largest number at once of which few were refused."""
    taken: int = 0
    """Requests at this moment."""
    held: int = 0
    """Requests that wait as the server has too many."""
    refused: float = 0.0
    """How many of the latest were refused as too many; older ones count less and less."""
    heard: float = 0.0
    """How many of the latest were not."""
    cut_at: float = -math.inf
    """When `most` was cut last."""
    is_cut: bool = False
    """Whether no request has been taken that was sent after that."""
    is_lower: bool = False
    """Whether since then there were never as many as `good`."""
    next_request_at: float = -math.inf
    """When the limit of requests a minute allows the next one."""
    next_tokens_at: float = -math.inf
    """When the limit of tokens a minute allows the next request."""
    answer_tokens: float = 500.0
    """Tokens of an answer beyond what is known before: a mean, in which the latest count most."""
    misses: int = 0
    """Requests in a row that were given up."""
    was_heard: bool = False
    outage: str = ""
    """Why it counts as down; empty while it does not. An answer ends the outage."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a server does, as all know who ask it: threads, or processes that share these parts.

    It gets all requests at once. Where it refuses more than a few as too many, it gets as many as
    are under way then. Each good answer lets one more be sent, so that the number doubles in a
    round, until it is as large as once was good; from there it grows by one a round.
    """

    counts: Counts = field(default_factory=Counts)
    """Or what has the same attributes."""
    free: threading.Condition = field(default_factory=threading.Condition)
    down: threading.Event = field(default_factory=threading.Event)

    def alone(self) -> Standing:
        """Return what is known here for this process alone: no process that has ended holds it."""
        known = {part.name: getattr(self.counts, part.name) for part in fields(Counts)}
        own = Standing(Counts(**{**known, "taken": 0, "held": 0}))
        if own.counts.outage:
            own.down.set()
        return own

    @contextmanager
    def place(self, limits: ServerSettings | None = None, tokens: float = 0.0) -> Iterator[None]:
        """Wait for a place, and for the limits of a minute, and hold the place in the block.

        Args:
            limits: Of requests and tokens a minute; None: there are none.
            tokens: Of the request and its answer, as far as is known.

        Raises:
            ModelError: The time was up before.
        """
        counts = self.counts
        with self.free:
            if counts.taken >= counts.most:
                with self.held():
                    while counts.taken >= counts.most:
                        left = seconds_left()
                        if not left:
                            raise ModelError(
                                "the time was up while the server was busy with others"
                            )
                        self.free.wait(min(left, threading.TIMEOUT_MAX))
            counts.taken += 1
        began, busy = math.inf, False  # it is not sent yet
        try:
            if limits is not None:
                self._pace(limits, tokens)
            began = time.monotonic()
            yield
        except TransientError as error:
            busy = error.status in _BUSY
            raise
        finally:
            with self.free:
                counts.taken -= 1
                if began < math.inf:
                    self._count(busy, began >= counts.cut_at)
                self.free.notify_all()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Count a request in the block as one that waits as the server has too many."""
        with self.free:
            self.counts.held += 1
        try:
            yield
        finally:
            with self.free:
                self.counts.held -= 1

    def _count(self, busy: bool, is_later: bool) -> None:
        """Count a request that has ended, and change how many there may be at once.

        Args:
            busy: Whether it was refused as one too many.
            is_later: Whether it was sent after the last cut.
        """
        counts = self.counts
        counts.refused += busy
        counts.heard += not busy
        if counts.refused + counts.heard > 2 * max(counts.taken, counts.good, _FEWEST):
            counts.refused, counts.heard = counts.refused / 2, counts.heard / 2
        known = counts.refused + counts.heard + counts.taken
        few = counts.refused <= _BY_CHANCE * known
        if not busy:
            if few and counts.taken + 1 >= counts.good:
                counts.good, counts.is_lower = counts.taken + 1, False
            if is_later:
                counts.is_cut = False
                counts.most += 1 if counts.most + 1 <= counts.good else 1 / counts.most
        elif not few:
            if is_later:
                if counts.is_lower and not counts.is_cut:  # what was good is too much now
                    counts.good = max(1.0, counts.good / 2)
                counts.cut_at, counts.is_cut, counts.is_lower = time.monotonic(), True, True
            counts.most = max(1, min(counts.most, counts.taken))

    def _pace(self, limits: ServerSettings, tokens: float) -> None:
        """Wait until the limits of a minute allow a request: it is spread, none comes in a burst.

        Raises:
            ModelError: The time was up before.
        """
        with self.free:
            wait_s = self.reserve(limits, tokens, time.monotonic())
        left = seconds_left()
        if wait_s > 0:
            self.down.wait(min(wait_s, left, threading.TIMEOUT_MAX))
        if wait_s > left:
            raise ModelError("the time was up before the limits of a minute allowed the request")

    def reserve(self, limits: ServerSettings, tokens: float, now: float) -> float:
        """Return the seconds until the next moment that the limits of a minute allow, and take it.

        Args:
            limits: Of requests and tokens a minute.
            tokens: Of the request and its answer, as far as is known.
            now: On the monotonic clock.
        """
        counts = self.counts
        at = max(now, counts.next_request_at, counts.next_tokens_at)
        if limits.requests_per_minute:
            counts.next_request_at = at + 60 / limits.requests_per_minute
        if limits.tokens_per_minute:
            counts.next_tokens_at = at + 60 * tokens / limits.tokens_per_minute
        return at - now

    def settle(self, limits: ServerSettings, reserved: float, known: float, took: float) -> None:
        """Correct what an answer was thought to take.

        Args:
            limits: Of tokens a minute.
            reserved: The tokens for which it waited.
            known: Those of its request, as they were estimated.
            took: Those of the request and the answer.
        """
        counts = self.counts
        with self.free:
            counts.next_tokens_at += 60 * (took - reserved) / (limits.tokens_per_minute or math.inf)
            counts.answer_tokens += (took - known - counts.answer_tokens) / 8


class Server(ABC):
    """A server, and the key for it. Safe in threads, which share one client.

    Nothing is sent, and no SDK is imported, before the first request.

    Args:
        who: The model, `PROVIDER/NAME`; begins every message.
        settings: How it is asked.
        secrets: What must not be shown besides the key, and what its address may hold of them.

    Raises:
        UsageError: What is given as an address is none.
    """

    variables: tuple[str, str]
    """Which may hold the address of another server, and which holds the key where the settings name
    none; empty: there is none."""
    url: str | None
    """Its address, which every message names; None: the provider's own."""
    unreached = "Can this machine reach the provider?"
    """What to ask where the provider's own address gives no answer."""
    refused = "The server does not take this request as it is."
    """What to do where it does not take a request: one sentence."""

    def __init__(
        self, who: str, settings: ServerSettings, secrets: Iterable[str | None] = ()
    ) -> None:
        variable, key_variable = self.variables
        self.url = server_url(settings.base_url, settings.address_from, variable)
        self._who = who
        self._where = f" at {public_url(self.url)}" if self.url else ""
        self._settings = settings
        self.streams = settings.stream
        """Whether it is asked to stream its answers."""
        self._is_told_open = self._is_told_cached = False
        from_variable = self.url is not None and not settings.base_url
        self.setting = variable if from_variable else settings.address_from
        """What gives its address, for messages."""
        self._key_variable = settings.api_key_env or key_variable
        self._key = read_key(self._key_variable)
        parts = urlsplit(self.url or "")
        query = [value for _, value in parse_qsl(parts.query) if len(value) >= SHORTEST_IN_FILES]
        known = (self._key, *secrets_of(self.url or ""), *query, *in_addresses(), *secrets)
        self._secrets = spellings(key for key in known if key and len(key) >= SHORTEST_KEY)
        self._lock = threading.Lock()
        self._built: tuple[int, Any] | None = None
        self.standing = Standing()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._who!r})"

    def answer(
        self, ask: Callable[[], Answer], tokens: Callable[[Answer | None], int] = lambda _: 0
    ) -> Answer:
        """Return what `ask` returns, tried again after each `TransientError`.

        The wait is what the server asked for, else doubles with every try and has a random part; at
        most `max_wait_s`. A warning is logged where more than 2 seconds pass between two requests.
        No try begins, and no wait ends, after the time that is left here (`seal.core.concurrency`).

        Args:
            ask: Sends one request.
            tokens: Returns the tokens of an answer and its request; of None, those of the request.
                It is asked where there is a limit of tokens a minute.

        Raises:
            ModelError: A failure that does not pass, or the last of `max_tries`.
            OverdueError: The time was up before the first try, or amid the words of an answer.
        """
        self._connection()  # importing the SDK takes seconds and is no silence of the server
        if not seconds_left():
            raise OverdueError(self.told("was not asked: the time is up"))
        tries = self._settings
        for number in range(1, tries.max_tries + 1):
            began = time.monotonic()
            try:
                return self._tried(ask, tokens)
            except TransientError as error:
                failed = error
            except OverdueError as error:
                if not seconds_left():
                    raise
                raise RequestError(f"{error}; -M max_answer_s=SECONDS sets more") from None
            except ModelError as error:
                self._noted(error)
                raise
            counts = self.standing.counts
            hopeless = not (failed.found or counts.was_heard) and number > 1
            slow = time.monotonic() - began >= tries.max_answer_s
            last = number == tries.max_tries or hopeless or slow or counts.outage
            busy = self.standing.held() if failed.status in _BUSY else nullcontext()
            with busy:
                if last or not _pause(failed, number, began, tries, self.standing.down):
                    break
        count = "once" if number == 1 else f"{counted(number, 'time')}"
        self._noted(failed)
        told, asked_s = f"{failed} (tried {count})", failed.wait_s or 0.0
        if asked_s > tries.max_wait_s:
            told = sentences(told, f"It asked for a wait of {asked_s:.0f} s; {_longer(asked_s)}.")
        elif failed.status == 429:
            told = sentences(told, _SEND_SLOWER)
        # Raised outside the handler: the failures before it would only repeat the text.
        raise ModelError(told)

    def _tried(self, ask: Callable[[], Answer], tokens: Callable[[Answer | None], int]) -> Answer:
        """Return what `ask` returns, sent when there is a place for it."""
        how, standing = self._settings, self.standing
        if not (how.requests_per_minute or how.tokens_per_minute):
            with standing.place(), within(how.max_answer_s):
                return self._heard(ask())
        known = tokens(None) if how.tokens_per_minute else 0
        reserved = known + standing.counts.answer_tokens
        with standing.place(how, reserved), within(how.max_answer_s):
            answer = self._heard(ask())
        if how.tokens_per_minute:
            standing.settle(how, reserved, known, tokens(answer))
        return answer

    def _heard(self, answer: Answer) -> Answer:
        """Note that the server takes requests."""
        standing = self.standing
        counts = standing.counts
        if counts.misses or not counts.was_heard:
            with standing.free:  # else `down` might stay set, and no try would wait
                counts.was_heard, counts.misses, counts.outage = True, 0, ""
                standing.down.clear()
        return answer

    def _noted(self, failure: ModelError) -> None:
        """Note that a request was given up, and whether the server counts as down after it.

        It does where it is not there or takes no request of ours at the first, and after several in
        a row. One that has never given a usable answer may be no server of models, whatever it
        sends. Time that was up says nothing of a server.
        """
        standing = self.standing
        counts = standing.counts
        passing = failure if isinstance(failure, TransientError) else None
        answered = passing is not None and passing.status and passing.status not in _UNABLE
        if isinstance(failure, RequestError) or (answered and counts.was_heard):
            self._heard(None)
        elif seconds_left():
            with standing.free:
                counts.misses += 1
                at_once = not counts.was_heard and not (passing is not None and passing.found)
                if at_once or counts.misses >= _MISSES:
                    counts.outage = str(failure)[:LONGEST_OUTAGE]
                    standing.down.set()

    def transient(self, said: str, status: int = 200, found: bool = True) -> TransientError:
        """Return a failure that may pass, after what the server said (`TransientError`)."""
        return TransientError(self.told(said), None, status, found)

    def not_there(self, said: str) -> str:
        """Return that no answer began, and what to look after."""
        asked = f"Is it running, is {self.setting} right?" if self.url else self.unreached
        return sentences(f"could not be reached or {said}", asked)

    def tell_open(self) -> None:
        """Tell once that the server keeps streams open after their answers."""
        if not self._is_told_open:
            self._is_told_open = True
            _log.warning(
                self.told(
                    "keeps its streams open after the answer, so that each takes "
                    f"{self._settings.timeout_s:g} seconds more; take -M stream=false, or a lower "
                    "-M timeout_s="
                )
            )

    def tell_cached(self, headers: Mapping[str, str]) -> None:
        """Tell once that an answer came of a gateway's cache, by the headers beside it."""
        if self._is_told_cached:
            return
        kept = (name for name in headers if _says_cached(name, headers[name]))
        if (name := next(kept, None)) is not None:
            self._is_told_cached = True
            _log.warning(
                self.told(
                    f"gives answers of a cache ({name.lower()}: {headers[name][:_LONGEST_HEADER]}),"
                    " maybe to other requests than these; let its gateway keep none, and play with "
                    "another --cache-dir"
                )
            )

    def told(self, said: str) -> str:
        """Return what the server said on one line, with its name and without secrets."""
        said = " ".join(self.cleaned(said).split())
        said = said if len(said) <= 300 else said[:300] + "..."
        return f"{self._who}{self._where} {said}".rstrip()

    def context_of(self, model: str) -> int | None:
        """Return how many tokens prompt and answer of a model may have; None: it does not say."""
        return None

    def cleaned(self, said: str) -> str:
        """Return a text without the secrets of this server."""
        for secret in self._secrets:
            said = said.replace(secret, "***")
        return said

    def _connection(self) -> Any:
        """Return this process's client: a fork must not share its parent's connections."""
        built = self._built
        if built is None or built[0] != os.getpid():
            with self._lock:
                built = self._built
                if built is None or built[0] != os.getpid():
                    built = self._built = os.getpid(), self._connect()
        return built[1]

    @abstractmethod
    def _connect(self) -> Any:
        """Return a client of this process."""

    def _repair(self, status: int, said: str) -> str:
        """Return what to do about a status that stays; `refused` where it is this request's."""
        if status in (402, 429) or _UNPAID.search(said):
            left = "quota" if status == 429 else "credit"
            return f"The account behind {self._key_variable} has no {left} left."
        if status == 403 and _OF_A_GATE.search(said):
            return "It does not take requests from this machine; ask who runs it."
        if status in (401, 403):
            return self._key_repair
        return "Check the model's name." if status == 404 else self.refused

    @property
    def _key_repair(self) -> str:
        """What to do about a key that is not taken."""
        return f"Set {self._key_variable} to a valid key."

    def _require_key(self) -> None:
        """Refuse to go on without a key.

        Raises:
            UsageError: There is none; the text names the variable.
        """
        if self._key is None:
            raise UsageError(f"{self._who}: no key; set {self._key_variable}")

    def failure(
        self,
        status: int,
        message: str,
        headers: Mapping[str, str],
        spent: bool = False,
        codes: str = "",
        wrote: str | None = None,
    ) -> ModelError:
        """Return the failure that a status says.

        Args:
            status: Of HTTP.
            message: What the server said.
            headers: Of its answer.
            spent: Whether waiting does not help.
            codes: By which it says so besides.
            wrote: What the model wrote, where the server could not read the calls in it.
        """
        said = f"answered HTTP {status}: {message}" if message else f"answered HTTP {status}"
        if wrote is not None:  # the model has answered, whatever the words are
            return RequestError(self.told(said), None, status, wrote=self.cleaned(wrote))
        if (refusal := refusal_of(status, message, codes)) is not None:
            return RequestError(self.told(said), refusal, status, self.cleaned(message))
        helps = repair_of(message)
        if may_pass(status, message, codes) and not spent:
            wait_s, words = _retry_after(headers), self.cleaned(message)
            told = sentences(self.told(said), helps) if helps else self.told(said)
            return TransientError(told, wait_s, status, said=words)
        is_over = is_over_a_minute(message)
        repair = self.refused if is_over else self._repair(status, said)
        if 300 <= status < 400:
            to = headers.get("location")
            led = f" to {self.cleaned(public_url(to))}" if to else ""
            repair = f"It leads elsewhere{led}. Is {self.setting} right?"
        is_this_one = repair is self.refused
        if is_this_one:
            known = status in _OF_THIS_REQUEST
            other = repair if known else "Ask who runs the server what this status means."
            other = _SEND_LESS if is_over else helps or other
            repair = next((_REPAIRS[words] for words in _REPAIRS if words.search(said)), other)
        told = sentences(self.told(said), repair)
        if is_this_one:
            return RequestError(told, status=status, said=self.cleaned(message))
        return ModelError(told, self.cleaned(message))


def _pause(
    failed: TransientError, number: int, began: float, tries: ServerSettings, down: threading.Event
) -> bool:
    """Wait before the next try, and tell the user of long waits.

    Args:
        failed: What happened.
        number: Tries so far.
        began: When the last one began.
        tries: Number of tries and longest wait.
        down: Set where no other try is worth it.

    Returns:
        Whether there is time for a next try.
    """
    asked_s = failed.wait_s
    if asked_s is None:
        # Beyond 64 doublings no float may hold the wait, and every longest wait is reached.
        step = tries.first_wait_s or (_SHORTEST_WAIT_S if number > 1 else 0.0)
        wait_s = min(step * 2 ** min(number - 1, 64), tries.max_wait_s)
        by_chance, told_asked = random.uniform(0, step), ""
    else:
        wait_s, by_chance = min(asked_s, tries.max_wait_s), 0.0
        longer = f" (it asked for {asked_s:.0f} s; {_longer(asked_s)})"
        told_asked = longer if wait_s < asked_s else ""
    is_long = time.monotonic() - began + wait_s > _LONG_S
    told = f"Waiting {wait_s:.3g} s{told_asked}, then try {number + 1} of {tries.max_tries}."
    if wait_s >= seconds_left():
        return False
    _log.log(logging.WARNING if is_long else logging.INFO, sentences(str(failed), told))
    down.wait(min(wait_s + by_chance, tries.max_wait_s))
    return True


def _longer(wait_s: float) -> str:
    return f"max_wait_s={math.ceil(wait_s)} waits that long"


def sentences(first: str, second: str) -> str:
    """Return two sentences in a row; the first may lack its full stop."""
    return f"{first}{'' if first.endswith(('.', '!', '?')) else '.'} {second}"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a Retry-After header asks for: a number, or a date.

    None where there is no such header or it cannot be read. Source: RFC 9110, 10.2.3;
    `retry-after-ms` is OpenAI's own.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value, seconds = headers.get(name) or "", math.nan
        with suppress(TypeError, ValueError):
            seconds = (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds()
        with suppress(ValueError):
            seconds = float(value) * unit
        if seconds < _LONGEST_WAIT_S:  # neither infinite nor no number
            return max(0.0, seconds)
    return None


# -- Servers that tools ask by themselves.

_OF_A_TRANSPORT = frozenset(
    {
        "aiohttp.ClientConnectionError",
        "aiohttp.ClientPayloadError",
        "builtins.ConnectionError",
        "http.BadStatusLine",
        "http.IncompleteRead",
        "httpx.NetworkError",
        "httpx.ProxyError",
        "httpx.RemoteProtocolError",
        "httpx.TimeoutException",
        "requests.ChunkedEncodingError",
        "requests.ConnectionError",
        "requests.Timeout",
        "socket.gaierror",
        "ssl.SSLError",
        "urllib3.ProtocolError",
        "urllib3.TimeoutError",
    }
)
"""Base classes by package and name, so that none of them need be imported."""
_CLIENTS = ("aiohttp", "httpx", "requests", "urllib")
"""Packages whose exceptions, or whose answers in exceptions of others, have an HTTP status."""
_UNREACHED = frozenset({errno.EHOSTDOWN, errno.EHOSTUNREACH, errno.ENETDOWN, errno.ENETUNREACH})


def check_reached(tool: str, error: BaseException, said: str) -> None:
    """Make sure that a tool did not fail by its connection or server, which no model answers for.

    Args:
        tool: Its name.
        error: What it raised.
        said: Its words.

    Raises:
        InfrastructureError: The error, or what led to it, is of a transport: a connection that was
            not made or was cut, a timeout, HTTP 429, or a status from 500 on.
    """
    for earlier in causes_of(error):
        if isinstance(earlier, TimeoutError) or is_of_transport(earlier) or _is_busy(earlier):
            raise InfrastructureError(
                f"the tool {tool} did not reach its server: {said}; run again when the server "
                "answers, or let the tool raise another error, such as ValueError, if models are "
                "to read it"
            ) from error


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what led to it, each once."""
    seen: list[BaseException] = []
    earlier: BaseException | None = error
    while earlier is not None and earlier not in seen:
        yield earlier
        seen.append(earlier)
        context = None if earlier.__suppress_context__ else earlier.__context__
        earlier = earlier.__cause__ or context


def is_of_transport(error: BaseException) -> bool:
    """Tell whether an exception says that a connection was not made, was cut, or took too long.

    A plain `TimeoutError` does not: it may be of a time limit.
    """
    bases = type(error).__mro__
    names = {f"{_package(base)}.{base.__name__}" for base in bases}
    unreached = isinstance(error, OSError) and error.errno in _UNREACHED
    return unreached or not names.isdisjoint(_OF_A_TRANSPORT)


def status_of(error: BaseException) -> int:
    """Return the HTTP status that an exception tells; 0: none.

    httpx and requests keep it in the exception's `response`; urllib and aiohttp call it `status`.
    """
    answers = (error, getattr(error, "response", None))
    stated = [getattr(one, name, None) for one in answers for name in ("status_code", "status")]
    return next((code for code in stated if isinstance(code, int)), 0)


def is_busy(status: int) -> bool:
    """Tell whether an HTTP status is that of a server that is busy or broken."""
    return status == 429 or 500 <= status < 600


def _is_busy(error: BaseException) -> bool:
    """Tell whether a client of HTTP got such a status; a tool's own exceptions may have any."""
    packages = {_package(type(one)) for one in (error, getattr(error, "response", None))}
    return not packages.isdisjoint(_CLIENTS) and is_busy(status_of(error))


def _package(kind: type) -> str:
    """Return the package that a class is of; `httpx2` is httpx under another name."""
    package = str(kind.__module__).partition(".")[0]
    return "httpx" if package == "httpx2" else package
