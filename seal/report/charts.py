"""Charts as inline SVG: horizontal bars in groups, with whiskers for intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from seal.report.grids import number
from seal.report.pages import render

WIDTH = 460
"""Width of the drawing in its own units; a page scales it."""
TRACK = 380
"""Length of a bar of the largest value; the rest of the width is for the number."""
BAR = 13
GAP = 4
HEADING = 20
SPACE = 10
AXIS = 16


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


@dataclass(frozen=True, slots=True)
class BarGroup:
    """Bars under one heading."""

    heading: str
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class _Drawn:
    label: str
    colour: str
    text: str
    y: int
    width: float
    whisker: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class _DrawnGroup:
    heading: str
    y: int
    bars: list[_Drawn]


def bar_chart(title: str, groups: Sequence[BarGroup], maximum: float = 1.0) -> Markup:
    """Return a figure with one block of bars for each group.

    Args:
        title: Caption of the figure.
        groups: Blocks from top to bottom.
        maximum: Value at the right end; larger ones are cut there, their number stays.
    """
    y = 0
    drawn = []
    for group in groups:
        bars = [
            _draw(bar, y + HEADING + position * (BAR + GAP), maximum)
            for position, bar in enumerate(group.bars)
        ]
        drawn.append(_DrawnGroup(group.heading, y + HEADING - 7, bars))
        y += HEADING + len(bars) * (BAR + GAP) + SPACE
    return render(
        "bars.html",
        title=title,
        groups=drawn,
        width=WIDTH,
        height=y + AXIS,
        track=TRACK,
        bar=BAR,
        ticks=[(TRACK * part / 4, f"{maximum * part / 4:g}") for part in range(5)],
    )


def _draw(bar: Bar, y: int, maximum: float) -> _Drawn:
    def x(value: float) -> float:
        return round(TRACK * min(max(value / maximum, 0.0), 1.0), 1) if maximum > 0 else 0.0

    whisker = None if bar.low is None or bar.high is None else (x(bar.low), x(bar.high))
    text = f"{bar.value:,}" if isinstance(bar.value, int) else number(bar.value)
    width = 0.0 if bar.value is None else x(bar.value)
    return _Drawn(bar.label, bar.colour, text, y, width, whisker)
