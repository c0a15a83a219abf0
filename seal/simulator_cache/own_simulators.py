"""Simulators that the user brings, and functions of the user that run instead of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from seal.core import (
    JSON,
    InfrastructureError,
    Response,
    SealError,
    Simulator,
    SimulatorError,
    Tool,
    shortened,
)
from seal.core.canonical import digest
from seal.core.plain import exact_json
from seal.core.specs import settled, source_of
from seal.simulator_cache.answer_cache import keys_of_call, prompt_version


class Foreign:
    """Wraps a simulator from elsewhere, and checks that its answers are of the right type.

    Args:
        inner: The simulator; without an `identity` it gets the name of its class.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        kind = type(inner)
        self.identity: str = getattr(inner, "identity", f"{kind.__module__}:{kind.__qualname__}")

    def respond(self, tool: Tool, arguments: dict[str, JSON]) -> Response:
        """Return the inner simulator's answer.

        Raises:
            SimulatorError: It gave something else.
        """
        response = self.inner.respond(tool, arguments)
        if not isinstance(response, Response):
            raise SimulatorError(
                f"the simulator {self.identity} answered {tool.name} with {shortened(response)}; "
                "expected a seal.core.protocols.Response, such as Response({'ok': True})"
            )
        return response

    def prompt_version(self, tool: Tool) -> str:
        """Return the inner simulator's."""
        return prompt_version(self.inner, tool)


class OwnFunctions:
    """Runs functions. Their answers are not kept, because they may depend on the time.

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
        """Return what the function returned.

        If the function raises an exception, this is the error of the call. So is a value that JSON
        would change, such as NaN.

        Raises:
            InfrastructureError: The function returned an object that JSON cannot hold.
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
        """Return the keys that the inner simulator has for a call; none for a function's call."""
        if tool.id in self._functions:
            return frozenset()
        return keys_of_call(self.inner, tool, arguments)
