"""What JSON Schema does not allow in a schema, with its repair; what calls leave to defaults."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, reduce
from itertools import islice
from operator import getitem
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

from seal.core.errors import shortened
from seal.core.schema_keywords import is_pattern
from seal.core.schemas import (
    MAX_DEPTH,
    MAX_SCHEMA_DEPTH,
    TYPES,
    is_open,
    is_sound,
    meets,
    required_names,
    schema_validator,
    validator_of,
)
from seal.core.types import JSON
from seal.core.values import nested_deeper

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

# -- What JSON Schema does not allow in a schema: found, told, and taken out.

_DATA = frozenset({"const", "default", "enum", "example", "examples"})
_WANTED = {
    "type": "one of " + ", ".join(TYPES),
    "enum": "a list of values",
    "required": "a list of names",
    "properties": "an object that maps names to schemas",
}
"""Keyword to what the standard wants of it, for messages."""


class SchemaFault(NamedTuple):
    """What makes a place of a schema accept anything, though it was meant to say something."""

    path: str
    """`properties.city.type`"""
    text: str
    """What stands there, and what was expected."""


def schema_faults(schema: Mapping[str, JSON]) -> Iterator[SchemaFault]:
    """Yield what is wrong with the schema of an argument map, which `usable_schema` leaves out.

    A name that is required and not declared is a fault too, unless further names are admitted.
    """
    if nested_deeper(schema, MAX_SCHEMA_DEPTH):
        yield SchemaFault("", f"it is nested deeper than {MAX_SCHEMA_DEPTH} levels; flatten it")
        return
    if not is_sound(schema):
        for fault in sorted(meta_validator().iter_errors(schema), key=lambda f: f.json_path):
            place = [str(part) for part in fault.absolute_path]
            is_schema = fault.validator_value == ["object", "boolean"]
            wanted = "a schema" if is_schema else _WANTED.get(place[-1] if place else "")
            if wanted is None and fault.validator == "format":
                wanted = f"a {fault.validator_value}"
            told = f"expected {wanted}, got {shortened(fault.instance)}"
            yield SchemaFault(".".join(place), told if wanted else fault.message[:200])
    for path, part in _maps(schema):
        names, reference = part.get("properties"), part.get("$ref")
        if isinstance(reference, str) and not _resolves(reference, schema):
            told = f"{shortened(reference)} names no schema of this tool, or leads back to itself"
            yield SchemaFault(".".join((*path, "$ref")), f"{told}; write the schema out")
        if lacking := _without_value(part):
            keyword, why = lacking
            yield SchemaFault(".".join((*path, keyword)), f"no value is right: {why}")
        if not isinstance(names, dict) or is_open(part):
            continue
        for name in required_names(part):
            if name not in names:
                told = f"{name!r} is no property; declare it, or leave it out"
                yield SchemaFault(".".join((*path, "required")), told)
    yield from default_faults(schema)


_BOUNDS = {
    "minimum": ("maximum", ("integer", "number")),
    "minLength": ("maxLength", ("string",)),
    "minItems": ("maxItems", ("array",)),
    "minProperties": ("maxProperties", ("object",)),
}
"""Keyword to the one that it may not be above, and the types that both are of."""


def _without_value(schema: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the keyword by which no value at all can meet a schema, and why; None: some may."""
    values, kind = schema.get("enum"), schema.get("type")
    if values == []:
        return "enum", "it is empty; name some"
    if not isinstance(kind, str) or kind not in TYPES:
        return None
    if isinstance(values, list) and not any(meets({"type": kind}, value) for value in values):
        of_type = validator_of({"type": kind})
        if not any(map(of_type.is_valid, values)):
            return "enum", f"none of {shortened(values)} is of type {kind!r}; mend either"
    for low, (high, kinds) in _BOUNDS.items():
        least, most = _number(schema.get(low)), _number(schema.get(high))
        if kind in kinds and least is not None and most is not None and least > most:
            return low, f"{shortened(least)} is above {high} {shortened(most)}; mend either"
    return None


