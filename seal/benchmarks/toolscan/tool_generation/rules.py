"""The rules that a written tool must meet, whoever wrote it; a model never judges.

A draft is the JSON text of one object: `name`, `description`, `parameters` (JSON Schema),
`examples` (argument maps of calls), and where known `returns` (JSON Schema of the answer).

A model's pattern must not hold up a run. Python's `re` tries a repeated group that repeats
something itself in more ways than can be counted: `^(a+)+$` on 40 letters and a comma does not end.
Such patterns are refused by their form, some harmless ones with them. A group may repeat if it has
neither a repetition nor a choice inside. It may repeat up to nine times if what is inside has an
end: `^([0-9]{1,3}[.]){3}[0-9]{1,3}$`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import orjson

from seal.benchmarks.toolscan.tool_generation.constraints import disagreements
from seal.benchmarks.toolscan.tool_generation.descriptions import NAME, Description
from seal.core import JSON, Tool, ToolCall, shortened
from seal.core.canonical import digest, equal
from seal.core.package_data import shipped_words
from seal.core.plain import nested_deeper
from seal.core.schemas import schema_validator
from seal.core.text import words
from seal.core.validation import CallValidator
from seal.pools.lint.tools import PLACEHOLDERS, description_fault

DEEPEST = 5
"""Levels of a parameter: it is the first, its members or items are the second."""
MOST_PARAMETERS = 20
MOST_DEEP = 64
"""Levels of a draft that are read at all."""

_NEEDED = {"name": str, "description": str, "parameters": dict, "examples": list}
_FIELDS = (*_NEEDED, "returns")
_KINDS: dict[type, str] = {str: "a text", dict: "an object", list: "a list"}
_FENCE = re.compile(r"\s*```(?:json)?\s*\n(.*?)\n?```\s*", re.DOTALL)
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")

_ANY = frozenset({"type", "description", "default", "enum", "examples"})
_BOUNDS = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "integer": frozenset(
        {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    ),
    "array": frozenset({"items", "minItems", "maxItems", "uniqueItems"}),
    "object": frozenset({"properties", "required", "additionalProperties"}),
    "boolean": frozenset[str](),
}
_KEYWORDS = {**_BOUNDS, "number": _BOUNDS["integer"]}
"""Type to the keywords that mean something for it."""
_ENDS = (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"))
_COMMON = shipped_words(__package__, "common_words.txt")
"""Words that do not tell one tool from another."""

_SINGLE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""What stands for one character."""
_GROUP = re.compile(r"\((?P<inside>[^()]*)\)(?P<times>[*+]|\{\d*,?\d*\}|)")
"""An innermost group, with how often it is repeated."""
_FEW = re.compile(r"\{\d?,?\d\}")
_ENDLESS = re.compile(r"[*+]|\{\d*,\}")
_SEVERAL = re.compile(rf"{_ENDLESS.pattern}|\{{\d*,\d+\}}|\|")


class Fault(NamedTuple):
    """Why a draft is rejected."""

    rule: str
    """invalid_json, truncated, fields, name, description, schema, constraints or examples."""
    text: str
    """For who wrote it."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A tool as it was written; parts may be of any kind until `faults` finds none."""

    name: str
    description: str
    parameters: dict[str, JSON]
    examples: list[dict[str, JSON]]
    returns: dict[str, JSON] | None = None

    def tool(self, id: str, category: str = "") -> Tool:
        """Return the draft as a tool."""
        return Tool(id, self.name, self.description, self.parameters, category, self.returns)


def read_draft(text: str) -> Draft | Fault:
    """Return the draft that a text holds, or why it holds none.

    A fence of Markdown around the whole object is no fault.
    """
    fenced = _FENCE.fullmatch(text)
    try:
        value = orjson.loads(fenced[1] if fenced else text)
    except orjson.JSONDecodeError as error:
        return Fault("invalid_json", f"the answer is not JSON: {error}")
    if not isinstance(value, dict):
        return Fault("invalid_json", f"expected one JSON object, got {shortened(value)}")
    if nested_deeper(value, MOST_DEEP):
        return Fault("schema", f"nested deeper than {MOST_DEEP} levels")
    for name in _NEEDED:
        if name not in value:
            return Fault("fields", f"the field {name!r} is missing")
    for name in value:
        if name not in _FIELDS:
            return Fault("fields", f"no field {name!r}; known: {', '.join(_FIELDS)}")
    for name, kind in _NEEDED.items():
        if not isinstance(value[name], kind):
            return Fault("fields", f"{name}: expected {_KINDS[kind]}, got {shortened(value[name])}")
    if not isinstance(value.get("returns"), (dict, type(None))):
        return Fault("fields", f"returns: expected an object, got {shortened(value['returns'])}")
    return Draft(**{name: value[name] for name in _FIELDS if name in value})


