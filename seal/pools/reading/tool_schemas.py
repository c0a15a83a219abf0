"""Tools and calls as others write them: Python types, calls, dialects of JSON Schema."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from seal.core import JSON, DataError, shortened
from seal.core.schemas import MAX_SCHEMA_DEPTH, TYPES, schema_validator
from seal.core.text import counted
from seal.core.values import (
    MAX_DEPTH,
    json_text,
    literal_value,
    nested_deeper,
    parse_expression,
    well_formed,
)
from seal.pools.reading.files import expect, json_of_text

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


# -- Parameters whose types are Python's words, as JSON Schema.
#
# APIGen, and ToolRet after it, describe a tool's parameters as a map from the name to `{type,
# description, default}`. The type is an annotation ("List[int]", "Dict[str, Any]"), with ",
# optional" at its end where the argument may be left out. There is no `required` list, so a rule
# stands in:
#
#     required = neither ", optional" nor Optional[...], and no default; "" and null are no default
#
# Upstream writes "" where the API names no default: so it stands at nearly all optional parameters,
# and at others whose every gold call gives a value. A default that upstream states is what its
# functions use when the argument is left out. So such an argument is never required. A default that
# does not fit the type is left out of the schema and counted.

_SCALARS = {
    "str": "string",
    "string": "string",
    "text": "string",
    "char": "string",
    "date": "string",
    "datetime": "string",
    "time": "string",
    "callable": "string",  # JSON holds no function: gold calls name one or write its source
    "int": "integer",
    "integer": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "number": "number",
    "complex": "string",
    "bool": "boolean",
    "boolean": "boolean",
    "none": "null",
    "nonetype": "null",
}
_LISTS = frozenset({"list", "array", "set", "frozenset", "sequence", "iterable", "ndarray"})
_MAPS = frozenset({"dict", "object", "mapping", "map", "defaultdict", "ordereddict", "json"})
_ANYTHING = frozenset({"any", "optional", "union", ""})
_MARK = re.compile(r"(?:,\s*|\(\s*)optional\b\s*\)?|,\s*default\b.*", re.IGNORECASE)
_CLOSING = {"[": "]", "(": ")", "{": "}"}


@dataclass(frozen=True, slots=True)
class PythonType:
    """What a type word says."""

    schema: dict[str, JSON]
    optional: bool = False
    """True: the argument may be left out."""
    known: bool = True
    """False: a word of it is unknown, and any value passes there."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """A tool's parameters as one JSON Schema, and what was met in making it."""

    schema: dict[str, JSON]
    counts: Counter[str] = field(default_factory=Counter)
    """`unknown_types` and `unusable_defaults`."""


@lru_cache(maxsize=1 << 12)
def python_type(text: str) -> PythonType:
    """Return what a type such as "List[int], optional" says; any text has an answer.

    A tuple's items may come in any order of their types, for servers know lists of one item schema
    only; its length counts.
    """
    word, marks = _MARK.subn("", text)
    schema, optional, known = _parse(word.strip())
    said = marks and any("optional" in mark.group().lower() for mark in _MARK.finditer(text))
    return PythonType(schema, bool(said) or optional, known)


def _parse(text: str, depth: int = 16) -> tuple[dict[str, JSON], bool, bool]:
    """Return schema, whether it is Optional, and whether all words are known."""
    if not depth:
        return {}, False, False
    choices = _split(text, "|")
    if len(choices) > 1:
        return _union(choices, depth)
    head, bracket, rest = text.strip().strip("'\"").partition("[")
    word = head.strip().lower().rpartition(".")[2]
    inner = _split(rest.rpartition("]")[0], ",") if bracket else []
    if word == "optional" and inner:
        return _union([*inner, "None"], depth)
    if word == "union" and inner:
        return _union(inner, depth)
    if word == "literal" and inner:
        return {"enum": [_literal_type(choice) for choice in inner]}, False, True
    if word in _LISTS:
        items, _, known = _parse(inner[0], depth - 1) if inner else ({}, False, True)
        return {"type": "array", "items": items}, False, known
    if word == "tuple":
        return _tuple(inner, depth)
    if word in _MAPS:
        values, _, known = _parse(inner[1], depth - 1) if len(inner) == 2 else ({}, False, True)
        schema = {"type": "object", "additionalProperties": values} if values else {}
        return schema or {"type": "object"}, False, known
    if word in _SCALARS:
        return {"type": _SCALARS[word]}, False, True
    return {}, False, word in _ANYTHING


