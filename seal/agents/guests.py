"""AutoGen's agents and groups of others, as roles and as agents, and whose models they ask."""

from __future__ import annotations

import copy
import logging
import threading
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, partial
from inspect import signature
from types import SimpleNamespace
from typing import Any

from seal.agents import is_guest, makes_guest
from seal.agents.autogen import Terminal, library, plain_agent, run_in_context
from seal.agents.messages import (
    answers,
    as_message,
    call_in,
    call_message,
    called_text,
    in_words,
    is_end,
    message_of,
    next_in,
    parts_of,
    response,
    results_in,
    said_together,
    taken_name,
    text_of,
    tool_of,
)
from seal.agents.own import FunctionRole, OwnAgent, OwnRole, asked_of, told_of
from seal.agents.own_code import OwnCode
from seal.agents.roles import first_words, pending_calls
from seal.agents.teams import EXECUTOR, MANAGER, USER
from seal.agents.users import brief
from seal.agents.view import Stamp, View
from seal.core import (
    JSON,
    Chat,
    Message,
    Reply,
    Step,
    ToolCall,
    ToolResult,
    Usage,
    UsageError,
    fault,
)
from seal.core.registry import name_of
from seal.core.values import digest

# -- AutoGen's own agents in the seats of a team, and a group chat of one's own as the agent.
#
# An unmodified `ConversableAgent` hears what its seat may see from a stand-in of ours, and replies
# as in any chat of AutoGen: with its system message, hooks, own tools and nested chats. While it
# speaks, every `OpenAIWrapper` that is asked in its context asks the seat's model instead,
# whichever agent asks; so cache, seed, budgets, metering and replay hold. A model client that the
# user has registered (`register_model_client`) is asked itself, and its usage counted.
#
# Calls of offered tools go to the executor. In a group chat they are run within the reply, those of
# one message together. Consoles are answered with nothing. No code that a model wrote is run,
# unless the user allows the module `autogen`.

ALLOWED = "autogen"
"""The module that a user allows (`allow_code`) to let agents run code that a model wrote."""
_OWN_CALLS = 50
"""Times in a row that an agent may call its own tools in one reply."""
_NOT_RUN = "Not run."
_PATTERN_ROUNDS = 100
"""Messages of a pattern's group in one reply."""
_ONE_AT_A_TIME = threading.RLock()
"""Held by the chat that uses agents which the user has made: they keep what was said."""


class GuestAgent(OwnAgent):
    """An agent, or a group chat, of AutoGen in the place of a role, for all chats of a run.

    Args:
        guest: The object; or a class or a function without arguments, which makes one a chat.

    Raises:
        UsageError: Another distribution has overwritten the `autogen` package.
    """

    def __init__(self, guest: Any) -> None:
        super().__init__()
        self.guest = guest
        self._makes = isinstance(guest, type) or makes_guest(guest)
        library()

    def for_chat(self) -> OwnRole:
        """Return what plays the role in one chat; an object of the user plays one at a time."""
        with ExitStack() as held:
            if not self._makes:
                held.enter_context(_ONE_AT_A_TIME)
            try:
                made = self.made()
                with making():
                    role = self._seated(made, held)
            except UsageError as error:  # it crashes where it would speak
                return FunctionRole(self.code, partial(_refuse, error))
            held.enter_context(role.desk.open())
            role.held = held.pop_all()
            return role

    def made(self) -> Any:
        """Return the agent, or the group chat; of a class or a function a new one.

        Raises:
            UsageError: The class or function raises, or makes something else.
        """
        return _made(self.guest) if self._makes else self.guest

    def _seated(self, guest: Any, held: ExitStack) -> Guest:
        if is_pattern(guest):
            return GroupGuest(self.code, *_prepared(guest, held))
        kind = GroupGuest if is_group(guest) else GuestRole
        return kind(self.code, guest)


def _refuse(error: UsageError, chat: Chat) -> None:
    raise error


def is_group(guest: Any) -> bool:
    """Tell whether a guest is a group chat, or a manager of one."""
    autogen = library()
    return isinstance(guest, (autogen.GroupChat, autogen.GroupChatManager))


