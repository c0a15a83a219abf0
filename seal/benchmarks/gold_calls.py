"""Gold calls checked against schemas, nearly all of them without a validator.

`seal.core.validation.CallValidator` says what is wrong with a call. Here the calls are sorted out
first that it surely lets pass: APIGen's 60,000 records hold about 100,000, and looking each up in a
few keywords takes a twentieth of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from seal.benchmarks.upstream.records import refuse_deep
from seal.core.conditions import Called
from seal.core.plain import nested_deeper
from seal.core.schemas import schema_validator
from seal.core.types import JSON, Tool, ToolCall
from seal.core.validation import MAX_DEPTH, CallError, CallValidator

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

_SCALARS = {
    "boolean": frozenset({bool}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "string": frozenset({str}),
}


class Refused(NamedTuple):
    """Arguments that a gold call accepts and its tool's schema does not."""

    arguments: dict[str, JSON]
    error: CallError


class GoldCheck:
    """Tells what is wrong with gold calls.

    Args:
        tools: By id; may grow.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._tools = tools
        self._validator = CallValidator(tools)
        self._plain: dict[str, PlainSchema | None] = {}

    def fault(self, tool: str, arguments: dict[str, JSON]) -> str | None:
        """Return the kind of what the tool's schema refuses in the arguments; None: nothing.

        Args:
            tool: Id of a tool that exists.
            arguments: Of the call.

        Raises:
            DataError: The arguments are nested deeper than what can be written.
        """
        if self._surely_accepts(tool, arguments):
            return None
        refuse_deep(arguments)
        error = self._error(tool, arguments)
        return None if error is None else error.kind

    def refused(self, call: Called) -> Refused | None:
        """Return the first arguments of a gold call that the tool's schema refuses; None: none.

        Every accepted value must make a valid call, one argument varied at a time.

        Args:
            call: Of a tool that exists.
        """
        for arguments in _variants(call):
            if not self._surely_accepts(call.tool, arguments):
                error = self._error(call.tool, arguments)
                if error is not None:
                    return Refused(arguments, error)
        return None

    def _surely_accepts(self, tool: str, arguments: dict[str, JSON]) -> bool:
        if tool not in self._plain:
            self._plain[tool] = plain_schema(self._tools[tool].parameters)
        plain = self._plain[tool]
        return plain is not None and plain.surely_accepts(arguments)

    def _error(self, tool: str, arguments: dict[str, JSON]) -> CallError | None:
        call = ToolCall("call_0", self._tools[tool].name, arguments, tool=tool)
        return self._validator.check(call)


def _variants(call: Called) -> Iterator[dict[str, JSON]]:
    """Yield the arguments that the oracle gives, then each further accepted value in its place."""
    if call.arguments is None:
        return
    base = call.canonical_arguments()
    yield base
    for name, argument in call.arguments.items():
        for value in argument.values[0 if argument.optional else 1 :]:
            yield {**base, name: value}


def admits(schema: JSON, value: JSON) -> bool:
    """Tell whether an argument's schema takes a value; what is no schema takes any.

    Args:
        schema: As it stands in a tool's `properties`.
        value: Of ordinary depth.
    """
    if not isinstance(schema, dict) or _meets(schema, value):
        return True
    return bool(schema_validator(schema).is_valid(value))


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
    if not isinstance(schema, dict) or not schema.keys() <= {"type", "description", "default"}:
        return frozenset()
    kind = schema.get("type")
    return _SCALARS.get(kind, frozenset()) if isinstance(kind, str) else frozenset()


def _fits(schema: Any, value: JSON) -> bool:
    """Tell whether a value surely fits; one nested too deep is the validator's to refuse."""
    if isinstance(value, (list, dict)) and nested_deeper(value, MAX_DEPTH - 1):
        return False
    return _meets(schema, value)


def _meets(schema: Any, value: JSON) -> bool:
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
    return not isinstance(value, list) or all(_meets(wanted, item) for item in value)


def _are_values(wanted: JSON, value: JSON) -> bool:
    return not isinstance(value, dict) or all(_meets(wanted, item) for item in value.values())


def _are_members(wanted: JSON, value: JSON) -> bool:
    if not isinstance(value, dict):
        return True
    return isinstance(wanted, dict) and all(
        _meets(wanted[name], item) for name, item in value.items() if name in wanted
    )


def _are_there(wanted: JSON, value: JSON) -> bool:
    if not isinstance(value, dict):
        return True
    return isinstance(wanted, list) and all(
        isinstance(name, str) and name in value for name in wanted
    )


def _is_any(wanted: JSON, value: JSON) -> bool:
    return isinstance(wanted, list) and any(_meets(schema, value) for schema in wanted)


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
    "format": _says_nothing,
    "items": _are_items,
    "properties": _are_members,
    "required": _are_there,
    "type": _is_of_type,
}
