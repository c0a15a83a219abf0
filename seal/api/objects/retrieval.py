"""An experiment in retrieval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.api.objects.base import Document, Estimates, only, record
from seal.core.errors import DataError
from seal.experiments.result_files import read_json
from seal.experiments.retrieval.files import RESULTS
from seal.report.frames import retrieval_frame
from seal.report.grids import Estimate, Glance, Grid
from seal.report.printable import one_line
from seal.report.retrieval_results import retrieval_figures, retrieval_tables

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from seal.experiments.pool_draws import Size

_REASON = 60
"""Characters of a reason in a row."""


@dataclass(frozen=True, repr=False)
class RetrieverResult(Estimates):
    """What one retriever found in one pool, or in those drawn from it: `result["recall@10"]`."""

    pool: str
    size: Size
    """As asked for."""
    tools: int
    samples: int
    queries: float
    """Mean over the samples."""
    retriever: str
    metrics: Mapping[str, Mapping[str, Any]] = field(hash=False)
    """As results.json has them; empty where the retriever could not be asked."""
    identity: str = ""
    """What it was, as caches know it; empty where it could not be asked."""
    unavailable: str = ""
    """Why it could not be asked."""

    @property
    def _entries(self) -> Mapping[str, Mapping[str, Any]]:
        return self.metrics

    def __repr__(self) -> str:
        """Return pool, size, retriever and metrics on one line."""
        told = ", ".join(f"{name} {self[name].value_text}" for name in self)
        return f"{self.pool} ({self.size}), {self.retriever}: {self.unavailable or told}"


@dataclass(frozen=True, repr=False)
class Retrieval(Document):
    """Retrievers over pools: `found.of(retriever="tfidf")["recall@10"].mean`.

    `content` is that of results.json.
    """

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Retrieval:
        """Return the experiment of a folder that `seal.retrieve` wrote.

        Raises:
            DataError: The folder holds none, or its results.json is damaged.
        """
        file = Path(path) / RESULTS
        if not file.is_file():
            raise DataError(f"{path} has no {RESULTS}: give a folder that `seal retrieve` wrote")
        return cls(read_json(file, ("protocol", "results"), "experiment in retrieval"))

    @cached_property
    def results(self) -> tuple[RetrieverResult, ...]:
        """One for each pool, size and retriever."""
        return tuple(record(RetrieverResult, entry) for entry in self.content["results"])

    @cached_property
    def frame(self) -> DataFrame:
        """The figures as a pandas frame, one a row, as results.csv has them.

        pool, pool_digest, size, tools, sample (missing in the row of all samples together),
        retriever, identity, metric, value, deviation, low, high, n, queries, samples, unavailable.
        """
        return retrieval_frame(self.content)

    def of(
        self, retriever: str | None = None, pool: str | None = None, size: Size | None = None
    ) -> RetrieverResult:
        """Return the one result of a retriever, pool and size; what is the only one may be None.

        Raises:
            UnknownKeyError: There is no such retriever, pool or size; names the closest.
            UsageError: Several results are of these.
        """
        return only(self.results, "results", retriever=retriever, pool=pool, size=size)

    def __getitem__(self, metric: str) -> Estimate:
        """Return a metric of the one result there is; of several, `of` chooses one.

        Raises:
            UnknownKeyError: No such metric; names the closest.
            UsageError: There are several results.
        """
        return self.of()[metric]

    def _glance(self) -> Glance:
        deepest = self.content["protocol"]["k"][-1]
        metrics = (f"recall@{deepest}", f"mrr@{deepest}")
        rows = [
            (
                found.retriever,
                found.pool,
                str(found.tools),
                *(
                    [one_line(found.unavailable, _REASON), ""]
                    if found.unavailable
                    else [_text(found.get(metric)) for metric in metrics]
                ),
            )
            for found in self.results
        ]
        grid = Grid("retrieval", ("retriever", "pool", "tools", *metrics), rows)
        return Glance(grid, self.content.get("notes", [])[:1])

    def _tables(self) -> Iterable[Any]:
        return retrieval_tables(self.content)

    def _figures(self) -> Iterable[Figure]:
        figures = retrieval_figures(self.content)
        order = ("recall_over_pool_size", "recall_over_k", "recall_over_pools")
        return [figures[name] for name in order if name in figures]


def _text(found: Estimate | None) -> str:
    return "" if found is None else f"{found.value_text} {found.interval_text}".rstrip()
