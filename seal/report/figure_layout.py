"""A figure's style, and where its parts stand: panels of a given size, legend, caption.

Matplotlib's constrained layout keeps texts apart; the figure is made as large as they need, so that
nothing is cut or covered, however many series it has. All lengths are in inches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from seal.report.frames import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
_LABEL = 48
"""Characters of a legend's line."""
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
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    from seal.report.picture import Picture

    columns = min(columns, count)
    lines = -(-count // columns)
    size = (columns * width, lines * height)
    apart = ConstrainedLayoutEngine(w_pad=_EDGE / 2, h_pad=_EDGE / 2, wspace=0, hspace=0)
    figure = Picture(figsize=size, layout=apart)
    FigureCanvasAgg(figure)
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
    text = literal("\n".join(chain.from_iterable(wrapped)))
    caption = figure.text(0.5, 0.005, text, fontsize=6.5, color="#444444", ha="center", va="bottom")
    told = caption.get_window_extent().height + _EDGE * figure.dpi if text else 0.0
    if shown:
        _add_legend(figure, shown, inner[1])
    size = inner / (len(rows[0]), len(rows))
    figure.set_size_inches(inner + _ROOM)
    for _ in range(_ROUNDS):  # what stands around the axes keeps its size, but for ticks
        share = told / figure.bbox.height
        figure.get_layout_engine().set(rect=(0, share, 1, 1 - share))
        figure.draw_without_rendering()
        places = [one.get_window_extent() for one in chain.from_iterable(rows)]
        found = min(place.width for place in places), min(place.height for place in places)
        lacking = size - np.divide(found, figure.dpi)
        figure.set_size_inches(figure.get_size_inches() + lacking * (inner / size))


def _add_legend(figure: Any, shown: Mapping[str, Any], down: float) -> None:
    """Add the legend beside the panels, in as many columns as their height asks for.

    Args:
        figure: Gets it.
        shown: As of `lay_out`.
        down: Height of all panels.
    """
    names = [_broken(name) for name in shown]
    lines = sum(name.count("\n") + 1 for name in names)
    figure.legend(
        list(shown.values()),
        list(map(literal, names)),
        loc="outside right upper",
        ncols=int(-(-lines * _LINE // down)),
        borderaxespad=0,
        frameon=False,
    )


def _broken(name: str) -> str:
    """Return a name in lines that end, where they can, between two words or options."""
    lines = [""]
    for part in re.findall(r"[^,:./+ ]*[,:./+ ]|[^,:./+ ]+", name):
        for piece in (part[start : start + _LABEL] for start in range(0, len(part), _LABEL)):
            if len(lines[-1]) + len(piece) > _LABEL:
                lines.append("")
            lines[-1] += piece
    return "\n".join(lines)
