"""The options that `seal run` has, in groups; those of `seal ablate` are the same but for a few."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import typer

from seal.cli import options as shared
from seal.cli.config import origins_of
from seal.cli.groups import flag, like, option, options_of, repeated, settings_of
from seal.core import UsageError
from seal.runs.settings import RunSettings
from seal.sandbox import NAMES as SANDBOXES

DEFAULT = RunSettings()
_SETTINGS = {field.name for field in fields(RunSettings)}
PLAYED = like(
    shared.POOL,
    str(DEFAULT.pool),
    metavar="[NAME|DIR]",
    help="Name of a shipped benchmark, folder of an imported one, or your own as module:name.",
)


def whole(text: str) -> tuple[int, ...]:
    """Return the whole numbers of a comma-separated list, in its order.

    Raises:
        BadParameter: An item is none.
    """
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r}: expected a whole number, or several such as 1,5,10"
        ) from error


@dataclass(frozen=True, kw_only=True)
class Model:
    """Model: who plays, how it is asked, and whether its answers are cached."""

    model: str | None = option(
        None,
        "Model as PROVIDER/MODEL, or an offline one; `seal models` lists both.  "
        f"[default: {DEFAULT.model}, or the agent's own]",
        metavar="MODEL[,KEY=VALUE...]",
    )
    agent: str | None = option(
        None,
        "Your own agent: a function of (request, tools), a role or a team; or bridge, for an "
        "agent that runs elsewhere.",
        metavar="MODULE:NAME",
    )
    agent_command: str | None = option(
        None, "With --agent bridge: command that starts the agent for each chat.", metavar="COMMAND"
    )
    agent_url: str | None = option(
        None, "With --agent bridge: address of a service that is told of each chat.", metavar="URL"
    )
    model_option: dict[str, Any] = shared.MODEL_OPTIONS
    base_url: str | None = shared.BASE_URL
    temperature: float = option(DEFAULT.temperature, "Temperature of every model.")
    format: Literal["native", "action", "json", "bracket"] | None = option(
        None,
        "How models call tools: through their server (native), or in their text.  [default: "
        "the pool's, else native]",
    )
    tool_messages: Literal["auto", "native", "text"] = option(
        DEFAULT.tool_messages,
        "How models get results: as tool messages of their server, or as text.",
    )
    style: Literal["plain", "react"] = option(
        DEFAULT.style, "react lets the model think up to three times before each act."
    )
    one_shot: bool = option(
        DEFAULT.one_shot,
        "Show the model how another task of the same environment was done.",
        "--one-shot/--zero-shot",
    )
    cache: shared.CacheMode = option(
        DEFAULT.cache,
        "Cached answers of simulators and models: keep and reuse them (record), only reuse "
        "them (replay), or neither (off).",
    )
    cache_dir: Path | None = shared.CACHE_DIR
    cache_url: str | None = shared.CACHE_URL

    def tried(self) -> Any:
        """Return the agent that is named; None where there is none.

        Raises:
            UsageError: A bridge to nothing, or a command or address without a bridge.
        """
        if self.agent_command is self.agent_url is None and self.agent != "bridge":
            return self.agent
        if self.agent not in (None, "bridge"):
            raise UsageError(
                f"--agent-command and --agent-url go with --agent bridge, got --agent {self.agent}"
            )
        from seal.agents.bridges import Bridge

        return Bridge(self.agent_command, self.agent_url)


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Roles and team: who is seated beside the model, and what the user knows."""

    team: str | None = option(
        None,
        "Team that plays: full, direct, single, tool_life or module:attribute.  [default: "
        "the pool's, else full]",
    )
    role_model: dict[str, Any] = repeated(
        "Model for a role, simulator or judge; --base-url and -M do not apply to it. Several "
        "judges vote together.",
        metavar="ROLE=MODEL[,KEY=VALUE...]",
        read=shared.role_models,
        setting="role_models",
    )
    role: dict[str, str] = repeated(
        "Agent for a role of the team, as a name or module:attribute; none leaves the role empty.",
        metavar="ROLE=AGENT",
        read=shared.pairs,
        setting="roles",
    )
    planner: str | None = shared.AGENT
    verifier: str | None = shared.AGENT
    checker: str | None = shared.AGENT
    user: str | None = like(
        shared.AGENT,
        None,
        help="Who plays the user: scripted, user_simulator or module:attribute.  [default: "
        "scripted if the model is offline, else user_simulator]",
    )
    speaker_selection: Literal["team", "auto"] = option(
        DEFAULT.speaker_selection,
        "Who chooses the next speaker after a text that names nobody: the team, or a model "
        "through AutoGen (auto).",
    )
    user_brief: Literal["goal", "goal+boundary", "goal+boundary+demonstration"] = option(
        DEFAULT.user_brief, "How much of a task's persona the simulated user is told."
    )
    history: Literal["own", "gold"] | None = option(
        None,
        "What a later goal sees of earlier ones: what was said (own), or their gold.  "
        "[default: the pool's, else own]",
    )
    history_policy: Literal["stop", "drop", "summarise"] = option(
        DEFAULT.history_policy,
        "What to do if the model's context window is full: stop the goal, or drop or "
        "summarise the oldest results of tools.",
    )
    on_policy: bool = flag("Play recorded dialogues with a simulated user who has a brief.")

    def seated(self) -> dict[str, str | None]:
        """Return the agents that are named, by role.

        Raises:
            UsageError: A role is given two agents.
        """
        short = {
            "planner": self.planner,
            "verifier": self.verifier,
            "checker": self.checker,
            "user_simulator": self.user,
        }
        seats = {role: agent for role, agent in short.items() if agent}
        twice = seats.keys() & self.role.keys()
        if twice:
            role = min(twice)
            raise UsageError(
                f"--role {role}={self.role[role]}: {role} is {seats[role]} by its own flag; "
                "leave out one of the two"
            )
        named = (seats | self.role).items()
        return {role: None if agent == "none" else agent for role, agent in named}


