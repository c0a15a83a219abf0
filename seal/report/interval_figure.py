"""Metrics with their intervals as a figure: a row a metric, a mark a series."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from seal.report.figure_layout import lay_out, panels, title
from seal.report.figures import line_look, literal, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH = 4.4
_LEAST = 1.2
"""Height of the axes, at least, in inches."""
_ROW = 0.16
"""Inches of a mark with its space."""
_CAPTION = "Whiskers: 95 % bootstrap intervals over tasks."

Interval = tuple[float | None, float | None, float | None]
"""A mean and the bounds of its interval; without a mean there is no mark."""


class Intervals(NamedTuple):
    """What a figure shows."""

    title: str
    label: str
    """Of the axis."""
    series: Mapping[str, Mapping[str, Interval]]
    """Name to the interval of each metric, in the order of the rows."""
    differences: bool = False
    """True: 0 is marked; else it is where the axis begins."""


def interval_figure(shown: Intervals) -> Figure:
    """Return the figure.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    metrics = list(dict.fromkeys(name for found in shown.series.values() for name in found))
    rows = max(1, len(metrics)) * (len(shown.series) + 1)
    with styled():
        figure, panel = panels(1, 1, _WIDTH, max(_LEAST, _ROW * rows))
        axes = panel[0][0]
        marks = {
            name: _marks(axes, number, metrics, found, len(shown.series))
            for number, (name, found) in enumerate(shown.series.items())
        }
        axes.set_yticks(range(len(metrics)), [literal(name) for name in metrics])
        axes.set_ylim(len(metrics) - 0.5, -0.5)
        axes.grid(axis="x", color="#dddddd", linewidth=0.6)
        if shown.differences:
            axes.axvline(0, color="#333333", linewidth=0.8)
        else:
            axes.set_xlim(left=min(0.0, axes.get_xlim()[0]))
        axes.set_xlabel(shown.label)
        title(axes, shown.title)
        lay_out(figure, panel, marks if len(marks) > 1 else {}, _CAPTION)
    return figure


def _marks(
    axes: Any, number: int, metrics: list[str], found: Mapping[str, Interval], series: int
) -> Any:
    """Draw a series, each mark a little below that of the series before, and return it."""
    shift = (number - (series - 1) / 2) / (series + 1)
    means, places, below, above = [], [], [], []
    for place, name in enumerate(metrics):
        mean, low, high = found.get(name, (None, None, None))
        if mean is not None:
            means.append(mean)
            places.append(place + shift)
            below.append(0.0 if low is None else max(0.0, mean - low))
            above.append(0.0 if high is None else max(0.0, high - mean))
    look = {**line_look(number), "linestyle": "none"}
    return axes.errorbar(means, places, xerr=[below, above], capsize=2, elinewidth=0.8, **look)
