"""A chat as a group chat of AutoGen: its seats, who speaks next, and what is recorded.

Imported where a chat begins, for it imports AutoGen (`seal.agents.autogen`).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

from seal.agents.autogen import Terminal, library
from seal.agents.conversation import Conversation
from seal.agents.guest_models import arguments_text, called_text, text_of
from seal.agents.roles import Prompt
from seal.agents.teams import DESCRIPTIONS, EXECUTOR, MANAGER, SPEAKER_SELECTION, USER
from seal.agents.view import View
from seal.core import Reply, Step, Tool, ToolCall, ToolResult, UsageError, shortened
from seal.core.call_formats import call_of
from seal.core.values import one_line

_AUTOGEN = library()
_ROUNDS = 1_000_000
"""More than any chat has: the limits of the run end it."""
_ODD = re.compile("[^A-Za-z0-9_-]")
"""What no name of a function of AutoGen may have."""
_WITHOUT_MODEL = ("manual", "random", "round_robin")
"""How AutoGen selects speakers without asking a model."""
_SENDING = "process_message_before_send"
OWN = "autogen/own/"
"""Begins the id of a tool that somebody has registered on a seat."""


class _Anybody(type):
    def __instancecheck__(cls, sender: Any) -> bool:
        return True


class _Everyone(metaclass=_Anybody):
    """What AutoGen writes as `[Agent, None]`: to check senders against its protocol takes long."""


class Seat(_AUTOGEN.ConversableAgent):  # type: ignore[misc, name-defined]
    """A role of a team as an agent of AutoGen.

    Its system message is the prompt of the role. Its reply functions are AutoGen's own, in their
    order; the last one lets the role speak, from the messages that the functions get, after hooks.

    Args:
        role: Its name.
        group: Where it sits.
    """

    def __init__(self, role: str, group: Group) -> None:
        super().__init__(
            role,
            llm_config=False,
            human_input_mode="NEVER",
            code_execution_config=False,
            max_consecutive_auto_reply=sys.maxsize,
            is_termination_msg=lambda message: False,
            description=DESCRIPTIONS.get(role, role),
        )
        self._group = group
        self.register_reply(_Everyone, Seat.speak, position=len(self._reply_func_list))

    def register_reply(self, trigger: Any, *given: Any, **named: Any) -> None:
        """Register a reply function, as on any agent."""
        everyone = isinstance(trigger, list) and trigger == [_AUTOGEN.Agent, None]
        super().register_reply(_Everyone if everyone else trigger, *given, **named)

    def speak(self, messages: Any = None, sender: Any = None, config: Any = None) -> Any:
        """Let the role reply to messages: the last of the reply functions."""
        return True, self._group.let_speak(self, messages or [])

    def generate_reply(self, messages: Any = None, sender: Any = None, exclude: Any = ()) -> Any:
        """Reply as any agent does, from what the role may see of the chat."""
        return self._group.turn(self, messages, sender, exclude, super().generate_reply)

    async def a_generate_reply(
        self, messages: Any = None, sender: Any = None, exclude: Any = ()
    ) -> Any:
        """Reply in an event loop; only reply functions that are not async are asked."""
        return self.generate_reply(messages, sender, exclude)

    def update_tool_signature(
        self, tool_sig: Any, is_remove: bool, silent_override: bool = False
    ) -> None:
        """Offer a tool to the role's model, as `register_for_llm` asks for.

        Raises:
            UsageError: The role calls no tools, or a tool of this name is offered already.
        """
        self._group.offer(self, tool_sig, is_remove)


class ExecutorSeat(Seat):
    """The seat whose registered functions run calls; all that are ours go to the environment."""

    def execute_function(self, func_call: Any, call_id: Any = None, verbose: bool = False) -> Any:
        """Run one call of the last message. The first one that is asked for runs all of them."""
        succeeded, content = self._group.result(self, call_id)
        return succeeded, {"name": func_call.get("name"), "role": "function", "content": content}

    async def a_execute_function(
        self, func_call: Any, call_id: Any = None, verbose: bool = False
    ) -> Any:
        """Run one call of the last message, for a function that is async."""
        return self.execute_function(func_call, call_id, verbose)

    def run_registered(self, call: ToolCall) -> ToolResult:
        """Run a call by the function that somebody has registered under its name."""
        function = {"name": call.name, "arguments": arguments_text(call)}
        succeeded, answer = super().execute_function(function, call.id)
        content = str(answer["content"])
        error = None if succeeded else {"kind": "exception", "message": content}
        return ToolResult(call.id, content, error, value=content if succeeded else None)

    def register_function(self, function_map: Any, silent_override: bool = False) -> None:
        """Register functions that run calls of their names.

        Raises:
            UsageError: A tool of this name is offered: its calls are the environment's.
        """
        taken = self._group.offered_names & {n for n, f in function_map.items() if _is_own(f)}
        if taken:
            raise UsageError(_taken(min(taken)))
        super().register_function(function_map, silent_override)

    def take_calls(self, names: Sequence[str]) -> None:
        """Have calls of tools run by the environment."""
        ours = {_function_name(name): _Run(self._group.run, self, name) for name in names}
        left = {name: None for name, f in self.function_map.items() if not _is_own(f)}
        super().register_function({**left, **ours}, silent_override=True)

    @property
    def registered(self) -> Mapping[str, Callable[[ToolCall], ToolResult]]:
        """Name to what runs calls of it, where somebody has registered a function."""
        own = (name for name, function in self.function_map.items() if _is_own(function))
        return dict.fromkeys(own, self.run_registered)


def _is_own(function: Any) -> bool:
    """Tell whether a function of the executor is one that somebody has registered."""
    return not isinstance(function, _Run)


def _taken(name: str) -> str:
    return (
        f"a tool named {name!r} is offered to the agent already; "
        f"register yours under another name, such as my_{name}"
    )


class Chat(_AUTOGEN.GroupChat):  # type: ignore[misc, name-defined]
    """The group chat: AutoGen selects who speaks, and the conversation is told.

    Its `speaker_selection_method` is the order of the team; whatever replaces it is obeyed.
    """

    group: Group

    def __copy__(self) -> Chat:
        """Return itself: its manager would not see what is set on it later."""
        return self

    def select_speaker(self, last_speaker: Any, selector: Any) -> Any:
        """Return who speaks next, within the limits of the run.

        Raises:
            NoEligibleSpeakerError: The chat has ended.
            UsageError: Whoever selects names nobody that sits in the chat.
        """
        return self.group.select(last_speaker, selector, super().select_speaker)

    async def a_select_speaker(self, last_speaker: Any, selector: Any) -> Any:
        """Return who speaks next."""
        return self.select_speaker(last_speaker, selector)


@dataclass(slots=True)
class _Turn:
    """What one seat says."""

    agent: Any
    view: View
    seen: list[list[Step]]
    """What it sees, the steps of one message together."""
    shown: list[dict[str, Any]]
    """The same as messages, as they were before hooks."""
    reply: Reply | None = None
    said: Any = None
    """`reply` as a message, as it was before hooks."""
    guest: Any = None
    """Where the agent is somebody else's: what lets it speak."""
    results: dict[str, ToolResult] | None = None
    """Id to the result of each call that has been run."""


