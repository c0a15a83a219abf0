"""Figures that a benchmark's paper published, beside those of the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from seal.pools.published import PublishedTable
from seal.report.lanes import Lane
from seal.report.pages import render


class PublishedSection:
    """The tables of a benchmark's paper, with the runs as further rows."""

    title = "Published figures"

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return the tables; None where the runs' benchmarks declare none."""
        tables = list(_tables(lanes))
        if not tables:
            return None
        return render("published.html", tables=[(table, _ours(table, lanes)) for table in tables])


def _tables(lanes: Sequence[Lane]) -> Iterator[PublishedTable]:
    seen: list[Any] = []
    for lane in lanes:
        for told in lane.run.declared().get("published") or ():
            if told not in seen:
                seen.append(told)
                yield PublishedTable.of(told)


def _ours(table: PublishedTable, lanes: Sequence[Lane]) -> dict[str, dict[str, float]]:
    """Return the label of each run to its figures by the paper's headings."""
    return {lane.label: _row(table, lane.metrics) for lane in lanes if lane.kind == "run"}


def _row(table: PublishedTable, metrics: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    means = {head: (metrics.get(name) or {}).get("mean") for head, name in table.columns.items()}
    return {head: mean * table.scale for head, mean in means.items() if mean is not None}
