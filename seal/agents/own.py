"""Agents of one's own, made of functions and objects, and tools as functions."""

from __future__ import annotations

import asyncio
import inspect
import keyword
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from seal.agents import PlayedAnew
from seal.agents.own_code import Inbox, OwnCode
from seal.agents.replies import CallsSpentError, PluginError
from seal.agents.teams import EXECUTOR, MANAGER, ORCHESTRATOR, USER
from seal.core import (
    JSON,
    Chat,
    Completion,
    Reply,
    Request,
    Step,
    Tool,
    ToolCall,
    ToolResult,
    UsageError,
    shortened,
)
from seal.core.conditions import SYSTEM
from seal.core.records import to_plain
from seal.core.registry import name_of
from seal.core.schemas import required_names
from seal.core.settings import places_of, takes
from seal.core.text import counted

# -- A user's functions as the agent, or as any role of a team.
#
#     def solve(request: str, tools: list[Callable]) -> str: ...
#     def planner(request: str, chat: Chat) -> str: ...
#
# A second parameter of the name `chat` gets the chat, and one of the name `tools` the tools. Of any
# other name it gets the tools as the execution manager, and the chat in every other role.
#
# Tools are Python callables; a call of one is a call of the chat: checked, run, counted and
# recorded like any other. Of a coroutine function they are coroutine functions too, and those
# awaited together are one reply's calls. Beside tools, a third parameter gets what was said before,
# as messages {role, content}; one with a default must be named `messages`. The chat has all that a
# role has (`seal.core.protocols.Chat`).
#
# A generator says what it yields to the user, and is sent what the user says next. Its last word is
# what it returns or, of an async one, what it yielded last. When it has ended, it begins anew.

_LOG = logging.getLogger(__name__)
LONGEST = 1 << 20
"""Characters of an answer."""
_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class OwnAgent(PlayedAnew):
    """A user's own code in a role."""

    def __init__(self) -> None:
        self.code = OwnCode()
        """Where it runs."""

    def close(self) -> None:
        """End what async code shares; tell of an orchestrator that never let the tools be used."""
        self.code.close()
        if self.code.hands_on is False:
            _LOG.warning(
                f"no reply of the {ORCHESTRATOR} handed work on, so no tool was reached: name a "
                f"role in the text (@{MANAGER}), or return seal.Reply(text, next={MANAGER!r})"
            )


class CodeAgent(OwnAgent):
    """A function, or an object with `reply(chat)`, in the place of a role, for all chats of a run.

    Args:
        what: A function of (request, tools), (request, tools, messages) or (request, chat), which
            returns what it says as a text, or a `seal.Reply`. An object serves every chat, a class
            of such is made for each.
        role: Whose place it takes, which decides what an unusual second name gets.

    Raises:
        UsageError: It takes other arguments.
    """

    def __init__(self, what: Any, role: str = MANAGER) -> None:
        super().__init__()
        self.identity = str(name_of(what))
        self._what = what
        self._given = _given_to(what, role)

    def for_chat(self) -> FunctionRole:
        """Return what plays the role in one chat."""
        made = self.made()
        return FunctionRole(self.code, getattr(made, "reply", made), self._given)

    def made(self) -> Any:
        """Return the function or the object, of a class a new one."""
        return self._what() if isinstance(self._what, type) else self._what


_REPLY = ("chat",)
"""What `reply` of an object is given."""


def _given_to(what: Any, role: str) -> Sequence[str]:
    """Return what a function in the place of a role is given, or `reply` of an object."""
    if hasattr(what, "reply"):
        is_class = isinstance(what, type)
        has_self = is_class and inspect.isfunction(inspect.getattr_static(what, "reply"))
        if not takes(what.reply, 1 + has_self):
            raise UsageError(f"{name_of(what)} is no agent; expected a method reply(chat)")
        return _REPLY
    given = list(inspect.signature(what).parameters.values())
    second = given[1].name if len(given) > 1 else ""
    third = given[2] if len(given) > 2 and given[2].kind in _BY_PLACE else None
    hears = third is not None and (third.name == "messages" or third.default is third.empty)
    takes_chat = second == "chat" or (role != MANAGER and second != "tools" and not hears)
    has_own = third is not None and not hears
    wanted = places_of(what, *((2,) if takes_chat or has_own else (3, 2)))
    if wanted is None:
        raise UsageError(
            f"{name_of(what)}{inspect.signature(what)} is no agent; expected a "
            "function of (request, tools), (request, tools, messages) or (request, chat)"
        )
    return ("request", "chat") if takes_chat else ("request", "tools", "messages")[:wanted]


