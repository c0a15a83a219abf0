"""What a model can be told, what of it may be written down, and the options of its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from seal.core import JSON, Lookup, OptionError, UnknownNameError, UsageError
from seal.core.secrets import ServerSettings, check_address

_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
"""Source: RFC 9110, 5.6.2."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings(ServerSettings):
    """Settings of one model."""

    temperature: float | None = None
    """None: what the request says."""
    options: Mapping[str, JSON] = field(default_factory=dict)
    """Further fields of the request (`-M key=value`); a field whose value is None is left out."""
    profile: str | None = None
    """File or name of what the model takes; None: what was probed, else its family's."""
    api: str | None = None
    """`responses`: OpenAI's interface of that name; None or `chat`: chat completions."""
    recordings: Callable[[str], Lookup] | None = field(default=None, repr=False, compare=False)
    """Finds what `recorded:NAME` and `replay:RUN` play, given that whole name."""

    def __post_init__(self) -> None:
        """Reject settings that no model can have.

        Raises:
            UsageError: Names the setting, what it got and what it takes.
        """
        if self.max_tries < 1:
            raise UsageError(f"max_tries {self.max_tries}: it must be at least 1")
        for name in ("timeout_s", "max_answer_s"):
            if getattr(self, name) <= 0:
                raise UsageError(f"{name} {getattr(self, name)}: it must be more than 0 seconds")
        for name in ("first_wait_s", "max_wait_s"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name} {getattr(self, name)}: it must be at least 0 seconds")
        if self.key_header is not None and not _HEADER.fullmatch(self.key_header):
            raise UsageError(
                f"key_header={self.key_header!r}: expected the name of a header, such as api-key"
            )
        if self.api not in (None, "chat", "responses"):
            raise UsageError(f"api={self.api}: expected chat or responses")
        if self.base_url is not None:
            check_address(self.base_url, self.address_from)

    def told(self, options: Mapping[str, Any]) -> ModelSettings:
        """Return these settings with `-M key=value` pairs, which go before them.

        A pair that names a setting is that setting; every other is a field of the request.

        Raises:
            UsageError: A setting's value is no number where it must be one.
        """
        own: dict[str, Any] = {}
        rest = dict(options)
        for name, kind in _TOLD.items():
            if rest.get(name) is not None:
                field = "api_key_env" if name == "key_env" else name
                own[field] = _read(name, rest.pop(name), kind)
        if not isinstance(rest.get(BODY) or {}, Mapping):
            raise UsageError(f"-M {BODY}={rest[BODY]}: expected an object")
        return replace(self, **own, options={**self.options, **rest})

    @property
    def fields(self) -> dict[str, JSON]:
        """Further fields of the request, those among them that stand in `extra_body`."""
        extra = self.options.get(BODY) or {}
        return {name: self.options[name] for name in self.options if name != BODY} | dict(extra)


def _read(name: str, value: Any, kind: str) -> Any:
    """Return the value of a setting; a text may spell a number."""
    if kind == "true or false":
        if not isinstance(value, bool):
            raise UsageError(f"-M {name}={value}: expected {kind}")
        return value
    try:
        return {"a text": str, "a number": float, "a whole number": int}[kind](value)
    except (TypeError, ValueError):
        raise UsageError(f"-M {name}={value}: expected a number") from None


_COUNT = "a whole number of at least 1"
_TYPES: dict[str, tuple[type, ...]] = {
    "a whole number": (int,),
    _COUNT: (int,),
    "a number": (int, float),
    "a number from 0 to 1, such as 0.3": (int, float),
    "true or false": (bool,),
    "a text": (str,),
    "an object": (dict,),
    "a list": (list, tuple),
    "a text or a list": (str, list, tuple),
    "a text or an object": (str, dict),
}

BODY = "extra_body"
"""Option that holds further fields of the request, which one server knows and OpenAI does not."""


def _by_name(names: Mapping[str, str]) -> dict[str, str]:
    """Return each option's kind of value.

    Args:
        names: Kind to the options of that kind, with blanks between them.
    """
    return {name: kind for kind, several in names.items() for name in several.split()}


