"""The roles of a team as agents of AutoGen, the group chat in which they sit, and its manager.

Imported where a chat begins, for it imports AutoGen (`seal.agents.autogen`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from seal.agents.autogen import library, listed, run_in_context
from seal.agents.messages import arguments_text, taken_name
from seal.agents.teams import DESCRIPTIONS
from seal.core import ToolCall, ToolResult, UsageError, shortened

if TYPE_CHECKING:
    from seal.agents.group import Group

_AUTOGEN = library()
_ODD = re.compile("[^A-Za-z0-9_-]")
"""What no name of a function of AutoGen may have."""
SENDING = "process_message_before_send"
"""Kind of hook that changes what is sent."""
_OF_MODELS = ("safeguard_llm_inputs", "safeguard_llm_outputs")
"""Hooks of `generate_oai_reply`."""


class Run(partial[str]):
    """Runs a tool of the chat in the environment: what the executor has for each."""


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
        self._replies_at_first = len(self._reply_func_list)

    policy = ""
    """What the system tells the role, such as a benchmark's policy: part of its system message."""

    _run_async_in_thread = run_in_context

    def update_system_message(self, system_message: str) -> None:
        """Replace the prompt of the role; what the system tells it stays behind the new one.

        Raises:
            UsageError: The new one is no text.
        """
        if not isinstance(system_message, str):
            raise UsageError(
                f"the system message of {self.name} would be {shortened(system_message)}; "
                "expected a text"
            )
        parts = [system_message] if self.policy in system_message else [system_message, self.policy]
        super().update_system_message("\n\n".join(filter(None, parts)))

    def register_reply(self, trigger: Any, *given: Any, **named: Any) -> None:
        """Register a reply function, as on any agent."""
        everyone = isinstance(trigger, list) and trigger == [_AUTOGEN.Agent, None]
        super().register_reply(_Everyone if everyone else trigger, *given, **named)

    def register_hook(self, hookable_method: str, hook: Any) -> None:
        """Register a hook, as on any agent.

        Raises:
            UsageError: There is no such kind, or AutoGen would never call it: a role asks its
                model by itself.
        """
        if hookable_method in _OF_MODELS:
            raise UsageError(
                f"a hook {hookable_method} is never called on {self.name}, which has no "
                "llm_config; use process_all_messages_before_reply for what the model reads, and "
                f"{SENDING} for what it says"
            )
        if hookable_method not in self.hook_lists or not callable(hook):
            kinds = [kind for kind in self.hook_lists if kind not in _OF_MODELS]
            raise UsageError(
                f"no hook {shortened(hook)} of kind {shortened(hookable_method)}; expected a "
                f"function, and one of {listed(kinds)}"
            )
        super().register_hook(hookable_method, hook)

    @property
    def has_own_replies(self) -> bool:
        """Whether somebody has registered a reply function, such as that of a nested chat."""
        return len(self._reply_func_list) > self._replies_at_first

    def speak(self, messages: Any = None, sender: Any = None, config: Any = None) -> Any:
        """Let the role reply to messages: the last of the reply functions."""
        return True, self._group.let_speak(self, messages or [])

    def generate_reply(self, messages: Any = None, sender: Any = None, exclude: Any = ()) -> Any:
        """Reply as any agent does, from what the role may see of the chat."""
        return self._group.turn(self, messages, sender, exclude, super().generate_reply)

    def _process_message_before_send(self, message: Any, recipient: Any, silent: bool) -> Any:
        """Return what is sent, after hooks; the chat hears of it."""
        hooks = super()._process_message_before_send
        return self._group.sent(self, partial(hooks, message, recipient, silent), recipient)

    async def a_generate_reply(
        self, messages: Any = None, sender: Any = None, exclude: Any = ()
    ) -> Any:
        """Reply in an event loop; reply functions that are async are asked as in `Group.hold`."""
        with self._group.async_replies(self):
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
        succeeded, content = self._group.result(self, func_call, call_id)
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
            raise UsageError(taken_name(min(taken)))
        super().register_function(function_map, silent_override)

    def take_calls(self, names: Sequence[str]) -> None:
        """Have calls of tools run by the environment."""
        ours = {_ODD.sub("_", name)[:64]: Run(self._group.run, self, name) for name in names}
        left = {name: None for name, f in self.function_map.items() if not _is_own(f)}
        super().register_function({**left, **ours}, silent_override=True)

    @property
    def registered(self) -> Mapping[str, Callable[[ToolCall], ToolResult]]:
        """Name to what runs calls of it, where somebody has registered a function."""
        own = (name for name, function in self.function_map.items() if _is_own(function))
        return dict.fromkeys(own, self.run_registered)


def _is_own(function: Any) -> bool:
    """Tell whether a function of the executor is one that somebody has registered."""
    return not isinstance(function, Run)


class Chat(_AUTOGEN.GroupChat):  # type: ignore[misc, name-defined]
    """The group chat: AutoGen selects who speaks, and the conversation is told.

    Its `speaker_selection_method` is the order of the team; whatever replaces it is obeyed.
    """

    group: Group

    def __copy__(self) -> Chat:
        """Return itself: its manager would not see what is set on it later."""
        return self

    def append(self, message: Any, speaker: Any) -> None:
        """Keep a message; none where its speaker has said nothing."""
        if self.group.says_nothing:
            self.group.says_nothing = False
        else:
            super().append(message, speaker)

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


class Manager(_AUTOGEN.GroupChatManager):  # type: ignore[misc, name-defined]
    """The manager of the group chat: it hears those who sit in it."""

    def _process_received_message(self, message: Any, sender: Any, silent: bool) -> Any:
        """Take up a message.

        Raises:
            UsageError: Who sends it does not sit in the chat: nothing of it would be recorded.
        """
        if sender not in self.groupchat.agents:
            raise UsageError(
                f"{sender.name!r} does not sit in this chat; append it to chat.agents, or let an "
                f"agent of the chat send the message: {', '.join(self.groupchat.agent_names)}"
            )
        return super()._process_received_message(message, sender, silent)
