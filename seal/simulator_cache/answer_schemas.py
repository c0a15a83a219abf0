"""The JSON Schema of what a language model as simulator may write.

It is for models that write by one (`json_mode` of their profile). A schema says no more than the
prompt: the documented keys, and a length that 200 words allow.
"""

from __future__ import annotations

from typing import Any

from seal.core import JSON, Tool
from seal.simulator_cache.shapes import response_schema

MOST_ITEMS = 2
"""Items of a list. Where nothing bounds them, a small model writes on until it is cut."""
LONGEST_TEXT = 120
"""Characters of a text, for the same reason. Answers within it are the same without it."""
_TAKEN = ("type", "enum", "const")
"""Keywords that every server takes which writes by a schema; others it may refuse."""


def answer_schema(tool: Tool) -> dict[str, JSON]:
    """Return the schema of {error, response}, in which the response has the documented shape.

    Args:
        tool: Whose answer is written; without a documented shape its response is any object.
    """
    shape = _taken(response_schema(tool.returns))
    response = shape if shape else {"type": "object"}
    return _object({"error": {"const": ""}, "response": response})


def _taken(schema: Any) -> dict[str, JSON]:
    """Return the part of a schema that servers take; each known key must be there."""
    if not isinstance(schema, dict):
        return {}
    properties = schema.get("properties")
    if properties:
        return _object({name: _taken(of) for name, of in properties.items()})
    if "items" in schema:
        items = _taken(schema["items"])
        return {"type": "array", "items": items, "minItems": 1, "maxItems": MOST_ITEMS}
    taken = {keyword: schema[keyword] for keyword in _TAKEN if keyword in schema}
    return taken | {"maxLength": LONGEST_TEXT} if taken == {"type": "string"} else taken


def _object(properties: dict[str, JSON]) -> dict[str, JSON]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
