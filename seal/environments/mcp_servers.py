"""MCP servers as people name them: by a command, by an address, or in a file such as mcp.json.

    {"mcpServers": {"clock": {"command": "mcp-server-time", "args": ["--local-timezone", "UTC"]},
                    "docs": {"url": "https://docs.test/mcp", "headers": {"X-Key": "${DOCS_KEY}"}}}}

`${NAME}` and `${NAME:-default}` stand for variables of the environment. They are filled in when a
server is begun, so that a key stays out of every file.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from seal.core import DataError, UsageError, shortened
from seal.core.canonical import digest
from seal.core.plain import json_text
from seal.core.secrets import SHORTEST_KEY, check_url, is_secret, note_keys, public_url

_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)(?::-([^}]*))?\}")
_NAMED = re.compile(r"([A-Za-z][\w.-]*)=(?=\S)")
_FIELDS = frozenset(
    {"args", "command", "cwd", "description", "disabled", "env", "headers", "type", "url"}
)
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

    @property
    def spec(self) -> str:
        """8 hex digits by which its answers are told from another server's; no key shapes them."""
        return digest([list(self.command), public_url(self.url), self.cwd])[:8]

    def label(self, name: str) -> str:
        """Return what messages call it, by its name if it has one."""
        return f"MCP server {(name or public_url(self.url) or self.command[0])!r}"

    def filled(self) -> McpServer:
        """Return it with the variables of the environment in their places.

        Raises:
            UsageError: A variable is not set.
        """
        return replace(
            self,
            command=tuple(map(_filled, self.command)),
            url=_filled(self.url),
            env={name: _filled(value) for name, value in self.env.items()},
            headers={name: _filled(value) for name, value in self.headers.items()},
        )

    def masked(self, text: str) -> str:
        """Return a text, or JSON, in which the values of `env` and `headers` are `***`."""
        for value in (*self.env.values(), *self.headers.values()):
            if len(value) >= SHORTEST_KEY:
                text = text.replace(value, "***").replace(json_text(value)[1:-1], "***")
        return text


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
        content = orjson.loads(path.read_bytes())
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
        return McpServer(_words(place, entry))
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


def _words(place: str, command: str) -> tuple[str, ...]:
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


def _filled(text: str) -> str:
    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1]) or match[2]
        if found is None:
            raise UsageError(f"the variable {match[1]} of an MCP server is not set: export it")
        if is_secret(match[1], found):
            note_keys(match[1])
        return found

    return _VARIABLE.sub(value, text)
