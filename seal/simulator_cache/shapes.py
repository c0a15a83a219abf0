"""What a tool's answer looks like, read as one JSON Schema whatever form the record has.

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
ANYTHING = {"type": ["null", "string", "number", "boolean", "object", "array"]}
LEAVES: dict[str, JSON] = {
    "str": {"type": ["string", "null"]},
    "int": {"type": ["integer", "null"]},
    "float": {"type": ["number", "null"]},
    "bool": {"type": ["boolean", "null"]},
    "NoneType": ANYTHING,
    "list": {"type": ["array", "null"]},
    "dict": {"type": ["object", "null"]},
    "empty list": {"type": ["array", "null"], LENGTH: 0},
    "empty dict": {"type": ["object", "null"]},
}
"""Leaf of a type template to its schema."""
LIST = re.compile(r"list of (\w+) with length (\d+)")
"""A leaf of a type template that is a list."""
LIST_LENGTH = "_list_length"
"""Key of a type template that says how many such objects there were."""


def response_schema(returns: JSON) -> dict[str, JSON] | None:
    """Return the JSON Schema of a tool's answers, or None where the record shows no shape.

    Templates and examples are read leniently, as one answer is all that was seen: any key may be
    absent, any value null; but an object must have at least one of the known keys.

    Args:
        returns: `Tool.returns`.
    """
    if isinstance(returns, str) and not is_template(returns):
        from seal.simulator_cache.observed_shapes import parsed

        returns = parsed(returns)
    if returns is None:
        return None
    if isinstance(returns, dict) and _looks_like_schema(returns) and not is_template(returns):
        return returns if _is_usable(returns) else None
    from seal.simulator_cache.observed_shapes import observed_schema

    schema = observed_schema(returns)
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
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
        for reference in _references(schema):
            resolve(reference, schema)
    except (SchemaError, LookupError):
        return False
    return True


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
            isinstance(item, int) if key == LIST_LENGTH else is_template(item)
            for key, item in value.items()
        )
    if isinstance(value, list):
        return all(map(is_template, value))
    return isinstance(value, str) and (value in LEAVES or LIST.fullmatch(value) is not None)


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
