"""The roles of a tool-using system, the teams that seat them, and the chat that they hold.

A role holds nothing between replies: all it needs is in the `Chat` that it is given
(`seal.core.protocols`). AutoGen is imported in `seal.agents.autogen` alone.
"""

from __future__ import annotations

from typing import Any

from seal.core.errors import UsageError
from seal.core.protocols import Agent
from seal.core.registry import Registry

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
        "rule_verifier": "seal.agents.roles:RuleVerifier",
        "scripted": "seal.agents.users:ScriptedUser",
        "user_simulator": "seal.agents.users:UserSimulator",
        "verifier": "seal.agents.roles:Verifier",
    },
)


def build_agent(what: Any) -> Agent:
    """Return the role that an object, class, name or dotted path stands for.

    Raises:
        UnknownNameError: No agent of that name.
        UsageError: It has no `reply(chat)`.
    """
    found = REGISTRY.resolve(what)
    agent = found() if isinstance(found, type) else found
    if not callable(getattr(agent, "reply", None)):
        raise UsageError(
            f"{what!r} is no agent: expected a class or object with reply(chat) -> Reply, "
            f"got {type(agent).__name__}"
        )
    return agent  # type: ignore[no-any-return]
