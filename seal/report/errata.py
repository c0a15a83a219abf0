"""A run's scores by the gold as published, and beside them by the gold as corrected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from seal.report.grids import Grid, counted
from seal.report.lanes import Lane, ShortTable
from seal.report.pages import estimate_cell, table
from seal.runs.run_folder import RunFolder

if TYPE_CHECKING:
    from markupsafe import Markup

_COLUMNS = ("as published", "as corrected")


def _compared(run: RunFolder, corrected: RunFolder) -> tuple[str, ShortTable]:
    lanes = [
        Lane("run", label, "run-0", folder, folder.summary())
        for label, folder in zip(_COLUMNS, (run, corrected), strict=True)
    ]
    told = corrected.manifest()["errata"]
    goals = counted(told["goals"], "corrected goal")
    title = f"Scores by {goals}, of {told['corrections']} in the errata"
    return title, ShortTable(lanes)


def errata_grid(run: RunFolder) -> Grid | None:
    """Return the main metrics of a run by both golds; None: it was scored by one alone.

    Raises:
        DataError: A file of the run is damaged.
    """
    corrected = run.corrected()
    if corrected is None:
        return None
    title, found = _compared(run, corrected)
    rows = [
        (metric, *(f"{c.value_text} {c.interval_text}\n{c.count_text}" for c in cells.values()))
        for metric, cells in found.valued.items()
    ]
    return Grid(title, ("metric", *_COLUMNS), rows)


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the tables of the runs that were scored by both golds; None: there is none."""
    from markupsafe import Markup

    parts = []
    for lane in lanes:
        corrected = lane.run.corrected()
        if corrected is not None:
            title, found = _compared(lane.run, corrected)
            rows = [
                (metric, *map(estimate_cell, cells.values()))
                for metric, cells in found.valued.items()
            ]
            parts.append(table(Grid(f"{lane.label}: {title}", ("metric", *_COLUMNS), rows)))
    return Markup("").join(parts) if parts else None