class OwnRole(ABC):
    """What a user's own code needs to speak in one chat.

    Args:
        code: Where it runs.
    """

    plays_own_code = True
    agent: Any = None
    """The agent of AutoGen that sits in the chat itself; None: a seat of ours asks the code."""

    def __init__(self, code: OwnCode) -> None:
        self.code = code

    def reply(self, chat: Chat) -> Reply:
        """Return what the code says; what it prints is kept beside it.

        Raises:
            OverdueError: It takes longer than the chat may last.
            TypeError: It says no text.
            ValueError: The text is longer than `LONGEST`.
        """
        with self.code.watched() as printed:
            try:
                said = self.said(chat)
            finally:
                chat.note(printed.rest())
        reply = self.replied(said)
        if chat.role == ORCHESTRATOR and MANAGER in chat.roles:
            hands_on = isinstance(reply, Reply) and bool(reply.next or reply.calls)
            self.code.hands_on = self.code.hands_on or hands_on
        return reply

    def replied(self, said: Any) -> Reply:
        """Return what the code has said as a reply."""
        if isinstance(said, Reply):
            return said
        if not isinstance(said, str):
            raise TypeError(f"the agent {self.did(said)}")
        if len(said) > LONGEST:
            raise ValueError(
                f"the agent returned {len(said):,} characters; at most {LONGEST:,} are taken"
            )
        return Reply(said)

    def did(self, said: Any) -> str:
        """Return how the code gave what is no text, and what was expected."""
        return f"returned {_typed(said)}; expected the answer as a text"

    @abstractmethod
    def said(self, chat: Chat) -> Any:
        """Return a text, or a reply."""

    def close(self) -> None:  # noqa: B027 - most roles leave nothing behind
        """Leave the chat."""


def _typed(said: Any) -> str:
    return "None" if said is None else f"{shortened(said)} ({type(said).__name__})"


