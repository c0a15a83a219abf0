"""AutoGen's agents and groups of others, as roles and as agents."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from itertools import groupby
from typing import Any

from seal.agents import is_guest, makes_guest
from seal.agents.autogen import Terminal, library
from seal.agents.guest_models import (
    OUR_CONFIG,
    SPEAKING,
    Desk,
    arguments_text,
    called_text,
    making,
    route,
    text_of,
    unroute,
)
from seal.agents.own import OwnAgent, OwnRole, asked_of, told_of
from seal.agents.own_code import OwnCode
from seal.agents.roles import first_words
from seal.agents.teams import DESCRIPTIONS, MANAGER, SPEAKER_SELECTION, USER
from seal.agents.users import brief
from seal.agents.view import Stamp, View
from seal.core import JSON, Chat, Reply, Step, ToolCall, UsageError, fault
from seal.core.call_formats import call_of
from seal.core.registry import name_of
from seal.core.values import digest, one_line

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
        kept = ExitStack()
        with ExitStack() as held:
            if not self._makes:
                held.enter_context(_ONE_AT_A_TIME)
            try:
                made = self.made()
                kind: Any = GroupGuest if is_group(made) else GuestRole
                kind = PatternGuest if is_pattern(made) else kind
                role: OwnRole = kind(self.code, made, lambda: kept.close())
            except UsageError as error:
                return Unmade(self.code, error)
            kept.enter_context(held.pop_all())
            return role

    def made(self) -> Any:
        """Return the agent, or the group chat; of a class or a function a new one.

        Raises:
            UsageError: The class or function raises, or makes something else.
        """
        return _made(self.guest) if self._makes else self.guest


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


def _made(make: Any) -> Any:
    try:
        with making():
            made = make("guest") if isinstance(make, type) else make()
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


class _Stream(Terminal):
    """AutoGen's stream in a chat with guests, in which no code is run unless it is allowed."""

    allowed = False

    def send(self, message: Any) -> None:
        """Refuse code that is about to run.

        Raises:
            PermissionError: It is not allowed.
        """
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
        left: Called when the chat ends.
    """

    def __init__(self, code: OwnCode, agents: Sequence[Any], left: Callable[[], None]) -> None:
        super().__init__(code)
        self.autogen = library()
        route()
        self.desk = Desk(lambda agent: any(agent is one for one in agents))
        self.stream = _Stream(self.said_so_far)
        self._left = left
        self._agents = [one for one in agents if isinstance(one, self.autogen.ConversableAgent)]
        self._before = [(one, one._code_execution_config) for one in self._agents]
        for one in self._agents:
            self.desk.lend(one)

    @property
    def others(self) -> Any:
        """The agent that stands for the rest of the chat."""
        return self.desk.listener

    def said_so_far(self) -> Sequence[Mapping[str, Any]]:
        """Return the messages that a person who sits here is shown."""
        return ()

    @contextmanager
    def speaking(self, chat: Chat) -> Iterator[None]:
        """Let the agents ask the chat's model within the block, and none of them run code."""
        allowed = ALLOWED in chat.options.get("allow_code", ())
        self.desk.chat = chat
        for one, config in self._before:
            one._code_execution_config = config if allowed else False
        token = SPEAKING.set(self.desk)
        try:
            self.stream.allowed = allowed
            with self.autogen.io.IOStream.set_default(self.stream):
                yield
        finally:
            SPEAKING.reset(token)

    def said(self, chat: Chat) -> Any:
        """Return what the guest says, in the time that is left."""
        return self.code.call(lambda: self.answer(chat), chat.seconds_left)

    @abstractmethod
    def answer(self, chat: Chat) -> Any:
        """Return what the guest says."""

    def close(self) -> None:
        """Forget the chat, and leave the agents as they were."""
        self.desk.close()
        unroute()
        for one, config in self._before:
            one._code_execution_config = config
            if self.others is not None:
                one.clear_history(self.others)
                one.reset_consecutive_auto_reply_counter(self.others)
        self._left()


