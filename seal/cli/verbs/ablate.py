"""Play the same tasks under conditions that differ in one thing, and compare the runs."""

import inspect
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import typer

from seal.cli.failure import INTERRUPTED, tell
from seal.cli.options import new_app
from seal.cli.output import Output, output
from seal.cli.progress import progress
from seal.cli.verbs import run
from seal.core.errors import UsageError
from seal.pipeline.settings import RunSettings

app = new_app()

What = Literal[
    "feedback",
    "format",
    "irrelevance",
    "similarity",
    "retriever",
    "react",
    "injection",
    "roles",
    "tools",
    "apps",
]

_OF_SWEEPS = ("pool_sizes", "samples", "distractors", "queries_in", "nested", "queries")
"""Options of `seal run` that make several runs of their own."""
_VARIED = {"feedback": "feedback", "format": "format", "react": "style", "tools": "mobile_tools"}
"""Ablation to the option that it sets itself."""
_GIVEN = ("COMMANDLINE", "ENVIRONMENT")
_POOL = "toolscan-sample"
_OWN: dict[str, Any] = {
    "what": Annotated[What, typer.Argument(metavar="WHAT", help=f"{', '.join(get_args(What))}.")],
    "retriever": Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,KEY=VALUE...]",
            help="Of retriever: one of those to compare; repeat it.  [default: tfidf, bm25, "
            "oracle] Of any other: the one retriever.",
        ),
    ],
    "roles": Annotated[
        str | None,
        typer.Option(
            metavar="ROLE[,ROLE...]",
            help="Of roles: those to seat and to take away.  [default: planner,verifier,checker]",
        ),
    ],
    "top_k": Annotated[int, typer.Option(help="Tools that a chat is offered.")],
    "baselines": Annotated[
        bool, typer.Option(help="Play the floor and the ceiling beside each run.")
    ],
    "out": Annotated[
        Path | None, typer.Option(help="Folder of the runs.  [default: a new one under runs/]")
    ],
    "resume": Annotated[bool, typer.Option("--resume", help="Go on with what is in --out.")],
}
"""Parameters that are not those of `seal run`, or are others here."""
_DEFAULTS = {"pool": _POOL, "baselines": False, "top_k": RunSettings().top_k}


def _with_options_of_run(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the parameters of `seal run`, but for those that vary pools."""
    theirs = inspect.signature(run.command).parameters
    own = inspect.signature(command).parameters["context"]
    what = inspect.Parameter(
        "what", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=_OWN["what"]
    )
    taken = [
        parameter.replace(
            annotation=_OWN.get(name, parameter.annotation),
            default=_DEFAULTS.get(name, parameter.default),
        )
        for name, parameter in theirs.items()
        if name not in (*_OF_SWEEPS, "dry_run", "context")
    ]
    roles = inspect.Parameter(
        "roles", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=_OWN["roles"]
    )
    parameters = [own, what, *taken, roles]
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


@app.command()
@_with_options_of_run
def command(context: typer.Context, **options: Any) -> int:
    """Play the same tasks under conditions that differ in one thing, and compare the runs.

    WHAT is feedback (on, off), format (native, action, json), react (react, plain), retriever
    (those of --retriever), irrelevance (tasks that no tool serves, and those they were made of),
    similarity (errors of one run by the likeness of tool names), injection (gold in the place of a
    stage), roles (none, each alone, all), tools (created, recorded) or apps (hierarchical, flat).
    All other options are those of `seal run`. DIR gets a run for each condition,
    comparison.json and comparison.md.
    """
    what, out = str(options["what"]), options["out"]
    if options["resume"] and out is None:
        raise UsageError("--resume needs the folder of the ablation: give --out DIR")
    _refuse_varied(context, what)
    several = options["retriever"] or ()
    if what != "retriever" and len(several) > 1:
        raise UsageError(
            f"--retriever stands {len(several)} times: the ablation {what} plays one; to compare "
            "several: seal ablate retriever --retriever A --retriever B"
        )
    one = several[0] if several and what != "retriever" else None
    chosen = {**options, "retriever": one, "top_k": str(options["top_k"])}
    roles = tuple(word.strip() for word in (options["roles"] or "").split(",") if word.strip())
    if options["roles"] is not None and not roles:
        raise UsageError("--roles: expected roles by commas, such as planner,checker")
    chosen.pop("roles")
    settings = run.settings_of(chosen, options["baselines"])
    with output(options["json"]) as result:
        from seal.pipeline.run import free_folder

        out = out or free_folder(settings)
        try:
            retrievers = several if what == "retriever" else ()
            return _play(what, settings, retrievers, roles, out, options["resume"], result)
        except KeyboardInterrupt:
            words = run.resume_words(sys.argv[1:], out)
            tell(f"interrupted; what is finished is kept. Go on with: seal {shlex.join(words)}")
            return INTERRUPTED


def _refuse_varied(context: typer.Context, what: str) -> None:
    """Raise UsageError where the command line sets what the ablation varies."""
    varied = _VARIED.get(what, "")
    source = context.get_parameter_source(varied) if varied else None
    if source is not None and source.name in _GIVEN:
        raise UsageError(
            f"--{varied} is what the ablation {what} varies: leave it out; a single condition is "
            f"played by `seal run --{varied} {context.params[varied]}`"
        )


def _play(
    what: str,
    settings: RunSettings,
    retrievers: Sequence[str],
    roles: Sequence[str],
    out: Path,
    resume: bool,
    result: Output,
) -> int:
    from seal.pipeline.ablation.ablate import ablate
    from seal.pipeline.ablation.files import COMPARISON
    from seal.report.ablation_table import ablation_tables
    from seal.report.experiment import write_ablation

    if resume and not (out / COMPARISON).is_file():
        tell(f"{out} holds no ablation to go on with: a new one begins there")
    with progress(("runs",)) as advance:
        played = ablate(what, settings, retrievers, out, resume, advance, roles)
    notes = [*played.content["notes"], *write_ablation(played.content, out)]
    result.result({"ablation": str(out), **played.content, "notes": notes})
    result.show(*ablation_tables(played.content), f"ablation: {out}")
    for note in notes:
        tell(note)
    return played.exit_code
