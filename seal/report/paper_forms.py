"""Tables of a paper as text, LaTeX and pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from seal.report.glance import terminal_text
from seal.report.markup import latex, latex_comment
from seal.report.pages import inline, render
from seal.report.paper import PaperTable
from seal.report.printable import printable


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
