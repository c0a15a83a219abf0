"""Rank tools for every task, of whole or drawn pools, and compare retrievers, without a chat."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from seal.cli.groups import grouped
from seal.cli.options import (
    CacheMode,
    Cutoffs,
    Drawing,
    Json,
    RetrieverOptions,
    Seed,
    Select,
    new_app,
    numbers,
    pairs,
    sizes,
    typed_pairs,
)
from seal.cli.output import output

app = new_app()


@dataclass(frozen=True, kw_only=True)
class Retrievers:
    """Retrieval: which retrievers rank, and to which ranks they are measured."""

    retriever: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,KEY=VALUE...]",
            help="Name or module:attribute; may be repeated.  [default: tfidf]",
        ),
    ] = None
    retriever_option: RetrieverOptions = None
    cutoffs: Cutoffs = "1,5,10"


@dataclass(frozen=True, kw_only=True)
class Tasks:
    """Tasks: which are asked."""

    select: Select = None
    limit: Annotated[int | None, typer.Option(help="The first N tasks of each pool.")] = None
    held_out: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL_DIR",
            help="Of this model's training pool, ask only what was held out of its training.",
        ),
    ] = None
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Pools(Drawing):
    """Pools: which are drawn of larger ones, and what they are asked."""

    pool_sizes: Annotated[
        str, typer.Option(help="Tools of drawn pools, and all: 50,100,200,500,1000,all.")
    ] = "all"


@dataclass(frozen=True, kw_only=True)
class Results:
    """Output: what is written and kept, and what is printed."""

    out: Annotated[
        Path | None, typer.Option(help="Folder for results, rankings, TREC files and figures.")
    ] = None
    cache: Annotated[
        CacheMode, typer.Option(help="Embeddings: keep them, use kept ones only, or neither.")
    ] = "record"
    cache_dir: Annotated[
        Path | None, typer.Option(help="Folder of kept embeddings and indexes.")
    ] = None
    json: Json = False


@grouped(app)
def command(
    pools: Annotated[
        list[str], typer.Argument(metavar="NAME|DIR...", help="Shipped or imported benchmarks.")
    ],
    retrievers: Retrievers,
    tasks: Tasks,
    drawn: Pools,
    into: Results,
) -> int:
    """Rank tools for every task of one or several pools and score the rankings.

    Exit code 1: a retriever could not be asked; the others' figures stand.
    """
    from seal.api.retrieval import retrieve
    from seal.cli.failure import tell
    from seal.cli.progress import is_shown, progress
    from seal.report.retrieval_tables import line_of, retrieval_tables

    with output(into.json) as shown, progress() as advance:
        found = retrieve(
            pools,
            retrievers.retriever or ["tfidf"],
            numbers("--cutoffs", retrievers.cutoffs),
            out=into.out,
            progress=advance,
            on_result=None if is_shown() else lambda entry: tell(line_of(entry)),
            pool_sizes=sizes("--pool-sizes", drawn.pool_sizes),
            select=pairs("--select", tasks.select),
            limit=tasks.limit,
            held_out=tasks.held_out,
            seed=tasks.seed,
            cache=into.cache,
            cache_dir=into.cache_dir,
            options=typed_pairs("--retriever-option", retrievers.retriever_option),
            **drawn.drawing(),
        ).content
        shown.result(found)
    shown.show(*retrieval_tables(found))
    for note in found["notes"]:
        tell(note)
    return int(any("unavailable" in entry for entry in found["results"]))