def faults(draft: Draft, asked: Description, taken: Collection[str] = ()) -> list[Fault]:
    """Return everything that is wrong with a draft, first what tells most.

    Args:
        draft: As `read_draft` gives it.
        asked: What the tool is to do.
        taken: Names that other tools have, whatever their case.
    """
    returned = _whole(draft.returns, "returns", False) if draft.returns is not None else ()
    found = {
        "name": [*_name(draft, asked, taken)],
        "description": [*_description(draft, asked)],
        "schema": [*_parameters(draft.parameters), *returned],
    }
    if not found["schema"]:
        properties = draft.parameters["properties"].items()
        found["constraints"] = [
            text for name, inner in properties for text in _stated(inner, name, "")
        ]
        found["examples"] = [*_examples(draft)]
    return [Fault(rule, text) for rule, texts in found.items() for text in texts]


def _name(draft: Draft, asked: Description, taken: Collection[str]) -> Iterator[str]:
    if not NAME.fullmatch(draft.name):
        yield (
            f"{shortened(draft.name)} is no function name: letters, digits, _ and -, at most 64, "
            "no digit first"
        )
    if asked.name and draft.name != asked.name:
        yield f"the name must be {asked.name!r}, got {shortened(draft.name)}"
    if draft.name.casefold() in {name.casefold() for name in taken}:
        yield f"another tool is named {draft.name!r} already"


def _description(draft: Draft, asked: Description) -> Iterator[str]:
    kind = description_fault(Tool("", draft.name, draft.description))
    if kind is not None and kind != "short_description":
        yield f"the description says nothing: {shortened(draft.description)}"
    elif not _telling(asked.text) & _telling(draft.description) and _telling(asked.text):
        yield f"the description has no word of what was asked: {shortened(asked.text)}"


def _telling(text: str) -> set[str]:
    return {word.rstrip("s") for word in words(text)} - _COMMON


def _parameters(schema: Mapping[str, Any]) -> Iterator[str]:
    yield from _whole(schema, "parameters", True)
    if schema.get("type") != "object":
        return
    required = schema.get("required")
    if isinstance(required, list) and not required:
        yield "parameters: nothing is required; require what the tool cannot do without"
    properties = schema.get("properties")
    if isinstance(properties, dict) and len(properties) > MOST_PARAMETERS:
        yield f"parameters: {len(properties)} of them; at most {MOST_PARAMETERS}"


def _whole(schema: Mapping[str, Any], name: str, told: bool) -> Iterator[str]:
    if schema.get("type") == "object":
        yield from _object(schema, name, 0, told)
    else:
        yield f"{name}: the type must be 'object', got {shortened(schema.get('type'))}"


def _schema(schema: Any, path: str, depth: int, told: bool) -> Iterator[str]:
    """Yield what is wrong with the schema of one value.

    Args:
        schema: Of the value.
        path: Of the value, for the text.
        depth: Its level, from 1.
        told: True: the value needs a description.
    """
    if not isinstance(schema, dict):
        yield f"{path}: expected a schema, got {shortened(schema)}"
        return
    kind = schema.get("type")
    if not isinstance(kind, str) or kind not in _KEYWORDS:
        known = ", ".join(sorted(_KEYWORDS))
        yield f"{path}: unknown type {shortened(kind)}; known: {known}"
        return
    if depth > DEEPEST:
        yield f"{path}: level {depth}; at most {DEEPEST}"
        return
    for name in sorted(schema.keys() - _ANY - _KEYWORDS[kind]):
        yield f"{path}: {name!r} means nothing for the type {kind}"
    if told or "description" in schema:
        said = schema.get("description")
        if not isinstance(said, str) or PLACEHOLDERS.issuperset(words(said)):
            yield f"{path}: the description says nothing: {shortened(said)}"
    yield from _values(schema, path)
    if kind == "array":
        yield from _schema(schema.get("items"), f"{path}.items", depth + 1, False)
    elif kind == "object":
        yield from _object(schema, path, depth, told)


def _object(schema: Mapping[str, Any], path: str, depth: int, told: bool) -> Iterator[str]:
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        yield f"{path}: an object needs properties"
        return
    for name, inner in properties.items():
        if not _PARAMETER.fullmatch(name):
            yield f"{path}: {shortened(name)} is no name of a parameter"
        yield from _schema(inner, f"{path}.{name}", depth + 1, told)
    yield from _required(schema, path)
    if schema.get("additionalProperties", False) is not False:
        yield f"{path}: additionalProperties must be false or absent"


