"""The parts of a report above its table of tasks, each pluggable.

A section is any object with a `title` and `render(lanes)`. A plug-in's section stands under the
entry points `seal.report_sections` and is shown after ours. What it returns is `Markup`: build it
with a Jinja template of your own with autoescape, `markupsafe.escape`, or
`seal.report.charts.bar_chart`. Scripts and style attributes do not run in the report: its content
security policy allows its own alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from typing import Any, Protocol

from markupsafe import Markup

from seal.core.errors import UsageError, shortened
from seal.core.registry import Registry
from seal.evaluation.milestones.plans import WHOLLY
from seal.evaluation.user_audit import HALLUCINATION, INSTRUCTION
from seal.report.anchors import task_link
from seal.report.breakdown import CATEGORY_GROUPS, breakdown
from seal.report.charts import Bar, BarGroup, bar_chart
from seal.report.gold import json_text
from seal.report.lanes import Lane
from seal.report.missions import Share, mission_tables, pyramid, runs_of, switching
from seal.report.notes import gap_notes
from seal.report.outcomes import reason_of, scores_so_far
from seal.report.pages import render
from seal.report.printable import one_line
from seal.report.tables import (
    UNBOUNDED,
    Estimate,
    all_metrics,
    headline_of,
    lacking_metrics,
    lane_rows,
    main_metrics,
)
from seal.report.users import percent, user_rows
from seal.runs.run_folder import RunFolder

GROUPED = 3
"""Metrics that are drawn by group."""
GROUPS = 16
"""Most groups of one chart."""
LEAST = 2
"""Least goals of a group on average: where each task is a group of its own, none is drawn."""

NOT_CEILED = UNBOUNDED | {"minefield_similarity", HALLUCINATION, INSTRUCTION, "bleu"}
"""Metrics whose best value is not 1."""


class Section(Protocol):
    """One part of a report."""

    title: str

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return the section's HTML; None where it has nothing to say about these runs.

        Args:
            lanes: Floor, the runs in their order, ceiling; the baselines only where played.
        """
        ...


SECTIONS = Registry(
    "report section",
    "seal.report_sections",
    {
        "summary": "seal.report.sections:SummarySection",
        "published": "seal.report.published:PublishedSection",
        "comparison": "seal.report.comparison:ComparisonSection",
        "roles": "seal.report.role_section:RoleSection",
        "breakdown": "seal.report.sections:BreakdownSection",
        "missions": "seal.report.sections:MissionSection",
        "explanation": "seal.report.explanation:ExplanationSection",
        "error_patterns": "seal.report.error_patterns:PatternSection",
        "users": "seal.report.sections:UserSection",
        "charts": "seal.report.sections:ChartSection",
        "ceiling": "seal.report.sections:CeilingSection",
    },
)

OURS = (
    *("summary", "published", "comparison", "roles", "explanation", "breakdown", "missions"),
    *("error_patterns", "users", "charts", "ceiling"),
)


def default_sections(runs: Iterable[RunFolder] = ()) -> list[Section]:
    """Return our sections, those of plug-ins by name, and those of the runs' benchmarks.

    Each class is built without arguments. A benchmark that is not installed has none.
    """
    others = [name for name in SECTIONS.names() if name not in OURS]
    found = [SECTIONS.resolve(name) for name in (*OURS, *others)]
    known = {bench.name: bench for run in runs if (bench := run.benchmark()) is not None}
    found += [section for benchmark in known.values() for section in benchmark.sections]
    return built_sections(found)


def built_sections(sections: Iterable[Any]) -> list[Section]:
    """Return sections, of names and dotted paths what they stand for, of classes an object each.

    Raises:
        UsageError: One is no section.
    """
    found = map(SECTIONS.resolve, sections)
    built = [section() if isinstance(section, type) else section for section in found]
    for section in built:
        if not callable(getattr(section, "render", None)) or not hasattr(section, "title"):
            raise UsageError(
                f"{shortened(section)} is no section of a report; expected a class or object with "
                "a title and render(lanes)"
            )
    return built


