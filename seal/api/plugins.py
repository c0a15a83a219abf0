"""Plug-ins by name."""

from __future__ import annotations

from typing import Any

from seal.core import check_name
from seal.core.registry import Registry, load_dotted
from seal.core.signatures import checked

REGISTRIES = {
    "agent": "seal.agents:REGISTRY",
    "benchmark": "seal.pools:REGISTRY",
    "embedder": "seal.retrievers.embedders:EMBEDDERS",
    "hooks": "seal.runs.hooks:REGISTRY",
    "match": "seal.evaluation.rules:MATCHES",
    "metric": "seal.evaluation:REGISTRY",
    "model": "seal.models:REGISTRY",
    "retriever": "seal.retrievers:REGISTRY",
    "scorer": "seal.evaluation.missions.arguments:SCORERS",
    "section": "seal.report.sections:SECTIONS",
    "simulator": "seal.simulator_cache:REGISTRY",
    "team": "seal.agents.teams:REGISTRY",
    "template": "seal.retrievers.documents:TEMPLATES",
    "trajectories": "seal.pools.importer:RECORDINGS",
    "world": "seal.environments:REGISTRY",
}
"""Kind of plug-in to where its registry stands."""


@checked
def register(kind: str, name: str, plugin: Any) -> None:
    """Make a plug-in known by name in this process.

    Args:
        kind: agent, benchmark, embedder, hooks, match (rules of scoring), metric, model,
            retriever, scorer (of arguments), section (of the report), simulator, team, template (of
            a tool's document), trajectories or world.
        name: The name that settings and flags use.
        plugin: An object or class of that kind (`seal.core.protocols`).

    Raises:
        UnknownNameError: There is no such kind.
        UsageError: The name is taken.

    Example:
        >>> import seal
        >>> class Shy:
        ...     def reply(self, chat: seal.Chat) -> seal.Reply:
        ...         return seal.Reply("I would rather not.")
        >>> seal.register("agent", "shy", Shy)
        >>> run = seal.run("sample", roles={"execution_manager": "shy"}, limit=2, baselines=False)
        >>> run["call_recall"].mean
        0.0
    """
    check_name("kind of plug-in", kind, REGISTRIES)
    registry: Registry = load_dotted(REGISTRIES[kind])
    registry.register(name, plugin)
