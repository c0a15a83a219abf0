"""An ablation for a person: tables for terminal and report, and a figure.

errors_over_similarity   a panel an error rate, a mark an environment, a colour a variant of J_avg;
                         whiskers: 95 % intervals over tasks

Source of the figure: Kokane et al., ToolScan (2024), the ablation on API complexity.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from seal.experiments.ablation.similarity import VARIANTS
from seal.experiments.ablation.variants import ABSTENTION
from seal.report.columns import DIFFERENCE, Cell, Columns, figure, grid_of, signed, with_interval
from seal.report.figure_layout import styled
from seal.report.figures import Mark, Panel, Series, series_figure, whisker
from seal.report.grids import Grid, counts_of, frequent, grouped, interval, number, told
from seal.report.lanes import Lane
from seal.report.pages import paragraphs
from seal.report.printable import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_REASONS = 4
"""Reasons for excluded pairs that are told."""
_LONGEST = 160
"""Characters of one."""
_PANELS_IN_ROW = 3
_PANEL = (2.4, 1.8)
"""Width and height of its axes, in inches."""

Entries = Iterable[Mapping[str, Any]]


def ablation_tables(content: Mapping[str, Any]) -> Iterator[Any]:
    """Yield tables and lines for a person.

    Args:
        content: Of comparison.json.
    """
    return told(_parts(content))


class AblationSection:
    """The report's part about what an ablation varied, and what that changed.

    Args:
        content: Of comparison.json.
    """

    def __init__(self, content: Mapping[str, Any]) -> None:
        self.title = f"Ablation of {content['protocol']['ablation']}"
        self._content = content

    def render(self, lanes: Sequence[Lane]) -> Markup:
        """Return the tables that the terminal shows, and the lines below them."""
        return paragraphs((*_parts(self._content), *self._content["notes"]), auto=True)


def _parts(content: Mapping[str, Any]) -> Iterator[Grid | str]:
    """Yield the tables of the told metrics, and the lines below them."""
    yield from ablation_grids(content, content["protocol"]["told"])
    yield from ablation_lines(content)


def ablation_grids(content: Mapping[str, Any], metrics: Sequence[str]) -> Iterator[Grid]:
    """Yield the tables of an ablation.

    Args:
        content: Of comparison.json.
        metrics: Those that are told.
    """
    if "roles" in content:
        yield _roles_grid(content["roles"])
    if "costs" in content:
        yield _costs_grid(content, metrics)
        return  # comparison.json has the pairs
    yield from _pair_grids(content["comparisons"], metrics)
    if "kinds" in content:
        yield _kinds_grid(content["kinds"])
    if content.get("points"):
        yield _points_grid(content["points"])


def _costs_grid(content: Mapping[str, Any], metrics: Sequence[str]) -> Grid:
    def cost(stage: str) -> Cell:
        return lambda entry: _cost(entry["stages"].get(stage))

    stages = [name for name in content["protocol"]["conditions"] if name != "plain"]
    columns: Columns = [
        ("metric", "metric"),
        ("plain", figure("plain")),
        *((stage, cost(stage)) for stage in stages),
    ]
    told = [each for each in content["costs"] if each["metric"] in metrics]
    return grid_of("what each stage costs: points that gold in its place adds", columns, told)


def _cost(found: Mapping[str, Any] | None) -> str:
    return "" if found is None else f"{signed(found['cost'])} {interval(found)}".rstrip()


def _roles_grid(roles: Mapping[str, Sequence[Mapping[str, Any]]]) -> Grid:
    counts = ("replies", "goals", "tokens_in", "tokens_out", "caught", "caused", "missed", "passed")
    counted = [(count.replace("_", " "), figure(count, "{:,}".format)) for count in counts]
    rows = [{"run": name, **row} for name, found in roles.items() for row in found]
    title = "who spoke, and the errors that each caught and caused"
    return grid_of(title, [("run", "run"), ("role", "role"), *counted], rows)


def _pair_grids(comparisons: Entries, metrics: Sequence[str]) -> Iterator[Grid]:
    """Yield a table for each two conditions; of the told metrics in their order."""
    pairs: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for entry in comparisons:
        if entry["n"]:
            mine = pairs.setdefault((entry["run"], entry["other"]), [])
            if entry["metric"] in metrics:
                mine.append(entry)
    for (one, other), mine in pairs.items():
        mine.sort(key=lambda entry: metrics.index(entry["metric"]))
        means = ((one, figure("mean")), (other, figure("other_mean")))
        yield grid_of(f"{one} less {other}", [("metric", "metric"), *means, *DIFFERENCE], mine)


def _kinds_grid(kinds: Entries) -> Grid:
    def share(name: str) -> Cell:
        return lambda found: with_interval(found["metrics"][name]["mean"], found["metrics"][name])

    shares = [(name, share(name)) for name in ABSTENTION]
    columns: Columns = [("kind", "kind"), ("tasks", "tasks"), *shares]
    return grid_of("irrelevant tasks by kind", columns, kinds)


def _points_grid(points: Sequence[Mapping[str, Any]]) -> Grid:
    def rate(name: str) -> Cell:
        return lambda point: number(point["rates"][name]["rate"])

    columns: Columns = [
        *((name, name) for name in ("environment", "tools", "goals")),
        *((variant, figure(variant)) for variant in VARIANTS),
        *((name, rate(name)) for name in points[0]["rates"]),
    ]
    return grid_of("J_avg and error rates by environment", columns, points)


def ablation_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands below the tables: tasks and errors, and why pairs were left out."""
    for row in content["runs"]:
        yield (
            f"{row['condition']}: {counts_of(task=row['tasks'], error=row['errors'])}"
            + (f", {row['skipped']} skipped" if row["skipped"] else "")
        )
        for reason, count in list(row["error_reasons"].items())[:_REASONS]:
            yield f"  {count}: {one_line(reason, _LONGEST)}"
    yield from _excluded_lines(content)


