"""The options that a model's text may name, and what their values are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {
    "a whole number": (int,),
    "a number": (int, float),
    "true or false": (bool,),
    "a text": (str,),
    "an object": (dict,),
    "a list": (list, tuple),
    "a text or a list": (str, list, tuple),
    "a text or an object": (str, dict),
}

SETTINGS: Mapping[str, str] = {
    "base_url": "a text",
    "key_env": "a text",
    "timeout_s": "a number",
    "max_tries": "a whole number",
    "first_wait_s": "a number",
    "max_wait_s": "a number",
    "temperature": "a number",
}
"""Settings of every model that a server plays."""

BODY = "extra_body"
"""Option that holds further fields of the request, which one server knows and OpenAI does not."""

_OPENAI: Mapping[str, str] = {
    BODY: "an object",
    "frequency_penalty": "a number",
    "logit_bias": "an object",
    "logprobs": "true or false",
    "max_completion_tokens": "a whole number",
    "max_tokens": "a whole number",
    "metadata": "an object",
    "parallel_tool_calls": "true or false",
    "presence_penalty": "a number",
    "prompt_cache_key": "a text",
    "prompt_cache_retention": "a text",
    "reasoning_effort": "a text",
    "response_format": "an object",
    "safety_identifier": "a text",
    "seed": "a whole number",
    "service_tier": "a text",
    "stop": "a text or a list",
    "store": "true or false",
    "tool_choice": "a text or an object",
    "top_logprobs": "a whole number",
    "top_p": "a number",
    "user": "a text",
    "verbosity": "a text",
}
_GEMINI: Mapping[str, str] = {
    "cached_content": "a text",
    "frequency_penalty": "a number",
    "labels": "an object",
    "max_output_tokens": "a whole number",
    "media_resolution": "a text",
    "presence_penalty": "a number",
    "response_json_schema": "an object",
    "response_mime_type": "a text",
    "response_schema": "an object",
    "safety_settings": "a list",
    "seed": "a whole number",
    "stop_sequences": "a list",
    "thinking_config": "an object",
    "tool_config": "an object",
    "top_k": "a number",
    "top_p": "a number",
}
OFFLINE: Mapping[str, Mapping[str, str]] = {
    "lexical": {"slips": "a number"},
    "oracle": {},
    "gold_calls": {},
    "random": {},
    "scripted": {},
    "recorded": {},
    "replay": {},
    "human": {},
}
"""Options of our models that send no request, so that no field of one can be meant for them."""
_SERVED: Mapping[str, Mapping[str, str]] = {
    "openai": {**SETTINGS, **_OPENAI},
    "gemini": {**SETTINGS, **_GEMINI},
}


def options_of(name: str) -> Mapping[str, str] | None:
    """Return each option that a model takes, with its kind of value; None: the model looks itself.

    Args:
        name: What the model is registered by.
    """
    return OFFLINE.get(name, _SERVED.get(name))


def fits(value: Any, kind: str) -> bool:
    """Tell whether a value is of a kind; a truth value is no number."""
    types = _TYPES[kind]
    return isinstance(value, types) and (not isinstance(value, bool) or bool in types)
