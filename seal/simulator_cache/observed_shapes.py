"""Shapes read from what was seen of an answer: a type template, an example, a text of either."""

from __future__ import annotations

from typing import Any

from seal.core import JSON
from seal.simulator_cache.shapes import (
    ANYTHING,
    LEAVES,
    LENGTH,
    LIST,
    LIST_LENGTH,
    is_template,
)


def parsed(text: str) -> JSON:
    """Return the value of a JSON text, whole or cut off; None for prose."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    from pydantic_core import from_json

    try:
        value = from_json(text, allow_partial=True)
    except ValueError:
        return None
    return value or None


def observed_schema(value: JSON) -> dict[str, Any]:
    """Return the JSON Schema of a type template, or else of an example."""
    return _from_template(value) if is_template(value) else _from_example(value)


def _from_template(value: JSON) -> dict[str, Any]:
    if isinstance(value, dict):
        return {
            "type": ["object", "null"],
            "properties": {k: _from_template(v) for k, v in value.items() if k != LIST_LENGTH},
        }
    if isinstance(value, list):
        return _list_template(value)
    found = LIST.fullmatch(value)
    if found is None:
        return dict(LEAVES[value])
    items = LEAVES.get(found[1], ANYTHING)
    return {"type": ["array", "null"], "items": items, LENGTH: int(found[2])}


def _list_template(value: list[JSON]) -> dict[str, Any]:
    if not value:
        return dict(LEAVES["empty list"])
    first = value[0]
    if isinstance(first, str) and LIST.fullmatch(first):
        return _from_template(first)
    schema = {"type": ["array", "null"], "items": _from_template(first)}
    if isinstance(first, dict) and LIST_LENGTH in first:
        schema[LENGTH] = first[LIST_LENGTH]
    return schema


def _from_example(value: JSON) -> dict[str, Any]:
    if value is None:
        return dict(ANYTHING)
    if isinstance(value, dict):
        properties = {name: _from_example(item) for name, item in value.items()}
        return {"type": ["object", "null"], "properties": properties}
    if isinstance(value, list):
        items = _from_example(value[0]) if value else {}
        return {"type": ["array", "null"], "items": items, LENGTH: len(value)}
    if isinstance(value, bool):
        return {"type": ["boolean", "null"]}
    if isinstance(value, (int, float)):
        kind = "integer" if isinstance(value, int) else "number"
        return {"type": [kind, "number", "null"], "examples": [value]}
    return {"type": ["string", "null"], "examples": [value]}