def is_pattern(guest: Any) -> bool:
    """Tell whether a guest is a pattern of AG2's, such as `DefaultPattern` or `AutoPattern`."""
    return any(base.__name__ == "Pattern" for base in type(guest).__mro__)


def group_of(guest: Any) -> Any:
    """Return the group chat that a guest is, or manages."""
    return guest if isinstance(guest, library().GroupChat) else guest.groupchat


def identity_of(guest: Any) -> str:
    """Return the class of a guest, with a digest of what it is told, who sits in it, its tools."""
    if isinstance(guest, type) or makes_guest(guest):
        return str(name_of(guest))
    return f"{name_of(type(guest))}#{digest(_described(guest))[:8]}"


def _described(guest: Any) -> JSON:
    if is_group(guest):
        group = group_of(guest)
        return [
            group.max_round,
            str(group.speaker_selection_method),
            *map(_described, group.agents),
        ]
    if is_pattern(guest):
        return [guest.initial_agent.name, *map(_described, guest.agents)]
    return [guest.name, str(guest.system_message), sorted(guest.function_map)]


def _is_named(make: Any) -> bool:
    """Tell whether it is a class whose objects are made with a name."""
    try:
        signature(make).bind("guest")
    except (TypeError, ValueError):
        return False
    return isinstance(make, type)


def _made(make: Any) -> Any:
    try:
        with making():
            made = make("guest") if _is_named(make) else make()
    except (Exception, SystemExit) as error:  # whatever a user's code raises
        raise UsageError(
            f"{name_of(make)} makes no agent: {fault(error)}; give an object, or a function "
            "without arguments that returns an agent, a GroupChat or a pattern of AutoGen"
        ) from error
    if not is_guest(made):
        raise UsageError(
            f"{name_of(make)} made {type(made).__name__}; expected an agent, a GroupChat or a "
            "pattern of AutoGen, or else a function of (request, tools)"
        )
    return made


def _prepared(pattern: Any, held: ExitStack) -> tuple[Any, Any]:
    """Return the manager of a pattern's group, and its user.

    Args:
        pattern: As `initiate_group_chat` takes it.
        held: At its end the context variables are as they were.

    Raises:
        UsageError: AutoGen cannot make the group.
    """
    held.callback(setattr, pattern.context_variables, "data", {**pattern.context_variables.data})
    try:
        prepared = pattern.prepare_group_chat(max_rounds=_PATTERN_ROUNDS, messages="-")
    except Exception as error:  # whatever AutoGen raises
        raise UsageError(
            f"{name_of(type(pattern))} cannot be prepared: {fault(error)}; its agents, and "
            "the manager of an AutoPattern, need an llm_config: any will do"
        ) from error
    return prepared[8], prepared[10]


class _Stream(Terminal):
    """AutoGen's stream in a chat with guests, in which no code is run unless it is allowed."""

    allowed = False
    _prints = False  # the desk notes what is said

    def send(self, message: Any) -> None:
        """Refuse code that is about to run.

        Raises:
            PermissionError: It is not allowed.
        """
        super().send(message)
        runs = type(message).__name__ in (
            "ExecuteCodeBlockEvent",
            "GenerateCodeExecutionReplyEvent",
        )
        if runs and not self.allowed:
            raise PermissionError(
                f"an agent of AutoGen would run code that a model wrote; if you trust it, allow "
                f"it: --allow-code {ALLOWED}"
            )


