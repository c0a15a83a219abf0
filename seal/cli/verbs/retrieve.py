"""Rank tools for every task, of whole or drawn pools, and compare retrievers, without a chat."""

from pathlib import Path
from typing import Annotated

import typer

from seal.cli.options import (
    CacheMode,
    Cutoffs,
    Distractors,
    Json,
    Nested,
    Queries,
    QueriesIn,
    RetrieverOptions,
    Samples,
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


@app.command()
def command(
    pools: Annotated[
        list[str], typer.Argument(metavar="NAME|DIR...", help="Shipped or imported benchmarks.")
    ],
    retriever: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME[,KEY=VALUE...]",
            help="Name or module:attribute; may be repeated.  [default: tfidf]",
        ),
    ] = None,
    retriever_option: RetrieverOptions = None,
    cutoffs: Cutoffs = "1,5,10",
    pool_sizes: Annotated[
        str, typer.Option(help="Tools of drawn pools, and all: 50,100,200,500,1000,all.")
    ] = "all",
    samples: Samples = 10,
    distractors: Distractors = "uniform",
    queries_in: QueriesIn = "closure",
    nested: Nested = True,
    queries: Queries = None,
    select: Select = None,
    limit: Annotated[int | None, typer.Option(help="The first N tasks of each pool.")] = None,
    held_out: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL_DIR",
            help="Of this model's training pool, ask only what was held out of its training.",
        ),
    ] = None,
    seed: Seed = 0,
    cache: Annotated[
        CacheMode, typer.Option(help="Embeddings: keep them, use kept ones only, or neither.")
    ] = "record",
    cache_dir: Annotated[
        Path | None, typer.Option(help="Folder of kept embeddings and indexes.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for results, rankings, TREC files and figures.")
    ] = None,
    json: Json = False,
) -> int:
    """Rank tools for every task of one or several pools and score the rankings.

    Exit code 1: a retriever could not be asked; the others' figures stand.
    """
    from seal.api.retrieval import retrieve
    from seal.cli.failure import tell
    from seal.cli.progress import is_shown, progress
    from seal.report.retrieval_tables import line_of, retrieval_tables

    with output(json) as shown, progress() as advance:
        found = retrieve(
            pools,
            retriever or ["tfidf"],
            numbers("--cutoffs", cutoffs),
            out=out,
            progress=advance,
            on_result=None if is_shown() else lambda entry: tell(line_of(entry)),
            pool_sizes=sizes("--pool-sizes", pool_sizes),
            samples=samples,
            distractors=distractors.replace("-", "_"),
            queries_in=queries_in,
            nested=nested,
            queries=queries,
            select=pairs("--select", select),
            limit=limit,
            held_out=held_out,
            seed=seed,
            cache=cache,
            cache_dir=cache_dir,
            options=typed_pairs("--retriever-option", retriever_option),
        ).content
        shown.result(found)
    shown.show(*retrieval_tables(found))
    for note in found["notes"]:
        tell(note)
    return int(any("unavailable" in entry for entry in found["results"]))
