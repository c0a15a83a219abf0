"""Charts drawn by matplotlib, as PNG, PDF and SVG files; curves for pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from seal.report.frames import require
from seal.report.grids import grouped, number

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.figure import Figure

    from seal.report.pages import Bar, BarGroup

# -- Figures of series: looks, lines with whiskers in panels, intervals in rows, files.
#
# Equal figures give equal bytes.

FOLDER = "figures"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
"""Told apart by colour-blind readers too (Okabe and Ito)."""
MARKERS = "osD^vPX*"
DASHES = ("-", "--", ":", "-.")
GRID = {"color": "#dddddd", "linewidth": 0.6}
DEVIATIONS = (
    "Error bars: one standard deviation (n - 1) over samples; none where there is one sample."
)
_INTERVALS_SIZE = (4.4, 1.2)
"""Width, and least height, of the axes of intervals, in inches."""
_ROW = 0.16
"""Inches of a mark with its space."""
_BARS = {"floor": "#bbbbbb", "ceiling": COLOURS[2], "undecided": COLOURS[4]}
"""Class of a bar, as pages have it, to its colour."""

Lengths = tuple[float, float]
"""Of a whisker to the left and to the right of a mark, or below and above it."""


class Mark(NamedTuple):
    """A point of a series."""

    x: float
    y: float
    vertical: Lengths | None = None
    """None: no such whiskers; then no mark of the series may have them."""
    horizontal: Lengths | None = None
    text: str = ""
    """Stands beside the point."""


class Series(NamedTuple):
    """Marks of one look."""

    name: str
    number: int
    """From 0; it says which look."""
    marks: Sequence[Mark]
    joined: bool = True
    """False: no line leads from mark to mark."""


class Axis(NamedTuple):
    """What stands along one side of a panel."""

    label: str = ""
    low: float | None = None
    """Where it begins; None: where the marks do."""
    high: float | None = None
    """Where it ends; None: where the marks do."""
    ticks: Mapping[Any, str] | None = None
    """Place to its text; None: numbers, as many as fit."""
    slant: float = 0.0
    """Degrees by which the texts are turned."""
    logarithmic: bool = False


class Panel(NamedTuple):
    """One pair of axes."""

    title: str
    series: Sequence[Series]
    x: Axis
    y: Axis
    bars: Sequence[Bar] = ()
    """Of each row, from 0, the bar that stands behind the series."""


def whisker(mean: float, low: float | None, high: float | None) -> Lengths:
    """Return the lengths of an interval at both sides of a mean; 0 where it has no end."""
    below = 0.0 if low is None else max(0.0, mean - low)
    return below, 0.0 if high is None else max(0.0, high - mean)


def series_figure(
    shown: Sequence[Panel],
    size: tuple[float, float],
    in_row: int,
    sentences: Iterable[str],
    least: int = 1,
) -> Figure:
    """Return a figure of panels with one legend.

    Args:
        shown: The panels.
        size: Width and height of the axes of each, in inches.
        in_row: Panels in a row, at most.
        sentences: The caption.
        least: Series for which there is a legend, at least.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    with styled():
        figure, rows = panels(len(shown), in_row, *size)
        legend: dict[str, Any] = {}
        for panel, axes in zip(shown, chain(*rows), strict=True):
            axes.grid(axis="x" if panel.y.ticks else "y", **GRID)  # behind figures, not names
            axes.set_axisbelow(True)
            _draw_bars(axes, panel.bars)
            for series in panel.series:
                legend[series.name] = draw_series(axes, series)
            _finish(axes, "x", panel.x)
            _finish(axes, "y", panel.y)
            title(axes, panel.title)
        lay_out(figure, rows, legend if len(legend) >= least else {}, *sentences)
        return figure


