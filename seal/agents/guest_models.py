"""What agents of a user's ask and say: while a guest speaks, they ask the model of its seat.

`Desk` stands in for what an `OpenAIWrapper` asks; `SealClient` is the `ModelClient` that it asks
by. The wrapper itself does its usual work before and after: it adds the agent's own tools, fills
templates and counts usage. The desk also lends a model to every agent that replies without one,
runs calls of offered tools for the members of a group, and notes what agents say among
themselves.
"""

from __future__ import annotations

import copy
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

from seal.agents.autogen import library, run_in_context
from seal.agents.messages import (
    answers,
    as_message,
    call_in,
    call_message,
    called_text,
    in_words,
    parts_of,
    response,
    text_of,
    tool_of,
)
from seal.agents.own_code import printed_here
from seal.agents.teams import USER
from seal.agents.view import Stamp, View
from seal.core import (
    Message,
    ToolCall,
    Usage,
)

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
        agents: All that are known.
        listener: The agent that stands for the rest of the chat; what it is told is on the record.
    """

    def __init__(self, agents: Sequence[Any] = (), listener: Any = None) -> None:
        self.agents = agents
        self.listener = listener
        self.offers = False
        """Whether the known agents are offered the tools of the chat."""
        self.runs_calls = False
        """Whether they run calls of these themselves."""
        self.may_run_code = True
        """Whether they may run code that a model wrote."""
        self.user: Any = None
        """The agent whose turn ends a group's chat; None: no agent's does."""
        self.chat: Any = None
        self.made: dict[str, ToolCall] = {}
        """Id to each call that a model made, as it made it."""
        self._lent: list[Any] = []
        self._own_calls: dict[str, str] = {}
        """Id to each call among the agents of a tool that the chat does not offer, in words."""

    @contextmanager
    def open(self) -> Iterator[Desk]:
        """Be there for agents within the block; afterwards they are as they were."""
        with routed():
            for agent in self.agents:
                self.lend(agent)
                if self.runs_calls:
                    agent.register_reply([library().Agent, None], _reply_here, position=0)
            try:
                yield self
            finally:
                for agent in self._lent:
                    agent.client = None
                for agent in self.agents:
                    replies = agent._reply_func_list
                    replies[:] = [one for one in replies if one["reply_func"] is not _reply_here]

    @contextmanager
    def asking(self, chat: Any) -> Iterator[None]:
        """Let every agent that is asked within the block ask the model of a role in a chat."""
        self.chat = chat
        token = SPEAKING.set(self)
        try:
            yield
        finally:
            SPEAKING.reset(token)

    def knows(self, agent: Any) -> bool:
        """Tell whether an agent is one of those that are known."""
        return any(agent is one for one in self.agents)

    def lend(self, agent: Any) -> None:
        """Give a model to an agent that has none and no other reply, until the chat ends."""
        autogen = library()
        none = (autogen.UserProxyAgent, autogen.GroupChatManager)
        replies = agent._default_auto_reply or hasattr(agent, "has_own_replies")  # a seat of ours
        wants = agent.client is None and not replies
        if wants and agent is not self.listener and not isinstance(agent, none):
            agent.client = our_wrapper()
            self._lent.append(agent)

    def replied(self, agent: Any, messages: Sequence[Any]) -> tuple[bool, Any]:
        """Return whether a reply is made here in an agent's place, and that reply."""
        if agent is self.user:
            return True, None
        if not messages or not messages[-1].get("tool_calls"):
            return False, None
        _, made = parts_of(as_message(messages[-1], agent.name))
        offered = {tool.name for tool in self.chat.tools}
        calls = {call["id"]: call_in(call, self.made) for call in made}
        ours = {call_id: call for call_id, call in calls.items() if call.name in offered}
        if not ours:
            return False, None
        ran = dict(zip(ours, self.chat.execute([*ours.values()]), strict=True))
        return True, answers(
            [
                response(call["id"], ran[call["id"]].content)
                if call["id"] in ran
                else own_answer(agent, call)
                for call in made
            ]
        )

    def ran(self, agent: Any, messages: Any, sender: Any) -> tuple[bool, Any]:
        """Return whether calls were run in the place of an agent of a nested chat, and the reply.

        An agent runs calls for which it has a function of its own; others go to the environment.
        """
        if sender is None or sender is self.listener or self.runs_calls:
            return False, None
        told = agent.chat_messages[sender] if messages is None else messages
        made = (told[-1].get("tool_calls") or ()) if told else ()
        names = [call["function"].get("name") for call in made]
        has_own = bool(names) and all(name in agent._function_map for name in names)
        return (False, None) if has_own or not names else self.replied(agent, told)

    def excluded(self, agent: Any) -> tuple[Any, ...]:
        """Return the reply functions of an agent that are not asked: those that run code."""
        kind = library().ConversableAgent
        runs = (
            kind.generate_code_execution_reply,
            kind._generate_code_execution_reply_using_executor,
        )
        return () if self.may_run_code or not self.knows(agent) else runs

    def overheard(self, agent: Any, hearer: Any, reply: Any) -> Any:
        """Return what an agent says to another; it is noted, as what tools of their own answer.

        Raises:
            UsageError: It is no text and no message.
        """
        if reply is None or hearer is self.listener or agent.name in _CHOOSERS:
            return reply
        said = as_message(reply, agent.name)
        message = said if isinstance(said, dict) else {"content": said}
        offered = {tool.name for tool in self.chat.tools}
        for call in message.get("tool_calls") or ():
            name = call["function"].get("name")
            if name not in offered or name in getattr(hearer, "_function_map", ()):
                self._own_calls[call.get("id", "")] = called_text(call)
        told = message.get("tool_responses")
        for one in told or ():
            called = self._own_calls.get(one.get("tool_call_id", ""))
            if called is not None:
                self.chat.note(f"{agent.name}: own tool {called}: {one['content']}\n")
        text = text_of(message.get("content"))
        if not told and text.strip():
            self.chat.note(f"{agent.name}: {text}\n")
        return reply

    def create(self, original: Any, wrapper: Any, config: dict[str, Any]) -> Any:
        """Return the answer to a request, of the seat's model or of a client of the user's own."""
        if any(one.get("model_client_cls") not in (None, OURS) for one in wrapper._config_list):
            return self._counted(original, wrapper, config)
        asking = copy.copy(wrapper)
        asking._clients = [SealClient(self, self.offers and self.knows(config.get("agent")))]
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


