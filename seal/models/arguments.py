"""The arguments of a call as a model wrote them: never evaluated, only parsed as JSON."""

from __future__ import annotations

from typing import Any

import orjson

from seal.core.formats.objects import parse_object
from seal.core.plain import well_formed
from seal.core.types import ToolCall


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


__all__ = ["parse_call", "parse_object"]