class Unmade(OwnRole):
    """An agent that could not be made for one chat: it crashes where it would speak.

    Args:
        code: Where it would run.
        error: Why there is none.
    """

    def __init__(self, code: OwnCode, error: UsageError) -> None:
        super().__init__(code)
        self._error = error

    def said(self, chat: Chat) -> Any:
        """Raise the error."""
        raise self._error


class GuestRole(Guest):
    """An agent of AutoGen in the place of a role, in one chat: the agent itself sits in the group.

    Args:
        code: Where it runs.
        agent: Any `ConversableAgent`.
        left: Called when the chat ends.
    """

    def __init__(self, code: OwnCode, agent: Any, left: Callable[[], None]) -> None:
        super().__init__(code, [agent], left)
        self.agent = agent
        self.message: Any = ""
        """Its last reply as a message of AutoGen, before hooks."""
        self._told: list[dict[str, Any]] = []
        """What it has heard and said."""
        self._heard = 0
        """Steps of the chat that the agent knows of."""
        self._replied = False
        """Whether the next own message in the record is a reply that the agent knows of."""
        self._waiting: list[str] = []
        """Ids of the calls of its last message, as it knows them."""
        self._ids: dict[str, str] = {}
        """Id of a call in the record to its id for the agent."""
        self._answered: list[dict[str, Any]] = []
        """What its own tools answered to some of them."""
        self._offered: set[str] = set()
        """Names of the tools of the chat."""

    def said_so_far(self) -> Sequence[Mapping[str, Any]]:
        """Return the messages of the group."""
        return self.others.groupchat.messages if self.others is not None else ()

    def answer(self, chat: Chat) -> Any:
        """Return what the agent replies to what it has not heard yet."""
        with self.speaking(chat):
            self.desk._offers = lambda agent: chat.role == MANAGER and agent is self.agent
            self._offered = {tool.name for tool in chat.tools}
            first = self._heard == 0
            self._hear(chat)
            spoken = any(s.author == chat.role and s.goal == chat.goal for s in chat.steps)
            if chat.role == USER and not spoken:
                if first and chat.persona is not None:
                    self._tell({"content": brief(chat), "name": "system"})
                words = first_words(chat)
                if words is not None:
                    self.message = words
                    return Reply(words)
            return self._reply(chat)

    def _reply(self, chat: Chat) -> Reply:
        for _ in range(_OWN_CALLS):
            self.agent.chat_messages[self.others][:] = deepcopy(self._told)
            said = type(self.agent).generate_reply(self.agent, sender=self.others)
            if said is None:
                self.message = ""
                return Reply(done=chat.role == USER)
            message = said if isinstance(said, (str, dict)) else dict(said)
            reply = self.read(message, chat.role)
            calls = message.get("tool_calls") or [] if isinstance(message, dict) else []
            self._answered = [self._run(call, chat) for call in calls if self._is_own(call)]
            if reply.calls or not calls:
                self.message = message
                return reply
            self.sent(message)
            self._tell_results([])
        raise RuntimeError(f"called its own tools {_OWN_CALLS} times in a row in one reply")

    def read(self, message: Any, role: str) -> Reply:
        """Return what a message of the agent says, without the calls of its own tools."""
        message = message if isinstance(message, dict) else {"content": message}
        text, calls = text_of(message.get("content")), message.get("tool_calls") or []
        theirs = [call for call in calls if not self._is_own(call)]
        done = role == USER and not calls and not text.strip()
        return Reply(text, tuple(map(self.desk.call_of, theirs)), done=done)

    def sent(self, message: Any) -> None:
        """Note a message of the agent as its hooks let it go out."""
        message = message if isinstance(message, dict) else {"content": message}
        self._waiting = [call.get("id", "") for call in message.get("tool_calls") or []]
        self._told.append({**message, "role": "assistant", "name": self.agent.name})
        self._replied = True

    def _is_own(self, call: Mapping[str, Any]) -> bool:
        name = self.desk.call_of(call).name
        return name not in self._offered and bool(self.agent.can_execute_function(name))

    def _run(self, call: dict[str, Any], chat: Chat) -> dict[str, Any]:
        """Return what one of the agent's own tools answers; the record keeps a note of it."""
        response = _own_answer(self.agent, call)
        chat.note(f"own tool {called_text(call)}: {response['content']}\n")
        return response

    def _tell(self, message: dict[str, Any]) -> None:
        self._told.append({"role": "user", "name": USER, **message})

    def _tell_results(self, results: Sequence[dict[str, Any]]) -> None:
        """Tell the agent what all calls of its last message brought."""
        given = {one["tool_call_id"]: one for one in (*self._answered, *results)}
        missing = {"role": "tool", "content": "Not run."}
        told = [given.get(call, {"tool_call_id": call, **missing}) for call in self._waiting]
        self._waiting, self._answered = [], []
        content = "\n\n".join(one["content"] for one in told)
        self._tell({"role": "tool", "tool_responses": told, "content": content})

    def _hear(self, chat: Chat) -> None:
        """Tell the agent what was said since its last reply."""
        steps = list(chat.steps)
        for _, several in groupby(steps[self._heard :], key=lambda step: step.turn):
            said = list(several)
            if said[0].author == chat.role:
                self._hear_own(said)
            else:
                self._hear_others(said)
        self._heard = len(steps)

    def _hear_own(self, said: Sequence[Step]) -> None:
        calls = [step.call for step in said if step.call is not None]
        if self._replied:
            self._replied = False
            answered = {one["tool_call_id"] for one in self._answered}
            known = (call for call in self._waiting if call not in answered)
            self._ids.update(zip((call.id for call in calls), known, strict=False))
            return
        message: dict[str, Any] = {"content": said[0].content}
        if calls:  # said before the chat
            self._ids.update((call.id, call.id) for call in calls)
            self.desk.made.update((call.id, call) for call in calls)
            message["tool_calls"] = [
                call_of(call.id, call.name, arguments_text(call)) for call in calls
            ]
        self.sent(message)
        self._replied = False

    def _hear_others(self, said: Sequence[Step]) -> None:
        results = [
            {"tool_call_id": self._ids[result.call_id], "role": "tool", "content": result.content}
            for result in (step.result for step in said)
            if result is not None and self._ids.get(result.call_id) in self._waiting
        ]
        if results:
            self._tell_results(results)
        elif any(_words(step).strip() for step in said):
            if self._waiting:
                self._tell_results([])
            content = "\n".join(map(_words, said))
            self._tell({"content": content, "name": said[0].author})


