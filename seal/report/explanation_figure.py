"""The waterfall of a run over the stages at which its goals failed, as SVG and PNG.

waterfall   a bar a stage, from the goals left before it to those left after it; the last bar is
            what is solved. Whiskers: 95 % intervals over tasks of the stage's share of all goals.

Equal results give equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.report.figure_layout import lay_out, panels, title
from seal.report.figures import COLOURS, literal, save, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "waterfall"
_WIDTH = 4.6
_BAR = 0.24
"""Height of a bar with its space, in inches."""


def draw_waterfall(content: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw what `seal.explain` returned, and return the files; of a run without goals nothing.

    Args:
        content: The explanation.
        folder: The files lie in `figures/` there.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    return save(waterfall_figures(content), folder)


def waterfall_figures(content: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the waterfall by its name; of a run without goals nothing.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    if not content["goals"]:
        return {}
    with styled():
        return {NAME: _figure(content)}


def _figure(content: Mapping[str, Any]) -> Any:
    rows = [row for row in content["stages"] if row["goals"]]
    goals = content["goals"]
    figure, panel = panels(1, 1, _WIDTH, _BAR * (len(rows) + 2))
    axes = panel[0][0]
    axes.barh(0, goals, color="#bbbbbb", height=0.7)
    for place, row in enumerate(rows, 1):
        error = row["stage"] == "infrastructure"
        axes.barh(
            place,
            row["goals"],
            left=row["left"],
            color=COLOURS[7] if error else COLOURS[1],
            height=0.7,
        )
        _whisker(axes, place, row, goals)
    axes.barh(len(rows) + 1, content["solved"], color=COLOURS[2], height=0.7)
    names = ["all goals", *(row["meaning"] for row in rows), "solved"]
    counts = [goals, *(row["goals"] for row in rows), content["solved"]]
    axes.set_yticks(
        range(len(names)), [literal(f"{n}: {c}") for n, c in zip(names, counts, strict=True)]
    )
    axes.invert_yaxis()
    right = [row["left"] + (row["high"] or 0) * goals for row in rows]
    axes.set_xlim(0, max(goals, *right, 1) * 1.02)
    axes.set_xlabel("goals left")
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    title(axes, "First stage that explains each failed goal")
    lay_out(
        figure,
        panel,
        {},
        "A bar: goals that the stage explains, from those left before it to those left after it.",
        "Whiskers: 95 % interval of the stage's share of all goals, over families of tasks.",
    )
    return figure


def _whisker(axes: Any, place: int, row: Mapping[str, Any], goals: int) -> None:
    """Draw the interval of a stage's share from what is left after it."""
    if row["low"] is None or row["high"] is None:
        return
    width = row["goals"]
    below, above = width - row["low"] * goals, row["high"] * goals - width
    axes.errorbar(
        row["left"] + width,
        place,
        xerr=[[max(0.0, below)], [max(0.0, above)]],
        color="#333333",
        capsize=2,
        elinewidth=0.8,
        linestyle="none",
    )
