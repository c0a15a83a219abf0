"""Tables as Markdown and as LaTeX."""

from __future__ import annotations

import re
from pathlib import Path

from seal.core.records import AtomicFile
from seal.report.grids import Grid, is_text
from seal.report.printable import printable

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