def _words(step: Step) -> str:
    """Return what somebody else said or did, in words."""
    if step.result is not None:
        return one_line(step.content)
    if step.call is None:
        return step.content
    called = f"called {step.call.name}({arguments_text(step.call)})"
    return f"{step.content}\n{called}" if step.content else called


# -- A group chat of AutoGen, of the user's own, as the agent: what it says last is the answer.
#
# Every member with a model is offered the tools of the chat, and every member can run them: a call
# is a call of the chat, and those of one message are made together.


class GroupGuest(Guest):
    """A group chat of the user's own as the agent, in one chat.

    Args:
        code: Where it runs.
        guest: A `GroupChat`, or a manager of one.
        left: Called when the chat ends.
    """

    def __init__(self, code: OwnCode, guest: Any, left: Callable[[], None]) -> None:
        self._group = group_of(guest)
        super().__init__(code, self._group.nested_agents(), left)
        self.desk.listener = self._asker()
        self._manager = guest if guest is not self._group else self._managed()
        self._functions: list[tuple[Any, dict[str, Any]]] = []
        self._begun = False
        for one in self._agents:
            one.register_reply([self.autogen.Agent, None], _run_together, position=0)

    def _asker(self) -> Any:
        """Return the agent that asks the group in the user's place."""
        return self.autogen.ConversableAgent(
            USER,
            llm_config=False,
            human_input_mode="NEVER",
            code_execution_config=False,
            is_termination_msg=lambda message: False,
        )

    def said_so_far(self) -> Sequence[Mapping[str, Any]]:
        """Return the messages of the group that is the agent."""
        return self._group.messages  # type: ignore[no-any-return]

    def _managed(self) -> Any:
        """Return a manager for a group chat that has none."""
        # By any other method AutoGen may ask a model who speaks next.
        asks = self._group.speaker_selection_method not in ("manual", "random", "round_robin")
        return self.autogen.GroupChatManager(
            groupchat=self._group,
            llm_config={"config_list": [{**OUR_CONFIG}]} if asks else False,
            silent=True,
            is_termination_msg=_is_last,
        )

    def answer(self, chat: Chat) -> Any:
        """Return the last words of the group about what it is asked."""
        with self.speaking(chat):
            self._offer(chat)
            first = len(self._group.messages) if self._begun else 0
            message = asked_of(chat) if self._begun else told_of(chat)
            self.others.initiate_chat(
                self._manager, message=message, clear_history=not self._begun, silent=True
            )
            self._begun = True
            said = self._group.messages[first + 1 :]
            return next((t for t in map(_answer, reversed(said)) if t), "")

    def _offer(self, chat: Chat) -> None:
        """Let every member call and run the tools of the chat; the calls are the chat's."""
        for one in self._agents:
            known = {tool.name: one.function_map.get(tool.name) for tool in chat.tools}
            self._functions.append((one, known))
            one.register_function(
                {tool.name: _runner(self.desk, tool.name) for tool in chat.tools},
                silent_override=True,
            )

    def close(self) -> None:
        """Forget the chat, and leave the group as it was."""
        for one, known in reversed(self._functions):
            one.register_function(known, silent_override=True)
        self._group.reset()
        for one in self._agents:
            replies = one._reply_func_list
            replies[:] = [each for each in replies if each["reply_func"] is not _run_together]
            one.clear_history(self._manager)
            one.reset_consecutive_auto_reply_counter(self._manager)
        super().close()


