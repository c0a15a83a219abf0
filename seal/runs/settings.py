"""`RunSettings` and `ScoreSettings`: every setting of a run and of scoring."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, TypeAlias

from seal.agents.replies import WHOLE, Brief
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
from seal.core.call_formats import Format
from seal.core.files import opened
from seal.core.registry import check_modules
from seal.core.secrets import refuse_secret
from seal.core.settings import Count, Within, check_fields, with_field_docs
from seal.models.spec import REGISTRY, Flagged, Model, is_offline, split_name
from seal.pools.benchmark import Benchmark
from seal.retrievers.base import RetrieverSpec
from seal.sandbox import NAMES as SANDBOXES

# -- Everything that a run can be told: the one description of each setting.
#
# A group of settings is a group of options on the command line. The first line of a group's
# docstring is its title and what it is about. The string below a setting is its help on the command
# line, up to an empty line; what follows is only for readers of this module.

History = Literal["own", "gold"]
"""What later goals follow on: what was said in the chat, or the references of earlier goals."""
Origin = Literal["flag", "call", "environment", "file", "benchmark", "experiment", "default"]
"""Who gave a setting its value, in this order: the command line, a call from Python, a variable of
the environment, seal.toml, what the pool says under `play`, an experiment or a baseline, nobody."""
Retrieve = Literal["once", "per-step", "on-demand"]
"""When tools are retrieved."""
Feedback = Literal["auto", "on", "off"]
"""What an invalid call brings (`seal.runs.call_handling`)."""
ModelChoice: TypeAlias = str | Flagged | ChatModel | OpenedPerChat
"""A model, or its name or dotted path, as `seal.models.spec.build_model` takes it."""


class AutoGenAgent(Protocol):
    """A `ConversableAgent` of AutoGen (`seal.agents.guests`)."""

    def generate_reply(self, *args: Any, **options: Any) -> Any:
        """Return what it says."""
        ...


class AutoGenGroup(Protocol):
    """A `GroupChat` of AutoGen (`seal.agents.guests`)."""

    agents: list[Any]
    messages: list[dict[str, Any]]


AgentChoice: TypeAlias = (
    str | Agent | type[Agent] | Callable[..., Any] | AutoGenAgent | AutoGenGroup
)
"""A function takes (request, chat), or (request, tools) (`seal.agents.own`)."""
TeamChoice: TypeAlias = str | Team | ArrangedTeam


@dataclass(frozen=True, slots=True)
class GivenElse:
    """Offers each task the tools that it gives; a retriever finds those of tasks that give none."""

    retriever: str

    @property
    def identity(self) -> str:
        """What a run's record says of it."""
        return f"given, else {self.retriever}"


RetrieverChoice: TypeAlias = str | RetrieverSpec | Retriever | Callable[[Pool], Retriever]
"""A text may carry options: `NAME,KEY=VALUE`; a class or function takes the pool."""
SimulatorChoice: TypeAlias = str | Simulator | Callable[..., Simulator]
"""A class or function takes nothing, or a `SimulatorSetup`."""
MetricChoice: TypeAlias = str | Metric | type[Metric] | Callable[..., Any]
"""A function takes (task, trajectory) (`seal.evaluation.own_metrics`)."""


_Positive = Annotated[float, Within(above=0)]
_ON_RAY = re.compile(r"ray(:[1-9]\d*)?")
GROWING = ("limit", "first", "trials", "order")
"""Parts of the measure that a resumed run may raise, or leave out."""
LIMITS = ("requests_per_minute", "tokens_per_minute")
"""Settings that are options of the model too."""
SIMULATOR = "simulator"
"""Environment in which no task is played in a world."""


@dataclass(frozen=True, slots=True)
class Play:
    """How a run plays where neither the user nor the pool says so."""

    team: TeamChoice = "full"
    history: History = "own"
    format: Format = "native"


