"""The arguments of a call as a model wrote them: never evaluated, only parsed as JSON."""

from __future__ import annotations

from typing import Any

import orjson

from seal.core.plain import well_formed
from seal.core.types import JSON, ToolCall

MAX_DEPTH = 100
"""Nesting beyond which arguments count as unparsable: records could not hold them."""


def parse_call(name: str, arguments: Any) -> ToolCall:
    """Return the call of a model's reply, still without a number.

    Args:
        name: Function name.
        arguments: Text of a JSON object, as the protocol has it; some servers send the object
            itself, or nothing where a function takes none.
    """
    if arguments is None:
        arguments = ""
    if isinstance(arguments, str):
        text = well_formed(arguments)
        parsed = parse_object(text) if text.strip() else {}
        return ToolCall("", name, parsed, "" if parsed is not None else text)
    try:
        text = orjson.dumps(arguments).decode()
    except TypeError:  # too deep, or an integer of more than 64 bits
        text = well_formed(str(arguments))
    parsed = parse_object(text)
    return ToolCall("", name, parsed, "" if parsed is not None else text)


def parse_object(text: str) -> dict[str, JSON] | None:
    """Return the JSON object that a text is; None for any other text, NaN or deep nesting."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict) or _deep(value, text):
        return None
    return value


def _deep(value: JSON, text: str) -> bool:
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    level, depth = [value], 0
    while level and depth <= MAX_DEPTH:
        depth += 1
        inner = [item for item in level if isinstance(item, (dict, list))]
        level = [x for item in inner for x in (item.values() if isinstance(item, dict) else item)]
    return depth > MAX_DEPTH
