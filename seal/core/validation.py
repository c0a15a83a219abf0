"""Calls checked by rule, before anything runs: never by a language model.

The findings follow the order of ToolScan's decision rules (unparsable, unknown tool, unknown
argument, missing argument, wrong type or value); the first that applies is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import orjson

from seal.core.errors import nearest
from seal.core.protocols import Environment
from seal.core.types import JSON, Execution, Tool, ToolCall, ToolResult

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

ErrorKind = Literal[
    "unparsable_arguments",
    "unknown_tool",
    "unknown_argument",
    "missing_argument",
    "wrong_type",
    "invalid_value",
]


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
        self._tools = tools
        self._schemas: dict[str, Validator] = {}

    def check(self, call: ToolCall, offered: Sequence[str] = ()) -> CallError | None:
        """Return what is wrong with the call, or None.

        Args:
            call: With `tool` resolved where its name is known.
            offered: Names of the offered tools, for the message.
        """
        if call.tool is None or call.tool not in self._tools:
            close = nearest(call.name, offered)
            hint = f" Did you mean {close}?" if close else ""
            return CallError(
                "unknown_tool",
                call.name,
                f"There is no tool named {call.name!r}.{hint}",
                list(offered),
                call.name,
                close,
            )
        if call.arguments is None:
            return CallError(
                "unparsable_arguments",
                call.name,
                f"The arguments of {call.name} are not a JSON object.",
                "a JSON object",
                call.raw[:1000],
            )
        schema = self._tools[call.tool].parameters
        return _check_names(call, schema) or self._check_values(call, schema)

    def _check_values(self, call: ToolCall, schema: dict[str, Any]) -> CallError | None:
        failures = self._schema(str(call.tool), schema).iter_errors(call.arguments)
        first = min(failures, key=lambda f: list(map(str, f.absolute_path)), default=None)
        if first is None:
            return None
        path = ".".join(map(str, first.absolute_path)) or call.name
        kind: ErrorKind = "wrong_type" if first.validator == "type" else "invalid_value"
        return CallError(
            kind,
            path,
            f"Argument {path!r} of {call.name}: "
            f"expected {first.validator} {first.validator_value!r}, got {first.instance!r}.",
            first.validator_value,
            first.instance,
        )

    def _schema(self, tool: str, schema: dict[str, Any]) -> Validator:
        if tool not in self._schemas:
            from jsonschema import Draft202012Validator

            self._schemas[tool] = Draft202012Validator(schema)
        return self._schemas[tool]

    def with_defaults(self, call: ToolCall) -> dict[str, JSON]:
        """Return the arguments of a valid call with the schema's defaults filled in."""
        properties = self._tools[str(call.tool)].parameters.get("properties", {})
        defaults = {
            name: p["default"]
            for name, p in properties.items()
            if isinstance(p, dict) and "default" in p
        }
        return {**defaults, **(call.arguments or {})}


def _check_names(call: ToolCall, schema: dict[str, Any]) -> CallError | None:
    properties = schema.get("properties", {})
    arguments = call.arguments or {}
    if schema.get("additionalProperties") is not True:
        for name in arguments:
            if name not in properties:
                close = nearest(name, properties)
                hint = f" Did you mean {close!r}?" if close else ""
                return CallError(
                    "unknown_argument",
                    name,
                    f"{call.name} takes no argument {name!r}; "
                    f"it takes: {', '.join(properties) or 'none'}.{hint}",
                    sorted(properties),
                    name,
                    close,
                )
    for name in schema.get("required", []):
        if name not in arguments:
            return CallError(
                "missing_argument",
                name,
                f"{call.name} needs the argument {name!r}, which is missing.",
                properties.get(name),
            )
    return None


def error_result(call: ToolCall, error: CallError) -> ToolResult:
    """Return the result that a rejected call gets."""
    content = orjson.dumps({"error": error.message, "response": ""}).decode()
    return ToolResult(call.id, content, error=asdict(error))


class Validated:
    """An environment that rejects invalid calls and passes the others on, defaults not filled in.

    Args:
        inner: Where valid calls run.
        validator: The rules.
        names: Names of the tools that the chat offers, for the messages.
    """

    def __init__(
        self, inner: Environment, validator: CallValidator, names: Sequence[str] = ()
    ) -> None:
        self.inner = inner
        self.validator = validator
        self.names = names

    def call(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Return one result a call: rejections in place, the others in the inner's order."""
        rejected = {}
        for call in calls:
            error = self.validator.check(call, self.names)
            if error is not None:
                rejected[call.id] = error_result(call, error)
        ran = iter(self.inner.call([call for call in calls if call.id not in rejected]))
        return [rejected[call.id] if call.id in rejected else next(ran) for call in calls]

    def state(self) -> dict[str, list[dict[str, JSON]]] | None:
        """Return the inner environment's tables."""
        return self.inner.state()


__all__ = ["CallError", "CallValidator", "ErrorKind", "Execution", "Validated", "error_result"]