def draw_series(axes: Any, series: Series) -> Any:
    """Draw a series and return it for the legend; a line without a mark stands there alone."""
    look = line_look(series.number)
    marks = series.marks
    if not series.joined:
        look |= {"linestyle": "none", "elinewidth": 0.8}
    elif not marks:
        return axes.plot([], [], **look)[0]
    line = axes.errorbar(
        [mark.x for mark in marks],
        [mark.y for mark in marks],
        yerr=_sides([mark.vertical for mark in marks]) if marks else [[], []],
        xerr=_sides([mark.horizontal for mark in marks]),
        capsize=2,
        **look,
    )
    for mark in marks:
        place = {"textcoords": "offset points", "color": look["color"], "size": 7}
        axes.annotate(mark.text, (mark.x, mark.y), (4, 4), **place)
    return line


def _sides(whiskers: Sequence[Lengths | None]) -> list[list[float]] | None:
    """Return the lengths at the first side and at the second; None without whiskers."""
    lengths = [each for each in whiskers if each is not None]
    return [[each[side] for each in lengths] for side in (0, 1)] if lengths else None


def _draw_bars(axes: Any, bars: Sequence[Bar]) -> None:
    """Draw bars, a row each, with the intervals of where they begin."""
    for row, bar in enumerate(bars):
        colour = _BARS.get(bar.colour, COLOURS[1])
        axes.barh(row, bar.value, left=bar.begin, color=colour, height=0.7)
    look = {"color": "#333333", "capsize": 2, "elinewidth": 0.8, "linestyle": "none"}
    for row, bar in enumerate(bars):
        if bar.low is not None:
            ends = [[length] for length in whisker(bar.begin, bar.low, bar.high)]
            axes.errorbar(bar.begin, row, xerr=ends, **look)


def _finish(axes: Any, side: Literal["x", "y"], told: Axis) -> None:
    """Give one side its limits, ticks and label, once all is drawn."""
    axis = getattr(axes, f"{side}axis")
    if told.logarithmic:
        axes.set(**{f"{side}scale": "log"})
    axes.set(**{f"{side}lim": (told.low, told.high), f"{side}label": told.label})
    if told.ticks is not None:
        turned = {"rotation": told.slant, "ha": "right"} if told.slant else {}
        axis.set_ticks([*told.ticks], [literal(text) for text in told.ticks.values()], **turned)
        axis.minorticks_off()


def sizes_axis(sizes: Sequence[int]) -> Axis:
    """Return an axis of numbers of tools, ascending, on a logarithmic scale."""
    ticks = {size: f"{size:,}" for size in sizes}
    ends = 0.8 * sizes[0], 1.25 * sizes[-1]  # also where there is nothing to draw
    return Axis("tools in the pool", *ends, ticks, slant=45, logarithmic=True)


def interval_figure(
    title: str,
    label: str,
    groups: Sequence[BarGroup],
    sentences: Sequence[str] = ("Whiskers: 95 % intervals over tasks.",),
    bars: bool = False,
) -> Figure:
    """Return a figure of intervals: a row a group, a mark a bar; 0 is marked, or begins the axis.

    Args:
        title: Of the figure.
        label: Of the axis.
        groups: In the order of the rows; bars of one label are a series. A row without a value
            says `n/a`.
        sentences: The caption.
        bars: Whether the one value of a group is a bar, as on a page, and no mark.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    found = grouped((bar.label, (row, bar)) for row, it in enumerate(groups) for bar in it.bars)
    rows, count = max(1, len(groups)) * (len(found) + 1), len(found)
    width, least = _INTERVALS_SIZE
    series = []
    for place, (name, mine) in enumerate(found.items() if not bars else ()):
        shift = (place - (count - 1) / 2) / (count + 1)  # a little below the series before
        marks = [
            Mark(bar.value, row + shift, horizontal=whisker(bar.value, bar.low, bar.high))
            for row, bar in mine
            if bar.value is not None
        ]
        series.append(Series(name, place, marks, joined=False))
    every = [bar for group in groups for bar in group.bars]
    ends = (end for bar in every for end in (bar.value, bar.low) if end is not None)
    lowest = min(ends, default=0.0)
    across = Axis(label, 0.0 if bars or lowest > 0 else None)  # a mark at 0 needs room
    headings = {
        row: it.heading if any(bar.value is not None for bar in it.bars) else f"{it.heading}: n/a"
        for row, it in enumerate(groups)
    }
    down = Axis("", len(groups) - 0.5, -0.5, headings)
    panel = Panel(title, series, across, down, every if bars else ())
    figure = series_figure([panel], (width, max(least, _ROW * rows)), 1, sentences, least=2)
    if lowest <= 0 and not bars:
        figure.axes[0].axvline(0, color="#333333", linewidth=0.8)
    return figure


def line_look(number: int) -> dict[str, Any]:
    """Return colour, marker and dashes of a line: of 256 lines no two have the same.

    Args:
        number: Of the series, from 0. The first eight are drawn through and differ by colour and
            by marker.
    """
    cycle, place = divmod(number, len(COLOURS))
    return {
        "color": COLOURS[place],
        "marker": MARKERS[(place + cycle) % len(MARKERS)],
        "linestyle": DASHES[(cycle + cycle // len(MARKERS)) % len(DASHES)],
        "markersize": 4,
        "linewidth": 1.2,
    }


def save(figures: Mapping[str, Figure], folder: Path) -> list[Path]:
    """Write figures as SVG and PNG into `figures/` of a folder, and return the files.

    Args:
        figures: Name of the files, without their endings, to figure.
        folder: Of the experiment.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    files = []
    for name, figure in figures.items():
        (folder / FOLDER).mkdir(parents=True, exist_ok=True)
        for kind in ("svg", "png"):
            files.append(folder / FOLDER / f"{name}.{kind}")
            files[-1].write_bytes(picture_of(figure, kind))
    return files


