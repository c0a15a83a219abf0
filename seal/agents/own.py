"""An agent of one's own: a function of the request and the tools that returns the answer.

    def solve(request: str, tools: list[Callable]) -> str: ...

The tools are Python callables with names, signatures and docstrings. A call of one is a call of the
chat: checked, run, counted and recorded like any other. The function may be a coroutine function;
its tools are then coroutine functions too, and those awaited together are one reply's calls. A
third parameter gets what was said before, as messages {role, content}.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from seal.agents.teams import USER
from seal.agents.view import CallsSpentError
from seal.core.canonical import digest
from seal.core.errors import UsageError
from seal.core.protocols import Chat, Completion, Reply, Request
from seal.core.records import to_plain
from seal.core.signatures import places_of
from seal.core.specs import name_of, settled, source_of
from seal.core.types import JSON, Tool, ToolCall, ToolResult

_TYPES = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list,
    "object": dict,
}


class ToolError(RuntimeError):
    """A tool failed, or refused a call; the text is what a model would read."""


class FunctionAgent:
    """A function in the place of the role that calls tools.

    Args:
        function: Of (request, tools), or of (request, tools, messages); returns the answer.

    Raises:
        UsageError: It takes other arguments.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._wanted = places_of(function, 3, 2)
        if self._wanted is None:
            raise UsageError(
                f"{name_of(function)}{inspect.signature(function)} is no agent; expected a "
                "function of (request, tools), or of (request, tools, messages)"
            )
        self.identity = f"{name_of(function)}#{digest(source_of(function))[:8]}"

    def reply(self, chat: Chat) -> Reply:
        """Return what the function answers to what the user said last."""
        said = [step for step in chat.steps if USER in (step.author, step.recipient)]
        spoken = [step for step in said if step.call is None and step.result is None]
        request = spoken[-1].content if spoken else chat.request
        earlier = [
            {"role": "user" if step.author == USER else "assistant", "content": step.content}
            for step in spoken[:-1]
        ]
        make = _Together(chat).tool if _is_async(self._function) else _tool(chat)
        given = (request, [make(tool) for tool in chat.tools], earlier)[: self._wanted]
        answer = settled(self._function(*given))
        if not isinstance(answer, str):
            raise TypeError(
                f"the agent {name_of(self._function)} returned {type(answer).__name__}; "
                "expected the answer as a text"
            )
        return Reply(answer)


class OwnModel:
    """Stands for the models that an agent asks by itself; nobody else can ask them.

    Args:
        name: Of the agent.
    """

    plays_tasks = True

    def __init__(self, name: str) -> None:
        self.identity = name

    def __repr__(self) -> str:
        return self.identity

    def complete(self, request: Request) -> Completion:
        """Refuse.

        Raises:
            UsageError: Always; names the repair.
        """
        raise UsageError(
            f"the role {request.role!r} needs a model, and {self.identity} asks its own; "
            f"name one: --role-model {request.role}=PROVIDER/MODEL"
        )


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object's method, not whether it has one
    )


def _tool(chat: Chat) -> Callable[[Tool], Callable[..., Any]]:
    def made(tool: Tool) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> JSON:
            (result,) = chat.execute([_call(tool, given, named)])
            return _value(result)

        return _documented(call, tool)

    return made


class _Together:
    """Makes coroutine functions whose calls, where they are awaited at once, are made at once.

    Args:
        chat: Where they are made.
    """

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._waiting: list[tuple[ToolCall, asyncio.Future[ToolResult]]] = []

    def tool(self, tool: Tool) -> Callable[..., Any]:
        """Return a tool as a coroutine function."""

        async def call(*given: Any, **named: Any) -> JSON:
            loop = asyncio.get_running_loop()
            answered: asyncio.Future[ToolResult] = loop.create_future()
            self._waiting.append((_call(tool, given, named), answered))
            if len(self._waiting) == 1:
                loop.call_soon(self._make)
            return _value(await answered)

        return _documented(call, tool)

    def _make(self) -> None:
        """Make all calls that wait, in the order in which they were asked for."""
        waiting, self._waiting = self._waiting, []
        try:
            results = self._chat.execute([call for call, _ in waiting])
        except (Exception, CallsSpentError) as error:
            for _, answered in waiting:
                if not answered.cancelled():
                    answered.set_exception(error)
            return
        for (_, answered), result in zip(waiting, results, strict=True):
            if not answered.cancelled():
                answered.set_result(result)


def _call(tool: Tool, given: Sequence[Any], named: Mapping[str, Any]) -> ToolCall:
    """Return the call of a tool; arguments without a name follow the order of the document."""
    names = list(tool.parameters.get("properties", {}))
    if len(given) > len(names):
        raise TypeError(f"{tool.name} takes {len(names)} arguments, got {len(given)}")
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
        if name.isidentifier()
    ]
    call.__signature__ = inspect.Signature(parameters)
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.parameters = tool.parameters
    made: Callable[..., Any] = call
    return made


def _annotation(schema: Mapping[str, JSON]) -> Any:
    kind = schema.get("type")
    return _TYPES.get(kind, Any) if isinstance(kind, str) else Any
