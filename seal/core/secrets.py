"""Keys of services, which are never written to files, and addresses of servers without them."""

from __future__ import annotations

import base64
import html
import json
import logging
import os
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit, urlunsplit

from seal.core.errors import OptionError, UsageError
from seal.core.files import lines_of
from seal.core.text import counted, words
from seal.core.values import digest

_LOG = logging.getLogger(__name__)
"""Bytes of a file that are looked through at once."""

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
_IN_QUERIES = frozenset(
    {
        *("sig", "signature", "sas", "auth", "pass", "pwd", "credential", "jwt"),
        *("accesskey", "accesstoken", "authkey", "authtoken"),
    }
)
"""Last words of the names of keys in the queries of addresses, beside those of other settings."""
_CODES = frozenset({"code", "passcode", "accesscode", "authcode"})
"""Such names as a whole: a `country_code` is no key."""
_HARMLESS = frozenset({"prompt_cache_key"})
"""Fields of a request that are named like a key and are none."""
_VALUE = re.compile(r"\b(sk-|AIza)\S{16}|\bBearer\s+\S{8}")
"""Keys by their looks, alone or in a header."""
_LONG_PART = re.compile(r"[A-Za-z0-9]{20,}")
"""Digits and letters in a row, which are a key in the path of an address where they are mixed."""
_ACCOUNT = re.compile(r"[0-9a-f]{32}")
"""The number of an account, as gateways have it in their paths; it is no key."""
_WITH_LOGIN = re.compile(r"(?<!\w)\w+://[^/?#\s,]*@[^\s,]*")
_WITH_PASSWORD = re.compile(r"\w+://[^/?#\s:]*+:[^/?#\s]*@")
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
_ADDRESS_VARIABLES = {
    *(OPENAI_URL, ANTHROPIC_URL, GEMINI_URL),
    *("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
}
"""Variables with an address, whose password and keys are never written: those of servers and
proxies, and those from which this process has read an address."""
SHORTEST_KEY = 4
"""Shorter values are no keys: whoever stars each x out of a message protects nothing."""
SHORTEST_IN_FILES = 8
"""Shorter values are placeholders, such as `none` for a local server, or words of a file's own."""
IN_PLACE = "***key***"
"""Stands in files where a key or password stood; no server or model writes it by itself."""
_LONGEST_WORD = 15
"""Letters in a row; more of them are no word, so that a key may consist of letters alone."""
_LONGEST_NUMBER = 15
"""Digits of a number that is a placeholder, such as `12345678`."""
_RUN_OF_LETTERS = re.compile(r"[^\W\d_]+")


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


class InOpen:
    """The keys and passwords that stand in files of tasks: words of a benchmark, and no secrets.

    A model that says such a word is scored by what it said, and the files hold the word anyway.

    Args:
        files: Hold what is asked and what is right; each is read once for a secret.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = tuple(files)
        self._found: dict[str, bool] = {}

    def __contains__(self, secret: object) -> bool:
        """Tell whether a secret stands there, in any case of its letters (`spellings`)."""
        if not isinstance(secret, str):
            return False
        if secret not in self._found:
            spelt = [spelling.encode().lower() for spelling in spellings([secret])]
            place = next((file for file in self._files if _holds(file, spelt)), None)
            if place is not None:
                _LOG.warning(
                    "a key or password of this environment stands in %s, so it is a word there and "
                    "is written as it is; if it is a real one, take it out there and change it",
                    place,
                )
            self._found[secret] = place is not None
        return self._found[secret]


def _holds(file: Path, spelt: Sequence[bytes]) -> bool:
    """Tell whether a file holds one of some texts in small letters."""
    lines = (line.lower() for line in lines_of(file))
    return any(one in line for line in lines for one in spelt)


def without_keys(line: bytes, in_open: Container[str] = ()) -> bytes:
    """Return a line of a file with `IN_PLACE` in place of the secrets that this process knows.

    What a server, a proxy or a plug-in says may repeat the key or the password that it was given; a
    file never does, be it plain, in quotes, URL-encoded, or in base64 as a login's header has it.
    Words and small numbers are no secrets: whoever runs a server without keys gives `anything`, and
    a model's words are scored as it said them.

    Args:
        line: As it would be written.
        in_open: Those that are no secrets here (`InOpen`).
    """
    for spelling in _in_files(tuple(key for key in _secrets() if key not in in_open)):
        if spelling in line:
            line = line.replace(spelling, IN_PLACE.encode())
    return line


def _secrets() -> tuple[str, ...]:
    """Return the keys and passwords in the environment, without placeholders."""
    held = {key.strip() for key in _held(_KEY_VARIABLES)}
    held.update(in_addresses())
    return tuple(sorted(key for key in held if not _is_placeholder(key)))


def in_addresses() -> list[str]:
    """Return the passwords and keys in the addresses of servers and proxies of the environment."""
    return [secret for url in _held(_ADDRESS_VARIABLES) for secret in secrets_of(url)]


def _held(variables: set[str]) -> list[str]:
    """Return what variables hold that are set; every line that is written asks, so it is quick."""
    environ = os.environ
    return [environ.get(variable, "") for variable in tuple(variables) if variable in environ]


@lru_cache(maxsize=16)
def _in_files(secrets: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(spelling.encode() for spelling in spellings(secrets))


def _is_placeholder(key: str) -> bool:
    """Tell whether a value is no key, but words or a number: `anything`, `sk-no-key-required`."""
    if len(key) < SHORTEST_IN_FILES:
        return True
    letters = _RUN_OF_LETTERS.findall(key)
    if not letters:
        return len(key) <= _LONGEST_NUMBER
    return not re.search(r"\d", key) and max(map(len, letters)) <= _LONGEST_WORD


@lru_cache(maxsize=64)
def secrets_of(url: str) -> tuple[str, ...]:
    """Return the password and the keys that an address holds, as they are and decoded.

    At a server a user without a password is a key, unless it is a word; a database has such users.
    What is a key by its look is one in the path, too.
    """
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        held = [parts.password or ""]
    except ValueError:
        return ()
    if parts.scheme in ("http", "https"):
        user = parts.username or ""
        held += [user] if _is_placeholder(held[0]) and not _is_placeholder(unquote(user)) else []
        held += filter(_is_key_in_path, parts.path.split("/"))
    asked = [value for name, value in parse_qsl(parts.query) if _is_key_in_query(name, value)]
    return tuple(each for known in held for each in (known, unquote(known)) if each) + tuple(asked)


def _is_key_in_path(part: str) -> bool:
    part = unquote(part)
    runs = (run for run in _LONG_PART.findall(part) if not _ACCOUNT.fullmatch(run))
    mixed = any(not (run.isalpha() or run.isdigit()) for run in runs)
    return mixed or _VALUE.search(part) is not None


def _is_key_in_query(name: str, value: str) -> bool:
    named = words(name)
    is_named = "".join(named) in _CODES or not _IN_QUERIES.isdisjoint(named[-1:])
    return is_named or is_secret(name, value)


def spellings(secrets: Iterable[str]) -> list[str]:
    """Return how secrets may stand in a text, longest first: plain, in JSON, HTML, URLs, base64.

    JSON may stand in a text of JSON, as a call's arguments do in a record. In base64 a secret has
    one of three forms, by where it begins in what was encoded, such as `user:password`. Its first
    and last letters there may stand for parts of its neighbours, and are left out.
    """
    found = set()
    for secret in secrets:
        in_html = html.escape(secret)
        by_number = in_html.replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
        plain = {secret, html.escape(secret, quote=False), in_html, by_number}
        in_json = plain | {
            json.dumps(text, ensure_ascii=each)[1:-1] for text in plain for each in (True, False)
        }
        found |= {quote(secret, safe=""), *in_json}
        found |= {
            json.dumps(text, ensure_ascii=each)[1:-1] for text in in_json for each in (True, False)
        }
        raw = secret.encode("utf-8", "surrogateescape")
        for before in range(3 if len(raw) >= SHORTEST_IN_FILES else 0):
            whole = base64.b64encode(bytes(before) + raw).decode()
            inner = whole[-(-8 * before // 6) : (before + len(raw)) * 8 // 6]
            found |= {inner, inner.translate(str.maketrans("+/", "-_"))}
    return sorted(found, key=len, reverse=True)


def note_keys(*variables: str) -> None:
    """Let no file of this process hold what these variables of the environment hold."""
    _KEY_VARIABLES.update(variables)


def note_addresses(*variables: str) -> None:
    """Let no file of this process hold the passwords in the addresses of these variables."""
    _ADDRESS_VARIABLES.update(variables)


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
    requests_per_minute: float | None = None
    """Most requests a minute, tries included; None: as many as are asked."""
    tokens_per_minute: float | None = None
    """Most tokens a minute, of requests and answers; None: as many as are asked."""
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
    asked = parse_qsl(parts.query)
    places = [f"{name} in the query" for name, value in asked if _is_key_in_query(name, value)]
    if any(map(_is_key_in_path, parts.path.split("/"))):
        places.append("a part of the path")
    if places:
        raise OptionError(
            f"{setting}: {places[0]} may be a key of a service; give the whole address "
            f"by the environment alone, as {OPENAI_URL}, whose keys no file holds"
        )
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
    """Return the address without what may be secret: user, password, query, fragment, keys."""
    scheme, slashes, rest = without_login(url).rpartition("://")
    host, *path = rest.split("/")
    shown = ("***" if _is_key_in_path(part) else part for part in path)
    return scheme + slashes + "/".join([host, *shown])


def without_login(url: str) -> str:
    """Return the address without user, password, query and fragment; a key in its path stays."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(malformed address)"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def route_of(url: str | None) -> str:
    """Return 16 digits for what `public_url` hides and a server may go by; empty: it hides none.

    Several models may stand behind one address, told apart by its query or by a key in its path.
    """
    parts = urlsplit(url or "")
    in_path = any(map(_is_key_in_path, parts.path.split("/")))
    hidden = f"{parts.path}?{parts.query}" if in_path else parts.query
    return digest(hidden)[:16] if hidden else ""


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
