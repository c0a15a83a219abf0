"""Play a benchmark's tasks: retrieve, chat, score, report."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from seal.cli import run_options as of_run
from seal.cli.failure import INTERRUPTED, tell
from seal.cli.options import (
    Agent,
    BaseUrl,
    CacheDir,
    Distractors,
    Json,
    Judge,
    Metrics,
    ModelOptions,
    Nested,
    Queries,
    QueriesIn,
    RetrieverOptions,
    Samples,
    Seed,
    Select,
    Simulator,
    Votes,
    new_app,
    numbers,
    pairs,
    role_models,
    sizes,
    typed_pairs,
)
from seal.cli.output import Output, output
from seal.cli.progress import progress
from seal.core.errors import UsageError
from seal.pipeline.settings import RunSettings

if TYPE_CHECKING:
    from seal.pipeline.sweep.settings import SweepSettings

app = new_app()
_DEFAULT = RunSettings()
_CUTOFFS = ",".join(map(str, _DEFAULT.cutoffs))
_OF_SWEEPS = ("samples", "distractors", "queries_in", "nested", "queries")
"""Parameters that mean nothing without several pools or K."""


_ROLES = {
    "planner": "planner",
    "verifier": "verifier",
    "checker": "checker",
    "user": "user_simulator",
}
"""Option to the role that it seats."""


@app.command()
def command(
    context: typer.Context,
    pool: of_run.Pool = str(_DEFAULT.pool),
    model: of_run.Model = _DEFAULT.model,
    role_model: of_run.RoleModels = None,
    model_option: ModelOptions = None,
    base_url: BaseUrl = None,
    planner: Agent = None,
    verifier: Agent = None,
    checker: Agent = None,
    user: of_run.User = None,
    user_brief: of_run.UserBrief = _DEFAULT.user_brief,
    team: of_run.Team = None,
    history: of_run.History = None,
    retriever: of_run.Retriever = None,
    retriever_option: RetrieverOptions = None,
    top_k: of_run.TopK = str(_DEFAULT.top_k),
    pool_sizes: of_run.PoolSizes = None,
    samples: Samples = 3,
    distractors: Distractors = "uniform",
    queries_in: QueriesIn = "closure",
    nested: Nested = True,
    queries: Queries = None,
    retrieve: of_run.Retrieve = _DEFAULT.retrieve,
    cutoffs: of_run.Cutoffs = _CUTOFFS,
    metric: Metrics = None,
    simulator: Simulator = _DEFAULT.simulator,
    world_option: of_run.WorldOptions = None,
    tools: of_run.Tools = _DEFAULT.tools,
    sandbox: of_run.Sandbox = _DEFAULT.sandbox,
    on_policy: of_run.OnPolicy = _DEFAULT.on_policy,
    gold_results: of_run.GoldResults = _DEFAULT.gold_results,
    feedback: of_run.Feedback = _DEFAULT.feedback,
    format: of_run.CallFormat = None,
    tool_messages: of_run.ToolMessages = _DEFAULT.tool_messages,
    style: of_run.Style = _DEFAULT.style,
    one_shot: of_run.OneShot = _DEFAULT.one_shot,
    cache: of_run.Cache = _DEFAULT.cache,
    cache_dir: CacheDir = None,
    judge: Judge = _DEFAULT.judge,
    votes: Votes = _DEFAULT.votes,
    limit: of_run.Limit = None,
    select: Select = None,
    trials: of_run.Trials = _DEFAULT.trials,
    workers: of_run.Workers = _DEFAULT.workers,
    processes: of_run.Processes = _DEFAULT.processes,
    max_turns: of_run.MaxTurns = _DEFAULT.max_turns,
    max_calls: of_run.MaxCalls = _DEFAULT.max_calls,
    max_messages: of_run.MaxMessages = None,
    max_tokens: of_run.MaxTokens = None,
    max_seconds: of_run.MaxSeconds = None,
    max_total_tokens: of_run.MaxTotalTokens = None,
    max_dollars: of_run.MaxDollars = None,
    prices: of_run.Prices = None,
    dry_run: of_run.DryRun = False,
    temperature: of_run.Temperature = _DEFAULT.temperature,
    seed: Seed = _DEFAULT.seed,
    baselines: of_run.Baselines = _DEFAULT.baselines,
    out: of_run.Out = None,
    resume: of_run.Resume = False,
    json: Json = False,
) -> int:
    """Play a benchmark's tasks and score them; without arguments the shipped sample, offline.

    With --pool-sizes or several --top-k, pools are drawn and each is a run of its own.
    """
    if resume and out is None:
        raise UsageError("--resume needs the folder of the run to go on with: give --out RUN")
    from seal.pipeline.cast import check_address_used

    swept = pool_sizes is not None or len(of_run.whole(top_k)) > 1
    if not swept:
        _refuse_alone(context)
    baselines = baselines and not (swept and _source(context, "baselines") == "DEFAULT")
    settings = settings_of(context.params, baselines)
    check_address_used(settings)
    if dry_run:
        if swept:
            raise UsageError("--dry-run plans one run: leave --pool-sizes and further K out")
        return _plan(settings, json)
    varied = _varied(context.params) if swept else None
    with output(json) as result:
        from seal.pipeline.run import free_folder

        out = out or free_folder(settings)
        try:
            if varied is not None:
                return _sweep(settings, varied, out, resume, result)
            return _play(settings, out, resume, result)
        except KeyboardInterrupt:
            words = resume_words(sys.argv[1:], out)
            tell(f"interrupted; what is finished is kept. Go on with: seal {shlex.join(words)}")
            return INTERRUPTED


def settings_of(options: Mapping[str, Any], baselines: bool) -> RunSettings:
    """Return the settings of every run; an option has the name of its field where it can.

    Args:
        options: Of the command, as they were parsed; of several K the first counts.
        baselines: Whether floor and ceiling are played.
    """
    names = {field.name for field in fields(RunSettings)}
    alike = {name: value for name, value in options.items() if name in names}
    return RunSettings(
        **alike
        | {
            "role_models": role_models(options["role_model"]),
            "model_options": typed_pairs("--model-option", options["model_option"]),
            "roles": {role: options[name] for name, role in _ROLES.items() if options[name]},
            "retriever_options": typed_pairs("--retriever-option", options["retriever_option"]),
            "world_options": typed_pairs("--world-option", options["world_option"]),
            "top_k": of_run.whole(options["top_k"])[0],
            "select": pairs("--select", options["select"]),
            "cutoffs": numbers("--cutoffs", options["cutoffs"]),
            "metrics": tuple(options["metric"] or ()),
            "baselines": baselines,
        }
    )


def _varied(options: Mapping[str, Any]) -> "SweepSettings":
    from seal.pipeline.sweep.settings import SweepSettings

    return SweepSettings(
        pool_sizes=sizes("--pool-sizes", options["pool_sizes"] or "all"),
        samples=options["samples"],
        distractors=options["distractors"].replace("-", "_"),
        queries_in=options["queries_in"],
        nested=options["nested"],
        queries=options["queries"],
        top_k=of_run.whole(options["top_k"]),
    )


def _refuse_alone(context: typer.Context) -> None:
    """Raise UsageError where the command line says how to draw pools, but not which."""
    for name in _OF_SWEEPS:
        if _source(context, name) == "COMMANDLINE":
            flag = name.replace("_", "-")
            raise UsageError(f"--{flag} needs pools to draw: give --pool-sizes, such as 10,50,all")


def _source(context: typer.Context, name: str) -> str:
    """Return where a parameter's value is from: COMMANDLINE, DEFAULT_MAP, DEFAULT..."""
    source = context.get_parameter_source(name)
    return "" if source is None else source.name


