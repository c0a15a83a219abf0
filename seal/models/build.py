"""From a model's name to the model."""

from __future__ import annotations

import re
from typing import Any

from seal.core import JSON, ChatModel, OpenedPerChat, Task, UnknownNameError, UsageError, nearest
from seal.core.registry import Registry
from seal.core.secrets import public_url, read_key
from seal.core.typed_values import takes
from seal.models.model_settings import OFFLINE, ModelSettings, check_options, options_of
from seal.models.model_specs import Model, bare_name, settings_of

REGISTRY = Registry(
    "model",
    "seal.models",
    {
        "openai": "seal.models.openai_chat:build",
        "anthropic": "seal.models.anthropic_chat:build",
        "gemini": "seal.models.gemini_chat:build",
        "litellm": "seal.models.litellm_chat:build",
        "local": "seal.models.local_model:build",
        "lexical": "seal.models.lexical_calls:build",
        "oracle": "seal.models.oracle:build",
        "gold_calls": "seal.models.gold_calls:build_gold_calls",
        "random": "seal.models.random_calls:build",
        "scripted": "seal.models.known_answers:build_scripted",
        "recorded": "seal.models.known_answers:build_recorded",
        "replay": "seal.models.known_answers:build_replay",
        "human": "seal.models.human:build",
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
            arguments, or a `factory(rest, settings)`. A text may carry options
            (`seal.models.Model`).
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
    factory = not isinstance(found, type) and not _is_model(found) and callable(found)
    if model.options and not factory:
        raise UsageError(f"model {model.name}: it is built already and takes no options")
    if isinstance(found, type):
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
