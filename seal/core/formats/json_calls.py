"""`{"name": ..., "arguments": {...}}`: calls as JSON objects, one, several, or a list of them.

Words may stand beside them, and are what is left where there is no call. An object is a call where
it has a name and arguments, or a name alone, or only members that speak of a call (`_OF_CALLS`).
Any other object is an answer that happens to be JSON.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from seal.core.formats.forms import (
    MOST_CALLS,
    CallText,
    Repair,
    TextForm,
    Written,
    parse_object,
    read_object,
    repeats,
    says_something,
    span_of,
)
from seal.core.plain import json_text
from seal.core.types import JSON

_START = re.compile(r"\{\s*[\"'](?:name|arguments|parameters)[\"']\s*:")
_NAME = re.compile(r"[\"']name[\"']\s*:\s*[\"']([^\"'\n]{1,200})[\"']")
_FENCE = re.compile(r"```[\w+-]*")
_MOST_TRIES = 2 * MOST_CALLS
"""Beginnings of calls that are looked at, so that a hostile text costs no more than its length
times this."""
_OF_CALLS = frozenset(
    {"name", "arguments", "parameters", "tool", "tool_name", "function", "action", "args", "input"}
)


class JsonForm(TextForm):
    """The protocol of JSON objects."""

    name = "json"
    shape = '{"name": "NAME", "arguments": {"argument": "value"}}'

    def is_own(self, raw: str) -> bool:
        """Tell whether a text holds the beginning of a call's object."""
        return _START.search(raw) is not None

    def put(self, name: str, given: str) -> str:
        """Return the object of a call."""
        return f'{{"name":{json_text(name)},"arguments":{given}}}'

    def calls_in(self, text: str, cut: bool) -> tuple[list[CallText], str]:
        """Return the calls of a text, and the words beside them; see `TextForm.calls_in`."""
        text = text.strip()
        whole = parse_object(text)
        if whole is not None:
            if not _is_call(whole):
                return [], text
            return [_of_object(whole, text, repeats(text))], ""
        found: list[CallText] = []
        words: list[str] = []
        end = 0
        for start in islice((match.start() for match in _START.finditer(text)), _MOST_TRIES):
            if start < end or len(found) == MOST_CALLS:
                continue
            length, _ = span_of(text[start:])
            stop = len(text) if length is None else start + length
            call = _of_text(text[start:stop], cut)
            if call is not None:
                words.append(text[end:start])
                found.append(call)
                end = stop
        words.append(text[end:])
        said = "\n".join(_FENCE.sub("", word).strip() for word in words if says_something(word))
        said = said if says_something(_FENCE.sub("", said)) else ""
        if len(found) == 1 and not said and text.startswith("```"):
            found = [replace(found[0], written=text, repairs=("code_fence", *found[0].repairs))]
        return found, said if found else text


def _of_text(written: str, cut: bool) -> CallText | None:
    """Return the call that a part of a text writes, maybe an unreadable one; None: it is none."""
    read = read_object(written, cut)
    if read.value is not None:
        return _of_object(read.value, written, read.repairs) if _is_call(read.value) else None
    named = _NAME.search(written)
    return CallText(named[1] if named else "", None, written)


def _is_call(value: Mapping[str, Any]) -> bool:
    named = isinstance(value.get("name"), str)
    if named and not value.keys().isdisjoint({"arguments", "parameters"}):
        return True
    return bool(value) and value.keys() <= _OF_CALLS


def _of_object(value: Mapping[str, Any], written: str, repairs: tuple[Repair, ...]) -> CallText:
    name = value.get("name")
    if not isinstance(name, str) or not name.strip():
        return CallText("", None, written)
    key = "arguments" if "arguments" in value else "parameters"
    renamed: tuple[Repair, ...] = ("other_key",) if key in value and key != "arguments" else ()
    given = _given(value[key]) if key in value else Written({}, ("no_input",))
    return CallText(name.strip(), given.value, written, (*repairs, *renamed, *given.repairs))


def _given(arguments: JSON) -> Written:
    if isinstance(arguments, dict):
        return Written(arguments)
    if isinstance(arguments, str):
        read = read_object(arguments)
        return replace(read, repairs=("arguments_as_text", *read.repairs))
    return Written(None)
