"""Forms of tables: Markdown, LaTeX, at a glance; and a row for each run."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from csv import writer
from dataclasses import dataclass
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from markupsafe import Markup, escape

from seal.core.files import AtomicFile
from seal.core.text import one_line, printable
from seal.report.grids import UNCORRECTED, Grid, number, told
from seal.report.pages import cell, table

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


_BOOKTABS = (r"\toprule", r"\midrule", r"\bottomrule")
"""Rules above a table's head, below it, and below the table."""
_FLOATS = 12
"""Tables between two places at which all that wait are printed."""
_CONTROL = re.compile("[\u2400-\u2426]")
"""Pictures of control characters, which the usual fonts of LaTeX lack."""


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


def write_markdown(path: Path, title: str, parts: Iterable[Grid | str]) -> None:
    """Write tables and lines as Markdown."""
    write_paragraphs(path, f"# {escape_markdown(title)}", *map(markdown, parts))


def write_latex(path: Path, parts: Iterable[tuple[Grid | str, str]]) -> None:
    r"""Write tables, each with its label, and lines for \input (`latex_text`)."""
    write_paragraphs(path, latex_text(parts))


def latex_text(parts: Iterable[tuple[Grid | str, str]]) -> str:
    """Return tables, each with its label, and lines as LaTeX; the first line names the packages."""
    return "\n\n".join((_PACKAGES, *latex_parts(parts)))


def latex_parts(
    parts: Iterable[tuple[Grid | str, str]], rules: tuple[str, str, str] = _BOOKTABS
) -> Iterator[str]:
    r"""Yield each float of each table, and each line as a comment.

    After every `_FLOATS` of them \clearpage prints those that still wait: LaTeX refuses a text in
    which more than 18 do.
    """
    floats = 0
    for part, label in parts:
        if isinstance(part, str):
            yield latex_comment(part)
            continue
        for each in _floats(part, label, rules):
            yield each
            floats += 1
            if floats % _FLOATS == 0:
                yield r"\clearpage"


_PACKAGES = r"% \usepackage{booktabs,graphicx}"


def csv_text(grids: Iterable[Grid]) -> str:
    """Return tables as CSV, with an empty line between each two; a number has its own cell."""
    out = StringIO()
    for place, grid in enumerate(grids):
        out.write("\n" * bool(place))
        columns = chain.from_iterable(
            _numbers(head, cells) for head, *cells in zip(grid.columns, *grid.rows, strict=True)
        )
        writer(out, lineterminator="\n").writerows(zip(*columns, strict=True))
    return out.getvalue()


INTERVAL, COUNT = "95 % interval", "n"
"""Heads of the columns of intervals, and of counts such as `195 of 240`."""
_INTERVAL = re.compile(r"\[(\S+), (\S+)\]")
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")


def _numbers(head: str, cells: Sequence[str]) -> list[tuple[str, ...]]:
    """Return a column of texts as columns of which no cell has more than one number."""
    if head == COUNT:
        parts = [cell.partition(" of ") for cell in cells]
        told = [(_plain(part), _plain(whole or part)) for part, _, whole in parts]
        return list(zip((head, "of"), *told, strict=True))
    intervals = [_INTERVAL.fullmatch(cell) for cell in cells if cell]
    if head == INTERVAL or (intervals and all(intervals)):
        ends = [it.groups() if (it := _INTERVAL.fullmatch(cell)) else ("", "") for cell in cells]
        before = "" if head == INTERVAL else f"{head} "
        names = f"{before}low", f"{before}high"
        return list(zip(names, *(tuple(map(_plain, each)) for each in ends), strict=True))
    return [(head, *map(_plain, cells))]


def _plain(cell: str) -> str:
    """Return a number without commas, nothing where none is known, and any other text as it is."""
    if cell in (number(None), UNCORRECTED):
        return ""
    return cell.replace(",", "") if _THOUSANDS.fullmatch(cell) else cell


def is_text(grid: Grid, place: int) -> bool:
    """Tell whether a column has words rather than figures."""
    return any(" " in row[place] for row in grid.rows)


def latex(grid: Grid, label: str = "") -> str:
    """Return the table as LaTeX, no wider than the column or, as `table*`, than the page.

    Long texts have several lines, and what is longer than a page becomes several tables. It needs
    the packages booktabs and graphicx.

    Args:
        grid: The table; its title becomes the caption.
        label: By which the text refers to it, of several tables to the first; empty: none has one.
    """
    return "\n\n".join(latex_parts([(grid, label)]))


def _floats(grid: Grid, label: str, rules: tuple[str, str, str]) -> Iterator[str]:
    """Yield a table for each page that the rows take; `rules`: above and below head, and last."""
    widest = [max(map(len, cells)) for cells in zip(grid.columns, *grid.rows, strict=True)]
    wrapped = {at for at, most in enumerate(widest) if most > _WRAPPED and is_text(grid, at)}
    width = sum(_LINE if at in wrapped else most for at, most in enumerate(widest))
    place = "table" if width + 2 * len(widest) <= _COLUMN else "table*"
    sides = "".join("l" if at < grid.names else "r" for at in range(len(widest)))
    kinds = "".join("p{6cm}" if at in wrapped else side for at, side in enumerate(sides))
    end = r"\tabularnewline" if wrapped else r"\\"  # \raggedright takes the other one
    above, below, last = rules
    head = " & ".join(map(escape_latex, grid.columns))
    pages = list(_pages(grid.rows, wrapped))
    for page, rows in enumerate(pages, 1):
        title = f"{grid.title} ({page} of {len(pages)})" if len(pages) > 1 else grid.title
        yield "\n".join(
            (
                rf"\begin{{{place}}}",
                r"\centering",
                r"\footnotesize",
                rf"\caption{{{escape_latex(title)}}}",
                *([rf"\label{{{label}}}"] if label and page == 1 else ()),
                _FITTED,
                rf"\begin{{tabular}}{{{kinds}}}",
                above,
                rf"{head} \\",
                below,
                *(f"{_latex_row(row, wrapped)} {end}" for row in rows),
                last,
                r"\end{tabular}}",
                rf"\end{{{place}}}",
            )
        )


