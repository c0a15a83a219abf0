"""`random`: calls a tool by chance, with arguments by schema. What chance alone reaches."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from typing import Any

from seal.core import JSON, Completion, Request, ToolCall
from seal.core.canonical import derive_seed
from seal.models.lexical_calls import current_exchange, speak_plainly, stated_results
from seal.models.model_settings import ModelSettings

_WORDS = ("alpha", "bravo", "delta", "kilo", "lima", "oscar", "sierra", "tango")
_FORMATS = {
    "date": "2024-05-17",
    "date-time": "2024-05-17T12:00:00Z",
    "time": "12:00:00",
    "email": "someone@example.org",
    "uri": "https://example.org/",
    "ipv4": "192.0.2.1",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_DEEPEST = 5


class RandomCalls:
    """Calls one offered tool after each request, then states what came back. Safe in threads.

    The choice depends on the request's seed and messages, so equal requests get equal answers.
    """

    def complete(self, request: Request) -> Completion:
        """Return a call or a text; uses no tokens."""
        spoken = speak_plainly(request)
        if spoken is not None:
            return spoken
        scene = current_exchange(request.messages)
        if not request.tools or any(message.calls for message in scene):
            return Completion(stated_results(scene))
        draw = random.Random(derive_seed(request.seed, [m.content for m in request.messages]))
        tool = draw.choice(request.tools)
        arguments = _object(tool.parameters, draw, 0)
        return Completion(calls=(ToolCall("", tool.name, arguments),))


def build(rest: str, settings: ModelSettings) -> RandomCalls:
    """Return the model `random`."""
    return RandomCalls()


def random_value(schema: Mapping[str, Any], draw: random.Random, depth: int = 0) -> JSON:
    """Return a value that a schema allows, as far as type, enum, bounds and lengths say."""
    if "const" in schema:
        return schema["const"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return draw.choice(schema["enum"])
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list) and schema[key]:
            return random_value(_mapping(draw.choice(schema[key])), draw, depth)
    kind = schema.get("type", "string")
    if isinstance(kind, list):
        kind = draw.choice(kind) if kind else "null"
    if kind == "object":
        return _object(schema, draw, depth)
    if kind == "array":
        return _array(schema, draw, depth)
    if kind in ("integer", "number"):
        return _number(schema, kind, draw)
    if kind == "boolean":
        return draw.random() < 0.5
    return None if kind == "null" else _text(schema, draw)


def _object(schema: Mapping[str, Any], draw: random.Random, depth: int) -> dict[str, JSON]:
    required = set(schema.get("required") or ())
    properties = schema.get("properties") or {}
    return {
        name: random_value(_mapping(inner), draw, depth + 1)
        for name, inner in properties.items()
        if name in required or (depth < _DEEPEST and draw.random() < 0.5)
    }


def _array(schema: Mapping[str, Any], draw: random.Random, depth: int) -> list[JSON]:
    least = schema.get("minItems", 0 if depth >= _DEEPEST else 1)
    most = max(least, min(schema.get("maxItems", least + 2), least + 2))
    items = _mapping(schema.get("items"))
    return [random_value(items, draw, depth + 1) for _ in range(draw.randint(least, most))]


def _number(schema: Mapping[str, Any], kind: str, draw: random.Random) -> int | float:
    least, most = _bound(schema, "inimum", 1), _bound(schema, "aximum", -1)
    if least is None:
        least = 0 if most is None else most - 100
    if most is None:
        most = least + 100
    if kind == "number":
        return least + (most - least) * draw.uniform(0.1, 0.9)
    return draw.randint(math.ceil(least), max(math.ceil(least), math.floor(most)))


def _bound(schema: Mapping[str, Any], name: str, inwards: int) -> float | None:
    """Return a bound that itself may be taken; an exclusive one moves inwards by 1."""
    bound, beyond = schema.get("m" + name), schema.get("exclusiveM" + name)
    if isinstance(bound, (int, float)):
        return bound
    return beyond + inwards if isinstance(beyond, (int, float)) else None


def _text(schema: Mapping[str, Any], draw: random.Random) -> str:
    if schema.get("format") in _FORMATS:
        return _FORMATS[schema["format"]]
    text = draw.choice(_WORDS)
    while len(text) < schema.get("minLength", 0):
        text += " " + draw.choice(_WORDS)
    return text[: schema.get("maxLength", len(text))]


def _mapping(schema: Any) -> Mapping[str, Any]:
    return schema if isinstance(schema, dict) else {}
