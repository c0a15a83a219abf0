"""The verb that plays a benchmark: run."""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from seal.cli.failure import resumable, resuming, tell
from seal.cli.groups import verb
from seal.cli.options import PLAYED, Play, Retriever, WholeRunOutput
from seal.cli.output import Output, output, progress
from seal.core import DataError, InfrastructureError, MissingExtraError, UsageError
from seal.core.text import counted
from seal.runs.settings import Origin, RunSettings, has_own_code

if TYPE_CHECKING:
    from seal.runs.play import Progress

# -- Play a benchmark's tasks: retrieve, chat, score, report.

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


@verb("run", COMMON)
def run_command(
    context: typer.Context,
    play: Play,
    retriever: Retriever,
    into: WholeRunOutput,
    pool: str = PLAYED,
) -> int:
    """Play a benchmark's tasks and score them; without arguments the shipped sample, offline."""
    if into.resume and into.out is None:
        raise UsageError("--resume needs the folder of the run to go on with: give --out RUN")
    if into.out and not (into.resume or into.dry_run) and (into.out / "run.json").exists():
        raise UsageError(f"{into.out} holds a run already; add --resume, or give another --out")
    from seal.runs.role_models import check_flags_used

    settings = play.settings(
        context,
        pool,
        retriever=retriever.retriever,
        top_k=retriever.top_k,
    )
    check_flags_used(settings)
    tasks = _Tasks()
    if into.again or into.former:
        source = context.get_parameter_source("pool")
        settings, tasks = _again(settings, into, source is not None and source.name == _TYPED)
    if into.dry_run:
        return _plan(settings, tasks, into.json)
    from seal.runs.play import run_folder

    with output(into.json) as result, run_folder(into.out, settings) as out:
        begun = (out / "run.json").is_file()
        try:
            with resumable(out):
                return _play_run(settings, out, into, result, tasks)
        except (InfrastructureError, DataError, UsageError) as error:
            if not (out / "run.json").is_file() or (begun and not isinstance(error, _OF_MACHINE)):
                raise
            kind = InfrastructureError if isinstance(error, InfrastructureError) else UsageError
            raise kind(f"{error}. Go on with: {resuming(out)}") from error
        except OSError as error:  # such as a full disk
            if (out / "run.json").is_file():
                error.add_note(f"Go on with: {resuming(out)}")
            raise


class _Tasks(NamedTuple):
    """Which tasks of another run are played."""

    ids: Collection[str] | None = None
    """None: all that the settings select."""
    told: str = ""


def _plan(settings: RunSettings, tasks: _Tasks, json: bool) -> int:
    from seal.report.experiments import plan_tables
    from seal.runs.cost_plan import plan

    with output(json) as result:
        found = plan(settings, tasks.ids)
        result.result({"plan": found})
        result.show(*plan_tables(found))
    return 0


_OF_MACHINE = (InfrastructureError, MissingExtraError)
"""Errors after which a run goes on in the same folder, whoever began it."""
_TYPED = "COMMANDLINE"
_CHOICES = ("limit", "first", "select")


def _again(
    settings: RunSettings, into: WholeRunOutput, is_named: bool
) -> tuple[RunSettings, _Tasks]:
    """Return the settings and the tasks of `--again`, and tell which these are.

    Args:
        settings: What the words say.
        into: Which tasks, of which run.
        is_named: Whether the words name a benchmark.
    """
    from seal.report.lanes import tasks_that
    from seal.runs.again import settings_again
    from seal.runs.run import RunFolder

    if into.again is None or into.former is None:
        raise UsageError("--again and --from go together: --again unsolved --from RUN")
    if chosen := [name for name in _CHOICES if settings.origins.get(name) == "flag"]:
        raise UsageError(f"--again chooses the tasks; leave out --{chosen[0]}")
    run = RunFolder.open(into.former)
    ids = tasks_that(run, into.again)
    origins: dict[str, Origin] = {"pool": "flag"} if is_named else {}
    played = settings_again(run, replace(settings, origins={**settings.origins, **origins}))
    of = f"{counted(run.summary().get('tasks', 0), 'task')} of {run.path}"
    given = sorted(name for name, by in settings.origins.items() if by == "flag")
    save = f", save {', '.join(given)}" if given else ""
    tell(f"plays the {len(ids):,} {into.again} of {of}, with the settings of that run{save}")
    return played, _Tasks(frozenset(ids), f"the {into.again} of {run.path.resolve().name}")


def _play_run(
    settings: RunSettings, out: Path, into: WholeRunOutput, result: Output, tasks: _Tasks
) -> int:
    from seal.agents.autogen import import_without_clients
    from seal.report.run_pages import write_report
    from seal.report.run_results import result_tables, spent_lines, spent_words
    from seal.runs.costs import budget_of
    from seal.runs.play import run

    if into.resume and not (out / "run.json").is_file():
        tell(f"{out} holds no run to go on with: a new one begins there")
    if not has_own_code(settings):
        import_without_clients()
    with progress(run=out) as advance:

        def told(state: "Progress") -> None:
            more = spent_words(state)
            advance(state.stage, state.done, state.total, *more, unit=state.unit)

        played = run(settings, out, into.resume, told, only=tasks.ids, tell=tell, again=tasks.told)
    folder = played.folder
    report = write_report([folder], folder.report_path)
    result.result({"run": str(folder.path), **played.summary})
    tables = result_tables(folder, into.all_metrics)
    result.show(*tables, *spent_lines(folder, budget_of(settings)))
    chosen_by = folder.manifest()["system"]["retriever"]
    result.show(f"retriever: {chosen_by}", f"run: {folder.path}", f"report: {report}")
    if into.former is not None:
        result.show(f"beside the run before: seal compare {into.former} {folder.path}")
    count, most = played.summary["tasks"], settings.first or settings.limit or 0
    if count < most and tasks.ids is None:
        tell(f"{folder.pool_name} has no {most:,} such tasks: all {count:,} were played")
    return played.exit_code
