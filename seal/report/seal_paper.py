"""The tables of the SEAL paper in which any benchmark stands.

Tables 1 and 2 count pools, and Figure 2 compares retrievers. Figures of Table 3 were published of
two benchmarks, which declare them; sweeps of others have its layout.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seal.experiments.sweep.sweep_settings import RECALL_AT
from seal.pools.catalogue import STAGES, catalogue
from seal.pools.counts import count_stored
from seal.pools.paper_data import PublishedTable
from seal.pools.pool import StoredPool

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
_OF_SWEEP = {
    f"R@{RECALL_AT}": f"recall@{RECALL_AT}",
    "call recall": "call_recall_at_n",
    "parameters": "param_acc_gold",
    "pass rate": "pass_rate",
}


def _counted(pool: StoredPool) -> dict[str, dict[str, float | None]]:
    counts = count_stored(pool)
    return {_name(pool): {head: getattr(counts, field) for head, field in COUNTS.items()}}


def _stages(pool: StoredPool) -> dict[str, dict[str, float | None]]:
    gold = count_stored(pool).gold
    return {_name(pool): {stage: gold[GOLD.get(stage, stage)] for stage in STAGES}}


def _name(pool: StoredPool) -> str:
    return str(pool.benchmark.name if pool.benchmark is not None else pool.name)


def of_sweep(content: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Return pool size, and K where there are several, to the figures of Table 3."""
    several = len({entry["top_k"] for entry in content["results"]}) > 1
    found = {}
    for entry in content["results"]:
        row = f"{entry['size']} APIs" + (f", K = {entry['top_k']}" if several else "")
        means = {h: (entry["metrics"].get(m) or {}).get("mean") for h, m in _OF_SWEEP.items()}
        found[row] = {"queries": float(entry["queries"]), **means}
    return found


def _by_pool(content: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    """Return retriever to its recall in each pool, in the whole of it or the largest drawn."""
    metric = f"recall@{content['protocol']['k'][-1]}"
    found: dict[str, dict[str, float | None]] = {}
    for entry in sorted(content["results"], key=lambda each: int(each.get("tools") or 0)):
        mean = (entry.get("metrics") or {}).get(metric, {}).get("mean")
        found.setdefault(entry["retriever"], {})[f"{entry['pool']}, {metric}"] = mean
    return found


def sweep_table(
    of: str, published: Mapping[str, tuple[float, float, float, float, float]]
) -> tuple[PublishedTable, ...]:
    """Return Table 3 and Figure 4 of one benchmark.

    Args:
        of: The benchmark, for the titles.
        published: Pool size, such as `10 APIs`, to queries, recall, call recall, parameter accuracy
            and pass rate.
    """
    headings = ("queries", *_OF_SWEEP)
    rows = {size: dict(zip(headings, row, strict=True)) for size, row in published.items()}
    shared: dict[str, Any] = {
        "paper": PAPER,
        "of": "sweep",
        "needs": {"": "seal sweep POOL --pool-sizes 10,50,100,200,500 --samples 3 --judge llm"},
    }
    return (
        PublishedTable(
            f"{of}, decline with pool size",
            "SEAL, Table 3",
            rows,
            lacks="deviations over its three runs",
            figures=of_sweep,
            **shared,
        ),
        PublishedTable(
            f"{of}, metrics over pool size",
            "SEAL, Figure 4",
            _without_queries(rows),
            figures=_curves,
            drawn="lines",
            **shared,
        ),
    )


def _without_queries(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the rows of Table 3 without the number of queries."""
    return {
        size: {head: value for head, value in row.items() if head != "queries"}
        for size, row in rows.items()
    }


def _curves(content: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    return _without_queries(of_sweep(content))


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
        "Tasks with gold for each stage", "SEAL, Table 2", paper=PAPER, figures=_stages, of="pool"
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
