"""The options that `seal run` has, in groups; those of `seal ablate` are the same but for a few."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import typer

from seal.cli import options as shared
from seal.cli.config import origins_of
from seal.cli.groups import filled, flag, like, option, setting, settings_of
from seal.cli.words import sizes, whole
from seal.experiments.pool_draws import DrawnGroup
from seal.experiments.sweep.sweep_settings import SweepSettings
from seal.runs.settings import (
    EnvironmentGroup,
    JudgingGroup,
    LimitGroup,
    ModelGroup,
    RetrievalGroup,
    RoleGroup,
    RunSettings,
)

_SETTINGS = {field.name for field in fields(RunSettings)}
PLAYED = like(shared.POOL, "sample", metavar="[NAME|DIR]", help=setting(RunSettings, "pool").help)


@dataclass(frozen=True, kw_only=True)
class Model(ModelGroup):
    """Model: who plays, how it is asked, and whether its answers are cached."""

    agent: str | None = option(
        None,
        "Your own agent: a function of (request, tools), a role or a team. Of one that runs "
        "elsewhere: bridge:COMMAND, which is started for each chat, or bridge:URL, which is told of "
        "each.",
        metavar="MODULE:NAME|bridge:...",
    )


@dataclass(frozen=True, kw_only=True)
class Retriever:
    """Retrieval: who offers the chat its tools, how many and when."""

    retriever: str | None = setting(RunSettings, "retriever")
    top_k: tuple[int, ...] = option(
        str(RunSettings().top_k),
        "Number of tools that a chat is offered; several numbers, such as 1,5,10, are a run each.",
        metavar="K[,K...]",
        words=str,
        callback=whole,
    )


@dataclass(frozen=True, kw_only=True)
class Pools(DrawnGroup):
    """Pools and sweeps: runs over drawn pools of several sizes."""

    pool_sizes: Any = option(
        None,
        "Play drawn pools of these numbers of tools, and the whole pool: 10,50,100,200,500,all.",
        words=str | None,
        read=sizes,
    )
    samples: int = setting(SweepSettings, "samples")


@dataclass(frozen=True, kw_only=True)
class RunOutput:
    """Output: where all is written, and what is printed."""

    out: Path | None = option(None, "Folder to write.  [default: a new one under runs/]")
    resume: bool = flag("Continue what --out holds.")
    json: bool = shared.JSON


@dataclass(frozen=True, kw_only=True)
class DryRunOutput(RunOutput):
    """Output: where all is written, and what is printed."""

    shard: str | None = setting(RunSettings, "shard")
    hooks: tuple[str, ...] = setting(RunSettings, "hooks")
    dry_run: bool = flag(
        "Print how many chats, model calls, tokens and dollars a run takes; ask no model, "
        "write nothing."
    )


@dataclass(frozen=True, kw_only=True)
class AnyPlay:
    """What all verbs that play are told alike."""

    model: Model
    roles: RoleGroup
    retrieval: RetrievalGroup
    environment: EnvironmentGroup
    servers: shared.ServersElsewhere
    judging: JudgingGroup
    limits: LimitGroup

    def settings(self, context: typer.Context, pool: str, **others: Any) -> RunSettings:
        """Return the settings of a run, with who gave each; `others` go before the groups'."""
        groups = [getattr(self, each.name) for each in fields(self)]
        setting_of = {each.name: filled(each) for group in groups for each in fields(group)}
        given = {setting_of.get(name, name): by for name, by in origins_of(context).items()}
        found = {name: value for name, value in settings_of(*groups).items() if name in _SETTINGS}
        found["origins"] = {name: by for name, by in given.items() if name in _SETTINGS}
        found["servers"] = self.servers.named()
        if "model" not in given:
            del found["model"]  # else an agent's own could not go before it
        if self.model.agent is not None:
            from seal.runs.agent_settings import trying

            found = trying(self.model.agent, found)
        return RunSettings(pool=pool, **found | others)


@dataclass(frozen=True, kw_only=True)
class Play(AnyPlay):
    """What `seal run` and `seal ablate` are told alike."""

    servers: shared.Servers