@dataclass(frozen=True, kw_only=True)
class ModelGroup:
    """Model: who plays, how it is asked, and whether its answers are cached."""

    model: ModelChoice = "lexical"
    """Model as PROVIDER/MODEL, or an offline one; `seal models` lists both.  [default: lexical, or
    the agent's own]

    It plays every role that `role_models` does not name. Its own options go before those below.
    """
    model_options: Mapping[str, Any] = field(default_factory=dict)
    """Option of --model, also for roles without a model of their own; repeatable. Other models take
    it in their name: MODEL,KEY=VALUE."""
    base_url: str | None = None
    """Address of the server of --model, also for roles without a model of their own. Other models
    take it in their name: MODEL,base_url=URL.

    An embedder of the retriever is asked there too. None: the provider's own.
    """
    requests_per_minute: _Positive | None = None
    """Most requests a minute to --model, also for roles without a model of their own. Other models
    take it in their name: MODEL,requests_per_minute=N."""
    tokens_per_minute: _Positive | None = None
    """Most tokens a minute to and from --model, likewise."""
    temperature: Annotated[float, Within(least=0)] = 0.0
    """Temperature of every model."""
    format: Format | None = None
    """How models call tools: through their server (native), so but with results as text
    (native-text), or in their text.  [default: the pool's, else native]"""
    one_shot: bool = False
    """Show the model how another task of the same environment was done."""
    cache: CacheMode = "record"
    """Cached answers of simulators and models: keep and reuse them (record), only reuse them
    (replay), or neither (off)."""
    cache_dir: str | Path | None = None
    """Folder for cached answers and indexes.  [default: SEAL_CACHE_DIR, else the user's cache]

    Where SEAL_CACHE_URL names a database, the answers are there (`seal.core.store`).
    """


@dataclass(frozen=True, kw_only=True)
class RoleGroup:
    """Roles and team: who is seated beside the model, and what the user knows."""

    roles: Mapping[str, AgentChoice | None] = field(default_factory=dict)
    """Agent for a role of the team (planner, verifier, checker, user_simulator, others), as a name
    or module:attribute; none leaves it empty. Repeatable. execution_manager=react thinks up to
    three times before each act.

    Where none is named for user_simulator, it is scripted if the model is offline, else the agent
    of that name.
    """
    team: TeamChoice | None = None
    """Team that plays: full, direct, single, tool_life or module:attribute.  [default: the pool's,
    else full]"""
    role_models: Mapping[str, ModelChoice | Sequence[ModelChoice]] = field(default_factory=dict)
    """Model for a role, simulator or judge; --base-url and -M do not apply to it. Several judges
    vote together.

    Keys are roles, `simulator` and `judge`; the judge's value may be a tuple of models. Options go
    with each model (`seal.Model`).
    """
    prompts: Mapping[str, str | Path] = field(default_factory=dict)
    """File with the prompt of a role, of the simulator, or of a judge (judge_answer,
    judge_trajectory, judge_solvability, judge_completeness); repeatable. For a role that is told
    a task's system text, theirs lets that text stand alone. A file may use the variables of the
    prompt that ships, as {name}. Those of execution_manager, orchestrator, planner, verifier,
    user_simulator, simulator and judges have none; of tool_life: awareness {actions} {today},
    requester {today}, responder {actions}, actor {role}, creator {name} {description} {base}
    {required} {optional} {columns} {document} {convention} {signature} {example}.

    Here a text, or a `Path`. All other braces are braces; `{{name}}` stands for `{name}`.
    """
    user_brief: Brief = WHOLE
    """How much of a task's persona the simulated user is told."""
    history: History | None = None
    """What a later goal sees of earlier ones: what was said (own), or their gold.  [default: the
    pool's, else own]"""