def picture_of(figure: Figure, kind: str) -> bytes:
    """Return a figure as the content of a file.

    Args:
        figure: The figure.
        kind: `svg` or `png`.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    out = BytesIO()
    with styled():
        undated = {"Date": None} if kind == "svg" else {"Software": None}
        figure.savefig(out, format=kind, dpi=150 if kind == "png" else "figure", metadata=undated)
    return out.getvalue()


# -- A figure's style, and where its parts stand: panels of a given size, legend, caption.
#
# Matplotlib's constrained layout keeps texts apart; the figure is made as large as they need, so
# that nothing is cut or covered, however many series it has. All lengths are in inches.

STYLE: Any = {
    "svg.hashsalt": "seal",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "figure.dpi": 100,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
"""Of matplotlib, as `rc_context` takes it."""
_EDGE = 0.12
"""Between the edge of the figure, its panels, its legend and its caption."""
_LABEL_LINES = re.compile(r".{1,48}$|.{1,47}[,:./+ ]|.{1,48}", re.DOTALL)
"""Lines of a legend's label, of at most 48 characters: the last one; one that ends between two
words or options, such as `dense,`; one that cannot."""
_TITLE = 9
"""Characters of a title's line for each inch of its panel."""
_CAPTION = 16
"""Characters of a caption's line for each inch of the panels."""
_LINE = 0.16
"""Height of a line of a legend."""
_ROOM = 12.0
"""More than labels, legend and caption take around the panels, at first."""
_ROUNDS = 3
"""In which the figure is made as large as its panels need."""


