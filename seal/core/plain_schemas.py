"""Arguments checked at a glance against the schemas that nearly all tools have.

A validator of JSON Schema says what is wrong, and takes a hundred times as long to make as these
few keywords take to look at. Whatever is accepted here is right; of the rest nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from seal.core.plain import nested_deeper
from seal.core.types import JSON

MAX_DEPTH = 50
"""Levels of lists and maps in arguments; deeper ones are rejected."""

_TYPES: dict[str, type | tuple[type, ...]] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "null": type(None),
    "number": (int, float),
    "object": dict,
    "string": str,
}

_PLAIN = frozenset({"type", "properties", "required", "additionalProperties", "description"})
"""Keywords of a map with declared names; `CallValidator` takes no others, said or not."""

_SAYING_NO_MORE = frozenset({"type", "description", "default", "examples"})

_SCALARS = {
    "boolean": frozenset({bool}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "string": frozenset({str}),
}


@dataclass(frozen=True, slots=True)
class PlainSchema:
    """Of a map with declared names and no others."""

    properties: dict[str, Any]
    required: frozenset[str]
    scalars: dict[str, frozenset[type]]
    """Types of the values that a name surely takes, where its schema says no more than a type."""

    def surely_accepts(self, arguments: Mapping[str, JSON]) -> bool:
        """Tell whether the rules are met, as far as can be told at a glance.

        False says nothing: a schema may have keywords that are not looked at here.
        """
        if not (arguments.keys() <= self.properties.keys() and self.required <= arguments.keys()):
            return False
        for name, value in arguments.items():
            if type(value) not in self.scalars[name] and not _fits(self.properties[name], value):
                return False
        return True


def plain_schema(schema: Mapping[str, JSON]) -> PlainSchema | None:
    """Return a schema of declared names; None where it may say more than names and their types."""
    properties, required = schema.get("properties"), schema.get("required", [])
    if not schema.keys() <= _PLAIN or schema.get("type") != "object":
        return None
    if schema.get("additionalProperties", False) is not False:
        return None
    if not isinstance(properties, dict) or not isinstance(required, list):
        return None
    if not all(isinstance(name, str) for name in required):
        return None
    scalars = {name: _scalars(described) for name, described in properties.items()}
    return PlainSchema(properties, frozenset(required), scalars)


def _scalars(schema: Any) -> frozenset[type]:
    """Return the types of which a schema surely accepts any value."""
    if not isinstance(schema, dict) or not schema.keys() <= _SAYING_NO_MORE:
        return frozenset()
    kind = schema.get("type")
    return _SCALARS.get(kind, frozenset()) if isinstance(kind, str) else frozenset()


def _fits(schema: Any, value: JSON) -> bool:
    """Tell whether a value surely fits; one nested too deep is the validator's to refuse."""
    if isinstance(value, (list, dict)) and nested_deeper(value, MAX_DEPTH - 1):
        return False
    return meets(schema, value)


def meets(schema: JSON, value: JSON) -> bool:
    """Tell whether a value surely is what a schema of plain keywords asks for.

    Args:
        schema: As it stands in a tool's `properties`.
        value: Of ordinary depth.
    """
    if not isinstance(schema, dict):
        return False
    for keyword, wanted in schema.items():
        rule = _RULES.get(keyword)
        if rule is None or not rule(wanted, value):
            return False
    return True


def _is_of_type(wanted: JSON, value: JSON) -> bool:
    if isinstance(wanted, list):
        return any(_is_of_type(kind, value) for kind in wanted if isinstance(kind, str))
    if isinstance(value, bool):
        return bool(wanted == "boolean")
    return isinstance(wanted, str) and wanted in _TYPES and isinstance(value, _TYPES[wanted])


def _are_items(wanted: JSON, value: JSON) -> bool:
    return not isinstance(value, list) or all(meets(wanted, item) for item in value)


def _are_values(wanted: JSON, value: JSON) -> bool:
    return not isinstance(value, dict) or all(meets(wanted, item) for item in value.values())


def _are_members(wanted: JSON, value: JSON) -> bool:
    if not isinstance(value, dict):
        return True
    return isinstance(wanted, dict) and all(
        meets(wanted[name], item) for name, item in value.items() if name in wanted
    )


def _are_there(wanted: JSON, value: JSON) -> bool:
    if not isinstance(value, dict):
        return True
    return isinstance(wanted, list) and all(
        isinstance(name, str) and name in value for name in wanted
    )


def _is_any(wanted: JSON, value: JSON) -> bool:
    return isinstance(wanted, list) and any(meets(schema, value) for schema in wanted)


def _is_choice(wanted: JSON, value: JSON) -> bool:
    return isinstance(wanted, list) and isinstance(value, str) and value in wanted


def _says_nothing(wanted: JSON, value: JSON) -> bool:
    return True


_RULES: dict[str, Callable[[JSON, JSON], bool]] = {
    "additionalProperties": _are_values,
    "anyOf": _is_any,
    "default": _says_nothing,
    "description": _says_nothing,
    "enum": _is_choice,
    "examples": _says_nothing,
    "format": _says_nothing,
    "items": _are_items,
    "properties": _are_members,
    "required": _are_there,
    "type": _is_of_type,
}
