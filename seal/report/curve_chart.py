"""A chart of curves for a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from seal.report.grids import number
from seal.report.pages import COLOURS, render


class Point(NamedTuple):
    """One point of a curve."""

    x: float
    y: float
    low: float | None = None
    high: float | None = None


class Curve(NamedTuple):
    """Points that belong together."""

    label: str
    points: Sequence[Point]
    joined: bool = True
    """Whether a line goes through them."""


_TICKS = 6
"""Values of x that are named each; of more, quarters are."""


def curves(title: str, found: Sequence[Curve], axes: tuple[str, str]) -> Markup:
    """Return a figure of curves whose values are in [0, 1].

    Args:
        title: Caption of the figure.
        found: The curves, each with a point; x at least 0.
        axes: What x and y are.
    """
    most = max((point.x for curve in found for point in curve.points), default=0) or 1
    left, bottom = 36, 200

    def place(point: Point) -> tuple[float, float]:
        return round(left + 400 * point.x / most, 1), height(point.y)

    def height(value: float) -> float:
        return round(bottom - 180 * min(max(value, 0.0), 1.0), 1)

    drawn = [
        {
            "label": curve.label,
            "colour": f"run-{position % COLOURS}",
            "joined": curve.joined,
            "points": [
                {
                    "place": place(point),
                    "text": f"{point.x:g}: {number(point.y)}",
                    "whisker": None
                    if point.low is None or point.high is None
                    else (height(point.low), height(point.high)),
                }
                for point in curve.points
            ],
        }
        for position, curve in enumerate(found)
    ]
    places = sorted({point.x for curve in found for point in curve.points})
    marked = places if len(places) <= _TICKS else [most * part / 4 for part in range(5)]
    ticks = [(round(left + 400 * x / most, 1), f"{x:,g}") for x in marked]
    scale = [(height(part / 4), f"{part / 4:g}") for part in range(5)]
    return render("curves.html", title=title, curves=drawn, axes=axes, ticks=ticks, scale=scale)
