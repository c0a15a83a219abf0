"""Scores by category of scenario, by tool augmentation, and by corrected gold.

Source: ToolSandbox (Lu et al., 2024), Tables 5 (similarity) and 11 (turn count); here categories
and augmentations are rows. The groups are those of summary.json. A task counts in each category
whose tag is true of it, but in one augmentation only. So scrambled variants, which have distraction
tools too, are not counted again under distraction tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from seal.core.text import counted, one_line
from seal.evaluation.goals import ranking
from seal.report.grids import Estimate, Grid
from seal.report.lanes import Lane, ShortTable, main_metrics
from seal.report.pages import estimate_cell, paragraphs, table
from seal.report.sections import AUGMENTATION, CATEGORY_GROUPS, lane_head
from seal.runs.run import RunFolder, scales_of

if TYPE_CHECKING:
    from markupsafe import Markup


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

_SCORE = "similarity"
_TURNS = ("turn_count", "turns")
_ROWS = {**CATEGORY_GROUPS, **{f"{AUGMENTATION}{name}": row for name, row in AUGMENTATIONS.items()}}


def breakdown(
    lanes: Sequence[Lane], cell: Callable[[Estimate], str] = estimate_cell
) -> Grid | None:
    """Return scores and turn counts by category and augmentation; None where tasks have neither.

    The score is the similarity, else the first main metric that has a value. The rows are all
    tasks, the categories, the augmentations; those of them that there are.

    Args:
        lanes: The runs.
        cell: Gives the content of a score's cell.
    """
    metrics = list(_chosen(lanes))
    found = {name for lane in lanes for metric in metrics[:1] for name in lane.groups(metric)}
    others = sorted(name for name in found - _ROWS.keys() if name.startswith(AUGMENTATION))
    groups = [*(name for name in _ROWS if name in found), *others]
    if not groups:
        return None
    heads, rows = ["tasks with"], []
    for lane in lanes:
        heads += [lane_head(lane, f": {metrics[0]}"), *metrics[1:]]
    for group in ("", *groups):
        label = _ROWS.get(group) or one_line(group.removeprefix(AUGMENTATION), 60) or "all"
        means = [[lane.estimate(name, group or None) for name in metrics] for lane in lanes]
        texts = ((cell(mean), *(turn.value_text for turn in turns)) for mean, *turns in means)
        rows.append((label, *chain.from_iterable(texts)))
    title = f"Mean {' and '.join(metrics)} by category and tool augmentation"
    return Grid(title, heads, rows)


def _chosen(lanes: Sequence[Lane]) -> Iterator[str]:
    valued = [{n: e for n, e in lane.metrics.items() if e.get("n")} for lane in lanes]
    names = {name for metrics in valued for name in metrics}
    scales = scales_of(lane.run for lane in lanes)
    main = [_SCORE] if _SCORE in names else main_metrics(valued, scales=scales)
    yield from ranking(main, scales)[:1]
    yield from [name for name in _TURNS if name in names][:1]


def section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the report's table; None where tasks have neither category nor augmentation."""
    grid = breakdown(lanes)
    return grid and table(grid, "Scores and turns by category and augmentation")


# -- A run's scores by the gold as published, and beside them by the gold as corrected.

_COLUMNS = ("as published", "as corrected")


def _cell(found: Estimate) -> str:
    return f"{found.value_text} {found.interval_text}\n{found.count_text}"


def errata_grid(run: RunFolder, cell: Callable[[Estimate], str] = _cell) -> Grid | None:
    """Return the main metrics of a run by both golds; None: it was scored by one alone.

    Those with a condition (`Scale`) are left out.

    Args:
        run: A run that has been scored.
        cell: Gives the content of a cell.

    Raises:
        DataError: A file of the run is damaged.
    """
    corrected = run.corrected()
    if corrected is None:
        return None
    folders = dict(zip(_COLUMNS, (run, corrected), strict=True))
    lanes = [Lane("run", name, "run-0", it, it.summary()) for name, it in folders.items()]
    told = corrected.manifest()["errata"]
    goals = counted(told["goals"], "corrected goal")
    title = f"Scores by {goals}, of {told['corrections']} in the errata"
    short = ShortTable(lanes)
    valued = short.valued
    names = ranking(valued, short.scales)
    rows = [(name, *map(cell, valued[name].values())) for name in names]
    return Grid(title, ("metric", *_COLUMNS), rows)


def errata_section(lanes: Sequence[Lane]) -> Markup | None:
    """Return the tables of the runs that were scored by both golds; None: there is none."""
    found = ((lane.label, errata_grid(lane.run, estimate_cell)) for lane in lanes)
    return paragraphs(g._replace(title=f"{name}: {g.title}") for name, g in found if g) or None