@contextmanager
def styled() -> Iterator[None]:
    """Let matplotlib draw and write in `STYLE`.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    require("matplotlib")
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        yield


def literal(text: str) -> str:
    r"""Return a text as matplotlib has to be given it so that it is drawn as it is.

    No part is read as a formula; a character that the font lacks is written as its escape, \u5de5.
    """
    from matplotlib.font_manager import findfont, get_font

    font = get_font(findfont(STYLE["font.family"]))
    known = "".join(
        each if each == "\n" or font.get_char_index(ord(each)) else ascii(each)[1:-1]
        for each in text
    )
    return known.replace("$", r"\$")


def panels(count: int, columns: int, width: float, height: float) -> tuple[Figure, list[list[Any]]]:
    """Return a figure and its axes, in rows from the top; the last row may be shorter.

    Args:
        count: Of panels.
        columns: Panels in a row, at most.
        width: Of each panel's axes.
        height: Of each panel's axes.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = min(columns, count)
    lines = -(-count // columns)
    size = (columns * width, lines * height)
    apart = ConstrainedLayoutEngine(w_pad=_EDGE / 2, h_pad=_EDGE / 2, wspace=0, hspace=0)
    figure = Figure(figsize=size, layout=apart)  # of its own: pyplot need not close it
    FigureCanvasAgg(figure)
    vars(figure)["_repr_png_"] = partial(picture_of, figure, "png")  # as a notebook shows it
    grid = figure.add_gridspec(lines, columns)
    axes = [figure.add_subplot(grid[divmod(number, columns)]) for number in range(count)]
    return figure, [axes[start : start + columns] for start in range(0, count, columns)]


def title(axes: Any, text: str) -> None:
    """Write above a panel what it shows, in as many lines as its width asks for."""
    width = axes.figure.get_figwidth() / axes.get_gridspec().ncols
    axes.set_title(literal("\n".join(wrap(text, max(8, int(_TITLE * width))))))


def lay_out(
    figure: Any, rows: Sequence[Sequence[Any]], shown: Mapping[str, Any], *sentences: str
) -> None:
    """Give a figure its size, and everything in it its place.

    Args:
        figure: Of `panels`, with everything drawn in its axes.
        rows: Of `panels`.
        shown: The legend: an artist for each name; may be empty.
        sentences: The caption, what the marks mean: each begins a line; empty ones are left out.
    """
    import numpy as np

    inner = figure.get_size_inches()
    wrapped = (wrap(sentence, int(_CAPTION * inner[0])) for sentence in sentences)
    caption = literal("\n".join(chain.from_iterable(wrapped)))
    if caption:
        figure.supxlabel(caption, fontsize=6.5, color="#444444")
    if shown:
        names = ["\n".join(_LABEL_LINES.findall(name)) for name in shown]
        lines = sum(name.count("\n") + 1 for name in names)
        figure.legend(
            list(shown.values()),
            list(map(literal, names)),
            loc="outside right upper",
            ncols=int(-(-lines * _LINE // inner[1])),  # as many as the panels' height asks for
            borderaxespad=0,
            frameon=False,
        )
    size = inner / (len(rows[0]), len(rows))
    figure.set_size_inches(inner + _ROOM)
    for _ in range(_ROUNDS):  # what stands around the axes keeps its size, but for ticks
        figure.draw_without_rendering()
        places = [one.get_window_extent() for one in chain.from_iterable(rows)]
        found = min(place.width for place in places), min(place.height for place in places)
        lacking = size - np.divide(found, figure.dpi)
        figure.set_size_inches(figure.get_size_inches() + lacking * (inner / size))


# -- A chart of curves for a page.


_TICKS = 6
"""Values of x that are named each; of more, quarters are."""


def curves(title: str, found: Sequence[Series], axes: tuple[str, str]) -> Markup:
    """Return a figure of curves whose values are in [0, 1].

    Args:
        title: Caption of the figure.
        found: The curves, each with a mark; x at least 0.
        axes: What x and y are.
    """
    # Of pages alone: results of runs, which draw by matplotlib, load no report.
    from seal.report.lanes import RUN_COLOURS
    from seal.report.pages import render

    places = sorted({mark.x for curve in found for mark in curve.marks})
    most = max(places, default=0) or 1

    def across(x: float) -> float:
        return round(36 + 400 * x / most, 1)

    def height(value: float) -> float:
        return round(200 - 180 * min(max(value, 0.0), 1.0), 1)

    def point(mark: Mark) -> dict[str, Any]:
        below, above = mark.vertical or (0.0, 0.0)
        ends = height(mark.y - below), height(mark.y + above)
        text = f"{mark.x:g}: {number(mark.y)}"
        place = across(mark.x), height(mark.y)
        return {"place": place, "text": text, "whisker": ends if below or above else None}

    drawn = [
        (curve.name, f"run-{at % RUN_COLOURS}", list(map(point, curve.marks)))
        for at, curve in enumerate(found)
    ]
    marked = places if len(places) <= _TICKS else [most * part / 4 for part in range(5)]
    ticks = [(across(x), f"{x:,g}") for x in marked]
    scale = [(height(part / 4), f"{part / 4:g}") for part in range(5)]
    return render("curves.html", title=title, curves=drawn, axes=axes, ticks=ticks, scale=scale)
