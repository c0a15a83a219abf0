"""The simulator that runs a user's functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from seal.core import JSON, InfrastructureError, Response, SealError, Simulator, Tool
from seal.core.canonical import digest
from seal.core.plain import exact_json
from seal.core.specs import settled, source_of
from seal.simulator_cache.answer_cache import keys_of_call


class OwnFunctions:
    """Runs functions; no answer of one is kept, for it may depend on when it is asked.

    Args:
        functions: Tool id to the function behind it, which may be a coroutine function.
        inner: Answers the calls of all other tools.
    """

    def __init__(self, functions: Mapping[str, Callable[..., Any]], inner: Simulator) -> None:
        self._functions = functions
        self.inner = inner
        sources = {tool_id: source_of(function) for tool_id, function in functions.items()}
        self.identity = f"functions#{digest(sources)[:8]}+{inner.identity}"

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return what the function returned; what it raises is the API's own error.

        So is a value that JSON would change, such as NaN: nothing else is ever shown than it gave.

        Raises:
            InfrastructureError: It returned what JSON cannot say.
        """
        function = self._functions.get(tool.id)
        if function is None:
            return self.inner.respond(tool, arguments)
        try:
            value = settled(function(**arguments))
        except (SealError, KeyboardInterrupt):
            raise
        except (Exception, SystemExit) as error:  # a tool's failure is data that the model reads
            said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            return Response("", said)
        try:
            return Response(exact_json(value))
        except ValueError as error:
            return Response("", f"ValueError: the tool returned {error}")
        except TypeError as error:
            raise InfrastructureError(
                f"the tool {tool.name} returned {type(value).__name__}, which JSON cannot say "
                f"({error}); return texts, numbers, lists, maps or dataclasses of these"
            ) from error

    def keys(self, tool: Tool, arguments: dict[str, JSON]) -> frozenset[str]:
        """Return what the inner simulator has stored for a call; of a function's nothing."""
        if tool.id in self._functions:
            return frozenset()
        return keys_of_call(self.inner, tool, arguments)