def _tokens(wrapper: Any) -> dict[str, tuple[int, int]]:
    summary = wrapper.actual_usage_summary or {}
    return {
        model: (used["prompt_tokens"], used["completion_tokens"])
        for model, used in summary.items()
        if isinstance(used, dict)
    }


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
        own = [tool_of(schema["function"]) for schema in params.get("tools") or ()]
        offered += [tool for tool in own if tool.name not in taken]
        messages = [_message(desk, message) for message in params["messages"]]
        answer = desk.chat.complete(messages, offered, "response_format" in params)
        calls = []
        for call in answer.calls:
            call_id = f"{desk.chat.role}_{len(desk.made)}"
            desk.made[call_id] = call
            calls.append(call_message(call, call_id))
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


def _message(desk: Desk, message: Mapping[str, Any]) -> Message:
    """Return a message of AutoGen as one of ours; whoever is not the user is named in the text."""
    role, text = message.get("role"), text_of(message.get("content"))
    if role == "system":
        return Message("system", text)
    if role == "tool":
        return Message("tool", text, call_id=message.get("tool_call_id", ""))
    if role == "assistant":
        made = message.get("tool_calls") or ()
        calls = (replace(call_in(call, desk.made), id=call.get("id", "")) for call in made)
        return Message("assistant", text, tuple(calls))
    name = message.get("name")
    return Message("user", f"[{name}] {text}" if name not in (None, "", USER) else text)


@cache
def our_wrapper() -> Any:
    """Return what an agent asks that has no model of its own; it takes a while to make."""
    return library().OpenAIWrapper(config_list=[{**OUR_CONFIG}])


_LOG = logging.getLogger("autogen.oai.client")
_MAKING: ContextVar[bool] = ContextVar("making", default=False)
"""Whether agents are being made for a chat, whose own clients answer nothing there."""
_ROUTING = threading.Lock()
_routed = 0
"""How many chats in progress have a user's code in a seat."""
_USUAL: dict[str, Any] = {}
"""Name to what AutoGen's classes have where there is no such chat."""


@contextmanager
def routed() -> Iterator[None]:
    """Let agents ask the seat's model in the context of a guest, and note what a user's agents say.

    AutoGen's classes are changed until the last such block ends.
    """
    global _routed
    agent, wrapper = library().ConversableAgent, library().OpenAIWrapper
    ours = {
        (wrapper, "create"): _create,
        (agent, "generate_reply"): _generate_reply,
        (agent, "a_generate_reply"): _a_generate_reply,
        (agent, "can_execute_function"): _can_execute_function,
        (agent, "function_map"): property(_function_map),
        (agent, "_run_async_in_thread"): run_in_context,
        (agent, "_process_received_message"): _process_received_message,
    }
    with _ROUTING:
        _routed += 1
        if _routed == 1:
            for (kind, name), one in ours.items():
                _USUAL[name] = getattr(kind, name)
                setattr(kind, name, one)
            _LOG.addFilter(_untold)
    try:
        yield
    finally:
        with _ROUTING:
            _routed -= 1
            if _routed == 0:
                for kind, name in ours:
                    setattr(kind, name, _USUAL[name])
                _LOG.removeFilter(_untold)


