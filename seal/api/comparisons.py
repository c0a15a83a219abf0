"""Runs compared, also as conditions of an ablation: differences with their intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from seal.api.result import Document, metric_in, record
from seal.api.run_result import Run
from seal.core import UnknownKeyError, UsageError
from seal.core.files import within
from seal.core.settings import checked_names
from seal.evaluation.goals import RATE, ranking
from seal.report.comparison import (
    EVERY_DIFFERENCE,
    comparison_tables,
    difference_groups,
    latex_tables,
    lines_of,
    mean_columns,
    notes_of,
    scale_notes_of,
    scales_in,
    tells_extra,
    title_of,
)
from seal.report.figures import interval_figure
from seal.report.frames import framed
from seal.report.grids import DIFFERENCE, Grid, grid_of
from seal.report.leaderboard import frame_rows, leaderboard_table
from seal.report.pages import Bar, BarGroup
from seal.report.table_forms import Glance, latex_text
from seal.runs.run import varied_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame


@dataclass(frozen=True)
class PairedDifference:
    """One metric of one run minus that of another, over the pairs that have a value in both."""

    metric: str
    run: str
    other: str
    mean: float | None
    """Of the run; None: there is no pair."""
    other_mean: float | None
    difference: float | None
    low: float | None
    """Of the 95 % interval over families of tasks; None: fewer than two."""
    high: float | None
    p: float | None
    """Of the randomisation test."""
    p_holm: float | None
    """Corrected over the family of metrics; None outside of it."""
    n: int
    """Pairs."""
    tasks: int
    """Tasks of the pairs."""
    detectable: float | None
    """Smallest difference that is found with the power of the protocol."""
    tasks_needed: int | None
    """Tasks that would find this difference."""
    trials_needed: int | None
    excluded: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Reason to the number of pairs that it left out."""
    higher: Sequence[str] = field(default=(), hash=False)
    """Tasks in which the run is higher."""
    lower: Sequence[str] = field(default=(), hash=False)


@dataclass(frozen=True)
class Flip:
    """A task that one run solved in more of its trials than the other."""

    run: str
    other: str
    task: str
    won: bool
    """True: the run solved it more often; False: the other run did."""
    trials: int
    """Of the run that have a verdict."""
    solved: int
    """Trials that the run solved."""
    other_trials: int
    other_solved: int
    flipped: Sequence[int] = field(hash=False)
    """The trials that turned."""


@dataclass(frozen=True)
class RunPair:
    """Two runs beside each other."""

    run: str
    other: str
    tasks: int
    """That both played."""
    chats: int
    """Of the run on these tasks."""
    averaged: bool
    """They differ in trials: a pair is a task's goal, by its mean over trials."""
    success: str | None
    """Metric of which 1 is a solved task."""
    flips: tuple[Flip, ...]
    passes: Sequence[Mapping[str, Any]] = field(hash=False)
    """pass^k and pass@k over trials, as comparison.json has them."""
    win_rate: Mapping[str, Any] | None = field(hash=False)
    """None: it was not asked for."""


