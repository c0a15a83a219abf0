"""Tables of texts, and figures as texts: for the terminal, and for whatever shows a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from seal.core.text import counted, one_line, printable
from seal.evaluation.goals import UNDECIDED

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions
    from rich.table import Table

Key = TypeVar("Key")
Value = TypeVar("Value")


class Grid(NamedTuple):
    """A table of texts, which a terminal draws (`seal.report.table_forms`)."""

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
        from seal.report.table_forms import fitted_tables

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


def frequent(counts: Mapping[str, int], most: int, length: int) -> str:
    """Return the most frequent reasons with their counts, each of at most so many characters."""
    ranked = sorted(counts.items(), key=lambda each: -each[1])[:most]
    return ", ".join(f"{count} ({one_line(reason, length)})" for reason, count in ranked)
