"""Addresses of servers and the keys for them: what may be shown, what may be sent."""

from __future__ import annotations

import os
from urllib.parse import urlsplit, urlunsplit

from seal.core.errors import UsageError

BASE_URL = "--base-url"
"""Where the address of a chat model's server is given, for messages."""


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


def public_url(url: str) -> str:
    """Return the address without user, password, query and fragment, which may hold secrets."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(malformed address)"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def read_key(variable: str) -> str | None:
    """Return the key that an environment variable holds; None where it is unset or blank.

    Raises:
        UsageError: It holds characters that no header can carry; the text does not repeat them.
    """
    key = os.environ.get(variable, "").strip()
    if not key:
        return None
    if not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(
            f"{variable} holds a blank, a control character or a letter beyond ASCII "
            f"among its {len(key)} characters: set it to the key alone"
        )
    return key
