"""The SEAL paper's tables, and counts of benchmarks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from seal.core import SealError
from seal.core.text import field_lines
from seal.experiments.settings import RECALL_AT
from seal.pools.catalogue import (
    STAGES,
    Card,
    PaperCounts,
    by_any_name,
    catalogue,
    pinned_files,
    source_folder,
    stages,
)
from seal.pools.counts import PoolCounts, count_stored
from seal.pools.declarations import PublishedTable, Rows
from seal.pools.importer import REGISTRY
from seal.pools.lookup import is_shipped, open_pool
from seal.pools.pool import StoredPool, load_pool
from seal.report.grids import Columns, Grid, figure, grid_of

# -- The tables of the SEAL paper in which any benchmark stands.
#
# Tables 1 and 2 count pools, and Figure 2 compares retrievers. Figures of Table 3 were published of
# two benchmarks, which declare them; sweeps of others have its layout.

PAPER = "seal"
COUNTS = {
    "queries": "queries",
    "multi-step": "multi_step",
    "APIs per query": "tools_per_query",
    "APIs with queries": "tools_with_queries",
    "APIs": "tools",
}
"""Heading of Table 1 to the count of a pool."""
GOLD = {"retrieval": "relevant", "conversation": "turns", "final answer": "answers"}
"""Stage to the kind of gold that it needs, where that has another name."""
_PRINTED = {"retrieval": "API retrieval", "calls": "API call", "final answer": "Final response"}
"""Stage to the paper's name of it in Table 2, which has these three."""
_QUERIES = "# of queries"
_OF_SWEEP = {
    f"API retrieval recall@{RECALL_AT}": f"recall@{RECALL_AT}",
    "API call recall": "call_recall_at_n",
    "API param. acc.": "param_acc_gold",
    "Pass rate": "pass_rate",
}
"""Heading of Table 3 to our metric; its deviation stands beside each (`_deviation`)."""
_JUDGED = dict.fromkeys(("Pass rate", "Pass rate, std."), "model")
_PLAYED_BY = "gpt-4-turbo-2024-04-09"


def _counted(pool: StoredPool) -> dict[str, dict[str, float | None]]:
    counts = count_stored(pool)
    return {_name(pool): {head: getattr(counts, field) for head, field in COUNTS.items()}}


def _stages(pool: StoredPool) -> dict[str, dict[str, float | None]]:
    gold = count_stored(pool).gold
    named = {stage: _PRINTED.get(stage, stage) for stage in STAGES}
    return {_name(pool): {named[stage]: gold[GOLD.get(stage, stage)] for stage in STAGES}}


def _name(pool: StoredPool) -> str:
    return str(pool.benchmark.name if pool.benchmark is not None else pool.name)


