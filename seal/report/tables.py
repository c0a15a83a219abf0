"""The summary of a run as rows, and as a table for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import nan
from typing import TYPE_CHECKING, Any

from seal.evaluation.goals import INFRASTRUCTURE
from seal.report.grids import number
from seal.report.lanes import Lane, lanes_of, model_name
from seal.report.printable import printable
from seal.runs.run_folder import RunFolder

if TYPE_CHECKING:
    from rich.table import Table

MAIN = (
    "similarity", "pass_rate", "tooleval", "sopr", "fac", "success", "mission_accuracy",
    "dialogue_accuracy", "progress", "optimal_path", "recall", "mrr", "call_recall",
    "call_precision", "call_f1", "param_acc_gold", "param_acc_matched",
)  # fmt: skip
"""Metrics of the short table where the benchmark declares none, in its order; of `recall@K` and its
like the largest K.

Where gold asks of a world, the similarity to its milestones is what a benchmark reports: it leads.
"""

OF_SOME_BENCHMARKS = frozenset(
    {"similarity", "mission_accuracy", "dialogue_accuracy", "progress", "optimal_path"}
)
"""Main metrics that need a gold of their own kind: of other benchmarks nobody misses them."""

OF_MISSIONS = frozenset({"progress", "optimal_path"})
"""Of these that few missions have, and that stand beside the accuracy of dialogues all the same."""

ENOUGH = 0.25
"""Least share of goals that a metric of some benchmarks applies to, to be in the short table."""

UNBOUNDED = frozenset({"calls", "turns", "turn_count", "tokens_in", "tokens_out", "role"})
"""Metrics that count, or have a scale of their own, instead of lying in [0, 1]."""


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
        return cls(
            mean=entry.get("mean"),
            low=entry.get("low"),
            high=entry.get("high"),
            n=entry.get("n") or 0,
            undefined=entry.get("undefined") or 0,
            micro=entry.get("micro"),
            unsure=entry.get("unsure"),
            deviation=entry.get("deviation"),
            reasons=entry.get("reasons") or {},
            groups=entry.get("by") or {},
        )

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
        if self.low is None or self.high is None:
            return ""
        return f"[{number(self.low)}, {number(self.high)}]"

    @property
    def count_text(self) -> str:
        """How many scores the mean is of, how many had no value, and the share of unsure."""
        parts = [f"n={self.n}"]
        if self.undefined:
            parts.append(f"undefined {self.undefined}")
        if self.unsure:
            parts.append(f"unsure {number(self.unsure)}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One metric over all columns."""

    metric: str
    cells: dict[str, Estimate] = field(default_factory=dict)
    """Column to cell, in the order of the columns."""


def headline_of(runs: Iterable[RunFolder]) -> tuple[str, ...]:
    """Return the metrics that the runs' benchmarks declare for the short table; none: the usual.

    A run that tells of none, as those of before, has those of its benchmark where it is installed.
    """
    return tuple(dict.fromkeys(chain.from_iterable(map(_headline, runs))))


def _headline(run: RunFolder) -> Sequence[str]:
    told: Sequence[str] = run.declared().get("headline") or ()
    known = None if told else run.benchmark()
    return told if known is None else known.headline


def main_metrics(
    lanes: Sequence[Mapping[str, Mapping[str, Any]]], headline: Sequence[str] = ()
) -> list[str]:
    """Return the metrics of the short table (`MAIN`); all where none of them is there.

    One's own follow the first.

    One of some benchmarks (`OF_SOME_BENCHMARKS`) is there where it applies to enough goals of a
    lane (`ENOUGH`).

    Args:
        lanes: Of each, metric to its entry in summary.json.
        headline: Metrics that stand for `MAIN`, whatever number of goals they apply to
            (`headline_of`).
    """
    names = {name for metrics in lanes for name in metrics}
    rare = set() if headline else set(rare_metrics(lanes))
    largest: dict[str, tuple[int, str]] = {}
    for name in names - rare:
        base, _, cutoff = name.partition("@")
        rank = int(cutoff) if cutoff.isdecimal() else 0
        largest[base] = max(largest.get(base, (-1, "")), (rank, name))
    asked = names & set(headline)  # such as recall@5, which need not be the largest K
    chosen = [
        name if name in asked else largest[name][1]
        for name in headline or MAIN
        if name in asked or name in largest
    ]
    brought = (name for metrics in lanes for name, entry in metrics.items() if entry.get("own"))
    own = [name for name in dict.fromkeys(brought) if name not in chosen]
    return [*chosen[:1], *own, *chosen[1:]] or all_metrics(names)


