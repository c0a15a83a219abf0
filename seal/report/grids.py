"""Tables of texts and their forms: terminal, notebook, Markdown, LaTeX; figures as texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from markupsafe import Markup, escape

from seal.core.files import AtomicFile
from seal.core.text import counted, folded, one_line, printable
from seal.evaluation.goals import UNDECIDED

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table
    from rich.text import Text

Key = TypeVar("Key")
Value = TypeVar("Value")


class Grid(NamedTuple):
    """A table of texts."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    names: int = 1
    """Columns of names, which stand before those of figures."""
    narrow: Grid | None = None
    """What a terminal shows instead where this table is too wide."""
    colours: Mapping[str, str] | None = None
    """Cell to its colour in a terminal."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """Yield the table, in parts where the terminal is narrow."""
        yield from fitted_tables(self, options.max_width)


def is_text(grid: Grid, place: int) -> bool:
    """Tell whether a column has words rather than figures."""
    return any(" " in row[place] for row in grid.rows)


def told(parts: Iterable[Any]) -> Iterator[Any]:
    """Yield parts for a terminal: texts printable, others as they are."""
    for part in parts:
        yield printable(part) if isinstance(part, str) else part


def number(value: float | None) -> str:
    """Return three decimals, one for 10 and more, `n/a` for None."""
    if value is None:
        return "n/a"
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.1f}"


def interval(entry: Mapping[str, Any]) -> str:
    """Return the interval of an entry with `low` and `high`; empty where it has none."""
    if entry["low"] is None or entry["high"] is None:
        return ""
    return f"[{number(entry['low'])}, {number(entry['high'])}]"


def counts_of(**counts: int) -> str:
    """Return several numbers, each with what it counts, by commas: `1 task, 2 chats`."""
    return ", ".join(counted(count, noun) for noun, count in counts.items())


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return each key with its values; keys and values keep their order."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def listed(texts: Sequence[str], most: int, between: str = ", ") -> str:
    """Return the first texts on one line, and how many more there are."""
    more = [f"and {len(texts) - most} more"] if len(texts) > most else []
    return between.join((*texts[:most], *more))


@dataclass(frozen=True, slots=True)
class Estimate:
    """One metric of one run: its mean with a 95 % interval, and how many scores stand behind it."""

    mean: float | None
    """None: no score has a value."""
    low: float | None = None
    """Of the 95 % interval over tasks; None: fewer than two tasks."""
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
        """Return mean, interval, n and bounds on one line."""
        told = " ".join(filter(None, (self.value_text, self.interval_text, self.count_text)))
        return f"{told}, bounds {self.bounds_text}" if self.bounds else told

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

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The mean if all undecided goals failed, and if all were solved; None: none are."""
        undecided = self.reasons.get(UNDECIDED, 0)
        if not undecided:
            return None
        solved, whole = (self.mean or 0.0) * self.n, self.n + undecided
        return solved / whole, (solved + undecided) / whole

    @property
    def bounds_text(self) -> str:
        """The bounds; empty where no goal is undecided."""
        return " to ".join(map(number, self.bounds or ()))


def frequent(counts: Mapping[str, int], most: int, length: int) -> str:
    """Return the most frequent reasons with their counts, each of at most so many characters."""
    ranked = sorted(counts.items(), key=lambda each: -each[1])[:most]
    return ", ".join(f"{count} ({one_line(reason, length)})" for reason, count in ranked)


# -- Grids that are drawn in a terminal without a word being broken, as far as they fit it.

_WORDS = re.compile(r"\[[^]\n]*\]|\S+")
"""Words that are not broken; an interval is one: `[0.250, 1.000]`."""
_PROSE = 30
"""Characters of a first line that is no figure but a text, which is read from the left."""
_LONGEST_CELL = 1000
"""Characters of a cell that a terminal shows: laying a text of 20 MB out takes minutes."""
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
    rows = [[_shown(cell) for cell in row] for row in grid.rows]
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


def _shown(cell: str) -> str:
    text, left_out = folded(cell, _LONGEST_CELL)
    return f"{text}…" if left_out else text


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
    from rich.table import Table
    from rich.text import Text

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
    from rich.text import Text

    first, line, more = cell.partition("\n")
    return Text(first, style=colours.get(first, "")).append(line + more, style="dim")


