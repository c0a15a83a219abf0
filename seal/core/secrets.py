"""Keys of services, which are never written to files, and addresses of servers without them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from seal.core.errors import OptionError, UsageError
from seal.core.text import counted, words

OPENAI_URL = "OPENAI_BASE_URL"
"""Variable that holds the address of an OpenAI-compatible server."""
ANTHROPIC_URL = "ANTHROPIC_BASE_URL"
GEMINI_URL = "GOOGLE_GEMINI_BASE_URL"
BASE_URL = "--base-url"
"""Where the address of a chat model's server is given, for messages."""

_LAST_WORDS = re.compile(
    "apikeys?|authorization|bearer|cookie|credentials?|key|passphrase|passwd|passwords?|secrets?"
    "|token"
)
_HARMLESS = frozenset({"prompt_cache_key"})
"""Fields of a request that are named like a key and are none."""
_VALUE = re.compile(r"\b(sk-|AIza)\S{16}|\bBearer\s+\S{8}")
"""Keys by their looks, alone or in a header."""
_WITH_LOGIN = re.compile(r"\w+://[^/?#\s,]*@[^\s,]*")
_WITH_PASSWORD = re.compile(r"\w+://[^/?#\s]*:[^/?#\s]*@")
# Up to the last @, whatever libpq makes of it, and as in ...?password=ab: a password may have
# a / or an @ that should have been %2F or %40.
_IN_QUERY = r"(?:ssl)?password="
_PASSWORD = re.compile(
    rf"(?<=://)([^/:]*):(?:.*[?&]{_IN_QUERY}[^&]*@[^&]*|.*(?=@))|(?<=[?&]){_IN_QUERY}[^&]*&?",
    re.DOTALL,
)


_KEY_VARIABLES = {
    "OPENAI_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "ANTHROPIC_API_KEY",
    "AZURE_OPENAI_API_KEY",
    "HF_TOKEN",
}
"""Variables whose values are never written: usual ones, and those that this process has read a key
from. As the environment is, it is the process's: any writer must know what any reader was given."""
SHORTEST_KEY = 4
"""Shorter values are no keys: whoever stars each x out of a message protects nothing."""
SHORTEST_IN_FILES = 8
"""Shorter values are placeholders, such as `none` for a local server, or words of a file's own."""


def is_secret(name: str, value: Any = "") -> bool:
    """Tell whether a setting is a key of a service by its name or by the look of its value.

    `max_tokens` is none, nor is `max_token` that counts, nor a map or None under any name: a map's
    members speak for themselves.
    """
    if value is None or isinstance(value, Mapping):
        return False
    if isinstance(value, str) and (_VALUE.search(value) or _WITH_PASSWORD.match(value)):
        return True
    parts = words(name)
    counts = isinstance(value, int) and parts[:1] == ["max"]
    if not parts or name in _HARMLESS or counts:
        return False
    return _LAST_WORDS.fullmatch(parts[-1]) is not None or parts[-2:] == ["api", "keys"]


def refuse_secret(name: str, value: Any, place: str) -> None:
    """Raise where a setting is a service's key, or holds one at any depth.

    Args:
        name: The setting; may be empty.
        value: Its value: JSON, or any object, which is taken as it is.
        place: Where it stands, for the message: a flag, a file.

    Raises:
        UsageError: Names the setting, never its value, and the variables that hold keys.
    """
    secret = next((leaf for leaf in _leaves(name, value) if is_secret(leaf[0][-1], leaf[1])), None)
    if secret is not None:
        path, leaf = secret
        shown = ".".join(filter(None, path))
        if isinstance(leaf, str) and _WITH_PASSWORD.match(leaf):
            raise _login_error(leaf, f"{place}: {shown}" if shown else place)
        shown = shown or "a value"
        raise UsageError(
            f"{place}: {shown} looks like a key of a service, which is read from the environment "
            "alone; take it out and export OPENAI_API_KEY or GOOGLE_API_KEY"
        )


