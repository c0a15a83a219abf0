"""Rank tools for every task, and compare retrievers, without a chat."""

from dataclasses import dataclass
from pathlib import Path

from seal.cli import options as shared
from seal.cli.groups import argument, flag, like, option, repeated, setting, settings_of, verb
from seal.cli.output import output
from seal.experiments.pool_draws import DrawnGroup
from seal.experiments.retrieval.retrieval_settings import (
    KeptGroup,
    RetrievalSettings,
    RetrieverGroup,
    TaskGroup,
)


@dataclass(frozen=True, kw_only=True)
class Retrievers(RetrieverGroup):
    """Retrieval: which retrievers rank, and to which ranks they are measured."""

    retriever: tuple[str, ...] = repeated(
        "Retriever, as a name or module:attribute; repeatable.  [default: hybrid]",
        metavar="NAME[,KEY=VALUE...]",
    )


@dataclass(frozen=True, kw_only=True)
class Tasks(TaskGroup):
    """Tasks: which are asked."""

    held_out: Path | None = like(setting(RetrievalSettings, "held_out"), None, metavar="DIR")


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
    tasks: Tasks,
    drawn: DrawnGroup,
    into: Results,
) -> int:
    """Rank tools for every task of one or several pools, and score the rankings.

    The exit code is 1 if a retriever could not be asked; the figures of the others stand.
    """
    from seal.api.retrieval import retrieve
    from seal.cli.failure import tell
    from seal.cli.interruption import resumable
    from seal.cli.output import is_shown, progress
    from seal.report.retrieval_results import line_of, retrieval_tables

    told = settings_of(retrievers, tasks, drawn, into)
    several, json = told.pop("retriever") or None, told.pop("json")
    with resumable(told["out"]), output(json) as shown, progress() as advance:
        on_result = None if is_shown() else lambda entry: tell(line_of(entry))
        found = retrieve(pools, several, progress=advance, on_result=on_result, **told).content
        shown.result(found)
    shown.show(*retrieval_tables(found))
    for note in found["notes"]:
        tell(note)
    return int(any("unavailable" in entry for entry in found["results"]))
