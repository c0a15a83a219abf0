"""The options that the public functions take by name, with their types.

Each group has the names and types of a settings dataclass, which says what they mean and what they
are where nothing is said; a test holds them equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict

from seal.agents.briefs import Brief
from seal.core import CacheMode, Task, Unrecorded
from seal.core.formats import Format
from seal.experiments.pool_draws import Distractors, QueriesIn
from seal.pools.lookup import Bench, bench_of
from seal.pools.own_parts import OwnTool
from seal.runs.agent_settings import AgentUnderTest, trying
from seal.runs.hooks import HooksChoice
from seal.runs.settings import (
    AgentChoice,
    Feedback,
    GivenElse,
    History,
    MetricChoice,
    ModelChoice,
    Origin,
    Retrieve,
    RetrieverChoice,
    RunSettings,
    SimulatorChoice,
    TeamChoice,
)


class PlayOptions(TypedDict, total=False):
    """Fields of `RunSettings` that one run and a sweep share."""

    model: ModelChoice
    role_models: Mapping[str, ModelChoice | Sequence[ModelChoice]]
    model_options: Mapping[str, Any]
    base_url: str | None
    roles: Mapping[str, AgentChoice | None]
    user_brief: Brief
    team: TeamChoice | None
    history: History | None
    retriever: RetrieverChoice | GivenElse | None
    retriever_options: Mapping[str, Any]
    retrieve: Retrieve
    simulator: SimulatorChoice
    unrecorded: Unrecorded
    environment: str | None
    servers: Mapping[str, Any] | str | Path
    world_options: Mapping[str, Any]
    sandbox: str
    feedback: Feedback
    gold_results: bool
    format: Format | None
    one_shot: bool
    cache: CacheMode
    cache_dir: str | Path | None
    judge: str
    votes: int | None
    limit: int | None
    first: int | None
    select: Mapping[str, str]
    trials: int
    workers: int
    processes: int | str
    max_turns: int | None
    max_calls: int
    max_messages: int | None
    max_tokens: int | None
    max_seconds: float | None
    max_total_tokens: int | None
    max_total_seconds: float | None
    max_dollars: float | None
    prices: str | Path | None
    temperature: float
    seed: int
    cutoffs: Sequence[int]
    metrics: Sequence[MetricChoice]
    without_spoilt: bool
    baselines: bool
    allow_code: Sequence[str]
    hooks: Sequence[HooksChoice]


class RunOptions(PlayOptions, total=False):
    """Fields of `RunSettings`, but for the pool."""

    top_k: int
    shard: str | None


def settings_of(
    bench: Bench | Sequence[Task],
    options: RunOptions,
    agent: AgentUnderTest | None = None,
    tools: Sequence[OwnTool] = (),
    **defaults: Any,
) -> RunSettings:
    """Return the settings of a run that a call asks for; `defaults` are those of the function.

    Raises:
        UsageError: Tasks without tools, tools beside a whole benchmark, or no agent.
    """
    asked: dict[str, Any] = dict(options) if agent is None else trying(agent, options)
    origins: dict[str, Origin] = dict.fromkeys(asked, "call")
    pool = bench_of(bench, tools)
    return RunSettings(pool=pool, **{**defaults, **asked}, origins=origins)


class DrawingOptions(TypedDict, total=False):
    """Fields of `Drawing`, but for the sizes: which pools are drawn, and what they are asked."""

    samples: int
    distractors: Distractors
    queries_in: QueriesIn
    nested: bool
    queries: int | None


class SweepOptions(PlayOptions, DrawingOptions, total=False):
    """What a sweep plays, and how it draws pools."""
