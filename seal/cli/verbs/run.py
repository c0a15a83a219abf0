"""Play a benchmark's tasks: retrieve, chat, score, report."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer

from seal.cli.failure import INTERRUPTED, tell
from seal.cli.options import Json, Metrics, Simulator, new_app, numbers, pairs, typed_pairs
from seal.cli.output import Output, output
from seal.cli.progress import progress
from seal.core.errors import UsageError
from seal.pipeline.settings import RunSettings

app = new_app()
_DEFAULT = RunSettings()
_CUTOFFS = ",".join(map(str, _DEFAULT.cutoffs))


@app.command()
def command(
    pool: Annotated[
        str,
        typer.Argument(metavar="[NAME|DIR]", help="A shipped benchmark, or an imported folder."),
    ] = str(_DEFAULT.pool),
    model: Annotated[
        str, typer.Option(help="PROVIDER/MODEL, or an offline one; `seal models`.")
    ] = _DEFAULT.model,
    role_model: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE=MODEL", help="Own model of a role, simulator or judge."),
    ] = None,
    model_option: Annotated[
        list[str] | None,
        typer.Option("--model-option", "-M", metavar="KEY=VALUE", help="Of the model."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of an OpenAI-compatible server.")
    ] = None,
    planner: Annotated[str | None, typer.Option(help="Agent: name or module:attribute.")] = None,
    verifier: Annotated[str | None, typer.Option(help="Agent: name or module:attribute.")] = None,
    checker: Annotated[str | None, typer.Option(help="Agent: name or module:attribute.")] = None,
    user: Annotated[str | None, typer.Option(help="Agent: name or module:attribute.")] = None,
    team: Annotated[
        str, typer.Option(help="full, direct, single or module:attribute.")
    ] = _DEFAULT.team,
    history: Annotated[
        Literal["own", "gold"], typer.Option(help="What later goals follow on.")
    ] = _DEFAULT.history,
    retriever: Annotated[
        str | None,
        typer.Option(help="Name or module:attribute.  [default: given tools, else tfidf]"),
    ] = None,
    retriever_option: Annotated[
        list[str] | None,
        typer.Option("--retriever-option", "-R", metavar="KEY=VALUE", help="Of the retriever."),
    ] = None,
    top_k: Annotated[int, typer.Option(help="Tools that a chat is offered.")] = _DEFAULT.top_k,
    retrieve: Annotated[
        Literal["once", "per-step", "on-demand"], typer.Option(help="When to retrieve.")
    ] = _DEFAULT.retrieve,
    cutoffs: Annotated[str, typer.Option(help="K of recall@K and its like.")] = _CUTOFFS,
    metric: Metrics = None,
    simulator: Simulator = _DEFAULT.simulator,
    cache: Annotated[
        Literal["record", "replay", "off"],
        typer.Option(help="Answers of simulator and models: keep, only reuse, or neither."),
    ] = _DEFAULT.cache,
    cache_dir: Annotated[Path | None, typer.Option(help="Folder of the answer store.")] = None,
    judge: Annotated[
        str, typer.Option(help="rule, llm, or auto: llm where a judge's model is named.")
    ] = _DEFAULT.judge,
    limit: Annotated[int | None, typer.Option(help="Play the first N tasks.")] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG=VALUE", help="Only tasks with this tag; may be repeated."),
    ] = None,
    trials: Annotated[int, typer.Option(help="Times to play each task.")] = _DEFAULT.trials,
    workers: Annotated[int, typer.Option(help="Chats at once.")] = _DEFAULT.workers,
    processes: Annotated[
        int, typer.Option(help="Processes, each with its workers.")
    ] = _DEFAULT.processes,
    max_turns: Annotated[int, typer.Option(help="Model turns for each goal.")] = _DEFAULT.max_turns,
    max_calls: Annotated[int, typer.Option(help="Calls for each goal.")] = _DEFAULT.max_calls,
    max_tokens: Annotated[int | None, typer.Option(help="Tokens of a chat.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="Seconds of a chat.")] = None,
    max_total_tokens: Annotated[
        int | None, typer.Option(help="Tokens of the run: stops with exit code 3, resumable.")
    ] = None,
    temperature: Annotated[float, typer.Option(help="Of every model.")] = _DEFAULT.temperature,
    seed: Annotated[int, typer.Option(help="Of everything drawn.")] = _DEFAULT.seed,
    baselines: Annotated[
        bool, typer.Option(help="Play the floor and the ceiling beside the model.")
    ] = _DEFAULT.baselines,
    out: Annotated[
        Path | None, typer.Option(help="Run folder.  [default: a new one under runs/]")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    json: Json = False,
) -> int:
    """Play a benchmark's tasks and score them; without arguments the shipped sample, offline."""
    if resume and out is None:
        raise UsageError("--resume needs the folder of the run to go on with: give --out RUN")
    roles = {"planner": planner, "verifier": verifier, "checker": checker, "user_simulator": user}
    settings = RunSettings(
        pool=pool,
        model=model,
        role_models=pairs("--role-model", role_model),
        model_options=typed_pairs("--model-option", model_option),
        base_url=base_url,
        roles={role: agent for role, agent in roles.items() if agent},
        team=team,
        history=history,
        retriever=retriever,
        retriever_options=typed_pairs("--retriever-option", retriever_option),
        top_k=top_k,
        retrieve=retrieve,
        simulator=simulator,
        cache=cache,
        cache_dir=cache_dir,
        judge=judge,
        limit=limit,
        select=pairs("--select", select),
        trials=trials,
        workers=workers,
        processes=processes,
        max_turns=max_turns,
        max_calls=max_calls,
        max_tokens=max_tokens,
        max_seconds=max_seconds,
        max_total_tokens=max_total_tokens,
        temperature=temperature,
        seed=seed,
        cutoffs=numbers("--cutoffs", cutoffs),
        metrics=tuple(metric or ()),
        baselines=baselines,
    )
    with output(json) as result:
        return _play(settings, out, resume, result)


def _play(settings: RunSettings, out: Path | None, resume: bool, result: Output) -> int:
    from seal.pipeline.run import free_folder, run
    from seal.report.html import write_report
    from seal.report.notes import summary_notes
    from seal.report.tables import summary_table

    out = out or free_folder(settings)
    if resume and not (out / "run.json").is_file():
        tell(f"{out} holds no run to go on with: a new one begins there")
    try:
        with progress() as advance:
            played = run(settings, out, resume, lambda p: advance(p.stage, p.done, p.total))
    except KeyboardInterrupt:
        words = resume_words(sys.argv[1:], out)
        tell(f"interrupted; what is finished is kept. Go on with: seal {shlex.join(words)}")
        return INTERRUPTED
    folder = played.folder
    report = write_report([folder], folder.report_path)
    result.result({"run": str(folder.path), **played.summary})
    result.show(summary_table(folder), *summary_notes(folder))
    result.show(f"run: {folder.path}", f"report: {report}")
    return played.exit_code


def resume_words(words: Sequence[str], out: Path) -> list[str]:
    """Return the words of a command that goes on with the run that these words began."""
    named = any(word == "--out" or word.startswith("--out=") for word in words)
    resumed = "--resume" in words
    return [*words, *([] if named else ["--out", str(out)]), *([] if resumed else ["--resume"])]
