"""List the benchmarks that ship and those that can be imported."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from seal.cli.groups import argument, flag, option, verb
from seal.cli.options import JSON, new_app
from seal.cli.output import Output, output, progress
from seal.core import UsageError

if TYPE_CHECKING:
    from seal.experiments.benchmark_counts import Figures, Measured
    from seal.pools import StoredPool
    from seal.pools.catalogue import Entry
    from seal.pools.counts import Environment

app = new_app()


@verb(app)
def command(
    name: str | None = argument(
        "Name of a benchmark, or folder of a pool, to show in full.", None, metavar="[NAME|POOL]"
    ),
    count: bool = flag(
        "Count what the benchmarks hold whose files are here; they are imported once."
    ),
    run: Path | None = option(
        None, "Run whose calls and turns are counted; needs a NAME.", metavar="RUN"
    ),
    environments: bool = flag(
        "Show each category's tools, queries and API similarity; needs a NAME."
    ),
    json: bool = JSON,
) -> int:
    """List what the benchmarks hold that ship, and those that can be imported."""
    if run is not None and name is None:
        raise UsageError(
            "--run needs the benchmark that was played: seal benchmarks NAME --run RUN"
        )
    if environments and name is None:
        raise UsageError("--environments needs a benchmark: seal benchmarks NAME --environments")
    from seal.experiments.benchmark_counts import named_pool
    from seal.pools.catalogue import catalogue, find_entry

    pool = None if name is None else named_pool(name)
    with output(json) as result:
        if pool is not None:
            _show_pool(pool, run, environments, result)
        elif name is not None:
            entry = find_entry(name)
            _show_entry(entry, _measured([entry] if count else []), run, environments, result)
        else:
            entries = list(catalogue().values())
            _show_all(entries, _measured(entries if count else []), result)
    return 0


def _measured(entries: "Sequence[Entry]") -> "dict[str, Measured]":
    """Return the counts of benchmarks by name."""
    from seal.experiments.benchmark_counts import measure

    measured = {}
    with progress() as advance:
        for done, entry in enumerate(entries, 1):
            measured[entry.name] = measure(entry)
            advance("count", done, len(entries))
    return measured


def _show_pool(pool: "StoredPool", run: Path | None, environments: bool, result: Output) -> None:
    from seal.cli import benchmark_tables as tables
    from seal.experiments.benchmark_counts import figures_of_pool
    from seal.pools.counts import count_stored, environments_of

    counts, figures = count_stored(pool), figures_of_pool(pool, run)
    told = environments_of(pool) if environments else []
    plain = tables.plain_pool(pool, counts, figures)
    result.result({**plain, "environments": list(map(asdict, told))})
    result.show(*tables.pool_details(pool, counts))
    _show_figures(figures, told, result)


def _show_entry(
    entry: "Entry",
    measured: "Mapping[str, Measured]",
    run: Path | None,
    environments: bool,
    result: Output,
) -> None:
    from seal.cli import benchmark_tables as tables
    from seal.experiments.benchmark_counts import figures_of, is_here
    from seal.pools.counts import environments_of
    from seal.pools.lookup import open_pool

    found, figures = measured.get(entry.name), figures_of(entry, run)
    asked = environments or (entry.has_environments and is_here(entry))
    told = environments_of(open_pool(entry.name)) if asked else []
    plain = {**tables.plain(entry, found), "figures": figures.values}
    result.result({**plain, "environments": list(map(asdict, told))})
    result.show(*tables.details(entry, found))
    _show_figures(figures, told, result)


def _show_figures(figures: "Figures", told: "Sequence[Environment]", result: Output) -> None:
    from seal.cli.benchmark_tables import environment_table, figure_tables

    result.show(*figure_tables(figures), *([environment_table(told)] if told else []))


def _show_all(
    entries: "Sequence[Entry]", measured: "Mapping[str, Measured]", result: Output
) -> None:
    from seal.cli import benchmark_tables as tables
    from seal.pools import REGISTRY
    from seal.pools.imports import importer_of
    from seal.pools.lookup import is_shipped

    names = REGISTRY.names()
    shipped = [name for name in names if is_shipped(name)]
    importers = [name for name in names if importer_of(name) is not None]
    described = [tables.plain(entry, measured.get(entry.name)) for entry in entries]
    result.result({"shipped": shipped, "importers": importers, "benchmarks": described})
    result.show(
        tables.overview(entries),
        f"shipped, played by `seal run NAME`: {', '.join(shipped)}",
        f"imported by `seal import NAME SOURCE --out DIR`: {', '.join(importers)}",
        tables.table_1(entries, measured),
        *tables.notes(entries, measured),
        tables.table_2(entries, measured),
    )
