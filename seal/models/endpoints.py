"""Where a model's requests go, and the name under which what it takes is booked."""

from __future__ import annotations

import os
from dataclasses import dataclass
from urllib.parse import urlsplit

from seal.core.secrets import public_url
from seal.models.specs import NOTATION, bare_name


@dataclass(frozen=True, slots=True)
class _Provider:
    address: str
    """Its own endpoint."""
    variable: str
    """Environment variable by which its SDK is sent elsewhere."""


_PROVIDERS = {
    "openai": _Provider("https://api.openai.com/v1", "OPENAI_BASE_URL"),
    "gemini": _Provider("https://generativelanguage.googleapis.com", "GOOGLE_GEMINI_BASE_URL"),
}


def _place(name: str, base_url: str | None) -> tuple[str | None, bool]:
    """Return the address of a model's server, None where we know none, and whether it is its own.

    Args:
        name: The model's.
        base_url: As it was told; None: what the provider's variable says, else the provider's own.
    """
    provider = _PROVIDERS.get(name.partition("/")[0])
    if provider is None:
        return base_url, not base_url
    url = base_url or os.environ.get(provider.variable, "").strip() or provider.address
    own, asked = urlsplit(provider.address), urlsplit(public_url(url))
    return url, (own.scheme, own.netloc) == (asked.scheme, asked.netloc)


def account_of(name: str, base_url: str | None) -> str:
    """Return what a model is booked under: its name, with the address where that is another's.

    So no price of a provider is taken for what somebody else's server did.

    Args:
        name: The model's, which may be such a text already.
        base_url: Of its server; None: the provider's own, or what its variable says.
    """
    url, own = _place(name, base_url)
    if url is None or own or bare_name(name) != name:
        return name
    return NOTATION.text(name, {"base_url": public_url(url)})


def shown_at(name: str, base_url: str | None) -> str:
    """Return a model and where it is asked, for people: `openai/gpt-4o at api.openai.com`."""
    url, own = _place(name, base_url)
    if url is None:
        return name
    shown = urlsplit(url).netloc if own else public_url(url)
    return f"{name} at {shown}"