@dataclass(frozen=True, kw_only=True)
class Retriever:
    """Retrieval: who offers the chat its tools, how many and when."""

    retriever: str | None = option(
        None,
        "Retriever, as a name or module:attribute.  [default: the tools that a task gives, "
        "else hybrid]",
    )
    top_k: tuple[int, ...] = option(
        str(DEFAULT.top_k),
        "Number of tools that a chat is offered; several numbers, such as 1,5,10, are a run each.",
        metavar="K[,K...]",
        words=str,
        callback=whole,
    )


@dataclass(frozen=True, kw_only=True)
class Retrieval:
    """Retrieval: who offers the chat its tools, how many and when."""

    retriever_option: dict[str, Any] = shared.RETRIEVER_OPTIONS
    retrieve: Literal["once", "per-step", "on-demand"] = option(
        DEFAULT.retrieve, "When tools are retrieved."
    )
    cutoffs: tuple[int, ...] = option(
        ",".join(map(str, DEFAULT.cutoffs)),
        "Values of K for recall@K and similar metrics.",
        read=shared.numbers,
    )


@dataclass(frozen=True, kw_only=True)
class Environment:
    """Environment: what answers calls, and where code runs."""

    simulator: str = like(shared.SIMULATOR, str(DEFAULT.simulator))
    unrecorded: Literal["error", "simulate", "empty"] = option(
        DEFAULT.unrecorded,
        "What answers a call that a recording (the phone's web, replay, a mobile, kept MCP "
        "answers) does not hold: an error, the simulator, or an empty answer.",
    )
    environment: str | None = option(
        None,
        "Where all tasks are played: mcp (live servers), the name of another world, or "
        "simulator.  [default: as each task says]",
        metavar="NAME",
    )
    world_option: dict[str, Any] = repeated(
        "Option of the tasks' world, or of the team (tool_life: tasks, decisions, apps, "
        "roles); repeatable.",
        "--world-option",
        "-T",
        metavar="KEY=VALUE",
        read=shared.typed_pairs,
        setting="world_options",
    )
    tools: Literal["recorded", "created"] = option(
        DEFAULT.mobile_tools,
        "What answers calls in a virtual mobile: the recorded corpus, or functions that a "
        "model wrote.",
        setting="mobile_tools",
    )
    sandbox: str = option(
        DEFAULT.sandbox, f"Where functions that a model wrote run: {', '.join(SANDBOXES)}."
    )
    force_simulator: bool = flag("Simulate gold calls even if their results were recorded.")
    gold_results: bool = flag("Run every call of a gold tool with the gold arguments.")
    feedback: Literal["auto", "on", "off"] = option(
        DEFAULT.feedback,
        "How an invalid call is answered: with all its faults (on), by running it as it is "
        "(off), or as the simulator or world does by itself (auto).",
    )
    allow_code: tuple[str, ...] = shared.ALLOW_CODE


