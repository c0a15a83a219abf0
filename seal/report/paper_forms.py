"""Tables of a paper as text, LaTeX, pages and figures.

A figure has marks by heading, lines over the rows, or a heat map.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import nan
from typing import TYPE_CHECKING, Any

from seal.report.figure_layout import lay_out, literal, panels, styled, title
from seal.report.figures import Mark, Panel, Series, series_figure
from seal.report.glance import terminal_text
from seal.report.markup import latex, latex_comment
from seal.report.pages import inline, render
from seal.report.paper import PaperTable, Row
from seal.report.printable import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANEL = (5.0, 2.6)
_CELL = (0.6, 0.16)
"""Width and height of a cell of a heat map, in inches."""
_MOST = 100.0
"""Figure of the darkest cell."""


def document(name: str, tables: Sequence[PaperTable], lines: Sequence[str], format: str) -> str:
    """Return tables as a file of one format: text, latex or html.

    Args:
        name: Of the paper.
        tables: Its tables.
        lines: What is told below them.
        format: As named above.
    """
    if format == "latex":
        return "\n\n".join((*map(_latex, tables), "\n".join(map(latex_comment, lines)))) + "\n"
    if format == "html":
        shown = {"title": name, "tables": tables, "lines": lines}
        return str(render("paper.html", **shown, **inline(scripted=False)))
    return terminal_text(shown_parts(tables, lines)) + "\n"


def shown_parts(tables: Sequence[PaperTable], lines: Sequence[str]) -> Iterator[Any]:
    """Yield tables and lines as a terminal shows them."""
    for each in tables:
        yield printable(each.title)
        yield each.grid()._replace(title="")
        yield from map(printable, each.notes)
    yield from map(printable, lines)


def _latex(table: PaperTable) -> str:
    """Return a table as LaTeX that needs no package; notes are comments."""
    body = latex(table.grid(), rules=(r"\hline",) * 3, texts=True)
    return "\n".join((*map(latex_comment, table.notes), body))


def figure_of(table: PaperTable) -> Figure:
    """Return a table as a figure; differences and texts are left out.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    rows = [row for row in table.rows if row.outside is None]
    with styled():
        if table.published.drawn == "heat":
            return _heat_map(table, rows)
        over_rows = table.published.drawn == "lines"
        ticks = list(dict.fromkeys(row.name for row in rows)) if over_rows else table.headings

        def finish(axes: Any) -> None:
            axes.set_xticks(range(len(ticks)), list(map(literal, ticks)), rotation=30, ha="right")
            axes.set_xlim(-0.5, len(ticks) - 0.5)
            low, high = axes.get_ylim()
            axes.set_ylim(min(0.0, low), 1.03 * high)

        shown = _over_rows(table, rows, ticks) if over_rows else _by_heading(table, rows)
        panel = Panel(table.title, list(shown), finish)
        return series_figure([panel], _PANEL, 1, table.notes)


def _by_heading(table: PaperTable, rows: list[Row]) -> Iterator[Series]:
    """Yield a series a row, its marks beside those of the others."""
    for number, row in enumerate(rows):
        shift = (number - (len(rows) - 1) / 2) / (len(rows) + 1)
        known = [(place, row.number(heading)) for place, heading in enumerate(table.headings)]
        marks = [Mark(place + shift, value) for place, value in known if value is not None]
        yield Series(f"{row.name} {row.whose}", number, marks, joined=False)


def _over_rows(table: PaperTable, rows: list[Row], ticks: Sequence[str]) -> Iterator[Series]:
    """Yield a series for each heading and each source that has figures of it."""
    whose_all = dict.fromkeys(row.whose for row in rows)
    for number, (whose, heading) in enumerate(product(whose_all, table.headings)):
        known = [(ticks.index(r.name), r.number(heading)) for r in rows if r.whose == whose]
        marks = [Mark(place, value) for place, value in known if value is not None]
        if marks:
            yield Series(f"{heading} {whose}", number, marks)


def _heat_map(table: PaperTable, rows: list[Row]) -> Figure:
    """Return a row of cells a row, coloured from 0 to 100 %."""
    size = (_CELL[0] * len(table.headings), _CELL[1] * len(rows))
    figure, axes = panels(1, 1, *size)
    ours = axes[0][0]
    values = [[row.number(heading) for heading in table.headings] for row in rows]
    cells = [[nan if value is None else value for value in row] for row in values]
    ours.imshow(cells, aspect="auto", cmap="Blues", vmin=0, vmax=_MOST)
    ours.set_xticks(range(len(table.headings)), list(map(literal, table.headings)))
    ours.set_yticks(
        range(len(rows)), [literal(f"{row.name} {row.whose}") for row in rows], fontsize=6
    )
    for place, row in enumerate(values):
        for number, value in enumerate(row):
            if value is not None:
                look = {"color": "white" if value > _MOST / 2 else "black", "fontsize": 6}
                ours.text(number, place, f"{value:.0f}", ha="center", va="center", **look)
    title(ours, table.title)
    lay_out(figure, axes, {}, *table.notes)
    return figure
