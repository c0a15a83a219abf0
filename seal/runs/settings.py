"""Everything that a run can be told."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeAlias

from seal.agents.briefs import WHOLE, Brief
from seal.agents.teams import ArrangedTeam, Team
from seal.core import (
    Agent,
    CacheMode,
    ChatModel,
    Metric,
    OpenedPerChat,
    Pool,
    Retriever,
    Simulator,
    UnknownNameError,
    Unrecorded,
    UsageError,
)
from seal.core.formats import Format, ToolMessages, check_presentation
from seal.core.registry import check_modules
from seal.core.secrets import refuse_secret
from seal.core.typed_values import Count, Within, check_fields
from seal.models import REGISTRY, Flagged, Model, split_name
from seal.pools.benchmark import Benchmark
from seal.retrievers.contract import RetrieverSpec
from seal.runs.hooks import HooksChoice
from seal.sandbox import NAMES as SANDBOXES

History = Literal["own", "gold"]
"""What later goals follow on: what was said in the chat, or the references of earlier goals."""
HistoryPolicy = Literal["stop", "drop", "summarise"]
"""What becomes of a prompt that is too long for the model's window (`seal.models.shortened`)."""
Origin = Literal["flag", "call", "environment", "file", "benchmark", "experiment", "default"]
"""Who gave a setting its value, in this order: the command line, a call from Python, a variable of
the environment, seal.toml, what the pool says under `play`, an experiment or a baseline, nobody."""
Retrieve = Literal["once", "per-step", "on-demand"]
"""When tools are retrieved."""
Feedback = Literal["auto", "on", "off"]
"""What an invalid call brings (`seal.runs.feedback`)."""
Tools = Literal["recorded", "created"]
Style = Literal["plain", "react"]
SpeakerSelection = Literal["team", "auto"]
ModelChoice: TypeAlias = str | Flagged | ChatModel | OpenedPerChat
"""A model, or its name or dotted path, as `seal.models.build_model` takes it."""


class AutoGenAgent(Protocol):
    """A `ConversableAgent` of AutoGen (`seal.agents.guests`)."""

    def generate_reply(self, *args: Any, **options: Any) -> Any:
        """Return what it says."""
        ...


class AutoGenGroup(Protocol):
    """A `GroupChat` of AutoGen (`seal.agents.guest_groups`)."""

    agents: list[Any]
    messages: list[dict[str, Any]]


AgentChoice: TypeAlias = (
    str | Agent | type[Agent] | Callable[..., Any] | AutoGenAgent | AutoGenGroup
)
"""A function takes (request, chat), or (request, tools) (`seal.agents.own`)."""
TeamChoice: TypeAlias = str | Team | ArrangedTeam
RetrieverChoice: TypeAlias = str | RetrieverSpec | Retriever | Callable[[Pool], Retriever]
"""A text may carry options: `NAME,KEY=VALUE`; a class or function takes the pool."""
SimulatorChoice: TypeAlias = str | Simulator | Callable[..., Simulator]
"""A class or function takes nothing, or a `SimulatorSetup`."""
MetricChoice: TypeAlias = str | Metric | type[Metric] | Callable[..., Any]
"""A function takes (task, trajectory) (`seal.evaluation.own_metrics`)."""


_Positive = Annotated[float, Within(above=0)]
GROWING = ("limit", "first", "trials", "order")
"""Parts of the measure that a resumed run may raise, or leave out."""
SIMULATOR = "simulator"
"""Environment in which no task is played in a world."""


