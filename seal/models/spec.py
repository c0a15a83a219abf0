"""A model by its text.

Its name, options, endpoint, settings, registry, identity and account.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from seal.core import (
    JSON,
    ChatModel,
    DataError,
    Lookup,
    OpenedPerChat,
    OptionError,
    Task,
    UnknownNameError,
    UsageError,
    nearest,
)
from seal.core.files import content_of
from seal.core.registry import Notation, Registry
from seal.core.secrets import (
    ANTHROPIC_URL,
    BASE_URL,
    GEMINI_URL,
    OPENAI_URL,
    ServerSettings,
    check_address,
    public_url,
    read_key,
    refuse_login,
    refuse_secret,
)
from seal.core.settings import checked_names, takes
from seal.core.values import normalise, toml_value

# -- A model with its options in one text: `openai/qwen3,base_url=http://localhost:8000/v1`.
#
# It also says where a model's requests go, and the name under which what it takes is booked.

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


# -- Servers with a name: `[endpoints.NAME]` of seal.toml, and `openai/qwen3@NAME`.
#
#     [endpoints.local]
#     base_url = "http://localhost:8000/v1"
#     key_env = "LOCAL_KEY"
#     profile = "mistral"
#     options = {max_tokens = 1024}
#
# When a model is made, its text takes in what its endpoint says. So a run can be resumed, and its
# record read, without that file.

FILE = Path("seal.toml")
TABLE = "endpoints"
_AT = re.compile(r"(?P<model>[^,]*?)@(?P<endpoint>[A-Za-z][\w-]*)")
"""`openai/qwen3@local`; not `@20250514` or `@cf/meta/llama`, which are parts of models' names."""
_FIELDS = {"base_url": str, "key_env": str, "profile": str, "options": dict}


def at_endpoint(name: str) -> tuple[str, dict[str, Any]]:
    """Return a model's name without its endpoint, and the options that this gives it.

    Raises:
        UsageError: No name follows on the @, no model stands before it, or there are two.
        UnknownNameError: There is no such endpoint; names the closest.
        DataError: The file is no TOML, or an endpoint of it cannot be one.
    """
    if name.endswith("@"):
        raise UsageError(
            f"model {name}: a name of [{TABLE}] in {FILE} must follow on the @; write it, or take "
            "the @ out"
        )
    found = _AT.fullmatch(name)
    if found is None:
        return name, {}
    if not found["model"]:
        raise UsageError(f"model {name}: no model stands before the @; write openai/NAME{name}")
    if twice := _AT.fullmatch(found["model"]):
        one = f"{twice['model']}@{twice['endpoint']}"
        raise UsageError(
            f"model {name}: it has two endpoints, {twice['endpoint']} and {found['endpoint']}; "
            f"keep one of them, as in {one}"
        )
    known = endpoints()
    if not known:
        raise UsageError(
            f"model {name}: there is no [{TABLE}.{found['endpoint']}] in {FILE} of this folder; "
            f"write it there, or the address into the model: {found['model']},base_url=URL"
        )
    if found["endpoint"] not in known:
        raise UnknownNameError(f"endpoint of {FILE}", found["endpoint"], known)
    return found["model"], dict(known[found["endpoint"]])


def endpoints() -> dict[str, dict[str, Any]]:
    """Return the endpoints of this folder by name, each as options of a model; none without a file.

    Raises:
        DataError: The file is no TOML, or an endpoint of it cannot be one.
    """
    return endpoints_of(settings_file().get(TABLE, {}))


def settings_file() -> dict[str, Any]:
    """Return what seal.toml of this folder says; nothing where there is none.

    Raises:
        DataError: It is no TOML, or no plain file.
    """
    try:
        return toml_value(content_of(FILE))
    except (FileNotFoundError, IsADirectoryError):
        return {}
    except OSError as error:
        raise DataError(f"{FILE} cannot be read: {error.strerror}; remove it") from error
    except ValueError as error:
        raise DataError(f"{FILE} is no TOML: {error}; mend it, or remove it") from error


