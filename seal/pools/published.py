"""Tables of a benchmark's paper, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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