class _Last(list[Any]):
    """Hooks of an agent, after which ours comes, whenever they were registered."""

    def __init__(self, hooks: Sequence[Any], ours: Callable[..., Any]) -> None:
        super().__init__(hooks)
        self._ours = ours

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()
        yield self._ours


class _Run(partial[str]):
    """Runs a tool of the chat in the environment: what the executor has for each."""


class Group:
    """A chat of ours as a group chat of AutoGen: an agent a role, and a manager.

    Args:
        conversation: Records what is said, and says who speaks where nobody else does.

    Raises:
        UsageError: Two seats have one name.
    """

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self._turn: _Turn | None = None
        self._speaking = False
        self.manager: Any = None
        self._added: list[Any] = []
        """What lets agents speak that sit in the chat since it was made."""
        self._others: list[Any] = []
        """Agents that others have made, which hear of the chat by our hook."""
        self._roles: dict[int, str] = {}
        self._usual: dict[str, str] = {}
        self._messages: dict[tuple[int, str], dict[str, Any]] = {}
        self._taken: tuple[str, ...] = ()
        """Names of the tools that the executor runs."""
        self.agents = {role: self._seat(role) for role in conversation.seats}
        """Role to its agent."""
        self._order = self._follow
        try:
            self.chat = Chat(
                agents=list(self.agents.values()),
                messages=[],
                max_round=_ROUNDS,
                speaker_selection_method=self._order,
                allow_repeat_speaker=True,
            )
        except ValueError as error:
            self.close()
            raise UsageError(
                f"{error}; two agents in one chat need two names: give yours the name of its role"
            ) from error
        self.chat.group = self
        self.manager = _AUTOGEN.GroupChatManager(
            groupchat=self.chat,
            llm_config=False,
            silent=True,
            is_termination_msg=lambda message: False,
        )
        guest: Any
        for guest in conversation.seats.values():
            if getattr(guest, "agent", None) is not None:
                guest.desk.listener = self.manager
        if conversation.options.speaker_selection == "auto":
            from seal.agents.guests import SpeakerChoice

            conversation.choose = SpeakerChoice(self.chat, self.agents)
        self.begin(conversation)

    # -- Who sits.

    def _seat(self, role: str) -> Any:
        guest = self.conversation.seats[role]
        if role == EXECUTOR or getattr(guest, "agent", None) is None:
            agent = (ExecutorSeat if role == EXECUTOR else Seat)(role, self)
            self._know(agent, role)
            return agent
        return self._guest(guest, role)

    def _guest(self, guest: Any, role: str) -> Any:
        """Let an agent that somebody else has made sit in the chat itself."""
        agent = guest.agent
        guest.desk.listener = self.manager
        agent.generate_reply = partial(self._guest_turn, agent)
        self._know(agent, role)
        return agent

    def _guest_turn(
        self, agent: Any, messages: Any = None, sender: Any = None, exclude: Any = ()
    ) -> Any:
        usual = partial(type(agent).generate_reply, agent)
        return self.turn(agent, messages, sender, exclude, usual)

    def close(self) -> None:
        """Leave the agents of others as they were."""
        for agent in self._others:
            agent.hook_lists[_SENDING] = list.copy(agent.hook_lists[_SENDING])
            vars(agent).pop("generate_reply", None)
            if self.manager is not None:
                agent.stop_reply_at_receive(self.manager)
        while self._added:
            self._added.pop().close()

    def _know(self, agent: Any, role: str) -> None:
        self._roles[id(agent)] = role
        agent.hook_lists[_SENDING] = _Last(agent.hook_lists[_SENDING], self._hear)
        self._others += [] if isinstance(agent, Seat) else [agent]

    def begin(self, conversation: Conversation) -> None:
        """Take up a conversation: another one than before, where the group is used again."""
        self.conversation = conversation
        self._turn, self._speaking = None, False
        self._messages.clear()
        for role, agent in self.agents.items():
            prompt = getattr(conversation.seats[role], "prompt", None)
            told = DESCRIPTIONS.get(role, role)
            if isinstance(prompt, Prompt):
                told = prompt.of(View(conversation, role))
            if self._usual.get(role) != told and isinstance(agent, Seat):
                self._usual[role] = told
                agent.update_system_message(told)
        self._take_calls()

    def reset(self) -> None:
        """Forget what was said."""
        for agent in (*self.agents.values(), self.manager):
            agent.reset()

    def _role(self, agent: Any) -> str:
        """Return the role of an agent; one that somebody has added has its name for a role."""
        if id(agent) not in self._roles:
            from seal.agents.guests import GuestAgent

            guest = GuestAgent(agent).for_chat()
            self._added.append(guest)
            self.conversation.seats[agent.name] = guest
            self._guest(guest, agent.name)
        return self._roles[id(agent)]

    # -- Who speaks.

    @property
    def _free(self) -> bool:
        """Whether somebody else than the team says who speaks next."""
        return self.chat.speaker_selection_method is not self._order

    def _follow(self, last: Any, chat: Any) -> Any:
        """Return the agent whose turn it is by the team, within the graph of transitions."""
        role = self.conversation.next_role
        agent = None if role is None else self.agents.get(role)
        if role is not None and agent not in self.chat.agents:  # somebody else has its place
            agent = self.chat.agent_by_name(role)
        allowed = self.chat.allowed_speaker_transitions_dict.get(last)
        return agent if agent is None or allowed is None or agent in allowed else "round_robin"

    def select(self, last: Any, selector: Any, select: Callable[[Any, Any], Any]) -> Any:
        """Return who speaks next (`Chat.select_speaker`)."""
        talk = self.conversation
        ended = len(talk.stops)
        if not talk.finished and not talk.begins:
            if self._free:
                self._take_calls()  # by these AutoGen tells who may run calls
            try:
                with self._choosing(selector) as asked:
                    chosen = select(last, asked)
            except _AUTOGEN.NoEligibleSpeakerError:
                chosen = None
            except ValueError as error:
                names = ", ".join(self.chat.agent_names)
                raise UsageError(
                    f"the group chat's speaker selection: {error} Expected one of its agents "
                    f"({names}), None to end the chat, or 'auto', 'round_robin', 'random'"
                ) from error
            role = None if chosen is None else self._role(chosen)
            if role is None or role != talk.next_role:
                talk.hand_on(role)
            if len(talk.stops) == ended:
                return chosen
        if talk.finished:
            raise _AUTOGEN.NoEligibleSpeakerError("the chat has ended")
        return self.agents[USER]

    @contextmanager
    def _choosing(self, selector: Any) -> Iterator[Any]:
        """Yield whom AutoGen asks who speaks next: by the run's model where no other is named."""
        config = selector.llm_config or self.chat.select_speaker_auto_llm_config
        by_model = self._free and self.chat.speaker_selection_method not in _WITHOUT_MODEL
        if config or not by_model:
            yield selector
            return
        from seal.agents.guests import choosing

        talk = self.conversation
        asking = View(talk, SPEAKER_SELECTION)
        with choosing(asking) as asked:
            yield asked
        talk.usage = talk.usage + asking.asked.usage

    def turn(
        self, agent: Any, messages: Any, sender: Any, exclude: Any, generate: Callable[..., Any]
    ) -> Any:
        """Return what an agent replies, and remember what it stands for until it is sent."""
        if self._speaking:  # it is asked within the reply of another, as in a nested chat
            return generate(messages=messages, sender=sender, exclude=exclude)
        talk, role = self.conversation, self._role(agent)
        in_chat = isinstance(sender, _AUTOGEN.GroupChatManager)
        if in_chat and not talk.finished and role != talk.next_role:
            talk.hand_on(role)
        if talk.finished or (in_chat and role != talk.next_role):
            return None  # a limit has ended the chat
        turn = self._turn = self._opened(agent, role)
        if turn.guest is not None:
            return self._guest_reply(turn)
        if messages is None or (sender is not None and messages is agent.chat_messages[sender]):
            messages = deepcopy(turn.shown) if any(agent.hook_lists.values()) else [*turn.shown]
        self._speaking = True
        try:
            if messages:
                said = generate(messages=messages, sender=sender, exclude=exclude)
            else:  # nothing to reply to: AutoGen's functions want a last message
                said = self.let_speak(agent, messages)
        finally:
            self._speaking = False
        if said is None:  # the person ends the chat, or whoever replies has no word for it
            said, turn.reply = "", Reply(done=True)
        elif turn.said is not said:
            turn.reply = _reply(said, turn.reply, None, role, talk)
        turn.said = deepcopy(said) if agent.hook_lists[_SENDING] else said
        return said

    def _guest_reply(self, turn: _Turn) -> Any:
        self._speaking = True
        try:
            turn.reply = self.conversation.reply(turn.view)
        finally:
            self._speaking = False
        turn.said = "" if turn.view.stop or turn.view.spent else turn.guest.message
        return deepcopy(turn.said)

    def _opened(self, agent: Any, role: str) -> _Turn:
        view = self.conversation.open(role)
        if isinstance(agent, ExecutorSeat):
            self._take_calls()
            view.functions = agent.registered
        told = str(agent.system_message)
        if isinstance(agent, Seat) and told != self._usual.get(role, told):
            view.instructions = self._usual[role], told
        guest = self.conversation.seats.get(role)
        if getattr(guest, "agent", None) is agent:
            return _Turn(agent, view, [], [], guest=guest)
        seen = [list(said) for _, said in groupby(view.steps, key=_message_key)]
        shown = [self._message(said, role) for said in seen]
        made = [one["function"]["name"] for one in shown[-1].get("tool_calls", ())] if shown else []
        if made and role != EXECUTOR and not agent.can_execute_function(made):
            shown[-1] = _in_words(shown[-1])  # AutoGen would answer that there is no such function
        return _Turn(agent, view, seen, shown)

    def _message(self, steps: list[Step], role: str) -> dict[str, Any]:
        """Return the steps of one message as a role gets them from AutoGen."""
        key = _message_key(steps[0])
        if key not in self._messages:
            self._messages[key] = message_of(steps)
        message = self._messages[key]
        heard = "assistant" if steps[0].author == role else "user"
        return {**message, "role": heard} if message["role"] == "user" else {**message}

    def let_speak(self, agent: Any, messages: Sequence[dict[str, Any]]) -> Any:
        """Return what a role says to messages, as a message."""
        talk, turn = self.conversation, self._turn
        if turn is None or turn.agent is not agent:  # within the reply of another
            turn = self._opened(agent, self._role(agent))
        if messages != turn.shown:
            turn.view.heard = _heard(messages, turn.seen, turn.shown, turn.view.role)
        turn.reply = talk.reply(turn.view)
        turn.said = _said(turn.reply, talk.calls_made)
        return turn.said

    # -- Calls, and tools that somebody registers.

    @property
    def offered_names(self) -> set[str]:
        """Names of the tools that the environment runs."""
        return {t.name for t in self.conversation.offers.tools if not t.id.startswith(OWN)}

    def _take_calls(self) -> None:
        """Have the executor run the tools that are offered now."""
        names = tuple(self.conversation.offers.names)
        executor = self.agents.get(EXECUTOR)
        if names != self._taken and isinstance(executor, ExecutorSeat):
            self._taken = names
            executor.take_calls(sorted(self.offered_names))

    def offer(self, seat: Any, signature: Any, is_remove: bool) -> None:
        """Offer a tool that somebody registers on a seat (`Seat.update_tool_signature`)."""
        function = signature["function"] if isinstance(signature, dict) else {"name": signature}
        name, offers = function["name"], self.conversation.offers
        if is_remove:
            raise UsageError(f"the tool {name!r} is offered and stays so until the chat ends")
        if self._role(seat) != MANAGER:
            raise UsageError(
                f"the role {self._role(seat)} calls no tools of its own; "
                f"register {name!r} on {MANAGER} (register_for_llm)"
            )
        if name in offers.names:
            raise UsageError(_taken(name))
        parameters = function.get("parameters") or {"type": "object", "properties": {}}
        offers.add([Tool(OWN + name, name, function.get("description") or "", parameters)])

    def result(self, agent: Any, call_id: Any) -> tuple[bool, str]:
        """Return whether a call of the last message succeeded, and what it brought."""
        turn = self._turn
        if turn is None or turn.agent is not agent:
            raise UsageError(f"{EXECUTOR} runs calls in its turn alone; let the chat go on")
        if turn.results is None:
            turn.reply = self.conversation.reply(turn.view)
            turn.results = {result.call_id: result for result in turn.reply.results}
        result = turn.results.get(str(call_id))
        content = turn.reply.content if result is None and turn.reply else ""
        return (False, content) if result is None else (result.error is None, result.content)

    def run(self, agent: Any, name: str, **arguments: Any) -> str:
        """Run a tool of the chat in the executor's turn; the call is recorded as its own."""
        turn = self._turn
        if turn is None or turn.agent is not agent:
            raise UsageError(f"{EXECUTOR} runs tools in its turn alone; let the chat go on")
        (result,) = turn.view.execute([ToolCall("", name, arguments)])
        return result.content

    # -- What is recorded: what an agent sends to the group, after all hooks.

    def _hear(self, sender: Any, message: Any, recipient: Any, silent: bool) -> Any:
        talk, turn = self.conversation, self._turn
        in_group = isinstance(recipient, _AUTOGEN.GroupChatManager)
        if self._speaking or not in_group or talk.finished:
            return message
        if turn is None or turn.agent is not sender:  # nobody has asked it
            role = self._role(sender)
            if role != talk.next_role:
                talk.hand_on(role)
            if talk.finished:
                return message
            turn = self._opened(sender, role)
        self._turn = None
        reply = turn.reply
        if turn.guest is not None:
            turn.guest.sent(message)
        if turn.guest is not None and message != turn.said:
            reply = turn.guest.read(message, turn.view.role)
        elif reply is None or message != turn.said:
            reply = _reply(message, reply, turn.said, turn.view.role, talk)
        in_ours = recipient.groupchat is self.chat
        steps = talk.enter(turn.view, reply, open_end=in_ours and self._free)
        *earlier, sent = messages_of(steps)
        recipient.groupchat.messages += earlier
        if not isinstance(message, dict) and not (sent.keys() & {"tool_calls", "tool_responses"}):
            return message if isinstance(message, str) else sent["content"]
        return {**message, **sent} if isinstance(message, dict) else sent

    # -- The whole chat.

    def open(self) -> Any:
        """Return the message with which the user's agent begins; to send it records it."""
        user = self.agents[USER]
        return self.turn(user, None, None, (), lambda messages, **_: self.let_speak(user, messages))

    def hold(self) -> None:
        """Hold the chat until it ends, as a run does.

        Raises:
            InfrastructureError: A model or the environment failed.
            UsageError: A person is to speak, and there is no terminal.
        """
        talk, begun = self.conversation, False
        with _AUTOGEN.io.IOStream.set_default(Terminal(lambda: self.chat.messages)):
            while not talk.finished:
                ended = len(talk.stops)
                opening = self.open()
                self.agents[USER].initiate_chat(
                    self.manager, message=opening, silent=True, clear_history=not begun
                )
                begun = True
                if len(talk.stops) == ended:  # AutoGen has ended it
                    talk.break_off(len(self.chat.messages) >= self.chat.max_round)


