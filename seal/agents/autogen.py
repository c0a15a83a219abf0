"""The chat as an AutoGen group chat; the one module that imports AutoGen (AG2 Classic).

Each role is a `ConversableAgent` without a model of its own whose only reply function lets the
`Conversation` speak; the `GroupChat` asks the conversation who follows. AutoGen's own clients are
never used: they cost a TLS set-up an agent.
"""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from typing import Any

from seal.agents.conversation import Conversation
from seal.agents.teams import DESCRIPTIONS, USER
from seal.core import InfrastructureError, Step, UsageError
from seal.core.call_formats import call_of
from seal.core.values import json_text, one_line

_ROUNDS = 1_000_000
"""More than any chat has: our own limits end it."""
_UNUSED = frozenset({"google.genai", "matplotlib", "networkx"})
"""What AutoGen imports where it is installed and no chat needs: half the time of its import."""
_CLIENTS = frozenset({"PIL", "httpx._main", "openai"})
"""What its own model clients import, which no role of ours uses: half of the rest."""
_IMPORTING = threading.RLock()
"""Held while what imports find is changed."""


def import_without_clients() -> None:
    """Import AutoGen without its model clients, in a process where nobody else will want them.

    Raises:
        UsageError: Another distribution has overwritten the `autogen` package.
    """
    if "autogen" not in sys.modules:
        with _IMPORTING, _without(_CLIENTS):
            library()


@cache
def library() -> Any:
    """Import AutoGen once, silenced, and make sure that it is the right distribution.

    Raises:
        UsageError: Another distribution has overwritten the `autogen` package.
    """
    with warnings.catch_warnings():  # its import reads deprecated names of other libraries
        warnings.simplefilter("ignore", DeprecationWarning)
        with _IMPORTING, _without(_UNUSED):
            import autogen
        from autogen.io.base import IOStream

    if distribution(autogen.__version__) is None or not hasattr(autogen, "GroupChat"):
        known = ", ".join(f"{name} {number}" for name, number in _installed().items()) or "none"
        raise UsageError(
            f"the package autogen is of version {getattr(autogen, '__version__', '?')}, but what "
            f"is installed is {known}: one has overwritten another. Repair: "
            f"pip uninstall -y ag2 pyautogen autogen && pip install 'autogen>=0.14.1,<0.15'"
        )
    logging.getLogger("autogen.oai.client").setLevel(logging.ERROR)
    IOStream.set_global_default(Silent())
    return autogen


def distribution(of: str | None = None) -> tuple[str, str] | None:
    """Return name and version of the distribution that gives AutoGen; `ag2` below 1 does too.

    Args:
        of: The version that it must have; None: any.
    """
    found = _installed().items()
    return next((one for one in found if of in (None, one[1])), None)