class Guest(OwnRole):
    """What a guest needs in one chat: a model, a terminal for people, no code.

    Args:
        code: Where it runs.
        agents: All of them that are known.
        group: Returns the group chat whose messages a person who sits here is shown.
    """

    def __init__(self, code: OwnCode, agents: Sequence[Any], group: Callable[[], Any]) -> None:
        super().__init__(code)
        self.autogen = library()
        self.held = ExitStack()
        """What ends with the chat."""
        self.desk = Desk([one for one in agents if isinstance(one, self.autogen.ConversableAgent)])
        self.stream = _Stream(lambda: group().messages)

    def said(self, chat: Chat) -> Any:
        """Return what the guest says, in the time that is left."""

        def answer() -> Any:
            allowed = ALLOWED in chat.options.get("allow_code", ())
            self.stream.allowed = self.desk.may_run_code = allowed
            stream = self.autogen.io.IOStream.set_default(self.stream)
            with self.desk.asking(chat), stream:
                return self.answer(chat)

        return self.code.call(answer, chat.seconds_left)

    @abstractmethod
    def answer(self, chat: Chat) -> Any:
        """Return what the guest says."""

    def close(self) -> None:
        """Forget the chat."""
        if self.agent is not None:
            vars(self.agent).pop("execute_function", None)
        for one in self.desk.agents:
            if self.desk.listener is not None:
                _forget(one, self.desk.listener)
        self.held.close()


def _forget(agent: Any, other: Any) -> None:
    agent.clear_history(other)
    agent.reset_consecutive_auto_reply_counter(other)


