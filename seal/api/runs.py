"""Playing a benchmark: one run, what it would cost, and runs that vary a thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from seal.api.settings import DrawingOptions, RunOptions, SweepOptions, settings_of
from seal.core.errors import UsageError
from seal.core.signatures import checked
from seal.core.types import Task
from seal.pipeline.drawing import Size
from seal.pipeline.settings import RetrieverChoice
from seal.pipeline.tried import AgentUnderTest
from seal.pools.known import Bench
from seal.pools.own_tools import OwnTool

if TYPE_CHECKING:
    from seal.pipeline.ablation.ablate import AblationResult
    from seal.pipeline.run import Progress, RunResult
    from seal.pipeline.sweep.sweep import SweepResult


@checked
def run(
    bench: Bench | Sequence[Task] = "sample",
    *,
    agent: AgentUnderTest | None = None,
    tools: Sequence[OwnTool] = (),
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    **options: Unpack[RunOptions],
) -> RunResult:
    """Play a benchmark's tasks and score them.

    Args:
        bench: A benchmark, the name of one, a pool folder, or tasks, whose tools are `tools` then.
        agent: What is tried: a model or its name, a team, a role with `reply(chat)`, a function of
            (request, tools), or a dotted path to one of these (`seal.agents.own`). None: `model`.
        tools: Those of tasks that are given alone.
        out: Run folder; None: a new one under `runs/`.
        resume: Go on with the run in `out`.
        progress: Told how far the run is, as chats end.
        **options: Fields of `RunSettings`; models, retrievers, agents and simulators may be
            objects, names or dotted paths.

    Returns:
        The run's folder, its summary, and the exit code of `seal run`.

    Raises:
        UnknownNameError: No such setting; names the closest.
        UsageError: A setting that no run can have.
        DataError: The pool is malformed.
    """
    from seal.pipeline.cast import check_address_used
    from seal.pipeline.run import run as play

    asked = settings_of(bench, options, agent, tools)
    check_address_used(asked)
    return play(asked, None if out is None else Path(out), resume, progress)


@checked
def plan_run(
    bench: Bench | Sequence[Task] = "sample",
    *,
    agent: AgentUnderTest | None = None,
    tools: Sequence[OwnTool] = (),
    **options: Unpack[RunOptions],
) -> dict[str, Any]:
    """Return what a run would ask its models and what that would cost; asks nobody.

    Args:
        bench: As of `run`, and so are `agent` and `tools`.
        agent: What is tried.
        tools: Those of tasks that are given alone.
        **options: Fields of `RunSettings`.

    Returns:
        As of `seal.pipeline.spending.plan.plan`: chats, and by role model calls, tokens, dollars.

    Raises:
        UnknownNameError: No such setting; names the closest.
        UsageError: A setting that no run can have, or `max_dollars` for a model without a price.
        DataError: The pool, or the file of prices, is malformed.
    """
    from seal.pipeline.spending.plan import plan

    return plan(settings_of(bench, options, agent, tools))


@checked
def sweep(
    bench: Bench = "sample",
    *,
    pool_sizes: Sequence[Size] = ("all",),
    top_k: int | Sequence[int] = 10,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    **options: Unpack[SweepOptions],
) -> SweepResult:
    """Play a benchmark end to end over drawn pools of several sizes, and with each of several K.

    Args:
        bench: A benchmark, the name of one, or a pool folder.
        pool_sizes: Numbers of tools, and "all".
        top_k: Tools that a chat is offered; one number or several.
        out: Folder of the sweep; None: a new one under `runs/`. It gets sweep.json, sweep.csv, for
            each drawn pool a pool folder and its runs, and with the extra `experiments`
            sweep.parquet and figures.
        resume: Go on with the sweep in `out`: finished runs are skipped; `samples` may be more.
        progress: Told the stage, how many of its items are done, and how many there are.
        **options: Fields of `seal.pipeline.sweep.settings.SweepSettings` (samples, distractors,
            queries_in, nested, queries) and of `RunSettings`. The retriever is tfidf where none is
            named; baselines are played where asked for.

    Returns:
        The folder, the content of sweep.json (`seal.frame` makes a pandas frame of it), and the
        exit code of `seal run`. The content has `rows`, one for each run, and `results`, the means
        and deviations over the samples of each size and K with intervals over tasks.

    Raises:
        UnknownNameError: No such setting, pool or plug-in; names the closest.
        UsageError: A size beyond the pool or without a query, the retriever `given`, a setting
            that no run can have, or a folder that holds something else.
        DataError: The pool is malformed.
    """
    from seal.pipeline.sweep.settings import SweepSettings
    from seal.pipeline.sweep.sweep import sweep as play
    from seal.report.experiment import write_sweep

    own = DrawingOptions.__annotations__
    drawing: Any = {name: value for name, value in options.items() if name in own}
    others: Any = {name: value for name, value in options.items() if name not in own}
    ks = (top_k,) if isinstance(top_k, int) else tuple(top_k)
    asked = SweepSettings(pool_sizes=pool_sizes, top_k=ks, **drawing)
    played = play(
        settings_of(bench, others, baselines=False),
        asked,
        None if out is None else Path(out),
        resume,
        progress,
    )
    played.content["notes"] += write_sweep(played.content, played.folder)
    return played


@checked
def ablate(
    what: str,
    bench: Bench = "toolscan-sample",
    *,
    retrievers: Sequence[RetrieverChoice] = (),
    ablated_roles: Sequence[str] = (),
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    **options: Unpack[RunOptions],
) -> AblationResult:
    """Play a benchmark under conditions that differ in one thing, and say what that thing does.

    Args:
        what: feedback (on, off), format (native, action, json), react (react, plain), retriever
            (those of `retrievers`), irrelevance (tasks that no tool serves, and the answerable ones
            that they were made of), similarity (one run: its error rates by environment against
            the likeness of the environments' tool names), injection (gold in the place of a stage:
            plain, tools, calls, results, all), roles (none, each alone, all), tools (created,
            recorded) or apps (hierarchical, flat).
        bench: A benchmark, the name of one, or a pool folder.
        retrievers: Those to compare, at least two; none: tfidf, bm25, oracle.
        ablated_roles: Those of the ablation `roles`; none: planner, verifier, checker.
        out: Folder of the ablation; None: a new one under `runs/`. It gets comparison.json,
            comparison.md, a run folder for each condition, and of similarity with the extra
            `experiments` a figure.
        resume: Go on with the ablation in `out`.
        progress: Told the stage, how many of its items are done, and how many there are.
        **options: Fields of `RunSettings`, but for what is varied. Baselines are played where
            asked for; `limit` counts irrelevant tasks where these are compared.

    Returns:
        The folder, the content of comparison.json, and the exit code of `seal run`.

        - runs: for each condition {condition, tasks, errors, error_reasons, skipped, usage,
          metrics}.
        - comparisons: for every two conditions and each metric the paired difference
          (`seal.pipeline.comparison.pairs.compare`).
        - kinds, of irrelevance: for each kind the shares that abstained, with intervals
          (`seal.evaluation.abstention` says what that is).
        - points and correlations, of similarity (`seal.pipeline.ablation.similarity`).
        - costs, of injection: for each metric what each stage costs
          (`seal.pipeline.ablation.injection.costs_of`).
        - roles, of roles: for each condition what each role did (`seal.evaluation.role_work`).
        - protocol, system, and notes on what was left out.

    Raises:
        UnknownNameError: No such ablation, setting or plug-in; names the closest.
        UsageError: A setting that is varied, one that no run can have, a pool that has nothing to
            compare, or a folder that holds something else.
        DataError: The pool is malformed.
    """
    from seal.pipeline.ablation.ablate import ablate as play
    from seal.pipeline.ablation.conditions import ablation_named
    from seal.report.experiment import write_ablation

    ablation = ablation_named(what)
    varied = "" if ablation.option else ablation.field
    if varied and varied in options:
        repair = ": name several by `retrievers`" if varied == "retriever" else ": leave it out"
        raise UsageError(f"{varied} is what the ablation {what} varies{repair}")
    asked = settings_of(bench, options, baselines=False)
    place = None if out is None else Path(out)
    played = play(what, asked, retrievers, place, resume, progress, ablated_roles)
    played.content["notes"] += write_ablation(played.content, played.folder)
    return played
