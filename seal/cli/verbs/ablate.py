"""Play the same tasks under conditions that differ in one thing, and compare the runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from seal.cli.failure import tell
from seal.cli.groups import argument, repeated, setting, verb
from seal.cli.interruption import resumable
from seal.cli.output import Output, output, progress
from seal.cli.run_options import PLAYED, RunOutput, SeriesPlay
from seal.core import UsageError
from seal.runs.settings import RunSettings

_KNOWN = (
    *("feedback", "format", "irrelevance", "similarity", "retriever", "react", "injection"),
    "roles",
)
"""Ablations of any benchmark; a benchmark may offer further ones."""
_VARIED = {"feedback": "feedback", "format": "format"}
"""Ablation to the option that it sets itself."""
_GIVEN = ("COMMANDLINE", "ENVIRONMENT")


@dataclass(frozen=True, kw_only=True)
class Retrievers:
    """Retrieval: who offers the chat its tools, how many and when."""

    retriever: tuple[str, ...] = repeated(
        "Retriever of every run; the ablation `retriever` compares several, so repeat it "
        "there.  [default there: hybrid, tfidf, bm25, oracle]",
        metavar="NAME[,KEY=VALUE...]",
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
    retrievers: Retrievers,
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
    if into.resume and into.out is None:
        raise UsageError("--resume needs the folder of the ablation: give --out DIR")
    _refuse_varied(context, what)
    several = retrievers.retriever
    if what != "retriever" and len(several) > 1:
        raise UsageError(
            f"--retriever is given {len(several)} times, and the ablation {what} plays one; "
            "compare several by: seal ablate retriever --retriever A --retriever B"
        )
    one = several[0] if several and what != "retriever" else None
    settings = play.settings(context, pool, retriever=one, top_k=retrievers.top_k)
    with output(into.json) as result:
        from seal.runs.run import free_folder

        out = into.out or free_folder(settings)
        compared = several if what == "retriever" else ()
        with resumable(out):
            return _play(what, settings, compared, out, into.resume, result)


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


def _play(
    what: str,
    settings: RunSettings,
    retrievers: Sequence[str],
    out: Path,
    resume: bool,
    result: Output,
) -> int:
    from seal.experiments.ablation.ablate import COMPARISON, ablate
    from seal.report.ablation_results import ablation_tables
    from seal.report.experiment_files import write_ablation

    if resume and not (out / COMPARISON.name).is_file():
        tell(f"{out} holds no ablation to go on with: a new one begins there")
    with progress(("runs",)) as advance:
        played = ablate(what, settings, retrievers, out, resume, advance)
    notes = [*played.content["notes"], *write_ablation(played.content, out)]
    result.result({"ablation": str(out), **played.content, "notes": notes})
    result.show(*ablation_tables(played.content), f"ablation: {out}")
    for note in notes:
        tell(note)
    return played.exit_code
