"""What is tried by a run: the settings that an agent of any kind stands for."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from seal.agents import PlayedAnew, agent_name, is_guest, makes_guest
from seal.agents.teams import ArrangedTeam, Team
from seal.core import UnknownNameError, UsageError, shortened
from seal.core.registry import is_module, load_dotted
from seal.models.spec import REGISTRY, split_name
from seal.runs.settings import AgentChoice, ModelChoice, TeamChoice

_CALLER = "execution_manager"
_KINDS = (
    "a model (PROVIDER/MODEL or an object with complete), a seal.Team, a role with reply(chat), "
    "a function of (request, tools) or (request, chat), an agent or a GroupChat of AutoGen, "
    "package.module:attribute of any of these, or bridge:COMMAND or bridge:URL of one elsewhere"
)
AgentUnderTest: TypeAlias = Annotated[
    ModelChoice | TeamChoice | AgentChoice | Callable[..., Any], _KINDS
]
"""Whatever a run may try."""


def trying(agent: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings of a run that tries an agent; what they say themselves goes before.

    Args:
        agent: As of `settings_of`.
        settings: By name of a field of `RunSettings`.

    Raises:
        UsageError: It is no agent.
        UnknownNameError: No model of that name.
    """
    tried = settings_of(agent)
    given = {name: value for name, value in settings.items() if value is not None}
    if "roles" in tried:
        given["roles"] = {**tried["roles"], **given.get("roles", {})}
    return {**settings, **tried, **given}


def settings_of(agent: Any) -> dict[str, Any]:
    """Return the settings of a run that tries an agent.

    Args:
        agent: A model's name or object; a team; an object or class with `reply(chat)`, which then
            calls the tools; a function of (request, tools) or (request, chat), plain, async or a
            generator; an agent or a `GroupChat` of AutoGen, a class of one, or a function without
            arguments that makes one; or a dotted path to any of these; or `bridge:COMMAND` or
            `bridge:URL`, for an agent that runs elsewhere.

    Raises:
        UsageError: It is no agent.
        UnknownNameError: No model of that name.
    """
    if isinstance(agent, str):
        return _settings_of_name(agent)
    if inspect.iscoroutine(agent):
        agent.close()
        raise UsageError(
            "a coroutine is no agent; give the function itself, not what calling it returns"
        )
    if isinstance(agent, (Team, ArrangedTeam)):
        return {"team": agent}
    if not isinstance(agent, type) and (hasattr(agent, "complete") or hasattr(agent, "open")):
        return {"model": agent}
    from seal.agents.own import CodeAgent, OwnModel

    is_role = callable(getattr(agent, "reply", None)) or isinstance(agent, PlayedAnew)
    if not (is_role or is_guest(agent) or makes_guest(agent)):
        if isinstance(agent, type) or not callable(agent):
            raise UsageError(f"{shortened(agent)} is no agent; expected {_KINDS}")
        CodeAgent(agent)  # raises where it takes other arguments
    return {"model": OwnModel(agent_name(agent)), "team": "direct", "roles": {_CALLER: agent}}


def _settings_of_name(agent: str) -> dict[str, Any]:
    module, colon, name = agent.partition(":")
    if module == "bridge":
        from seal.agents.bridge import Bridge

        is_url = name.startswith(("http://", "https://"))
        return settings_of(Bridge(url=name) if is_url else Bridge(name or None))
    file = Path(module)
    if file.suffix == ".py":
        path = f"{file.stem}:{name or 'NAME'}"
        place = "" if file.parent == Path() else f", with {file.parent} on PYTHONPATH"
        raise UsageError(f"agent {agent!r}: a file is no agent; name what it holds: {path}{place}")
    if split_name(agent)[0] in REGISTRY or "/" in agent:
        return {"model": agent}
    if not colon and is_module(agent):
        raise UsageError(f"agent {agent!r}: a module is no agent; name what it holds: {agent}:NAME")
    if not colon:
        raise UnknownNameError("agent or model", agent, REGISTRY.names())
    return settings_of(load_dotted(agent))
