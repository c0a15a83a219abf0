"""MCP servers as people name them, and live sessions with them."""

from __future__ import annotations

import logging
import os
import re
import shlex
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import orjson

from seal.core import (
    JSON,
    DataError,
    InfrastructureError,
    OverdueError,
    UsageError,
    needing,
    shortened,
)
from seal.core.concurrency import seconds_left
from seal.core.files import content_of
from seal.core.secrets import (
    SHORTEST_IN_FILES,
    check_url,
    is_secret,
    note_keys,
    public_url,
    secrets_of,
    without_login,
)
from seal.core.values import digest, json_text, json_value, well_formed
from seal.environments.mcp_messages import (
    SIGN_IN,
    TOLD,
    UNSAID,
    Heard,
    breaks_its_schema,
    first_cause,
    is_passed_on,
    is_upstream_error,
    looked_at,
    repair_of_status,
    text_of_block,
    to_sign_in,
    watched,
    words_of_error,
    words_of_refusal,
)

if TYPE_CHECKING:
    from anyio.from_thread import BlockingPortal


# -- MCP servers as people name them: by a command, by an address, or in a file such as mcp.json.
#
#     {"mcpServers": {"clock": {"command": "mcp-server-time", "args": ["--local-timezone", "UTC"]},
#                   "docs": {"url": "https://docs.test/mcp", "headers": {"X-Key": "${DOCS_KEY}"}}}}
#
# `${NAME}` and `${NAME:-default}` stand for variables of the environment. They are filled in when a
# server is begun, so that a key stays out of every file.

_log = logging.getLogger(__name__)
_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]{0,500}))?\}")
_NAMED = re.compile(r"([A-Za-z][\w.-]*)=(?=\S)")
_FIELDS = frozenset(
    {"args", "command", "cwd", "description", "disabled", "env", "headers", "type", "url"}
)
_OF_LOGIN = frozenset({"Authorization", "authorization", "Cookie", "cookie"})
_KINDS = (None, "stdio", "http", "streamable-http", "streamableHttp")


@dataclass(frozen=True, slots=True)
class McpServer:
    """How one MCP server is reached, with its variables not yet filled in."""

    command: tuple[str, ...] = ()
    """Words of the command that starts it; none: it runs already, at `url`."""
    url: str = ""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables that the command is given besides a few such as HOME and PATH."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None

    @property
    def is_reset(self) -> bool:
        """Whether each chat has a server of its own, started for it."""
        return bool(self.command)

    hidden: tuple[str, ...] = field(default=(), repr=False, compare=False)
    """Once its variables are filled in: the keys among the values of `env`, `headers` and `url`."""

    @property
    def spec(self) -> str:
        """8 hex digits by which its answers are told from another server's; no key shapes them.

        The query of its address and `env` do, as a digest: they may name a database or a folder.
        """
        known = [list(self.command), without_login(self.url), self.cwd]
        query = [pair for pair in parse_qsl(urlsplit(self.url).query) if not is_secret(*pair)]
        plain = {name: _known(value) for name, value in self.env.items()}
        plain = {name: value for name, value in plain.items() if not is_secret(name, value)}
        return digest([*known, query, plain] if query or plain else known)[:8]

    def label(self, name: str) -> str:
        """Return what messages call it, by its name if it has one."""
        return f"MCP server {(name or public_url(self.url) or self.command[0])!r}"

    def filled(self) -> McpServer:
        """Return it with the variables of the environment in their places.

        Raises:
            UsageError: A variable is not set.
        """
        filled = replace(
            self,
            command=tuple(map(_filled, self.command)),
            url=_filled(self.url),
            env={name: _filled(value) for name, value in self.env.items()},
            headers={name: _filled(value) for name, value in self.headers.items()},
        )
        texts = (*self.command, self.url, *self.env.values(), *self.headers.values())
        named = {m[1]: os.environ.get(m[1], "") for text in texts for m in _VARIABLE.finditer(text)}
        pairs = [*filled.env.items(), *filled.headers.items(), *named.items()]
        keys = {value for name, value in pairs if name in _OF_LOGIN or is_secret(name, value)}
        keys.update(secrets_of(filled.url))
        keys |= {word for key in keys for word in key.split()}  # such as `Bearer KEY`
        hidden = (key for key in keys if len(key) >= SHORTEST_IN_FILES)
        return replace(filled, hidden=tuple(sorted(hidden, key=len, reverse=True)))

    def masked(self, value: Any) -> Any:
        """Return a text, or JSON, in whose texts the server's keys are `***`; see `hidden`.

        All else stays, whatever `env` holds: a unit, a mode or a folder is no key.
        """
        if isinstance(value, str):
            for key in self.hidden:
                if key in value:
                    value = re.sub(rf"(?<!\w){re.escape(key)}(?!\w)", "***", value)
            return value
        if isinstance(value, dict):
            return {name: self.masked(inner) for name, inner in value.items()}
        return [self.masked(inner) for inner in value] if isinstance(value, list) else value