def _pages(
    rows: Sequence[Sequence[str]], wrapped: Collection[int]
) -> Iterator[list[Sequence[str]]]:
    """Yield the rows that one page has room for, and so on; of a table without rows none."""
    page: list[Sequence[str]] = []
    taken = 0
    for row in rows:
        lines = max((-(-len(row[at]) // _LINE) for at in wrapped), default=1)
        if page and taken + lines > _PAGE:
            yield page
            page, taken = [], 0
        page.append(row)
        taken += lines
    yield page


_MINUS = re.compile(r"(?<![\d-])-(?=[\d.])")
_FIGURES = re.compile(r"[\d\s.,%$()\[\]+-]*")
"""A number, or an interval: a hyphen in it is a minus."""


def _latex_row(row: Sequence[str], wrapped: Collection[int]) -> str:
    cells = (
        _MINUS.sub("$-$", escape_latex(cell)) if _FIGURES.fullmatch(cell) else escape_latex(cell)
        for cell in row
    )
    return " & ".join(
        rf"\raggedright {cell}" if at in wrapped else cell for at, cell in enumerate(cells)
    )


_COLUMN = 70
"""Characters that a column of two still shows in a size that can be read."""
_WRAPPED, _LINE = 48, 40
"""Characters of a text in one line, and of a line where it has several."""
_PAGE = 45
"""Lines of a page."""
_FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""Makes smaller what is wider than its place, and nothing larger."""


def latex_comment(text: str) -> str:
    """Return a line that LaTeX does not print."""
    return f"% {escape_latex(text)}"


def escape_markdown(text: str) -> str:
    """Return a text that cannot leave its cell nor be read as HTML, a link, code or a formula."""
    line = " ".join(printable(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    return _MARKDOWN.sub(lambda found: f"\\{found.group()}", line)


def escape_latex(text: str) -> str:
    """Return a text on one line in which no character commands LaTeX."""
    line = _CONTROL.sub("?", " ".join(printable(text).split()))
    return "".join(_LATEX.get(character, character) for character in line)


# -- A result at a glance: a table with a few lines, as text and as HTML.

LINES = 15
"""Of a text, at most."""
_ROWS = 50
"""Of a table in a notebook, at most."""
_CELL = 44
"""Characters of a cell of a text."""
_FOOT = 120
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
    head = [one_line(line, _FOOT) for line in glance.grid.title.splitlines()]
    foot = [one_line(line, _FOOT) for line in glance.foot]
    room = LINES - len(head) - len(foot) - 1
    rows = glance.grid.rows
    if len(rows) > room:
        rows, foot = rows[: room - 1], [_more(len(rows) - room + 1), *foot]
    return "\n".join(
        (*head, *(_aligned(glance.grid.columns, rows, glance.grid.names) if rows else ()), *foot)
    )


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
    for each in told(renderables):
        console.print(each, soft_wrap=isinstance(each, str))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _more(count: int) -> str:
    return f"... and {count:,} more"


def _aligned(columns: Sequence[str], rows: Iterable[Sequence[str]], names: int = 1) -> list[str]:
    """Return a header and rows in columns of equal width: names to the left, figures right."""
    lines = [[one_line(cell, _CELL) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < names else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def _cells(row: Iterable[str], tag: str) -> Markup:
    return Markup("").join(Markup(f"<{tag}>{escape(printable(cell))}</{tag}>") for cell in row)


def _lines(lines: Iterable[str]) -> Markup:
    return Markup("").join(Markup("<div>{}</div>").format(printable(line)) for line in lines)


# -- Tables with a row for each run, whose cells are figures with what stands below them.


class Figure(NamedTuple):
    """A number as a table shows it."""

    text: str
    small: str = ""
    """What stands below it: an interval, or how many it is of."""


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole."""

    part: float = 0.0
    whole: float = 0.0

    @property
    def value(self) -> float | None:
        """The share in [0, 1]; None where there is no whole."""
        return self.part / self.whole if self.whole else None

    @property
    def per_cent(self) -> float | None:
        """The share in per cent; None where there is no whole."""
        return None if self.value is None else 100 * self.value

    @property
    def text(self) -> str:
        """The share in per cent with one decimal; `-` where there is no whole."""
        return "-" if self.per_cent is None else f"{self.per_cent:.1f}"

    @property
    def small(self) -> str:
        """Of how many it is; empty where there is no whole."""
        return f"of {self.whole:.0f}" if self.whole else ""


def page_cell(figure: Figure | Share) -> Markup:
    """Return a figure for a page, with what stands below it."""
    return cell(figure.text, small=figure.small)


F = TypeVar("F", bound=Figure | Share)


@dataclass(frozen=True, slots=True)
class RunTable(Generic[F]):
    """A table with a row for each run."""

    title: str
    rows: Mapping[str, Mapping[str, F]]
    """Label of a run to column to figure; all rows have the same columns."""

    def page(self) -> Markup:
        """Return the table for a page."""
        columns = next(iter(self.rows.values()), {})
        rows = [(label, *map(page_cell, found.values())) for label, found in self.rows.items()]
        return table(Grid(self.title, ("run", *columns), rows), wrapping=True)