class GuestRole(Guest):
    """An agent of AutoGen in the place of a role, in one chat: the agent itself sits in the group.

    Args:
        code: Where it runs.
        agent: Any `ConversableAgent`.
    """

    def __init__(self, code: OwnCode, agent: Any) -> None:
        super().__init__(code, [agent], lambda: self.desk.listener.groupchat)
        self.agent = agent
        self.message: Any = ""
        """Its last reply as a message of AutoGen, before hooks."""
        self._kept: dict[int, tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]] = {}
        """Index of the first step of a reply to what the agent itself knows of it: the calls of its
        own tools and the message, and what its own tools answered to calls of that."""
        self._made: list[dict[str, Any]] = []
        """Of the reply that is being made, what stands before the message."""
        self._answered: dict[str, dict[str, Any]] = {}
        """Id to what an own tool answered to a call of the message."""
        self._offered: set[str] = set()
        """Names of the tools of the chat."""
        self._ran: dict[str, ToolResult] = {}
        """Id to what a call brought that the agent ran as the executor."""

    def answer(self, chat: Chat) -> Any:
        """Return what the agent replies to what it has heard."""
        self.desk.offers = chat.role == MANAGER
        self._offered = {tool.name for tool in chat.tools}
        if chat.role != EXECUTOR:
            refuse_taken(self.agent, self._offered)
        pending = pending_calls(chat.steps) if chat.role == EXECUTOR and chat.steps else []
        self._ran = {}
        self.agent.execute_function = partial(self._execute, chat, pending)
        self._made = []
        spoken = any(s.author == chat.role and s.goal == chat.goal for s in chat.steps)
        if chat.role == USER and not spoken:
            if chat.persona is not None:
                self._made.append({"role": "user", "content": brief(chat), "name": "system"})
            words = first_words(chat)
            if words is not None:
                self.message = words
                return Reply(words)
        heard = self._heard(chat)
        for _ in range(_OWN_CALLS):
            self.agent.chat_messages[self.desk.listener][:] = copy.deepcopy([*heard, *self._made])
            said = type(self.agent).generate_reply(self.agent, sender=self.desk.listener)
            if said is None:
                self.message = ""
                return Reply(done=chat.role == USER)
            self.message = as_message(said, chat.role)
            if pending:
                return Reply(results=results_in(self.message, [*self._ran.values()], pending))
            reply = self.read(self.message, chat.role, chat.roles)
            _, calls = parts_of(self.message)
            own = [call for call in calls if self._is_own(call)]
            self._answered = {call["id"]: self._run(call, chat) for call in own}
            if reply.calls or not calls:
                return reply
            self._made += [self._own(self.message), _brought([*self._answered.values()])]
        raise RuntimeError(f"called its own tools {_OWN_CALLS} times in a row in one reply")

    def read(self, message: Any, role: str, seated: Collection[str]) -> Reply:
        """Return what a message of the agent says, without the calls of its own tools."""
        text, calls = parts_of(message)
        theirs = [call_in(call, self.desk.made) for call in calls if not self._is_own(call)]
        ends = is_end(message) or (role == USER and not calls and not text.strip())
        return Reply(text, tuple(theirs), next=next_in(message, role, seated), done=ends)

    def sent(self, message: Any, first: int) -> None:
        """Keep a message of the agent as its hooks let it go out.

        Args:
            message: As it was sent.
            first: Index of its first step.
        """
        self._kept[first] = [*self._made, self._own(message)], self._answered
        self._made, self._answered = [], {}

    def _execute(
        self,
        chat: Chat,
        pending: Sequence[ToolCall],
        call: dict[str, Any],
        call_id: Any = None,
        verbose: bool = False,
    ) -> tuple[bool, dict[str, Any]]:
        """Run a call by the agent's own function; in the executor's seat else in the environment.

        The first call for which it has none runs all such calls of the message.
        """
        own = partial(type(self.agent).execute_function, self.agent)
        asked = next((one for one in pending if one.id == call_id), None)
        if asked is None or call.get("name") in self.agent.function_map:
            succeeded, answer = own(call, call_id, verbose)
            if asked is not None:
                content = text_of(answer["content"])
                error = None if succeeded else {"kind": "exception", "message": content}
                value = content if succeeded else None
                self._ran[asked.id] = ToolResult(asked.id, content, error, value=value)
            return succeeded, answer
        if asked.id not in self._ran:
            left = [one for one in pending if one.name not in self.agent.function_map]
            self._ran |= {one.call_id: one for one in chat.execute(left)}
        result = self._ran[asked.id]
        answer = {"name": asked.name, "role": "function", "content": result.content}
        return result.error is None, answer

    def _own(self, message: Any) -> dict[str, Any]:
        told = message if isinstance(message, dict) else {"content": message}
        kind = "tool" if told.get("tool_responses") else "assistant"
        return {**told, "role": kind, "name": self.agent.name}

    def _is_own(self, call: Mapping[str, Any]) -> bool:
        name = call["function"].get("name")
        return name not in self._offered and bool(self.agent.can_execute_function(name))

    def _run(self, call: dict[str, Any], chat: Chat) -> dict[str, Any]:
        """Return what one of the agent's own tools answers; the record keeps a note of it."""
        answer = _own_answer(self.agent, call)
        chat.note(f"own tool {called_text(call)}: {answer['content']}\n")
        return answer

    def _heard(self, chat: Chat) -> list[dict[str, Any]]:
        """Return what was said and done, as the agent knows it: of others in words."""
        results = [step.result for step in chat.steps if step.result is not None]
        brought = {result.call_id: result.content for result in results}
        heard: list[dict[str, Any]] = []
        mine: set[str] = set()
        for said in said_together(chat.steps):
            if said[0].author == chat.role:
                made = [step.call for step in said if step.call is not None]
                mine.update(call.id for call in made)
                heard += self._heard_own(said, [brought.get(call.id, _NOT_RUN) for call in made])
            elif not any(step.result and step.result.call_id in mine for step in said):
                told = message_of(said)
                if chat.role != EXECUTOR or "tool_calls" not in told:
                    told = in_words(told)
                heard += [told] if told["content"].strip() or "tool_calls" in told else []
        return heard

    def _heard_own(self, said: Sequence[Step], brought: Sequence[str]) -> list[dict[str, Any]]:
        """Return a message of the agent, and what all calls of it brought."""
        made = {step.call.id: step.call for step in said if step.call is not None}
        kept, answered = self._kept.get(said[0].index, ([], {}))
        if not kept:  # said before the chat
            self.desk.made.update(made)
            kept = [self._own(message_of(said))]
        ids = [call["id"] for call in kept[-1].get("tool_calls") or ()]
        theirs = zip((one for one in ids if one not in answered), brought, strict=False)
        told = answered | {call_id: response(call_id, content) for call_id, content in theirs}
        responses = [told.get(call_id, response(call_id, _NOT_RUN)) for call_id in ids]
        return [*kept, *([_brought(responses)] if responses else [])]


def refuse_taken(agent: Any, offered: Collection[str]) -> None:
    """Make sure that no tool of an agent's own is named like one of the chat.

    Raises:
        UsageError: One is.
    """
    own = {*agent._function_map, *_schemas(agent)}
    taken = own.intersection(offered) if own else ()
    if taken:
        raise UsageError(taken_name(min(taken)))


