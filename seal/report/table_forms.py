"""A table as terminal text, notebook, Markdown, LaTeX, CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup, escape
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from seal.core.files import AtomicFile
from seal.core.text import one_line, printable
from seal.report.grids import Grid, is_text

# -- Grids that are drawn in a terminal without a word being broken, as far as they fit it.

_WORDS = re.compile(r"\[[^]\n]*\]|\S+")
"""Words that are not broken; an interval is one: `[0.250, 1.000]`."""
_PROSE = 30
"""Characters of a first line that is no figure but a text, which is read from the left."""
_COMPACT: Any = {"padding": (0, 0, 0, 1), "pad_edge": False}


def fitted_tables(grid: Grid, width: int) -> Iterator[Table]:
    """Yield a grid as tables that stand below each other.

    It is one table where its words fit side by side. Else it stands in parts, with less space
    between their columns, and each repeats the first columns. Where not even the words of two
    columns fit, rich decides.

    Args:
        grid: What is drawn.
        width: Characters of a line; a word that takes more than three quarters of it may be broken.
    """
    narrow = grid.narrow
    rows = [list(map(printable, row)) for row in grid.rows]
    title, columns = printable(grid.title), list(map(printable, grid.columns))
    grid = grid._replace(title=title, columns=columns, rows=rows)
    least = _least(grid, width)
    room = width - 1 - 3 * len(least)  # a line and two spaces for each column
    if narrow is not None and sum(map(_most, _columns(grid))) > room:
        yield from fitted_tables(narrow, width)
        return
    if sum(least) <= room:
        yield _table(grid, least, room, padding=(0, 1))
        return
    first = _first(grid, least, width)
    if sum(least) + 2 * len(least) > width:  # else one part is enough
        least[: len(first)] = first
    for number, places in enumerate(_parts(least, len(first), width)):
        title = "" if number else grid.title
        names = sum(place < grid.names for place in places)
        heads = [grid.columns[place] for place in places]
        cells = [[row[place] for place in places] for row in rows]
        needed = [least[place] for place in places]
        part = grid._replace(title=title, columns=heads, rows=cells, names=names)
        yield _table(part, needed, width - 2 * len(places), **_COMPACT)


def _first(grid: Grid, least: Sequence[int], width: int) -> list[int]:
    """Return the widths of the columns that each part repeats: the first, and names in half a line.

    They are wide enough for whole names of up to a quarter of a line.
    """
    columns = _columns(grid)[: max(1, grid.names)]
    wide = [
        max(words, min(width // 4, _most(column)))
        for words, column in zip(least, columns, strict=False)
    ]
    while len(wide) > 1 and sum(wide) + 2 * len(wide) > width // 2:
        wide.pop()
    return wide


def _parts(least: Sequence[int], repeated: int, width: int) -> Iterator[list[int]]:
    """Yield the columns of each part: those that are repeated, and others that have room."""
    shown = list(range(repeated))
    for place in range(repeated, len(least)):
        fits = sum(least[each] + 2 for each in (*shown, place)) <= width
        if len(shown) > repeated and not fits:
            yield shown
            shown = list(range(repeated))
        shown.append(place)
    yield shown


def _table(grid: Grid, least: Sequence[int], room: int, **look: Any) -> Table:
    title = Text(grid.title, style="table.title") if grid.title else None
    table = Table(title=title, title_justify="left", **look)
    widths = _shared(least, [_most(column) for column in _columns(grid)], room)
    for place, (head, *cells) in enumerate(_columns(grid)):
        left = place < grid.names or any(len(cell.partition("\n")[0]) >= _PROSE for cell in cells)
        justify: Any = "left" if left else "right"
        table.add_column(Text(head), justify=justify, overflow="fold", width=widths[place])
    for row in grid.rows:
        table.add_row(*(_text(cell, grid.colours or {}) for cell in row))
    return table


def _text(cell: str, colours: Mapping[str, str]) -> Text:
    """Return a cell whose further lines, which say more of its figure, are dim."""
    first, line, more = cell.partition("\n")
    return Text(first, style=colours.get(first, "")).append(line + more, style="dim")


def _columns(grid: Grid) -> list[tuple[str, ...]]:
    return list(zip(grid.columns, *grid.rows, strict=True))


def _least(grid: Grid, width: int) -> list[int]:
    """Return the widths of columns that break no word."""
    words = [_WORDS.findall("\n".join(column)) for column in _columns(grid)]
    return [min(3 * width // 4, max(map(cell_len, found), default=0)) for found in words]


def _most(column: Sequence[str]) -> int:
    return max(map(cell_len, "\n".join(column).splitlines()), default=0)


def _shared(least: Sequence[int], most: Sequence[int], room: int) -> Sequence[int | None]:
    """Return the widths of columns; who wants least more than its words gets it first."""
    spare = room - sum(least)
    if spare < 0:
        return [None] * len(least)
    widths = list(least)
    wanting = sorted(range(len(least)), key=lambda place: most[place] - least[place])
    for number, place in enumerate(wanting):
        more = min(most[place] - least[place], spare // (len(wanting) - number))
        widths[place] += more
        spare -= more
    return widths


# -- Tables as Markdown and as LaTeX.

_MARKDOWN = re.compile(r"[\\`*|~$]|\](?=\s*[(\[:])")
"""What would leave a cell, or begin code, a link or a formula; an interval stays as it is."""


_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"{\char34}",
    "[": "{[}",
    "]": "{]}",
}
"""Brackets are wrapped: after `\\\\` one would be read as a distance. A quote has no command in
OT1, the encoding of a document that names none."""


def markdown(part: Grid | str) -> str:
    """Return a table with its title as Markdown, or a line as an item of a list."""
    if isinstance(part, str):
        return f"- {escape_markdown(part)}"
    rows = (part.columns, ("---",) * len(part.columns), *part.rows)
    lines = ["| " + " | ".join(map(escape_markdown, row)) + " |" for row in rows]
    return "\n".join((f"## {escape_markdown(part.title)}\n", *lines))


def write_paragraphs(path: Path, *parts: str) -> Path:
    """Write parts of a text with an empty line between each two, and return the file."""
    with AtomicFile(path) as file:
        file.write(("\n\n".join(parts) + "\n").encode())
    return path


def latex(
    grid: Grid,
    label: str = "",
    rules: tuple[str, str, str] = (r"\toprule", r"\midrule", r"\bottomrule"),
    texts: bool = False,
) -> str:
    """Return the table as LaTeX; with the usual rules it needs the package booktabs.

    Args:
        grid: The table; its title becomes the caption.
        label: By which the text refers to it; empty: it has none.
        rules: Above the head, below it, and below the table.
        texts: Give columns of words as many lines as they need.
    """
    head, *body = (" & ".join(map(escape_latex, row)) for row in (grid.columns, *grid.rows))
    figures = range(grid.names, len(grid.columns))
    kinds = ["p{6cm}" if texts and is_text(grid, place) else "r" for place in figures]
    above, below, last = rules
    return "\n".join(
        (
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(grid.title)}}}",
            *([rf"\label{{{label}}}"] if label else ()),
            rf"\begin{{tabular}}{{{'l' * grid.names}{''.join(kinds)}}}",
            above,
            rf"{head} \\",
            below,
            *(rf"{row} \\" for row in body),
            last,
            r"\end{tabular}",
            r"\end{table}",
        )
    )


def latex_comment(text: str) -> str:
    """Return a line that LaTeX does not print."""
    return f"% {escape_latex(text)}"


def escape_markdown(text: str) -> str:
    """Return a text that cannot leave its cell nor be read as HTML, a link, code or a formula."""
    line = " ".join(printable(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    return _MARKDOWN.sub(lambda found: f"\\{found.group()}", line)


def escape_latex(text: str) -> str:
    """Return a text on one line in which no character commands LaTeX."""
    line = " ".join(printable(text).split())
    return "".join(_LATEX.get(character, character) for character in line)


# -- A result at a glance: a table with a few lines, as text and as HTML.

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