class PatternGuest(GroupGuest):
    """A pattern of AG2's as the agent, in one chat; whoever is its user gives the word back.

    Args:
        code: Where it runs.
        pattern: As `initiate_group_chat` takes it.
        left: Called when the chat ends.
    """

    def __init__(self, code: OwnCode, pattern: Any, left: Callable[[], None]) -> None:
        self._pattern = pattern
        self._known = dict(pattern.context_variables.data)
        try:
            prepared = pattern.prepare_group_chat(max_rounds=_PATTERN_ROUNDS, messages="-")
        except Exception as error:  # whatever AutoGen raises
            raise UsageError(
                f"{name_of(type(pattern))} cannot be prepared: {fault(error)}; its agents, and "
                "the manager of an AutoPattern, need an llm_config: any will do"
            ) from error
        manager, self._user = prepared[8], prepared[10]
        super().__init__(code, manager, left)
        self._user.register_reply([self.autogen.Agent, None], _give_back, position=0)

    def _asker(self) -> Any:
        return self._user

    def close(self) -> None:
        """Forget the chat: the context variables are as before."""
        super().close()
        self._pattern.context_variables.data = self._known
        replies = self._user._reply_func_list
        replies[:] = [each for each in replies if each["reply_func"] is not _give_back]


def _give_back(agent: Any, messages: Any = None, sender: Any = None, config: Any = None) -> Any:
    """End a group chat where its user would speak."""
    return True, None


def _answer(message: Mapping[str, Any]) -> str:
    """Return the words of a message that answers; empty for calls, results and mere endings."""
    if message.get("tool_calls") or message.get("role") == "tool":
        return ""
    text = text_of(message.get("content")).strip()
    return "" if text == "TERMINATE" else text