def of_sweep(content: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Return pool size, and K where there are several, to the figures of Table 3."""
    several = len({entry["top_k"] for entry in content["results"]}) > 1
    found: dict[str, dict[str, float | None]] = {}
    for entry in content["results"]:
        row = f"{entry['size']} APIs" + (f", K = {entry['top_k']}" if several else "")
        found[row] = {_QUERIES: float(entry["queries"])}
        found[row][_deviation(_QUERIES)] = entry.get("queries_deviation")
        for heading, metric in _OF_SWEEP.items():
            estimate = entry["metrics"].get(metric) or {}
            found[row][heading] = estimate.get("mean")
            found[row][_deviation(heading)] = estimate.get("deviation")
    return found


def _deviation(heading: str) -> str:
    return f"{heading}, std."


def _by_pool(content: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Return retriever to its recall in each pool, in the whole of it or the largest drawn."""
    metric = f"recall@{content['protocol']['k'][-1]}"
    found: dict[str, dict[str, float | None]] = {}
    for entry in sorted(content["results"], key=lambda each: int(each.get("tools") or 0)):
        mean = (entry.get("metrics") or {}).get(metric, {}).get("mean")
        found.setdefault(entry["retriever"], {})[f"{entry['pool']}, {metric}"] = mean
    return found


def sweep_table(of: str, published: Rows) -> tuple[PublishedTable, ...]:
    """Return Table 3 and Figure 4 of one benchmark.

    Args:
        of: The benchmark, for the titles.
        published: Pool size, such as `10`, to the paper's headings: means, and what three drawn
            pools deviate by.
    """
    rows = {f"{size} APIs": row for size, row in published.items()}
    shared: dict[str, Any] = {
        "paper": PAPER,
        "of": "sweep",
        "judged": _JUDGED,
        "played_by": _PLAYED_BY if rows else "",
        "needs": {"": "seal sweep POOL --pool-sizes 10,50,100,200,500 --samples 3 --judge llm"},
    }
    return (
        PublishedTable(
            f"{of}, decline with pool size",
            "SEAL, Table 3",
            rows,
            figures=of_sweep,
            **shared,
        ),
        PublishedTable(
            f"{of}, metrics over pool size",
            "SEAL, Figure 4",
            _means(rows),
            figures=_curves,
            drawn="lines",
            **shared,
        ),
    )


def _means(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the means of Table 3 without the number of queries, as the paper draws them."""
    return {size: {head: row[head] for head in _OF_SWEEP} for size, row in rows.items()}


def _curves(content: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    return _means(of_sweep(content))


TABLES = (
    PublishedTable(
        "Benchmarks in one format",
        "SEAL, Table 1",
        {
            entry.name: {head: getattr(entry.paper_counts, f) for head, f in COUNTS.items()}
            for entry in catalogue().values()
            if entry.paper_counts is not None
        },
        paper=PAPER,
        figures=_counted,
        of="pool",
        needs={"": "why counts differ: seal benchmarks --count"},
    ),
    PublishedTable(
        "Stages that each can score; of ours, tasks with gold for each",
        "SEAL, Table 2",
        {
            entry.name: {
                printed: "yes" if stage in entry.paper_stages else "no"
                for stage, printed in _PRINTED.items()
            }
            for entry in catalogue().values()
            if entry.paper_stages
        },
        paper=PAPER,
        figures=_stages,
        of="pool",
    ),
    PublishedTable(
        "Retrievers within and beyond their source",
        "SEAL, Figure 2",
        paper=PAPER,
        figures=_by_pool,
        of="retrieval",
        needs={
            "": "seal retrieve POOL... --retriever bm25 --retriever dense,model=T --out DIR; "
            "docs/train-a-retriever.md trains T"
        },
        drawn="bars",
    ),
    *sweep_table("Other benchmarks", {}),
)


# -- Counts of the benchmarks whose files are here.


Counted = PoolCounts | str
"""The counts of a benchmark, or why there are none."""


def named_pool(name: str) -> StoredPool | None:
    """Return the pool of a folder or of somebody else's benchmark; None for any other name.

    Raises:
        DataError: The folder is no pool.
        UsageError: The benchmark is broken, or its files are not here.
    """
    if name in by_any_name():
        return None
    if name in REGISTRY:
        return open_pool(name)
    return load_pool(Path(name)) if Path(name).is_dir() else None


def is_here(entry: Card) -> bool:
    """Tell whether a benchmark ships or its files lie under SEAL_DATA."""
    return is_shipped(entry.name) or source_folder(entry.name) is not None


def measure(entry: Card) -> Counted:
    """Count a benchmark's pool; upstream files are imported first, once.

    What cannot be counted, for its files are absent or refused, says why: it stops no other.
    """
    if not is_here(entry):
        return "no files under SEAL_DATA"
    if entry.importer is None and not is_shipped(entry.name):
        return entry.status
    try:
        return count_stored(open_pool(entry.name))
    except SealError as error:
        return str(error)


# -- The tables of `seal benchmarks`: what there is, and Table 1 of the paper.


def plain(entry: Card, measured: Counted | None) -> dict[str, Any]:
    """Return all that is known of a benchmark, for `--json`."""
    return {
        **asdict(entry),
        "command": entry.command,
        "here": is_here(entry),
        "pinned_files": len(pinned_files(entry)),
        "stages": stages(entry.gold),
        "counts": asdict(measured) if isinstance(measured, PoolCounts) else None,
        "not_counted": measured if isinstance(measured, str) else "not asked for: --count",
    }


def details(entry: Card, measured: Counted | None) -> list[str]:
    """Return one benchmark in lines."""
    known = {key: value for key, value in plain(entry, measured).items() if value}
    known["stages"] = {stage: how or "no gold" for stage, how in known["stages"].items()}
    if isinstance(measured, PoolCounts):
        known.pop("not_counted", None)
    elif _takes_any_folder(entry):
        known.pop("not_counted", None)
        known |= {"files": _files(entry), "counts": "depend on the folder"}
    return field_lines(known)


def overview(entries: Sequence[Card]) -> Grid:
    """Return the table of what there is."""
    columns: Columns = [
        ("name", lambda entry: ", ".join((entry.name, *entry.aliases))),
        ("benchmark", "title"),
        ("gold", figure("gold", ", ".join)),
        ("licence", "licence"),
        ("files", lambda entry: "; ".join(filter(None, (_files(entry), entry.status)))),
    ]
    return grid_of("", columns, entries, names=len(columns))


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


def table_1(entries: Sequence[Card], measured: Mapping[str, Counted]) -> Grid:
    """Return Table 1 of the SEAL paper with our counts beside the paper's."""
    rows = []
    for entry in entries:
        counts = measured.get(entry.name)
        if isinstance(counts, PoolCounts):
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
        if isinstance(found, str):
            yield f"{entry.name}: not counted: {found}"
        elif found and entry.paper_counts and differs(found, entry.paper_counts):
            yield f"{entry.name}: {entry.difference}"


def differs(ours: PoolCounts, paper: PaperCounts) -> bool:
    """Tell whether any figure is not the paper's; means are compared as printed, to one digit."""
    return any(
        round(getattr(ours, field.name) or 0, 1) != round(getattr(paper, field.name), 1)
        for field in fields(PaperCounts)
    )
