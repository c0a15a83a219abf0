"""Tables of texts before they are drawn: for the terminal, as Markdown, as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from seal.report.printable import printable
from seal.report.tables import number

if TYPE_CHECKING:
    from rich.table import Table

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

DIFFERENCE_COLUMNS = ("difference", "95 % interval", "p", "p (Holm)", "pairs")
"""Heads of what a comparison tells of a metric, beside both means."""


class Grid(NamedTuple):
    """A table before it is drawn."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def drawn(grid: Grid) -> Table:
    """Return the table for a terminal; the first column is of names, the others of figures."""
    from rich.table import Table

    table = Table(title=printable(grid.title), title_justify="left", padding=(0, 1))
    for place, column in enumerate(grid.columns):
        table.add_column(printable(column), justify="right" if place else "left", overflow="fold")
    for row in grid.rows:
        table.add_row(*map(printable, row))
    return table


def markdown(grid: Grid) -> str:
    """Return the table with its title as Markdown."""
    rows = (grid.columns, ("---",) * len(grid.columns), *grid.rows)
    lines = ["| " + " | ".join(map(escape_markdown, row)) + " |" for row in rows]
    return "\n".join((f"## {escape_markdown(grid.title)}\n", *lines))


def latex(grid: Grid, label: str) -> str:
    """Return the table as LaTeX; it needs the package booktabs.

    Args:
        grid: The table; its title becomes the caption.
        label: By which the text refers to it.
    """
    head, *body = (" & ".join(map(escape_latex, row)) for row in (grid.columns, *grid.rows))
    return "\n".join(
        (
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape_latex(grid.title)}}}",
            rf"\label{{{label}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(grid.columns) - 1)}}}",
            r"\toprule",
            rf"{head} \\",
            r"\midrule",
            *(rf"{row} \\" for row in body),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        )
    )


def escape_markdown(text: str) -> str:
    """Return a text that cannot leave its cell nor be read as HTML, a link, code or a formula."""
    line = " ".join(printable(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    return _MARKDOWN.sub(lambda found: f"\\{found.group()}", line)


def escape_latex(text: str) -> str:
    """Return a text on one line in which no character commands LaTeX."""
    line = " ".join(printable(text).split())
    return "".join(_LATEX.get(character, character) for character in line)


def chance(p: float | None) -> str:
    """Return a probability, which is never 0; `n/a` where there is no test."""
    return "<0.001" if p is not None and p < 0.0005 else number(p)


def holm_chance(entry: Mapping[str, Any]) -> str:
    """Return the corrected p of an entry; empty where it was tested outside of the family."""
    return "" if entry["p"] is not None and entry["p_holm"] is None else chance(entry["p_holm"])


def signed(value: float | None) -> str:
    """Return a difference with its sign."""
    return number(value) if not value or value < 0 else f"+{number(value)}"


def interval(entry: Mapping[str, Any]) -> str:
    """Return the interval of an entry with `low` and `high`; empty where it has none."""
    if entry["low"] is None or entry["high"] is None:
        return ""
    return f"[{number(entry['low'])}, {number(entry['high'])}]"


def difference_cells(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """Return both means of an entry of a comparison, and the cells of `DIFFERENCE_COLUMNS`."""
    return (
        number(entry["mean"]),
        number(entry["other_mean"]),
        signed(entry["difference"]),
        interval(entry),
        chance(entry["p"]),
        holm_chance(entry),
        str(entry["n"]),
    )
