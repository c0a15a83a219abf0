"""The models of AutoGen's agents that sit in a chat: each request goes to the model of the seat.

`Desk` stands in for what an `OpenAIWrapper` asks while a guest speaks; `SealClient` is the
`ModelClient` that it asks by. The wrapper itself does its usual work before and after: it adds the
agent's own tools, fills templates and counts usage. The desk also lends a model to every agent that
replies without one, and notes what agents say among themselves.
"""

from __future__ import annotations

import copy
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import SimpleNamespace
from typing import Any

from seal.agents.autogen import library
from seal.agents.teams import USER
from seal.core import Message, Tool, ToolCall, Usage, UsageError, shortened
from seal.core.call_formats import call_of
from seal.core.values import json_text

OURS = "SealClient"
"""What the configuration of an agent names as its client where the user names none."""
OUR_CONFIG = {"model": "seal", "model_client_cls": OURS}
_CHOOSERS = ("checking_agent", "speaker_selection_agent")
"""Agents of AutoGen's own, which choose who speaks in a group chat."""
SPEAKING: ContextVar[Desk | None] = ContextVar("speaking", default=None)
"""Where models are asked in the context of a guest that speaks."""
_SEATED_AT = "_seated_at"
"""Attribute with the desk of an agent that replies in an event loop: AutoGen asks its model in a
thread that lacks the context."""


class Desk:
    """Where a guest's models are asked while it speaks.

    Args:
        offers: Whether an agent is offered the tools of the chat.
        listener: The agent that stands for the rest of the chat; what it is told is on the record.
    """

    def __init__(self, offers: Callable[[Any], bool], listener: Any = None) -> None:
        self.listener = listener
        self.chat: Any = None
        self.made: dict[str, ToolCall] = {}
        """Id to each call that a model made, as it made it."""
        self._offers = offers
        self._lent: list[Any] = []
        self._own_calls: dict[str, str] = {}
        """Id to each call among the agents of a tool that the chat does not offer, in words."""

    def lend(self, agent: Any) -> None:
        """Give a model to an agent that has none and no other reply, until the chat ends."""
        autogen = library()
        none = (autogen.UserProxyAgent, autogen.GroupChatManager)
        replies = agent._default_auto_reply or hasattr(agent, "has_own_replies")  # a seat of ours
        wants = agent.client is None and not replies
        if wants and agent is not self.listener and not isinstance(agent, none):
            agent.client = our_wrapper()
            self._lent.append(agent)

    def close(self) -> None:
        """Take back what was lent."""
        for one in self._lent:
            one.client = None

    def overhear(self, agent: Any, hearer: Any, reply: Any) -> None:
        """Note what an agent says to another, and what tools of their own answer."""
        if hearer is self.listener or agent.name in _CHOOSERS:
            return
        message = reply if isinstance(reply, dict) else {"content": reply}
        offered = {tool.name for tool in self.chat.tools}
        for call in message.get("tool_calls") or ():
            if call_in(call).name not in offered:
                self._own_calls[call.get("id", "")] = called_text(call)
        answers = message.get("tool_responses")
        for one in answers or ():
            called = self._own_calls.get(one.get("tool_call_id", ""))
            if called is not None:
                self.chat.note(f"{agent.name}: own tool {called}: {one['content']}\n")
        text = text_of(message.get("content"))
        if not answers and text.strip():
            self.chat.note(f"{agent.name}: {text}\n")

    def create(self, original: Any, wrapper: Any, config: dict[str, Any]) -> Any:
        """Return the answer to a request, of the seat's model or of a client of the user's own."""
        if any(one.get("model_client_cls") not in (None, OURS) for one in wrapper._config_list):
            return self._counted(original, wrapper, config)
        asking = copy.copy(wrapper)
        agent = config.get("agent")
        asking._clients = [SealClient(self, self._offers(agent))]
        kept = ("cache_seed", "cache", "filter_func")
        asking._config_list = [{k: v for k, v in wrapper._config_list[0].items() if k not in kept}]
        answer = original(asking, **{**config, "cache": None})
        wrapper.actual_usage_summary = asking.actual_usage_summary
        wrapper.total_usage_summary = asking.total_usage_summary
        return answer

    def _counted(self, original: Any, wrapper: Any, config: dict[str, Any]) -> Any:
        before = _tokens(wrapper)
        answer = original(wrapper, **config)
        for model, (asked, said) in _tokens(wrapper).items():
            asked_before, said_before = before.get(model, (0, 0))
            used = (asked - asked_before, said - said_before)
            if Usage.admits(*used):
                self.chat.count(model, Usage(*used))
        return answer

    def call_of(self, call: Mapping[str, Any]) -> ToolCall:
        """Return a call of a message as the model made it, or as hooks have changed it."""
        found = call_in(call)
        known = self.made.get(call.get("id", ""))
        text = call["function"].get("arguments") if known is not None else None
        if known is not None and known.name == found.name and arguments_text(known) == text:
            return ToolCall("", known.name, known.arguments, known.raw)
        return found


