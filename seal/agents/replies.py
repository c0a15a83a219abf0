"""What a role may be offered and may give back, and whose failure it is if it fails."""

from __future__ import annotations

import asyncio
import threading
import traceback
from collections.abc import Collection, Iterable, Mapping, Set
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from seal.agents.teams import EXECUTOR
from seal.core import (
    END_CONVERSATION,
    JSON,
    Chat,
    Completion,
    InfrastructureError,
    Reply,
    SealError,
    Tool,
    ToolCall,
    ToolResult,
    UsageError,
    fault,
)
from seal.core import FIND_TOOLS as FIND_TOOLS_ID
from seal.core.values import json_text

# -- The tools that a chat offers: what the names in a model's calls mean, and the user's own tools.
#
# The user may call `end_conversation`, and the tools that its brief names. Its calls go to the
# executor like an agent's, so that the trajectory shows them; they are none of the agent's calls.
# Those of its brief's tools are the environment's; `end_conversation` never reaches it. What else
# a user's model calls is answered with an error of the kind `unknown_tool`, and it speaks again.

FIND_TOOLS = Tool(
    id=FIND_TOOLS_ID,
    name="find_tools",
    description="Look for tools that can do something. The tools found can be called from then on.",
    parameters={
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What a tool should do, in one sentence."}
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)
"""Offered under `retrieve=on-demand`."""


class Offers:
    """Tools with names of their own: a name that is taken gets `_2`, `_3`..."""

    def __init__(self) -> None:
        self.tools: list[Tool] = []
        self.names: list[str] = []
        self._by_name: dict[str, Tool] = {}
        self._ids: set[str] = set()

    def add(self, tools: Iterable[Tool]) -> list[Tool]:
        """Offer tools that are not offered yet. Returns all given ones under their names here."""
        given = list(tools)
        for tool in given:
            if tool.id not in self._ids:
                self._add(tool)
        wanted = {tool.id for tool in given}
        return [tool for tool in self.tools if tool.id in wanted]

    def _add(self, tool: Tool) -> None:
        name, number = tool.name, 1
        while name in self._by_name:
            number += 1
            name = f"{tool.name}_{number}"
        named = tool if name == tool.name else replace(tool, name=name)
        self.tools.append(named)
        self.names.append(name)
        self._by_name[name] = named
        self._ids.add(tool.id)

    def resolve(self, call: ToolCall, call_id: str) -> ToolCall:
        """Return the call under its place in the chat and with the id of the tool that it names.

        If the tool declares no parameters, `null`, or an empty map with signs behind it, is read as
        no arguments; `raw` keeps the text.
        """
        tool = self._by_name.get(call.name)
        found = replace(call, id=call_id, tool=tool.id if tool else None)
        if tool is None or call.arguments is not None or tool.parameters.get("properties"):
            return found
        from seal.core.text_formats import none_written

        return replace(found, arguments={}) if none_written(call.raw) else found


END = Tool(
    id=END_CONVERSATION,
    name="end_conversation",
    description="End the conversation: the goal is reached, or the assistant keeps failing.",
)


def leave(chat: Chat, content: str = "") -> Reply:
    """Return the reply that ends the conversation, through the executor where one is seated."""
    if EXECUTOR in chat.roles:
        return Reply(content, (ToolCall("", END.name, {}),))
    return Reply(content, done=True)


def resolved(call: ToolCall, call_id: str, held: Iterable[Tool] = ()) -> ToolCall:
    """Return a user's call under its place in the chat, whatever is offered to the agent.

    Args:
        call: As the user made it.
        call_id: Its place.
        held: The user's tools besides the end of the conversation.
    """
    tool = next((tool.id for tool in (END, *held) if tool.name == call.name), None)
    return replace(call, id=call_id, tool=tool)


def answered(call: ToolCall, held: Iterable[Tool] = ()) -> ToolResult | None:
    """Return the result of a user's call; None: the environment runs it."""
    if call.tool == END.id:
        return ToolResult(call.id, json_text({"error": "", "response": None}))
    if call.tool is not None:
        return None
    names = ", ".join(tool.name for tool in (*held, END))
    message = f"The user has no tool {call.name!r}; it has: {names}."
    error = {"kind": "unknown_tool", "name": call.name, "message": message}
    return ToolResult(call.id, json_text({"error": message, "response": None}), error)


# -- Checks of what a role, or a model, gives back: of other types it is refused by name.


NOTHING = Reply(done=True)
"""What a role replies that says nothing: it crashed, was late or has no word. It ends the chat."""


def checked_reply(role: str, reply: Any, seated: Collection[str]) -> Reply:
    """Return what a role replied.

    Args:
        role: Who replied.
        reply: What it replied.
        seated: Roles in the chat, to which it may hand on.

    Raises:
        UsageError: It is no `Reply`, a field of it is of another type, or it hands on to a role
            that is not seated; the text names both.
    """
    if not isinstance(reply, Reply):
        raise UsageError(
            f"role {role!r} replied with {type(reply).__name__}; expected seal.Reply(content=...)"
        )
    speaker = f"role {role!r} replied with"
    _check(speaker, "content", reply.content, str)
    _check(speaker, "next", reply.next, str, type(None))
    for call in _items(speaker, "calls", reply.calls):
        _check_call(speaker, call)
    for result in _items(speaker, "results", reply.results):
        _check(speaker, "a result", result, ToolResult)
        _check(speaker, "a result's content", result.content, str)
    if reply.next is not None and reply.next not in seated:
        raise UsageError(
            f"role {role!r} hands on to {reply.next!r}, which is not seated; "
            f"seated: {', '.join(sorted(seated))}"
        )
    return reply


def checked_results(role: str, reply: Reply, executed: Set[str], recorded: Set[str]) -> Reply:
    """Return a reply without the results that stand in the record already.

    Args:
        role: Who replied.
        reply: What it replied.
        executed: Ids of the calls of the last message that it ran.
        recorded: Ids of its own calls, which stand in the record with their results.

    Raises:
        PluginError: Another role than the executor brings a result of what it never ran, or the
            executor brings no result of what it ran.
    """
    results = tuple(result for result in reply.results if result.call_id not in recorded)
    brought = {result.call_id for result in results}
    if role != EXECUTOR and brought:
        raise PluginError(
            f"role {role!r} replied with results of {_listed(brought)}, which it never ran; only "
            f"the {EXECUTOR} brings results. Run calls by chat.execute(calls): it records them"
        )
    if not executed <= brought:
        raise PluginError(
            f"role {role!r} ran {_listed(executed - brought)} and replied without the results; "
            f"expected one of each call that it ran, as chat.execute returned it"
        )
    return replace(reply, results=results) if reply.results else reply


def _listed(ids: Set[str]) -> str:
    return ", ".join(map(repr, sorted(ids)))


def checked_calls(role: str, calls: Any) -> tuple[ToolCall, ...]:
    """Return the calls that a role runs.

    Raises:
        UsageError: They are no calls, or a field of one is of another type.
    """
    speaker = f"role {role!r} executes"
    given = _items(speaker, "calls", calls)
    for call in given:
        _check_call(speaker, call)
    return given


def checked_completion(role: str, answer: Any) -> Completion:
    """Return what a role's model answered.

    Raises:
        UsageError: It is no `Completion`, or a field of it is of another type.
    """
    speaker = f"the model of role {role!r} answered with"
    _check(speaker, "what should be a seal.Completion", answer, Completion)
    _check(speaker, "content", answer.content, str)
    for call in _items(speaker, "calls", answer.calls):
        _check_call(speaker, call)
    return answer  # type: ignore[no-any-return]


def _check_call(speaker: str, call: Any) -> None:
    _check(speaker, "a call", call, ToolCall)
    _check(speaker, "a call's name", call.name, str)
    _check(speaker, "a call's arguments", call.arguments, dict, type(None))
    _check(speaker, "a call's raw text", call.raw, str)


def _items(speaker: str, what: str, value: Any) -> tuple[Any, ...]:
    _check(speaker, what, value, tuple, list)
    return tuple(value)


def _check(speaker: str, what: str, value: Any, *kinds: type) -> None:
    if not isinstance(value, kinds):
        names = " or ".join("None" if kind is type(None) else kind.__name__ for kind in kinds)
        raise UsageError(f"{speaker} {what} of type {type(value).__name__}; expected {names}")


# -- Which parts of a persona (`seal.agents.users`) the user is told.

Brief = Literal["goal", "goal+boundary", "goal+boundary+demonstration"]
WHOLE: Brief = "goal+boundary+demonstration"


def reduced(persona: Mapping[str, JSON], brief: Brief) -> dict[str, JSON]:
    """Return the parts of a persona that a brief has.

    `goal` keeps the entries `goal`, `then`, `opening`, `verbatim` and `tools`; `goal+boundary`
    drops the demonstration alone.
    """
    if brief == "goal":
        kept = ("goal", "then", "opening", "verbatim", "tools")
        return {name: value for name, value in persona.items() if name in kept}
    if brief == "goal+boundary":
        return {name: value for name, value in persona.items() if name != "demonstration"}
    return dict(persona)


# -- How a role may fail, and whose failure it is: the role's, a server's, or ours.

_OURS = Path(__file__).resolve().parents[1]
_CHAT = str(Path(__file__).with_name("view.py"))
"""What a role sees of its chat."""


class PluginError(InfrastructureError):
    """A role, or what it used, raised an exception that is none of ours: a fault of the program."""


class NeverBegunError(UsageError):
    """An agent elsewhere fails in every chat before it asks anything: the run ends."""


class NoPersonError(UsageError):
    """A person is to speak where there is no terminal: the run ends."""


class CallsSpentError(BaseException):
    """A role goes on calling after its results said that the budget is spent: its reply ends.

    It never leaves the conversation, which ends with the stop reason `max_calls`.
    """


FAULTS = (Exception, SystemExit, asyncio.CancelledError, CallsSpentError)
"""What a plug-in may end with. The last is no `Exception`, so that its own code lets it by."""


def is_interrupt(error: BaseException) -> bool:
    """Tell whether it is the user who ends the program; in other threads code raised it itself."""
    main = threading.current_thread() is threading.main_thread()
    return isinstance(error, KeyboardInterrupt) and main


def is_outage(error: BaseException) -> bool:
    """Tell whether an exception, or what led to it, is the failure of a server or of ours.

    A server says so by an HTTP status of 429 or from 500 on, a network by a broken connection. A
    `TimeoutError` is one where it led to another exception; by itself it may be the role's own.
    """
    from seal.core.servers import causes_of, is_busy, is_of_transport, status_of

    for earlier in causes_of(error):
        late = isinstance(earlier, TimeoutError) and earlier is not error
        failed = isinstance(earlier, InfrastructureError) or is_of_transport(earlier)
        if late or failed or is_busy(status_of(earlier)):
            return True
    return False


def is_of_the_chat(error: SealError) -> bool:
    """Tell whether a role got an error from its chat: a server's, a budget's, or a misuse of it.

    Any other one is the role's own, such as one that it raises or that a verb of ours told it.
    """
    places = (frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__))
    return (
        isinstance(error, (InfrastructureError, NeverBegunError, NoPersonError)) or _CHAT in places
    )


_FRAMES = 10
"""Places at each end of a traceback that are told."""


def crash(error: BaseException) -> str:
    """Return what an exception of a user's code says, and below it where it came from.

    Files stand without their folders.
    """
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not Path(frame.filename).is_relative_to(_OURS)]
    lines = [f"  {Path(f.filename).name}, line {f.lineno}, in {f.name}: {f.line}" for f in own]
    if len(lines) > 2 * _FRAMES:  # an endless recursion has a thousand
        lines[_FRAMES:-_FRAMES] = [f"  and {len(lines) - 2 * _FRAMES} more"]
    return "\n".join([fault(error), *lines])
