"""A result at a glance: a table with a few lines, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from seal.report.grids import Grid
from seal.report.printable import one_line, printable

LINES = 15
"""Of a text, at most."""
_ROWS = 50
"""Of a table in a notebook, at most."""
_CELL = 44
"""Characters of a cell of a text."""
_LINE = 120
"""Characters of a line above or below the table of a text."""
_WIDTH = 120
"""Columns of a table as the terminal has it."""


class Glance(NamedTuple):
    """What is shown of a result."""

    grid: Grid
    """Its title stands first."""
    foot: Sequence[str] = ()
    """Lines below the table."""


def glance_text(glance: Glance) -> str:
    """Return at most `LINES` lines: the title, as many rows as there is room for, the foot."""
    head = [one_line(line, _LINE) for line in glance.grid.title.splitlines()]
    foot = [one_line(line, _LINE) for line in glance.foot]
    room = LINES - len(head) - len(foot) - 1
    rows = glance.grid.rows
    if len(rows) > room:
        rows, foot = rows[: room - 1], [_more(len(rows) - room + 1), *foot]
    return "\n".join((*head, *(_aligned(glance.grid.columns, rows) if rows else ()), *foot))


def glance_html(glance: Glance) -> str:
    """Return the table with its title and foot as HTML; every text in it is escaped."""
    grid = glance.grid
    rows, foot = grid.rows[:_ROWS], list(glance.foot)
    if len(grid.rows) > _ROWS:
        foot.insert(0, _more(len(grid.rows) - _ROWS))
    body = Markup("").join(Markup("<tr>{}</tr>").format(_cells(row, "td")) for row in rows)
    table = Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>")
    parts = (
        _lines(grid.title.splitlines()),
        table.format(_cells(grid.columns, "th"), body) if rows else Markup(""),
        _lines(foot),
    )
    return str(Markup("<div>{}{}{}</div>").format(*parts))


def terminal_text(renderables: Iterable[Any]) -> str:
    """Return tables and lines as a terminal shows them, without colours."""
    from rich.console import Console

    out = StringIO()
    console = Console(
        file=out, width=_WIDTH, highlight=False, markup=False, emoji=False, color_system=None
    )
    for each in renderables:
        console.print(each, soft_wrap=isinstance(each, str))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _more(count: int) -> str:
    return f"... and {count:,} more"


def _aligned(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a header and rows in columns of equal width: names to the left, figures right."""
    lines = [[one_line(cell, _CELL) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _cells(row: Iterable[str], tag: str) -> Markup:
    return Markup("").join(Markup(f"<{tag}>{escape(printable(cell))}</{tag}>") for cell in row)


def _lines(lines: Iterable[str]) -> Markup:
    return Markup("").join(Markup("<div>{}</div>").format(printable(line)) for line in lines)
