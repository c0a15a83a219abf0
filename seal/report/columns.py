"""Columns of tables of results: what gives their cells, and figures as texts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from seal.report.grids import Grid, interval, number

Cell = Callable[[Any], str]
"""Gives the text of a cell from what the row is about."""
Columns = Sequence[tuple[str, "str | Cell"]]
"""Head of a column, and what gives its cells, or the field that they show."""


def grid_of(title: str, columns: Columns, entries: Iterable[Any]) -> Grid:
    """Return a table with a row for each entry.

    Args:
        title: Of the table.
        columns: The first is one of names.
        entries: What the rows are about.
    """
    cells = [figure(cell, str) if isinstance(cell, str) else cell for _, cell in columns]
    rows = [tuple(cell(entry) for cell in cells) for entry in entries]
    return Grid(title, [head for head, _ in columns], rows)


def spread(found: Mapping[str, Any]) -> str:
    """Return mean ± deviation of an entry; `n/a` without a mean, NA without a deviation."""
    if found.get("mean") is None:
        return "n/a"
    deviation = "NA" if found["deviation"] is None else f"{found['deviation']:.3f}"
    return f"{found['mean']:.3f} ± {deviation}"


def chance(p: float | None) -> str:
    """Return a probability, which is never 0; `n/a` where there is no test."""
    return "<0.001" if p is not None and p < 0.0005 else number(p)


def holm_chance(entry: Mapping[str, Any]) -> str:
    """Return the corrected p of an entry; empty if its metric is outside the family."""
    return "" if entry["p"] is not None and entry["p_holm"] is None else chance(entry["p_holm"])


def signed(value: float | None) -> str:
    """Return a difference with its sign."""
    return number(value) if not value or value < 0 else f"+{number(value)}"


def with_interval(mean: float | None, entry: Mapping[str, Any]) -> str:
    """Return a mean with the interval of its entry behind it."""
    return f"{number(mean)} {interval(entry)}".rstrip()


def figure(name: str, shown: Callable[[Any], str] = number) -> Cell:
    """Return what shows a field of an entry."""
    return lambda entry: shown(entry[name])


def paired(pair: Mapping[str, Any]) -> tuple[str, str]:
    """Return what two retrievers differ by, with the interval below it, and the corrected p."""
    ends = "" if pair["low"] is None else f"\n[{pair['low']:+.3f}, {pair['high']:+.3f}]"
    p = "n/a" if pair["p_holm"] is None else f"{pair['p_holm']:.4f}"
    return f"{pair['difference']:+.3f}{ends}", p


DIFFERENCE: Columns = (
    ("difference", figure("difference", signed)),
    ("95 % interval", interval),
    ("p", figure("p", chance)),
    ("p (Holm)", holm_chance),
    ("pairs", "n"),
)
"""What a comparison tells of a metric, beside both means."""