@checked_names
class Paired(Document):
    """Runs whose scores are paired, two by two."""

    @cached_property
    def comparisons(self) -> tuple[PairedDifference, ...]:
        """A row for each two runs and metric."""
        return tuple(record(PairedDifference, entry) for entry in self.content["comparisons"])

    @cached_property
    def frame(self) -> DataFrame:
        """`comparisons` as a pandas frame; needs the extra `experiments`."""
        return framed([*EVERY_DIFFERENCE.rows(self.content)], EVERY_DIFFERENCE.columns)

    def __getitem__(self, metric: str) -> PairedDifference:
        """Return a metric's difference, where two runs were compared.

        Raises:
            UnknownKeyError: No such metric; names the closest.
            UsageError: More than two runs were compared.
        """
        found = {entry.metric: entry for entry in self.comparisons}
        if len(found) < len(self.comparisons):
            pairs = dict.fromkeys((entry.run, entry.other) for entry in self.comparisons)
            one, other = next(iter(pairs))
            raise UsageError(
                f"{len(pairs)} pairs of runs were compared: choose one, such as "
                f".between({one!r}, {other!r})[{metric!r}]"
            )
        return metric_in(found, metric)

    def between(self, run: str, other: str) -> Self:
        """Return what was found of two of the runs, by their names in `comparisons`.

        Raises:
            UnknownKeyError: These two were not compared, in this order.
        """
        kept = [e for e in self._compared() if (e["run"], e["other"]) == (run, other)]
        if not kept:
            known = {f"{entry['run']} minus {entry['other']}" for entry in self._compared()}
            raise UnknownKeyError("pair of runs", f"{run} minus {other}", known)
        content = {**self.content, "comparisons": kept}
        if "pairs" in content:
            two = [e for e in content["pairs"] if (e["run"], e["other"]) == (run, other)]
            content["pairs"] = two
        return replace(self, content=content)

    def _compared(self) -> Sequence[Mapping[str, Any]]:
        compared: Sequence[Mapping[str, Any]] = self.content["comparisons"]
        return compared

    def _told(self) -> Sequence[str]:
        """Return the metrics that a short table has; none: all.

        Nobody asked for those with a condition that an ablation tells.
        """
        protocol = self.content["protocol"]
        if "told" in protocol:
            return ranking(protocol["told"], scales_in(self.content))
        family: Sequence[str] = protocol["family"]
        return family

    def _told_entries(self) -> list[Mapping[str, Any]]:
        """Return the differences that a short table has, in the order of the runs' own table."""
        told = self._told()
        places = {name: place for place, name in enumerate(told)}
        entries = [
            entry
            for entry in self._compared()
            if entry["n"] and (not told or entry["metric"] in places or tells_extra(entry))
        ]
        return sorted(entries, key=lambda entry: places.get(entry["metric"], len(places)))

    def _grid(self, title: str) -> Grid:
        entries = self._told_entries()
        pairs = list(dict.fromkeys((entry["run"], entry["other"]) for entry in entries))
        heads = pairs[0] if len(pairs) == 1 else ("mean", "other")
        named = (("run", "run"), ("minus", "other")) if len(pairs) > 1 else ()
        columns = [("metric", "metric"), *named, *mean_columns(*heads), *DIFFERENCE]
        return grid_of(title, columns, entries)

    def _scale_notes(self) -> Iterable[str]:
        return scale_notes_of(self.content, self._told_entries())

    def _figures(self) -> Iterable[Figure]:
        told, scales = self._told_entries(), scales_in(self.content)
        # Counts have a scale of their own, beside which shares would look like nothing.
        ranked = ranking((e["metric"] for e in told), scales)
        drawn = [name for name in ranked if scales.get(name, RATE).bounded]
        groups = difference_groups([e for e in told if e["metric"] in drawn] or told)
        if groups:
            labels = {bar.label for group in groups for bar in group.bars}
            alone = labels.pop() if len(labels) == 1 else "differences"
            yield interval_figure(alone, "difference", groups)


_NOTES = 3
"""Notes, such as of undecided goals that could turn a difference, that a short table has."""


@checked_names
@dataclass(frozen=True, repr=False)
class Comparison(Paired):
    """Runs of one benchmark compared: `comparison["pass_rate"].difference`, `.low`, `.high`, `.p`.

    `content` is that of comparison.json:

    - protocol: how the runs were compared. p is corrected by Holm over `family` and all pairs of
      runs. The family is the metrics asked for, else those of the report's short table.
    - differs: what the runs measure differently, where `force` compared them.
    - runs: for each {run, path, model, tasks, chats, trials}.
    - pairs: for each two runs {run, other, averaged, matched, alone, other_alone, success, flips,
      passes, win_rate}. `averaged`: the runs differ in trials, so a pair is a task's goal, by its
      mean over trials. `matched`, `alone` and `other_alone` count what has a partner. `flips` are
      the tasks that were won and lost (`seal.experiments.paired_scores.flips_of`). `passes`
      are pass^k and pass@k. `win_rate` is None where it was not asked for
      (`seal.experiments.judging.win_rate`).
    - comparisons: the paired difference for each two runs and metric, and what was detectable
      (`seal.experiments.paired_scores.compare`). `higher` and `lower` name the tasks in which
      the run is higher and lower.
    - scales: metric to how its scores differ from a rate in [0, 1] that is better high
      (`seal.core.Scale`).
    - notes: what a reader should know before the figures.
    """

    @cached_property
    def pairs(self) -> tuple[RunPair, ...]:
        """A row for each two runs."""
        return tuple(
            record(
                RunPair,
                {name: value for name, value in pair.items() if name != "flips"},
                tasks=pair["matched"]["tasks"],
                chats=pair["matched"]["chats"],
                flips=tuple(
                    record(Flip, entry, run=pair["run"], other=pair["other"], won=way == "won")
                    for way in ("won", "lost")
                    for entry in (pair["flips"] or {}).get(way, ())
                ),
            )
            for pair in self.content["pairs"]
        )

    @property
    def flips(self) -> tuple[Flip, ...]:
        """The tasks that turned, of all pairs."""
        return tuple(flip for pair in self.pairs for flip in pair.flips)

    @property
    def notes(self) -> list[str]:
        """What a reader should know before the figures."""
        return notes_of(self.content)

    def _glance(self) -> Glance:
        pairs = self.content["pairs"]
        title = title_of(self.content)
        if len(pairs) == 1:
            title = f"{pairs[0]['run']} minus {pairs[0]['other']}"
        title = "\n".join(filter(None, (title, varied_text(self.content.get("varied") or {}))))
        lines = [line for pair in pairs[:2] for line in lines_of(self.content, pair)]
        notes = notes_of(self.content)[:_NOTES]
        return Glance(self._grid(title), (*self._scale_notes(), *lines[:2], *notes))

    def _tables(self) -> Iterable[Any]:
        return comparison_tables(self.content)

    def latex(self) -> str:
        """Return the tables as LaTeX for a paper of two columns; captions tell what varied."""
        return latex_text(latex_tables(self.content))

    def csv(self) -> str:
        """Return `.frame` as CSV, as comparison.csv has it."""
        return EVERY_DIFFERENCE.text(self.content)