@dataclass(frozen=True, slots=True)
class Play:
    """How a run plays where neither the user nor the pool says so."""

    team: TeamChoice = "full"
    history: History = "own"
    format: Format = "native"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSettings:
    """What `seal run` plays. Every part may be an object, a name or a dotted path."""

    pool: str | Path | Benchmark = "sample"
    """A benchmark, the name of one that ships or is installed, or a folder that `seal import`
    wrote."""
    model: ModelChoice = "lexical"
    """Model of every role that `role_models` does not name; options of its own go before those
    below."""
    role_models: Mapping[str, ModelChoice | Sequence[ModelChoice]] = field(default_factory=dict)
    """Role, `simulator` or `judge` to its own model, with its own options (`seal.Model`); `judge`
    also to a tuple of several."""
    model_options: Mapping[str, Any] = field(default_factory=dict)
    """`-M key=value`, of `model` and so of the roles that follow it."""
    base_url: str | None = None
    """Address of an OpenAI-compatible server, of `model` likewise, and of an embedder of the
    retriever; None: the provider's own."""
    roles: Mapping[str, AgentChoice | None] = field(default_factory=dict)
    """Role (planner, verifier, checker, user_simulator...) to the agent that plays it instead of
    the team's; None: nobody does."""
    user_brief: Brief = WHOLE
    """Parts of a task's persona that the user is told."""
    team: TeamChoice | None = None
    """None, as of `history` and `format`: what the pool says, else what `Play` does."""
    history: History | None = None
    history_policy: HistoryPolicy = "stop"
    """What a prompt leaves out where the model's window is too small (`seal.models.shortened`)."""
    retriever: RetrieverChoice | None = None
    """None: `given` where the task offers tools, else `seal.retrievers.DEFAULT`."""
    retriever_options: Mapping[str, Any] = field(default_factory=dict)
    """`-R key=value`."""
    top_k: Count = 10
    retrieve: Retrieve = "once"
    simulator: SimulatorChoice = "template"
    unrecorded: Unrecorded = "error"
    """What answers a question that a recording does not hold: an error, the simulator, or nothing
    (`empty`), which is the published rule."""
    environment: str | None = None
    """World in which all tasks are played, such as `mcp`; `simulator`: in none; None: as each task
    says."""
    servers: Mapping[str, Any] | str | Path = field(default_factory=dict, repr=False)
    """MCP servers that may be called: a file such as mcp.json, or names to commands and addresses
    (`seal.environments.mcp_servers.read_servers`)."""
    world_options: Mapping[str, Any] = field(default_factory=dict)
    """`-T key=value`, of the worlds that tasks are played in, and of the team."""
    mobile_tools: Tools = "recorded"
    """What answers in a virtual mobile: the calls of the corpus, or functions that the model of the
    role `creator` writes."""
    sandbox: str = "monty"
    """Where code that a model wrote runs (`seal.sandbox.NAMES`)."""
    on_policy: bool = False
    """Play recorded dialogues as conversations with a user who speaks from a brief."""
    feedback: Feedback = "auto"
    """What an invalid call brings (`seal.runs.feedback`)."""
    force_simulator: bool = False
    """Whether the simulator also answers gold calls whose results were recorded."""
    gold_results: bool = False
    """Let calls of gold tools bring what the gold calls bring (`seal.runs.environment_stack`)."""
    format: Format | None = None
    """How models call tools: by the server's tool calling, or in their text."""
    tool_messages: ToolMessages = "auto"
    """How results reach models."""
    speaker_selection: SpeakerSelection = "team"
    """Who says who speaks after a text that names nobody: the team, or AutoGen by a model (of the
    role `speaker_selection`)."""
    style: Style = "plain"
    """`react`: the execution manager may think before it acts."""
    one_shot: bool = False
    """Show the execution manager how another task of the same environment was carried out."""
    cache: CacheMode = "record"
    cache_dir: str | Path | None = None
    """None: SEAL_CACHE_DIR, else the user's cache folder."""
    cache_url: str | None = field(default=None, repr=False)
    """Database of the answers (`seal.core.store`); None: SEAL_CACHE_URL, else a file in
    `cache_dir`."""
    judge: str = "auto"
    """`rule`, `llm`, or `auto`: llm where a judge's model is named, else rule; and published judges
    (`seal.evaluation.judges.PUBLISHED`), by commas."""
    votes: Count | None = None
    """Of each judge's model on each goal; None: as each published judge does."""
    limit: Count | None = None
    """Tasks that stand for all, by their tags; a larger limit holds a smaller."""
    first: Count | None = None
    """Tasks from the head of the file."""
    select: Mapping[str, str] = field(default_factory=dict)
    """Tag to the value that a task must have."""
    shard: str | None = None
    """`I/N`: every N-th of these tasks from the I-th; `merge` puts the N runs together."""
    trials: Count = 1
    workers: Count = 4
    """Chats at once, in threads."""
    processes: Count = 1
    """Processes, each with `workers` threads."""
    on: Literal["ray"] | None = None
    """Where they are: on the nodes of a Ray cluster (`seal.runs.cluster`), as many as it has CPUs
    where `processes` is 1; None: here."""
    max_turns: Count | None = None
    """Model turns of the execution manager for each goal; None: 10, or as many more as the task
    says (`seal.runs.goals.turns_of`)."""
    max_calls: Count = 50
    """Calls for each goal; where nobody says otherwise, at least as many as gold has."""
    max_messages: Count | None = None
    """Messages to or from the user or the executor for each goal; None: as the task says."""
    max_tokens: Count | None = None
    """Tokens in and out for each chat."""
    max_seconds: _Positive | None = None
    """Wall-clock seconds for each chat."""
    max_total_tokens: Count | None = None
    """Tokens that models may be asked in the whole run, judges, simulators and baselines with them;
    kept answers cost none. What is unfinished then can be resumed."""
    max_total_seconds: _Positive | None = None
    """Wall-clock seconds from now on, also where a run is resumed; chats that it cuts off are
    unfinished."""
    max_dollars: _Positive | None = None
    """Likewise in US dollars, at the prices below."""
    prices: str | Path | None = None
    """File of prices that go before the shipped ones (`seal.runs.spending.budget`)."""
    temperature: Annotated[float, Within(least=0)] = 0.0
    seed: int = 0
    cutoffs: Sequence[Count] = (5, 10)
    """K of recall@K and its like."""
    metrics: Sequence[MetricChoice] = ()
    """Further metrics: names, dotted paths, classes or objects."""
    without_spoilt: bool = False
    """Leave chats out of the scores whose user made an error (`seal.evaluation.user_audit`)."""
    baselines: bool = True
    """Play the floor and the ceiling beside the model."""
    baselines_alike: bool = False
    """Judge and simulate them as the run is; False: by rule and by template, which cost nothing."""
    allow_code: Sequence[str] = ()
    """Modules that the pool may name worlds and a team of by a dotted path: `my_lab.lamps`."""
    hooks: Sequence[HooksChoice] = ()
    """Who is told when the run and its parts begin and end (`seal.runs.hooks`); not of floor and
    ceiling. They leave no trace in the run's folder."""
    origins: Mapping[str, Origin] = field(default_factory=dict, compare=False)
    """Setting to who gave its value; one that is not here has its default."""

    def __post_init__(self) -> None:
        """Reject values that no run can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes; or an option that is a key
                of a service, for options are written to run.json.
        """
        check_fields(self, mobile_tools="tools")
        object.__setattr__(self, "cutoffs", tuple(dict.fromkeys(self.cutoffs)))
        object.__setattr__(self, "metrics", tuple(self.metrics))
        object.__setattr__(self, "hooks", tuple(self.hooks))
        if self.hooks and (self.on or self.processes > 1):
            flag = f"--on {self.on}" if self.on else "--processes"
            raise UsageError(
                f"hooks are told of chats in threads of one process: leave {flag} out, "
                "and give --workers N"
            )
        refuse_secret("", self.model_options, "model_options")
        object.__setattr__(self, "model", _told(self.model))
        role_models = {role: _told(models) for role, models in self.role_models.items()}
        object.__setattr__(self, "role_models", role_models)
        refuse_secret("", self.retriever_options, "retriever_options")
        refuse_secret("", self.world_options, "world_options")
        check_modules(self.allow_code)
        check_presentation(self.play.format, self.tool_messages)
        if self.sandbox not in SANDBOXES:
            raise UnknownNameError("sandbox", self.sandbox, SANDBOXES)
        check_seed(self.seed)
        if self.shard is not None:
            shard_of(self.shard)

    @property
    def play(self) -> Play:
        """Team, history and format, of what is not said the general ones."""
        general = Play()
        return Play(
            general.team if self.team is None else self.team,
            self.history or general.history,
            self.format or general.format,
        )


