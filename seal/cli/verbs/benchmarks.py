"""List the benchmarks that ship and those that can be imported."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from seal.cli.options import Json, new_app
from seal.cli.output import output
from seal.cli.progress import progress
from seal.core.errors import UsageError

app = new_app()


@app.command()
def command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME|POOL]", help="One benchmark, or a pool folder, in full."),
    ] = None,
    count: Annotated[
        bool,
        typer.Option("--count", help="Count those whose files are here; imports them once."),
    ] = False,
    run: Annotated[
        Path | None,
        typer.Option(metavar="RUN", help="Run whose calls and turns are counted; with a NAME."),
    ] = None,
    environments: Annotated[
        bool,
        typer.Option(
            "--environments", help="Each category's tools, queries and API similarity; with a NAME."
        ),
    ] = False,
    json: Json = False,
) -> int:
    """List the benchmarks that ship and those that can be imported, with what they hold."""
    from seal.benchmarks import REGISTRY
    from seal.benchmarks.catalogue import catalogue, find_entry
    from seal.benchmarks.counting import count_stored
    from seal.benchmarks.environments import environments_of
    from seal.cli import benchmark_tables as tables
    from seal.cli.environment_tables import environment_table
    from seal.pipeline.counting import (
        Measured,
        figures_of,
        figures_of_pool,
        is_here,
        measure,
        named_pool,
    )
    from seal.pipeline.pools import SHIPPED, open_pool

    if run is not None and name is None:
        raise UsageError(
            "--run needs the benchmark that was played: seal benchmarks NAME --run RUN"
        )
    if environments and name is None:
        raise UsageError("--environments needs a benchmark: seal benchmarks NAME --environments")
    pool = None if name is None else named_pool(name)
    with output(json) as result, progress() as advance:
        if pool is not None:
            counts, figures = count_stored(pool), figures_of_pool(pool, run)
            told = environments_of(pool) if environments else []
            result.result(
                {
                    **tables.plain_pool(pool, counts, figures),
                    "environments": list(map(asdict, told)),
                }
            )
            result.show(*tables.pool_details(pool, counts), *tables.figure_tables(figures))
            result.show(*map(environment_table, filter(None, [told])))
            return 0
        entries = list(catalogue().values()) if name is None else [find_entry(name)]
        measured: dict[str, Measured] = {}
        for done, entry in enumerate(entries if count else ()):
            measured[entry.name] = measure(entry)
            advance("count", done + 1, len(entries))
        described = [tables.plain(entry, measured.get(entry.name)) for entry in entries]
        if name is not None:
            figures = figures_of(entries[0], run)
            told = []
            if environments or (entries[0].has_environments and is_here(entries[0])):
                told = environments_of(open_pool(entries[0].name))
            result.result(
                {
                    **described[0],
                    "figures": figures.values,
                    "environments": list(map(asdict, told)),
                }
            )
            result.show(*tables.details(entries[0], measured.get(entries[0].name)))
            result.show(*tables.figure_tables(figures))
            result.show(*map(environment_table, filter(None, [told])))
            return 0
        shipped, importers = sorted(SHIPPED), REGISTRY.names()
        result.result({"shipped": shipped, "importers": importers, "benchmarks": described})
        result.show(
            tables.overview(entries),
            f"shipped, played by `seal run NAME`: {', '.join(shipped)}",
            f"imported by `seal import NAME SOURCE --out DIR`: {', '.join(importers)}",
            tables.table_1(entries, measured),
            *tables.notes(entries, measured),
            tables.table_2(entries, measured),
        )
    return 0
