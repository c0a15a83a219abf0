"""What a paper published of a benchmark: tables and figures as data, and where ours come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from seal.core import JSON, DataError, first_fault
from seal.core.field_docs import with_field_docs
from seal.core.package_data import shipped_json

Source = Literal["run", "pool", "sweep", "retrieval"]
"""What figures are made from: a scored run, the tools and tasks of a pool or run, or the results of
`seal sweep` and `seal retrieve`."""


def shipped_rows(package: str) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Return the figures in a pack's `published.json`: name of a table to its `rows`."""
    tables: Mapping[str, Mapping[str, Mapping[str, float]]]
    tables = shipped_json(package, "published.json")
    return tables


@with_field_docs
@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table or figure of a paper: its figures, and how ours are found."""

    title: str
    source: str
    """Paper, table or figure, and page."""
    rows: Mapping[str, Mapping[str, float | str]] = field(default_factory=dict)
    """System to the paper's heading of a column to its figure, or to a text that has none; empty:
    the layout alone."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The paper's heading of a column to our metric, or to `metric|group` as summary.json names
    groups; empty: `figures` tells it. A heading of `rows` that is left out has none."""
    scale: float = 1.0
    """What means of our metrics are multiplied by to stand beside the paper's: 100 for
    percentages. Means of a metric that is no rate (`Scale`), and what `figures` tells, stand as
    they are."""
    digits: int | None = None
    """Decimals of figures; None: as many as are published under the same heading, one of
    percentages, else by size."""
    name: str = ""
    """As `seal paper --table` takes it, such as `table-3`; empty: by the number of table or figure
    that `source` tells, else by its place among the tables."""
    paper: str = ""
    """Where several benchmarks stand in one paper, its name; `seal paper` takes it as well."""
    figures: Callable[..., Any] | str | None = None
    """(what is measured) to {row: {heading: figure}}, or where that function stands; the row of the
    whole is named by an empty text, others as in `rows`. What is measured is a
    `seal.report.lanes.Lane`, a `StoredPool`, or the content of sweep.json or results.json."""
    of: Source = "run"
    """What its figures are made from."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """Heading to the flags or commands that give it, told where it is missing; of the empty text:
    those that the table as a whole needs."""
    lacks: str = ""
    """Which of the paper's figures are not at hand, where `rows` has some of them."""
    drawn: Literal["", "bars", "lines", "heat"] = ""
    """What is a figure in the paper: marks by heading, lines over the rows, or a table coloured by
    figures in per cent. A page has bars for the first two, a terminal a table."""

    @property
    def headings(self) -> list[str]:
        """The paper's headings, those of our metrics first."""
        others = (heading for figures in self.rows.values() for heading in figures)
        return list(dict.fromkeys([*self.columns, *others]))

    @classmethod
    def of_json(cls, told: JSON) -> PublishedTable:
        """Return a table as a run's record holds it; a record names no code.

        Raises:
            DataError: It is no such table.
        """
        from pydantic import TypeAdapter, ValidationError

        try:
            plain = {**told, "figures": None} if isinstance(told, dict) else told
            return TypeAdapter(cls).validate_python(plain)
        except ValidationError as error:
            raise DataError(f"no table of published figures: {first_fault(error)}") from error

    def to_json(self) -> dict[str, Any]:
        """Return what a run's record holds: what is given of it, without code."""
        every = {name: getattr(self, name) for name in self.__slots__ if name != "figures"}
        return {name: dict(v) if isinstance(v, Mapping) else v for name, v in every.items() if v}
