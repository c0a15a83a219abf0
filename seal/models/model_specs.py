"""A model with its options in one text: `openai/qwen3,base_url=http://localhost:8000/v1`.

It also says where a model's requests go, and the name under which what it takes is booked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from seal.core import Lookup, OptionError, UsageError
from seal.core.canonical import normalise
from seal.core.secrets import (
    ANTHROPIC_URL,
    BASE_URL,
    GEMINI_URL,
    OPENAI_URL,
    check_address,
    public_url,
    refuse_login,
    refuse_secret,
)
from seal.core.signatures import checked_names
from seal.core.specs import Notation
from seal.models.endpoints import at_endpoint
from seal.models.model_settings import ModelSettings, check_options, options_of

NOTATION = Notation(
    "model", "openai/qwen3,base_url=http://localhost:8000/v1,max_tokens=1024", structured=True
)
_OWN_ADDRESS = "the model's option base_url="
"""Where the address of a model's own server is given, for messages."""
_WHOLE = ("scripted:", "recorded:", "replay:")
"""Names that end in a path, which may hold a comma; these models have no options."""
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
"""LOCAL_KEY; not sk-Ab3, for a key must not be taken for the name of one."""


@checked_names
class Model(str):
    """A model with options of its own: the text `NAME[,KEY=VALUE...]`, options sorted by name.

    It is that text, so it stands wherever a model's name does, equals the text, and is as constant.

    Args:
        name: `provider/model`, an offline model or a dotted path; or a text with options. What
            `@NAME` behind a model says of its server stands in `[endpoints.NAME]` of seal.toml.
        base_url: Address of its server; None: the provider's own.
        key_env: Environment variable that holds the key; None: the provider's usual one.
        **options: `timeout_s`, `max_tries`, `temperature`...: settings, and fields of the request,
            such as `max_tokens`. JSON each; a field that is None is left out of the request. Of a
            model of yours, whatever it takes.

    Raises:
        UnknownNameError: No such option; names the closest.
        UsageError: An option stands twice, has a value that it cannot have, or holds a key.

    Example:
        >>> import seal
        >>> local = seal.Model("openai/qwen3", base_url="http://localhost:8000/v1", max_tokens=1024)
        >>> print(local)
        openai/qwen3,base_url=http://localhost:8000/v1,max_tokens=1024
        >>> plan = seal.plan_run("sample", model=local, limit=2, baselines=False)
        >>> plan.chats
        2
    """

    __slots__ = ()

    def __new__(
        cls, name: str, *, base_url: str | None = None, key_env: str | None = None, **options: Any
    ) -> Model:
        """Return the model; a text that is one already is read again."""
        if not isinstance(name, str):
            raise UsageError(f"model {name!r}: expected a text, such as openai/gpt-4o")
        refuse_login(name, f"model {shown_name(name)}:")
        what, own = _parsed(name)
        what, of_endpoint = (what, {}) if what.startswith(_WHOLE) else at_endpoint(what)
        named = {"base_url": base_url, "key_env": key_env}
        given = {key: value for key, value in named.items() if value is not None} | options
        if twice := sorted(own.keys() & given):
            raise UsageError(f"model {what!r}: {twice[0]} stands twice; keep one of them")
        found = of_endpoint | own | given
        _check(what, found)
        return super().__new__(cls, NOTATION.text(what, found))

    @property
    def name(self) -> str:
        """The name without options."""
        return _parsed(self)[0]

    @property
    def options(self) -> dict[str, Any]:
        """The options by name."""
        return _parsed(self)[1]

    def __repr__(self) -> str:
        return f"Model({str(self)!r})"


def _parsed(text: str) -> tuple[str, dict[str, Any]]:
    return (text, {}) if text.startswith(_WHOLE) else NOTATION.parse(text)


def bare_name(text: str) -> str:
    """Return a model's name without its options, whether or not these can be."""
    return text if text.startswith(_WHOLE) else text.partition(",")[0].strip()


def shown_name(text: str) -> str:
    """Return what may be shown of a text that may be no model: its beginning, without addresses."""
    return bare_name(text).partition("://")[0]


def settings_of(spec: Any, settings: ModelSettings) -> ModelSettings:
    """Return the settings of a model: its own options before the given settings.

    Args:
        spec: A text with or without options; anything else has none.
        settings: As the flags have them.
    """
    if not isinstance(spec, str):
        return settings
    options = Model(spec).options
    if "base_url" in options:
        settings = replace(settings, address_from=_OWN_ADDRESS)
    return settings.told(options) if options else settings


@dataclass(frozen=True, slots=True)
class Flagged:
    """A model and what the flags `--base-url` and `-M` say of it, where they hold for it."""

    spec: Any
    """A text with or without options, or a model."""
    base_url: str | None = field(default=None, repr=False)
    options: Mapping[str, Any] = field(default_factory=dict)
    address_from: str = field(default=BASE_URL, compare=False)

    @classmethod
    def of(cls, spec: Any) -> Flagged:
        """Return a model that was named by itself, for which no flag holds."""
        return spec if isinstance(spec, Flagged) else cls(spec, address_from=_OWN_ADDRESS)

    def settings(self, recordings: Callable[[str], Lookup] | None = None) -> ModelSettings:
        """Return how it is asked.

        Raises:
            UsageError: An option that it cannot have.
        """
        told = ModelSettings(base_url=self.base_url, recordings=recordings).told(self.options)
        return settings_of(self.spec, replace(told, address_from=self.address_from))


def _check(name: str, options: Mapping[str, Any]) -> None:
    """Raise where a model cannot have these options."""
    place = f"model {name}"
    if "base_url" in options:
        check_address(options["base_url"], f"{place}: base_url")
    refuse_secret("", options, place)
    variable = options.get("key_env")
    if variable is not None and not (
        isinstance(variable, str) and _VARIABLE.fullmatch(variable)
    ):  # the value is not repeated: it may be a key
        raise OptionError(
            f"{place}: key_env takes the name of an environment variable that holds the key, in "
            "capitals, such as LOCAL_KEY; never the key"
        )
    known = options_of(re.split("[/:]", name)[0])
    check_options(options, known, f"option of {place}", f"{place}: ")
    for option, value in options.items():
        try:
            normalise(value)
        except (TypeError, ValueError):
            raise OptionError(
                f"{place}: {option} is a {type(value).__name__}: expected JSON"
            ) from None


_PROVIDERS = {
    "openai": ("https://api.openai.com/v1", OPENAI_URL),
    "anthropic": ("https://api.anthropic.com", ANTHROPIC_URL),
    "gemini": ("https://generativelanguage.googleapis.com", GEMINI_URL),
}
"""Provider to its own endpoint, and the environment variable by which its SDK is sent elsewhere."""


def _place(name: str, base_url: str | None) -> tuple[str | None, bool]:
    """Return the address of a model's server, None where we know none, and whether it is its own.

    Args:
        name: The model's.
        base_url: As it was told; None: what the provider's variable says, else the provider's own.
    """
    provider = _PROVIDERS.get(name.partition("/")[0])
    if provider is None:
        return base_url, not base_url
    address, variable = provider
    url = base_url or os.environ.get(variable, "").strip() or address
    own, asked = urlsplit(address), urlsplit(public_url(url))
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