def _required(schema: Mapping[str, Any], path: str) -> Iterator[str]:
    required = schema.get("required", [])
    names = schema["properties"].keys()
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield f"{path}: required: expected a list of names, got {shortened(required)}"
        return
    for name in required:
        if name not in names:
            yield f"{path}: {shortened(name)} is required, but no property"
    if len(set(required)) < len(required):
        yield f"{path}: required names a property twice"


def _values(schema: dict[str, Any], path: str) -> Iterator[str]:
    """Yield what is wrong with bounds, choices and default; each must fit the schema's rest."""
    checks: tuple[tuple[str, Callable[[Any], bool]], ...] = (
        *((n, _is_count) for n in ("minLength", "maxLength", "minItems", "maxItems")),
        *((n, _is_number) for n in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")),
        ("multipleOf", lambda value: _is_number(value) and value > 0),
        ("uniqueItems", lambda value: isinstance(value, bool)),
        ("pattern", is_pattern),
        ("format", lambda value: isinstance(value, str)),
        ("enum", _is_choice),
        ("examples", lambda value: isinstance(value, list)),
    )
    wrong = [n for n, right in checks if n in schema and not right(schema[n])]
    for name in wrong:
        yield f"{path}: {name} cannot be {shortened(schema[name])}"
    if wrong:
        return
    for low, high in _ENDS:
        if low in schema and high in schema and schema[low] > schema[high]:
            yield f"{path}: {low} {schema[low]} is above {high} {schema[high]}"
    yield from _own_values(schema, path)


def _own_values(schema: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the choices, defaults and examples that the schema itself refuses."""
    choices = schema.get("enum", [])
    given = [schema[n] for n in ("default",) if n in schema] + schema.get("examples", [])
    if not choices and not given:
        return
    accepts = _acceptance({n: v for n, v in schema.items() if n not in ("enum", "default")})
    for value in choices:
        if not accepts(value):
            yield f"{path}: the choice {shortened(value)} is no {schema['type']} that is allowed"
    for value in given:
        if not accepts(value) or (choices and not any(equal(value, choice) for choice in choices)):
            yield f"{path}: the default or example {shortened(value)} breaks the schema"


def _acceptance(schema: dict[str, Any]) -> Callable[[Any], bool]:
    if schema["type"] in ("array", "object"):  # what is within was not looked at yet
        return schema_validator(schema).is_valid
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema).is_valid


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_choice(value: Any) -> bool:
    return isinstance(value, list) and 0 < len(value) == len({digest(choice) for choice in value})


def _stated(schema: Mapping[str, Any], path: str, around: str) -> Iterator[str]:
    """Yield where a description and its schema disagree, here and deeper.

    Args:
        schema: Of the value.
        path: Of the value, for the text.
        around: Description of the list that the value is an item of.
    """
    told = schema.get("description", around)
    # What is said of a list's items may be said where the list is described.
    items = schema.get("items", {})
    aside = {"enum"} if "enum" in items else set()
    for text in disagreements(told, schema, aside if "description" in schema else {"default"}):
        yield f"{path}: {text}"
    if items:
        yield from _stated(items, f"{path}.items", told)
    for name, inner in schema.get("properties", {}).items():
        yield from _stated(inner, f"{path}.{name}", "")


def _examples(draft: Draft) -> Iterator[str]:
    if not draft.examples:
        yield "give at least one example of arguments"
    checker = CallValidator({"": draft.tool("")})
    for number, arguments in enumerate(draft.examples):
        given = arguments if isinstance(arguments, dict) else None
        error = checker.check(ToolCall("", draft.name, given, json.dumps(arguments), ""))
        if error is not None:
            yield f"example {number}: {error.message}"


def is_pattern(value: Any) -> bool:
    """Tell whether a value is a regular expression that is matched in little time."""
    try:
        return isinstance(value, str) and bool(re.compile(value)) and not _multiplies(value)
    except (re.error, OverflowError, RecursionError):
        return False


def _multiplies(pattern: str) -> bool:
    """Tell whether a repeated group can be matched in several ways each time."""
    plain = _SINGLE.sub("x", pattern)
    while group := _GROUP.search(plain):
        inside, times = group["inside"], group["times"]
        if times and (_ENDLESS if _FEW.fullmatch(times) else _SEVERAL).search(inside):
            return True
        left = _ENDLESS.search(inside) or _ENDLESS.fullmatch(times)
        several = "x*" if left else "x{0,2}" if _SEVERAL.search(inside) or times else "x"
        plain = plain[: group.start()] + several + plain[group.end() :]
    return False
