"""The options that `seal run` has, in groups; those of `seal ablate` are the same but for a few."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from seal.cli.config import origins_of
from seal.cli.options import (
    Agent,
    AllowCode,
    BaseUrl,
    CacheDir,
    CacheMode,
    Drawing,
    Json,
    Judge,
    Metrics,
    ModelOptions,
    RetrieverOptions,
    Seed,
    Select,
    Simulator,
    Votes,
    numbers,
    pairs,
    role_models,
    typed_pairs,
)
from seal.runs.agent_settings import trying
from seal.runs.settings import RunSettings
from seal.sandbox import NAMES as SANDBOXES

DEFAULT = RunSettings()
_SETTINGS = {field.name for field in fields(RunSettings)}
_SETTING_OF = {
    "model_option": "model_options",
    "role_model": "role_models",
    "retriever_option": "retriever_options",
    "world_option": "world_options",
    "metric": "metrics",
    "tools": "mobile_tools",
    **dict.fromkeys(("planner", "verifier", "checker", "user"), "roles"),
}
"""Option to the setting that it fills, where its name is another."""


def several(text: str) -> str:
    """Return a comma-separated list of whole numbers as it stands.

    Raises:
        BadParameter: It is none.
    """
    try:
        whole(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r}: expected a whole number, or several such as 1,5,10"
        ) from error
    return text


def whole(text: str) -> tuple[int, ...]:
    """Return the whole numbers of a comma-separated list; ValueError where one is none."""
    return tuple(int(word) for word in text.split(","))


Pool = Annotated[
    str,
    typer.Argument(metavar="[NAME|DIR]", help="A shipped benchmark, or an imported folder."),
]


class Group:
    """Options that stand together."""

    def settings(self) -> dict[str, Any]:
        """Return fields of `RunSettings`: here the options that have the name of one."""
        own = fields(self)  # type: ignore[arg-type]  # every group is a dataclass
        return {each.name: getattr(self, each.name) for each in own if each.name in _SETTINGS}


@dataclass(frozen=True, kw_only=True)
class Model(Group):
    """Model: who plays, how it is asked, and whether its answers are kept."""

    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL[,KEY=VALUE...]",
            help="PROVIDER/MODEL, or an offline one; `seal models`.  "
            f"[default: {DEFAULT.model}, or what the agent asks]",
        ),
    ] = None
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="An agent of your own: a function of (request, tools), a role or a team.",
        ),
    ] = None
    model_option: ModelOptions = None
    base_url: BaseUrl = None
    temperature: Annotated[float, typer.Option(help="Of every model.")] = DEFAULT.temperature
    format: Annotated[
        Literal["native", "action", "json", "bracket"] | None,
        typer.Option(
            help="How models call tools: by their server, or in their text.  [default: the "
            "pool's, else native]"
        ),
    ] = None
    tool_messages: Annotated[
        Literal["auto", "native", "text"],
        typer.Option(help="How results reach models: as the server's tool messages, or as text."),
    ] = DEFAULT.tool_messages
    style: Annotated[
        Literal["plain", "react"],
        typer.Option(help="react: up to three thoughts before each act."),
    ] = DEFAULT.style
    one_shot: Annotated[
        bool,
        typer.Option(
            "--one-shot/--zero-shot", help="Show how another task of the environment was done."
        ),
    ] = DEFAULT.one_shot
    cache: Annotated[
        CacheMode,
        typer.Option(help="Answers of simulator and models: keep, only reuse, or neither."),
    ] = DEFAULT.cache
    cache_dir: CacheDir = None

    def settings(self) -> dict[str, Any]:
        """Return fields of `RunSettings`."""
        options = typed_pairs("--model-option", self.model_option)
        found = super().settings() | {"model_options": options}
        if self.model is None:
            del found["model"]
        return found


@dataclass(frozen=True, kw_only=True)
class Roles(Group):
    """Roles and team: who is seated beside the model, and what the user knows."""

    team: Annotated[
        str | None,
        typer.Option(
            help="full, direct, single, tool_life or module:attribute.  [default: the pool's, "
            "else full]"
        ),
    ] = None
    role_model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=MODEL[,KEY=VALUE...]",
            help="Own model of a role, simulator or judge, for which neither --base-url nor -M "
            "holds; several judges vote together.",
        ),
    ] = None
    planner: Agent = None
    verifier: Agent = None
    checker: Agent = None
    user: Annotated[
        str | None,
        typer.Option(
            help="Agent: scripted, user_simulator or module:attribute.  [default: scripted where "
            "the model is offline, else user_simulator]"
        ),
    ] = None
    user_brief: Annotated[
        Literal["goal", "goal+boundary", "goal+boundary+demonstration"],
        typer.Option(help="What the user is told of a task's persona."),
    ] = DEFAULT.user_brief
    history: Annotated[
        Literal["own", "gold"] | None,
        typer.Option(help="What later goals follow on.  [default: the pool's, else own]"),
    ] = None
    on_policy: Annotated[
        bool,
        typer.Option("--on-policy", help="Play recorded dialogues with a user who has a brief."),
    ] = DEFAULT.on_policy

    def settings(self) -> dict[str, Any]:
        """Return fields of `RunSettings`."""
        seats = {
            "planner": self.planner,
            "verifier": self.verifier,
            "checker": self.checker,
            "user_simulator": self.user,
        }
        seated = {role: agent for role, agent in seats.items() if agent}
        models = role_models(self.role_model)
        return super().settings() | {"role_models": models, "roles": seated}


@dataclass(frozen=True, kw_only=True)
class Retriever:
    """Retrieval: who offers the chat its tools, how many and when."""

    retriever: Annotated[
        str | None,
        typer.Option(help="Name or module:attribute.  [default: given tools, else tfidf]"),
    ] = None
    top_k: Annotated[
        str,
        typer.Option(
            metavar="K[,K...]",
            help="Tools that a chat is offered; several are played one by one: 1,5,10.",
            callback=several,
        ),
    ] = str(DEFAULT.top_k)


@dataclass(frozen=True, kw_only=True)
class Retrieval(Group):
    """Retrieval: who offers the chat its tools, how many and when."""

    retriever_option: RetrieverOptions = None
    retrieve: Annotated[
        Literal["once", "per-step", "on-demand"], typer.Option(help="When to retrieve.")
    ] = DEFAULT.retrieve
    cutoffs: Annotated[str, typer.Option(help="K of recall@K and its like.")] = ",".join(
        map(str, DEFAULT.cutoffs)
    )

    def settings(self) -> dict[str, Any]:
        """Return fields of `RunSettings`."""
        options = typed_pairs("--retriever-option", self.retriever_option)
        cutoffs = numbers("--cutoffs", self.cutoffs)
        return super().settings() | {"retriever_options": options, "cutoffs": cutoffs}


@dataclass(frozen=True, kw_only=True)
class Environment(Group):
    """Environment: what answers calls, and where code runs."""

    simulator: Simulator = str(DEFAULT.simulator)
    world_option: Annotated[
        list[str] | None,
        typer.Option(
            "--world-option",
            "-T",
            metavar="KEY=VALUE",
            help="Of the world that tasks name, or of the team (tool_life: tasks, decisions, apps, "
            "roles).",
        ),
    ] = None
    tools: Annotated[
        Literal["recorded", "created"],
        typer.Option(help="What answers in a virtual mobile: the corpus, or created functions."),
    ] = DEFAULT.mobile_tools
    sandbox: Annotated[
        str,
        typer.Option(help=f"Where functions that a model wrote run: {', '.join(SANDBOXES)}."),
    ] = DEFAULT.sandbox
    gold_results: Annotated[
        bool,
        typer.Option(
            "--gold-results", help="Let calls of gold tools bring what the gold calls bring."
        ),
    ] = DEFAULT.gold_results
    feedback: Annotated[
        Literal["auto", "on", "off"],
        typer.Option(
            help="What an invalid call brings: on, an explanation; off, it is run as it is; auto, "
            "a sentence of simulated APIs, of a world what it says."
        ),
    ] = DEFAULT.feedback
    allow_code: AllowCode = None

    def settings(self) -> dict[str, Any]:
        """Return fields of `RunSettings`."""
        return super().settings() | {
            "world_options": typed_pairs("--world-option", self.world_option),
            "mobile_tools": self.tools,
            "allow_code": tuple(self.allow_code or ()),
        }


@dataclass(frozen=True, kw_only=True)
class Judging(Group):
    """Judging: who says what is solved, by which metrics, beside which baselines."""

    judge: Judge = DEFAULT.judge
    votes: Votes = DEFAULT.votes
    metric: Metrics = None
    baselines: Annotated[
        bool,
        typer.Option(
            help="Play the floor and the ceiling beside the model; of several pools or K only "
            "where asked for."
        ),
    ] = DEFAULT.baselines

    def settings(self) -> dict[str, Any]:
        """Return fields of `RunSettings`."""
        return super().settings() | {"metrics": tuple(self.metric or ())}


@dataclass(frozen=True, kw_only=True)
class Limits(Group):
    """Limits and budgets: which tasks are played, how often, how far and at what cost."""

    limit: Annotated[int | None, typer.Option(help="Play the first N tasks.")] = None
    select: Select = None
    trials: Annotated[int, typer.Option(help="Times to play each task.")] = DEFAULT.trials
    workers: Annotated[int, typer.Option(help="Chats at once.")] = DEFAULT.workers
    processes: Annotated[int, typer.Option(help="Processes, each with its workers.")] = (
        DEFAULT.processes
    )
    max_turns: Annotated[
        int | None,
        typer.Option(help="Model turns for each goal. Default: 10, or what the task needs."),
    ] = DEFAULT.max_turns
    max_calls: Annotated[int, typer.Option(help="Calls for each goal.")] = DEFAULT.max_calls
    max_messages: Annotated[
        int | None, typer.Option(help="Messages to or from user or executor, for each goal.")
    ] = None
    max_tokens: Annotated[int | None, typer.Option(help="Tokens of a chat.")] = None
    max_seconds: Annotated[float | None, typer.Option(help="Seconds of a chat.")] = None
    max_total_tokens: Annotated[
        int | None,
        typer.Option(
            help="Tokens that models are asked in the run, judges and simulators too: stops with "
            "exit code 3, resumable."
        ),
    ] = None
    max_dollars: Annotated[
        float | None, typer.Option(help="Likewise in US dollars; every model needs a price.")
    ] = None
    prices: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="JSON of prices a million tokens, before those that ship."
        ),
    ] = None
    seed: Seed = DEFAULT.seed

    def settings(self) -> dict[str, Any]:
        """Return fields of `RunSettings`."""
        return super().settings() | {"select": pairs("--select", self.select)}


@dataclass(frozen=True, kw_only=True)
class Pools(Drawing):
    """Pools and sweeps: runs over drawn pools of several sizes."""

    pool_sizes: Annotated[
        str | None,
        typer.Option(help="Play drawn pools of so many tools, and all: 10,50,100,200,500,all."),
    ] = None
    samples: Annotated[int, typer.Option(help="Pools drawn of each size.")] = 3


@dataclass(frozen=True, kw_only=True)
class RunOutput:
    """Output: where the run is written, and what is printed."""

    out: Annotated[
        Path | None, typer.Option(help="Run folder.  [default: a new one under runs/]")
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False
    json: Json = False


@dataclass(frozen=True, kw_only=True)
class DryRunOutput(RunOutput):
    """Output: where the run is written, and what is printed."""

    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print chats, model calls, tokens and dollars; ask and write nothing."
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class Play:
    """What `seal run` and `seal ablate` are told alike."""

    model: Model
    roles: Roles
    retrieval: Retrieval
    environment: Environment
    judging: Judging
    limits: Limits

    def settings(self, context: typer.Context, pool: str, **others: Any) -> RunSettings:
        """Return the settings of a run, with who gave each; `others` go before the groups'."""
        given = {_SETTING_OF.get(name, name): by for name, by in origins_of(context).items()}
        origins = {name: by for name, by in given.items() if name in _SETTINGS}
        found: dict[str, Any] = {"origins": origins}
        for field in fields(self):
            found |= getattr(self, field.name).settings()
        if self.model.agent is not None:
            found = trying(self.model.agent, found)
        return RunSettings(pool=pool, **found | others)