@contextmanager
def making() -> Iterator[None]:
    """Make agents for a chat within the block, without what AutoGen logs of their clients."""
    with routed():
        token = _MAKING.set(True)
        try:
            yield
        finally:
            _MAKING.reset(token)


def _untold(record: logging.LogRecord) -> bool:
    """Keep to itself what AutoGen logs of clients of ours, and while a guest speaks."""
    ours = SPEAKING.get() or _MAKING.get() or OURS in record.getMessage()
    return record.levelno >= logging.ERROR or not ours


def _create(wrapper: Any, **config: Any) -> Any:
    original = _USUAL["create"]
    desk = SPEAKING.get() or getattr(config.get("agent"), _SEATED_AT, None)
    return original(wrapper, **config) if desk is None else desk.create(original, wrapper, config)


def _function_map(agent: Any) -> dict[str, Any]:
    """Return the functions of an agent; a member of a group that speaks has the offered tools."""
    own, desk = _USUAL["function_map"].fget(agent), SPEAKING.get()
    if desk is None or not (desk.runs_calls and desk.knows(agent)):
        return own  # type: ignore[no-any-return]
    return {**dict.fromkeys(tool.name for tool in desk.chat.tools), **own}


def _can_execute_function(agent: Any, name: Any) -> bool:
    names = name if isinstance(name, list) else [name]
    return all(one in agent.function_map for one in names)


def _reply_here(
    agent: Any, messages: Any = None, sender: Any = None, config: Any = None
) -> tuple[bool, Any]:
    """Reply in the place of a member of a group that speaks (`Desk.replied`)."""
    desk = SPEAKING.get()
    return (False, None) if desk is None else desk.replied(agent, messages or ())


def _process_received_message(agent: Any, message: Any, sender: Any, silent: bool) -> Any:
    """Receive a message; what agents of a user's function say is among what the function prints.

    What a manager sends to the members of its group, one of them has said to it.
    """
    usual = _USUAL["_process_received_message"]
    is_own = SPEAKING.get() is None and printed_here() is not None
    if is_own and not isinstance(sender, library().GroupChatManager):
        told = message if isinstance(message, dict) else {"content": message}
        print(f"{sender.name}: {in_words(told)['content']}")
    return usual(agent, message, sender, silent)


def _generate_reply(
    agent: Any, messages: Any = None, sender: Any = None, exclude: Sequence[Any] = ()
) -> Any:
    usual, desk = _USUAL["generate_reply"], SPEAKING.get()
    if desk is None:
        return usual(agent, messages, sender, exclude)
    desk.lend(agent)
    made, said = desk.ran(agent, messages, sender)
    if not made:
        said = usual(agent, messages, sender, (*exclude, *desk.excluded(agent)))
    return desk.overheard(agent, sender, said)


async def _a_generate_reply(
    agent: Any, messages: Any = None, sender: Any = None, exclude: Sequence[Any] = ()
) -> Any:
    usual, desk = _USUAL["a_generate_reply"], SPEAKING.get()
    if desk is None:
        return await usual(agent, messages, sender, exclude)
    desk.lend(agent)
    made, said = desk.ran(agent, messages, sender)
    setattr(agent, _SEATED_AT, desk)
    try:
        if not made:
            said = await usual(agent, messages, sender, (*exclude, *desk.excluded(agent)))
    finally:
        delattr(agent, _SEATED_AT)
    return desk.overheard(agent, sender, said)


# -- Lets AutoGen choose who speaks next in a chat of ours, by the model of a role of its own.


@contextmanager
def choosing(asking: View) -> Iterator[Any]:
    """Yield a manager of AutoGen's that asks the model of `asking` who speaks next."""
    autogen = library()
    with Desk().open() as desk, desk.asking(asking):
        yield autogen.GroupChatManager(
            groupchat=autogen.GroupChat(agents=[]),
            llm_config={"config_list": [{**OUR_CONFIG}]},
            silent=True,
        )


@contextmanager
def nested(view: View, listener: Any) -> Iterator[None]:
    """Let agents ask the model of a role within its reply; tokens and notes count for it.

    Args:
        view: The chat as the role sees it that speaks.
        listener: The agent that stands for the rest of the chat.
    """
    asking = view.as_seen_by(view.role)
    try:
        with Desk(listener=listener).open() as desk, desk.asking(asking):
            yield
    finally:
        view.asked = view.asked + Stamp(asking.asked.usage)
        for step, text in asking.notes.items():
            view.add_note(step, text)
        view.spent |= asking.spent


def own_answer(agent: Any, call: dict[str, Any]) -> dict[str, Any]:
    """Return what one of an agent's own tools answers to a call of a message."""
    _, found = agent.generate_tool_calls_reply(messages=[{"tool_calls": [call]}])
    answer: dict[str, Any] = found["tool_responses"][0]
    return answer