class SummarySection:
    """Means with intervals, floor and ceiling beside the runs."""

    title = "Summary"

    def render(self, lanes: Sequence[Lane]) -> Markup:
        """Return the short table, what it lacks and why, and all metrics in a fold."""
        every = all_metrics({name for lane in lanes for name in lane.metrics})
        rows = lane_rows(lanes)
        lacking = lacking_metrics(rows)
        return render(
            "summary.html",
            lanes=lanes,
            main=[row for row in rows if row.metric not in lacking],
            notes=gap_notes(lanes),
            every=lane_rows(lanes, every),
        )


class BreakdownSection:
    """Scores and turn counts by category and tool augmentation."""

    title = "By category and augmentation"

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return the table; None where tasks have neither."""
        found = breakdown(lanes)
        return None if found is None else render("breakdown.html", lanes=lanes, found=found)


_WIDEST = 4
"""Length of the longest type sequences of which each gets a cell: 256 of them."""


class MissionSection:
    """Missions by type, place and relation, errors, and the pyramid of type sequences."""

    title = "Missions"

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return the tables and a pyramid a run; None where no mission has a type."""
        if not any("mission_accuracy" in lane.metrics for lane in lanes):
            return None
        runs = runs_of(lanes)
        tables = mission_tables(runs)
        if not tables:
            return None
        data = switching(lanes[-1].run.tasks())
        return render(
            "missions.html",
            tables=tables,
            pyramids={label: pyramid(missions) for label, missions in runs.items()},
            widest=_WIDEST,
            letters={"single": "S", "multi": "M", "chat": "C", "clarify": "Q"},
            data=data,
            related=Share(data.related, data.missions),
        )


