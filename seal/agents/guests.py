"""AutoGen's agents and groups of others, as roles and as agents."""

from __future__ import annotations

import copy
import threading
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from inspect import signature
from typing import Any

from seal.agents import is_guest, makes_guest
from seal.agents.autogen import Terminal, library, plain_agent
from seal.agents.guest_models import OUR_CONFIG, Desk, making, own_answer
from seal.agents.messages import (
    answers,
    as_message,
    call_in,
    called_text,
    check_unchanged,
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
)
from seal.agents.own import FunctionRole, OwnAgent, OwnRole, asked_of, told_of
from seal.agents.own_code import OwnCode
from seal.agents.replies import NOTHING
from seal.agents.roles import first_words, pending_calls
from seal.agents.teams import EXECUTOR, MANAGER, USER
from seal.agents.users import brief
from seal.core import (
    JSON,
    Chat,
    Reply,
    Step,
    ToolCall,
    ToolResult,
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
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a user's code raises
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
                return NOTHING
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
        check_unchanged(call, call_id, pending)
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
        answer = own_answer(self.agent, call)
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
        return next((t for t in map(_answer, reversed(said)) if t), NOTHING)

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
