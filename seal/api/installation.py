"""What is installed: plug-ins registered, models probed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from seal.core import check_name
from seal.core.registry import Registry, load_dotted
from seal.core.settings import checked

if TYPE_CHECKING:
    from seal.models.probe import Way


# -- Plug-ins by name.

REGISTRIES = {
    "agent": "seal.agents:REGISTRY",
    "benchmark": "seal.pools.importer:REGISTRY",
    "embedder": "seal.retrievers.embedders:EMBEDDERS",
    "match": "seal.evaluation.goals:MATCHES",
    "metric": "seal.evaluation:REGISTRY",
    "model": "seal.models.spec:REGISTRY",
    "retriever": "seal.retrievers.build:REGISTRY",
    "scorer": "seal.evaluation.argument_pairs:SCORERS",
    "section": "seal.report.sections:SECTIONS",
    "simulator": "seal.simulator_cache:REGISTRY",
    "team": "seal.agents.teams:REGISTRY",
    "template": "seal.retrievers.base:TEMPLATES",
    "trajectories": "seal.pools.importer:RECORDINGS",
    "world": "seal.environments:REGISTRY",
}
"""Kind of plug-in to where its registry stands."""


@checked
def register(kind: str, name: str, plugin: Any) -> None:
    """Make a plug-in known by name in this process.

    Args:
        kind: agent, benchmark, embedder, match (rules of scoring), metric, model,
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


# -- What a model can do.


@checked
def probe(model: Any, *, base_url: str | None = None, **options: Any) -> list[Way]:
    """Ask a model whether it makes calls, several at once, and uses results, in each format.

    Args:
        model: As of a run: PROVIDER/MODEL, a registered name, a dotted path or an object; a text
            may carry options, as `seal.Model` writes them, which go before those below.
        base_url: Its server.
        **options: Of the model, such as `timeout_s`.

    Returns:
        One for each format and way of giving results, the better ones first; `works` tells whether
        the model can be played so. Ten small requests in all, none of them kept.

    Raises:
        UnknownNameError: No such model.
        UsageError: The model plays tasks, of which there is none here.
        ModelError: The server cannot be reached, or takes no request at all.
    """
    from seal.models.probe import probe as ask
    from seal.models.spec import ModelSettings, build_model

    settings = ModelSettings(base_url=base_url).told(options)
    return ask(build_model(model, settings), model)
