"""Tables of a paper as text, LaTeX and pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from seal.report.glance import terminal_text
from seal.report.grids import InParts, is_text
from seal.report.pages import inline, render
from seal.report.paper import PaperTable
from seal.report.printable import printable

_LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
_PARAGRAPH = "p{6cm}"
"""Column of texts."""


def document(name: str, tables: Sequence[PaperTable], lines: Sequence[str], format: str) -> str:
    """Return tables as a file of one format: text, latex or html.

    Args:
        name: Of the paper.
        tables: Its tables.
        lines: What is told below them.
        format: As named above.
    """
    if format == "latex":
        parts = (*(latex(each) for each in tables), "\n".join(map(_comment, lines)))
        return "\n\n".join(parts) + "\n"
    if format == "html":
        shown = {"title": name, "tables": tables, "lines": lines}
        return str(render("paper.html", **shown, **inline(scripted=False)))
    return terminal_text(shown_parts(tables, lines)) + "\n"


def shown_parts(tables: Sequence[PaperTable], lines: Sequence[str]) -> Iterator[Any]:
    """Yield tables and lines as a terminal shows them."""
    for each in tables:
        yield printable(each.title)
        yield InParts(each.grid()._replace(title=""))
        yield from map(printable, each.notes)
    yield from map(printable, lines)


def latex(table: PaperTable) -> str:
    """Return a table as LaTeX that needs no package; notes are comments."""
    grid = table.grid()
    aligned = "l" * grid.names + "".join(
        _PARAGRAPH if is_text(grid, place) else "r"
        for place in range(grid.names, len(grid.columns))
    )
    head, *rows = (" & ".join(map(_latex, row)) + r" \\" for row in (grid.columns, *grid.rows))
    return "\n".join(
        (
            *map(_comment, table.notes),
            r"\begin{table}",
            rf"\caption{{{_latex(grid.title)}}}",
            rf"\begin{{tabular}}{{{aligned}}}",
            r"\hline",
            head,
            r"\hline",
            *rows,
            r"\hline",
            r"\end{tabular}",
            r"\end{table}",
        )
    )


def _comment(text: str) -> str:
    return f"% {_line(text)}"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in _line(text))


def _line(text: str) -> str:
    """Return a stranger's text on one line, which ends neither a comment nor a row."""
    return " ".join(printable(text).split())
