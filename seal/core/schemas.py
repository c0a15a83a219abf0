"""JSON Schemas as benchmarks have them, made usable, and quick checks of values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from seal.core.types import JSON
from seal.core.values import nested_deeper

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

# -- JSON Schemas as benchmarks have them: odd, broken, or referring to what is not there.
#
# A schema is never a reason to fail: what JSON Schema (2020-12) does not allow in it is left out,
# so that it accepts anything in that place. Nothing is fetched, whatever a reference says.
#
# A validator says what is wrong, but making one takes long. `surely_accepts` and `meets` look at
# the few keywords that nearly all tools have, in a hundredth of the time: whatever they accept is
# right; of the rest nothing is said.

MAX_DEPTH = 50
"""Levels of lists and maps in arguments; deeper ones are rejected."""
MAX_SCHEMA_DEPTH = 64
"""Levels of lists and maps of which a schema may consist."""

TYPES: dict[str, type | tuple[type, ...]] = {
    "array": list,
    "boolean": bool,
    "integer": int,
    "null": type(None),
    "number": (int, float),
    "object": dict,
    "string": str,
}
_ELSEWHERE = frozenset({"$ref", "allOf", "anyOf", "oneOf", "patternProperties"})
"""Keywords that may declare names outside of `properties`."""
_PLAIN = frozenset({"type", "properties", "required", "additionalProperties", "description"})
"""Keywords of a map with declared names; `CallValidator` takes no others, said or not."""


def schema_validator(schema: Mapping[str, JSON]) -> Validator:
    """Return a validator of the usable part of a schema.

    It raises for no JSON value of ordinary depth. Under a schema that refers to itself, a value of
    some hundred levels runs into Python's recursion limit.
    """
    return validator_of(usable_schema(schema))


def validator_of(schema: JSON) -> Validator:
    """Return a validator of a schema as it is.

    It is asked in bounded time (`seal.core.schema_keywords`), and nothing is fetched: the default
    registry asks the network.
    """
    from referencing import Registry

    from seal.core.schema_keywords import validator_class

    return validator_class()(schema, registry=Registry())


def usable_schema(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a copy of the schema without what JSON Schema cannot use.

    Left out are keywords whose value is not what the standard wants (a type such as "any" or
    "dict", `required: true`, a pattern that does not compile), an `enum` without values, and
    references that lead nowhere, elsewhere or back to themselves; what should be a schema and is
    none becomes `true`. So each of these accepts anything, and so does a schema that is nested
    deeper than `MAX_SCHEMA_DEPTH`.
    """
    if nested_deeper(schema, MAX_SCHEMA_DEPTH):
        return {}
    usable: dict[str, JSON] = {name: _copied(value) for name, value in schema.items()}
    if is_sound(usable):
        return usable

    from seal.core.schema_faults import mend

    mend(usable)
    return usable


def _copied(value: Any) -> Any:
    """Return a copy in which no two places are one object, so that each is mended by itself."""
    if isinstance(value, dict):
        return {name: _copied(inner) for name, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def required_names(schema: Mapping[str, JSON]) -> list[str]:
    """Return the names of arguments that a schema requires."""
    required = schema.get("required")
    return (
        [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    )


def is_open(schema: Mapping[str, JSON]) -> bool:
    """Tell whether a schema admits names that it does not declare, or declares them elsewhere."""
    further = schema.get("additionalProperties")
    return further is True or isinstance(further, dict) or not _ELSEWHERE.isdisjoint(schema)


def is_sound(schema: Any) -> bool:
    """Tell of the schemas that nearly all tools have, in a hundredth of the time, that they are."""
    return schema is True or (
        isinstance(schema, dict)
        and all(name in _SOUND and _SOUND[name](value) for name, value in schema.items())
    )


def _are_sound(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(is_sound, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len(set(value)) == len(value)


def _is_type(value: Any) -> bool:
    kinds = value if isinstance(value, list) else [value]
    return _are_names(kinds) and bool(kinds) and TYPES.keys() >= set(kinds)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_pattern(value: Any) -> bool:
    from seal.core.schema_keywords import is_pattern

    return is_pattern(value)


_SOUND: dict[str, Callable[[Any], bool]] = {
    "$schema": _is_text,
    "type": _is_type,
    "description": _is_text,
    "title": _is_text,
    "default": lambda value: True,
    "example": lambda value: True,
    "examples": lambda value: isinstance(value, list),
    "enum": lambda value: isinstance(value, list) and bool(value),
    "const": lambda value: True,
    **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), _are_sound),
    "uniqueItems": lambda value: isinstance(value, bool),
    "required": _are_names,
    "properties": lambda value: isinstance(value, dict) and all(map(is_sound, value.values())),
    "items": is_sound,
    "additionalProperties": lambda value: value is False or is_sound(value),
    "format": _is_text,
    "pattern": _is_pattern,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _is_number),
    **dict.fromkeys(("minItems", "maxItems", "minLength", "maxLength"), _is_count),
}


def surely_accepts(schema: Mapping[str, JSON], arguments: Mapping[str, JSON]) -> bool:
    """Tell whether arguments meet a schema of declared names, as far as can be told at a glance.

    False says nothing: a schema may have keywords that are not looked at here.
    """
    properties, required = schema.get("properties"), schema.get("required", [])
    if not schema.keys() <= _PLAIN or schema.get("type") != "object":
        return False
    if schema.get("additionalProperties", False) is not False:
        return False
    if not isinstance(properties, dict) or not arguments.keys() <= properties.keys():
        return False
    if nested_deeper(arguments, MAX_DEPTH) or not _has_all(required, arguments):
        return False
    return all(meets(properties[name], value) for name, value in arguments.items())


def meets(schema: JSON, value: JSON) -> bool:
    """Tell whether a value surely is what a schema of plain keywords asks for.

    Args:
        schema: As it stands in a tool's `properties`.
        value: Of ordinary depth.
    """
    return isinstance(schema, dict) and all(
        _is_met(keyword, wanted, value) for keyword, wanted in schema.items()
    )


def _is_met(keyword: str, wanted: JSON, value: JSON) -> bool:
    """Tell whether a value surely is right by one keyword; by one that is not known it is not."""
    match keyword:
        case "type":
            return _is_of_type(wanted, value)
        case "default" | "description" | "examples" | "format" | "title":
            return True
        case "enum":
            return isinstance(wanted, list) and isinstance(value, str) and value in wanted
        case "anyOf":
            return isinstance(wanted, list) and any(meets(schema, value) for schema in wanted)
        case "items":
            return not isinstance(value, list) or all(meets(wanted, item) for item in value)
    if not isinstance(value, dict):
        return keyword in ("additionalProperties", "properties", "required")
    match keyword:
        case "additionalProperties":
            return all(meets(wanted, item) for item in value.values())
        case "properties":
            known = wanted if isinstance(wanted, dict) else None
            return known is not None and all(
                meets(known[name], item) for name, item in value.items() if name in known
            )
    return keyword == "required" and _has_all(wanted, value)


def _has_all(names: JSON, value: Mapping[str, JSON]) -> bool:
    return isinstance(names, list) and all(isinstance(n, str) and n in value for n in names)


def _is_of_type(wanted: JSON, value: JSON) -> bool:
    if isinstance(wanted, list):
        return any(_is_of_type(kind, value) for kind in wanted if isinstance(kind, str))
    if isinstance(value, bool):
        return bool(wanted == "boolean")
    return isinstance(wanted, str) and wanted in TYPES and isinstance(value, TYPES[wanted])
