"""Rank tools for every task, and compare retrievers, without a chat."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seal.cli import options as shared
from seal.cli.groups import argument, flag, like, option, repeated, settings_of, verb
from seal.cli.output import output

app = shared.new_app()


@dataclass(frozen=True, kw_only=True)
class Retrievers:
    """Retrieval: which retrievers rank, and to which ranks they are measured."""

    retriever: tuple[str, ...] = repeated(
        "Retriever, as a name or module:attribute; repeatable.  [default: hybrid]",
        metavar="NAME[,KEY=VALUE...]",
    )
    retriever_option: dict[str, Any] = like(shared.RETRIEVER_OPTIONS, None, setting="options")
    cutoffs: tuple[int, ...] = shared.CUTOFFS


@dataclass(frozen=True, kw_only=True)
class Tasks:
    """Tasks: which are asked."""

    select: dict[str, str] = shared.SELECT
    limit: int | None = option(
        None, "Take N tasks of each pool whose tags represent all of its tasks."
    )
    first: int | None = option(None, "Take the first N tasks of each pool.")
    held_out: Path | None = option(
        None,
        "Folder of a trained model: of its training pool, ask only what was held out.",
        metavar="MODEL_DIR",
    )
    perturb: tuple[str, ...] = repeated(
        "Measure each pool with changed words too: typos, paraphrase, german, spanish, "
        "renamed, undescribed; repeatable.",
        metavar="RULE",
    )
    seed: int = shared.SEED


@dataclass(frozen=True, kw_only=True)
class Pools(shared.Drawing):
    """Pools: which are drawn of larger ones, and what they are asked."""

    pool_sizes: tuple[Any, ...] = option(
        "all",
        "Draw pools of these numbers of tools, and take the whole pool: 50,100,200,500,1000,all.",
        read=shared.sizes,
    )


@dataclass(frozen=True, kw_only=True)
class Results:
    """Output: what is written and kept, and what is printed."""

    out: Path | None = option(None, "Folder for results, rankings, TREC files and figures.")
    resume: bool = flag("Continue the experiment in --out.")
    cache: shared.CacheMode = option(
        "record",
        "Cached embeddings: keep and reuse them (record), only reuse them (replay), or "
        "neither (off).",
    )
    cache_dir: Path | None = option(None, "Folder for cached embeddings and indexes.")
    cache_url: str | None = shared.CACHE_URL
    prices: Path | None = option(
        None,
        "JSON file of prices for a million tokens; they come before those that ship.",
        metavar="FILE",
    )
    json: bool = shared.JSON


@verb(app)
def command(
    *,
    pools: list[str] = argument(
        "Names of shipped benchmarks, or folders of imported ones.", metavar="NAME|DIR..."
    ),
    retrievers: Retrievers,
    tasks: Tasks,
    drawn: Pools,
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
