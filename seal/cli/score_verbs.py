"""The verbs sweep, ablate, score and retrieve, and those of the simulators' cache."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from seal.cli import options as shared
from seal.cli.failure import resumable, tell, telling
from seal.cli.groups import argument, flag, option, repeated, setting, settings_of, verb
from seal.cli.options import PLAYED, RunOutput, SeriesPlay
from seal.cli.output import Advance, Output, is_shown, output, progress
from seal.cli.words import retriever_specs, several_whole
from seal.core import UsageError
from seal.core.files import naming
from seal.core.store import Store, open_store
from seal.core.text import counted
from seal.evaluation.calls import VERDICT
from seal.evaluation.goals import no_missions, rules_named
from seal.experiments.settings import (
    DrawnGroup,
    KeptGroup,
    RetrieverGroup,
    SweepSettings,
    TaskGroup,
)
from seal.pools.lookup import open_pool
from seal.runs.play import new_folder, run_folder
from seal.runs.role_models import check_flags_used
from seal.runs.run import RunFolder, exit_code_of
from seal.runs.settings import JudgeGroup, RunSettings, ScoreGroup, ScoreSettings

if TYPE_CHECKING:
    from seal.experiments.series import ExperimentFile, SeriesResult

# -- Play a benchmark over pools of several sizes, and with several numbers of offered tools.


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
    into: RunOutput,
    pool: str = PLAYED,
) -> int:
    """Play a benchmark over pools of several sizes, and with several numbers of offered tools.

    There is a run for each drawn pool and each K. The folder gets sweep.json, sweep.csv, and a pool
    folder with its runs for each drawn pool. All other options are those of `seal run`.
    """
    _check_resumed(into, "sweep")

    ks = retriever.top_k
    settings = play.settings(context, pool, retriever=retriever.retriever, top_k=ks[0])
    check_flags_used(settings)
    varied = SweepSettings(top_k=ks, **settings_of(pools))
    from seal.experiments.sweep import SWEEP, sweep
    from seal.report.experiments import sweep_tables, write_sweep

    def playing(out: Path, advance: Advance) -> "SeriesResult":
        played = sweep(settings, varied, out, into.resume, advance)
        played.content["notes"] += write_sweep(played.content, out)
        return played

    return _played(into, settings, SWEEP, playing, sweep_tables)


def _check_resumed(into: RunOutput, what: str) -> None:
    """Refuse to go on in no folder; `what` is what it would hold."""
    if into.resume and into.out is None:
        raise UsageError(f"--resume needs the folder of the {what}: give --out DIR")


def _played(
    into: RunOutput,
    settings: RunSettings,
    file: "ExperimentFile",
    play: "Callable[[Path, Advance], SeriesResult]",
    tables: "Callable[[dict[str, Any]], Iterable[Any]]",
) -> int:
    """Play the runs of an experiment, print what came of it, and return the exit code.

    Args:
        into: Where it is written and what is printed.
        settings: Of the runs.
        file: By which its folder is known.
        play: Plays in a folder.
        tables: Of its content.
    """
    with output(into.json) as result, run_folder(into.out, settings) as out:
        if into.resume and not (out / file.name).is_file():
            tell(f"{out} holds no {file.what} to go on with: a new one begins there")
        with resumable(out):
            with progress(("runs",)) as advance:
                played = play(out, advance)
            result.result({file.what: str(out), **played.content})
            result.show(*tables(played.content), f"{file.what}: {out}")
            for note in played.content["notes"]:
                tell(note)
    return played.exit_code


# -- Play the same tasks under conditions that differ in one thing, and compare the runs.

_KNOWN = (
    *("feedback", "format", "irrelevance", "similarity", "retriever", "react", "injection"),
    "roles",
)
"""Ablations of any benchmark; a benchmark may offer further ones."""
_VARIED = {"feedback": "feedback", "format": "format"}
"""Ablation to the option that it sets itself."""
_GIVEN = ("COMMANDLINE", "ENVIRONMENT")


@dataclass(frozen=True, kw_only=True)
class AblatedRetrievers:
    """Retrieval: who offers the chat its tools, how many and when."""

    retriever: tuple[str, ...] = repeated(
        "Retriever of every run; the ablation `retriever` compares several: repeat it there, or "
        "put commas between.  [default there: hybrid, tfidf, bm25, oracle]",
        metavar="NAME[,KEY=VALUE...][,NAME...]",
        read=retriever_specs,
    )
    top_k: int = setting(RunSettings, "top_k")


@verb("ablate", ("model", "retriever", "top_k", "judge", "limit", "trials", "out", "json"))
def ablate_command(
    context: typer.Context,
    *,
    what: str = argument(
        f"Ablation: {', '.join(_KNOWN)}, or another that the benchmark offers.", metavar="WHAT"
    ),
    play: SeriesPlay,
    retrievers: AblatedRetrievers,
    into: RunOutput,
    pool: str = PLAYED,
) -> int:
    """Play the same tasks under conditions that differ in one thing, and compare the runs.

    WHAT is feedback (on, off), format (native, action, json), react (react, plain), retriever
    (those of --retriever), irrelevance (tasks that no tool serves, and the tasks that they were
    made from), similarity (errors of one run by the similarity of tool names), injection (gold
    instead of a stage) or roles (none, each alone, all). A benchmark may offer others: dialogtool
    has tools (created, recorded) and apps (hierarchical, flat). All other options are those of
    `seal run`. The folder gets a run for each condition, comparison.json and report.html.
    """
    _check_resumed(into, "ablation")
    _refuse_varied(context, what)
    several = retrievers.retriever
    if what != "retriever" and len(several) > 1:
        raise UsageError(
            f"--retriever names {len(several)} retrievers, and the ablation {what} plays one; "
            "compare several by: seal ablate retriever --retriever A,B"
        )
    one = several[0] if several and what != "retriever" else None
    settings = play.settings(context, pool, retriever=one, top_k=retrievers.top_k)
    compared = several if what == "retriever" else ()
    from seal.experiments.ablation import COMPARISON, ablate
    from seal.report.experiments import ablation_tables, write_ablation

    def playing(out: Path, advance: Advance) -> "SeriesResult":
        played = ablate(what, settings, compared, out, into.resume, advance)
        played.content["notes"] += write_ablation(played.content, out)
        return played

    return _played(into, settings, COMPARISON, playing, ablation_tables)


def _refuse_varied(context: typer.Context, what: str) -> None:
    """Raise UsageError where the command line sets what the ablation varies."""
    varied = _VARIED.get(what, "")
    source = context.get_parameter_source(varied) if varied else None
    if source is not None and source.name in _GIVEN:
        flag = next(one.opts[0] for one in context.command.params if one.name == varied)
        raise UsageError(
            f"{flag} is what the ablation {what} varies: leave it out; a single condition is "
            f"played by `seal run {flag} {context.params[varied]}`"
        )


# -- Score a run's trajectories again, without a chat.


@dataclass(frozen=True, kw_only=True)
class Judging(ScoreGroup):
    """Judging: who says what is solved, and by which rules and metrics."""

    audit: str | None = option(
        None,
        "Compare the judge with rules, and with people's labels: the CSV file of `seal "
        "annotate`, a CSV of task_id,trial,label (solved, unsolved or unsure), or what the "
        "benchmark's authors recorded.",
        metavar="rules|FILE",
    )


@dataclass(frozen=True, kw_only=True)
class Recordings:
    """Recordings of a pool: which become runs, and where."""

    recorded: tuple[str, ...] = repeated(
        "Make a run of this recording of the pool, and score it; all: of each. No chat is held.",
        metavar="NAME|all",
    )
    out: Path | None = option(
        None,
        "New folder for the runs of recordings.  [default: runs/POOL-recorded]",
        metavar="DIR",
    )


@verb("score")
def score_command(
    *,
    run: Path = argument("Run folder; with --recorded a pool.", metavar="RUN|POOL"),
    judging: Judging,
    recordings: Recordings,
    model: JudgeGroup,
    all_metrics: bool = shared.ALL_METRICS,
    json: bool = shared.JSON,
) -> int:
    """Score the trajectories of a run again; this replaces its scores and its summary.

    With --recorded, the chats that others recorded beside a pool become runs, which are scored.
    """
    if recordings.recorded:
        return _score_recordings(str(run), judging, recordings, model, json)
    if recordings.out is not None:
        raise UsageError("--out is for runs of recordings: add --recorded all, or leave it out")
    from seal.experiments.judging import audit_run
    from seal.report.run_results import result_tables
    from seal.runs.finished import rescore

    told = settings_of(judging, model)
    audit = told.pop("audit")
    if audit == "planted":
        raise UsageError("--audit planted is gone: the details of a role's score tell lost facts")
    with output(json) as result:
        with progress() as advance, telling(f"the scores of {run} are left as they were"):
            summary = rescore(
                run,
                ScoreSettings(**told),
                lambda done, total: advance("score", done, total, unit="chats"),
            )
        folder = RunFolder.open(run)
        if audit is not None:
            summary["audit"] = audit_run(folder, None if audit == "rules" else Path(audit))
        result.result({"run": str(run), **summary})
        tables = result_tables(folder, all_metrics)
        result.show(*tables, *_notes_on(judging.match, folder, summary))
    return exit_code_of(summary)


def _score_recordings(
    pool: str, judging: Judging, recordings: Recordings, model: JudgeGroup, json: bool
) -> int:
    """Make and score a run of each recording; return the worst exit code."""
    from seal.report.leaderboard import recordings_grid
    from seal.runs.finished import score_recordings

    told = settings_of(judging, model)
    if told.pop("audit") is not None:
        raise UsageError("--audit is of one run: score the recordings, then audit a run of them")
    name = f"{Path(pool).name}-recorded"
    with output(json) as result, new_folder(recordings.out, name) as out:
        left = f"the runs that are scored stay in {out}; to go on: the same command, --out {out}"
        with progress() as advance, telling(left):
            scored = score_recordings(
                open_pool(pool),
                recordings.recorded,
                out,
                ScoreSettings(**told),
                lambda done, total: advance("score", done, total, unit="chats"),
            )
            found = {folder.path.name: (folder, summary) for folder, summary in scored}
        result.result({"runs": {n: {"run": str(f.path), **s} for n, (f, s) in found.items()}})
        result.show(recordings_grid([folder for folder, _ in found.values()]))
        result.show(f"runs: {out}; rank them: seal leaderboard {out}")
    return max(exit_code_of(summary) for _, summary in found.values())


def _notes_on(match: str | None, run: "RunFolder", summary: dict[str, Any]) -> list[str]:
    """Return what is to be said of rules by which some goals or all are not scored."""
    bench = run.benchmark()
    if bench is not None and match in bench.matches:
        reasons = summary["metrics"][VERDICT].get("reasons", {})
        told = [(counted(goals, "goal"), why) for why, goals in reasons.items()]
        return [f"--match {match} does not decide {goals}: {why}" for goals, why in told]
    goals = (goal for task in run.tasks() for goal in task.goals)
    if rules_named(match).missions is None or not all(map(no_missions, goals)):
        return []
    return [f"--match {match} changes nothing: no plan of this run is a mission's"]


# -- Rank tools for every task, and compare retrievers, without a chat.


@dataclass(frozen=True, kw_only=True)
class Retrievers(RetrieverGroup):
    """Retrieval: which retrievers rank, and to which ranks they are measured."""

    retriever: tuple[str, ...] = repeated(
        "Retriever, as a name or module:attribute; repeatable, or several between commas.  "
        "[default: hybrid]",
        metavar="NAME[,KEY=VALUE...][,NAME...]",
        read=retriever_specs,
    )


@dataclass(frozen=True, kw_only=True)
class Results(KeptGroup):
    """Output: what is written and kept, and what is printed."""

    out: Path | None = option(None, "Folder for results, rankings, TREC files and figures.")
    resume: bool = flag("Continue the experiment in --out.")
    json: bool = shared.JSON


@verb("retrieve")
def retrieve_command(
    *,
    pools: list[str] = argument(
        "Names of shipped benchmarks, folders of imported ones, or your own as module:name.",
        metavar="NAME|DIR...",
    ),
    retrievers: Retrievers,
    tasks: TaskGroup,
    drawn: DrawnGroup,
    into: Results,
) -> int:
    """Rank tools for every task of one or several pools, and score the rankings.

    The exit code is 1 if a retriever could not be asked; the figures of the others stand.
    """
    from seal.api.runs import retrieve
    from seal.report.retrieval import line_of, lost_tables, retrieval_tables

    told = settings_of(retrievers, tasks, drawn, into)
    several, json = told.pop("retriever") or None, told.pop("json")
    place = naming(told["out"] or "standard output")
    with place, resumable(told["out"]), output(json) as shown, progress() as advance:
        on_result = None if is_shown() else lambda entry: tell(line_of(entry))
        found = retrieve(pools, several, progress=advance, on_result=on_result, **told).content
        shown.result(found)
    shown.show(*retrieval_tables(found), *lost_tables(found, told["out"]))
    for note in found["notes"]:
        tell(note)
    return int(any("unavailable" in entry for entry in found["results"]))


# -- Look at, fill, carry and check the store of simulated answers.


@dataclass(frozen=True, kw_only=True)
class Kept:
    """Options: where answers are kept, and what is printed."""

    cache_dir: Path | None = shared.CACHE_DIR
    json: bool = shared.JSON

    @contextmanager
    def opened(self) -> "Iterator[tuple[Output, Store]]":
        """Give the output of a verb, and the store while it is open."""
        with output(self.json) as result, open_store(self.cache_dir) as store:
            yield result, store


@verb("cache", name="stats")
def cache_stats(answers: Kept) -> int:
    """Print how many answers are stored, by kind, and their size."""
    with answers.opened() as (result, store):
        result.fields({"place": store.location, **asdict(store.stats())})
    return 0


@verb("cache", name="import")
def cache_import(
    *,
    source: Path = argument("Folder to read.", metavar="SOURCE"),
    format: str = option("stabletoolbench", "Upstream project that wrote it."),
    pool: str | None = option(None, "Pool whose tools it is about.", metavar="NAME|DIR"),
    answers: Kept,
) -> int:
    """Read an upstream project's answers into the store; stored answers stay as they are."""
    from seal.pools.imports import import_answers

    tools = None if pool is None else {tool.id: tool for tool in open_pool(pool).tools()}
    with answers.opened() as (result, store):
        report = import_answers(store, source, format, tools)
        report.require_some(source)
        result.fields(report.to_plain())
    return 0


@verb("cache", name="verify")
def cache_verify(
    *,
    pool: str = argument("Pool whose tools the answers must fit.", metavar="NAME|DIR"),
    repair: bool = flag("Remove damaged entries; of a file with a damaged page save all others."),
    answers: Kept,
) -> int:
    """Find damaged entries, and answers of a wrong shape.

    The exit code is 1 if there are any.
    """
    from seal.simulator_cache.exchange import verify as check

    tools = {tool.id: tool for tool in open_pool(pool).tools()}
    with answers.opened() as (result, store):
        report = check(store, tools, repair)
        result.fields(asdict(report), sound=report.sound)
    return 0 if report.sound else 1
