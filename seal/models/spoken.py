"""Results in words: what a model that has no words of its own says of what came back."""

from __future__ import annotations

import re

import orjson

from seal.core.plain import json_text, literal_value
from seal.core.types import JSON

DONE = "Done."
"""Said of a result that is nothing, as where a world did what it was told."""
_LITERAL = re.compile(r"""[\[({'"](?:[^\\]|\\[\n\\'"abfnrtvx0-7NuU])*|True|False|None""", re.DOTALL)
"""What may be the `repr` of a text, list, map or constant. Python warns of escapes that are none,
which no `repr` has."""


def in_words(content: str) -> str:
    """Return the values of a result with their names, such as `hour: 2, minute: 43`.

    Args:
        content: JSON, an answer {"error", "response"} of a simulator, or a Python literal, as
            worlds answer; any other text is said as it stands. Empty where it holds no value.
    """
    value = value_of(content)
    if value is None:
        return DONE
    if isinstance(value, dict) and value.keys() == {"error", "response"}:
        value = value["response"] if not value["error"] else value["error"]
    return ", ".join(_named(value))


def value_of(content: str) -> JSON:
    """Return the value that a result spells, in JSON or as a Python literal; else the text."""
    try:
        value: JSON = orjson.loads(content)
        return value
    except orjson.JSONDecodeError:
        return _literal(content) if _LITERAL.fullmatch(content) else content


def _literal(content: str) -> JSON:
    try:
        value: JSON = literal_value(content)
    except ValueError:
        return content
    known = value is None or isinstance(value, (dict, list, tuple, str, bool))
    return value if known else content


def _named(value: JSON, name: str = "") -> list[str]:
    if isinstance(value, dict):
        return [said for key, inner in value.items() for said in _named(inner, str(key))]
    if isinstance(value, (list, tuple)):
        return [said for inner in value for said in _named(inner, name)]
    if value is None or value == "":
        return []
    text = json_text(value) if isinstance(value, (bool, int, float)) else str(value)
    return [f"{name.replace('_', ' ')}: {text}" if name else text]
