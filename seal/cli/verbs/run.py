"""Play a benchmark's tasks: retrieve, chat, score, report."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from seal.cli.failure import INTERRUPTED, tell
from seal.cli.options import (
    Agent,
    BaseUrl,
    CacheDir,
    CacheMode,
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
from seal.sandbox import NAMES as SANDBOXES

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


def _several(text: str) -> str:
    """Return a comma-separated list of whole numbers as it stands.

    Raises:
        BadParameter: It is none.
    """
    try:
        _whole(text)
    except ValueError as error:
        raise typer.BadParameter(
            f"{text!r}: expected a whole number, or several such as 1,5,10"
        ) from error
    return text


def _whole(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


@app.command()
def command(
    context: typer.Context,
    pool: Annotated[
        str,
        typer.Argument(metavar="[NAME|DIR]", help="A shipped benchmark, or an imported folder."),
    ] = str(_DEFAULT.pool),
    model: Annotated[
        str, typer.Option(help="PROVIDER/MODEL, or an offline one; `seal models`.")
    ] = _DEFAULT.model,
    role_model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=MODEL",
            help="Own model of a role, simulator or judge; several judges vote together.",
        ),
    ] = None,
    model_option: ModelOptions = None,
    base_url: BaseUrl = None,
    planner: Agent = None,
    verifier: Agent = None,
    checker: Agent = None,
    user: Annotated[
        str | None,
        typer.Option(
            help="Agent: scripted, user_simulator or module:attribute.  [default: scripted where "
            "the model is offline, else user_simulator]"
        ),
    ] = None,
    user_brief: Annotated[
        Literal["goal", "goal+boundary", "goal+boundary+demonstration"],
        typer.Option(help="What the user is told of a task's persona."),
    ] = _DEFAULT.user_brief,
    team: Annotated[
        str | None,
        typer.Option(
            help="full, direct, single, tool_life or module:attribute.  [default: the pool's, "
            "else full]"
        ),
    ] = None,
    history: Annotated[
        Literal["own", "gold"] | None,
        typer.Option(help="What later goals follow on.  [default: the pool's, else own]"),
    ] = None,
    retriever: Annotated[
        str | None,
        typer.Option(help="Name or module:attribute.  [default: given tools, else tfidf]"),
    ] = None,
    retriever_option: RetrieverOptions = None,
    top_k: Annotated[
        str,
        typer.Option(
            metavar="K[,K...]",
            help="Tools that a chat is offered; several are played one by one: 1,5,10.",
            callback=_several,
        ),
    ] = str(_DEFAULT.top_k),
    pool_sizes: Annotated[
        str | None,
        typer.Option(help="Play drawn pools of so many tools, and all: 10,50,100,200,500,all."),
    ] = None,
    samples: Samples = 3,
    distractors: Distractors = "uniform",
    queries_in: QueriesIn = "closure",
    nested: Nested = True,
    queries: Queries = None,
    retrieve: Annotated[
        Literal["once", "per-step", "on-demand"], typer.Option(help="When to retrieve.")
    ] = _DEFAULT.retrieve,
    cutoffs: Annotated[str, typer.Option(help="K of recall@K and its like.")] = _CUTOFFS,
    metric: Metrics = None,
    simulator: Simulator = _DEFAULT.simulator,
    world_option: Annotated[
        list[str] | None,
        typer.Option(
            "--world-option",
            "-T",
            metavar="KEY=VALUE",
            help="Of the world that tasks name, or of the team (tool_life: tasks, decisions, apps, "
            "roles).",
        ),
    ] = None,
    tools: Annotated[
        Literal["recorded", "created"],
        typer.Option(help="What answers in a virtual mobile: the corpus, or created functions."),
    ] = _DEFAULT.tools,
    sandbox: Annotated[
        str,
        typer.Option(help=f"Where functions that a model wrote run: {', '.join(SANDBOXES)}."),
    ] = _DEFAULT.sandbox,
    on_policy: Annotated[
        bool,
        typer.Option("--on-policy", help="Play recorded dialogues with a user who has a brief."),
    ] = _DEFAULT.on_policy,
    gold_results: Annotated[
        bool,
        typer.Option(
            "--gold-results", help="Let calls of gold tools bring what the gold calls bring."
        ),
    ] = _DEFAULT.gold_results,
    feedback: Annotated[
        Literal["auto", "on", "off"],
        typer.Option(
            help="What an invalid call brings: on, an explanation; off, it is run as it is; auto, "
            "a sentence of simulated APIs, of a world what it says."
        ),
    ] = _DEFAULT.feedback,
    format: Annotated[
        Literal["native", "action", "json", "bracket"] | None,
        typer.Option(
            help="How models call tools: by their server, or in their text.  [default: the "
            "pool's, else native]"
        ),
    ] = None,
    tool_messages: Annotated[
        Literal["auto", "native", "text"],
        typer.Option(help="How results reach models: as the server's tool messages, or as text."),
    ] = _DEFAULT.tool_messages,
    style: Annotated[
        Literal["plain", "react"],
        typer.Option(help="react: up to three thoughts before each act."),
    ] = _DEFAULT.style,
    one_shot: Annotated[
        bool,
        typer.Option(
            "--one-shot/--zero-shot", help="Show how another task of the environment was done."
        ),
    ] = _DEFAULT.one_shot,
    cache: Annotated[
        CacheMode,
        typer.Option(help="Answers of simulator and models: keep, only reuse, or neither."),
    ] = _DEFAULT.cache,
    cache_dir: CacheDir = None,
    judge: Judge = _DEFAULT.judge,
    votes: Votes = _DEFAULT.votes,
    limit: Annotated[int | None, typer.Option(help="Play the first N tasks.")] = None,
    select: Select = None,
    trials: Annotated[int, typer.Option(help="Times to play each task.")] = _DEFAULT.trials,
    workers: Annotated[int, typer.Option(help="Chats at once.")] = _DEFAULT.workers,
    processes: Annotated[
        int, typer.Option(help="Processes, each with its workers.")
    ] = _DEFAULT.processes,
    max_turns: Annotated[int, typer.Option(help="Model turns for each goal.")] = _DEFAULT.max_turns,
    max_calls: Annotated[int, typer.Option(help="Calls for each goal.")] = _DEFAULT.max_calls,
    max_messages: Annotated[
        int | None, typer.Option(help="Messages to or from user or executor, for each goal.")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option(help="Tokens of a chat.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Seconds of a chat.")] = None,
    max_total_tokens: Annotated[
        int | None,
        typer.Option(
            help="Tokens that models are asked in the run, judges and simulators too: stops with "
            "exit code 3, resumable."
        ),
    ] = None,
    max_dollars: Annotated[
        float | None,
        typer.Option(help="Likewise in US dollars; every model needs a price."),
    ] = None,
    prices: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="JSON of prices a million tokens, before those that ship."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print chats, model calls, tokens and dollars; ask and write nothing."
        ),
    ] = False,
    temperature: Annotated[float, typer.Option(help="Of every model.")] = _DEFAULT.temperature,
    seed: Annotated[int, typer.Option(help="Of everything drawn.")] = _DEFAULT.seed,
    baselines: Annotated[
        bool,
        typer.Option(
            help="Play the floor and the ceiling beside the model; of several pools or K only "
            "where asked for."
        ),
    ] = _DEFAULT.baselines,
    out: Annotated[
        Path | None, typer.Option(help="Run folder.  [default: a new one under runs/]")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    json: Json = False,
) -> int:
    """Play a benchmark's tasks and score them; without arguments the shipped sample, offline.

    With --pool-sizes or several --top-k, pools are drawn and each is a run of its own.
    """
    if resume and out is None:
        raise UsageError("--resume needs the folder of the run to go on with: give --out RUN")
    swept = pool_sizes is not None or len(_whole(top_k)) > 1
    if not swept:
        _refuse_alone(context)
    baselines = baselines and not (swept and _source(context, "baselines") == "DEFAULT")
    settings = settings_of(context.params, baselines)
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
            "top_k": _whole(options["top_k"])[0],
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
        top_k=_whole(options["top_k"]),
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
    from seal.report.breakdown import breakdown_tables
    from seal.report.dialogue_section import dialogue_breakdown
    from seal.report.error_patterns import environment_patterns
    from seal.report.html import write_report
    from seal.report.missions import mission_breakdown
    from seal.report.notes import summary_notes
    from seal.report.spending import spent_lines
    from seal.report.tables import summary_table

    if resume and not (out / "run.json").is_file():
        tell(f"{out} holds no run to go on with: a new one begins there")
    with progress() as advance:
        played = run(settings, out, resume, lambda p: advance(p.stage, p.done, p.total))
    folder = played.folder
    report = write_report([folder], folder.report_path)
    result.result({"run": str(folder.path), **played.summary})
    tables = (
        *breakdown_tables(folder),
        *mission_breakdown(folder),
        *dialogue_breakdown(folder),
        *environment_patterns(folder),
    )
    result.show(summary_table(folder), *tables, *summary_notes(folder))
    result.show(*spent_lines(folder, budget_of(settings).prices))
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