class FunctionRole(OwnRole):
    """A function, or the `reply(chat)` of an object, in the place of a role, in one chat.

    Args:
        code: Where it runs.
        function: Is called for each reply.
        given: What it is given.
    """

    def __init__(
        self, code: OwnCode, function: Callable[..., Any], given: Sequence[str] = _REPLY
    ) -> None:
        super().__init__(code)
        self._function = function
        self._names = given
        self._now = _Now()
        self._paused: Any = None
        """The generator that waits for what the user says next."""

    def replied(self, said: Any) -> Reply:
        """Return what was said as a reply; a user that says nothing ends the conversation."""
        reply = super().replied(said)
        ends = self._now.chat.role == USER and not (reply.calls or reply.content.strip())
        return replace(reply, done=True) if ends else reply

    def close(self) -> None:
        """Leave a generator that waits."""
        paused, self._paused = self._paused, None
        if inspect.isgenerator(paused):
            paused.close()

    def did(self, said: Any) -> str:
        """Return how the function gave what is no text, and what was expected."""
        if self._paused is not None:
            return f"yielded {_typed(said)}; expected a text for the user"
        if inspect.isasyncgenfunction(self._function):
            return "ended before it yielded; expected that it yields its answer last"
        return super().did(said)

    def said(self, chat: Chat) -> Any:
        """Return what the function says to what it was told last."""
        if self._paused is None:  # what an earlier call kept is of no use any more
            self._now = _Now()
        self._now.chat = chat
        request = asked_of(chat)
        if self._paused is not None:
            ended, said = self._resumed(request)
            if not ended or said is not None:
                return said
        given = self._given(chat, request)
        value = self._called(lambda: self._function(*given))
        if inspect.isgenerator(value) or inspect.isasyncgen(value):
            self._paused = value
            return self._resumed(None)[1]
        return self._awaited(value) if inspect.isawaitable(value) else value

    def _called(self, function: Callable[[], Any]) -> Any:
        return self.code.call(function, self._now.chat.seconds_left)

    def _awaited(self, value: Awaitable[Any]) -> Any:
        now = self._now
        now.work = Inbox(now.chat.role, self.code.pace)  # a generator may end before another begins
        return self.code.wait(value, now.chat.seconds_left, now.work)

    def _resumed(self, heard: str | None) -> tuple[bool, Any]:
        """Return whether the generator has ended, and what it says."""
        paused, self._paused = self._paused, None
        try:
            if hasattr(paused, "asend"):
                said = self._awaited(paused.asend(heard))
            else:
                said = self._called(lambda: paused.send(heard))
        except StopAsyncIteration:
            return True, None
        except StopIteration as end:
            return True, end.value
        self._paused = paused
        return False, said

    def _given(self, chat: Chat, request: str) -> tuple[Any, ...]:
        now: Any = self._now
        if self._names == _REPLY:
            return (chat,)
        if "chat" in self._names:
            return request, now
        tools = Together(now).tools() if self._is_async() else plain_tools(now)
        if "messages" not in self._names:  # it hears nothing else
            return told_of(chat), tools
        return request, tools, earlier_of(chat)

    def _is_async(self) -> bool:
        function = self._function
        called = getattr(function, "__call__", None)  # noqa: B004 - an object's method
        return any(
            inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one)
            for one in (function, called)
        )


class _Now:
    """The chat of the reply that is being made: a generator has it longer than one reply."""

    chat: Chat
    work: Inbox

    def __getattr__(self, name: str) -> Any:
        """Return what the chat has."""
        return getattr(self.chat, name)


def _texts(chat: Chat) -> list[Step]:
    """Return what was said in words to the role or by it, but for what the executor brings."""
    return [
        step
        for step in chat.steps
        if chat.role in (step.author, step.recipient)
        and EXECUTOR not in (step.author, step.recipient)
    ]


def asked_of(chat: Chat) -> str:
    """Return what the role is asked: its instruction, or what the user said last."""
    if chat.role == USER:
        return chat.request
    if chat.role == MANAGER:
        told = (s for s in reversed(_texts(chat)) if s.author not in (MANAGER, SYSTEM))
    else:
        told = (s for s in reversed(chat.steps) if s.author == USER and s.call is None)
    return next((step.content for step in told), chat.request)


def told_of(chat: Chat) -> str:
    """Return what the role is asked behind what the system told it, for who hears nothing else."""
    told = (step.content for step in _texts(chat) if step.author == SYSTEM)
    return "\n\n".join((*told, asked_of(chat)))


def earlier_of(chat: Chat) -> list[dict[str, str]]:
    """Return what was said before the request."""
    kinds = {chat.role: "assistant", SYSTEM: "system"}
    return [
        {"role": kinds.get(step.author, "user"), "content": step.content}
        for step in _texts(chat)[:-1]
    ]


class OwnModel:
    """Stands for the model of a run that names none, as an agent of one's own may ask its own.

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
        if request.role == MANAGER:
            raise UsageError(
                f"{self.identity} asks the run's model, and none is named; name one: "
                "--model PROVIDER/MODEL, in Python model=; lexical is one that plays by rules"
            )
        raise UsageError(
            f"the role {request.role!r} needs a model, and {self.identity} asks its own; "
            f"name one: --role-model {request.role}=PROVIDER/MODEL"
        )


# -- The tools of a chat as Python callables, with names, signatures, docstrings and JSON Schemas.

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
    """

    def __init__(self, chat: _Now) -> None:
        self._chat = chat
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
                # For ever: who goes on calling in vain must not use up the processor.
                await answered
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
            self._chat.work.put(made, settle)
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
    required = set(required_names(tool.parameters))
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