def read_servers(given: Any) -> dict[str, McpServer]:
    """Return servers by name.

    Args:
        given: A file such as mcp.json, or a map of names to commands, addresses, or entries of such
            a file. A single server may have the name "".

    Raises:
        UsageError: What is given is no server.
        DataError: The file holds none.
    """
    if isinstance(given, str | Path):
        given = _entries(Path(given))
    if not isinstance(given, Mapping):
        raise UsageError(
            f"servers: expected a file such as mcp.json, or a map of names to commands and "
            f"addresses, got {shortened(given)}"
        )
    if "" in given and len(given) > 1:
        raise UsageError("servers: one of several has no name; write NAME=COMMAND or NAME=URL")
    return {str(name): _server(str(name), entry) for name, entry in given.items()}


def named_servers(words: Sequence[str]) -> dict[str, Any]:
    """Return the servers that a command line gives, as `read_servers` takes them.

    Args:
        words: `COMMAND`, `URL`, `NAME=COMMAND`, `NAME=URL`, or a file such as mcp.json, which is
            told by the end of its name.

    Raises:
        UsageError: Two have one name.
        DataError: A file is no such file.
    """
    found: dict[str, Any] = {}
    for word in words:
        match = _NAMED.match(word)
        if match:
            one: Mapping[str, Any] = {match[1]: word[match.end() :]}
        else:
            one = _entries(Path(word)) if _is_file(word) else {"": word}
        for name in one.keys() & found.keys():
            told = f"are named {name!r}" if name else "have no name"
            raise UsageError(f"two MCP servers {told}; write NAME=COMMAND or NAME=URL")
        found |= one
    return found


def _is_file(word: str) -> bool:
    """Tell whether a word names a file such as mcp.json: no command and no address does."""
    if not word.endswith(".json") or word.startswith(("http://", "https://")):
        return False
    return " " not in word or Path(word).is_file()


def _entries(path: Path) -> Mapping[str, Any]:
    """Return the entries of a file by the names of the servers, but for disabled ones."""
    try:
        content = json_value(content_of(path))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}; name a file") from error
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path} is no JSON: {error}") from error
    found = content.get("mcpServers", content.get("servers")) if isinstance(content, dict) else None
    if not isinstance(found, dict) or not found:
        raise DataError(f'{path}: expected {{"mcpServers": {{NAME: {{"command": ...}}}}}}')
    return {
        name: entry
        for name, entry in found.items()
        if not (isinstance(entry, dict) and entry.get("disabled"))
    }


def _server(name: str, entry: Any) -> McpServer:
    """Return the server that a command, an address or an entry of a file stands for."""
    place = f"MCP server {name!r}" if name else "MCP server"
    if isinstance(entry, McpServer):
        return entry
    if isinstance(entry, str) and re.match(r"https?://", entry):
        return McpServer(url=_checked(place, entry))
    if isinstance(entry, str):
        return McpServer(_command_words(place, entry))
    if not isinstance(entry, Mapping) or not entry.keys() <= _FIELDS:
        raise UsageError(
            f"{place}: expected a command, an address or an object with "
            f"{', '.join(sorted(_FIELDS))}; got {shortened(entry)}"
        )
    if entry.get("type") not in _KINDS:
        raise UsageError(f"{place}: type {entry['type']!r}: expected stdio or http")
    command, url, args = entry.get("command", ""), entry.get("url", ""), entry.get("args", [])
    texts = [command, url, *(args if isinstance(args, list) else [None])]
    if not all(isinstance(text, str) for text in texts) or bool(command) is bool(url):
        raise UsageError(f"{place}: expected `command` with `args`, or `url`")
    maps = {part: _texts(place, part, entry.get(part, {})) for part in ("env", "headers")}
    if url:
        return McpServer(url=_checked(place, url), headers=maps["headers"])
    return McpServer((command, *args), env=maps["env"], cwd=entry.get("cwd"))