# -- Steps as messages of AutoGen, and messages as what a role says or hears.


def messages_of(steps: list[Step]) -> list[dict[str, Any]]:
    """Return what one role's turn to speak brought as messages of AutoGen, the reply last."""
    return [message_of(list(said)) for _, said in groupby(steps, key=lambda step: step.turn)]


def _message_key(step: Step) -> tuple[int, str]:
    """Return what the steps of one message share."""
    return step.turn, step.author


def message_of(steps: list[Step]) -> dict[str, Any]:
    """Return the steps of one message as a message of AutoGen; its content is never null."""
    calls = [step.call for step in steps if step.call is not None]
    results = [step.result for step in steps if step.result is not None]
    message: dict[str, Any] = {
        "content": "\n".join(
            one_line(step.content) if step.result else step.content
            for step in steps
            if step.content
        ),
        "role": "assistant" if calls else "tool" if results else "user",
        "name": steps[0].author,
    }
    if calls:
        message["tool_calls"] = [_call(call, call.id) for call in calls]
    if results:
        message["tool_responses"] = [
            {"tool_call_id": result.call_id, "role": "tool", "content": result.content}
            for result in results
        ]
    return message


def _in_words(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with calls as one that tells of them."""
    called = [f"called {called_text(call)}" for call in message["tool_calls"]]
    told = {name: part for name, part in message.items() if name != "tool_calls"}
    return {
        **told,
        "role": "user",
        "content": "\n".join([*filter(None, [told["content"]]), *called]),
    }


def _call(call: ToolCall, call_id: str) -> dict[str, Any]:
    return call_of(call_id, call.name, arguments_text(call))


def _function_name(name: str) -> str:
    """Return a tool's name as AutoGen's functions may be named."""
    return _ODD.sub("_", name)[:64]


def _said(reply: Reply, first: int) -> Any:
    """Return a reply as a message that AutoGen sends; `first` is the number of its first call."""
    if reply.results and not reply.calls:
        responses = [
            {"tool_call_id": one.call_id, "role": "tool", "content": one.content}
            for one in reply.results
        ]
        content = "\n\n".join(one.content for one in reply.results)
        return {"role": "tool", "tool_responses": responses, "content": content}
    if not reply.calls:
        return reply.content
    calls = [_call(call, f"call_{first + n}") for n, call in enumerate(reply.calls)]
    return {"content": reply.content, "tool_calls": calls}


def _reply(said: Any, known: Reply | None, was: Any, role: str, talk: Conversation) -> Reply:
    """Return what a message says, whoever made it.

    Args:
        said: The message.
        known: What was said before somebody changed it; None: nothing is known.
        was: `known` as a message; None: unlike `said` it has no other form.
        role: Who says it.
        talk: Where it is said.
    """
    message = said if isinstance(said, dict) else {"content": said}
    before = was if isinstance(was, dict) else {"content": was}
    content = message.get("content")
    text = text_of(content) if content is None or isinstance(content, str | list) else str(content)
    if role == EXECUTOR and talk.pending:
        return replace(known or Reply(), results=_results(message, known, before, talk.pending))
    calls = []
    rendered = before.get("tool_calls") or ()
    made = dict(zip((one["id"] for one in rendered), known.calls if known else (), strict=False))
    for place, one in enumerate(message.get("tool_calls") or ()):
        if not isinstance(one, dict):
            raise UsageError(
                f"role {role!r} sent the call {shortened(one)}; expected "
                '{"id": ..., "function": {"name": ..., "arguments": "{...}"}}'
            )
        unchanged = place < len(rendered) and rendered[place] == one
        calls.append(made[one["id"]] if unchanged else call_in(one))
    return replace(known or Reply(), content=text, calls=tuple(calls))


def call_in(call: Mapping[str, Any]) -> ToolCall:
    """Return a call of a message; what is no object stays as a text."""
    function = call.get("function") or {}
    text = function.get("arguments") or "{}"
    try:
        arguments = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        arguments = None
    name = str(function.get("name", ""))
    is_object = isinstance(arguments, dict)
    return ToolCall("", name, arguments if is_object else None, "" if is_object else str(text))


def _results(
    message: Mapping[str, Any],
    known: Reply | None,
    before: Mapping[str, Any],
    pending: Sequence[ToolCall],
) -> tuple[ToolResult, ...]:
    """Return the results that a message of the executor brings; words answer every call."""
    ran = {result.call_id: result for result in (known.results if known else ())}
    told = message.get("tool_responses") if message.get("role") == "tool" else None
    text = text_of(message.get("content"))
    if not told:
        return tuple(ToolResult(call.id, text, value=text) for call in pending)
    same = told == before.get("tool_responses")
    if same and len(told) == 1 and text != text_of(before.get("content")):
        told = [{**told[0], "content": text}]
    contents = {str(one.get("tool_call_id")): text_of(one.get("content")) for one in told}
    order = known.results if known else [ToolResult(call.id, "") for call in pending]
    return tuple(
        ran[one.call_id]
        if one.call_id in ran and ran[one.call_id].content == contents.get(one.call_id)
        else replace(ran.get(one.call_id, one), content=contents.get(one.call_id, ""))
        for one in order
    )


def _heard(
    messages: Sequence[Mapping[str, Any]],
    seen: Sequence[Sequence[Step]],
    shown: Sequence[Mapping[str, Any]],
    role: str,
) -> list[Step]:
    """Return the steps that messages stand for, after hooks have changed, dropped or added some.

    Args:
        messages: As they are after hooks.
        seen: The steps of each message as it was.
        shown: These messages.
        role: Who hears them.
    """
    heard: list[Step] = []
    aligned = len(messages) == len(shown)
    next_place = 0
    for number, message in enumerate(messages):
        places = [number] if aligned else range(next_place, len(shown))
        place = next((n for n in places if shown[n] == message), None)
        if place is not None:
            next_place = place + 1
            heard += seen[place]
        elif aligned:
            renamed = message.get("name") != shown[number].get("name")
            heard += _changed(seen[number], message, role if renamed else "")
        else:
            turn = -2 - number  # of a message that nobody in the chat has sent
            author = str(message.get("name") or message.get("role") or "system")
            heard.append(Step(0, author, role, text_of(message.get("content")), turn=turn))
    return heard


def _changed(steps: Sequence[Step], message: Mapping[str, Any], hearer: str) -> list[Step]:
    """Return the steps of a message with the text that it has now.

    Args:
        steps: Of the message as it was.
        message: As it is.
        hearer: Who hears it from somebody else than before; empty: it is from the same.
    """
    told = message.get("tool_responses") or ()
    contents = {str(one.get("tool_call_id")): text_of(one.get("content")) for one in told}
    text = text_of(message.get("content"))
    changed = []
    for number, step in enumerate(steps):
        content = text if number == 0 else ""
        if step.result is not None and len(steps) > 1:
            content = contents.get(step.result.call_id, step.content)
        changed.append(replace(step, content=content))
    if hearer:
        author = str(message.get("name") or message.get("role"))
        changed = [replace(step, author=author, recipient=hearer) for step in changed]
    return changed