def _plan(settings: RunSettings, json: bool) -> int:
    from seal.pipeline.spending.plan import plan
    from seal.report.spending import plan_tables

    with output(json) as result:
        found = plan(settings)
        result.result({"plan": found})
        result.show(*plan_tables(found))
    return 0


def _play(settings: RunSettings, out: Path, resume: bool, result: Output) -> int:
    from seal.pipeline.run import budget_of, run
    from seal.report.html import write_report
    from seal.report.result_tables import result_tables
    from seal.report.spending import spent_lines

    if resume and not (out / "run.json").is_file():
        tell(f"{out} holds no run to go on with: a new one begins there")
    with progress() as advance:
        played = run(settings, out, resume, lambda p: advance(p.stage, p.done, p.total), tell=tell)
    folder = played.folder
    report = write_report([folder], folder.report_path)
    result.result({"run": str(folder.path), **played.summary})
    result.show(*result_tables(folder), *spent_lines(folder, budget_of(settings).prices))
    result.show(f"run: {folder.path}", f"report: {report}")
    return played.exit_code


def _sweep(
    settings: RunSettings, varied: "SweepSettings", out: Path, resume: bool, result: Output
) -> int:
    from seal.pipeline.sweep.files import SWEEP
    from seal.pipeline.sweep.sweep import sweep
    from seal.report.experiment import write_sweep
    from seal.report.sweep_table import sweep_tables

    if resume and not (out / SWEEP).is_file():
        tell(f"{out} holds no sweep to go on with: a new one begins there")
    with progress(("runs",)) as advance:
        played = sweep(settings, varied, out, resume, advance)
    notes = [*played.content["notes"], *write_sweep(played.content, out)]
    result.result({"sweep": str(out), **played.content, "notes": notes})
    result.show(*sweep_tables(played.content), f"sweep: {out}")
    for note in notes:
        tell(note)
    return played.exit_code


def resume_words(words: Sequence[str], out: Path) -> list[str]:
    """Return the words of a command that goes on with the run that these words began."""
    named = any(word == "--out" or word.startswith("--out=") for word in words)
    resumed = "--resume" in words
    return [*words, *([] if named else ["--out", str(out)]), *([] if resumed else ["--resume"])]