def _command_words(place: str, command: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"{place}: {command!r} is no command: {error}") from error
    if not words:
        raise UsageError(f"{place}: expected a command or an address, got {command!r}")
    return words


def _checked(place: str, url: str) -> str:
    return url if _VARIABLE.search(url) else check_url(url, place)


def _texts(place: str, part: str, given: Any) -> dict[str, str]:
    if not isinstance(given, Mapping) or not all(isinstance(v, str) for v in given.values()):
        raise UsageError(f"{place}: {part}: expected an object of texts")
    return dict(given)


def _known(text: str) -> str:
    """Return a text with those variables in their places that are set."""
    return _VARIABLE.sub(lambda m: os.environ.get(m[1]) or m[2] or m[0], text)


def _filled(text: str) -> str:
    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1]) or match[2]
        if found is None:
            raise UsageError(f"the variable {match[1]} of an MCP server is not set: export it")
        if is_secret(match[1], found):
            note_keys(match[1])
        return found

    return _VARIABLE.sub(value, text)


# -- Live sessions with MCP servers: what they offer, and calls of their tools.
#
# A server may hang: that is an answer too, an error that a model reads. A server that cannot be
# begun, dies, refuses by a status of HTTP, cannot reach what is behind it, sends what nobody can
# read, or no longer has a tool is a failure of the infrastructure. Nothing but what tools say is
# kept.

TIMEOUT = 60.0
"""Seconds of a server's silence."""
LONGEST = 1_000_000
"""Characters of an answer; of a longer one the model is told its length alone."""
_PATIENCE = 10
"""A call that reports progress may take as many times the seconds of silence."""
_MOST_LISTED, _MOST_PAGES = 100_000, 2_000
_ASK_AGAIN = frozenset({429, 503})
"""Statuses of a server that has not looked at the call."""
_RETURN = "play again when it is well"
_WAITS_S = (0.5, 2.0)
"""Seconds before the further tries."""
ACCEPTED = "server answered a request with 202 Accepted"
"""How the SDK says that a server took a request and answers elsewhere, or never."""
_UNKNOWN = re.compile(
    r"\A\W*(?:MCP error -?\d+: )?"
    r"(?:(?:unknown|no such) tool\b|tool\b.{0,80}\b(?:not found|disabled)\b)",
    re.IGNORECASE,
)
"""How SDKs of servers say that they have no such tool."""
NO_ANSWER = re.compile(
    r"Failed to parse (?:JSON response|SSE message)|Unexpected content type"
    r"|(?:(?:Bad|Invalid) Request: )?(?:Session (?:terminated|not found)|No valid session ID)"
    r"|Invalid request parameters\Z"
)
"""How the SDK says that what came is no message of the protocol, and servers that a session is
over: Python's by words about parameters, which never speak of a tool's arguments."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call brought."""

    content: str
    """The text that a model reads."""
    value: JSON = None
    """Structured content, else the text."""
    error: dict[str, JSON] | None = None
    """None: success. Else `kind` (`api`: the tool's own error, `timeout`, `too_large`;
    `server_ended` and `invalid_answer` of earlier versions) and `message`."""

    @property
    def is_the_tools(self) -> bool:
        """Whether the tool said so: no silence, and no connection that ended."""
        kinds = ("timeout", "server_ended", "invalid_answer")
        return self.error is None or self.error["kind"] not in kinds

    @classmethod
    def failed(cls, kind: str, message: str) -> Answer:
        """Return an answer that is an error."""
        return cls(message, None, {"kind": kind, "message": message})


@dataclass(frozen=True, slots=True)
class McpListing:
    """What a server offers, as the protocol has it."""

    info: Mapping[str, JSON]
    """Its own name and version, where it tells them."""
    tools: list[dict[str, JSON]]
    others: dict[str, list[str]] = field(default_factory=dict)
    """`resources` and `resource_templates` by address, `prompts` by name."""
    odd: dict[str, list[str]] = field(default_factory=dict)
    """By what is listed, the entries that break the protocol and were left out, and why."""


