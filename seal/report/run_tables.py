"""Tables with a row for each run, whose cells are figures with what stands below them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from seal.report.grids import Grid
from seal.report.pages import cell, table

if TYPE_CHECKING:
    from markupsafe import Markup


class Figure(NamedTuple):
    """A number as a table shows it."""

    text: str
    small: str = ""
    """What stands below it: an interval, or how many it is of."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole."""

    part: float = 0.0
    whole: float = 0.0

    @property
    def value(self) -> float | None:
        """The share in [0, 1]; None where there is no whole."""
        return self.part / self.whole if self.whole else None

    @property
    def per_cent(self) -> float | None:
        """The share in per cent; None where there is no whole."""
        return None if self.value is None else 100 * self.value

    @property
    def text(self) -> str:
        """The share in per cent with one decimal; `-` where there is no whole."""
        return "-" if self.per_cent is None else f"{self.per_cent:.1f}"

    @property
    def small(self) -> str:
        """Of how many it is; empty where there is no whole."""
        return f"of {self.whole:.0f}" if self.whole else ""


F = TypeVar("F", bound=Figure | Share)


def page_cell(figure: Figure | Share) -> Markup:
    """Return a figure for a page, with what stands below it."""
    return cell(figure.text, small=figure.small)


@dataclass(frozen=True, slots=True)
class RunTable(Generic[F]):
    """A table with a row for each run."""

    title: str
    rows: Mapping[str, Mapping[str, F]]
    """Label of a run to column to figure; all rows have the same columns."""

    def page(self) -> Markup:
        """Return the table for a page."""
        columns = next(iter(self.rows.values()), {})
        rows = [(label, *map(page_cell, found.values())) for label, found in self.rows.items()]
        return table(Grid(self.title, ("run", *columns), rows), wrapping=True)
