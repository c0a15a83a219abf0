"""Tools and calls as others write them: Python types, calls."""

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
from seal.core.schemas import schema_validator
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