def _excluded_lines(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield for the told metrics why pairs have no value, and of which two conditions they are."""
    told = content["protocol"]["told"]
    entries = [(f"{it['run']} less {it['other']}", it) for it in content["comparisons"]]
    metrics = grouped(
        ((compared, frequent(entry["excluded"], _REASONS, _LONGEST)), entry["metric"])
        for compared, entry in entries
        if entry["metric"] in told and entry["excluded"]
    )
    pairs = grouped(
        (f"{', '.join(named)}: pairs without values: {reasons}", compared)
        for (compared, reasons), named in metrics.items()
    )
    every = {compared for compared, _ in entries}
    for text, named in pairs.items():
        whole = len(every) > 1 and every == {*named}
        yield f"{'every comparison' if whole else ', '.join(named)}: {text}"


def similarity_figures(content: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figure of an ablation of similarity by its name; empty for other ablations.

    Args:
        content: Of comparison.json.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    if not content.get("points"):
        return {}
    points = content["points"]
    sentences = ("A mark is an environment. Whiskers: 95 % intervals over tasks.",)
    with styled():
        shown = [_panel(name, points) for name in points[0]["rates"]]
        figure = series_figure(shown, _PANEL, _PANELS_IN_ROW, sentences, "error rate")
        return {"errors_over_similarity": figure}


def _panel(name: str, points: Sequence[Mapping[str, Any]]) -> Panel:
    most = min(1.0, 1.2 * max(point[v] or 0.1 for point in points for v in VARIANTS))

    def finish(axes: Any) -> None:
        axes.set_xlim(0, most)
        axes.set_ylim(bottom=0)
        if axes.get_ylim()[1] < 0.1:  # an axis of nothing but noise would look like an effect
            axes.set_ylim(0, 0.1)
        axes.set_xlabel("J_avg of the names")

    return Panel(name, [_marks(v, points, name) for v in VARIANTS], finish)


def _marks(variant: str, points: Entries, name: str) -> Series:
    found = ((point[variant], point["rates"][name]) for point in points)
    marks = [
        Mark(x, it["rate"], whisker(it["rate"], it["low"], it["high"]))
        for x, it in found
        if x is not None and it["rate"] is not None
    ]
    return Series(f"J_avg {variant}", VARIANTS.index(variant), marks, joined=False)
