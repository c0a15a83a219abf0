"""What was made: benchmarks that were generated, and retrievers that were trained."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from seal.api.objects.base import Entries, only, record
from seal.api.objects.json_results import RetrieverResult
from seal.core.signatures import checked_names
from seal.core.text import counted
from seal.pools.imports import ImportReport
from seal.report.glance import Glance
from seal.report.grids import Grid
from seal.report.training_results import measures_grid, training_tables


@checked_names
@dataclass(frozen=True, repr=False, eq=False)
class Training(Entries):
    """A trained retriever: `trained.of("after")["recall@10"].mean`.

    `content` is that of training.json (`seal.train_retriever`); `trained["losses"]` is one entry.
    """

    folder: Path
    """Holds the model; `seal.retrieve(pool, "dense,model=FOLDER")` uses it."""

    @cached_property
    def results(self) -> tuple[RetrieverResult, ...]:
        """Two for each tested pool, of the retrievers "before" and "after"."""
        return tuple(record(RetrieverResult, entry) for entry in self.content["results"])

    def of(self, retriever: str = "after", pool: str | None = None) -> RetrieverResult:
        """Return what was measured before or after, in a pool; the only one may be None.

        Raises:
            UnknownKeyError: There is no such retriever or pool; names the closest.
            UsageError: Several pools were tested.
        """
        return only(self.results, "results", retriever=retriever, pool=pool)

    def _glance(self) -> Glance:
        use = f"use it: seal.retrieve(pool, {f'dense,model={self.folder}'!r})"
        return Glance(measures_grid(self.content)._replace(title="trained retriever"), (use,))

    def _tables(self) -> Iterable[Any]:
        return training_tables(self.content)


@checked_names
@dataclass(frozen=True, repr=False, eq=False)
class Generated(Entries):
    """What was generated; `content` is what `seal.generate` says of its kind."""

    place: Path | None = None
    """The folder that was made, or the file; None: nothing was written."""
    report: ImportReport | None = None
    """What the pool holds; None: no pool was made."""
    errors: tuple[str, ...] = ()
    """Dialogues that the infrastructure failed at, with the failure."""

    @property
    def statistics(self) -> dict[str, Any]:
        """What was proposed, kept and left out, where the kind tells that; else empty."""
        found: dict[str, Any] = self.content.get("generation", {})
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the content."""
        return self.content

    def _glance(self) -> Glance:
        rows = [(name, _short(value)) for name, value in self.content.items() if value]
        grid = Grid(f"generated: {self.place or 'nothing written'}", ("entry", "value"), rows, 2)
        failed = counted(len(self.errors), "dialogue")
        return Glance(grid, [f"{failed} failed: {error}" for error in self.errors[:1]])


def _short(value: Any) -> str:
    """Return an entry in short: of a list how long it is, of an object its names."""
    if isinstance(value, Mapping):
        return ", ".join(map(str, value))
    return str(len(value)) if isinstance(value, list | tuple) else str(value)
