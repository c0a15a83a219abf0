"""List the benchmarks that ship and those that can be imported."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from seal.cli.groups import argument, flag, option, verb
from seal.cli.options import JSON
from seal.cli.output import Output, output, progress
from seal.core import UsageError

if TYPE_CHECKING:
    from seal.experiments.benchmark_counts import Counted
    from seal.pools.catalogue import Card


@verb("benchmarks")
def benchmarks_command(
    name: str | None = argument(
        "Name of a benchmark, or folder of a pool, to show in full.", None, metavar="[NAME|POOL]"
    ),
    count: bool = flag(
        "Count what the benchmarks hold whose files are here; they are imported once."
    ),
    run: Path | None = option(
        None, "Run whose calls and turns are counted; needs a NAME.", metavar="RUN"
    ),
    json: bool = JSON,
) -> int:
    """List what the benchmarks hold that ship, and those that can be imported."""
    if run is not None and name is None:
        raise UsageError(
            "--run needs the benchmark that was played: seal benchmarks NAME --run RUN"
        )
    with output(json) as result:
        if name is None:
            _show_all(count, result)
        else:
            _show_one(name, count, run, result)
    return 0


def _measured(entries: "Sequence[Card]") -> "dict[str, Counted]":
    """Return the counts of benchmarks by name."""
    from seal.experiments.benchmark_counts import measure

    measured = {}
    with progress() as advance:
        for done, entry in enumerate(entries, 1):
            measured[entry.name] = measure(entry)
            advance("count", done, len(entries))
    return measured


def _show_one(name: str, count: bool, run: Path | None, result: Output) -> None:
    from seal.cli import benchmark_tables as tables
    from seal.experiments.benchmark_counts import figures_of, named_pool
    from seal.pools.catalogue import find_entry

    pool = named_pool(name)
    if pool is not None:
        plain, lines = tables.of_pool(pool)
        figures = figures_of(pool, run)
    else:
        entry = find_entry(name)
        measured = _measured([entry] if count else []).get(entry.name)
        plain, lines = tables.plain(entry, measured), tables.details(entry, measured)
        figures = figures_of(entry, run)
    result.result({**plain, "figures": figures.values})
    result.show(*lines, *tables.figure_tables(figures))


def _show_all(count: bool, result: Output) -> None:
    from seal.cli import benchmark_tables as tables
    from seal.pools.catalogue import catalogue
    from seal.pools.importer import REGISTRY
    from seal.pools.lookup import installed_benchmarks

    entries = list(catalogue().values())
    measured = _measured(entries if count else [])
    sound, broken = installed_benchmarks()
    complete = []
    for name, bench in sound.items():
        try:
            complete += [name] if bench.is_complete else []
        except UsageError as error:  # of its tools
            broken[name] = str(error)
    importers = [name for name, bench in sound.items() if bench.importer is not None]
    described = [tables.plain(entry, measured.get(entry.name)) for entry in entries]
    shipped = [name for name in complete if REGISTRY.is_ours(name)]
    others = [name for name in complete if name not in shipped]
    found = {"shipped": shipped, "others": others, "importers": importers, "broken": broken}
    result.result({**found, "benchmarks": described})
    result.show(
        tables.overview(entries),
        f"shipped, played by `seal run NAME`: {', '.join(shipped)}",
        *([f"of others, played by `seal run NAME`: {', '.join(others)}"] if others else []),
        f"imported by `seal import NAME SOURCE --out DIR`: {', '.join(importers)}",
        *(f"broken, {name}: {why}" for name, why in sorted(broken.items())),
        tables.table_1(entries, measured),
        *tables.notes(entries, measured),
        tables.table_2(entries, measured),
    )
