"""Tables of texts, as the terminal shows them; means with intervals as texts; columns and cells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

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
    colours: Mapping[str, str] | None = None
    """Cell to its colour in a terminal."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Table]:
        """Yield the table, in parts where the terminal is narrow."""
        yield from fitted_tables(self, options.max_width)


def told(parts: Iterable[Any]) -> Iterator[Any]:
    """Yield parts for a terminal: texts printable, others as they are."""
    for part in parts:
        yield printable(part) if isinstance(part, str) else part


def number(value: float | None) -> str:
    """Return three decimals, one for 10 and more, `n/a` for None; zero has no sign."""
    if value is None:
        return "n/a"
    return f"{value:z.3f}" if abs(value) < 10 else f"{value:,.1f}"


def interval(entry: Mapping[str, Any]) -> str:
    """Return the interval of an entry with `low` and `high`; empty where it has none."""
    if entry["low"] is None or entry["high"] is None:
        return ""
    return f"[{number(entry['low'])}, {number(entry['high'])}]"


def counts_of(**counts: int) -> str:
    """Return several numbers, each with what it counts, by commas: `1 task, 2 chats`."""
    return ", ".join(counted(count, noun) for noun, count in counts.items())


def tallied(counts: Mapping[str, int]) -> str:
    """Return names with their numbers, by commas: `user 1, checker 2`."""
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """Return each key with its values; keys and values keep their order."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def listed(texts: Sequence[str], most: int, between: str = ", ") -> str:
    """Return the first texts on one line, and how many more there are."""
    more = [f"and {len(texts) - most:,} more"] if len(texts) > most else []
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
        parts = [f"n={self.n:,}", self.lacking_text]
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
        return ", ".join(f"{what} {count:,}" for what, count in counts.items() if count)

    @property
    def says_something(self) -> bool:
        """Whether some goal has a value, or is left undecided."""
        return self.mean is not None or bool(self.reasons.get(UNDECIDED))

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
    return ", ".join(f"{count:,} ({one_line(reason, length)})" for reason, count in ranked)


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
    rows = [[_shown(cell) for cell in row] for row in grid.rows]
    title, columns = printable(grid.title), list(map(printable, grid.columns))
    grid = grid._replace(title=title, columns=columns, rows=rows)
    least = _least(grid, width)
    room = width - 1 - 3 * len(least)  # a line and two spaces for each column
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


UNCORRECTED = "uncorrected"
"""Why there is no corrected p: the metric is outside the family of those that are corrected."""


def holm_chance(entry: Mapping[str, Any]) -> str:
    """Return the corrected p of an entry, or why its p is not corrected."""
    outside = entry["p"] is not None and entry["p_holm"] is None
    return UNCORRECTED if outside else chance(entry["p_holm"])


def signed(value: float | None) -> str:
    """Return a difference with its sign."""
    return number(value) if not value or value < 0 else f"+{number(value)}"


def with_interval(mean: float | None, entry: Mapping[str, Any]) -> str:
    """Return a mean with the interval of its entry behind it."""
    return f"{number(mean)} {interval(entry)}".rstrip()


def known(value: float | None) -> str:
    """Return a figure; empty where there is none."""
    return "" if value is None else number(value)


def figure(name: str, shown: Callable[[Any], str] = number) -> Cell:
    """Return what shows a field of an entry, which is a dict or a record."""
    return lambda entry: shown(entry[name] if isinstance(entry, dict) else getattr(entry, name))


def fields(*names: str, shown: Callable[[Any], str] = str) -> Columns:
    """Return columns that show fields, each under its own name."""
    return [(name.replace("_", " "), figure(name, shown)) for name in names]


def paired(pair: Mapping[str, Any]) -> tuple[str, str]:
    """Return what two retrievers differ by, with the interval below it, and the corrected p."""
    ends = "" if pair["low"] is None else f"\n[{pair['low']:+.3f}, {pair['high']:+.3f}]"
    p = "n/a" if pair["p_holm"] is None else f"{pair['p_holm']:.4f}"
    apart = "n/a" if pair["difference"] is None else f"{pair['difference']:+.3f}"
    return f"{apart}{ends}", p


UNTESTED: Columns = (
    ("difference", figure("difference", signed)),
    ("95 % interval", interval),
    ("pairs", lambda entry: f"{entry['n']:,}"),
)
"""What a comparison tells of a metric that no test compares, beside both means."""
DIFFERENCE: Columns = (
    *UNTESTED[:-1],
    ("p", figure("p", chance)),
    ("p (Holm)", holm_chance),
    *UNTESTED[-1:],
)
"""Likewise, of a metric that is tested."""
