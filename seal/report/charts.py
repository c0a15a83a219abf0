"""Charts of pages, drawn as SVG: bars, intervals, curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from markupsafe import Markup

from seal.report.grids import number
from seal.report.pages import AXIS, BAR, GAP, HEADING, SPACE, TRACK, WIDTH, _draw, render

# -- A chart of curves for a page.


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


# -- Charts of bars and of intervals for a page.


@dataclass(frozen=True, slots=True)
class Bar:
    """One value."""

    label: str
    """Whose value; told by colour, and by text where colours are not seen."""
    colour: str
    """Class of the style sheet: floor, ceiling, run-0 ... run-5."""
    value: float | None
    low: float | None = None
    high: float | None = None
    band: tuple[float, float] | None = None
    """What it stands before: from floor to ceiling; None: nothing."""
    begin: float = 0.0
    """Where a bar begins."""


@dataclass(frozen=True, slots=True)
class BarGroup:
    """Bars under one heading."""

    heading: str
    bars: tuple[Bar, ...]


def forest(title: str, groups: Sequence[BarGroup], ends: tuple[float, float] = (0, 1)) -> Markup:
    """Return a figure with a point for each value, between the ends of its interval.

    Args:
        title: Caption of the figure.
        groups: Blocks from top to bottom.
        ends: Values at the left and the right end.
    """
    return bar_chart(title, groups, ends[1], ends[0], points=True)


def bar_chart(
    title: str,
    groups: Sequence[BarGroup],
    maximum: float = 1.0,
    minimum: float = 0.0,
    *,
    points: bool = False,
) -> Markup:
    """Return a figure with one block of bars for each group.

    Args:
        title: Caption of the figure.
        groups: Blocks from top to bottom.
        maximum: Value at the right end; larger ones are cut there, their number stays.
        minimum: Value at the left end.
        points: Whether a value is a point, as in a forest plot, and no bar.
    """
    y = 0
    drawn = []
    for group in groups:
        bars = [
            _draw(bar, y + HEADING + position * (BAR + GAP), minimum, maximum)
            for position, bar in enumerate(group.bars)
        ]
        drawn.append({"heading": group.heading, "y": y + HEADING - 7, "bars": bars})
        y += HEADING + len(bars) * (BAR + GAP) + SPACE
    width = maximum - minimum
    places: dict[str, Any] = {"width": WIDTH, "height": y + AXIS, "track": TRACK, "bar": BAR}
    places["ticks"] = [(TRACK * part / 4, f"{minimum + width * part / 4:g}") for part in range(5)]
    return render("bars.html", title=title, groups=drawn, points=points, **places)


COLOURS = 6
"""Colours of the style sheet: run-0 ... run-5."""
