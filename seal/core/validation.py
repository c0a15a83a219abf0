"""Calls checked by rule, before anything runs: never by a language model.

The findings follow the order of ToolScan's decision rules (unparsable, unknown tool, unknown
argument, missing argument, wrong type or value); the first that applies is reported, of several
wrong values the one whose path comes first. Values are judged by JSON Schema: 1.0 is an integer,
True is no number, null is right only where the schema says so: by its type, or as the default.

Where JSON Schema would let an undeclared argument pass, the rules do not, for it is nearly always a
model's mistake: it passes only where `additionalProperties` is true or a schema, or where the
schema is composed of others. A schema without properties takes no arguments. A name that is
required without being declared takes any value. Broken parts of a schema accept anything
(`seal.core.schemas`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from seal.core.errors import nearest, shortened, told_names
from seal.core.schemas import MAX_DEPTH, is_open, required_names, schema_validator, surely_accepts
from seal.core.types import JSON, Tool, ToolCall, ToolResult
from seal.core.values import json_text, nested_deeper

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

ErrorKind = Literal[
    "unparsable_arguments",
    "unknown_tool",
    "unknown_argument",
    "missing_argument",
    "wrong_type",
    "invalid_value",
]

_NESTED: dict[str, ErrorKind] = {
    "required": "missing_argument",
    "additionalProperties": "unknown_argument",
}


@dataclass(frozen=True, slots=True)
class CallError:
    """What is wrong with a call."""

    kind: ErrorKind
    name: str
    """The tool or argument that is wrong."""
    message: str
    """A sentence for the model."""
    expected: JSON = None
    received: JSON = None
    nearest: str | None = None
    """The valid name most like the wrong one."""


class CallValidator:
    """Checks calls against the tools that a chat offers. Built once a pool; safe in threads.

    Args:
        tools: Tools by id.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.tools = tools
        self._schemas: dict[str, Validator] = {}

    def check(self, call: ToolCall, offered: Sequence[str] = ()) -> CallError | None:
        """Return what is wrong with the call, or None.

        Args:
            call: With `tool` resolved where its name is known.
            offered: Names of the offered tools, for the message.
        """
        return next(self.faults(call, offered), None)

    def faults(self, call: ToolCall, offered: Sequence[str] = ()) -> Iterator[CallError]:
        """Yield everything that is wrong with the call; the first is what `check` returns.

        Arguments that are no map, and a tool that there is not, hide what else may be wrong.

        Args:
            call: With `tool` resolved where its name is known.
            offered: Names of the offered tools, for the message.
        """
        if not isinstance(call.arguments, dict):
            yield _unparsable(call)
        elif call.tool is None or call.tool not in self.tools:
            yield _unknown(call, offered)
        else:
            schema = self.tools[call.tool].parameters
            if not surely_accepts(schema, call.arguments):
                yield from _wrong_names(call, schema)
                yield from self._wrong_values(call, schema)

    def _wrong_values(self, call: ToolCall, schema: dict[str, Any]) -> Iterator[CallError]:
        if nested_deeper(call.arguments, MAX_DEPTH):
            told = f"The arguments of {call.name} are nested deeper than {MAX_DEPTH} levels."
            yield CallError("invalid_value", call.name, told, f"at most {MAX_DEPTH} levels")
            return
        failures = self._schema(str(call.tool), schema).iter_errors(call.arguments)
        for failure in sorted(failures, key=_place):
            if not _told_by_names(failure, schema) and not _is_null_default(failure, schema):
                yield _finding(call, failure)

    def _schema(self, tool: str, schema: dict[str, Any]) -> Validator:
        if tool not in self._schemas:
            self._schemas[tool] = schema_validator({**schema, "properties": _declared(schema)})
        return self._schemas[tool]

    def with_defaults(self, call: ToolCall) -> dict[str, JSON]:
        """Return the arguments of a valid call with the schema's defaults filled in."""
        declared = _declared(self.tools[str(call.tool)].parameters)
        defaults = {
            name: p["default"]
            for name, p in declared.items()
            if isinstance(p, dict) and "default" in p
        }
        return {**defaults, **(call.arguments or {})}