def _number(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value if is_number else None


def default_faults(schema: Mapping[str, JSON]) -> Iterator[SchemaFault]:
    """Yield each default that its own schema refuses, also those of parts within.

    null is no fault: many tools declare it of what may be left out, whatever its type.
    """
    if nested_deeper(schema, MAX_SCHEMA_DEPTH):
        return
    whole: Validator | None = None
    for path, part in _schemas(schema):
        default = part.get("default")
        if default is None or meets(part, default):
            continue
        whole = whole or schema_validator(schema)
        try:
            usable = reduce(getitem, path, whole.schema)  # type: ignore[arg-type]
        except (LookupError, TypeError):  # what was there is a fault of its own
            continue
        for fault in islice(whole.evolve(schema=usable).iter_errors(default), 1):
            what = f"expected {fault.validator} {shortened(fault.validator_value)}"
            told = f"{what}, got {shortened(fault.instance)}; mend the default, or leave it out"
            yield SchemaFault(".".join(map(str, (*path, "default"))), told)


_BY_NAME = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_ONE = ("items", "additionalProperties", "contains", "propertyNames", "not", "if", "then", "else")
_SEVERAL = ("allOf", "anyOf", "oneOf", "prefixItems")


def _schemas(
    schema: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """Yield a schema and those within it, each with the path to it."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for keyword in _BY_NAME:
        named = schema.get(keyword)
        for name, part in named.items() if isinstance(named, dict) else ():
            yield from _schemas(part, (*path, keyword, name))
    for keyword in filter(schema.__contains__, _ONE):
        yield from _schemas(schema[keyword], (*path, keyword))
    for keyword in _SEVERAL:
        parts = schema.get(keyword)
        for place, part in enumerate(parts) if isinstance(parts, list) else ():
            yield from _schemas(part, (*path, keyword, place))


def mend(schema: dict[str, Any]) -> None:
    """Take out of a schema what `usable_schema` leaves out."""
    _drop_useless(schema)
    while faults := list(meta_validator().iter_errors(schema)):  # each round takes something out
        schemas = {
            tuple(f.absolute_path): f.validator_value == ["object", "boolean"] for f in faults
        }
        for path in sorted(schemas, key=lambda path: [*map(_rank, path)], reverse=True):
            place: Any = reduce(getitem, path[:-1], schema)  # type: ignore[arg-type]
            if schemas[path]:  # a schema should stand here
                place[path[-1]] = True
            else:
                del place[path[-1]]


@cache
def meta_validator() -> Validator:
    """Return the validator of schemas themselves; of formats it knows regular expressions."""
    from jsonschema import Draft202012Validator, FormatChecker

    formats = FormatChecker(formats=())
    formats.checks("regex")(lambda value: not isinstance(value, str) or is_pattern(value))
    return Draft202012Validator(Draft202012Validator.META_SCHEMA, format_checker=formats)


def _rank(part: str | int) -> tuple[int, str]:
    """Return a part of a path as it is ordered: what lies later and deeper is mended first."""
    return (part, "") if isinstance(part, int) else (0, part)


def _drop_useless(root: dict[str, Any]) -> None:
    """Take out what no value can meet, what would ask for a document, and what may hang.

    By `unevaluatedProperties` and its like for items, jsonschema asks patterns of names in its own
    way, and goes each way that references fork.
    """
    maps = [schema for _, schema in _maps(root)]
    forks = sum(_references(schema) for schema in maps)
    if forks > _MOST_FORKS or any("patternProperties" in schema for schema in maps):
        for schema in maps:
            schema.pop("unevaluatedProperties", None)
            schema.pop("unevaluatedItems", None)
    for schema in maps:
        if schema.get("enum") == []:
            del schema["enum"]
        for name in ("$id", "$schema", "$dynamicRef"):
            if isinstance(schema.get(name), str):
                del schema[name]
        reference = schema.get("$ref")
        if isinstance(reference, str) and not _resolves(reference, root):
            del schema["$ref"]


_MOST_FORKS = 20
"""References among choices, by which there are at most some thousand ways through a schema."""


def _references(schema: Mapping[str, Any]) -> int:
    """Return how many of a schema's choices are references."""
    parts = (schema.get(name) for name in ("allOf", "anyOf", "oneOf"))
    choices = [choice for part in parts if isinstance(part, list) for choice in part]
    return sum(isinstance(choice, dict) and "$ref" in choice for choice in choices)


def _maps(
    value: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Yield each map of a schema that is no data, with the path to it."""
    if isinstance(value, dict):
        yield path, value
        for name, inner in value.items():
            if name not in _DATA:
                yield from _maps(inner, (*path, name))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _maps(inner, (*path, str(place)))


def _resolves(reference: str, root: Mapping[str, Any]) -> bool:
    """Tell whether a reference names a schema of the document that does not lead back to it.

    Back means: for the same value. A list whose items are such lists is no loop.
    """
    target = referred(reference, root)
    if not isinstance(target, (dict, bool)):
        return False
    seen, todo = set(), [target]
    while todo:
        schema = todo.pop()
        following = schema.get("$ref") if isinstance(schema, dict) else None
        if following == reference:
            return False
        if isinstance(following, str) and following not in seen:
            seen.add(following)
            todo.append(referred(following, root))
        todo += _for_the_same_value(schema)
    return True


def _for_the_same_value(schema: Any) -> list[Any]:
    """Return the schemas within one that apply to the value itself, not to a part of it."""
    if not isinstance(schema, dict):
        return []
    found = [schema.get(name) for name in ("not", "if", "then", "else")]
    for name in ("allOf", "anyOf", "oneOf"):
        branches = schema.get(name)
        found += branches if isinstance(branches, list) else []
    dependent = schema.get("dependentSchemas")
    return found + (list(dependent.values()) if isinstance(dependent, dict) else [])


# -- What a call says that leaves something out: the defaults of its tool.

_MOST_DEFAULTS = 10_000
"""Defaults that are filled in; references that fork at each step could name millions."""


_LOCAL = re.compile(r"#(?:/(?:\$defs|definitions|properties)/[^/]+)*")


def with_defaults(schema: Mapping[str, JSON], arguments: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return arguments with the defaults of what they leave out, also in the maps within them.

    A name that a schema requires has no default: a call that leaves it out is refused. Where
    schemas are alternatives, those of the only one that is not null count. A schema that refers to
    itself has no defaults within its own.

    Args:
        schema: Of the argument map, sound or not.
        arguments: As in a call; they stay as they are.
    """
    filled = _Filling(schema).of(schema, dict(arguments), ())
    return filled if isinstance(filled, dict) else dict(arguments)


def has_defaults(schema: Mapping[str, JSON]) -> bool:
    """Tell whether a schema says `default` anywhere, be it of an argument or not."""
    waiting: list[JSON] = [schema]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if "default" in one:
                return True
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return False


class _Filling:
    """Fills defaults in.

    Args:
        root: The schema that references lead into.
    """

    def __init__(self, root: Mapping[str, JSON]) -> None:
        self._root = root
        self._left = _MOST_DEFAULTS

    def of(self, schema: JSON, value: JSON, within: tuple[int, ...]) -> JSON:
        """Return a value with the defaults that its schema names for parts of it.

        Args:
            schema: What it is meant to meet.
            value: Stays as it is.
            within: Identities of the schemas of all that it lies in.
        """
        if not isinstance(value, (dict, list)) or len(within) > MAX_DEPTH:
            return value
        parts = self._applied(schema)
        within = (*within, *map(id, parts))
        for part in parts:
            if isinstance(value, dict):
                value = self._map(part, value, within)
            elif isinstance(items := part.get("items"), dict):
                value = [self.of(items, item, within) for item in value]
        return value

    def _map(
        self, schema: Mapping[str, JSON], value: dict[str, JSON], within: tuple[int, ...]
    ) -> dict[str, JSON]:
        properties, others = schema.get("properties"), schema.get("additionalProperties")
        known = properties if isinstance(properties, dict) else {}
        filled = {
            name: self.of(known.get(name, others), item, within) for name, item in value.items()
        }
        needed = set(required_names(schema))
        for name in [one for one in known if one not in filled and one not in needed]:
            parts = self._applied(known[name])
            told = [part["default"] for part in parts if "default" in part]
            if told and self._left and set(within).isdisjoint(map(id, parts)):
                self._left -= 1
                filled[name] = self.of(known[name], told[0], within)
        return filled

    def _applied(self, schema: JSON) -> list[dict[str, JSON]]:
        """Return the schemas that a value of a schema has to meet, each once, itself first."""
        found: dict[int, dict[str, JSON]] = {}
        waiting = [schema]
        while waiting:
            one = waiting.pop()
            if not isinstance(one, dict) or id(one) in found:
                continue
            found[id(one)] = one
            if isinstance(reference := one.get("$ref"), str):
                waiting.append(referred(reference, self._root))
            if isinstance(every := one.get("allOf"), list):
                waiting += reversed(every)
            for keyword in ("anyOf", "oneOf"):
                choices = one.get(keyword)
                told = [c for c in choices if not _is_null(c)] if isinstance(choices, list) else []
                waiting += told if len(told) == 1 else []
        return list(found.values())


def _is_null(schema: JSON) -> bool:
    return isinstance(schema, dict) and schema.get("type") == "null"


def referred(reference: str, root: Mapping[str, JSON]) -> JSON:
    """Return the schema that a reference within a document names; None: there is none."""
    if not _LOCAL.fullmatch(reference):
        return None
    found: JSON = root
    for part in reference.split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, dict) else None
    return found
