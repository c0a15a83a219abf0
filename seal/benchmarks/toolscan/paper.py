"""The tables of ToolScan, of a run or of a pool.

Source: Kokane et al., ToolScan (2024): Table 3 (queries, turns and APIs by environment), Table 4
(success and the seven error patterns), and the ablation on the similarity of API names.
"""

from __future__ import annotations

from seal.evaluation.error_patterns.metrics import PATTERNS
from seal.pools import StoredPool
from seal.pools.counts import environments_of
from seal.pools.published import PublishedTable
from seal.report.error_patterns import COLUMNS
from seal.report.lanes import Lane
from seal.report.paper import Figures

_ENVIRONMENTS = {
    "patent": (20, 6, 7.2),
    "movies": (30, 11, 11.5),
    "travel": (5, 8, 5.6),
    "sports": (8, 4, 4.4),
    "tools": (12, 5, 4.8),
    "data": (14, 7, 4.0),
    "social": (16, 7, 3.0),
    "media": (11, 6, 5.5),
    "spaceflight": (25, 9, 10.0),
    "videoimages": (9, 5, 6.0),
}
"""Environment to its queries, mean turns and mean APIs, as published."""
_RESULTS = {
    "GPT-4-0125": (0.73, 0.84, 1.0, 0.94, 1.0, 0.93, 0.94, 0.94),
    "xLAM-8x7B": (0.72, 0.79, 0.95, 0.92, 1.0, 0.95, 0.93, 0.91),
    "GPT-4o": (0.70, 0.59, 0.93, 0.88, 0.94, 0.92, 0.88, 0.92),
    "GPT-3.5": (0.67, 0.70, 0.94, 0.86, 0.95, 0.94, 0.93, 0.91),
    "Mixtral-8x7B": (0.10, 0.11, 0.12, 0.11, 0.10, 0.15, 0.12, 0.20),
}
_MEASURED = ("SR", "IAC", "RAC", "IAV", "IFE", "IAT", "IAN", "IFN")
_TAG = "environment="


def _counted(pool: StoredPool) -> Figures:
    return {
        each.name: {"queries": each.queries, "turns": each.gold_calls, "APIs": each.gold_tools}
        for each in environments_of(pool)
        if each.queries
    }


def _by_similarity(lane: Lane) -> Figures:
    """Return environment to the similarity of its API names, the least first, and its patterns."""
    found: dict[str, dict[str, float | None]] = {}
    named = [e for e in environments_of(StoredPool(lane.run.path)) if e.queries]
    for each in sorted(named, key=lambda one: one.similarity_strict or 0.0):
        groups = {name: (lane.metrics.get(name) or {}).get("by") or {} for name in PATTERNS}
        found[each.name] = {
            "J_avg strict": each.similarity_strict,
            "J_avg stopwords": each.similarity_stopwords,
            **{n.upper(): (by.get(_TAG + each.name) or {}).get("mean") for n, by in groups.items()},
        }
    return found


TABLES = (
    PublishedTable(
        "Environments: queries, mean turns (here calls of the gold) and APIs of a query",
        "ToolScan, Table 3",
        {
            name: dict(zip(("queries", "turns", "APIs"), row, strict=True))
            for name, row in _ENVIRONMENTS.items()
        },
        name="table-3",
        figures=_counted,
        of="pool",
        needs={"": "seal import toolscan FILE --out POOL, of queries; upstream released none"},
    ),
    PublishedTable(
        "Success and freedom of error patterns",
        "ToolScan, Table 4",
        {name: dict(zip(_MEASURED, row, strict=True)) for name, row in _RESULTS.items()},
        COLUMNS,
        name="table-4",
        needs={
            "SR": "a judge that can decide: --judge llm --judge-model MODEL",
            "": "seal run toolscan; runs of ablations can be given too: seal ablate "
            "feedback|format|irrelevance toolscan --out DIR",
        },
    ),
    PublishedTable(
        "Error patterns by similarity of API names",
        "ToolScan, ablation on API complexity",
        name="figure-similarity",
        figures=_by_similarity,
        needs={"": "seal run toolscan, with tasks that name their environment"},
        drawn="bars",
    ),
)