def _union(choices: list[str], depth: int) -> tuple[dict[str, JSON], bool, bool]:
    parsed = [_parse(choice, depth - 1) for choice in choices]
    schemas: list[dict[str, JSON]] = []
    for schema, _, _ in parsed:
        if schema not in schemas:
            schemas.append(schema)
    optional = {"type": "null"} in schemas or any(inner for _, inner, _ in parsed)
    known = all(inner for _, _, inner in parsed)
    if {} in schemas:
        return {}, optional, known
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}, optional, known


def _tuple(inner: list[str], depth: int) -> tuple[dict[str, JSON], bool, bool]:
    open_ended = "..." in inner
    kinds = [kind for kind in inner if kind not in ("...", "")]
    if not kinds:
        return {"type": "array", "items": {}}, False, True
    items, _, known = _union(kinds, depth)
    length = {} if open_ended else {"minItems": len(kinds), "maxItems": len(kinds)}
    return {"type": "array", "items": items, **length}, False, known


def _split(text: str, mark: str) -> list[str]:
    """Return the parts of a text between marks that stand outside all brackets."""
    parts, open_brackets = [""], 0
    for letter in text:
        open_brackets += (letter in _CLOSING) - (letter in _CLOSING.values())
        if letter == mark and open_brackets == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts] if text.strip() else []


def _literal_type(text: str) -> JSON:
    value = literal(text)
    return text.strip("'\"") if value is None else value


def literal(text: str) -> JSON:
    """Return the value that a text writes as JSON or as a Python literal; None for any other text.

    Nothing is evaluated. What JSON cannot hold, such as a set, is no such value.
    """
    try:
        return json_of_text(text)
    except ValueError:
        pass
    try:
        value = literal_value(text)
    except ValueError:
        return None
    return _plain(value) if not nested_deeper(value, MAX_DEPTH) else None


def _plain(value: Any) -> JSON:
    """Return a Python literal as JSON; None where it holds what JSON cannot."""
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    return value if isinstance(value, (str, bool, int, float)) else None


def parameters_schema(parameters: Any) -> Parameters:
    """Return a parameters map as the JSON Schema of an argument map.

    Args:
        parameters: Name to `{type, description, default}`, or a JSON Schema already, which is taken
            as it is; None for none.

    Raises:
        DataError: It is neither.
    """
    if parameters is None:
        parameters = {}
    expect(parameters, dict, "parameters")
    is_object = parameters.get("type", "object") in ("object", "dict")
    if isinstance(parameters.get("properties"), dict) and is_object:
        return Parameters(_closed({**parameters, "type": "object"}))
    counts: Counter[str] = Counter()
    properties, required = {}, []
    for name, described in parameters.items():
        expect(
            described, dict, f"parameter {name!r}", "an object with type, description and default"
        )
        properties[name], needed = _property(described, counts)
        if needed:
            required.append(name)
    return Parameters(arguments_schema(properties, required), +counts)


def arguments_schema(properties: dict[str, JSON], required: list[Any]) -> dict[str, JSON]:
    """Return the JSON Schema of an argument map that takes no others."""
    return _closed({"type": "object", "properties": properties, "required": required})


def default_or_example(value: JSON, fitting: JSON, needed: bool) -> dict[str, JSON]:
    """Return how a schema states the value that upstream gives for an argument.

    Args:
        value: As upstream writes it.
        fitting: As the type wants it; None: it cannot be.
        needed: Whether the argument is required, so that it has no default.
    """
    if fitting is None or needed:
        return {"examples": [value if fitting is None else fitting]}
    return {"default": fitting}


def _closed(schema: dict[str, JSON]) -> dict[str, JSON]:
    return schema if "additionalProperties" in schema else {**schema, "additionalProperties": False}


def _property(described: Mapping[str, Any], counts: Counter[str]) -> tuple[dict[str, JSON], bool]:
    """Return a parameter's schema and whether it is required."""
    word = described.get("type", "")
    if not isinstance(word, str):
        word = json_text(word)
    kind = python_type(word)
    counts["unknown_types"] += not kind.known
    schema = dict(kind.schema)
    if described.get("description"):
        schema["description"] = str(described["description"])
    default = described.get("default")
    if default is None or default == "":
        return schema, not kind.optional
    value = typed(word, default)
    if value is None:
        counts["unusable_defaults"] += 1
    else:
        schema["default"] = value
    return schema, False