def _installed() -> dict[str, str]:
    found = {}
    for name in ("autogen", "ag2"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@contextmanager
def _without(names: frozenset[str]) -> Iterator[None]:
    """Let this thread's imports not find the modules, unless they are imported already."""
    absent = _Absent(names, threading.get_ident())
    sys.meta_path = [absent, *sys.meta_path]  # a new list: other threads may be going through it
    try:
        yield
    finally:
        sys.meta_path = [finder for finder in sys.meta_path if finder is not absent]


class _Absent:
    """A finder of modules that finds none, and lets one thread find none of some names."""

    def __init__(self, names: frozenset[str], thread: int) -> None:
        self._names = names
        self._thread = thread

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        """Fail for the names in the thread.

        Raises:
            ModuleNotFoundError: It is one of them.
        """
        if name in self._names and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


class Silent:
    """An AutoGen stream that shows nothing: what is said stands in the trajectory."""

    def print(self, *objects: Any, sep: str = " ", end: str = "\n", flush: bool = False) -> None:
        """Show nothing."""

    def send(self, message: Any) -> None:
        """Show nothing."""

    def input(self, prompt: str = "", *, password: bool = False) -> str:
        """Answer nothing: people take part through the model `human`."""
        return ""


class Group:
    """A chat of ours as a group chat of AutoGen: an agent a role, and a manager.

    Args:
        conversation: Says who speaks, and records what is said.
    """

    def __init__(self, conversation: Conversation) -> None:
        autogen = library()
        self.conversation = conversation
        self.agents = {role: self._seat(autogen, role) for role in conversation.seats}
        """Role to its agent, whose replies are those of the role."""
        self.chat = autogen.GroupChat(
            agents=list(self.agents.values()),
            messages=[],
            max_round=_ROUNDS,
            speaker_selection_method=self._follow,
            allow_repeat_speaker=True,
        )
        self.manager = autogen.GroupChatManager(
            groupchat=self.chat,
            llm_config=False,
            silent=True,
            is_termination_msg=lambda message: False,
        )
        if conversation.options.speaker_selection == "auto":
            from seal.agents.guests import SpeakerChoice

            conversation.choose = SpeakerChoice(autogen, self.chat, self.agents)

    def _seat(self, autogen: Any, role: str) -> Any:
        agent = autogen.ConversableAgent(
            role,
            llm_config=False,
            human_input_mode="NEVER",
            code_execution_config=False,
            is_termination_msg=lambda message: False,
            description=DESCRIPTIONS.get(role, role),
        )

        def speak(recipient: Any, messages: Any, sender: Any, config: Any) -> tuple[bool, Any]:
            *earlier, said = _messages(self.conversation.speak(role))
            sender.groupchat.messages += earlier
            return True, said

        # The manager is a ConversableAgent. Checks against `Agent`, a protocol, take ten times as
        # long, and so does looking through the replies of AutoGen's own that come after ours.
        agent.register_reply(autogen.ConversableAgent, speak, remove_other_reply_funcs=True)
        return agent

    def _follow(self, last: Any, chat: Any) -> Any:
        role = self.conversation.next_role
        return None if role is None else self.agents[role]

    def reset(self) -> None:
        """Forget what was said."""
        for agent in (*self.agents.values(), self.manager):
            agent.reset()

    def open(self) -> dict[str, Any]:
        """Let the user speak first. Returns the message, with which the user's agent begins.

        Raises:
            InfrastructureError: A model or the environment failed.
        """
        *_, opening = _messages(self.conversation.speak(USER))
        return opening

    def hold(self) -> None:
        """Hold the chat from its opening until it ends.

        Raises:
            InfrastructureError: A model or the environment failed.
        """
        opening = self.open()
        if self.conversation.next_role is not None:
            self.agents[USER].initiate_chat(self.manager, message=opening, silent=True)


class Groups:
    """Groups that hold one chat after another: to make one costs as much as a model's request.

    Safe in threads. No two chats share a group at a time, and AutoGen resets it between them.
    """

    def __init__(self) -> None:
        self._free: dict[tuple[str, ...], list[Group]] = {}

    def play(self, conversation: Conversation) -> None:
        """Hold the chat until it ends.

        A failure of the infrastructure ends it with stop reason "error"; what was said stays. Every
        other exception is a fault of the program or of a plug-in and is raised.
        """
        free = self._free.setdefault(tuple(conversation.seats), [])
        shared = conversation.options.speaker_selection != "auto"  # which seats agents of one chat
        try:
            group = free.pop() if shared else Group(conversation)
        except IndexError:
            group = Group(conversation)
        group.conversation = conversation
        try:
            group.hold()
        except InfrastructureError as error:
            conversation.fail(str(error))
        else:
            group.reset()
            free += [group] if shared else []


def play(conversation: Conversation) -> None:
    """Hold a chat whose group serves no other (`Groups.play`)."""
    Groups().play(conversation)


def _messages(steps: list[Step]) -> list[dict[str, Any]]:
    """Return what one role's turn to speak brought as messages of AutoGen, the reply last."""
    return [_message(list(said)) for _, said in groupby(steps, key=lambda step: step.turn)]


def _message(steps: list[Step]) -> dict[str, Any]:
    """Return the steps of one message as a message of AutoGen; its content is never null."""
    calls = [step.call for step in steps if step.call is not None]
    message: dict[str, Any] = {
        "content": "\n".join(
            one_line(step.content) if step.result else step.content
            for step in steps
            if step.content
        ),
        "role": "assistant" if calls else "user",
        "name": steps[0].author,
    }
    if calls:
        message["tool_calls"] = [
            call_of(call.id, call.name, call.raw or json_text(call.arguments)) for call in calls
        ]
    return message
