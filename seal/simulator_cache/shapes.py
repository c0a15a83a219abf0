"""Reads the shape of a tool's answers as a JSON Schema, whatever form the document has.

`Tool.returns` may be a JSON Schema; a type template as ToolBench records it, such as
`{"items": [{"price": "float", "_list_length": 4}], "tags": ["list of str with length 2"]}`; a
template cut off in the middle of its JSON text; an example; or prose, which gives no shape. `both`
joins what several schemas ask of the same value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from seal.core import JSON
from seal.core.schemas import is_sound

LENGTH = "x-length"
"""Keyword of our own: how many elements the upstream answer had."""

_TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}
_MARKS = {"properties", "enum", "const", "anyOf", "oneOf", "allOf", "$ref", "items"}
_KEYWORDS = re.compile(
    "type|required|title|description|default|examples?|format|pattern|nullable|deprecated|not"
    "|(additional|pattern|min|max)?Properties|propertyNames|properties|dependent(Required|Schemas)"
    "|prefixItems|items|uniqueItems|contains|(min|max)(Contains|Items|Length)|multipleOf|enum|const"
    "|minimum|maximum|exclusive(Minimum|Maximum)|(any|one|all)Of|if|then|else|definitions"
    "|(read|write)Only|[$].*|x-.*"
)
_ANYTHING = {"type": ["null", "string", "number", "boolean", "object", "array"]}
_LEAVES: dict[str, JSON] = {
    "str": {"type": ["string", "null"]},
    "int": {"type": ["integer", "null"]},
    "float": {"type": ["number", "null"]},
    "bool": {"type": ["boolean", "null"]},
    "NoneType": _ANYTHING,
    "list": {"type": ["array", "null"]},
    "dict": {"type": ["object", "null"]},
    "empty list": {"type": ["array", "null"], LENGTH: 0},
    "empty dict": {"type": ["object", "null"]},
}
"""Leaf of a type template to its schema."""
_LIST = re.compile(r"list of (\w+) with length (\d+)")
"""A leaf of a type template that is a list."""
_LIST_LENGTH = "_list_length"
"""Key of a type template that says how many such objects there were."""


def response_schema(returns: JSON) -> dict[str, JSON] | None:
    """Return the JSON Schema of a tool's answers; None: its document shows no shape.

    Templates and examples are read leniently, because they show a single answer. Any key may be
    absent and any value null, but an object must have at least one of the known keys.

    Args:
        returns: `Tool.returns`.
    """
    if isinstance(returns, str) and not is_template(returns):
        returns = _parsed(returns)
    if returns is None:
        return None
    if isinstance(returns, dict) and _looks_like_schema(returns) and not is_template(returns):
        return returns if _is_usable(returns) else None
    schema = _from_template(returns) if is_template(returns) else _from_example(returns)
    known = list(schema.get("properties", {}))
    return {**schema, "anyOf": [{"required": [name]} for name in known]} if known else schema


def resolve(reference: str, root: JSON) -> JSON:
    """Return the part of a schema that a local reference such as `#/$defs/user` names.

    Raises:
        LookupError: The reference is not local, or leads nowhere.
    """
    if not reference.startswith("#"):
        raise LookupError(reference)
    found = root
    for part in reference[1:].split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and not name.isdecimal():
            raise LookupError(reference)
        try:
            found = found[int(name)] if isinstance(found, list) else found[name]
        except TypeError as error:
            raise LookupError(reference) from error
    return found


def _looks_like_schema(value: dict[str, JSON]) -> bool:
    if not all(map(_KEYWORDS.fullmatch, value)):
        return False
    kinds = value.get("type")
    if "type" in value:
        return set(kinds if isinstance(kinds, list) else [kinds]) <= _TYPES if kinds else False
    return bool(_MARKS & value.keys())


def _is_usable(schema: dict[str, JSON]) -> bool:
    try:
        for reference in _references(schema):
            resolve(reference, schema)
    except LookupError:
        return False
    if is_sound(schema):
        return True
    # Few schemas have keywords besides: the others do not load the standard's own schema.
    from seal.core.schema_faults import meta_validator

    return meta_validator().is_valid(schema)


def _references(value: JSON) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _references(item)


def is_template(value: JSON) -> bool:
    """Tell whether a value is a type template."""
    if isinstance(value, dict):
        return all(
            isinstance(item, int) if key == _LIST_LENGTH else is_template(item)
            for key, item in value.items()
        )
    if isinstance(value, list):
        return all(map(is_template, value))
    return isinstance(value, str) and (value in _LEAVES or _LIST.fullmatch(value) is not None)


def both(left: dict[str, Any], right: dict[str, Any]) -> dict[str, Any]:
    """Return a schema that asks for both, as far as that can be said without `allOf`."""
    joined = {**left, **right}
    for keyword in ("properties", "$defs"):
        if keyword in left and keyword in right:
            mine, theirs = left[keyword], right[keyword]
            shared = {n: {"allOf": [mine[n], theirs[n]]} for n in mine.keys() & theirs.keys()}
            joined[keyword] = {**mine, **theirs, **shared}
    if "required" in left and "required" in right:
        joined["required"] = list(dict.fromkeys([*left["required"], *right["required"]]))
    if "type" in left and "type" in right:
        joined["type"] = _common_types(listed(left["type"]), listed(right["type"]))
    if "enum" in left and "enum" in right:
        joined["enum"] = [value for value in left["enum"] if value in right["enum"]]
    for keyword, choose in _TIGHTEN.items():
        if keyword in left and keyword in right:
            joined[keyword] = choose(left[keyword], right[keyword])
    return joined


_TIGHTEN = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}


def _common_types(left: list[str], right: list[str]) -> list[str]:
    common = [t for t in left if t in right or (t == "integer" and "number" in right)]
    return common or [t for t in right if t == "integer" and "number" in left]


def listed(value: Any) -> list[str]:
    """Return the types that a `type` keyword names."""
    return value if isinstance(value, list) else [value]


def _parsed(text: str) -> JSON:
    """Return the value of a JSON text, whole or cut off; None for prose."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    from pydantic_core import from_json

    try:
        value = from_json(text, allow_partial=True)
    except ValueError:
        return None
    return value or None


def _from_template(value: JSON) -> dict[str, Any]:
    if isinstance(value, dict):
        return {
            "type": ["object", "null"],
            "properties": {k: _from_template(v) for k, v in value.items() if k != _LIST_LENGTH},
        }
    if isinstance(value, list):
        return _list_template(value)
    found = _LIST.fullmatch(value)
    if found is None:
        return dict(_LEAVES[value])
    items = _LEAVES.get(found[1], _ANYTHING)
    return {"type": ["array", "null"], "items": items, LENGTH: int(found[2])}


def _list_template(value: list[JSON]) -> dict[str, Any]:
    if not value:
        return dict(_LEAVES["empty list"])
    first = value[0]
    if isinstance(first, str) and _LIST.fullmatch(first):
        return _from_template(first)
    schema = {"type": ["array", "null"], "items": _from_template(first)}
    if isinstance(first, dict) and _LIST_LENGTH in first:
        schema[LENGTH] = first[_LIST_LENGTH]
    return schema


def _from_example(value: JSON) -> dict[str, Any]:
    if value is None:
        return dict(_ANYTHING)
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
