"""Play a benchmark's tasks: retrieve, chat, score, report."""

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seal.cli.failure import tell
from seal.cli.groups import settings_of, verb
from seal.cli.interruption import resumable, resuming
from seal.cli.output import Output, output, progress
from seal.cli.run_options import PLAYED, DryRunOutput, Play, Pools, Retriever
from seal.core import InfrastructureError, MissingExtraError, UsageError
from seal.experiments.pool_draws import DrawnGroup
from seal.runs.settings import RunSettings, has_own_code

if TYPE_CHECKING:
    from seal.experiments.sweep.sweep_settings import SweepSettings
    from seal.runs.run import Progress

COMMON = (
    "model",
    "agent",
    "retriever",
    "top_k",
    "simulator",
    "judge",
    "limit",
    "trials",
    "out",
    "json",
)
"""Options that the short help shows."""


@verb(COMMON)
def command(
    context: typer.Context,
    play: Play,
    retriever: Retriever,
    pools: Pools,
    into: DryRunOutput,
    pool: str = PLAYED,
) -> int:
    """Play a benchmark's tasks and score them; without arguments the shipped sample, offline.

    With --pool-sizes or several --top-k, there is a run for each drawn pool and each K.
    """
    if into.resume and into.out is None:
        raise UsageError("--resume needs the folder of the run to go on with: give --out RUN")
    from seal.runs.cast import check_address_used

    ks = retriever.top_k
    swept = pools.pool_sizes is not None or len(ks) > 1
    if not swept:
        _refuse_alone(context)
    baselines = play.judging.baselines
    settings = play.settings(
        context,
        pool,
        retriever=retriever.retriever,
        top_k=ks[0],
        shard=into.shard,
        hooks=into.hooks,
        baselines=baselines and not (swept and _source(context, "baselines") == "DEFAULT"),
    )
    check_address_used(settings)
    if into.shard and (swept or into.dry_run):
        raise UsageError(
            "--shard plays a part of one run; leave out --dry-run, --pool-sizes and all but one K"
        )
    if into.dry_run:
        if swept:
            raise UsageError("--dry-run plans one run; leave out --pool-sizes and all but one K")
        return _plan(settings, into.json)
    varied = _varied(pools, ks) if swept else None
    with output(into.json) as result:
        from seal.runs.run import free_folder

        out = into.out or free_folder(settings)
        try:
            with resumable(out):
                if varied is not None:
                    return _sweep(settings, varied, out, into.resume, result)
                return _play(settings, out, into.resume, result)
        except (InfrastructureError, MissingExtraError) as error:
            if not (out / "run.json").is_file():
                raise
            kind = InfrastructureError if isinstance(error, InfrastructureError) else UsageError
            raise kind(f"{error}. Go on with: {resuming(out)}") from error


def _varied(pools: Pools, ks: tuple[int, ...]) -> "SweepSettings":
    from seal.experiments.sweep.sweep_settings import SweepSettings

    drawing = settings_of(pools)
    drawing["pool_sizes"] = pools.pool_sizes or ("all",)
    return SweepSettings(top_k=ks, **drawing)


def _refuse_alone(context: typer.Context) -> None:
    """Raise UsageError where the command line says how to draw pools, but not which."""
    for option in fields(DrawnGroup):
        if _source(context, option.name) == "COMMANDLINE":
            flag = option.name.replace("_", "-")
            raise UsageError(f"--{flag} needs pools to draw: give --pool-sizes, such as 10,50,all")


def _source(context: typer.Context, name: str) -> str:
    """Return where a parameter's value is from: COMMANDLINE, DEFAULT_MAP, DEFAULT..."""
    source = context.get_parameter_source(name)
    return "" if source is None else source.name


def _plan(settings: RunSettings, json: bool) -> int:
    from seal.report.cost_plan import plan_tables
    from seal.runs.spending.plan import plan

    with output(json) as result:
        found = plan(settings)
        result.result({"plan": found})
        result.show(*plan_tables(found))
    return 0


def _play(settings: RunSettings, out: Path, resume: bool, result: Output) -> int:
    from seal.agents.autogen import import_without_clients
    from seal.report.html import write_report
    from seal.report.run_results import result_tables, spent_lines, spent_words
    from seal.runs.run import budget_of, run

    if resume and not (out / "run.json").is_file():
        tell(f"{out} holds no run to go on with: a new one begins there")
    if not has_own_code(settings):
        import_without_clients()
    with progress(run=out) as advance:

        def told(state: "Progress") -> None:
            advance(state.stage, state.done, state.total, *spent_words(state))

        played = run(settings, out, resume, told, tell=tell)
    folder = played.folder
    report = write_report([folder], folder.report_path)
    result.result({"run": str(folder.path), **played.summary})
    result.show(*result_tables(folder), *spent_lines(folder, budget_of(settings)))
    chosen_by = folder.manifest()["system"]["retriever"]
    result.show(f"retriever: {chosen_by}", f"run: {folder.path}", f"report: {report}")
    return played.exit_code


def _sweep(
    settings: RunSettings, varied: "SweepSettings", out: Path, resume: bool, result: Output
) -> int:
    from seal.experiments.sweep.sweep_files import SWEEP
    from seal.experiments.sweep.sweep_runs import sweep
    from seal.report.experiment_files import write_sweep
    from seal.report.sweep_results import sweep_tables

    if resume and not (out / SWEEP.name).is_file():
        tell(f"{out} holds no sweep to go on with: a new one begins there")
    with progress(("runs",)) as advance:
        played = sweep(settings, varied, out, resume, advance)
    notes = [*played.content["notes"], *write_sweep(played.content, out)]
    result.result({"sweep": str(out), **played.content, "notes": notes})
    result.show(*sweep_tables(played.content), f"sweep: {out}")
    for note in notes:
        tell(note)
    return played.exit_code