def _tokens(wrapper: Any) -> dict[str, tuple[int, int]]:
    summary = wrapper.actual_usage_summary or {}
    return {
        model: (used["prompt_tokens"], used["completion_tokens"])
        for model, used in summary.items()
        if isinstance(used, dict)
    }


def called_text(call: Mapping[str, Any]) -> str:
    """Return a call of a message in words."""
    return f"{call['function'].get('name')}({call['function'].get('arguments')})"


def as_message(said: Any, role: str) -> Any:
    """Return what an agent says: a text, or a message in which each call has an id of its own.

    A `function_call`, as OpenAI had it before `tool_calls`, is the message's one call.

    Args:
        said: What a reply function or a hook of the agent returned.
        role: Who says it.

    Raises:
        UsageError: It is neither a text nor a message, or one of its calls is no call.
    """
    if isinstance(said, str):
        return said
    said = said.model_dump() if hasattr(said, "model_dump") else said
    if not isinstance(said, Mapping):
        raise UsageError(
            f"role {role!r} sent {shortened(said)} ({type(said).__name__}); "
            'expected a text, or a message such as {"content": "..."}'
        )
    message, content = dict(said), said.get("content")
    if not (content is None or isinstance(content, str | list)):
        message["content"] = str(content)
    old = message.pop("function_call", None)
    calls = message.get("tool_calls") or ([{"type": "function", "function": old}] if old else [])
    if not calls:
        return message
    told: dict[str, Any] = {}
    for number, call in enumerate(calls if isinstance(calls, list | tuple) else [calls]):
        if not (isinstance(call, Mapping) and isinstance(call.get("function"), Mapping)):
            raise UsageError(
                f"role {role!r} sent the call {shortened(call)}; expected "
                '{"id": ..., "function": {"name": ..., "arguments": "{...}"}}'
            )
        call_id = call.get("id")
        if not isinstance(call_id, str) or not call_id or call_id in told:
            call_id = f"{role}_unnamed_{number}"
        told[call_id] = {**call, "id": call_id}
    return {**message, "tool_calls": [*told.values()]}


def call_in(call: Mapping[str, Any]) -> ToolCall:
    """Return a call of a message; what is no object stays as a text."""
    function = call["function"]
    text = function.get("arguments") or "{}"
    try:
        arguments = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        arguments = None
    is_object = isinstance(arguments, dict)
    raw = "" if is_object else str(text)
    return ToolCall("", str(function.get("name") or ""), arguments if is_object else None, raw)


def arguments_text(call: ToolCall) -> str:
    """Return the arguments of a call as OpenAI's messages carry them."""
    return call.raw or json_text(call.arguments)


class SealClient:
    """A `ModelClient` of AutoGen that asks the model of a seat.

    Args:
        desk: Of the guest that speaks.
        offers: Whether the tools of the chat are offered beside the agent's own.
    """

    def __init__(self, desk: Desk, offers: bool) -> None:
        self._desk = desk
        self._offers = offers

    def create(self, params: Mapping[str, Any]) -> Any:
        """Return what the model says, as a response of OpenAI's with one choice."""
        desk = self._desk
        offered = list(desk.chat.tools) if self._offers else []
        taken = {tool.name for tool in offered}
        own = [tool for tool in map(_own_tool, params.get("tools") or ()) if tool.name not in taken]
        messages = [_message(desk, message) for message in params["messages"]]
        answer = desk.chat.complete(messages, [*offered, *own], "response_format" in params)
        calls = []
        for call in answer.calls:
            call_id = f"{desk.chat.role}_{len(desk.made)}"
            desk.made[call_id] = call
            calls.append(call_of(call_id, call.name, arguments_text(call)))
        said: dict[str, Any] = {"role": "assistant", "content": answer.content}
        return SimpleNamespace(
            choices=[SimpleNamespace(message=said | ({"tool_calls": calls} if calls else {}))],
            model=str(params.get("model", "")),
            usage=answer.usage,
            cost=0.0,
            message_retrieval_function=None,
        )

    def message_retrieval(self, response: Any) -> list[Any]:
        """Return the text of a response, or its message where it makes calls."""
        messages = [choice.message for choice in response.choices]
        return [one if one.get("tool_calls") else one["content"] for one in messages]

    def cost(self, response: Any) -> float:
        """Return 0: what models cost is counted by the run."""
        return 0.0

    @staticmethod
    def get_usage(response: Any) -> dict[str, Any]:
        """Return the tokens of a response."""
        asked, said = response.usage.tokens_in, response.usage.tokens_out
        return {
            "prompt_tokens": asked,
            "completion_tokens": said,
            "total_tokens": asked + said,
            "cost": 0.0,
            "model": response.model,
        }


