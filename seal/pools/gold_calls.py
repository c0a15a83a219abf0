"""Gold calls checked against schemas, nearly all of them without a validator.

`seal.core.validation.CallValidator` says what is wrong with a call. Here the calls are sorted out
first that it surely lets pass: APIGen's 60,000 records hold about 100,000, and looking each up in a
few keywords takes a twentieth of the time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from seal.core.conditions import Called
from seal.core.plain_schemas import PlainSchema, meets, plain_schema
from seal.core.schemas import schema_validator
from seal.core.types import JSON, Tool, ToolCall
from seal.core.validation import CallError, CallValidator
from seal.pools.reading.records import refuse_deep


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
        for value in argument.listed[0 if argument.optional else 1 :]:
            yield {**base, name: value}


def admits(schema: JSON, value: JSON) -> bool:
    """Tell whether an argument's schema takes a value; what is no schema takes any.

    Args:
        schema: As it stands in a tool's `properties`.
        value: Of ordinary depth.
    """
    if not isinstance(schema, dict) or meets(schema, value):
        return True
    return bool(schema_validator(schema).is_valid(value))
