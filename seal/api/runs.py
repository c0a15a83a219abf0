"""Playing a benchmark: one run, what it would cost, and runs that vary a thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from seal.api.settings import DrawingOptions, RunOptions, SweepOptions, settings_of
from seal.core.errors import UsageError
from seal.core.signatures import checked
from seal.core.types import Task
from seal.experiments.drawing import Size
from seal.pools.benchmark import Benchmark
from seal.pools.known import Bench, known_benchmark
from seal.pools.own_tools import OwnTool
from seal.runs.settings import RetrieverChoice
from seal.runs.tried import AgentUnderTest

if TYPE_CHECKING:
    from seal.api.objects.ablation import Ablation
    from seal.api.objects.plan import RunPlan
    from seal.api.objects.run import Run
    from seal.api.objects.sweep import Sweep
    from seal.runs.run import Progress


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
) -> Run:
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
        The run: `run["pass_rate"].mean`, `.low`, `.high`, `.n`; the frames `.scores`, `.calls`,
        `.messages`, `.tasks`; `.table()`, `.plot()`, `.report()`; its `.folder`, its `.summary`,
        and the `.exit_code` of `seal run`.

    Raises:
        UnknownNameError: No such setting; names the closest.
        UsageError: A setting that no run can have.
        DataError: The pool is malformed.
    """
    from seal.api.objects.run import Run
    from seal.runs.cast import check_address_used
    from seal.runs.run import run as play

    asked = settings_of(bench, options, agent, tools)
    check_address_used(asked)
    played = play(asked, None if out is None else Path(out), resume, progress)
    own = bench.sections if isinstance(bench, Benchmark) and not known_benchmark(bench.name) else ()
    return Run(played.folder, played.summary, played.exit_code, tuple(own))


@checked
def plan_run(
    bench: Bench | Sequence[Task] = "sample",
    *,
    agent: AgentUnderTest | None = None,
    tools: Sequence[OwnTool] = (),
    **options: Unpack[RunOptions],
) -> RunPlan:
    """Return what a run would ask its models and what that would cost; asks nobody.

    Args:
        bench: As of `run`, and so are `agent` and `tools`.
        agent: What is tried.
        tools: Those of tasks that are given alone.
        **options: Fields of `RunSettings`.

    Returns:
        The plan: `.chats`, `.requests`, `.tokens_in`, `.tokens_out`, `.dollars`, `.table()`, and as
        `.content` what `seal.runs.spending.plan.plan` says, by role.

    Raises:
        UnknownNameError: No such setting; names the closest.
        UsageError: A setting that no run can have, or `max_dollars` for a model without a price.
        DataError: The pool, or the file of prices, is malformed.
    """
    from seal.api.objects.plan import RunPlan
    from seal.runs.spending.plan import plan

    return RunPlan(plan(settings_of(bench, options, agent, tools)))


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
) -> Sweep:
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
        **options: Fields of `seal.experiments.sweep.settings.SweepSettings` (samples, distractors,
            queries_in, nested, queries) and of `RunSettings`. The retriever is tfidf where none is
            named; baselines are played where asked for.

    Returns:
        The sweep: `.of(size=50)["pass_rate"].mean`, `.results`, `.runs`, `.frame`, `.table()`,
        `.plot()`, its `.folder`, the `.exit_code` of `seal run`, and as `.content` that of
        sweep.json. It has `rows`, one for each run, and `results`, the means
        and deviations over the samples of each size and K with intervals over tasks.

    Raises:
        UnknownNameError: No such setting, pool or plug-in; names the closest.
        UsageError: A size beyond the pool or without a query, the retriever `given`, a setting
            that no run can have, or a folder that holds something else.
        DataError: The pool is malformed.
    """
    from seal.api.objects.sweep import Sweep
    from seal.experiments.sweep.settings import SweepSettings
    from seal.experiments.sweep.sweep import sweep as play
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
    return Sweep(played.content, played.folder, played.exit_code)


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
) -> Ablation:
    """Play a benchmark under conditions that differ in one thing, and say what that thing does.

    Args:
        what: feedback (on, off), format (native, action, json), react (react, plain), retriever
            (those of `retrievers`), irrelevance (tasks that no tool serves, and the answerable ones
            that they were made of), similarity (one run: its error rates by environment against
            the likeness of the environments' tool names), injection (gold in the place of a stage:
            plain, tools, calls, results, all), roles (none, each alone, all), or another that the
            benchmark offers: of dialogtool tools (created, recorded) and apps (hierarchical, flat).
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
        The ablation: `.runs["on"]`, `.comparisons`, of two conditions `["pass_rate"].difference`,
        `.frame`, `.table()`, `.plot()`, its `.folder`, the `.exit_code` of `seal run`, and as
        `.content` that of comparison.json.

        - runs: for each condition {condition, tasks, errors, error_reasons, skipped, usage,
          metrics}.
        - comparisons: for every two conditions and each metric the paired difference
          (`seal.experiments.comparison.pairs.compare`).
        - kinds, of irrelevance: for each kind the shares that abstained, with intervals
          (`seal.evaluation.abstention` says what that is).
        - points and correlations, of similarity (`seal.experiments.ablation.similarity`).
        - costs, of injection: for each metric what each stage costs
          (`seal.experiments.ablation.injection.costs_of`).
        - roles, of roles: for each condition what each role did (`seal.evaluation.role_work`).
        - protocol, system, and notes on what was left out.

    Raises:
        UnknownNameError: No such ablation, setting or plug-in; names the closest.
        UsageError: A setting that is varied, one that no run can have, a pool that has nothing to
            compare, or a folder that holds something else.
        DataError: The pool is malformed.
    """
    from seal.api.objects.ablation import Ablation
    from seal.experiments.ablation.ablate import ablate as play
    from seal.experiments.ablation.conditions import ablation_named
    from seal.pools.lookup import open_pool
    from seal.report.experiment import write_ablation

    asked = settings_of(bench, options, baselines=False)
    ablation = ablation_named(what, open_pool(asked.pool).benchmark)
    varied = "" if ablation.option else ablation.field
    if varied and varied in options:
        repair = ": name several by `retrievers`" if varied == "retriever" else ": leave it out"
        raise UsageError(f"{varied} is what the ablation {what} varies{repair}")
    place = None if out is None else Path(out)
    played = play(what, asked, retrievers, place, resume, progress, ablated_roles)
    played.content["notes"] += write_ablation(played.content, played.folder)
    return Ablation(played.content, played.folder, played.exit_code)