@dataclass(frozen=True, kw_only=True)
class RetrievalGroup:
    """Retrieval: who offers the chat its tools, how many and when."""

    retriever_options: Mapping[str, Any] = field(default_factory=dict)
    """Option for every retriever that has it; repeatable."""
    retrieve: Retrieve = "once"
    """When tools are retrieved."""
    cutoffs: Sequence[Count] = (5, 10)
    """Values of K for recall@K and similar metrics."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentGroup:
    """Environment: what answers calls, and where code runs."""

    simulator: SimulatorChoice = "template"
    """What answers calls of simulated tools: template, llm, recorded, stabletoolbench (what `seal
    cache import` read) or module:attribute. Several are asked in turn: stabletoolbench+template."""
    unrecorded: Unrecorded = "error"
    """What answers a call that a recording (the phone's web, replay, a mobile, kept MCP answers)
    does not hold: an error, the simulator, or an empty answer.

    Benchmarks publish their own recordings with empty answers.
    """
    environment: str | None = None
    """Where all tasks are played: mcp (live servers), the name of another world, or simulator.
    [default: as each task says]

    In `simulator` no task is played in a world.
    """
    world_options: Mapping[str, Any] = field(default_factory=dict)
    """Option of the tasks' world, of the benchmark, or of the team (tool_life: tasks, decisions,
    apps, roles); repeatable. selection=auto lets a model choose who speaks next.

    It chooses after a text that names nobody, through AutoGen, as the role `speaker_selection`.
    """
    servers: Mapping[str, Any] | str | Path = field(default_factory=dict, repr=False)
    """MCP server that may be called: a command that starts it, the address of one that runs, or a
    file such as mcp.json that lists several; repeatable.

    Here a file, or names to commands and addresses
    (`seal.environments.mcp_servers.read_servers`).
    """
    sandbox: str = "monty"
    """Where functions that a model wrote run: monty, monty-only, bubblewrap."""
    gold_results: bool = False
    """Run every call of a gold tool with the gold arguments."""
    feedback: Feedback = "auto"
    """How an invalid call is answered: with all its faults (on), by running it as it is (off), or
    as the simulator or world does by itself (auto)."""
    allow_code: Sequence[str] = ()
    """Module whose code a pool, run or scenario may name; repeatable.

    They name worlds and a team by a dotted path: `my_lab.lamps`.
    """


@dataclass(frozen=True, kw_only=True)
class JudgingGroup:
    """Judging: who says what is solved, by which metrics, beside which baselines."""

    judge: str = "auto"
    """Who decides what is solved: rule, llm, auto (llm if a judge's model is named, else rule), or
    published judges, by commas: pass_paper, tooleval, sopr, fac. Where a task has
    a world's milestones, they decide, and not pass_paper."""
    votes: Count | None = None
    """Number of votes of each judge's model on a goal.  [default: as published]"""
    metrics: Sequence[MetricChoice] = ()
    """Metric beside the usual ones: a family (calls), a score (recall@20) or module:attribute;
    repeatable."""
    baselines: bool = True
    """Play the floor and the ceiling too."""
    without_spoilt: bool = False
    """Leave out of the scores every chat whose simulated user made an error."""


@dataclass(frozen=True, kw_only=True)
class LimitGroup:
    """Limits and budgets: which tasks are played, how often, how far and at what cost."""

    limit: Count | None = None
    """Play N tasks whose tags represent all tasks; a larger N contains a smaller one."""
    first: Count | None = None
    """Play the first N tasks of the file."""
    select: Mapping[str, str] = field(default_factory=dict)
    """Take only tasks with this tag, or with id=ID; * matches any text. Repeatable."""
    trials: Count = 1
    """Number of times that each task is played."""
    workers: Count = 4
    """Number of chats that are played at once."""
    processes: Count | str = 1
    """Number of processes, each with its own workers. ray runs one on each CPU of a Ray cluster,
    that of this machine or of RAY_ADDRESS; ray:N runs N there (`seal.runs.cluster`)."""
    max_turns: Count | None = None
    """Most turns of the model for a goal; any other role may speak three times as often.
    [default: 10, or what the task needs]"""
    max_calls: Count = 50
    """Most calls for a goal.

    Where nobody sets it, at least as many as gold has.
    """
    max_messages: Count | None = None
    """Most messages to or from the user or the executor for a goal.

    None: as the task says.
    """
    max_tokens: Count | None = None
    """Most tokens of a chat."""
    max_seconds: _Positive | None = None
    """Most seconds of a chat."""
    max_total_tokens: Count | None = None
    """Most tokens of the whole run, with judges and simulators. The run then stops with exit code
    3, and can be resumed.

    Tokens of baselines count too. Kept answers cost none.
    """
    max_total_seconds: _Positive | None = None
    """Most seconds of the whole run, which then stops likewise; a chat that is cut off stays
    unfinished.

    A resumed run counts them from its own start.
    """
    max_dollars: _Positive | None = None
    """Most US dollars of the whole run, which then stops likewise; every model needs a price."""
    prices: str | Path | None = None
    """JSON file of prices for a million tokens; they come before those that ship."""
    seed: int = 0
    """Seed of everything that is drawn at random."""


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class RunSettings(
    LimitGroup, JudgingGroup, EnvironmentGroup, RetrievalGroup, RoleGroup, ModelGroup
):
    """What `seal run` plays. Every part may be an object, a name or a dotted path."""

    pool: str | Path | Benchmark = "sample"
    """Name of a shipped benchmark, folder of an imported one, or your own as module:name."""
    retriever: RetrieverChoice | GivenElse | None = None
    """Retriever, as a name or module:attribute.  [default: the tools that a task gives, else
    hybrid]"""
    top_k: Count = 10
    """Number of tools that a chat is offered."""
    origins: Mapping[str, Origin] = field(default_factory=dict, compare=False)
    """Setting to who gave its value; one that is not here has its default."""

    @property
    def ranks(self) -> tuple[int, ...]:
        """Values of K of recall@K and its like: those asked for, and how many tools are offered."""
        return tuple(dict.fromkeys((*self.cutoffs, self.top_k)))

    def __post_init__(self) -> None:
        """Reject values that no run can have.

        Raises:
            UsageError: Names the flag, what it got and what it takes; or an option that is a key
                of a service, for options are written to run.json.
        """
        check_fields(self)
        object.__setattr__(self, "cutoffs", tuple(dict.fromkeys(self.cutoffs)))
        object.__setattr__(self, "metrics", tuple(self.metrics))
        if isinstance(self.processes, str) and not _ON_RAY.fullmatch(self.processes):
            raise UsageError(
                f"--processes {self.processes}: expected a whole number of at least 1, or ray or "
                "ray:N for those of a Ray cluster"
            )
        refuse_secret("", self.model_options, "model_options")
        object.__setattr__(self, "model", _told(self.model))
        role_models = {role: _told(models) for role, models in self.role_models.items()}
        object.__setattr__(self, "role_models", role_models)
        refuse_secret("", self.retriever_options, "retriever_options")
        refuse_secret("", self.world_options, "world_options")
        check_modules(self.allow_code)
        told = {name: prompt_text(name, given) for name, given in self.prompts.items()}
        object.__setattr__(self, "prompts", told)
        if self.sandbox not in SANDBOXES:
            raise UnknownNameError("sandbox", self.sandbox, SANDBOXES)
        check_seed(self.seed)

    @property
    def main(self) -> Flagged:
        """The model, with the flags that hold for it."""
        limits = {name: getattr(self, name) for name in LIMITS}
        told = {n: v for n, v in limits.items() if v is not None and not is_offline(self.model)}
        return Flagged(self.model, self.base_url, {**told, **self.model_options})

    @property
    def on_ray(self) -> bool:
        """Whether chats are played on the nodes of a Ray cluster."""
        return isinstance(self.processes, str)

    @property
    def process_count(self) -> int:
        """How many processes play; 0: one on each CPU of a Ray cluster."""
        if isinstance(self.processes, int):
            return self.processes
        return int(self.processes.partition(":")[2] or 0)

    @property
    def prompt_texts(self) -> dict[str, str]:
        """Name to the prompt that stands in the place of ours."""
        return {name: str(text) for name, text in self.prompts.items()}

    @property
    def gives_tools(self) -> bool:
        """Whether a task is offered the tools that it gives, for nobody named a retriever."""
        return self.retriever is None or isinstance(self.retriever, GivenElse)

    @property
    def finder(self) -> Any:
        """The retriever that finds tools; of `GivenElse` for tasks that give none."""
        named = self.retriever
        return named.retriever if isinstance(named, GivenElse) else named

    @property
    def play(self) -> Play:
        """Team, history and format, of what is not said the general ones."""
        general = Play()
        return Play(
            general.team if self.team is None else self.team,
            self.history or general.history,
            self.format or general.format,
        )


_LONGEST_PROMPT = 1_000_000
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0e-\x1f\ud800-\udfff]")
"""What no file of words has: control characters, and halves of surrogate pairs."""


