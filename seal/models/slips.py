"""Slips: right calls made wrong by chance, and answers that say what is wrong with them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import orjson

from seal.core import JSON, Tool, ToolCall
from seal.core.canonical import derive_seed
from seal.core.plain import json_text

_MARK = "_value"
"""Ends a name that there is not."""


_TEXTS = {"integer", "number", "boolean", "object", "array"}
"""Types instead of which a slip gives a text."""


Slip = Callable[[], ToolCall]


def slipped(
    calls: Sequence[ToolCall], tools: Sequence[Tool], rate: float, seed: int, position: int
) -> tuple[ToolCall, ...]:
    """Return the calls, some of them with a fault.

    Args:
        calls: Right calls of offered tools.
        tools: Those that are offered.
        rate: How likely a call slips, in [0, 1].
        seed: Of the request.
        position: Of the reply in the chat.
    """
    by_name = {tool.name: tool for tool in tools}
    made = []
    for place, call in enumerate(calls):
        draw = random.Random(derive_seed(seed, "slip", position, place))
        slips = list(_slips(call, by_name[call.name], by_name.keys(), draw))
        made.append(draw.choice(slips)() if draw.random() < rate else call)
    return tuple(made)


def _slips(
    call: ToolCall, tool: Tool, offered: AbstractSet[str], draw: random.Random
) -> list[Slip]:
    """Return the faults that a call allows; `function` always is one."""
    properties = tool.parameters.get("properties") or {}
    given = call.arguments or {}
    required = [name for name in tool.parameters.get("required") or () if name in given]
    typed = [name for name in given if _mistyped(given[name], properties.get(name)) is not None]

    def argument() -> ToolCall:
        name = draw.choice(sorted(given))
        renamed = {_beside(key, properties) if key == name else key: given[key] for key in given}
        return replace(call, arguments=renamed)

    def kind() -> ToolCall:
        name = draw.choice(sorted(typed))
        return replace(call, arguments={**given, name: _mistyped(given[name], properties[name])})

    def missing() -> ToolCall:
        name = draw.choice(sorted(required))
        return replace(call, arguments={key: given[key] for key in given if key != name})

    def function() -> ToolCall:
        return replace(call, name=_beside(call.name, offered))

    found: list[Slip] = [function]
    found += [argument] if given else []
    found += [kind] if typed else []
    found += [missing] if required else []
    return found


def _beside(name: str, taken: AbstractSet[str] | dict[str, JSON]) -> str:
    """Return a name that is not taken, made of one that is."""
    while name in taken:
        name += _MARK
    return name


def _mistyped(value: JSON, schema: JSON) -> JSON:
    """Return a value of a type that the schema does not have; None: it has no plain type."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "string":
        return [value]
    return json_text(value) if isinstance(kind, str) and kind in _TEXTS else None


def is_told(made: ToolCall, meant: ToolCall, answer: str) -> bool:
    """Tell whether the answer to a call is an error that names what is wrong with it.

    Args:
        made: The call as it was made.
        meant: The right one.
        answer: What the tool gave back, as the model reads it.
    """
    return any(
        re.search(rf"(?<!\w){re.escape(name)}(?!\w)", _error(answer))
        for name in _wrong(made, meant)
    )


def _error(answer: str) -> str:
    """Return the error that an answer reports; all of it where it is no JSON."""
    try:
        content = orjson.loads(answer)
    except orjson.JSONDecodeError:
        return answer
    return str(content.get("error", "")) if isinstance(content, dict) else ""


def _wrong(made: ToolCall, meant: ToolCall) -> list[str]:
    """Return the names that a message about a faulty call can hold: the first is the best."""
    if made.name != meant.name:
        return [made.name]
    given, right = made.arguments or {}, meant.arguments or {}
    unknown = sorted(given.keys() - right.keys())
    return unknown or [name for name in right if given.get(name) != right[name]]
