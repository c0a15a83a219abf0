"""Rank tools for every task, of whole or drawn pools, and compare retrievers, without a chat."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from seal.cli.options import Json, new_app, numbers, pairs, typed_pairs
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
    retriever_option: Annotated[
        list[str] | None,
        typer.Option(
            "--retriever-option",
            "-R",
            metavar="KEY=VALUE",
            help="Of each retriever that knows it; may be repeated.",
        ),
    ] = None,
    cutoffs: Annotated[
        str, typer.Option("--cutoffs", "-k", help="K of recall@K and its like.")
    ] = "1,5,10",
    pool_sizes: Annotated[
        str, typer.Option(help="Tools of drawn pools, and all: 50,100,200,500,1000,all.")
    ] = "all",
    samples: Annotated[int, typer.Option(help="Pools drawn of each size.")] = 10,
    distractors: Annotated[
        Literal["uniform", "same-tool", "nearest"],
        typer.Option(help="What fills a drawn pool up."),
    ] = "uniform",
    queries_in: Annotated[
        Literal["closure", "seeds", "fixed"],
        typer.Option(
            help="Asked of a drawn pool: all it can answer, what it was drawn for, or the same at "
            "every size."
        ),
    ] = "closure",
    nested: Annotated[
        bool, typer.Option(help="Of one sample, smaller pools lie inside larger ones.")
    ] = True,
    queries: Annotated[
        int | None,
        typer.Option(help="Draw so many queries of each pool, so that pools count alike."),
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG=VALUE", help="Only tasks with this tag; may be repeated."),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="The first N tasks of each pool.")] = None,
    seed: Annotated[int, typer.Option(help="Of everything drawn.")] = 0,
    cache: Annotated[
        Literal["record", "replay", "off"],
        typer.Option(help="Embeddings: keep them, use kept ones only, or neither."),
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
    from seal.api import retrieve
    from seal.cli.failure import tell
    from seal.cli.progress import progress
    from seal.cli.retrieval_tables import tables

    with output(json) as shown, progress() as advance:
        found = retrieve(
            pools,
            retriever or ["tfidf"],
            numbers("--cutoffs", cutoffs),
            out=out,
            progress=advance,
            pool_sizes=_sizes(pool_sizes),
            samples=samples,
            distractors=distractors.replace("-", "_"),
            queries_in=queries_in,
            nested=nested,
            queries=queries,
            select=pairs("--select", select),
            limit=limit,
            seed=seed,
            cache=cache,
            cache_dir=cache_dir,
            options=typed_pairs("--retriever-option", retriever_option),
        )
        shown.result(found)
    shown.show(*tables(found))
    for note in found["notes"]:
        tell(note)
    return int(any("unavailable" in entry for entry in found["results"]))


def _sizes(text: str) -> tuple[int | str, ...]:
    """Return the sizes of a comma-separated list, ascending; `all` stands last."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    counts = ",".join(word for word in words if word != "all")
    sizes: tuple[int | str, ...] = numbers("--pool-sizes", counts) if counts or not words else ()
    return (*sizes, "all") if "all" in words else sizes
