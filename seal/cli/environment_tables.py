"""The table of `seal benchmarks NAME --environments`: ToolScan's Table 3 and the similarities."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from seal.pools.counts import Environment
from seal.report.printable import printable

_COLUMNS = {
    "tools": "tools",
    "toolsets": "tool sets",
    "pseudo_actions": "pseudo",
    "queries": "queries",
    "abstentions": "to abstain",
    "offered": "offered",
    "gold_tools": "APIs per query",
    "gold_calls": "gold calls",
}
_SIMILARITIES = {"similarity_strict": "J_avg strict", "similarity_stopwords": "J_avg stopwords"}


def environment_table(environments: Sequence[Environment]) -> Table:
    """Return a row for each environment, the least similar names first."""
    table = Table(title="environments: means over their queries, and API similarity of the names")
    table.add_column("environment", overflow="fold")
    for title in (*_COLUMNS.values(), *_SIMILARITIES.values()):
        table.add_column(title, justify="right")
    for one in sorted(environments, key=lambda one: (one.similarity_strict or 0, one.name)):
        numbers = (_number(getattr(one, field)) for field in _COLUMNS)
        similarities = (getattr(one, field) for field in _SIMILARITIES)
        table.add_row(printable(one.name), *numbers, *map(_similarity, similarities))
    return table


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else f"{value:.1f}"


def _similarity(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.3f}"