@dataclass(frozen=True, repr=False)
class Leaderboard(Document):
    """Runs of one benchmark in the order of a metric: `.rows`, `.frame`, `.groups`.

    `content` is that of leaderboard.json:

    - protocol: {metric, higher_is_better, by, seed, resamples, level, alpha, tasks}.
    - rows: for each run its rank with an interval, what a test tells it apart from, and its figures
      (`seal.report.leaderboard.ranked_runs`).
    - pairs: how many pairs of runs there are, and how many differ.
    - groups: the runs of each longest stretch in which no two differ.
    - title and notes.
    """

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The runs, the best first; those without a rank last."""
        rows: list[dict[str, Any]] = self.content["rows"]
        return rows

    @property
    def groups(self) -> list[list[str]]:
        """The runs that no test tells apart, group by group."""
        groups: list[list[str]] = self.content["groups"]
        return groups

    @cached_property
    def frame(self) -> DataFrame:
        """`rows` as a pandas frame, a figure a column; needs the extra `experiments`."""
        rows = frame_rows(self.content)
        return framed(rows, list(rows[0]))

    def _glance(self) -> Glance:
        return Glance(leaderboard_table(self.content), self.content["notes"])

    def _figures(self) -> Iterable[Figure]:
        groups = [
            BarGroup(row["run"], (Bar("", "run-0", row["mean"], row["low"], row["high"]),))
            for row in self.rows
        ]
        yield interval_figure(self.content["title"], self.content["protocol"]["metric"], groups)


@dataclass(frozen=True, repr=False)
class Ablation(Paired):
    """Conditions compared: `ablation["pass_rate"].difference`, `ablation.runs["off"]`.

    What differs between them:

    - feedback: on, off
    - format: native, action, json
    - react: react, plain
    - retriever: those that were named
    - irrelevance: tasks that no tool serves, and the answerable tasks they were made from
    - similarity: one run, whose error rates are set against how alike tool names are
    - injection: gold in the place of a stage: plain, tools, calls, results, all
    - roles: none, each role alone, all
    - another that the benchmark offers; dialogtool has tools (created, recorded) and apps
      (hierarchical, flat)

    `content` is that of comparison.json:

    - runs: for each condition {condition, tasks, errors, error_reasons, skipped, usage, metrics}.
    - comparisons: the paired difference of each metric between every two conditions
      (`seal.experiments.paired_scores.compare`).
    - kinds, for irrelevance: the share of each kind that abstained, with its interval
      (`seal.evaluation.conversation_audit`).
    - points, for similarity (`seal.experiments.ablation`).
    - costs, for injection: what each stage costs in each metric
      (`seal.experiments.ablation.costs_of`).
    - roles, for roles: what each role did in each condition (`seal.experiments.explanation`).
    - protocol, system, scales, and notes on what was left out.
    """

    folder: Path
    exit_code: int = 0
    """0 fine, 1 finished with task errors, 3 a budget stopped it."""

    @property
    def runs(self) -> dict[str, Run]:
        """Condition to its run."""
        names = [row["condition"] for row in self.content["runs"]]
        return {name: Run.load(within(self.folder, name)) for name in names}

    def _glance(self) -> Glance:
        protocol = self.content["protocol"]
        title = f"ablation of {protocol['ablation']} on {protocol['pool']}"
        grid = self._grid(title)
        if "costs" in self.content or not grid.rows:  # the pairs say less than the first table
            from seal.report.experiments import ablation_grids

            first = next(iter(ablation_grids(self.content, self._told())), grid)
            grid = first._replace(title=f"{title}\n{first.title}")
        return Glance(grid, (*self._scale_notes(), f"folder: {self.folder}"))

    def _tables(self) -> Iterable[Any]:
        from seal.report.experiments import ablation_tables

        return ablation_tables(self.content)

    def _figures(self) -> Iterable[Figure]:
        from seal.report.experiments import similarity_figures

        yield from similarity_figures(self.content).values()
        yield from super()._figures()
