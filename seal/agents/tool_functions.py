"""The tools of a chat as Python callables, with names, signatures, docstrings and JSON Schemas."""

from __future__ import annotations

import asyncio
import inspect
import keyword
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from seal.agents.faults import CallsSpentError, PluginError
from seal.core import JSON, Chat, Tool, ToolCall, ToolResult
from seal.core.records import to_plain
from seal.core.text import counted

_TYPES = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
}

_PAUSE = 0.05
"""Seconds until a call after the reply is refused: who calls for ever must not use up a processor.
"""


Outcome = tuple[Sequence[ToolResult], BaseException | None]
"""Results of calls, or why there are none."""


class ToolError(RuntimeError):
    """A tool failed, or refused a call; the text is what a model would read."""


def plain_tools(chat: Chat) -> list[Callable[..., Any]]:
    """Return the tools that are offered now as functions; a call of one is a call of the chat."""

    def made(tool: Tool) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> JSON:
            (result,) = chat.execute([_call(tool, given, named)])
            return _value(result)

        return _documented(call, tool)

    return [made(tool) for tool in chat.tools]


class _Never:
    """What never comes, and needs no event loop to be awaited."""

    def __await__(self) -> Generator[None, None, None]:
        """Wait for ever."""
        while True:
            yield


class Together:
    """Makes coroutine functions; calls that are awaited at once are made at once.

    Args:
        chat: Where they are made.
        hand_over: Lets the chat do something, and then the event loop what is to follow on it.
    """

    def __init__(
        self,
        chat: Chat,
        hand_over: Callable[[Callable[[], Outcome], Callable[[Outcome], None]], None],
    ) -> None:
        self._chat = chat
        self._hand_over = hand_over
        self._waiting: list[tuple[ToolCall, asyncio.Future[ToolResult]]] = []
        self._over = False
        """Whether the budget of calls is spent: nothing is answered any more."""

    def tools(self) -> list[Callable[..., Any]]:
        """Return the tools that are offered now as coroutine functions."""
        return [self._tool(tool) for tool in self._chat.tools]

    def _tool(self, tool: Tool) -> Callable[..., Any]:
        async def call(*given: Any, **named: Any) -> JSON:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:  # the run is over, and the function keeps even that error
                await _Never()
            answered: asyncio.Future[ToolResult] = loop.create_future()
            if self._over:
                await (
                    answered
                )  # for ever: who goes on calling in vain must not use up the processor
            self._waiting.append((_call(tool, given, named), answered))
            if len(self._waiting) == 1:
                loop.call_soon(self._ask, loop)
            return _value(await answered)

        return _documented(call, tool)

    def _ask(self, loop: asyncio.AbstractEventLoop) -> None:
        """Have all calls made that wait, in the order in which they were asked for."""
        waiting, self._waiting = self._waiting, []

        def made() -> Outcome:
            try:
                return self._chat.execute([call for call, _ in waiting]), None
            except CallsSpentError:  # ends the reply here: the function may catch every error
                self._over = True
                raise
            except Exception as error:  # whatever it is, the function gets it where it awaits
                return (), error

        def settle(outcome: Outcome) -> None:
            results, error = outcome
            for place, (_, answered) in enumerate(waiting):
                if answered.done():  # it was cancelled
                    continue
                if error is None:
                    answered.set_result(results[place])
                else:
                    answered.set_exception(error)

        try:
            self._hand_over(made, settle)
        except PluginError as error:  # the reply has ended
            loop.call_later(_PAUSE, settle, ((), error))


def _call(tool: Tool, given: Sequence[Any], named: Mapping[str, Any]) -> ToolCall:
    """Return the call of a tool; arguments without a name follow the order of the document."""
    names = list(tool.parameters.get("properties", {}))
    if len(given) > len(names):
        raise TypeError(f"{tool.name} takes {counted(len(names), 'argument')}, got {len(given)}")
    placed = dict(zip(names, given, strict=False))
    for name in placed.keys() & named:
        raise TypeError(f"{tool.name} got the argument {name!r} twice, by place and by name")
    try:
        return ToolCall("", tool.name, to_plain({**placed, **named}))
    except TypeError as error:
        raise TypeError(f"{tool.name} got an argument that JSON cannot say: {error}") from error


def _value(result: ToolResult) -> JSON:
    if result.error is not None:
        raise ToolError(str(result.error.get("message") or result.content))
    return result.value


def _documented(call: Any, tool: Tool) -> Callable[..., Any]:
    """Give a callable the name, docstring and signature of a tool."""
    given = tool.parameters.get("properties", {})
    properties = {name: s if isinstance(s, dict) else {} for name, s in given.items()}
    required = set(tool.parameters.get("required") or ())
    call.__name__ = call.__qualname__ = tool.name
    lines = [f"    {name}: {schema.get('description', '')}" for name, schema in properties.items()]
    call.__doc__ = "\n".join([tool.description, *(["", "Args:", *lines] if lines else [])])
    parameters = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if name in required else schema.get("default"),
            annotation=_annotation(schema),
        )
        for name, schema in properties.items()
        if name.isidentifier() and not keyword.iskeyword(name)
    ]
    call.__signature__ = inspect.Signature(parameters)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.parameters = tool.parameters
    made: Callable[..., Any] = call
    return made


def _annotation(schema: Mapping[str, JSON]) -> Any:
    kind = schema.get("type")
    return _TYPES.get(kind, Any) if isinstance(kind, str) else Any