def typed(word: str, value: JSON) -> JSON:
    """Return a value as its type wants it; None where it cannot be.

    A text that does not fit is read as JSON or as a Python literal ("250", "True", "[1, 2]"); a
    number where a text is wanted becomes its digits.

    Args:
        word: A type, as `python_type` reads it.
        value: A default as upstream writes it.
    """
    candidates = [value]
    if isinstance(value, str):
        candidates += [literal(value), literal(value.capitalize())]
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        candidates.append(str(value))
    validator = _validator(word)
    fitting = (c for c in candidates if c is not None and validator.is_valid(c))
    return next(fitting, None)


@lru_cache(maxsize=1 << 10)
def _validator(word: str) -> Validator:
    return schema_validator(python_type(word).schema)


# -- Calls that are written as Python, `name(argument=value, ...)`: read, never evaluated.


def parsed_call(text: Any) -> ast.Call:
    """Return the tree of a call.

    Raises:
        DataError: The text is none.
    """
    problem = f"{shortened(text)} is no call; expected function(argument=value, ...)"
    if not isinstance(text, str):
        raise DataError(problem)
    try:
        parsed = parse_expression(text)
    except ValueError as error:
        raise DataError(problem) from error
    if not isinstance(parsed, ast.Call) or not isinstance(parsed.func, (ast.Name, ast.Attribute)):
        raise DataError(problem)
    return parsed


def given_arguments(call: ast.Call, names: Sequence[str]) -> dict[str, JSON]:
    """Return the values of a call by argument.

    Args:
        call: As `parsed_call` gives it.
        names: Of the function's arguments, in their order.

    Raises:
        DataError: An argument is no literal, unnamed beyond `names`, or given twice.
    """
    text, name = ast.unparse(call), ast.unparse(call.func)
    if len(call.args) > len(names):
        raise DataError(
            f"{shortened(text)}: {name} has {counted(len(names), 'argument')}, not so many"
        )
    found: dict[str, JSON] = {}
    given = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    for argument, node in given:
        if argument is None or argument in found:
            raise DataError(f"{shortened(text)}: expected each argument once, by its name")
        found[argument] = _literal_value(node, text)
    return found


def _literal_value(node: ast.expr, text: str) -> JSON:
    try:
        return _as_json(literal_value(node))
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"{shortened(text)}: {shortened(ast.unparse(node))} is no literal that JSON can hold"
        ) from error


def _as_json(value: Any) -> JSON:
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    if isinstance(value, dict):
        return {_key(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, str) and well_formed(value) != value:
        raise ValueError("JSON cannot hold half of a surrogate pair")
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(f"JSON cannot hold {type(value).__name__}")


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise ValueError("a key that is no text")
    return key


# -- Dialects of JSON Schema, read as their source means them: old drafts, OpenAPI, Gemini, Python.
#
# What is not of the standard (2020-12) and has one meaning is written as the standard has it:
#
# - types: `"STRING"` (Gemini), `"dict"`, `"float"` (Python, BFCL);
# - `nullable` (OpenAPI 3.0), `x-nullable` (Swagger 2): null is right too;
# - `exclusiveMinimum: true` beside `minimum` (draft 4, OpenAPI 3.0): the bound itself is wrong;
# - a list of `items` and `additionalItems` (drafts 4 to 2019-09): `prefixItems` and `items`;
# - `dependencies` (drafts 3 to 7): `dependentRequired` and `dependentSchemas`;
# - `required: true` within a property (draft 3): the map requires its name;
# - an `enum` of texts where the type is a number or a truth value (Gemini takes texts alone): what
#   the texts write;
# - null in the place of a list or map of a keyword (Go, C#): the keyword is not there.
#
# All else stays as it is, also what is wrong: `seal.core.schema_faults` finds it.

_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
"""Keywords that map names to schemas."""
_INNER = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")
_SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")
_ABSENT = ("required", "enum", "items", *_BY_NAME, *_SEVERAL)
"""Keywords whose value null says that they are not there."""
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
    found = {k: v for k, v in schema.items() if v is not None or k not in _ABSENT}
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
