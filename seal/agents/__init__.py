"""The roles of a tool-using system, the teams that seat them, and the chat that they hold.

A role holds nothing between replies: all it needs is in the `Chat` that it is given
(`seal.core.protocols`). AutoGen is imported in `seal.agents.autogen` alone.
"""

from __future__ import annotations

import inspect
import re
import sys
from abc import ABC, abstractmethod
from contextlib import closing
from typing import Any

from seal.core import Agent, Chat, Reply, UsageError
from seal.core.registry import Registry, name_of, source_of
from seal.core.values import digest

REGISTRY = Registry(
    "agent",
    "seal.agents",
    {
        "checker": "seal.agents.roles:Checker",
        "decompose": "seal.agents.roles:Decompose",
        "execution_manager": "seal.agents.roles:ExecutionManager",
        "executor": "seal.agents.roles:Executor",
        "orchestrator": "seal.agents.roles:Orchestrator",
        "react": "seal.agents.roles:ReAct",
        "relay": "seal.agents.roles:Relay",
        "rule_verifier": "seal.agents.roles:RuleVerifier",
        "scripted": "seal.agents.roles:ScriptedUser",
        "user_simulator": "seal.agents.users:UserSimulator",
        "verifier": "seal.agents.roles:Verifier",
    },
)


class PlayedAnew(ABC):
    """A user's own agent in a role, for all chats of a run; each chat has a player of its own."""

    plays_own_code = True

    @abstractmethod
    def for_chat(self) -> Any:
        """Return what plays the role in one chat; it has `reply(chat)` and `close()`."""

    def made(self) -> Any:
        """Return what the user brought; of a class a new object, whose making may fail."""
        return self

    def reply(self, chat: Chat) -> Reply:
        """Return what a player says that has heard nothing before."""
        with closing(self.for_chat()) as player:
            reply: Reply = player.reply(chat)
        return reply

    def close(self) -> None:  # noqa: B027 - most leave nothing behind
        """Release what is shared by all chats, when the run ends."""


def build_agent(what: Any, role: str = "execution_manager") -> Agent:
    """Return the role that an object, class, function, name or dotted path stands for.

    Args:
        what: The object, class or function, or its name.
        role: Whose place it takes.

    Raises:
        UnknownNameError: No agent of that name.
        UsageError: It has no `reply(chat)`, or is a function of other arguments.
    """
    found = REGISTRY.resolve(what)
    if is_guest(found) or makes_guest(found):
        from seal.agents.guests import GuestAgent

        return GuestAgent(found)
    agent = found() if isinstance(found, type) else found
    if callable(getattr(agent, "reply", None)):
        return agent  # type: ignore[no-any-return]
    if callable(agent):
        from seal.agents.own import CodeAgent

        return CodeAgent(agent, role)
    raise UsageError(
        f"{what!r} is no agent: expected a class or object with reply(chat) -> Reply, or a "
        f"function of (request, chat), got {type(agent).__name__}"
    )


def seat_of(what: Any, role: str) -> Agent | type:
    """Return who sits in a role for all chats of a run; a class of ours is made for each chat.

    Args:
        what: As of `build_agent`.
        role: Whose place it takes.

    Raises:
        UnknownNameError: As `build_agent`.
        UsageError: As `build_agent`.
    """
    one = what if isinstance(what, type) and not is_guest(what) else build_agent(what, role)
    if isinstance(one, PlayedAnew) or not is_own(one):
        return one
    from seal.agents.own import CodeAgent

    return CodeAgent(one)


def is_own(agent: Any) -> bool:
    """Tell whether a role is a user's own: its class is none of ours, or plays what is theirs."""
    kind = agent if isinstance(agent, type) else type(agent)
    is_ours = kind.__module__.partition(".")[0] == __name__.partition(".")[0]
    return not is_ours or getattr(agent, "plays_own_code", False)


def is_guest(what: Any) -> bool:
    """Tell whether something is an agent, a group chat or a pattern of AutoGen, or such a class."""
    kind = what if isinstance(what, type) else type(what)
    return any(
        base.__module__.partition(".")[0] == "autogen"
        and base.__name__ in ("ConversableAgent", "GroupChat", "Pattern")
        for base in kind.__mro__
    )


def makes_guest(what: Any) -> bool:
    """Tell whether something is a function without arguments: it can make only a guest."""
    return inspect.isfunction(what) and not inspect.signature(what).parameters


def identity_of(what: Any) -> Any:
    """Return what a run's record says of who plays a role.

    The name that it was asked by, or that of its class; of a function with a digest of its source.
    """
    found = REGISTRY.resolve(what)
    if is_guest(found) or makes_guest(found):
        from seal.agents import guests

        return guests.identity_of(found)
    if isinstance(found, type) or not callable(found) or hasattr(found, "reply"):
        return name_of(what)
    return f"{name_of(found)}#{digest(source_of(found))[:8]}"


def agent_name(what: Any) -> str:
    """Return what people call an agent: its class and name, or its path, without a digest."""
    found = REGISTRY.resolve(what)
    if is_guest(found) and not isinstance(found, type):
        return f"{type(found).__name__} {getattr(found, 'name', '')}".rstrip()
    return re.sub("#[0-9a-f]{8}$", "", str(name_of(what)))


def source_digest(what: Any) -> str | None:
    """Return a digest of the source of a role's class; None where it is one of ours, or no class.

    The version of its package stands before it, where the package tells one.
    """
    found = REGISTRY.resolve(what)
    kind = found if isinstance(found, type) else type(found)
    package = kind.__module__.partition(".")[0]
    if package in (__name__.partition(".")[0], "autogen", "builtins") or inspect.isfunction(found):
        return None
    version = getattr(sys.modules.get(package), "__version__", None)
    told = digest(source_of(kind))[:8]
    return f"{version} {told}" if isinstance(version, str) else told