def _columns(grid: Grid) -> list[tuple[str, ...]]:
    return list(zip(grid.columns, *grid.rows, strict=True))


def _least(grid: Grid, width: int) -> list[int]:
    """Return the widths of columns that break no word."""
    from rich.cells import cell_len

    words = [_WORDS.findall("\n".join(column)) for column in _columns(grid)]
    return [min(3 * width // 4, max(map(cell_len, found), default=0)) for found in words]


def _most(column: Sequence[str]) -> int:
    from rich.cells import cell_len

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
    for each in told(renderables):
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


# -- Columns of tables of results, their cells as texts.

Cell = Callable[[Any], str]
"""Gives the text of a cell from what the row is about."""
Columns = Sequence[tuple[str, "str | Cell"]]
"""Head of a column, and what gives its cells, or the field that they show."""


def grid_of(title: str, columns: Columns, entries: Iterable[Any], names: int = 1) -> Grid:
    """Return a table with a row for each entry.

    Args:
        title: Of the table.
        columns: Those of names stand first.
        entries: What the rows are about.
        names: How many of them are columns of names.
    """
    cells = [figure(cell, str) if isinstance(cell, str) else cell for _, cell in columns]
    rows = [tuple(cell(entry) for cell in cells) for entry in entries]
    return Grid(title, [head for head, _ in columns], rows, names)


def spread(found: Mapping[str, Any]) -> str:
    """Return mean ± deviation of an entry; `n/a` without a mean, NA without a deviation."""
    if found.get("mean") is None:
        return "n/a"
    deviation = "NA" if found["deviation"] is None else f"{found['deviation']:.3f}"
    return f"{found['mean']:.3f} ± {deviation}"


def chance(p: float | None) -> str:
    """Return a probability, which is never 0; `n/a` where there is no test."""
    return "<0.001" if p is not None and p < 0.0005 else number(p)


def holm_chance(entry: Mapping[str, Any]) -> str:
    """Return the corrected p of an entry; empty if its metric is outside the family."""
    return "" if entry["p"] is not None and entry["p_holm"] is None else chance(entry["p_holm"])


def signed(value: float | None) -> str:
    """Return a difference with its sign."""
    return number(value) if not value or value < 0 else f"+{number(value)}"


def with_interval(mean: float | None, entry: Mapping[str, Any]) -> str:
    """Return a mean with the interval of its entry behind it."""
    return f"{number(mean)} {interval(entry)}".rstrip()


def figure(name: str, shown: Callable[[Any], str] = number) -> Cell:
    """Return what shows a field of an entry."""
    return lambda entry: shown(entry[name])


def paired(pair: Mapping[str, Any]) -> tuple[str, str]:
    """Return what two retrievers differ by, with the interval below it, and the corrected p."""
    ends = "" if pair["low"] is None else f"\n[{pair['low']:+.3f}, {pair['high']:+.3f}]"
    p = "n/a" if pair["p_holm"] is None else f"{pair['p_holm']:.4f}"
    return f"{pair['difference']:+.3f}{ends}", p


UNTESTED: Columns = (
    ("difference", figure("difference", signed)),
    ("95 % interval", interval),
    ("pairs", "n"),
)
"""What a comparison tells of a metric that no test compares, beside both means."""
DIFFERENCE: Columns = (
    *UNTESTED[:-1],
    ("p", figure("p", chance)),
    ("p (Holm)", holm_chance),
    *UNTESTED[-1:],
)
"""Likewise, of a metric that is tested."""


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


F = TypeVar("F", bound=Figure | Share)


@dataclass(frozen=True, slots=True)
class RunTable(Generic[F]):
    """A table with a row for each run."""

    title: str
    rows: Mapping[str, Mapping[str, F]]
    """Label of a run to column to figure; all rows have the same columns."""

    def page(self) -> Markup:
        """Return the table for a page."""
        from seal.report.pages import page_cell, table

        columns = next(iter(self.rows.values()), {})
        rows = [(label, *map(page_cell, found.values())) for label, found in self.rows.items()]
        return table(Grid(self.title, ("run", *columns), rows), wrapping=True)
