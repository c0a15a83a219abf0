"""Runs that differ in one thing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.api.objects.comparison import Paired
from seal.api.objects.run import Run
from seal.report.ablation_results import ablation_grids, ablation_tables, similarity_figures
from seal.report.grids import Glance

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, repr=False)
class Ablation(Paired):
    """Conditions compared: `ablation["pass_rate"].difference`, `ablation.runs["off"]`.

    `content` is that of comparison.json.
    """

    folder: Path
    exit_code: int = 0
    """0 fine, 1 finished with task errors, 3 a budget stopped it."""

    @property
    def runs(self) -> dict[str, Run]:
        """Condition to its run."""
        names = [row["condition"] for row in self.content["runs"]]
        return {name: Run.load(self.folder / name) for name in names}

    def _told(self) -> Sequence[str]:
        told: Sequence[str] = self.content["protocol"]["told"]
        return told

    def _glance(self) -> Glance:
        protocol = self.content["protocol"]
        title = f"ablation of {protocol['ablation']} on {protocol['pool']}"
        grid = self._grid(title)
        if "costs" in self.content or not grid.rows:  # the pairs say less than the first table
            first = next(iter(ablation_grids(self.content, self._told())), grid)
            grid = first._replace(title=f"{title}\n{first.title}")
        return Glance(grid, (f"folder: {self.folder}",))

    def _tables(self) -> Iterable[Any]:
        return ablation_tables(self.content)

    def _figures(self) -> Iterable[Figure]:
        yield from similarity_figures(self.content).values()
        yield from super()._figures()
