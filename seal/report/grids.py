"""Tables of texts: for the terminal, as Markdown, as LaTeX, and a result at a glance."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from markupsafe import Markup, escape

from seal.core.records import AtomicFile
from seal.evaluation.goals import UNDECIDED
from seal.report.printable import one_line, printable

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

COMPACT: Any = {"padding": (0, 0, 0, 1), "pad_edge": False}
"""Look of a table that is readable at 80 columns."""
_FRAMED: Any = {"title_justify": "left", "padding": (0, 1)}


class Grid(NamedTuple):
    """A table before it is drawn."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    """Columns of names, which stand before those of figures."""


Cell = Callable[[Any], str]
"""Gives the text of a cell from what the row is about."""
Columns = Sequence[tuple[str, "str | Cell"]]
"""Head of a column, and what gives its cells, or the field that they show."""


def grid_of(title: str, columns: Columns, entries: Iterable[Any]) -> Grid:
    """Return a table with a row for each entry.

    Args:
        title: Of the table.
        columns: The first is one of names.
        entries: What the rows are about.
    """
    cells = [figure(cell, str) if isinstance(cell, str) else cell for _, cell in columns]
    rows = [tuple(cell(entry) for cell in cells) for entry in entries]
    return Grid(title, [head for head, _ in columns], rows)


def drawn(grid: Grid, **look: Any) -> Table:
    """Return the table for a terminal.

    Args:
        grid: The table.
        **look: Arguments of `rich.table.Table`; `COMPACT` is for tables of many columns.
    """
    from rich.table import Table
    from rich.text import Text

    title = Text(printable(grid.title), style="table.title") if grid.title else None
    table = Table(title=title, **(look or _FRAMED))
    for place, column in enumerate(grid.columns):
        table.add_column(
            Text(printable(column)),
            justify="left" if place < grid.names else "right",
            overflow="fold",
        )
    for row in grid.rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def told(parts: Iterable[Any], **look: Any) -> Iterator[Any]:
    """Yield parts for a terminal: texts printable, grids drawn (`drawn`), others as they are."""
    for part in parts:
        if isinstance(part, str):
            yield printable(part)
        else:
            yield drawn(part, **look) if isinstance(part, Grid) else part


def markdown(grid: Grid) -> str:
    """Return the table with its title as Markdown."""
    rows = (grid.columns, ("---",) * len(grid.columns), *grid.rows)
    lines = ["| " + " | ".join(map(escape_markdown, row)) + " |" for row in rows]
    return "\n".join((f"## {escape_markdown(grid.title)}\n", *lines))


def write_paragraphs(path: Path, *parts: str) -> Path:
    """Write parts of a text with an empty line between each two, and return the file."""
    with AtomicFile(path) as file:
        file.write(("\n\n".join(parts) + "\n").encode())
    return path


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


def number(value: float | None) -> str:
    """Return three decimals, one for 10 and more, `n/a` for None."""
    if value is None:
        return "n/a"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


def spread(found: Mapping[str, Any]) -> str:
    """Return mean ± deviation of an entry, `n/a` without a mean; of one sample the latter is NA."""
    if found.get("mean") is None:
        return "n/a"
    deviation = "NA" if found["deviation"] is None else f"{found['deviation']:.3f}"
    return f"{found['mean']:.3f} ± {deviation}"


def frequent(counts: Mapping[str, int], most: int, length: int) -> str:
    """Return the most frequent reasons with their counts, each of at most so many characters."""
    ranked = sorted(counts.items(), key=lambda each: -each[1])[:most]
    return ", ".join(f"{count} ({one_line(reason, length)})" for reason, count in ranked)


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


def with_interval(mean: float | None, entry: Mapping[str, Any]) -> str:
    """Return a mean with the interval of its entry behind it."""
    return f"{number(mean)} {interval(entry)}".rstrip()


def figure(name: str, shown: Callable[[Any], str] = number) -> Cell:
    """Return what shows a field of an entry."""
    return lambda entry: shown(entry[name])


DIFFERENCE: Columns = (
    ("difference", figure("difference", signed)),
    ("95 % interval", interval),
    ("p", figure("p", chance)),
    ("p (Holm)", holm_chance),
    ("pairs", "n"),
)
"""What a comparison tells of a metric, beside both means."""


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


def counted(count: int, noun: str) -> str:
    """Return a number with what it counts: `1 trial`, `2 trials`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


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


@dataclass(frozen=True, slots=True)
class Estimate:
    """One metric of one run: its mean with a 95 % interval, and how many scores stand behind it."""

    mean: float | None
    """None: no score has a value."""
    low: float | None = None
    """Of the 95 % bootstrap interval over tasks; None: fewer than two tasks."""
    high: float | None = None
    n: int = 0
    """Scores with a value."""
    undefined: int = 0
    """Scores without one; `reasons` counts them."""
    micro: float | None = None
    """The weighted mean, where weights differ."""
    with_errors: float | None = None
    """The mean in which each goal that the infrastructure failed counts as 0; None: none did."""
    unsure: float | None = None
    """Share of answers that the judge could not decide."""
    deviation: float | None = None
    """Standard deviation of the means of several samples, by n - 1."""
    reasons: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Kind of reason to the number of scores that have no value for it."""
    groups: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False, repr=False)
    """Group of tasks to its entry, as summary.json has them; `by` reads them."""

    @classmethod
    def of(cls, entry: Mapping[str, Any] | None) -> Estimate:
        """Return an entry of summary.json as an estimate; without entry, one without values."""
        entry = entry or {}
        known = {n: entry[n] for n in cls.__slots__ if entry.get(n) is not None}
        return cls(**{"mean": None, **known, "groups": entry.get("by") or {}})

    @property
    def by(self) -> dict[str, dict[str, Estimate]]:
        """The same metric by tag and value: `by["multi_tool"]["true"]`, `by["group"]["G1"]`."""
        found: dict[str, dict[str, Estimate]] = {}
        for name, entry in self.groups.items():
            tag, given, value = name.partition("=")
            tag, value = (tag, value) if given else ("group", name)
            found.setdefault(tag, {})[value] = Estimate.of(entry)
        return found

    def __float__(self) -> float:
        """Return the mean; NaN where there is none."""
        return nan if self.mean is None else float(self.mean)

    def __str__(self) -> str:
        """Return mean, interval and n on one line."""
        return " ".join(filter(None, (self.value_text, self.interval_text, self.count_text)))

    @property
    def value_text(self) -> str:
        """The mean, or `n/a`."""
        return number(self.mean)

    @property
    def interval_text(self) -> str:
        """The 95 % interval; empty where there is none."""
        return interval({"low": self.low, "high": self.high})

    @property
    def count_text(self) -> str:
        """How many scores the mean is of, how many had none, the mean with errors, the unsure."""
        parts = [f"n={self.n}", self.lacking_text]
        if self.with_errors is not None:
            parts.append(f"with errors {number(self.with_errors)}")
        if self.unsure:
            parts.append(f"unsure {number(self.unsure)}")
        return ", ".join(filter(None, parts))

    @property
    def lacking_text(self) -> str:
        """How many scores are undecided, and how many have no value for other reasons."""
        undecided = self.reasons.get(UNDECIDED, 0)
        counts = {UNDECIDED: undecided, "undefined": self.undefined - undecided}
        return ", ".join(f"{what} {count}" for what, count in counts.items() if count)