class Sessions:
    """Sessions of one chat, each begun when it is first asked for.

    One event loop, in a thread of its own, serves them all. To be used by one thread.

    Args:
        servers: By name.
        timeout: Seconds of a server's silence.
    """

    def __init__(self, servers: Mapping[str, McpServer], timeout: float = TIMEOUT) -> None:
        self._servers = servers
        self._timeout = timeout
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._begun: dict[str, Session] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._begun

    def __enter__(self) -> Sessions:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """End the sessions, and with them the servers that were started."""
        self._begun.clear()
        self._portal = None
        with suppress(Exception):  # of a server that has died: its calls have told so
            self._stack.close()

    def of(self, name: str) -> Session:
        """Return the session with a server.

        Raises:
            UsageError: Its command is not there, or a variable is not set.
            InfrastructureError: It cannot be begun.
        """
        if name not in self._begun:
            self._begun[name] = self._begin(name, self._servers[name].filled())
        return self._begun[name]

    def drop(self, name: str) -> None:
        """Forget the session with a server that ended it, died, or sent no message."""
        is_reset = self._servers[name].is_reset
        then = "its calls are repeated" if is_reset else "what it knew of the chat is lost"
        _log.warning("MCP server %r: a new session begins; %s", name, then)
        del self._begun[name]

    def _begin(self, name: str, server: McpServer) -> Session:
        with needing("mcp", "mcp"):
            from mcp import MCPError
        from anyio.from_thread import start_blocking_portal

        for logger in ("mcp", "client"):
            sdk = logging.getLogger(logger)
            if not sdk.handlers:  # else it prints tracebacks of what is no message
                sdk.addHandler(logging.NullHandler())
        if self._portal is None:
            self._portal = self._stack.enter_context(start_blocking_portal())
        file = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - the stack closes it
        said = self._stack.enter_context(file)
        heard = Heard()
        opened = _opened(server, self._timeout, said, heard)
        try:
            client = self._stack.enter_context(self._portal.wrap_async_context_manager(opened))
        except (FileNotFoundError, PermissionError, NotADirectoryError) as error:
            raise UsageError(f"{server.label(name)}: there is no such command") from error
        except Exception as error:  # whatever the SDK, the network or the server raises
            why = server.masked(words_of_error(error, heard))
            repair = "check its command" if server.command else repair_of_status(heard.statuses)
            cause = first_cause(error)
            is_its_error = isinstance(cause, MCPError) and cause.code in heard.errors
            if (heard.fault or is_its_error) and max(heard.statuses, default=0) < 400:
                repair = f"check its version, and {_RETURN}"
            repair = server.masked(to_sign_in(error)) or repair
            if "protocol version" in why:
                repair = "take a version of the server, or of the package mcp, that speaks the same"
            told = _last_words(server, said)
            raise InfrastructureError(
                f"{server.label(name)} cannot be begun: {why}; {repair}{told}"
            ) from error
        return Session(name, server, client, self._portal, self._timeout, heard, said)


def _last_words(server: McpServer, said: Any) -> str:
    """Return what a server wrote last beside its answers, as a sentence; empty: nothing."""
    said.seek(0)
    last = server.masked(said.read()[-TOLD:].strip())
    return f". It said last: {last}" if last else ""


def schema_digest(listed: Mapping[str, JSON]) -> str:
    """Return 16 hexadecimal digits of the arguments' schema of a tool that a server lists."""
    return digest(listed.get("inputSchema"))[:16]


_FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, NameError, TypeError)


_OF_A_SESSION = re.compile(
    r"session\b.{0,80}\b(?:not found|expired|invalid|unknown|required|not initialized|terminated)"
    r"|(?:no|invalid|unknown|missing|expired)\b.{0,20}\bsession|server not initialized",
    re.IGNORECASE,
)
"""How servers say by HTTP 400, and not by 404, that they know a session no more."""


def _is_no_answer(said: str, status: int) -> bool:
    """Tell whether an error of the protocol is of the transport, and not of a tool."""
    of_a_session = status == 400 and _OF_A_SESSION.search(said[:TOLD])
    return bool(of_a_session or NO_ANSWER.match(said))


class SessionEndedError(InfrastructureError):
    """A server has ended a session, died, or sent no message: a new session may do."""