def _is_last(message: Mapping[str, Any]) -> bool:
    return text_of(message.get("content")).rstrip().endswith("TERMINATE")


def _runner(desk: Desk, name: str) -> Callable[..., Any]:
    def run(**arguments: Any) -> str:
        (result,) = desk.chat.execute([ToolCall("", name, arguments)])
        return str(result.content)

    return run


def _run_together(
    agent: Any, messages: Any = None, sender: Any = None, config: Any = None
) -> tuple[bool, Any]:
    """Run all calls of the last message that are calls of offered tools together, in a guest."""
    desk = SPEAKING.get()
    made = messages[-1].get("tool_calls") if messages else None
    if desk is None or not made:
        return False, None
    offered = {tool.name for tool in desk.chat.tools}
    calls = {call["id"]: desk.call_of(call) for call in made}
    ours = [(name, call) for name, call in calls.items() if call.name in offered]
    if not ours:
        return False, None
    results = desk.chat.execute([call for _, call in ours])
    told = {name: result for (name, _), result in zip(ours, results, strict=True)}
    responses = [
        {"tool_call_id": call["id"], "role": "tool", "content": told[call["id"]].content}
        if call["id"] in told
        else _own_answer(agent, call)
        for call in made
    ]
    content = "\n\n".join(one["content"] for one in responses)
    return True, {"role": "tool", "tool_responses": responses, "content": content}


def _own_answer(agent: Any, call: dict[str, Any]) -> dict[str, Any]:
    """Return what one of an agent's own tools answers to a call of a message."""
    _, found = agent.generate_tool_calls_reply(messages=[{"tool_calls": [call]}])
    response: dict[str, Any] = found["tool_responses"][0]
    return response


# -- Lets AutoGen choose who speaks next in a chat of ours, by the model of a role of its own.


@contextmanager
def choosing(asking: View) -> Iterator[Any]:
    """Yield a manager of AutoGen's that asks the model of `asking` who speaks next."""
    autogen = library()
    desk = Desk(lambda agent: False)
    desk.chat = asking
    nobody = autogen.GroupChat(agents=[])
    route()
    token = SPEAKING.set(desk)
    try:
        yield autogen.GroupChatManager(
            groupchat=nobody, llm_config={"config_list": [{**OUR_CONFIG}]}, silent=True
        )
    finally:
        SPEAKING.reset(token)
        unroute()


class SpeakerChoice:
    """Asks a model who speaks after a text, as AutoGen's `auto` does.

    Args:
        chat: What was said so far.
        agents: Role to its agent.
    """

    def __init__(self, chat: Any, agents: dict[str, Any]) -> None:
        self._chat = chat
        self._agents = {
            role: agent if agent.name == role else _named(role) for role, agent in agents.items()
        }

    def __call__(self, view: View, said: str, among: Sequence[str]) -> str:
        """Return the role that speaks next; tokens count for who spoke last.

        Args:
            view: The chat as the role sees it that spoke.
            said: Its text.
            among: Roles that may speak.
        """
        if len(among) < 2:
            return among[0]
        asking = view.as_seen_by(SPEAKER_SELECTION)
        last = {"role": "user", "name": view.role, "content": said}
        chat = library().GroupChat(
            agents=[self._agents[role] for role in among],
            messages=[*self._chat.messages, last],
            speaker_selection_method="auto",
        )
        try:
            with choosing(asking) as manager:
                chosen = chat.select_speaker(self._agents[view.role], manager)
        finally:
            view.asked = view.asked + Stamp(asking.asked.usage)
        return str(chosen.name)


def _named(role: str) -> Any:
    """Return an agent that has the name of a role, for one whose own is another."""
    description = DESCRIPTIONS.get(role, role)
    return library().ConversableAgent(role, llm_config=False, description=description)
