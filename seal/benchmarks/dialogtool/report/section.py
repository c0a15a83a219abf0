"""The report's part about a tool's life in dialogue, and its tables for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from seal.benchmarks.dialogtool.report.dialogue import (
    BUCKETS,
    EXECUTION_ERRORS,
    TASKS,
    ApiCounts,
    Counted,
    counted_lanes,
    dialogue_tables,
    is_dialogue,
)
from seal.report.grids import Estimate
from seal.report.lanes import Lane, lanes_of
from seal.report.missions import Share
from seal.report.pages import Bar, BarGroup, bar_chart, render
from seal.report.printable import one_line, printable
from seal.runs.run_folder import RunFolder

if TYPE_CHECKING:
    from rich.table import Table

DRAWN_APIS = 16
"""APIs of one chart, the most frequent ones; the table below it has all."""


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
            *_by_api(shown, runs),
        )
        return render(
            "dialogue.html",
            tables=dialogue_tables(shown, runs),
            charts=[chart for chart in charts if chart is not None],
            lanes=shown,
            apis=api_rows(runs),
        )


def dialogue_breakdown(run: RunFolder) -> list[Table]:
    """Return the tables of a run beside its baselines for the terminal; empty: no such tasks.

    Raises:
        DataError: The run has not been scored.
    """
    lanes = [lane for lane in lanes_of([run]) if is_dialogue(lane)]
    if not lanes:
        return []
    from rich.table import Table
    from rich.text import Text

    drawn = []
    for table in dialogue_tables(lanes, counted_lanes(lanes)):
        shown = Table(title=table.title)
        shown.add_column("")
        for column in table.columns:
            shown.add_column(column, justify="right", overflow="fold")
        for label, figures in table.rows.items():
            cells = (Text("\n".join(filter(None, (f.text, f.small)))) for f in figures)
            shown.add_row(Text(printable(label)), *cells)
        drawn.append(shown)
    return drawn


def _errors(lanes: Sequence[Lane], runs: Mapping[str, Counted]) -> Markup | None:
    if not any(known.executions for known in runs.values()):
        return None
    groups = [
        BarGroup(
            shown,
            tuple(
                Bar(
                    lane.label,
                    lane.colour,
                    Share(runs[lane.label].execution[name], runs[lane.label].executions).value,
                )
                for lane in lanes
            ),
        )
        for name, shown in EXECUTION_ERRORS.items()
    ]
    return bar_chart("Execution errors, share of requests of due APIs", groups)


def app_list(lane: Lane) -> str:
    """Return how APIs were offered to a run, `flat` or `hierarchical`; empty where it is untold."""
    arranged = (lane.run.manifest().get("system") or {}).get("arranged")
    told = arranged.get("apps") if isinstance(arranged, dict) else None
    return str(told or "")


def _by_app_lists(lanes: Sequence[Lane]) -> Markup | None:
    """Draw the tasks with the runs named by how APIs were offered; None: all were offered alike."""
    runs = [lane for lane in lanes if lane.kind == "run"]
    offered = {lane.label: app_list(lane) for lane in runs}
    if len(set(offered.values())) < 2:
        return None
    groups = [
        BarGroup(
            f"{task}, {way or 'untold'}",
            tuple(_bar(lane, task) for lane in runs if offered[lane.label] == way),
        )
        for task in ("selection", "execution")
        for way in sorted(set(offered.values()))
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


def _by_api(lanes: Sequence[Lane], runs: Mapping[str, Counted]) -> list[Markup | None]:
    due = _frequency(runs)
    return [
        _api_chart("Selection recall by API", lanes, runs, due, _selected),
        _api_chart("Execution accuracy by API", lanes, runs, due, _executed),
        _api_chart("Creation pass rate by API", lanes, runs, due, _created),
    ]


def _frequency(runs: Mapping[str, Counted]) -> dict[str, int]:
    """Return each API with the turns it was due on, in the run that has most, most first."""
    names = {name for known in runs.values() for name in known.apis}
    due = {n: max(k.apis.get(n, ApiCounts()).due for k in runs.values()) for n in names}
    return dict(sorted(due.items(), key=lambda item: (-item[1], item[0])))


def _selected(api: ApiCounts) -> Share:
    return Share(api.selected, api.due)


def _executed(api: ApiCounts) -> Share:
    return Share(sum(api.executed), len(api.executed))


def _created(api: ApiCounts) -> Share:
    return api.created


def _api_chart(
    title: str,
    lanes: Sequence[Lane],
    runs: Mapping[str, Counted],
    due: Mapping[str, int],
    share: Callable[[ApiCounts], Share],
) -> Markup | None:
    """Draw the APIs that have such a share, the most frequent first."""
    groups = []
    for name, turns in due.items():
        found = {label: known.apis.get(name, ApiCounts()) for label, known in runs.items()}
        bars = tuple(Bar(lane.label, lane.colour, share(found[lane.label]).value) for lane in lanes)
        if any(bar.value is not None for bar in bars):
            groups.append(BarGroup(f"{one_line(name, 50)}, due {turns} times", bars))
    if not groups:
        return None
    more = len(groups) - DRAWN_APIS
    return bar_chart(f"{title}; {more} more below" if more > 0 else title, groups[:DRAWN_APIS])


@dataclass(frozen=True, slots=True)
class ApiRow:
    """One API in one run."""

    api: str
    run: str
    due: int
    selected: Share
    executed: Share
    unnecessary: int
    created: Share


def api_rows(runs: Mapping[str, Counted]) -> list[ApiRow]:
    """Return every API that was due, requested or created, the most frequent first."""
    return [
        ApiRow(
            name,
            label,
            api.due,
            _selected(api),
            _executed(api),
            api.unnecessary,
            api.created,
        )
        for name in _frequency(runs)
        for label, known in runs.items()
        if (api := known.apis.get(name)) is not None
    ]