class Session:
    """A session with one server, whose tools are listed when it begins.

    Raises:
        DataError: The list has no end.
        InfrastructureError: The server does not give it.
    """

    def __init__(
        self,
        name: str,
        server: McpServer,
        client: Any,
        portal: BlockingPortal,
        timeout: float,
        heard: Heard,
        said: Any,
    ) -> None:
        self._name = name
        self._said = said
        self._server = server
        self._client = client
        self._portal = portal
        self._timeout = timeout
        self._heard = heard
        self._tools = self._listed(client.list_tools, "tools")  # the client checks answers by them
        self._named = {tool["name"]: tool for tool in self._tools}

    def call(self, tool: str, arguments: dict[str, JSON]) -> Answer:
        """Return what a call brought; silence is an answer.

        Raises:
            SessionEndedError: The server knows the session no more, died, or answers no message.
            InfrastructureError: It refuses by a status of HTTP, fails to reach what is behind it,
                sends what nobody can read, or does not have the tool.
            OverdueError: It is still at work when the time of the chat is up.
        """
        label = self._server.label(self._name)
        self.check(tool)
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED

        for wait in (*_WAITS_S, None):
            try:
                result = self._portal.call(self._asked, tool, arguments, seconds_left())
            except TimeoutError:
                if not seconds_left():
                    said = f"{label} was still at work when the time was up"
                    raise OverdueError(said) from None
                if self._heard.fault:
                    raise InfrastructureError(self._broken(tool, self._heard.fault)) from None
                said = f"{self._name} gave no answer for {self._timeout:g} s."
                return Answer.failed("timeout", said)
            except (RuntimeError, ValueError) as error:  # against the protocol or its schema
                if words := self._beside(tool):
                    return self._told(Answer(words, words))
                raise InfrastructureError(self._broken(tool, words_of_error(error))) from error
            except _FAULTS:  # of this code or the SDK's: no answer of a server
                raise
            except Exception as error:  # an error of the protocol, or whatever the network raises
                status = max(self._heard.statuses, default=0)
                if status == 404:
                    raise SessionEndedError(f"{label} has ended its session; {_RETURN}") from error
                if status in _ASK_AGAIN and wait is not None:
                    time.sleep(wait)
                    continue
                if isinstance(error, MCPError) and _is_no_answer(error.message, status):
                    told = words_of_error(error, self._heard).split("\n")[0]
                    said = self._server.masked(told[:TOLD])
                    raise SessionEndedError(
                        f"{label} gave no answer of MCP: {said}; check its address, and what "
                        "stands before it"
                    ) from error
                last = self._heard.statuses[-1:]
                stays = status > 400 or (isinstance(error, MCPError) and error.message == UNSAID)
                if stays or any(300 <= one < 400 for one in last):
                    status = status if stays else last[0]
                    said = self._server.masked(words_of_error(error, self._heard))[:TOLD]
                    raise InfrastructureError(
                        f"{label} answered HTTP {status}: {said}; {repair_of_status([status])}"
                    ) from error
                if isinstance(error, MCPError) and error.code in self._heard.errors:
                    is_upstream = is_upstream_error(error.code, error.message)
                    once = error.code == SIGN_IN or breaks_its_schema(error.message)
                    if is_upstream and wait is not None and not once:
                        time.sleep(wait)
                        continue
                    unanswered = error.code == CONNECTION_CLOSED or ACCEPTED in error.message
                    if is_upstream or unanswered:
                        repair = to_sign_in(error)
                        raise InfrastructureError(
                            self._broken(tool, error.message, repair)
                        ) from error
                if isinstance(error, MCPError) and error.code != CONNECTION_CLOSED:
                    self._check_known(tool, error.message)
                    return self._told(Answer.failed("api", error.message))
                raise SessionEndedError(
                    f"{label} ended amid a call of {shortened(tool)}; {_RETURN}"
                    f"{_last_words(self._server, self._said)}"
                ) from error
            answer = _answer(tool, result)
            if not (result.content or result.structured_content or result.is_error):
                _tell_empty(label, tool)
            self._check_known(tool, answer.content if answer.error else "")
            if not is_passed_on(answer.content, answer.error is not None):
                return self._told(answer)
            repair = to_sign_in(answer.content)
            if wait is None or repair or breaks_its_schema(answer.content):
                raise InfrastructureError(self._broken(tool, answer.content, repair))
            time.sleep(wait)
        raise AssertionError("the last try ends")

    def _broken(self, tool: str, why: str, repair: str = "") -> str:
        """Return that the server has failed at a call, or sent what is no answer to it."""
        label, said = self._server.label(self._name), " ".join(why.split())[:TOLD]
        told = f"{said}; {repair or f'check its version, and {_RETURN}'}"
        return f"{label} failed at {shortened(tool)}: {self._server.masked(told)}"

    def _beside(self, tool: str) -> str:
        """Return the text beside a structure that breaks the tool's own schema; empty: none."""
        from mcp_types import CallToolResult

        if self._heard.result is None:
            return ""
        told = CallToolResult.model_validate({**self._heard.result, "structuredContent": None})
        return _answer(tool, told).content

    def _check_known(self, tool: str, said: str) -> None:
        """Raise InfrastructureError where an error says that the server lacks what it listed."""
        if tool in said and _UNKNOWN.search(said[:TOLD]):
            said = self._server.masked(said[:TOLD])
            raise InfrastructureError(
                f"{self._server.label(self._name)} lists {shortened(tool)} and says: {said}; check "
                "its version and what its account may use, or import the pool again"
            )

    def check(self, tool: str, schema: str = "") -> None:
        """Make sure that the server has a tool as it was imported.

        Args:
            tool: Its name at the server.
            schema: Digest of the schema that it had then; empty: not known.

        Raises:
            InfrastructureError: It has it no more, or takes other arguments.
        """
        label, listed = self._server.label(self._name), self._named.get(tool)
        if listed is None:
            raise InfrastructureError(
                f"{label} has no tool {shortened(tool)} any more; import the pool again"
            )
        if schema and schema != schema_digest(listed):
            raise InfrastructureError(
                f"{label}: the tool {shortened(tool)} takes other arguments than when it was "
                "imported; import the pool again"
            )

    def listing(self) -> McpListing:
        """Return all that the server offers.

        Raises:
            DataError: A list has no end.
        """
        client, offered = self._client, self._client.server_capabilities
        asked: dict[str, tuple[Callable[..., Any], str]] = {}
        if offered.resources is not None:
            asked["resources"] = client.list_resources, "uri"
            asked["resource_templates"] = client.list_resource_templates, "uriTemplate"
        if offered.prompts is not None:
            asked["prompts"] = client.list_prompts, "name"
        others = {
            part: [str(one[name]) for one in self._listed(ask, part)]
            for part, (ask, name) in asked.items()
        }
        info = client.server_info
        told = {} if info is None else {"name": info.name, "version": info.version}
        odd = {part: list(map(self._server.masked, told)) for part, told in self._heard.odd.items()}
        return McpListing(told, self._tools, others, odd)

    def _listed(self, ask: Callable[..., Awaitable[Any]], part: str) -> list[dict[str, JSON]]:
        """Return a list that the server offers, from as many pages as there are.

        Raises:
            DataError: The list has no end.
            InfrastructureError: The server does not give a page of it.
        """
        label = self._server.label(self._name)
        found: list[dict[str, JSON]] = []
        seen: set[str | None] = set()
        cursor: str | None = None
        while cursor not in seen and len(found) <= _MOST_LISTED and len(seen) < _MOST_PAGES:
            seen.add(cursor)
            try:
                page = self._portal.call(self._page, partial(ask, cursor=cursor), part)
            except Exception as error:  # whatever the SDK or the network raises
                if cursor == "":
                    break
                why = self._server.masked(words_of_error(error, self._heard))
                repair = self._server.masked(to_sign_in(error))
                repair = repair or f"check its version, and {_RETURN}"
                raise InfrastructureError(
                    f"{label} does not list its {part}: {why}; {repair}"
                ) from error
            listed = [
                one.model_dump(mode="json", by_alias=True, exclude_none=True)
                for one in getattr(page, part)
            ]
            found += [one for one in listed if cursor != "" or one not in found]
            cursor = page.next_cursor
            if cursor is None:
                break
        if cursor:
            raise DataError(
                f"{label}: its list of {part} has no end; mend the server, or what stands before "
                "it and drops the cursor"
            )
        # An empty cursor names a further page at some servers, and the first again at others.
        told: list[dict[str, JSON]] = self._server.masked(found)
        return told

    async def _page(self, ask: Callable[[], Awaitable[Any]], part: str) -> Any:
        """Return a page of a list.

        Raises:
            ValueError: It has come, and nobody can read it.
        """
        import anyio

        with anyio.CancelScope() as scope:
            self._heard.begin(scope, part)
            try:
                return await ask()
            finally:
                self._heard.scope = None
        raise ValueError(self._heard.fault)

    async def _asked(self, tool: str, arguments: dict[str, JSON], left: float) -> Any:
        """Return the result of a call, which may take so many seconds more.

        Raises:
            TimeoutError: The server was silent for too long, or the time is up.
        """
        import anyio

        begun = anyio.current_time()

        async def heard(*progress: object) -> None:
            del progress
            longest = begun + min(self._timeout * _PATIENCE, left)
            scope.deadline = min(anyio.current_time() + self._timeout, longest)

        with anyio.CancelScope(deadline=begun + min(self._timeout, left)) as scope:
            self._heard.begin(scope)
            try:
                return await self._client.call_tool(
                    tool, arguments, read_timeout_seconds=inf, progress_callback=heard
                )
            finally:
                self._heard.scope = None
        raise TimeoutError

    def _told(self, answer: Answer) -> Answer:
        """Return an answer without keys, and without a text that no model could read."""
        structured = "" if answer.value == answer.content else json_text(answer.value)
        length = max(len(answer.content), len(structured))
        if length > LONGEST:
            said = f"The answer has {length} characters; at most {LONGEST} are taken."
            return Answer.failed("too_large", said)
        parts = (well_formed(answer.content), answer.value, answer.error)
        return Answer(*map(self._server.masked, parts))