def prompt_text(name: str, given: str | Path) -> str:
    """Return the text of a prompt, without blanks around it.

    Args:
        name: Whose it is.
        given: The text, or its file.

    Raises:
        UsageError: There is no such file, or it cannot be read; or it holds no text, none but
            blanks, or more than a megabyte.
    """
    place = f"--prompt {name}={given}" if isinstance(given, Path) else f"the prompt of {name}"
    repair = f"give a file of UTF-8 text: --prompt {name}=FILE"
    if isinstance(given, Path):
        if not given.is_file():
            what = "it is no" if given.exists() else "no such"
            raise UsageError(f"{place}: {what} file; {repair}")
        try:
            with opened(given) as file:
                content = file.read(_LONGEST_PROMPT + 1)
        except OSError as error:
            raise UsageError(f"{place}: it cannot be read ({error.strerror}); {repair}") from error
        text = content.decode("utf-8-sig", "surrogateescape")
    else:
        text = given
        if len(text) < 256 and "\n" not in text and "\0" not in text and Path(text).is_file():
            raise UsageError(f"{place} is the name of a file; give pathlib.Path({text!r})")
        content = text.encode("utf-8", "surrogatepass")
    if len(content) > _LONGEST_PROMPT:
        raise UsageError(f"{place}: it has more than {_LONGEST_PROMPT:,} bytes; shorten it")
    if _NO_TEXT.search(text):
        raise UsageError(f"{place}: it is no text; {repair}")
    if not text.strip():
        raise UsageError(f"{place}: it is empty; write what the model is told, or leave it out")
    return text.strip()


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
    named = (settings.team, *settings.roles.values(), *settings.metrics)
    models = (settings.model, *settings.role_models.values())
    ours = (part is None or (isinstance(part, str) and ":" not in part) for part in named)
    known = (isinstance(model, str) and split_name(model)[0] in REGISTRY for model in models)
    return bool(settings.allow_code) or not all((*ours, *known))


