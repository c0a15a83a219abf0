"""The report's part about a tool's life in dialogue, and its tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from markupsafe import Markup

from seal.benchmarks.dialogtool.report.dialogue import (
    EXECUTION_ERRORS,
    TASKS,
    ApiCounts,
    Counted,
    counted_lanes,
    dialogue_tables,
    is_dialogue,
)
from seal.report.grids import Estimate, Grid
from seal.report.lanes import Lane, lanes_of
from seal.report.pages import Bar, BarGroup, bar_chart, render, table
from seal.report.printable import one_line
from seal.report.run_tables import page_cell
from seal.runs.run_folder import RunFolder

if TYPE_CHECKING:
    from rich.console import RenderableType

DRAWN_APIS = 16
"""APIs of one chart, the most frequent ones; the table below it has all."""
BUCKETS = ("10", "20", "30", "40")
"""Turns of a dialogue, rounded up to tens; the last one is open."""


class DialogueSection:
    """Tables 3, 4, 5 and 8 of DialogTool and its figures."""

    title = "A tool's life in dialogue"

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return tables and figures; None where no run was scored by such tasks."""
        shown = [lane for lane in lanes if is_dialogue(lane)]
        if not shown:
            return None
        runs = counted_lanes(shown)
        charts = (
            _errors(shown, runs),
            _by_app_lists(shown),
            _by_turns(shown),
            _by_api("Selection recall by API", "selected", shown, runs),
            _by_api("Execution accuracy by API", "executed", shown, runs),
            _by_api("Creation pass rate by API", "created", shown, runs),
        )
        return render(
            "dialogue.html",
            tables=[each.page() for each in dialogue_tables(shown, runs)],
            charts=[chart for chart in charts if chart is not None],
            lanes=shown,
            apis=_api_table(runs),
        )


def dialogue_breakdown(run: RunFolder) -> list[RenderableType]:
    """Return the tables of a run beside its baselines for the terminal; empty: no such tasks.

    Raises:
        DataError: The run has not been scored.
    """
    lanes = [lane for lane in lanes_of([run]) if is_dialogue(lane)]
    if not lanes:
        return []
    tables = dialogue_tables(lanes, counted_lanes(lanes))
    return [each.terminal(below=True) for each in tables]


def _errors(lanes: Sequence[Lane], runs: Mapping[str, Counted]) -> Markup | None:
    groups = []
    for name, of in EXECUTION_ERRORS.items():
        shares = ((lane, runs[lane.label].share(of).value) for lane in lanes)
        groups.append(BarGroup(name, tuple(Bar(lane.label, lane.colour, v) for lane, v in shares)))
    if all(bar.value is None for group in groups for bar in group.bars):
        return None
    return bar_chart("Execution errors, share of requests of due APIs", groups)


def _app_list(lane: Lane) -> str:
    """Return how APIs were offered to a run, `flat` or `hierarchical`; empty where it is untold."""
    arranged = (lane.run.manifest().get("system") or {}).get("arranged")
    told = arranged.get("apps") if isinstance(arranged, dict) else None
    return str(told or "")


def _by_app_lists(lanes: Sequence[Lane]) -> Markup | None:
    """Draw the tasks with the runs named by how APIs were offered; None: all were offered alike."""
    runs = [(lane, _app_list(lane)) for lane in lanes if lane.kind == "run"]
    ways = sorted({way for _, way in runs})
    if len(ways) < 2:
        return None
    groups = [
        BarGroup(
            f"{task}, {way or 'untold'}",
            tuple(_bar(lane, task) for lane, offered in runs if offered == way),
        )
        for task in ("selection", "execution")
        for way in ways
    ]
    return bar_chart("APIs offered flat and hierarchical, mean with 95 % interval", groups)


def _by_turns(lanes: Sequence[Lane]) -> Markup | None:
    groups = []
    for task in TASKS:
        for bucket in BUCKETS:
            bars = tuple(_bar(lane, task, f"turns_bucket={bucket}") for lane in lanes)
            if any(bar.value is not None for bar in bars):
                reach = f"{bucket} turns and more" if bucket == BUCKETS[-1] else f"up to {bucket}"
                groups.append(BarGroup(f"{task}, {reach}", bars))
    if len(groups) < 2:
        return None
    return bar_chart("By turns of the dialogue, mean with 95 % interval", groups)


def _bar(lane: Lane, metric: str, group: str | None = None) -> Bar:
    entry = lane.metrics.get(metric) or {}
    cell = Estimate.of(entry if group is None else (entry.get("by") or {}).get(group))
    return Bar(lane.label, lane.colour, cell.mean, cell.low, cell.high)


def _by_api(
    title: str, share: str, lanes: Sequence[Lane], runs: Mapping[str, Counted]
) -> Markup | None:
    """Draw the APIs that have such a share, the most frequent first."""
    groups = []
    for name, turns in _frequency(runs).items():
        bars = []
        for lane in lanes:
            known = runs[lane.label].apis.get(name, ApiCounts(name))
            bars.append(Bar(lane.label, lane.colour, getattr(known, share).value))
        if any(bar.value is not None for bar in bars):
            groups.append(BarGroup(f"{one_line(name, 50)}, due {turns} times", tuple(bars)))
    if not groups:
        return None
    more = len(groups) - DRAWN_APIS
    return bar_chart(f"{title}; {more} more below" if more > 0 else title, groups[:DRAWN_APIS])


def _frequency(runs: Mapping[str, Counted]) -> dict[str, int]:
    """Return each API with the turns it was due on, in the run that has most, most first."""
    due: dict[str, int] = {}
    for known in runs.values():
        for name, api in known.apis.items():
            due[name] = max(due.get(name, 0), api.due)
    return dict(sorted(due.items(), key=lambda item: (-item[1], item[0])))


def api_rows(runs: Mapping[str, Counted]) -> list[tuple[str, ApiCounts]]:
    """Return (run, API) for each that was due, requested or created, the most frequent first."""
    return [
        (label, known.apis[name])
        for name in _frequency(runs)
        for label, known in runs.items()
        if name in known.apis
    ]


def _api_table(runs: Mapping[str, Counted]) -> Markup | None:
    rows = [
        (
            api.api,
            run,
            str(api.due),
            api.selected.text,
            page_cell(api.executed),
            str(api.unnecessary),
            page_cell(api.created),
        )
        for run, api in api_rows(runs)
    ]
    columns = (
        "API", "run", "turns due", "selected, %", "executed, %", "unnecessary calls", "creation, %",
    )  # fmt: skip
    grid = Grid("", columns, rows, names=2)
    return table(grid, "every API", wrapping=True) if rows else None
