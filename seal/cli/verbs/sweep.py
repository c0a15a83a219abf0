"""Play a benchmark over pools of several sizes, and with several numbers of offered tools."""

from dataclasses import dataclass
from pathlib import Path

import typer

from seal.cli.failure import tell
from seal.cli.groups import option, setting, settings_of, verb
from seal.cli.interruption import resumable
from seal.cli.output import Output, output, progress
from seal.cli.run_options import PLAYED, HookedOutput, SeriesPlay
from seal.cli.words import several_whole
from seal.core import UsageError
from seal.experiments.pool_draws import DrawnGroup
from seal.experiments.sweep.sweep_settings import SweepSettings
from seal.runs.settings import RunSettings


@dataclass(frozen=True, kw_only=True)
class SweptRetriever:
    """Retrieval: who offers the chat its tools, how many and when."""

    retriever: str | None = setting(RunSettings, "retriever")
    top_k: tuple[int, ...] = option(
        str(RunSettings().top_k),
        "Numbers of tools that a chat is offered, such as 1,5,10; each pool is played with each.",
        metavar="K[,K...]",
        words=str,
        callback=several_whole,
    )


@dataclass(frozen=True, kw_only=True)
class SweptPools(DrawnGroup):
    """Pools: which are drawn of the benchmark's, and what they are asked."""

    samples: int = setting(SweepSettings, "samples")


@verb(
    "sweep",
    ("model", "retriever", "top_k", "pool_sizes", "samples", "judge", "limit", "out", "json"),
)
def sweep_command(
    context: typer.Context,
    *,
    play: SeriesPlay,
    retriever: SweptRetriever,
    pools: SweptPools,
    into: HookedOutput,
    pool: str = PLAYED,
) -> int:
    """Play a benchmark over pools of several sizes, and with several numbers of offered tools.

    There is a run for each drawn pool and each K. The folder gets sweep.json, sweep.csv, and a pool
    folder with its runs for each drawn pool. All other options are those of `seal run`.
    """
    if into.resume and into.out is None:
        raise UsageError("--resume needs the folder of the sweep: give --out DIR")
    from seal.runs.cast import check_address_used

    ks = retriever.top_k
    settings = play.settings(
        context, pool, retriever=retriever.retriever, top_k=ks[0], hooks=into.hooks
    )
    check_address_used(settings)
    varied = SweepSettings(top_k=ks, **settings_of(pools))
    with output(into.json) as result:
        from seal.runs.run import free_folder

        out = into.out or free_folder(settings)
        with resumable(out):
            return _play(settings, varied, out, into.resume, result)


def _play(
    settings: RunSettings, varied: SweepSettings, out: Path, resume: bool, result: Output
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
