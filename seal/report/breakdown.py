"""Scores and turn counts by category of scenario and by tool augmentation.

Source: ToolSandbox (Lu et al., 2024), Tables 5 (similarity) and 11 (turn count); here categories
and augmentations are rows. The groups are those of summary.json: a task counts in each category
whose tag is true of it, and in one augmentation, so that scrambled variants, which have distraction
tools too, do not count again under these.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from seal.report.grids import Estimate, Grid, drawn
from seal.report.lanes import Lane, lanes_of, main_metrics
from seal.report.pages import estimate_cell, lane_head, table
from seal.report.printable import one_line

if TYPE_CHECKING:
    from markupsafe import Markup
    from rich.table import Table

    from seal.runs.run_folder import RunFolder

CATEGORIES = {
    "single_tool": "STC, single tool call",
    "multiple_tool": "MTC, multiple tool calls",
    "single_turn": "SUT, single user turn",
    "multiple_turn": "MUT, multiple user turns",
    "state_dependency": "SD, state dependency",
    "canonicalization": "C, canonicalization",
    "insufficient_information": "II, insufficient information",
}
"""Tag of a category to its row, in the order of the paper."""
CATEGORY_GROUPS = {f"{tag}=true": row for tag, row in CATEGORIES.items()}
"""Group of a category, as summary.json names it, to its row."""
AUGMENTATIONS = {
    "no_distraction_tools": "0 DT, no distraction tools",
    "3_distraction_tools": "3 DT, distraction tools",
    "10_distraction_tools": "10 DT, distraction tools",
    "all_tools": "AT, all tools",
    "3_distraction_tools_tool_name_scrambled": "TNS, tool names scrambled",
    "3_distraction_tools_tool_description_scrambled": "TDS, tool descriptions scrambled",
    "3_distraction_tools_arg_description_scrambled": "ADS, argument descriptions scrambled",
    "3_distraction_tools_arg_type_scrambled": "ATS, argument types scrambled",
}
"""Value of the tag `augmentation` to its row, in the order of the paper; others follow by name."""

_TAG = "augmentation="
_SCORE = "similarity"
_TURNS = ("turn_count", "turns")
_ROWS = {**CATEGORY_GROUPS, **{f"{_TAG}{name}": row for name, row in AUGMENTATIONS.items()}}


@dataclass(frozen=True, slots=True)
class BreakdownRow:
    """One category or augmentation."""

    group: str
    """As summary.json names it; empty: all tasks."""
    label: str
    scores: dict[str, Estimate]
    """Lane to the mean of the score."""
    turns: dict[str, Estimate]
    """Lane to the mean turn count."""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The rows of one or several runs."""

    score: str
    """Name of the metric: similarity, else the first main metric that has a value."""
    turns: str
    """Name of the metric that counts turns; empty where there is none."""
    rows: tuple[BreakdownRow, ...]
    """All tasks, the categories, the augmentations; those of them that there are."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The score, and what counts turns where there is such a metric."""
        return (self.score, self.turns) if self.turns else (self.score,)

    def cells(self, row: BreakdownRow) -> tuple[dict[str, Estimate], ...]:
        """Return for each of the metrics the cells of a row, by lane."""
        return (row.scores, row.turns) if self.turns else (row.scores,)


def breakdown(lanes: Sequence[Lane]) -> Breakdown | None:
    """Return scores and turn counts by category and augmentation; None where tasks have neither."""
    score, turns = _chosen(lanes)
    groups = list(_in_order(_groups(lanes, score)))
    if not groups:
        return None
    return Breakdown(
        score,
        turns,
        tuple(
            BreakdownRow(
                group,
                _ROWS.get(group) or one_line(group.removeprefix(_TAG), 60) or "all",
                {lane.label: _cell(lane, score, group) for lane in lanes},
                {lane.label: _cell(lane, turns, group) for lane in lanes},
            )
            for group in ("", *groups)
        ),
    )


def _chosen(lanes: Sequence[Lane]) -> tuple[str, str]:
    valued = [{n: e for n, e in lane.metrics.items() if e.get("n")} for lane in lanes]
    names = {name for metrics in valued for name in metrics}
    main = [_SCORE] if _SCORE in names else main_metrics(valued)
    return next(iter(main), ""), next((name for name in _TURNS if name in names), "")


def _groups(lanes: Sequence[Lane], metric: str) -> set[str]:
    return {name for lane in lanes for name in (lane.metrics.get(metric) or {}).get("by") or ()}


def _in_order(groups: Iterable[str]) -> Iterator[str]:
    found = set(groups)
    yield from (group for group in _ROWS if group in found)
    yield from sorted(g for g in found - _ROWS.keys() if g.startswith(_TAG))


def _cell(lane: Lane, metric: str, group: str) -> Estimate:
    entry: Mapping[str, Any] = lane.metrics.get(metric) or {}
    return Estimate.of((entry.get("by") or {}).get(group) if group else entry)


def breakdown_tables(run: RunFolder) -> list[Table]:
    """Return the breakdown of a run beside its baselines for the terminal; empty: there is none.

    Raises:
        DataError: The run has not been scored.
    """
    lanes = lanes_of([run])
    found = breakdown(lanes)
    if found is None:
        return []
    names = {lane.label: "model" if lane.kind == "run" else lane.kind for lane in lanes}
    columns = [f"{name}\n{metric}" for name in names.values() for metric in found.metrics]
    rows = [
        (
            row.label,
            str(max(cell.n for cell in row.scores.values())),
            *(cells[label].value_text for label in names for cells in found.cells(row)),
        )
        for row in found.rows
    ]
    title = "by category and tool augmentation (ToolSandbox, Tables 5 and 11)"
    return [drawn(Grid(title, ("tasks with", "n", *columns), rows), title_justify="center")]


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the report's table; None where tasks have neither category nor augmentation."""
    found = breakdown(lanes)
    if found is None:
        return None
    heads: list[str] = []
    for lane in lanes:
        heads += [lane_head(lane, f": {found.score}"), *found.metrics[1:]]
    rows = []
    for row in found.rows:
        cells: list[str] = [row.label]
        for lane in lanes:
            cells.append(estimate_cell(row.scores[lane.label]))
            cells += [each[lane.label].value_text for each in found.cells(row)[1:]]
        rows.append(cells)
    title = (
        f"Mean {' and '.join(found.metrics)} by category and tool augmentation (layout after "
        "ToolSandbox, Tables 5 and 11)"
    )
    grid = Grid(title, ("tasks with", *heads), rows)
    return table(grid, "Scores and turns by category and augmentation")