def endpoints_of(tables: Any) -> dict[str, dict[str, Any]]:
    """Return endpoints as options of a model, from the tables that the file has.

    Raises:
        DataError: One of them cannot be.
    """
    if not isinstance(tables, Mapping) or not all(isinstance(t, dict) for t in tables.values()):
        raise DataError(f"{FILE}: write a table for each endpoint, as [{TABLE}.local]")
    return {name: _options(f"{FILE}: [{TABLE}.{name}]", table) for name, table in tables.items()}


def _options(place: str, table: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in table.items():
        if name == "base_url":
            check_address(value, f"{place}: base_url")
        refuse_secret("" if name == "key_env" else name, value, place)
        if name not in _FIELDS:
            raise UnknownNameError(f"setting of {place}", name, _FIELDS)
        if not isinstance(value, _FIELDS[name]):
            kind = "a table" if _FIELDS[name] is dict else "a text"
            raise DataError(f"{place}: {name} = {value!r}: expected {kind}")
    own = {name: value for name, value in table.items() if name != "options"}
    return {**table.get("options", {}), **own}


# -- What a model can be told, what of it may be written down, and the options of its text.

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
        for name in ("requests_per_minute", "tokens_per_minute"):
            if not (getattr(self, name) is None or 0 < getattr(self, name) < math.inf):
                raise UsageError(f"{name} {getattr(self, name)}: expected a number above 0")
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
        "a number": "timeout_s max_answer_s first_wait_s max_wait_s temperature"
        " requests_per_minute tokens_per_minute",
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
        "a text": "cached_content location media_resolution profile project response_mime_type",
        "a whole number": "seed",
        _COUNT: "max_output_tokens",
        "an object": "labels response_json_schema response_schema thinking_config tool_config",
        "true or false": "vertexai",
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
_OF_FILE = {"cache_prompt": "true or false", "sha256": "a text"}
"""Options of a local model alone: whether a prompt's beginning is kept, and the file's digest."""
_HERE = {name: kind for name, kind in SETTINGS.items() if kind != "a text"}
_SERVED: Mapping[str, Mapping[str, str]] = {
    "local": {**_HERE, **_OPENAI, **LOADED, **_OF_FILE},
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


# -- From a model's name to the model.

REGISTRY = Registry(
    "model",
    "seal.models",
    {
        "openai": "seal.models.openai_chat:OpenAIModel",
        "anthropic": "seal.models.anthropic_chat:AnthropicModel",
        "gemini": "seal.models.gemini_chat:GeminiModel",
        "litellm": "seal.models.openai_chat:LiteLLMModel",
        "local": "seal.models.local_model:LocalModel",
        "lexical": "seal.models.lexical:build_lexical",
        "oracle": "seal.models.oracle:build",
        "gold_calls": "seal.models.given_answers:build_gold_calls",
        "random": "seal.models.lexical:build_random",
        "scripted": "seal.models.given_answers:build_scripted",
        "recorded": "seal.models.given_answers:build_recorded",
        "replay": "seal.models.given_answers:build_replay",
        "human": "seal.models.given_answers:build",
    },
)
"""Name to `factory(rest, settings)`; `rest` is what follows `/` or `:` in the model's name."""


def build_model(spec: Any, settings: ModelSettings | None = None) -> ChatModel | OpenedPerChat:
    """Return a model.

    Args:
        spec: A model (anything with `complete` or `open`), or a text. The text is
            `provider/model`; an offline name (`lexical`, `oracle`, `random`, `human`,
            `scripted:FILE`, `recorded:NAME`, `replay:RUN`); or a dotted path
            `package.module:attribute`. The path leads to a model, a class that is built without
            arguments, or a class or function of (rest, settings). A text may carry options
            (`Model`).
        settings: None: the defaults. Options of the text go before them.

    Raises:
        UnknownNameError: An option that a model of ours does not take.
        UsageError: No such model, or it lacks what it needs: a key, a server, a file.
    """
    settings = settings or ModelSettings()
    if not isinstance(spec, str):
        return _checked(spec, spec)
    model = Model(spec)
    settings = settings_of(model, settings)
    name, rest = split_name(model)
    check_options(settings.options, options_of(name), f"option -M of {name}", "-M ", str)
    _check_key(model)
    found = _found(name, model.name)
    is_plain = isinstance(found, type) and takes(found, 0)
    factory = not is_plain and not _is_model(found) and callable(found)
    if model.options and not factory:
        raise UsageError(f"model {model.name}: it is built already and takes no options")
    if is_plain:
        found = found()
    elif factory and takes(found, 2):
        found = found(rest, settings)
    return _checked(found, spec)


def _found(name: str, whole: str) -> Any:
    try:
        return REGISTRY.resolve(name)
    except UsageError as error:
        if isinstance(error, UnknownNameError):
            is_other = nearest(name, error.known) is None
        else:
            is_other = not name.rpartition(":")[2].isidentifier()  # llama3:8b, no module:attribute
        if not is_other:
            raise
        raise UsageError(
            f"{str(error).rstrip('.')}. A model behind a server is named with its provider: "
            f"openai/{whole}"
        ) from None


def _check_key(model: Model) -> None:
    """Raise UsageError where a model's key is to be in a variable that is not set."""
    variable = model.options.get("key_env")
    if variable is not None and read_key(variable) is None:
        raise UsageError(
            f"model {model.name}: the environment variable {variable} of key_env is not set; "
            f"export {variable}=KEY, or leave key_env out where the server needs no key"
        )


def is_offline(spec: Any) -> bool:
    """Tell whether a model is one of ours that sends no request, and so takes no fields of one."""
    return isinstance(spec, str) and split_name(spec)[0] in OFFLINE


def is_free(spec: Any) -> bool:
    """Tell whether a model costs nothing: it sends no request, or one to this machine alone."""
    return is_offline(spec) or (isinstance(spec, str) and split_name(spec)[0] == "local")


def split_name(spec: str) -> tuple[str, str]:
    """Return the registered name and what follows it: `openai/gpt-4o` is ("openai", "gpt-4o").

    A text whose first part is no registered name is a dotted path, or unknown, as a whole. Options
    are left out.
    """
    spec = bare_name(spec)
    mark = re.search("[/:]", spec)
    if mark and (mark[0] == "/" or spec[: mark.start()] in REGISTRY):
        return spec[: mark.start()], spec[mark.end() :]
    return spec, ""


def _is_model(thing: Any) -> bool:
    return not isinstance(thing, type) and (hasattr(thing, "complete") or hasattr(thing, "open"))


def _checked(model: Any, spec: Any) -> ChatModel | OpenedPerChat:
    is_opened = hasattr(model, "open")
    if not _is_model(model) or not takes(*((model.open, 2) if is_opened else (model.complete, 1))):
        raise UsageError(
            f"{spec} is no model: expected an object with complete(request) or open(task, trial), "
            f"or a function of (name, settings) that makes one, got {type(model).__name__}"
        )
    found: ChatModel | OpenedPerChat = model
    return found


def open_model(model: ChatModel | OpenedPerChat, task: Task, trial: int) -> ChatModel:
    """Return the model of one chat.

    Raises:
        NotRecordedError: A recorded model has nothing to play for this task.
    """
    if hasattr(model, "open"):
        opened: ChatModel = model.open(task, trial)
        return opened
    return model


def model_identity(
    spec: Any, settings: ModelSettings | None = None, model: Any = None
) -> dict[str, JSON]:
    """Return what a run's record says about a model: plain JSON, no key, nothing secret.

    Args:
        spec: As for `build_model`.
        settings: As for `build_model`.
        model: The built model, where there is one; its own `identity` is taken.
    """
    own = getattr(spec if model is None else model, "identity", None)
    if isinstance(own, dict):
        return dict(own)
    settings = settings_of(spec, settings or ModelSettings())
    kind = type(spec)
    named = bare_name(spec) if isinstance(spec, str) else f"{kind.__module__}:{kind.__qualname__}"
    identity: dict[str, JSON] = {"model": own if isinstance(own, str) else named}
    if settings.base_url:
        identity["base_url"] = public_url(settings.base_url)
    if settings.temperature is not None:
        identity["temperature"] = settings.temperature
    if settings.options:
        identity["options"] = dict(settings.options)
    return identity


def is_cached(model: Any) -> bool:
    """Tell whether a model's answers are worth keeping: those of servers are, offline ones are not.

    A model of your own says so with `cached = True` and an `identity` that names all that
    shapes its answers.
    """
    return bool(getattr(model, "cached", False))
