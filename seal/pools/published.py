"""Tables of a benchmark's paper, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from seal.core.errors import DataError, first_fault
from seal.core.types import JSON


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """Figures that were published."""

    title: str
    source: str
    """Paper, table or figure, and page."""
    rows: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """System to the paper's heading of a column to its figure."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """The paper's heading of a column to our metric; a heading that is left out has none."""
    scale: float = 1.0
    """What our figures are multiplied by to stand beside the paper's: 100 for percentages."""

    @classmethod
    def of(cls, told: JSON) -> PublishedTable:
        """Return a table as a run's record holds it.

        Raises:
            DataError: It is no such table.
        """
        from pydantic import TypeAdapter, ValidationError

        try:
            return TypeAdapter(cls).validate_python(told)
        except ValidationError as error:
            raise DataError(f"no table of published figures: {first_fault(error)}") from error

    @property
    def headings(self) -> list[str]:
        """The paper's headings, those of our metrics first."""
        others = (heading for figures in self.rows.values() for heading in figures)
        return list(dict.fromkeys([*self.columns, *others]))