SETTINGS: Mapping[str, str] = _by_name(
    {
        "a text": "base_url key_env key_header",
        "a number": "timeout_s max_answer_s first_wait_s max_wait_s temperature",
        "a whole number": "max_tries",
        "true or false": "stream",
    }
)
"""Settings of every model that a server plays."""
_TOLD = {"api_key_env": "a text", **SETTINGS, **_by_name({"a text": "profile api"})}
"""Options that are settings and no fields of the request."""
_OPENAI = _by_name(
    {
        "a number": "frequency_penalty presence_penalty top_p",
        "a text": "profile prompt_cache_key prompt_cache_retention reasoning_effort"
        " safety_identifier service_tier user verbosity",
        "a text or a list": "stop",
        "a text or an object": "tool_choice",
        "a whole number": "seed top_logprobs",
        _COUNT: "max_completion_tokens max_tokens",
        "an object": f"{BODY} logit_bias metadata response_format",
        "true or false": "logprobs parallel_tool_calls store",
    }
)
_GEMINI = _by_name(
    {
        "a list": "safety_settings stop_sequences",
        "a number": "frequency_penalty presence_penalty top_k top_p",
        "a text": "cached_content profile media_resolution response_mime_type",
        "a whole number": "seed",
        _COUNT: "max_output_tokens",
        "an object": "labels response_json_schema response_schema thinking_config tool_config",
    }
)
_ANTHROPIC = _by_name(
    {
        "a list": "stop_sequences",
        "a number": "top_p",
        "a text": "profile service_tier speed",
        "a whole number": "top_k",
        _COUNT: "max_tokens",
        "an object": "cache_control metadata output_config thinking tool_choice",
    }
)
OFFLINE: Mapping[str, Mapping[str, str]] = {
    "lexical": {"slips": "a number from 0 to 1, such as 0.3"},
    **{
        name: {}
        for name in ("oracle", "gold_calls", "random", "scripted", "recorded", "replay", "human")
    },
}
"""Options of our models that send no request, so that no field of one can be meant for them."""
LOADED: Mapping[str, str] = _by_name(
    {"a whole number": "n_gpu_layers", _COUNT: "n_ctx n_parallel n_threads"}
)
"""How llama.cpp loads a local model: tokens of context, layers on the GPU, requests at once."""
_HERE = {name: kind for name, kind in SETTINGS.items() if kind != "a text"}
_SERVED: Mapping[str, Mapping[str, str]] = {
    "local": {**_HERE, **_OPENAI, **LOADED, "cache_prompt": "true or false"},
    "openai": {**SETTINGS, **_OPENAI, "api": "a text"},
    "gemini": {**SETTINGS, **_GEMINI},
    "litellm": {
        **_HERE,
        **_by_name({"a text": "base_url key_env"}),
        **_OPENAI,
        "thinking": "an object",
    },
    "anthropic": {**SETTINGS, **_ANTHROPIC},
}


def options_of(name: str) -> Mapping[str, str] | None:
    """Return each option that a model takes, with its kind of value; None: the model looks itself.

    Args:
        name: What the model is registered by.
    """
    return OFFLINE.get(name, _SERVED.get(name))


def check_options(
    given: Mapping[str, Any],
    known: Mapping[str, str] | None,
    whose: str,
    place: str,
    shown: Callable[[Any], str] = repr,
) -> None:
    """Reject options that a model cannot have.

    Args:
        given: The options.
        known: Each option that the model takes, with its kind; None: it looks itself, but at those
            of every model.
        whose: What is named where an option is unknown: "option of NAME".
        place: What stands before an option in messages.
        shown: Gives the text of a value in messages.

    Raises:
        UnknownNameError: The model does not take an option; names the closest.
        OptionError: An option has a value of another kind.
    """
    for option, value in given.items():
        if known is not None and option not in known:
            raise UnknownNameError(whose, option, known)
        kind = (SETTINGS if known is None else known).get(option)
        if kind is not None and value is not None and not _fits(value, kind):
            raise OptionError(f"{place}{option}={shown(value)}: expected {kind}")


def _fits(value: Any, kind: str) -> bool:
    """Tell whether a value is of a kind; a truth value is no number."""
    types = _TYPES[kind]
    fitting = isinstance(value, types) and (not isinstance(value, bool) or bool in types)
    return fitting and (kind != _COUNT or value >= 1)