def _unparsable(call: ToolCall) -> CallError:
    expected = "a JSON object"
    told = f"The arguments of {shortened(call.name)} are not {expected}."
    if not call.name.strip():
        expected = "a tool's name and a JSON object"
        told = f"This is no call: it needs {expected}."
    received = call.raw[:1000] if call.arguments is None else shortened(call.arguments)
    return CallError("unparsable_arguments", call.name, told, expected, received)


def _unknown(call: ToolCall, offered: Sequence[str]) -> CallError:
    close = nearest(call.name, offered)
    hint = f" Did you mean {close}?" if close else ""
    told = f"There is no tool named {shortened(call.name)}.{hint}"
    return CallError("unknown_tool", call.name, told, list(offered), call.name, close)


def _wrong_names(call: ToolCall, schema: dict[str, Any]) -> Iterator[CallError]:
    declared, arguments = _declared(schema), call.arguments or {}
    taken = told_names(declared)
    for name in () if is_open(schema) else [one for one in arguments if one not in declared]:
        close = nearest(name, declared)
        hint = f" Did you mean {close!r}?" if close else ""
        told = f"{call.name} takes no argument {shortened(name)}; it takes: {taken}.{hint}"
        yield CallError("unknown_argument", name, told, sorted(declared), name, close)
    for name in required_names(schema):
        if name not in arguments:
            told = f"{call.name} needs the argument {name!r}, which is missing."
            yield CallError("missing_argument", name, told, declared[name])


def _declared(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schemas of all known arguments; one that is only required may be anything."""
    properties = schema.get("properties")
    declared = dict(properties) if isinstance(properties, dict) else {}
    # The validator tells no place of what False refuses.
    declared |= {name: {"not": {}} for name, part in declared.items() if part is False}
    return {**declared, **{name: True for name in required_names(schema) if name not in declared}}


def _told_by_names(failure: ValidationError, schema: dict[str, Any]) -> bool:
    """Tell whether a failure is one of the call's own names, which `_wrong_names` has found."""
    keyword = list(failure.absolute_schema_path)
    wanted = failure.validator_value
    if keyword == ["required"] and isinstance(wanted, list):
        return set(wanted) <= set(required_names(schema))
    return keyword == ["additionalProperties"] and not is_open(schema)


def _is_null_default(failure: ValidationError, schema: dict[str, Any]) -> bool:
    """Tell whether what failed is a null that the tool itself declares as the default there."""
    if failure.instance is not None:
        return False
    declared: Any = schema
    for part in failure.absolute_path:
        known = declared.get("properties" if isinstance(part, str) else "items")
        declared = known.get(part) if isinstance(part, str) and isinstance(known, dict) else known
        if not isinstance(declared, dict):
            break
    places = (declared, failure.schema)
    return any(isinstance(one, dict) and one.get("default", 0) is None for one in places)


def _place(failure: ValidationError) -> tuple[list[str], str]:
    return list(map(str, failure.absolute_path)), str(failure.validator)


def _finding(call: ToolCall, failure: ValidationError) -> CallError:
    path = ".".join(map(str, failure.absolute_path)) or call.name
    wanted, got = failure.validator_value, failure.instance
    problem = f"expected {failure.validator} {shortened(wanted)}, got {shortened(got)}"
    if failure.validator is None or failure.validator in _NESTED:
        problem = failure.message[:300]
    told = f"Argument {shortened(path)} of {call.name}: {problem}."
    return CallError(_kind(failure), path, told, wanted, got)


def _kind(failure: ValidationError) -> ErrorKind:
    """Return the kind; a choice of types that are all wrong is a wrong type too."""
    if failure.validator == "type":
        return "wrong_type"
    branches = failure.context or ()
    if branches and all(branch.validator == "type" for branch in branches):
        return "wrong_type"
    return _NESTED.get(str(failure.validator), "invalid_value")


def error_result(call: ToolCall, error: CallError) -> ToolResult:
    """Return the result that a rejected call gets."""
    content = json_text({"error": error.message, "response": ""})
    details = {field.name: getattr(error, field.name) for field in fields(error)}
    return ToolResult(call.id, content, error=details)