@dataclass(frozen=True, kw_only=True)
class Judging:
    """Judging: who says what is solved, by which metrics, beside which baselines."""

    judge: str = like(shared.JUDGE, DEFAULT.judge)
    votes: int | None = shared.VOTES
    metric: tuple[str, ...] = shared.METRICS
    baselines: bool = option(
        DEFAULT.baselines,
        "Play the floor and the ceiling too; with several pools or K only if you ask for them.",
    )
    baselines_alike: bool = flag(
        "Judge and simulate floor and ceiling like the run, not by rule and template."
    )
    without_spoilt: bool = shared.WITHOUT_SPOILT


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits and budgets: which tasks are played, how often, how far and at what cost."""

    limit: int | None = option(
        None, "Play N tasks whose tags represent all tasks; a larger N contains a smaller one."
    )
    first: int | None = option(None, "Play the first N tasks of the file.")
    select: dict[str, str] = shared.SELECT
    trials: int = option(DEFAULT.trials, "Number of times that each task is played.")
    workers: int = option(DEFAULT.workers, "Number of chats that are played at once.")
    processes: int = option(DEFAULT.processes, "Number of processes, each with its own workers.")
    on: Literal["ray"] | None = shared.ON
    max_turns: int | None = option(
        DEFAULT.max_turns,
        "Most turns of the model for a goal.  [default: 10, or what the task needs]",
    )
    max_calls: int = option(DEFAULT.max_calls, "Most calls for a goal.")
    max_messages: int | None = option(
        None, "Most messages to or from the user or the executor for a goal."
    )
    max_tokens: int | None = option(None, "Most tokens of a chat.")
    max_seconds: float | None = option(None, "Most seconds of a chat.")
    max_total_tokens: int | None = option(
        None,
        "Most tokens of the whole run, with judges and simulators. The run then stops with "
        "exit code 3, and can be resumed.",
    )
    max_total_seconds: float | None = option(
        None,
        "Most seconds of the whole run, which then stops likewise; a chat that is cut off "
        "stays unfinished.",
    )
    max_dollars: float | None = option(
        None,
        "Most US dollars of the whole run, which then stops likewise; every model needs a price.",
    )
    prices: Path | None = option(
        None,
        "JSON file of prices for a million tokens; they come before those that ship.",
        metavar="FILE",
    )
    seed: int = like(shared.SEED, DEFAULT.seed)


@dataclass(frozen=True, kw_only=True)
class Pools(shared.Drawing):
    """Pools and sweeps: runs over drawn pools of several sizes."""

    pool_sizes: tuple[Any, ...] | None = option(
        None,
        "Play drawn pools of these numbers of tools, and the whole pool: 10,50,100,200,500,all.",
        words=str | None,
        read=shared.sizes,
    )
    samples: int = option(3, "Number of pools to draw of each size.")


@dataclass(frozen=True, kw_only=True)
class RunOutput:
    """Output: where all is written, and what is printed."""

    out: Path | None = option(None, "Folder to write.  [default: a new one under runs/]")
    resume: bool = flag("Continue what --out holds.")
    json: bool = shared.JSON


@dataclass(frozen=True, kw_only=True)
class DryRunOutput(RunOutput):
    """Output: where all is written, and what is printed."""

    shard: str | None = option(
        None, "Play part I of N; `seal merge` puts the parts together.", metavar="I/N"
    )
    hooks: tuple[str, ...] = repeated(
        "Tracker or tracer that is told of the run, its chats, requests, calls and scores: "
        "opentelemetry, or your own as module:name; repeatable.",
        metavar="NAME",
    )
    dry_run: bool = flag(
        "Print how many chats, model calls, tokens and dollars a run takes; ask no model, "
        "write nothing."
    )


@dataclass(frozen=True, kw_only=True)
class AnyPlay:
    """What all verbs that play are told alike."""

    model: Model
    roles: Roles
    retrieval: Retrieval
    environment: Environment
    servers: shared.ServersElsewhere
    judging: Judging
    limits: Limits

    def settings(self, context: typer.Context, pool: str, **others: Any) -> RunSettings:
        """Return the settings of a run, with who gave each; `others` go before the groups'."""
        groups = [getattr(self, each.name) for each in fields(self)]
        options = [pair for group in groups for pair in options_of(group).items()]
        renamed = {name: one.setting for name, one in options if one.setting}
        given = {renamed.get(name, name): by for name, by in origins_of(context).items()}
        found = {name: value for name, value in settings_of(*groups).items() if name in _SETTINGS}
        found["origins"] = {name: by for name, by in given.items() if name in _SETTINGS}
        found["roles"] = self.roles.seated()
        found["servers"] = self.servers.named()
        if self.model.model is None:
            del found["model"]
        agent = self.model.tried()
        if agent is not None:
            from seal.runs.agent_settings import trying

            found = trying(agent, found)
        return RunSettings(pool=pool, **found | others)


@dataclass(frozen=True, kw_only=True)
class Play(AnyPlay):
    """What `seal run` and `seal ablate` are told alike."""

    servers: shared.Servers
