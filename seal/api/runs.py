"""Playing a benchmark: one run, what it would cost, and runs that vary a thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.api.settings import check_settings
from seal.core.errors import UsageError
from seal.pipeline.settings import RunSettings

if TYPE_CHECKING:
    from seal.api.objects.ablation import Ablation
    from seal.api.objects.plan import RunPlan
    from seal.api.objects.run import Run
    from seal.api.objects.sweep import Sweep
    from seal.pipeline.drawing import Size
    from seal.pipeline.run import Progress


def run(
    pool: str | Path = "sample",
    *,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[Progress], None] | None = None,
    **settings: Any,
) -> Run:
    """Play a benchmark's tasks and score them.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        out: Run folder; None: a new one under `runs/`.
        resume: Go on with the run in `out`.
        progress: Told how far the run is, as chats end.
        **settings: Fields of `RunSettings`; models, retrievers, agents and simulators may be
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
    from seal.pipeline.run import run as play

    check_settings(settings, RunSettings)
    asked = RunSettings(pool=pool, **settings)
    played = play(asked, None if out is None else Path(out), resume, progress)
    return Run(played.folder, played.summary, played.exit_code)


def plan_run(pool: str | Path = "sample", **settings: Any) -> RunPlan:
    """Return what a run would ask its models and what that would cost; asks nobody.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        **settings: Fields of `RunSettings`.

    Returns:
        The plan: `.chats`, `.requests`, `.tokens_in`, `.tokens_out`, `.dollars`, `.table()`, and as
        `.content` what `seal.pipeline.spending.plan.plan` says, by role.

    Raises:
        UnknownNameError: No such setting; names the closest.
        UsageError: A setting that no run can have, or `max_dollars` for a model without a price.
        DataError: The pool, or the file of prices, is malformed.
    """
    from seal.api.objects.plan import RunPlan
    from seal.pipeline.spending.plan import plan

    check_settings(settings, RunSettings)
    return RunPlan(plan(RunSettings(pool=pool, **settings)))


def sweep(
    pool: str | Path = "sample",
    *,
    pool_sizes: Sequence[Size] = ("all",),
    top_k: int | Sequence[int] = 10,
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    **settings: Any,
) -> Sweep:
    """Play a benchmark end to end over drawn pools of several sizes, and with each of several K.

    Args:
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        pool_sizes: Numbers of tools, and "all".
        top_k: Tools that a chat is offered; one number or several.
        out: Folder of the sweep; None: a new one under `runs/`. It gets sweep.json, sweep.csv, for
            each drawn pool a pool folder and its runs, and with the extra `experiments`
            sweep.parquet and figures.
        resume: Go on with the sweep in `out`: finished runs are skipped; `samples` may be more.
        progress: Told the stage, how many of its items are done, and how many there are.
        **settings: Fields of `seal.pipeline.sweep.settings.SweepSettings` (samples, distractors,
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
    from seal.pipeline.sweep.settings import SweepSettings
    from seal.pipeline.sweep.sweep import sweep as play
    from seal.report.experiment import write_sweep

    own = {setting.name for setting in fields(SweepSettings)}
    varied = {name: value for name, value in settings.items() if name in own}
    others = {name: value for name, value in settings.items() if name not in own}
    check_settings(others, RunSettings, SweepSettings)
    ks = (top_k,) if isinstance(top_k, int) else tuple(top_k)
    asked = SweepSettings(pool_sizes=tuple(pool_sizes), top_k=ks, **varied)
    played = play(
        RunSettings(pool=pool, **{"baselines": False, **others}),
        asked,
        None if out is None else Path(out),
        resume,
        progress,
    )
    played.content["notes"] += write_sweep(played.content, played.folder)
    return Sweep(played.content, played.folder, played.exit_code)


def ablate(
    what: str,
    pool: str | Path = "toolscan-sample",
    *,
    retrievers: Sequence[Any] = (),
    ablated_roles: Sequence[str] = (),
    out: str | Path | None = None,
    resume: bool = False,
    progress: Callable[[str, int, int], None] | None = None,
    **settings: Any,
) -> Ablation:
    """Play a benchmark under conditions that differ in one thing, and say what that thing does.

    Args:
        what: feedback (on, off), format (native, action, json), react (react, plain), retriever
            (those of `retrievers`), irrelevance (tasks that no tool serves, and the answerable ones
            that they were made of), similarity (one run: its error rates by environment against
            the likeness of the environments' tool names), injection (gold in the place of a stage:
            plain, tools, calls, results, all), roles (none, each alone, all), tools (created,
            recorded) or apps (hierarchical, flat).
        pool: A shipped benchmark's name, or a folder that `import_benchmark` wrote.
        retrievers: Those to compare, at least two; none: tfidf, bm25, oracle.
        ablated_roles: Those of the ablation `roles`; none: planner, verifier, checker.
        out: Folder of the ablation; None: a new one under `runs/`. It gets comparison.json,
            comparison.md, a run folder for each condition, and of similarity with the extra
            `experiments` a figure.
        resume: Go on with the ablation in `out`.
        progress: Told the stage, how many of its items are done, and how many there are.
        **settings: Fields of `RunSettings`, but for what is varied. Baselines are played where
            asked for; `limit` counts irrelevant tasks where these are compared.

    Returns:
        The ablation: `.runs["on"]`, `.comparisons`, of two conditions `["pass_rate"].difference`,
        `.frame`, `.table()`, `.plot()`, its `.folder`, the `.exit_code` of `seal run`, and as
        `.content` that of comparison.json.

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
    from seal.api.objects.ablation import Ablation
    from seal.pipeline.ablation.ablate import ablate as play
    from seal.pipeline.ablation.conditions import ablation_named
    from seal.report.experiment import write_ablation

    ablation = ablation_named(what)
    varied = "" if ablation.option else ablation.field
    if varied and varied in settings:
        repair = ": name several by `retrievers`" if varied == "retriever" else ": leave it out"
        raise UsageError(f"{varied} is what the ablation {what} varies{repair}")
    check_settings(settings, RunSettings)
    asked = RunSettings(pool=pool, **{"baselines": False, **settings})
    place = None if out is None else Path(out)
    played = play(what, asked, retrievers, place, resume, progress, ablated_roles)
    played.content["notes"] += write_ablation(played.content, played.folder)
    return Ablation(played.content, played.folder, played.exit_code)