def _leaves(name: str, value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield what is no map or list, with the names that lead there; a list has its own name."""
    stack: list[tuple[tuple[str, ...], Any]] = [((name,), value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, Mapping):
            stack += [((*path, str(key)), inner) for key, inner in item.items()]
        elif isinstance(item, (list, tuple)):
            stack += [(path, inner) for inner in item]
        else:
            yield path, item


def without_keys(line: bytes) -> bytes:
    """Return a line of a file with the services' keys that this process knows as `***`.

    What a server or a plug-in says may repeat the key that it was given; a file never does.
    """
    for variable in tuple(_KEY_VARIABLES):
        key = os.environ.get(variable, "").strip().encode()
        if len(key) >= SHORTEST_IN_FILES and key in line:
            line = line.replace(key, b"***")
    return line


def note_keys(*variables: str) -> None:
    """Let no file of this process hold what these variables of the environment hold."""
    _KEY_VARIABLES.update(variables)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How a server is asked. A key is no setting: it stays in the environment until it is sent."""

    base_url: str | None = field(default=None, repr=False)
    """Address of the server; None: the provider's own, or what its environment variable says."""
    api_key_env: str | None = None
    """Environment variable that holds the key; None: the provider's usual one."""
    key_header: str | None = None
    """Header that holds the key by itself; None: Authorization, and `api-key` at Azure."""
    timeout_s: float = 120.0
    """Longest silence of the server, in seconds: no byte comes for so long."""
    max_answer_s: float = 3600.0
    """Longest time of one answer in seconds, however steadily it comes."""
    stream: bool = True
    """Ask for answers piece by piece, where the interface has it; they are the same as whole."""
    max_tries: int = 5
    """Requests for one answer, the first included; at least 1."""
    first_wait_s: float = 0.5
    """Seconds before the second try; doubles with every try, plus up to as much again by chance."""
    max_wait_s: float = 60.0
    """Longest wait between two tries, whatever the server's Retry-After asks for."""
    address_from: str = field(default=BASE_URL, repr=False, compare=False)
    """Where the address is given, for messages."""


def check_url(url: str, setting: str = BASE_URL) -> str:
    """Return the address of a server, or say why it is none.

    Args:
        url: The address.
        setting: Where it was given, for the message.

    Raises:
        UsageError: It is no http or https address with a host.
    """
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname)
        valid = valid and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise UsageError(
            f"{setting} {public_url(url)!r}: expected an address such as http://localhost:8000/v1"
        )
    return url


def check_address(url: Any, setting: str) -> str:
    """Return the address of a server that a setting gives: settings are written to files.

    Only the environment may name an address with a user or a password.

    Raises:
        UsageError: It is no address, or it holds a user, a password or a key.
    """
    if not isinstance(url, str):
        raise OptionError(f"{setting}={url!r}: expected an address in a text")
    parts = urlsplit(check_url(url, setting))
    if "@" in parts.netloc:
        raise _login_error(url, setting)
    refuse_secret("", dict(parse_qsl(parts.query)), setting)
    return url


def refuse_login(text: str, place: str) -> None:
    """Raise UsageError where a text holds an address with a user or a password.

    Args:
        text: Of any kind.
        place: Where it stands, for the message, which shows the address without them.
    """
    if found := _WITH_LOGIN.search(text):
        raise _login_error(found[0], place)


def _login_error(url: str, setting: str) -> UsageError:
    return OptionError(
        f"{setting} {public_url(url)!r} holds a user or a password: write the address without "
        "them, and name the variable that holds the server's key by key_env=VARIABLE"
    )


def public_url(url: str) -> str:
    """Return the address without user, password, query and fragment, which may hold secrets."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(malformed address)"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def without_password(url: str) -> str:
    """Return an address without the password that it may hold, and all else as it is."""
    return _PASSWORD.sub(lambda found: found[1] or "", url)


def read_key(variable: str) -> str | None:
    """Return the key that an environment variable holds; None where it is unset or blank.

    No file holds it from then on (`without_keys`).

    Raises:
        UsageError: It holds characters that no header can carry; the text does not repeat them.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        return None
    note_keys(variable)
    if not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(
            f"{variable} holds a blank, a control character or a letter beyond ASCII "
            f"among its {counted(len(key), 'character')}: set it to the key alone"
        )
    return key