def rare_metrics(lanes: Sequence[Mapping[str, Mapping[str, Any]]]) -> list[str]:
    """Return the metrics of some benchmarks that apply to too few goals for the short table.

    Args:
        lanes: Of each, metric to its entry in summary.json.
    """

    def share(name: str) -> float:
        return max(_share(metrics.get(name) or {}) for metrics in lanes)

    beside: frozenset[str] = frozenset()
    if lanes and share("dialogue_accuracy") >= ENOUGH:
        beside |= OF_MISSIONS
    return [
        name
        for name in MAIN
        if name in OF_SOME_BENCHMARKS
        and any(name in metrics for metrics in lanes)
        and share(name) < ENOUGH
        and name not in beside
    ]


def _share(entry: Mapping[str, Any]) -> float:
    """Return the share of goals that a metric applies to, those that failed among them."""
    reasons = entry.get("reasons") or {}
    applies = (entry.get("n") or 0) + (reasons.get(INFRASTRUCTURE) or 0)
    return applies / max(1, (entry.get("n") or 0) + (entry.get("undefined") or 0))


def all_metrics(names: Iterable[str]) -> list[str]:
    """Return all metrics: the main ones first, then the others by name, counts last."""
    order = {base: position for position, base in enumerate(MAIN)}

    def place(name: str) -> tuple[bool, int, str, int, str]:
        base, _, cutoff = name.partition("@")
        rank = int(cutoff) if cutoff.isdecimal() else 0
        return (name in UNBOUNDED, order.get(base, len(order)), base, rank, name)

    return sorted(set(names), key=place)


def lane_rows(lanes: Sequence[Lane], metrics: Sequence[str] | None = None) -> list[SummaryRow]:
    """Return one row for each metric with a cell for each lane.

    Args:
        lanes: The columns.
        metrics: None: the main ones of all lanes.
    """
    if metrics is None:
        headline = headline_of(lane.run for lane in lanes)
        metrics = main_metrics([lane.metrics for lane in lanes], headline)
    return [
        SummaryRow(metric, {lane.label: Estimate.of(lane.metrics.get(metric)) for lane in lanes})
        for metric in metrics
    ]


def summary_rows(run: RunFolder, metrics: Sequence[str] | None = None) -> list[SummaryRow]:
    """Return the summary of a run beside its baselines.

    Args:
        run: A run that has been scored.
        metrics: None: the main ones.

    Returns:
        Rows whose cells stand under `floor`, `model` and `ceiling`, those of them that were played.

    Raises:
        DataError: The run has not been scored.
    """
    lanes = lanes_of([run])
    columns = {lane.label: "model" if lane.kind == "run" else lane.kind for lane in lanes}
    return [
        SummaryRow(row.metric, {columns[label]: cell for label, cell in row.cells.items()})
        for row in lane_rows(lanes, metrics)
    ]


def summary_table(run: RunFolder, metrics: Sequence[str] | None = None) -> Table:
    """Return `summary_rows` as a table for the terminal: mean, 95 % interval, n, undefined.

    Metrics without a value in any column are left to `seal.report.notes.summary_notes`.
    """
    from rich.table import Table
    from rich.text import Text

    rows = summary_rows(run, metrics)
    lacking = lacking_metrics(rows)
    table = Table()
    table.add_column("metric", no_wrap=True)
    played = {"model": run, **run.baselines()}
    for column in rows[0].cells if rows else ():
        name = f"{column}: {model_name(played[column])}"
        table.add_column(Text(printable(name)), justify="right")
    for row in (row for row in rows if row.metric not in lacking):
        table.add_row(Text(printable(row.metric)), *map(_cell_text, row.cells.values()))
    return table


def lacking_metrics(rows: Iterable[SummaryRow]) -> list[str]:
    """Return the metrics that have no value in any column."""
    return [row.metric for row in rows if all(c.mean is None for c in row.cells.values())]


def _cell_text(cell: Estimate) -> Any:
    from rich.text import Text

    if cell.mean is None:
        return Text("n/a", style="dim")
    text = Text(cell.value_text, style="bold")
    text.append(f" {cell.interval_text}" if cell.interval_text else "", style="not bold")
    text.append(f"\n{cell.count_text}", style="not bold dim")
    return text
