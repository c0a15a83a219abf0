"""Dialects of JSON Schema, read as their source means them: older drafts, OpenAPI, Gemini, Python.

What is not of the standard (2020-12) and has one meaning is written as the standard has it:

- types: `"STRING"` (Gemini), `"dict"`, `"float"` (Python, BFCL);
- `nullable` (OpenAPI 3.0), `x-nullable` (Swagger 2): null is right too;
- `exclusiveMinimum: true` beside `minimum` (draft 4, OpenAPI 3.0): the bound itself is wrong;
- a list of `items` and `additionalItems` (drafts 4 to 2019-09): `prefixItems` and `items`;
- `dependencies` (drafts 3 to 7): `dependentRequired` and `dependentSchemas`;
- `required: true` within a property (draft 3): the map requires its name;
- an `enum` of texts where the type is a number or a truth value (Gemini takes texts alone): what
  the texts write.

All else stays as it is, also what is wrong: `seal.core.schema_faults` finds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seal.core import JSON
from seal.core.schemas import MAX_SCHEMA_DEPTH, TYPES
from seal.core.values import nested_deeper
from seal.pools.reading.tool_schemas import python_type, typed

_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords that map names to schemas."""
_INNER = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")
_SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
_BOUNDS = {"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"}


def standard_schema(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return a schema with what a dialect writes otherwise as the standard has it.

    Args:
        schema: Of an argument map, of any source; it stays as it is. One that is nested deeper than
            `MAX_SCHEMA_DEPTH` is returned unread.
    """
    if nested_deeper(schema, MAX_SCHEMA_DEPTH):
        return dict(schema)
    found: dict[str, JSON] = _standard(schema)
    return found


def _standard(schema: Any) -> Any:
    if not isinstance(schema, Mapping):
        return schema
    found = dict(schema)
    if isinstance(found.get("items"), list):
        found["prefixItems"] = found.pop("items")
        if "additionalItems" in found:
            found["items"] = found.pop("additionalItems")
    if isinstance(found.get("dependencies"), Mapping):
        _part_dependencies(found)
    _require_by_map(found)
    for keyword in _BY_NAME:
        if isinstance(found.get(keyword), Mapping):
            found[keyword] = {name: _standard(part) for name, part in found[keyword].items()}
    for keyword in _INNER:
        if isinstance(found.get(keyword), Mapping):
            found[keyword] = _standard(found[keyword])
    for keyword in _SEVERAL:
        if isinstance(found.get(keyword), list):
            found[keyword] = [_standard(part) for part in found[keyword]]
    if "type" in found:
        _name_types(found)
    for bound, inclusive in _BOUNDS.items():
        if isinstance(found.get(bound), bool) and found.pop(bound) and inclusive in found:
            found[bound] = found.pop(inclusive)
    _write_values(found)
    marks = [found.pop(name) for name in ("nullable", "x-nullable") if _is_truth(found, name)]
    return _or_null(found) if True in marks else found


def _part_dependencies(schema: dict[str, Any]) -> None:
    """Write what a name asks for, once it is there, under the keywords of its two kinds."""
    for name, asked in schema.pop("dependencies").items():
        names = [asked] if isinstance(asked, str) else asked
        keyword = "dependentRequired" if isinstance(names, list) else "dependentSchemas"
        schema[keyword] = {name: names, **schema.get(keyword, {})}


def _is_truth(schema: Mapping[str, Any], name: str) -> bool:
    return isinstance(schema.get(name), bool)


def _require_by_map(schema: dict[str, Any]) -> None:
    """Move `required: true` of properties to the map's own list, if it has one or none."""
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return
    marked = {
        name: part["required"]
        for name, part in properties.items()
        if isinstance(part, Mapping) and isinstance(part.get("required"), bool)
    }
    if marked:
        schema["properties"] = {
            name: {k: v for k, v in part.items() if k != "required"} if name in marked else part
            for name, part in properties.items()
        }
        needed = [name for name, is_needed in marked.items() if is_needed and name not in required]
        schema["required"] = [*required, *needed]


def _name_types(schema: dict[str, Any]) -> None:
    """Write types by the standard's names; of a word that says more, such as `List[int]`, all."""
    types = schema["type"]
    if isinstance(types, list):
        schema["type"] = [_type_name(each) for each in types]
    elif isinstance(types, str) and types not in TYPES:
        if types.lower() in TYPES:
            schema["type"] = types.lower()
        elif (read := python_type(types)).known and types.strip():
            del schema["type"]
            schema |= {name: value for name, value in read.schema.items() if name not in schema}


def _type_name(word: Any) -> Any:
    if not isinstance(word, str) or word in TYPES:
        return word
    return word.lower() if word.lower() in TYPES else python_type(word).schema.get("type", word)


def _write_values(schema: dict[str, Any]) -> None:
    """Read the texts of an enum as the values that the type wants, if all of them write one."""
    values, kind = schema.get("enum"), schema.get("type")
    if not isinstance(values, list) or kind not in ("integer", "number", "boolean"):
        return
    if values and all(isinstance(value, str) for value in values):
        read = [typed(str(kind), value) for value in values]
        if None not in read:
            schema["enum"] = read


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the same values and null."""
    types = schema.get("type")
    if "$ref" in schema or types is None:
        others = schema.keys() - {"description", "title", "default", "example", "examples"}
        said = {name: schema[name] for name in schema if name not in others}
        return {**said, "anyOf": [{name: schema[name] for name in others}, {"type": "null"}]}
    listed = list(types) if isinstance(types, list) else [types]
    found = {**schema, "type": listed if "null" in listed else [*listed, "null"]}
    if isinstance(values := schema.get("enum"), list) and None not in values:
        found["enum"] = [*values, None]
    return found
