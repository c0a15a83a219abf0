"""A chat as a group chat of AutoGen: who sits in it, who speaks next, and what is recorded.

Imported where a chat begins, for it imports AutoGen (`seal.agents.autogen`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from seal.agents.autogen import (
    SELECTION_METHODS,
    Terminal,
    check_chat,
    library,
    listed,
    plain_agent,
    plain_replies,
)
from seal.agents.conversation import Conversation
from seal.agents.messages import (
    OWN,
    as_message,
    call_in,
    check_unchanged,
    heard_steps,
    in_words,
    is_end,
    message_of,
    message_said,
    next_in,
    parts_of,
    results_in,
    said_together,
    taken_name,
    tool_of,
)
from seal.agents.replies import NOTHING
from seal.agents.roles import Prompt, first_system_words, messages, opened
from seal.agents.seats import SENDING, Chat, ExecutorSeat, Manager, Seat
from seal.agents.teams import DESCRIPTIONS, EXECUTOR, MANAGER, SPEAKER_SELECTION, USER
from seal.agents.view import Stamp, View
from seal.core import OverdueError, Reply, Step, Stop, ToolCall, ToolResult, UsageError
from seal.core.concurrency import given_up

_AUTOGEN = library()
_ROUNDS = 1_000_000
"""More than any chat has: the limits of the run end it."""
_WITHOUT_MODEL = ("random", "round_robin")
"""How AutoGen selects speakers without asking a model."""


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
    is_cut_short: bool = False
    """Whether a function of others was late or failed on the way, so that nothing is said."""


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
        """Agents that others have made, whose replies and messages go through us meanwhile."""
        self._roles: dict[int, str] = {}
        self._usual: dict[str, str] = {}
        self._messages: dict[tuple[int, str], dict[str, Any]] = {}
        self._taken: tuple[str, ...] = ()
        """Names of the tools that the executor runs."""
        self.agents = {role: self._seat(role) for role in conversation.seats}
        """Role to its agent."""
        self._order = self._follow
        self._checked: tuple[Any, ...] = ()
        """Agents, rule of speakers and graph of the chat that are known to be in order."""
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
        self.manager = Manager(
            groupchat=self.chat,
            llm_config=False,
            silent=True,
            is_termination_msg=lambda message: False,
        )
        self.begin(conversation)

    # -- Who sits.

    def _seat(self, role: str) -> Any:
        guest = self.conversation.seats[role]
        if getattr(guest, "agent", None) is None:
            agent = (ExecutorSeat if role == EXECUTOR else Seat)(role, self)
            self._roles[id(agent)] = role
            return agent
        return self._guest(guest, role)

    def _guest(self, guest: Any, role: str) -> Any:
        """Let an agent that somebody else has made sit in the chat itself."""
        agent = guest.agent
        kind = type(agent)

        def reply(messages: Any = None, sender: Any = None, exclude: Any = ()) -> Any:
            usual = partial(kind.generate_reply, agent)
            return self.turn(agent, messages, sender, exclude, usual)

        def send(message: Any, recipient: Any, silent: bool) -> Any:
            hooks = partial(kind._process_message_before_send, agent, message, recipient, silent)
            return self.sent(agent, hooks, recipient)

        async def a_reply(messages: Any = None, sender: Any = None, exclude: Any = ()) -> Any:
            with self.async_replies(agent):
                return reply(messages, sender, exclude)

        agent.generate_reply, agent._process_message_before_send = reply, send
        agent.a_generate_reply = a_reply
        self._others.append(agent)
        self._roles[id(agent)] = role
        return agent

    def close(self) -> None:
        """Leave the agents of others as they were."""
        self._closed = True
        for agent in self._others:
            for name in ("generate_reply", "a_generate_reply", "_process_message_before_send"):
                vars(agent).pop(name, None)
            if self.manager is not None:
                agent.stop_reply_at_receive(self.manager)
        while self._added:
            self._added.pop().close()

    def begin(self, conversation: Conversation) -> None:
        """Take up a conversation: another one than before, where the group is used again."""
        self.conversation = conversation
        self._turn, self._speaking, self._closed = None, False, False
        self.says_nothing = False
        """Whether what AutoGen sends now is no message: its speaker has said nothing."""
        self._messages.clear()
        for role, agent in self.agents.items():
            prompt = getattr(conversation.seats[role], "prompt", None)
            told, policy = DESCRIPTIONS.get(role, role), ""
            if isinstance(prompt, Prompt):
                view = View(conversation, role)
                policy = first_system_words(view)
                told = prompt.of(view)
                if policy:
                    told = opened(view, prompt, messages(view.steps, role))[0].content
            if self._usual.get(role) != told and isinstance(agent, Seat):
                self._usual[role], agent.policy = told, policy
                agent.update_system_message(told)
        self._take_calls()

    def reset(self) -> None:
        """Forget what was said."""
        for agent in (*self.agents.values(), self.manager):
            agent.reset()

    def _check_chat(self) -> None:
        """Make sure that what somebody has set on the chat can be (`check_chat`), and its names.

        Raises:
            UsageError: It cannot, or two agents of the chat have one name.
        """
        chat, agents = self.chat, self.chat.agents
        graph = chat.allowed_speaker_transitions_dict
        size = len(graph) if isinstance(graph, dict) else 0
        seated = [*agents] if isinstance(agents, list) else None
        now = seated, chat.speaker_selection_method, chat.max_round, graph, size
        if now == self._checked:
            return
        check_chat(chat)
        names = chat.agent_names
        for name in names:
            if names.count(name) > 1:
                raise UsageError(
                    f"two agents of the group chat are named {name!r}; give yours another "
                    "name, or put it into chat.agents in the place of the other"
                )
        self._checked = now

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
        talk = self.conversation
        if talk.open_choice and talk.options.speaker_selection == "auto":
            return self._choose(last)
        role = talk.next_role
        agent = None if role is None else self.agents.get(role)
        if role is not None and agent not in self.chat.agents:  # somebody else has its place
            agent = self.chat.agent_by_name(role)
            if agent is None:
                raise UsageError(
                    f"it is the turn of {role!r}, and no agent of the group chat has that name; it "
                    f"has: {', '.join(self.chat.agent_names)}. Give your agent the name of the "
                    "role, or say who speaks: chat.speaker_selection_method"
                )
        return agent if agent is None or self._allows(last, agent) else "round_robin"

    def _choose(self, last: Any) -> Any:
        """Return the agent that AutoGen chooses by a model to follow on a text."""
        talk, speaker = self.conversation, self._role(last)
        among = [role for role in self.agents if role not in (speaker, EXECUTOR)]
        named = {
            role: agent if agent.name == role else plain_agent(role, DESCRIPTIONS.get(role, role))
            for role, agent in self.agents.items()
        }
        chosen = among[0]
        if len(among) > 1:
            chat = _AUTOGEN.GroupChat(
                agents=[named[role] for role in among],
                messages=[*self.chat.messages[:-1], {**self.chat.messages[-1], "name": speaker}],
                speaker_selection_method="auto",
            )
            with self._model_chooses() as asked:
                chosen = chat.select_speaker(named[speaker], asked).name
        if chosen == USER and not talk.conversing:  # it has the final response
            talk.hand_on(USER)
            return None
        return self.agents[chosen]

    def _allows(self, last: Any, agent: Any) -> bool:
        """Tell whether an agent, or whoever had its place before, may follow another."""
        allowed = self.chat.allowed_speaker_transitions_dict.get(last)
        return allowed is None or agent.name in {one.name for one in allowed}

    def select(self, last: Any, selector: Any, select: Callable[[Any, Any], Any]) -> Any:
        """Return who speaks next (`Chat.select_speaker`)."""
        talk = self.conversation
        ended = len(talk.stops)
        self._check_chat()
        if not talk.finished and not talk.begins:
            if self._free:
                self._take_calls()  # by these AutoGen tells who may run calls
            try:
                by_model = self._free and not self._has_chooser(selector)
                with self._model_chooses() if by_model else nullcontext(selector) as asked:
                    chosen = self._selected(partial(select, last, asked))
            except _AUTOGEN.NoEligibleSpeakerError:
                chosen = None
            except ValueError as error:
                raise UsageError(
                    f"the group chat's speaker selection: {str(error).rstrip()} Return one of its "
                    f"agents, as chat.agent_by_name does of {listed(self.chat.agent_names)}; None "
                    f"to end the chat; or {listed(SELECTION_METHODS)}"
                ) from error
            by_graph = not (self._free and callable(self.chat.speaker_selection_method))
            if chosen is not None and by_graph and not self._allows(last, chosen):
                chosen = None  # AutoGen lets everybody speak where nobody may
            role = None if chosen is None else self._role(chosen)
            if role is None and not talk.own_seconds_left:
                talk.break_off("max_seconds")
            if len(talk.stops) == ended and (role is None or role != talk.next_role):
                talk.hand_on(role)
            if len(talk.stops) == ended:
                return chosen
        if talk.finished:
            raise _AUTOGEN.NoEligibleSpeakerError("the chat has ended")
        return self.agents[USER]

    def _selected(self, select: Callable[[], Any]) -> Any:
        """Return whom AutoGen selects, a function of others in the time that is left; None: late.

        Raises:
            OverdueError: It is the run's time that is up.
        """
        talk = self.conversation
        is_theirs = self._free and callable(self.chat.speaker_selection_method)
        if talk.seconds_left is None or not is_theirs:
            return select()
        try:
            return given_up(select, talk.seconds_left)
        except OverdueError:
            if talk.own_seconds_left:
                raise
            return None

    def _has_chooser(self, selector: Any) -> bool:
        """Tell whether AutoGen selects without a model, or by one that somebody has named."""
        config = selector.llm_config or self.chat.select_speaker_auto_llm_config
        return bool(config) or self.chat.speaker_selection_method in _WITHOUT_MODEL

    @contextmanager
    def _model_chooses(self) -> Iterator[Any]:
        """Yield whom AutoGen asks who speaks next: the run's model."""
        from seal.agents.guest_models import choosing

        asking = View(self.conversation, SPEAKER_SELECTION)
        try:
            with choosing(asking) as asked:
                yield asked
        finally:
            self.conversation.charge(asking.asked.usage)

    def turn(
        self, agent: Any, messages: Any, sender: Any, exclude: Any, generate: Callable[..., Any]
    ) -> Any:
        """Return what an agent replies, and remember what it stands for until it is sent."""
        if self._speaking:  # it is asked within the reply of another, as in a nested chat
            return generate(messages=messages, sender=sender, exclude=exclude)
        talk = self.conversation
        if self._closed:
            self._check_open()
        turn = self._turn = self._next_turn(agent, isinstance(sender, _AUTOGEN.GroupChatManager))
        if turn is None:
            return None  # a limit has ended the chat
        if messages is None or (sender is not None and messages is agent.chat_messages[sender]):
            messages = deepcopy(turn.shown) if any(agent.hook_lists.values()) else [*turn.shown]
        self._speaking = True
        try:
            if messages and turn.guest is None:
                given = {"messages": messages, "sender": sender, "exclude": exclude}
                said = self._generated(turn, partial(generate, **given))
            else:  # where there is nothing to reply to, AutoGen's functions want a last message
                said = self.let_speak(agent, messages)
        finally:
            self._speaking = False
        if said is None:  # the person ends the chat, or whoever replies has no word for it
            said, turn.reply = "", NOTHING
        elif turn.said is not said:
            turn.reply = self._read(turn, said)
            if not talk.own_seconds_left:
                turn.view.stop = Stop("max_seconds")
        turn.said = deepcopy(said) if agent.hook_lists[SENDING] else said
        return said

    def _generated(self, turn: _Turn, generate: Callable[[], Any]) -> Any:
        """Return what a seat's reply functions give; those of others in the time that is left."""
        agent = turn.agent
        if not agent.has_own_replies:
            is_ours = not (any(agent.hook_lists.values()) or turn.view.functions)
            return generate() if is_ours else self._in_time(turn, generate)
        from seal.agents.guest_models import nested

        with nested(turn.view, self.manager):
            return self._in_time(turn, generate)

    def _in_time(self, turn: _Turn, function: Callable[[], Any]) -> Any:
        """Return what functions of others give a seat, in the time that is left for it."""
        talk = self.conversation
        if talk.seconds_left is None or turn.agent.human_input_mode != "NEVER":
            return function()
        try:
            return given_up(function, talk.seconds_left)
        except OverdueError:
            if talk.own_seconds_left:  # it is the run's time that is up
                raise
            turn.view.stop, turn.is_cut_short = Stop("max_seconds"), True
            if not turn.view.functions:  # one that still runs calls holds the view
                turn.view.close()
            return ""

    def _next_turn(self, agent: Any, in_chat: bool) -> _Turn | None:
        """Return what an agent says next; None: the chat has ended, perhaps by that.

        Args:
            agent: Who speaks.
            in_chat: Whether it speaks to the group, so that it must be its turn.
        """
        talk, role = self.conversation, self._role(agent)
        if in_chat and not talk.finished and role != talk.next_role:
            talk.hand_on(role)
        ended = talk.finished or (in_chat and role != talk.next_role)
        return None if ended else self._opened(agent, role)

    def _opened(self, agent: Any, role: str) -> _Turn:
        view = self.conversation.open(role)
        if isinstance(agent, ExecutorSeat):
            self._take_calls()
            view.functions = agent.registered
        guest: Any = self.conversation.seats.get(role)
        if getattr(guest, "agent", None) is agent:
            guest.desk.listener = self.manager
            return _Turn(agent, view, [], [], guest=guest)
        seen = said_together(view.steps)
        shown = [self._message(said, role) for said in seen]
        made = [one["function"]["name"] for one in shown[-1].get("tool_calls", ())] if shown else []
        if made and role != EXECUTOR and not agent.can_execute_function(made):
            shown[-1] = in_words(shown[-1])  # AutoGen would answer that there is no such function
        return _Turn(agent, view, seen, shown)

    def _message(self, steps: list[Step], role: str) -> dict[str, Any]:
        """Return the steps of one message as a role gets them from AutoGen."""
        key = steps[0].turn, steps[0].author
        if key not in self._messages:
            self._messages[key] = message_of(steps)
        message = self._messages[key]
        heard = "assistant" if steps[0].author == role else "user"
        return {**message, "role": heard} if message["role"] == "user" else {**message}

    def let_speak(self, agent: Any, messages: Sequence[dict[str, Any]]) -> Any:
        """Return what a role says to messages, as a message."""
        talk, outer = self.conversation, self._turn
        turn = outer
        if (
            turn is None or turn.agent is not agent or turn.reply
        ):  # within a reply, as a nested chat
            turn = self._opened(agent, self._role(agent))
        if turn.guest is None and messages != turn.shown:
            turn.view.heard = heard_steps(messages, turn.seen, turn.shown, turn.view.role)
        role, told = turn.view.role, str(agent.system_message)  # as hooks on the state have made it
        if isinstance(agent, Seat) and told != self._usual.get(role, told):
            turn.view.instructions = self._usual[role], told
        turn.reply = talk.reply(turn.view)
        if outer is not None and turn is not outer:
            outer.view.asked = outer.view.asked + Stamp(turn.view.asked.usage)
        if turn.guest is None:
            turn.said = message_said(turn.reply, talk.calls_made)
        else:
            turn.said = "" if turn.view.stop or turn.view.spent else turn.guest.message
        return turn.said

    # -- Calls, and tools that somebody registers.

    @property
    def offered_names(self) -> set[str]:
        """Names of the tools that the environment runs."""
        talk = self.conversation
        offered = (*talk.offers.tools, *talk.user_tools)
        return {tool.name for tool in offered if not tool.id.startswith(OWN)}

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
            raise UsageError(taken_name(name))
        offers.add([tool_of(function)])

    def result(self, agent: Any, function: Any, call_id: Any) -> tuple[bool, str]:
        """Return whether a call of the last message succeeded, and what it brought."""
        turn = self._turn
        check_unchanged(function, call_id, self.conversation.pending)
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

    def sent(self, sender: Any, hooks: Callable[[], Any], recipient: Any) -> Any:
        """Return what an agent sends, after its hooks; what goes to the group is recorded.

        Args:
            sender: The agent.
            hooks: Returns the message as they change it.
            recipient: Who gets it.
        """
        talk, turn = self.conversation, self._turn
        in_turn = not self._speaking and turn is not None and turn.agent is sender
        if turn and in_turn and turn.reply is NOTHING:
            message = ""
        elif turn and in_turn and sender.hook_lists[SENDING]:
            message = self._changed(turn, hooks)
        else:
            message = hooks()
        in_group = isinstance(recipient, _AUTOGEN.GroupChatManager)
        if self._speaking or not in_group:
            return message
        if talk.finished or self._closed:
            self._check_open()
        if turn is None or turn.agent is not sender:  # nobody has asked it
            turn = self._next_turn(sender, in_chat=True)
        self._turn = None
        if turn is None:
            return message
        if turn.guest is not None:
            turn.guest.sent(message, turn.view.first)
        reply = turn.reply if turn.reply and message == turn.said else self._read(turn, message)
        in_ours = recipient.groupchat is self.chat
        is_said = talk.is_said(turn.view, reply)
        steps = talk.enter(turn.view, reply, open_end=in_ours and self._free)
        told = [message_of(one) for one in said_together(steps)]
        sent = told.pop() if is_said else None
        recipient.groupchat.messages += told
        self.says_nothing = in_ours and not is_said
        if sent is None:
            return ""
        if not isinstance(message, dict) and not (sent.keys() & {"tool_calls", "tool_responses"}):
            return message if isinstance(message, str) else sent["content"]
        return {**message, **sent} if isinstance(message, dict) else sent

    def _read(self, turn: _Turn, message: Any) -> Reply:
        """Return what a message says, whoever made it and whatever hooks have done to it."""
        if turn.is_cut_short or turn.reply is NOTHING:
            return NOTHING
        known, role = turn.reply or Reply(), turn.view.role
        message, pending = as_message(message, role), self.conversation.pending
        if role == EXECUTOR and pending:
            return replace(known, results=results_in(message, known.results, pending))
        if turn.guest is not None:
            theirs: Reply = turn.guest.read(message, role, self.conversation.seats)
            return theirs
        text, calls = parts_of(message)
        follower = known.next or next_in(message, role, self.conversation.seats)
        done = known.done or is_end(message)
        _, rendered = parts_of(turn.said)
        made = {one["id"]: call for one, call in zip(rendered, known.calls, strict=False)}
        made_now = tuple(call_in(call, made) for call in calls)
        return replace(known, content=text, calls=made_now, next=follower, done=done)

    def _changed(self, turn: _Turn, hooks: Callable[[], Any]) -> Any:
        """Return a message as hooks change it; where they are a guest's, as its own code."""
        talk, view = self.conversation, turn.view
        if turn.guest is None:
            return self._in_time(turn, hooks)
        changed, turn.is_cut_short = "", True
        with talk.guarding(view), turn.guest.code.watched() as printed:
            try:
                changed = as_message(turn.guest.code.call(hooks, talk.seconds_left), view.role)
                turn.is_cut_short = False
            finally:
                view.add_note(view.first, printed.getvalue())
        return changed

    # -- The whole chat.

    def async_replies(self, *agents: Any) -> AbstractContextManager[None]:
        """Let the async reply functions of agents be asked within the block (`plain_replies`)."""
        return plain_replies(agents, lambda: self.conversation.seconds_left)

    def _overhearing(self) -> AbstractContextManager[None]:
        """Let the block note what agents of AutoGen say that a function in a seat lets chat."""
        if not any(
            getattr(seat, "plays_own_code", False) for seat in self.conversation.seats.values()
        ):
            return nullcontext()
        from seal.agents.guest_models import routed

        return routed()

    def _check_open(self) -> None:
        """Make sure that the chat goes on.

        Raises:
            UsageError: It is closed, or has ended.
        """
        if self._closed:
            raise UsageError("this chat is closed; hold it within `with seal.groupchat(...)`")
        if self.conversation.finished:
            raise UsageError(
                f"this chat has ended ({self.conversation.stops[-1].reason}), and nothing more is "
                "recorded; begin another one: `with seal.groupchat(...)`"
            )

    def open(self) -> Any:
        """Return the message with which the user's agent begins; to send it records it."""
        self._check_open()
        user = self.agents[USER]
        return self.turn(user, None, None, (), lambda messages, **_: self.let_speak(user, messages))

    def hold(self) -> None:
        """Hold the chat until it ends, as a run does.

        Raises:
            InfrastructureError: A model or the environment failed.
            UsageError: A person is to speak, and there is no terminal; or the chat is closed.
        """
        self._check_open()
        self._check_chat()
        talk, begun = self.conversation, False
        stream = _AUTOGEN.io.IOStream.set_default(Terminal(lambda: self.chat.messages))
        with stream, self.async_replies(*self.chat.agents), self._overhearing():
            # The way through AutoGen and back: `initiate_chat` sends what the user says to the
            # manager, which asks `Chat.select_speaker` (`select`) who follows, and that seat for
            # `generate_reply` (`turn`). AutoGen goes through the seat's reply functions, of which
            # `speak` is the last: `let_speak` asks the role. What is said passes the hooks on its
            # way out in `_process_message_before_send` (`sent`), which enters it into the record.
            while not talk.finished:
                ended = len(talk.stops)
                opening = self.open()
                self.agents[USER].initiate_chat(
                    self.manager, message=opening, silent=True, clear_history=not begun
                )
                begun = True
                if len(talk.stops) == ended:  # AutoGen has ended it
                    at_limit = len(self.chat.messages) >= self.chat.max_round
                    talk.break_off("max_turns" if at_limit else "done")
