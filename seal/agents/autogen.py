"""AutoGen (AG2 Classic): its import, its stream in a chat of ours, and groups for many chats.

The one module that imports it. `seal.agents.group` makes a chat of ours a group chat; AutoGen's own
model clients are never used there: they cost a TLS set-up an agent.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import warnings
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, wraps
from importlib.metadata import PackageNotFoundError, version
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any

from seal.agents.conversation import Conversation
from seal.agents.messages import in_words
from seal.agents.replies import NoPersonError
from seal.core import InfrastructureError, UsageError, shortened
from seal.core.concurrency import asking, given_up, seconds_left
from seal.core.values import one_line

if TYPE_CHECKING:
    from seal.agents.group import Group

_UNUSED = frozenset({"google.genai", "matplotlib", "networkx"})
"""What AutoGen imports where it is installed and no chat needs: half the time of its import."""
_CLIENTS = frozenset(
    {
        *("PIL", "anthropic", "boto3", "botocore", "cerebras", "cohere", "groq", "httpx._main"),
        *("mistralai", "ollama", "openai", "together", "vertexai"),
    }
)
"""What its own model clients import where it is installed, which no role of ours uses: half of the
rest, and with `anthropic` most of it."""
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

    if distribution(autogen.__version__) is None or not hasattr(autogen, "GroupChat"):
        known = ", ".join(f"{name} {number}" for name, number in _installed().items()) or "none"
        raise UsageError(
            f"the package autogen is of version {getattr(autogen, '__version__', '?')}, but what "
            f"is installed is {known}: one has overwritten another. Repair: "
            f"pip uninstall -y ag2 pyautogen autogen && pip install 'autogen>=0.14.1,<0.15'"
        )
    return autogen


def plain_agent(name: str, description: str | None = None) -> Any:
    """Return an agent that asks nobody, runs nothing and ends no chat."""
    return library().ConversableAgent(
        name,
        llm_config=False,
        human_input_mode="NEVER",
        code_execution_config=False,
        is_termination_msg=lambda message: False,
        description=description,
    )


SELECTION_METHODS = ("auto", "manual", "random", "round_robin")
"""How AutoGen selects speakers, whatever the case of letters."""
_MODES = ("ALWAYS", "TERMINATE", "NEVER")
"""When AutoGen asks a person."""


def check_chat(chat: Any) -> None:
    """Make sure that what somebody has set on a group chat is what AutoGen takes.

    Raises:
        UsageError: It is not; the text says what it may be.
    """
    wrong = [one for one in chat.agents or () if not isinstance(one, library().ConversableAgent)]
    if wrong or not isinstance(chat.agents, list):
        raise UsageError(
            f"{shortened(wrong[0] if wrong else chat.agents)} in chat.agents is no agent of "
            "AutoGen; expected a ConversableAgent"
        )
    method, rounds = chat.speaker_selection_method, chat.max_round
    if not callable(method) and str(method).lower() not in SELECTION_METHODS:
        raise UsageError(
            f"chat.speaker_selection_method is {shortened(method)}; expected a function of "
            "(last, chat) that returns an agent, or None to end the chat; or "
            f"{listed(SELECTION_METHODS)}"
        )
    if not isinstance(rounds, int):
        raise UsageError(f"chat.max_round is {shortened(rounds)}; expected a number of messages")
    graph = chat.allowed_speaker_transitions_dict
    known = library().ConversableAgent  # not `Agent`: to check against a protocol takes long
    for one, after in graph.items() if isinstance(graph, dict) else [(graph, [])]:
        following = after if isinstance(after, list) else [after]
        odd = [each for each in (one, *following) if not isinstance(each, known)]
        if odd or following is not after:
            raise UsageError(
                f"chat.allowed_speaker_transitions_dict has {_told(odd[0] if odd else after)}; "
                "expected each agent with a list of agents; chat.agent_by_name(name) returns one"
            )
    for agent in chat.agents:
        mode, handoffs = agent.human_input_mode, agent.handoffs
        if mode not in _MODES:
            raise UsageError(
                f"{agent.name}.human_input_mode is {shortened(mode)}; expected {listed(_MODES)}"
            )
        if hasattr(agent, "has_own_replies") and (
            handoffs.after_works or handoffs.context_conditions or handoffs.llm_conditions
        ):
            raise UsageError(
                f"{agent.name} has handoffs, which AutoGen heeds in patterns alone; set "
                "chat.speaker_selection_method, or give a pattern as the agent"
            )


def _told(value: Any) -> str:
    return shortened(getattr(value, "name", value))


def listed(texts: Sequence[str]) -> str:
    """Return texts in quotes, one behind the other."""
    return ", ".join(map(repr, texts))


@contextmanager
def plain_replies(agents: Sequence[Any], seconds: Callable[[], float | None]) -> Iterator[None]:
    """Let a chat ask the async reply functions of agents, which AutoGen refuses, as plain ones.

    They run in the event loop that async functions share.

    Args:
        agents: Their functions are as before after the block.
        seconds: Returns how long they may take; None: for ever.
    """
    every = [one for agent in agents for one in getattr(agent, "_reply_func_list", ())]
    found = [one for one in every if not one["ignore_async_in_sync_chat"]]
    found = [one for one in found if iscoroutinefunction(one["reply_func"])]
    for one in found:
        one["reply_func"] = _plain(one["reply_func"], seconds)
    try:
        yield
    finally:
        for one in found:
            one["reply_func"] = one["reply_func"].__wrapped__


def run_in_context(agent: Any, work: Coroutine[Any, Any, Any]) -> Any:
    """Run the coroutine of a tool in a thread that has the context of this one: AutoGen's has none.

    Raises:
        OverdueError: It takes longer than the chat may last.
    """
    return given_up(lambda: asyncio.run(work), seconds_left())


def _plain(function: Callable[..., Any], seconds: Callable[[], float | None]) -> Any:
    @wraps(function)
    def ask(*given: Any, **named: Any) -> Any:
        from seal.agents.own_code import Inbox, OwnCode

        code = OwnCode()
        return code.wait(function(*given, **named), seconds(), Inbox("", code.pace))

    return ask


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


_SPEAKS = "an agent asks a person (human_input_mode)", 'set human_input_mode="NEVER"'
_CHOOSES = (
    'the group chat asks a person who speaks next (speaker_selection_method="manual")',
    'set speaker_selection_method="auto", "round_robin" or a function of yours',
)


class Terminal:
    """AutoGen's stream in a chat: it shows nothing, for what is said stands in the trajectory.

    A person who sits in the chat is asked on the terminal, and shown what was said since.

    Args:
        messages: Returns those of the chat so far.
    """

    def __init__(self, messages: Callable[[], Sequence[Mapping[str, Any]]] = tuple) -> None:
        self._messages = messages
        self._shown = 0
        self._choices: list[str] = []

    def print(self, *objects: Any, sep: str = " ", end: str = "\n", flush: bool = False) -> None:
        """Show nothing."""

    def send(self, message: Any) -> None:
        """Keep whom a person may choose to speak next."""
        if type(message).__name__ == "SelectSpeakerEvent":
            self._choices = list(message.content.agents or ())

    def input(self, prompt: str = "", *, password: bool = False) -> str:
        """Return what a person types.

        Raises:
            NoPersonError: There is no terminal.
        """
        choices, self._choices = self._choices, []
        if not (sys.stdin and sys.stdin.isatty()):
            asks, repair = _CHOOSES if choices else _SPEAKS
            raise NoPersonError(
                f"{asks}, and standard input is no terminal; run in a terminal, or {repair}"
            )
        with asking():
            said = list(self._messages())
            for message in said[self._shown :]:
                line = one_line(in_words(message)["content"])
                print(f"{message.get('name')}: {line}", file=sys.stderr)
            self._shown = len(said)
            for number, name in enumerate(choices, 1):
                print(f"{number} {one_line(name)}", file=sys.stderr)
            print(one_line(prompt), end="", file=sys.stderr, flush=True)
            line = sys.stdin.readline()
        return line.rstrip("\r\n") if line else "exit"


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
        from seal.agents.group import Group

        free = self._free.setdefault(tuple(conversation.seats), [])
        alone = any(getattr(one, "agent", None) for one in conversation.seats.values())
        try:
            group = Group(conversation) if alone else free.pop()
            group.begin(conversation)
        except IndexError:
            group = Group(conversation)
        try:
            group.hold()
        except InfrastructureError as error:
            alone = True
            conversation.fail(str(error))
        finally:
            group.close()  # before another thread can take it
        if not alone:  # an agent of somebody else's may remember other chats
            group.reset()
            free.append(group)


def play(conversation: Conversation) -> None:
    """Hold a chat whose group serves no other (`Groups.play`)."""
    Groups().play(conversation)