def _schemas(agent: Any) -> list[str]:
    """Return the names of the tools that an agent offers its model."""
    tools = agent.llm_config.get("tools") if agent.llm_config else None
    return [str(one["function"].get("name")) for one in tools or () if "function" in one]


def _brought(responses: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"name": USER, **answers(responses)}


# -- A group chat of AutoGen, of the user's own, as the agent: what it says last is the answer.
#
# Every member with a model is offered the tools of the chat, and every member can run them: a call
# is a call of the chat, and those of one message are made together.


class GroupGuest(Guest):
    """A group chat of the user's own as the agent, in one chat.

    Args:
        code: Where it runs.
        guest: A `GroupChat`, or a manager of one.
        user: Its member that gives the word back to the chat; None: none does.
    """

    def __init__(self, code: OwnCode, guest: Any, user: Any = None) -> None:
        self._group = group_of(guest)
        super().__init__(code, self._group.nested_agents(), lambda: self._group)
        self.desk.offers = self.desk.runs_calls = True
        self.desk.user = user
        self.desk.listener = user or plain_agent(USER)
        self._manager = guest if guest is not self._group else self._managed()
        self._begun = False

    def _managed(self) -> Any:
        """Return a manager for a group chat that has none."""
        # By any other method AutoGen may ask a model who speaks next.
        asks = self._group.speaker_selection_method not in ("random", "round_robin")
        return self.autogen.GroupChatManager(
            groupchat=self._group,
            llm_config={"config_list": [{**OUR_CONFIG}]} if asks else False,
            silent=True,
            is_termination_msg=_is_last,
        )

    def answer(self, chat: Chat) -> Any:
        """Return the last words of the group about what it is asked."""
        offered = {tool.name for tool in chat.tools}
        for agent in self.desk.agents:
            refuse_taken(agent, offered)
        first = len(self._group.messages) if self._begun else 0
        message = asked_of(chat) if self._begun else told_of(chat)
        self.desk.listener.initiate_chat(
            self._manager, message=message, clear_history=not self._begun, silent=True
        )
        self._begun = True
        said = self._group.messages[first + 1 :]
        return next((t for t in map(_answer, reversed(said)) if t), "")

    def close(self) -> None:
        """Forget the chat, and leave the group as it was."""
        self._group.reset()
        for one in self.desk.agents:
            _forget(one, self._manager)
        super().close()


def _answer(message: Mapping[str, Any]) -> str:
    """Return the words of a message that answers; empty for calls, results and mere endings."""
    if message.get("tool_calls") or message.get("role") == "tool":
        return ""
    text = text_of(message.get("content")).strip()
    return "" if text == "TERMINATE" else text


def _is_last(message: Mapping[str, Any]) -> bool:
    return text_of(message.get("content")).rstrip().endswith("TERMINATE")


def _own_answer(agent: Any, call: dict[str, Any]) -> dict[str, Any]:
    """Return what one of an agent's own tools answers to a call of a message."""
    _, found = agent.generate_tool_calls_reply(messages=[{"tool_calls": [call]}])
    answer: dict[str, Any] = found["tool_responses"][0]
    return answer


# -- Whose models are asked while a guest speaks: each request goes to the model of the seat.
#
# `Desk` stands in for what an `OpenAIWrapper` asks; `SealClient` is the `ModelClient` that it asks
# by. The wrapper itself does its usual work before and after: it adds the agent's own tools, fills
# templates and counts usage. The desk also lends a model to every agent that replies without one,
# runs calls of offered tools for the members of a group, and notes what agents say among
# themselves.

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
                else _own_answer(agent, call)
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
        """Return what an agent says to another; it is noted, as what tools of their own answer."""
        if hearer is self.listener or agent.name in _CHOOSERS:
            return reply
        message = reply if isinstance(reply, dict) else {"content": reply}
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
"""How many chats in progress have guests."""
_USUAL: dict[str, Any] = {}
"""Name to what AutoGen's classes have when no guest speaks."""


@contextmanager
def routed() -> Iterator[None]:
    """Let agents ask the seat's model, and note what they say, in the context of a guest.

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