# -- How finished trajectories are scored again: the one description of each setting.
#
# Groups and the strings below settings are read as said above.


@dataclass(frozen=True, kw_only=True)
class ScoreGroup:
    """Judging: who says what is solved, and by which rules and metrics."""

    judge: str = "auto"
    """Who decides what is solved: rule, llm, auto (llm if a judge's model is named, else rule), or
    published judges, by commas: pass_paper, tooleval, sopr, fac. Where a task has
    a world's milestones, they decide, and not pass_paper."""
    judge_model: Any = None
    """Model of the judge, as PROVIDER/MODEL; several vote together."""
    prompts: Mapping[str, str | Path] = field(default_factory=dict)
    """File with a prompt of the judge: judge_answer, judge_trajectory, judge_solvability or
    judge_completeness, none of which has variables; repeatable.

    Here a text, or a `Path`.
    """
    votes: int | None = None
    """Number of votes of each judge's model on a goal.  [default: as published]"""
    verdicts: str | Path | None = None
    """Recorded verdicts on this run, as the benchmark's authors published them: a file, or a folder
    with a file for each judge.

    The baselines keep their own verdicts.
    """
    match: str | None = None
    """Rules of scoring: clean, toolsandbox, mmtb, lenient, exact, or those of the run's benchmark,
    such as bfcl.  [default: each task's own]"""
    metrics: Sequence[Any] = ()
    """Metric beside the usual ones: a family (calls), a score (recall@20) or module:attribute;
    repeatable.

    None given: those that run.json names. One of them that is not known or not allowed keeps its
    former scores; without any, it has no value and a reason."""
    without_spoilt: bool = False
    """Leave out of the scores every chat whose simulated user made an error."""
    allow_code: Sequence[str] = ()
    """Module whose code a pool, run or scenario may name; repeatable."""


@dataclass(frozen=True, kw_only=True)
class JudgeGroup:
    """Model: how judges are asked."""

    model_options: Mapping[str, Any] | None = None
    """Option of --judge-model; repeatable. If several models judge, name it with each:
    MODEL,KEY=VALUE."""
    base_url: str | None = None
    """Address of the server of --judge-model. If several models judge, name it with each:
    MODEL,base_url=URL."""
    workers: int = 4
    """Number of answers that are judged at once."""
    cache_dir: str | Path | None = None
    """Folder for cached answers and indexes.  [default: SEAL_CACHE_DIR, else the user's cache]"""


@with_field_docs
@dataclass(frozen=True, kw_only=True)
class ScoreSettings(JudgeGroup, ScoreGroup):
    """How finished trajectories are scored again."""

    bench: Benchmark | None = None
    """What was played, where it is not installed; its metrics are measured again."""
