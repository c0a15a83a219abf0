"""A figure's style, and where its parts stand: panels of a given size, legend, caption.

Every text is measured and the figure made as large as they need, so nothing is cut or covered,
however many series a figure has. All lengths are in inches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple

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
_LOW = 0.3
"""Height of a legend below the panels over theirs, at most; a higher one stands beside them."""
_COLUMNS = 6
"""Of a legend below the panels, at most."""
_LABEL = 48
"""Characters of a legend's line."""
_TITLE = 9
"""Characters of a title's line for each inch of its panel."""
_CAPTION = 21
"""Characters of a caption's line for each inch of the figure, at most."""


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


class _Hang(NamedTuple):
    """What of a panel lies outside its axes: labels, title."""

    left: float
    bottom: float
    right: float
    top: float


class _Legend(NamedTuple):
    artist: Any
    """None where there is nothing to show."""
    width: float
    height: float
    """Below panels: with the space above it."""
    beside: bool
    """To the right of the panels, not below them."""


def panels(count: int, columns: int, width: float, height: float) -> tuple[Figure, list[list[Any]]]:
    """Return a figure and its axes, in rows from the top; the last row may be shorter.

    Args:
        count: Of panels.
        columns: Panels in a row, at most.
        width: Of each panel's axes.
        height: Of each panel's axes.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from seal.report.picture import Picture

    figure = Picture(figsize=(width, height))
    FigureCanvasAgg(figure)
    axes = [figure.add_axes((0, 0, 1, 1), label=f"panel {number}") for number in range(count)]
    return figure, [axes[start : start + columns] for start in range(0, count, columns)]


def title(axes: Any, text: str) -> None:
    """Write above a panel what it shows, in as many lines as its width asks for."""
    width = max(8, int(_TITLE * axes.figure.get_figwidth()))
    axes.set_title(literal("\n".join(wrap(text, width))))


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
    size = figure.get_figwidth(), figure.get_figheight()
    hangs = [[_hang(figure, axes) for axes in row] for row in rows]
    columns = [list(column) for column in zip(*_even(hangs), strict=True)]
    lefts = [max(hang.left for hang in column) for column in columns]
    rights = [max(hang.right for hang in column) for column in columns]
    bottoms = [max(hang.bottom for hang in row) for row in hangs]
    tops = [max(hang.top for hang in row) for row in hangs]
    across = sum(lefts) + sum(rights) + len(columns) * (size[0] + _EDGE) - _EDGE
    down = sum(bottoms) + sum(tops) + len(rows) * (size[1] + _EDGE) - _EDGE
    legend = _legend(figure, shown, across, down)
    beside = legend.width + _EDGE if legend.beside else 0.0
    inner = max(across + beside, legend.width)
    width = inner + 2 * _EDGE
    text, told = _caption(figure, sentences, inner)
    text.set_position((width / 2, _EDGE))
    base = _EDGE + told + (0.0 if legend.beside else legend.height)
    top = base + max(down, legend.height if legend.beside else 0.0)
    figure.set_size_inches(width, top + _EDGE)
    if legend.beside:
        place = (width - _EDGE - legend.width / 2, top - legend.height)
        legend.artist.set_bbox_to_anchor(place, figure.dpi_scale_trans)
    elif legend.artist is not None:
        legend.artist.set_bbox_to_anchor((width / 2, _EDGE + told), figure.dpi_scale_trans)
    y = top
    for row, bottom, above in zip(rows, bottoms, tops, strict=True):
        y -= above + size[1]
        x = (width - across - beside) / 2
        for axes, left, right in zip(row, lefts, rights, strict=False):
            _place(axes, (x + left, y), size)
            x += left + size[0] + right + _EDGE
        y -= bottom + _EDGE


def _place(axes: Any, corner: tuple[float, float], size: tuple[float, float]) -> None:
    width, height = axes.figure.get_size_inches()
    axes.set_position((corner[0] / width, corner[1] / height, size[0] / width, size[1] / height))


def _even(rows: Sequence[Sequence[_Hang]]) -> list[list[_Hang]]:
    """Return rows of equal length; a panel that is not there hangs nowhere."""
    longest = max(map(len, rows))
    return [[*row, *[_Hang(0, 0, 0, 0)] * (longest - len(row))] for row in rows]


def _hang(figure: Any, axes: Any) -> _Hang:
    inside = axes.get_window_extent()
    outside = axes.get_tightbbox(figure.canvas.get_renderer())
    lengths = (
        inside.x0 - outside.x0,
        inside.y0 - outside.y0,
        outside.x1 - inside.x1,
        outside.y1 - inside.y1,
    )
    return _Hang(*(max(0.0, length / figure.dpi) for length in lengths))


def _extent(figure: Any, artist: Any) -> tuple[float, float]:
    box = artist.get_window_extent(figure.canvas.get_renderer())
    return box.width / figure.dpi, box.height / figure.dpi


def _legend(figure: Any, shown: Mapping[str, Any], across: float, down: float) -> _Legend:
    """Return the legend of panels: below them where it is low there, else beside them."""
    if not shown:
        return _Legend(None, 0.0, 0.0, beside=False)
    for columns in range(min(_COLUMNS, len(shown)), 0, -1):
        below = _in_columns(figure, shown, columns, beside=False)
        if below.width <= across and below.height <= _LOW * down:
            return below
        below.artist.remove()
    for columns in range(1, len(shown)):
        beside = _in_columns(figure, shown, columns, beside=True)
        if beside.height <= down:
            return beside
        beside.artist.remove()
    return _in_columns(figure, shown, 1, beside=True)


def _in_columns(figure: Any, shown: Mapping[str, Any], columns: int, *, beside: bool) -> _Legend:
    names = [literal(_broken(name)) for name in shown]
    artist = figure.legend(
        list(shown.values()), names, loc="lower center", ncols=columns, frameon=False
    )
    width, height = _extent(figure, artist)
    return _Legend(artist, width, height if beside else height + _EDGE, beside)


def _broken(name: str) -> str:
    """Return a name in lines that end, where they can, between two words or options."""
    lines = [""]
    for part in re.findall(r"[^,:./+ ]*[,:./+ ]|[^,:./+ ]+", name):
        for piece in (part[start : start + _LABEL] for start in range(0, len(part), _LABEL)):
            if len(lines[-1]) + len(piece) > _LABEL:
                lines.append("")
            lines[-1] += piece
    return "\n".join(lines)


def _caption(figure: Any, sentences: Sequence[str], width: float) -> tuple[Any, float]:
    """Return the caption in lines of at most a width, and the height that it takes."""
    text = figure.text(
        0, 0, "", fontsize=6.5, color="#444444", ha="center", transform=figure.dpi_scale_trans
    )
    text.set_verticalalignment("bottom")
    for length in range(int(_CAPTION * width), 0, -2):
        lines = [line for sentence in sentences for line in wrap(sentence, length)]
        text.set_text(literal("\n".join(lines)))
        if not lines or _extent(figure, text)[0] <= width:
            break
    return text, _extent(figure, text)[1] + _EDGE if text.get_text() else 0.0
