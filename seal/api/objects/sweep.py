"""A benchmark played over pools of several sizes, and with several K."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.api.objects.base import Document, Estimates, only, record
from seal.api.objects.run import Run
from seal.core.errors import DataError
from seal.experiments.sweep.files import SWEEP, read
from seal.report.frames import sweep_frame
from seal.report.grids import Estimate, Glance, Grid
from seal.report.sweep_results import METRICS, sweep_figures, sweep_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


@dataclass(frozen=True, repr=False)
class SweepPoint(Estimates):
    """The runs of one pool size and K together: `point["pass_rate"].mean`, `.deviation`."""

    size: int
    """Tools in the pool."""
    top_k: int
    """Tools that a chat was offered."""
    samples: int
    queries: float
    """Mean over the samples."""
    errors: int
    metrics: Mapping[str, Mapping[str, Any]] = field(hash=False)
    """As sweep.json has them."""

    @property
    def _entries(self) -> Mapping[str, Mapping[str, Any]]:
        return self.metrics

    def __repr__(self) -> str:
        """Return size, K and the metrics of the table on one line."""
        told = ", ".join(f"{name} {self[name].value_text}" for name in METRICS if name in self)
        return f"{self.size} tools, K = {self.top_k}: {told}"


@dataclass(frozen=True, repr=False)
class Sweep(Document):
    """Runs over drawn pools: `swept.of(size=50)["pass_rate"].mean`.

    `content` is that of sweep.json.
    """

    folder: Path
    exit_code: int = 0
    """0 fine, 1 finished with task errors, 3 a budget stopped it."""

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Sweep:
        """Return the sweep of a folder that `seal.sweep` wrote.

        Raises:
            DataError: The folder holds none, or its sweep.json is damaged.
        """
        file = Path(path) / SWEEP
        if not file.is_file():
            raise DataError(f"{path} has no {SWEEP}: give a folder that `seal.sweep` wrote")
        content = read(file)
        return cls(content, Path(path), int(any(row.get("errors") for row in content["rows"])))

    @cached_property
    def results(self) -> tuple[SweepPoint, ...]:
        """One for each pool size and K, the samples together."""
        return tuple(record(SweepPoint, entry) for entry in self.content["results"])

    @property
    def runs(self) -> dict[str, Run]:
        """The runs by their folders' names in the sweep's."""
        names = [row["run"] for row in self.content["rows"]]
        return {name: Run.load(self.folder / name) for name in names}

    @cached_property
    def frame(self) -> DataFrame:
        """The figures as a pandas frame, one a row, as sweep.csv has them.

        pool, pool_digest, size, sample (missing: all together), top_k, metric, value, deviation,
        low, high, n, undefined, queries, samples, reason.
        """
        return sweep_frame(self.content)

    def of(self, size: int | None = None, top_k: int | None = None) -> SweepPoint:
        """Return the figures of a pool size and K; what is the only one may be None.

        Raises:
            UnknownKeyError: There is no such size or K.
            UsageError: Several results are of these.
        """
        return only(self.results, "results", size=size, top_k=top_k)

    def __getitem__(self, metric: str) -> Estimate:
        """Return a metric of the one size and K there are; of several, `of` chooses one.

        Raises:
            UnknownKeyError: No such metric; names the closest.
            UsageError: There are several results.
        """
        return self.of()[metric]

    def _glance(self) -> Glance:
        rows = [
            (
                str(found.size),
                str(found.top_k),
                f"{found.queries:g}",
                *(found[name].value_text if name in found else "" for name in METRICS),
            )
            for found in self.results
        ]
        title = f"sweep over {self.content['origin']['benchmark']}"
        return Glance(
            Grid(title, ("tools", "K", "queries", *METRICS), rows), (f"folder: {self.folder}",)
        )

    def _tables(self) -> Iterable[Any]:
        return sweep_tables(self.content)

    def _figures(self) -> Iterable[Figure]:
        return sweep_figures(self.content).values()
