"""The tables of `seal benchmarks`: what there is, Tables 1 and 2 of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from seal.cli.output import field_lines
from seal.experiments.benchmark_counts import Counted, Figures, is_here
from seal.pools.catalogue import STAGES, Card, PaperCounts, stages
from seal.pools.counts import PoolCounts, count_stored
from seal.pools.downloads import pinned_files
from seal.pools.lookup import is_shipped
from seal.pools.pool import StoredPool
from seal.report.grids import Grid
from seal.report.seal_paper import COUNTS, GOLD

_MEANS = {
    "tools": "tools offered, over all augmentations",
    "tools_by_augmentation": "tools offered, by augmentation",
    "gold_calls": "gold calls of a scenario",
    "calls": "calls of a chat",
    "turns": "turns of a chat",
}
"""Statistics that are means, in words."""


def plain(entry: Card, measured: Counted | None) -> dict[str, Any]:
    """Return all that is known of a benchmark, for `--json`."""
    return {
        **asdict(entry),
        "command": entry.command,
        "here": is_here(entry),
        "pinned_files": len(pinned_files(entry)),
        "stages": stages(entry.gold),
        "counts": asdict(measured.counts) if measured and measured.counts else None,
        "not_counted": measured.reason if measured else "not asked for: --count",
    }


def details(entry: Card, measured: Counted | None) -> list[str]:
    """Return one benchmark in lines."""
    known = {key: value for key, value in plain(entry, measured).items() if value}
    known["stages"] = {stage: how or "no gold" for stage, how in known["stages"].items()}
    if measured and measured.counts:
        known.pop("not_counted", None)
    elif _takes_any_folder(entry):
        known.pop("not_counted", None)
        known |= {"files": _files(entry), "counts": "depend on the folder"}
    return field_lines(known)


def overview(entries: Sequence[Card]) -> Grid:
    """Return the table of what there is."""
    columns = ("name", "benchmark", "gold", "licence", "files")
    rows = [
        (
            ", ".join((entry.name, *entry.aliases)),
            entry.title,
            ", ".join(entry.gold),
            entry.licence,
            "; ".join(filter(None, (_files(entry), entry.status))),
        )
        for entry in entries
    ]
    return Grid("", columns, rows, names=len(columns))


def _takes_any_folder(entry: Card) -> bool:
    """Tell whether an entry stands for a layout, of which anybody may have folders."""
    return entry.folder is None and entry.importer is not None and not is_shipped(entry.name)


def _files(entry: Card) -> str:
    if is_here(entry):
        return "here"
    if _takes_any_folder(entry):
        return "any folder of this layout"
    if entry.files and entry.commit:
        return f"seal fetch {entry.name}"
    return f"by hand: seal benchmarks {entry.name}"


def of_pool(pool: StoredPool) -> tuple[dict[str, Any], list[str]]:
    """Return what a pool folder holds: for `--json`, and in lines."""
    place = {"pool": str(pool.folder), "benchmark": pool.name}
    counts = asdict(count_stored(pool))
    known = {key: value for key, value in (place | counts).items() if value}
    return {**place, "counts": counts}, field_lines(known)


def figure_tables(figures: Figures) -> Iterator[Grid | str]:
    """Yield a benchmark's own statistics: the single figures, then a table for each group."""
    if figures.values is None:
        if figures.reason:
            yield f"no statistics: {figures.reason}"
        return
    groups = {name: value for name, value in figures.values.items() if isinstance(value, dict)}
    single = [
        (_MEANS.get(name, name), "n/a: give --run RUN" if value is None else _figure(value))
        for name, value in figures.values.items()
        if name not in groups
    ]
    yield Grid("", ("statistics", "mean or number"), single, names=2)
    for name, counts in groups.items():
        columns = (_MEANS.get(name, name), "mean" if name in _MEANS else "number")
        yield Grid("", columns, [(key, _figure(count)) for key, count in counts.items()])


def table_1(entries: Sequence[Card], measured: Mapping[str, Counted]) -> Grid:
    """Return Table 1 of the SEAL paper with our counts beside the paper's."""
    rows = []
    for entry in entries:
        counts = measured[entry.name].counts if entry.name in measured else None
        if counts is not None:
            rows.append((entry.name, "ours", *_cells(counts)))
        if entry.paper_counts is not None:
            whose = f"paper: {entry.paper_part}" if entry.paper_part else "paper"
            rows.append((entry.name, whose, *_cells(entry.paper_counts)))
    title = "SEAL paper, Table 1: ours, counted from the files here, and the paper's"
    return Grid(title, ("benchmark", "figures", *COUNTS), rows, names=2)


def _cells(counts: PoolCounts | PaperCounts) -> list[str]:
    return [_figure(getattr(counts, field)) for field in COUNTS.values()]


def _figure(value: float | None, absent: str = "n/a", digits: int = 2) -> str:
    if value is None:
        return absent
    return f"{value:,}" if isinstance(value, int) else f"{value:.{digits}f}"


def notes(entries: Sequence[Card], measured: Mapping[str, Counted]) -> Iterator[str]:
    """Yield why counts differ from the paper's, and why some are missing."""
    if not measured:
        yield "The paper's figures alone; --count counts the benchmarks whose files are here."
    for entry in entries:
        found = measured.get(entry.name)
        if found is None:
            continue
        if found.counts is None:
            yield f"{entry.name}: not counted: {found.reason}"
        elif entry.paper_counts is not None and differs(found.counts, entry.paper_counts):
            yield f"{entry.name}: {entry.difference}"


def differs(ours: PoolCounts, paper: PaperCounts) -> bool:
    """Tell whether any figure is not the paper's; means are compared as printed, to one digit."""
    return any(
        round(getattr(ours, field.name) or 0, 1) != round(getattr(paper, field.name), 1)
        for field in fields(PaperCounts)
    )


def table_2(entries: Sequence[Card], measured: Mapping[str, Counted]) -> Grid:
    """Return which stages each benchmark can score.

    A number: so many tasks have gold for it; gold: by the catalogue; judge: a judge alone.
    """
    rows = []
    for entry in entries:
        counts = measured[entry.name].counts if entry.name in measured else None
        rows.append((entry.name, *(_stage(entry, counts, stage) or "-" for stage in STAGES)))
    title = (
        "What each can score: tasks with gold, or `gold` where not counted; judge: by a judge "
        "alone (after the paper's Table 2; the entries are ours)"
    )
    return Grid(title, ("benchmark", *STAGES), rows)


def _stage(entry: Card, counts: PoolCounts | None, stage: str) -> str:
    if counts is None:
        return stages(entry.gold)[stage]
    tasks = counts.gold[GOLD.get(stage, stage)]
    if tasks:
        return f"{tasks:,}"
    return "judge" if stage == "final answer" and counts.tasks else ""
