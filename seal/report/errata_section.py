"""A run's scores by the gold as published, and beside them by the gold as corrected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from seal.core.text import counted
from seal.report.grids import Estimate, Grid
from seal.report.lanes import Lane, ShortTable
from seal.report.pages import estimate_cell, paragraphs
from seal.runs.run_folder import RunFolder

if TYPE_CHECKING:
    from markupsafe import Markup

_COLUMNS = ("as published", "as corrected")


def _cell(found: Estimate) -> str:
    return f"{found.value_text} {found.interval_text}\n{found.count_text}"


def errata_grid(run: RunFolder, cell: Callable[[Estimate], str] = _cell) -> Grid | None:
    """Return the main metrics of a run by both golds; None: it was scored by one alone.

    Args:
        run: A run that has been scored.
        cell: Gives the content of a cell.

    Raises:
        DataError: A file of the run is damaged.
    """
    corrected = run.corrected()
    if corrected is None:
        return None
    folders = dict(zip(_COLUMNS, (run, corrected), strict=True))
    lanes = [Lane("run", name, "run-0", it, it.summary()) for name, it in folders.items()]
    told = corrected.manifest()["errata"]
    goals = counted(told["goals"], "corrected goal")
    title = f"Scores by {goals}, of {told['corrections']} in the errata"
    valued = ShortTable(lanes).valued.items()
    rows = [(metric, *map(cell, cells.values())) for metric, cells in valued]
    return Grid(title, ("metric", *_COLUMNS), rows)


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the tables of the runs that were scored by both golds; None: there is none."""
    found = ((lane.label, errata_grid(lane.run, estimate_cell)) for lane in lanes)
    return paragraphs(g._replace(title=f"{name}: {g.title}") for name, g in found if g) or None