class UserSection:
    """Errors of the simulated users, run by run."""

    title = "Users"

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return the table; None where no user was audited."""
        rows = user_rows(lanes)
        return render("users.html", rows=rows, percent=percent) if rows else None


class ChartSection:
    """Main metrics, the same by group, and why chats ended."""

    title = "Charts"

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return the figures; None where no run has a value."""
        names = [
            name
            for name in main_metrics(
                [lane.metrics for lane in lanes], headline_of(lane.run for lane in lanes)
            )
            if name not in UNBOUNDED and any(_entry(lane, name).get("n") for lane in lanes)
        ]
        drawn = [
            self._means(lanes, names),
            *(self._by_group(lanes, name) for name in names[:GROUPED]),
            self._stops(lanes),
        ]
        charts = [chart for chart in drawn if chart is not None]
        folded = [chart for name in names[:GROUPED] for chart in self._by_tags(lanes, name)]
        if not charts and not folded:
            return None
        return render("charts.html", lanes=lanes, charts=charts, folded=folded)

    def _means(self, lanes: Sequence[Lane], names: Sequence[str]) -> Markup | None:
        if not names:
            return None
        groups = [BarGroup(name, tuple(_bar(lane, name) for lane in lanes)) for name in names]
        return bar_chart("Main metrics, mean with 95 % interval", groups)

    def _by_group(self, lanes: Sequence[Lane], metric: str) -> Markup | None:
        """Draw the categories of scenarios; where there are none, what the tag `group` names."""
        found = _groups(lanes, metric)
        categories = {group: CATEGORY_GROUPS[group] for group in CATEGORY_GROUPS if group in found}
        if categories:
            return self._grouped(lanes, metric, f"{metric} by category", categories)
        named = {name: name for name in found if "=" not in name}
        return self._grouped(lanes, metric, f"{metric} by group", named)

    def _by_tags(self, lanes: Sequence[Lane], metric: str) -> Iterator[Markup]:
        """Draw one chart for every other tag, whose groups are named TAG=VALUE."""
        categories = {group.partition("=")[0] for group in CATEGORY_GROUPS}
        names = sorted(name for name in _groups(lanes, metric) if "=" in name)
        for tag, found in groupby(names, lambda name: name.partition("=")[0]):
            if tag not in categories:
                named = {name: name for name in found}
                chart = self._grouped(lanes, metric, f"{metric} by {tag}", named)
                if chart is not None:
                    yield chart

    def _grouped(
        self, lanes: Sequence[Lane], metric: str, title: str, headings: Mapping[str, str]
    ) -> Markup | None:
        """Draw groups under their headings; None where a group is hardly more than one goal."""
        if len(headings) < 2 or _goals_of(lanes, metric, headings) < LEAST * len(headings):
            return None
        groups = [
            BarGroup(one_line(heading, 60), tuple(_bar(lane, metric, name) for lane in lanes))
            for name, heading in islice(headings.items(), GROUPS)
        ]
        more = len(headings) - GROUPS
        return bar_chart(f"{title}; {more} more in summary.json" if more > 0 else title, groups)

    def _stops(self, lanes: Sequence[Lane]) -> Markup | None:
        counts = {lane.label: lane.summary.get("stop_reasons") or {} for lane in lanes}
        reasons = sorted({reason for count in counts.values() for reason in count})
        if not reasons:
            return None
        groups = [
            BarGroup(
                reason,
                tuple(
                    Bar(lane.label, lane.colour, int(counts[lane.label].get(reason, 0)))
                    for lane in lanes
                ),
            )
            for reason in reasons
        ]
        most = max(max(count.values(), default=0) for count in counts.values())
        return bar_chart("Why chats ended, number of goals", groups, maximum=most)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Tasks that the ceiling falls short of 1 in, for one metric and one reason."""

    metric: str
    reason: str
    tasks: tuple[tuple[str, str, float], ...]
    """(task id, link, value)."""


class CeilingSection:
    """Where even the oracle does not reach 1.000, and why: what the gold itself does not allow."""

    title = "Where the ceiling is below 1.000"

    def render(self, lanes: Sequence[Lane]) -> Markup | None:
        """Return the tasks by metric and reason; None where no ceiling was played."""
        ceiling = next((lane for lane in lanes if lane.kind == "ceiling"), None)
        if ceiling is None:
            return None
        found = shortfalls(ceiling)
        return render(
            "ceiling.html",
            shortfalls=found,
            tasks=len({task_id for short in found for task_id, *_ in short.tasks}),
            summary=ceiling.summary,
        )


def shortfalls(ceiling: Lane) -> list[Shortfall]:
    """Return what the ceiling does not reach, by metric, the most frequent reason first."""
    found: dict[tuple[str, str], list[tuple[str, str, float]]] = {}
    for score in scores_so_far(ceiling.run):
        if score.value is None or score.value >= WHOLLY or score.metric in NOT_CEILED:
            continue
        reason = reason_of(score) or one_line(json_text(score.details), 300)
        link = task_link(score.task_id)
        tasks = found.setdefault((score.metric, "" if reason == "{}" else reason), [])
        tasks.append((score.task_id, link, score.value))
    order = {name: place for place, name in enumerate(all_metrics({m for m, _ in found}))}
    ranked = sorted(found.items(), key=lambda item: (order[item[0][0]], -len(item[1]), item[0]))
    return [Shortfall(metric, reason, tuple(tasks)) for (metric, reason), tasks in ranked]


def _entry(lane: Lane, metric: str) -> Mapping[str, Any]:
    return lane.metrics.get(metric) or {}


def _groups(lanes: Sequence[Lane], metric: str) -> list[str]:
    """Return the groups in which some lane has a value, in the order of summary.json."""
    return list(
        dict.fromkeys(
            name
            for lane in lanes
            for name, entry in (_entry(lane, metric).get("by") or {}).items()
            if entry.get("mean") is not None
        )
    )


def _goals_of(lanes: Sequence[Lane], metric: str, groups: Iterable[str]) -> int:
    """Return how many scores the groups have together, in the lane that has most."""
    names = list(groups)
    entries = [_entry(lane, metric).get("by") or {} for lane in lanes]
    return max(sum((by.get(name) or {}).get("n") or 0 for name in names) for by in entries)


def _bar(lane: Lane, metric: str, group: str | None = None) -> Bar:
    entry = _entry(lane, metric)
    cell = Estimate.of(entry if group is None else (entry.get("by") or {}).get(group))
    mean = None if cell.mean is None else float(cell.mean)
    return Bar(lane.label, lane.colour, mean, cell.low, cell.high)
