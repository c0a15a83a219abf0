"""The options that several verbs share; those of `seal run`, in groups, and of verbs like it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import typer

from seal.cli.config import origins_of
from seal.cli.groups import argument, filled, flag, like, option, setting, settings_of
from seal.cli.words import one_whole
from seal.runs.settings import (
    EnvironmentGroup,
    JudgingGroup,
    LimitGroup,
    ModelGroup,
    RetrievalGroup,
    RoleGroup,
    RunSettings,
)

BASE_URL = setting(RunSettings, "base_url")
CACHE_DIR = setting(RunSettings, "cache_dir")
MODEL_OPTIONS = setting(RunSettings, "model_options")
ALLOW_CODE = setting(RunSettings, "allow_code")
SIMULATOR = setting(RunSettings, "simulator")
SERVERS = setting(RunSettings, "servers")
SEED = setting(RunSettings, "seed")
POOL = argument(
    "Name of a shipped benchmark, folder of an imported one, or your own as module:name.",
    metavar="NAME|DIR",
)
NEW_FOLDER = option(..., "Folder to write; the command that began it continues there.")
JSON = flag("Print one JSON object and nothing else.")
ALL_METRICS = flag("Print all main metrics; else the first five.")

# -- Those of `seal run`, and where those of verbs like it differ.

_SETTINGS = {field.name for field in fields(RunSettings)}
PLAYED = like(POOL, "sample", metavar="[NAME|DIR]", help=setting(RunSettings, "pool").help)


@dataclass(frozen=True, kw_only=True)
class Model(ModelGroup):
    """Model: who plays, how it is asked, and whether its answers are cached."""

    agent: str | None = option(
        None,
        "Your own agent: a function of (request, tools), a role or a team. Of one that runs "
        "elsewhere: bridge:COMMAND, which is started for each chat, or bridge:URL of a service.",
        metavar="MODULE:NAME|bridge:...",
    )


@dataclass(frozen=True, kw_only=True)
class Retriever:
    """Retrieval: who offers the chat its tools, how many and when."""

    retriever: str | None = setting(RunSettings, "retriever")
    top_k: int = like(
        setting(RunSettings, "top_k"),
        str(RunSettings().top_k),
        metavar="K",
        words=str,
        callback=one_whole,
    )


@dataclass(frozen=True, kw_only=True)
class RunOutput:
    """Output: where all is written, and what is printed."""

    out: Path | None = option(None, "Folder to write.  [default: a new one under runs/]")
    resume: bool = flag("Continue what --out holds.")
    json: bool = JSON


@dataclass(frozen=True, kw_only=True)
class WholeRunOutput(RunOutput):
    """Output: where all is written, and what is printed."""

    again: Literal["unsolved", "undecided", "failed"] | None = option(
        None,
        "Play the tasks of --from alone that are unsolved, undecided or failed (ended by an "
        "error, or not played), with the settings of that run where none are given.",
    )
    former: Path | None = option(None, "Run folder that --again is of.", "--from", metavar="RUN")
    all_metrics: bool = ALL_METRICS
    dry_run: bool = flag(
        "Print how many chats, model calls, tokens and dollars a run takes; ask no model, "
        "write nothing."
    )


@dataclass(frozen=True, kw_only=True)
class Play:
    """What all verbs that play are told alike."""

    model: Model
    roles: RoleGroup
    retrieval: RetrievalGroup
    environment: EnvironmentGroup
    judging: JudgingGroup
    limits: LimitGroup

    def settings(self, context: typer.Context, pool: str, **others: Any) -> RunSettings:
        """Return the settings of a run, with who gave each; `others` go before the groups'."""
        groups = [getattr(self, each.name) for each in fields(self)]
        setting_of = {each.name: filled(each) for group in groups for each in fields(group)}
        given = {setting_of.get(name, name): by for name, by in origins_of(context).items()}
        found = {name: value for name, value in settings_of(*groups).items() if name in _SETTINGS}
        found["origins"] = {name: by for name, by in given.items() if name in _SETTINGS}
        if "model" not in given:
            del found["model"]  # else an agent's own could not go before it
        if self.model.agent is not None:
            from seal.runs.resolve import trying

            told = trying(self.model.agent, found)
            tried = {name for name, value in told.items() if value is not found.get(name)}
            found = told | {"origins": dict.fromkeys(tried, "flag") | found["origins"]}
        return RunSettings(pool=pool, **found | others)


@dataclass(frozen=True, kw_only=True)
class SeriesJudging(JudgingGroup):
    """Judging: who says what is solved, by which metrics, beside which baselines."""

    baselines: bool = option(False, "Play the floor and the ceiling of each run too.")


@dataclass(frozen=True, kw_only=True)
class SeriesPlay(Play):
    """What every run of a sweep or an ablation is told."""

    judging: SeriesJudging