def shard_of(text: str) -> tuple[int, int]:
    """Return which of how many parts of a run a text `I/N` names.

    Raises:
        UsageError: None.
    """
    found = re.fullmatch(r"([1-9]\d*)/([1-9]\d*)", text)
    if found is None or int(found[1]) > int(found[2]):
        raise UsageError(f"--shard {text}: expected I/N with I from 1 to N, such as 2/8")
    return int(found[1]), int(found[2])


def changed(settings: RunSettings, **changes: Any) -> RunSettings:
    """Return settings of which an experiment, or a baseline, changes some."""
    by: dict[str, Origin] = dict.fromkeys(changes, "experiment")
    return replace(settings, **changes, origins={**settings.origins, **by})


def _told(models: Any) -> Any:
    """Return one or several models as they are, but for what an endpoint of theirs says.

    Raises:
        UsageError: A text has options that its model cannot have.
    """
    if isinstance(models, (list, tuple)):
        return type(models)(map(_told, models))
    if not isinstance(models, str):
        return models
    told = Model(models)
    return told if "@" in models else models


def check_seed(seed: int) -> None:
    """Raise UsageError where a seed cannot be written to JSON: it has more than 64 bits."""
    if not -(2**63) <= seed < 2**63:
        raise UsageError(f"--seed {seed}: expected a whole number of at most 18 digits")


def has_own_code(settings: RunSettings) -> bool:
    """Tell whether a run may load code that is not ours: a role, team, metric or model."""
    named = (settings.team, *settings.roles.values(), *settings.metrics, *settings.hooks)
    models = (settings.model, *settings.role_models.values())
    ours = (part is None or (isinstance(part, str) and ":" not in part) for part in named)
    known = (isinstance(model, str) and split_name(model)[0] in REGISTRY for model in models)
    return bool(settings.allow_code) or not all((*ours, *known))