@asynccontextmanager
async def _opened(server: McpServer, timeout: float, said: Any, heard: Heard) -> AsyncIterator[Any]:
    """Yield a client of a server, which writes what it says besides to a file.

    Args:
        server: Which one.
        timeout: Seconds of its silence.
        said: The file.
        heard: Gets what the SDK does not tell.
    """
    import anyio
    import httpx2
    from mcp import Client, StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    async with AsyncExitStack() as stack:
        heard.scope = scope = stack.enter_context(anyio.CancelScope())
        transport: Any
        if server.command:
            program, *args = server.command
            started = StdioServerParameters(
                command=program, args=args, env=dict(server.env), cwd=server.cwd
            )
            # Else bytes that are no text end the session, or are replaced, without a word.
            setattr(started, "encoding_error_handler", "surrogateescape")  # noqa: B010 - no such type
            transport = stdio_client(started, said)
        else:

            async def noted(response: Any) -> None:
                if response.request.method == "POST":
                    heard.statuses.append(response.status_code)
                    kind = response.headers.get("content-type", "")
                    asked = json_value(response.request.read())
                    id = asked.get("id") if isinstance(asked, dict) else None
                    if response.status_code >= 400:
                        heard.refusal = await words_of_refusal(response)
                    if response.status_code == 200 and id is not None:
                        is_stream = kind.lower().startswith("text/event-stream")
                        response.stream = watched(response.stream, id, is_stream, heard)

            http = httpx2.AsyncClient(
                headers={"Accept-Encoding": "identity"} | dict(server.headers),
                timeout=httpx2.Timeout(timeout, read=None),
                event_hooks={"response": [noted]},
            )
            await stack.enter_async_context(http)
            transport = streamable_http_client(
                server.url, http_client=http, max_sse_event_size=None
            )
        client = Client(looked_at(transport, heard), read_timeout_seconds=timeout)
        begun = await stack.enter_async_context(client)
        heard.scope, scope.deadline = None, inf
        yield begun
    if scope.cancel_called:  # by an answer that nobody can read
        raise ValueError(heard.fault)


@cache
def _tell_empty(label: str, tool: str) -> None:
    """Tell once that an answer has nothing: as of a tool that says nothing, or a gateway's loss."""
    _log.warning(
        "%s answered %s with nothing, and says that it went well; is a session behind a gateway "
        "over? Then begin the gateway anew, and play with another --cache-dir",
        label,
        shortened(tool),
    )


def _answer(tool: str, result: Any) -> Answer:
    """Return an answer as a model reads it: its text, and the structure that the text lacks."""
    text = "\n".join(map(text_of_block, result.content))
    structured = result.structured_content
    if structured is not None and not _says(text, structured):
        text = "\n".join(filter(None, (text, json_text(structured))))
    if result.is_error:
        return Answer(text, None, {"kind": "api", "message": text or f"{tool} failed."})
    return Answer(text, text if structured is None else structured)


def _says(text: str, structured: Any) -> bool:
    """Tell whether a text says all that a structure holds: as JSON, or as its one value."""
    held = [structured]
    if isinstance(structured, dict) and len(structured) == 1:
        held += structured.values()
    try:
        read = json_value(text)
    except orjson.JSONDecodeError:
        read = text
    return any(one in (read, text) or str(one) == text for one in held)