def _own_tool(schema: Mapping[str, Any]) -> Tool:
    function = schema["function"]
    parameters = function.get("parameters") or {"type": "object", "properties": {}}
    name = function["name"]
    return Tool(f"autogen/own/{name}", name, function.get("description") or "", parameters)


def _message(desk: Desk, message: Mapping[str, Any]) -> Message:
    """Return a message of AutoGen as one of ours; whoever is not the user is named in the text."""
    role, text = message.get("role"), text_of(message.get("content"))
    if role == "system":
        return Message("system", text)
    if role == "tool":
        return Message("tool", text, call_id=message.get("tool_call_id", ""))
    if role == "assistant":
        made = message.get("tool_calls") or ()
        return Message("assistant", text, tuple(_with_id(desk, call) for call in made))
    name = message.get("name")
    return Message("user", f"[{name}] {text}" if name not in (None, "", USER) else text)


def _with_id(desk: Desk, call: Mapping[str, Any]) -> ToolCall:
    found = desk.call_of(call)
    return ToolCall(call.get("id", ""), found.name, found.arguments, found.raw)


def text_of(content: Any) -> str:
    """Return the text of a content, which may have parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "\n".join(text for text in texts if isinstance(text, str))


@cache
def our_wrapper() -> Any:
    """Return what an agent asks that has no model of its own; it takes a while to make."""
    return library().OpenAIWrapper(config_list=[{**OUR_CONFIG}])


_LOG = logging.getLogger("autogen.oai.client")
_MAKING: ContextVar[bool] = ContextVar("making", default=False)
"""Whether agents are being made for a chat, whose own clients answer nothing there."""
_ROUTING = threading.Lock()
_routed = 0
"""How many chats in progress have guests."""
_USUAL: dict[str, Any] = {}
"""Name to what AutoGen's classes have when no guest speaks."""


def route() -> None:
    """Let agents ask the seat's model, and note what they say, in the context of a guest.

    AutoGen's classes are changed until `unroute` was called as many times.
    """
    global _routed
    autogen = library()
    with _ROUTING:
        _routed += 1
        if _routed == 1:
            agent = autogen.ConversableAgent
            _USUAL["create"] = autogen.OpenAIWrapper.create
            _USUAL["reply"] = agent.generate_reply
            _USUAL["reply_async"] = agent.a_generate_reply
            autogen.OpenAIWrapper.create = _create
            agent.generate_reply = _generate_reply
            agent.a_generate_reply = _a_generate_reply
            _LOG.addFilter(_untold)


def unroute() -> None:
    """Put back what AutoGen's classes had before the first chat with guests began."""
    global _routed
    autogen = library()
    with _ROUTING:
        _routed -= 1
        if _routed == 0:
            autogen.OpenAIWrapper.create = _USUAL["create"]
            autogen.ConversableAgent.generate_reply = _USUAL["reply"]
            autogen.ConversableAgent.a_generate_reply = _USUAL["reply_async"]
            _LOG.removeFilter(_untold)


@contextmanager
def making() -> Iterator[None]:
    """Make agents for a chat within the block, without what AutoGen logs of their clients."""
    route()
    token = _MAKING.set(True)
    try:
        yield
    finally:
        _MAKING.reset(token)
        unroute()


def _untold(record: logging.LogRecord) -> bool:
    """Keep to itself what AutoGen logs of clients of ours, and while a guest speaks."""
    ours = SPEAKING.get() or _MAKING.get() or OURS in record.getMessage()
    return record.levelno >= logging.ERROR or not ours


def _create(wrapper: Any, **config: Any) -> Any:
    original = _USUAL["create"]
    desk = SPEAKING.get() or getattr(config.get("agent"), _SEATED_AT, None)
    return original(wrapper, **config) if desk is None else desk.create(original, wrapper, config)


def _generate_reply(
    agent: Any, messages: Any = None, sender: Any = None, *more: Any, **options: Any
) -> Any:
    reply, desk = _USUAL["reply"], SPEAKING.get()
    if desk is None:
        return reply(agent, messages, sender, *more, **options)
    desk.lend(agent)
    said = reply(agent, messages, sender, *more, **options)
    desk.overhear(agent, sender, said)
    return said


async def _a_generate_reply(
    agent: Any, messages: Any = None, sender: Any = None, *more: Any, **options: Any
) -> Any:
    reply, desk = _USUAL["reply_async"], SPEAKING.get()
    if desk is None:
        return await reply(agent, messages, sender, *more, **options)
    desk.lend(agent)
    setattr(agent, _SEATED_AT, desk)
    try:
        said = await reply(agent, messages, sender, *more, **options)
    finally:
        delattr(agent, _SEATED_AT)
    desk.overhear(agent, sender, said)
    return said
