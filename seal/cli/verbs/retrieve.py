"""Rank tools for every task and score the rankings, without a chat."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seal.cli.options import Json, new_app, numbers, pairs, typed_pairs
from seal.cli.output import output

if TYPE_CHECKING:
    from rich.table import Table

app = new_app()


@app.command()
def command(
    pools: Annotated[
        list[str], typer.Argument(metavar="NAME|DIR...", help="Shipped or imported benchmarks.")
    ],
    retriever: Annotated[
        list[str] | None,
        typer.Option(help="Name or module:attribute; may be repeated.  [default: tfidf]"),
    ] = None,
    retriever_option: Annotated[
        list[str] | None,
        typer.Option("--retriever-option", "-R", metavar="KEY=VALUE", help="Of the retrievers."),
    ] = None,
    cutoffs: Annotated[
        str, typer.Option("--cutoffs", "-k", help="K of recall@K and its like.")
    ] = "1,5,10",
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG=VALUE", help="Only tasks with this tag; may be repeated."),
    ] = None,
    limit: Annotated[int | None, typer.Option(help="The first N tasks of each pool.")] = None,
    seed: Annotated[int, typer.Option(help="Of everything drawn.")] = 0,
    cache_dir: Annotated[Path | None, typer.Option(help="Folder of kept indexes.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for rankings, TREC runs and qrels.")
    ] = None,
    json: Json = False,
) -> int:
    """Rank tools for every task of one or several pools and score the rankings."""
    from seal.pipeline.retrieve import retrieve

    ks = numbers("--cutoffs", cutoffs)
    with output(json) as result:
        found = retrieve(
            pools,
            retriever or ["tfidf"],
            ks,
            seed,
            out,
            options=typed_pairs("--retriever-option", retriever_option),
            select=pairs("--select", select),
            limit=limit,
            cache_dir=cache_dir,
        )
        result.result(found)
        result.show(_table(found["results"], ks))
    return 0


def _table(results: list[dict[str, Any]], cutoffs: Sequence[int]) -> "Table":
    from rich.table import Table

    deepest = cutoffs[-1]
    names = [*(f"recall@{k}" for k in cutoffs), f"mrr@{deepest}", f"ndcg@{deepest}"]
    table = Table()
    for column in ("pool", "retriever"):
        table.add_column(column, overflow="fold")
    for column in ("tools", "queries", *names):
        table.add_column(column, justify="right")
    for result in results:
        cells = (_mean(result["metrics"].get(name, {})) for name in names)
        table.add_row(
            result["pool"],
            result["retriever"],
            str(result["tools"]),
            str(result["queries"]),
            *cells,
        )
    return table


def _mean(metric: Mapping[str, Any]) -> str:
    mean = metric.get("mean")
    return "n/a" if mean is None else f"{mean:.3f}"
