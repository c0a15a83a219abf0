"""Why a run's goals failed, as files, for a terminal and as a figure.

waterfall   a bar a stage, from the goals left before it to those left after it; the last bar is
            what is solved. Whiskers: 95 % intervals over tasks of the stage's share of all goals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.core import MissingExtraError
from seal.experiments.explanation.explain import EXAMPLES, explain_run
from seal.experiments.result_files import check_results_folder, write_json
from seal.pools.benchmark import Benchmark
from seal.report.failure_stages import (
    LONGEST,
    bars_of,
    example_lines,
    explaining,
    notes,
    place_text,
    waterfall,
)
from seal.report.figure_layout import lay_out, literal, panels, styled, title
from seal.report.figures import COLOURS, FOLDER, GRID, save, whisker
from seal.report.grids import told
from seal.report.printable import one_line
from seal.runs.run_folder import RunFolder
from seal.runs.wholeness import check_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH = 4.6
_BAR = 0.24
"""Width of the figure, and height of a bar with its space, in inches."""

JSON = "explanation.json"


NAME = "waterfall"


def explain(
    run: Path,
    metric: str | None = None,
    examples: int = EXAMPLES,
    out: Path | None = None,
    bench: Benchmark | None = None,
) -> dict[str, Any]:
    """Return why a run's failed goals failed, and write it into a folder where one is given.

    Args:
        run: Run folder, wherever it was moved.
        metric: Whose verdict counts; None: that of each goal's kind of gold.
        examples: Most of each stage.
        out: Folder for explanation.json and figures/waterfall.svg and .png.
        bench: What was played, where it is not installed.

    Returns:
        What `seal.experiments.explanation.explain` says; with `out` also `notes`, sentences on what
        was left out, as a package is not installed.

    Raises:
        DataError: The folder is no scored run, nothing was played, or a file is damaged.
        UsageError: A metric without a value, or a folder that holds something else.
    """
    if out is not None:
        check_results_folder(out, {JSON, FOLDER}, "an explanation")
    folder = RunFolder.open(run)
    check_whole(folder)
    content = explain_run(folder, metric, examples, bench=bench)
    if out is None:
        return content
    out.mkdir(parents=True, exist_ok=True)
    write_json(content, out / JSON)
    try:
        save(waterfall_figures(content), out)
    except MissingExtraError as error:
        return {**content, "notes": [f"without the figure: {error}"]}
    return {**content, "notes": []}


def explanation_tables(content: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the waterfall and, below it, notes and examples.

    Args:
        content: Of explanation.json.
    """
    return told((waterfall(content), *notes(content), *_example_lines(content)))


def _example_lines(content: Mapping[str, Any]) -> Iterator[str]:
    for stage in content["stages"]:
        for number, example in enumerate(stage["examples"], 1):
            if number == 1:
                yield f"\n{stage['meaning']}:"
            yield f"  {place_text(example)} ({example['cause']})"
            for name, text in example_lines(example):
                yield f"    {name}: {one_line(text, LONGEST)}"


def waterfall_figures(content: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the waterfall by its name; empty if the run has no goals.

    Args:
        content: Of explanation.json.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    if not content["goals"]:
        return {}
    with styled():
        return {NAME: _figure(content)}


def _figure(content: Mapping[str, Any]) -> Figure:
    goals, stages = content["goals"], explaining(content)
    bars = bars_of(content)
    figure, panel = panels(1, 1, _WIDTH, _BAR * len(bars))
    axes = panel[0][0]
    colours = {"all": "#bbbbbb", "solved": COLOURS[2], "undecided": COLOURS[4]}
    colours["infrastructure"] = COLOURS[7]
    for place, (_, kind, left, count) in enumerate(bars):
        colour = colours.get(kind, COLOURS[1])
        axes.barh(place, count, left=left, color=colour, height=0.7)
    for place, row in enumerate(stages, 1):
        if row["low"] is not None and row["high"] is not None:
            lengths = whisker(row["goals"], row["low"] * goals, row["high"] * goals)
            look = {"color": "#333333", "capsize": 2, "elinewidth": 0.8, "linestyle": "none"}
            ends = [[length] for length in lengths]
            axes.errorbar(row["left"] + row["goals"], place, xerr=ends, **look)
    axes.set_yticks(range(len(bars)), [literal(f"{name}: {n}") for name, *_, n in bars])
    axes.invert_yaxis()
    right = [row["left"] + (row["high"] or 0) * goals for row in stages]
    axes.set_xlim(0, max(goals, *right, 1) * 1.02)
    axes.set_xlabel("goals left")
    axes.grid(axis="x", **GRID)
    axes.set_axisbelow(True)
    title(axes, "First stage that explains each failed goal")
    sentences = (
        "A bar: goals that the stage explains, from those left before it to those left after it.",
        "Whiskers: 95 % interval of the stage's share of all goals, over families of tasks.",
    )
    lay_out(figure, panel, {}, *sentences)
    return figure
