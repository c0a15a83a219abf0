"""Gold calls checked against the schemas of their tools, with each value that gold accepts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from seal.core import JSON, Tool, ToolCall
from seal.core.conditions import Called
from seal.core.schemas import meets, schema_validator, surely_accepts
from seal.core.validation import CallError, CallValidator
from seal.pools.reading.upstream_files import refuse_deep


class RefusedGold(NamedTuple):
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

    def fault(self, tool: str, arguments: dict[str, JSON]) -> str | None:
        """Return the kind of what the tool's schema refuses in the arguments; None: nothing.

        Args:
            tool: Id of a tool that exists.
            arguments: Of the call.

        Raises:
            DataError: The arguments are nested deeper than what can be written.
        """
        if surely_accepts(self._tools[tool].parameters, arguments):
            return None
        refuse_deep(arguments)
        error = self._error(tool, arguments)
        return None if error is None else error.kind

    def refused(self, call: Called) -> RefusedGold | None:
        """Return the first arguments of a gold call that the tool's schema refuses; None: none.

        Every accepted value must make a valid call, one argument varied at a time.

        Args:
            call: Of a tool that exists.
        """
        for arguments in _variants(call):
            error = self._error(call.tool, arguments)
            if error is not None:
                return RefusedGold(arguments, error)
        return None

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
