"""Figures of a sweep, as SVG and PNG.

metrics_over_pool_size   a panel a K, a line a metric (the SEAL paper's Figure 4)
pass_rate_over_recall    recall@K against pass rate, call recall and tokens; a line a pool size

Whiskers: deviation over samples. Equal results give equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from seal.report.figure_layout import lay_out, panels, title
from seal.report.figures import line_look, save, styled
from seal.report.sweep_table import (
    CALL_RECALL,
    METRICS,
    PASS_RATE,
    figure_of,
    lacking,
    tokens_of,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BARS = "Error bars: one standard deviation (n - 1) over samples; none where there is one sample."
_AGAINST = (PASS_RATE, CALL_RECALL, "tokens")
_PANELS_IN_ROW = 4
_PANEL = (3.0, 2.4)
"""Width and height of its axes, in inches."""
_ALONE = (4.4, 2.6)
"""Those of a figure's only panel."""


class _Point(NamedTuple):
    x: float
    y: Mapping[str, Any]
    """{mean, deviation}; without a mean the point is not drawn."""
    spread: float | None = None
    """Deviation of x."""
    mark: str = ""
    """Text beside the point."""


def draw_sweep(content: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw what the results hold, and return the files.

    Args:
        content: Of sweep.json.
        folder: Of the sweep; the files lie in `figures/` there.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    return save(sweep_figures(content), folder)


def sweep_figures(content: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figures of what the results hold, by name.

    Pool sizes are drawn where there are several, K where there are several.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    entries = content["results"]
    figures: dict[str, Figure] = {}
    with styled():
        if len({entry["size"] for entry in entries}) > 1:
            figures["metrics_over_pool_size"] = _over_sizes(entries)
        if len({entry["top_k"] for entry in entries}) > 1:
            figures["pass_rate_over_recall"] = _over_recall(entries)
    return figures


def _over_sizes(entries: Sequence[Mapping[str, Any]]) -> Any:
    ks = sorted({entry["top_k"] for entry in entries})
    sizes = sorted({entry["size"] for entry in entries})
    figure, rows = _panels(len(ks))
    shown: dict[str, Any] = {}
    for k, axes in zip(ks, chain(*rows), strict=True):
        mine = sorted((e for e in entries if e["top_k"] == k), key=lambda entry: entry["size"])
        for number, metric in enumerate(METRICS):
            measured = any(figure_of(entry, metric)["mean"] is not None for entry in entries)
            label = metric if measured else f"{metric}: n/a"
            points = [_Point(entry["size"], figure_of(entry, metric)) for entry in mine]
            shown[label] = _line(axes, number, points)
        axes.set_xscale("log")
        axes.set_xlim(0.8 * sizes[0], 1.25 * sizes[-1])
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45, ha="right")
        axes.minorticks_off()
        axes.set_ylim(0, 1.05)
        axes.set_xlabel("tools in the pool")
        title(axes, f"K = {k}")
    for row in rows:
        row[0].set_ylabel("mean over samples")
    lay_out(figure, rows, shown, _BARS, *lacking(entries))
    return figure


def _over_recall(entries: Sequence[Mapping[str, Any]]) -> Any:
    sizes = sorted({entry["size"] for entry in entries})
    counted = any(tokens_of(entry)["mean"] is not None for entry in entries)
    against = [what for what in _AGAINST if counted or what != "tokens"]
    figure, rows = _panels(len(against))
    shown: dict[str, Any] = {}
    for what, axes in zip(against, chain(*rows), strict=True):
        for number, size in enumerate(sizes):
            mine = sorted((e for e in entries if e["size"] == size), key=lambda e: e["top_k"])
            across = [(entry, figure_of(entry, f"recall@{entry['top_k']}")) for entry in mine]
            points = [
                _Point(found["mean"], _height(entry, what), found["deviation"], f"{entry['top_k']}")
                for entry, found in across
                if found["mean"] is not None
            ]
            shown[f"{size:,} tools"] = _line(axes, number, points)
        axes.set_xlim(0, 1.05)
        axes.set_ylim(0, None if what == "tokens" else 1.05)
        axes.set_xlabel("recall@K; at each point its K")
        title(axes, "tokens of a goal" if what == "tokens" else what)
    uncounted = "" if counted else "No panel of tokens: no model counted any."
    lay_out(figure, rows, shown, _BARS, uncounted, *lacking(entries, (PASS_RATE, CALL_RECALL)))
    return figure


def _height(entry: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    return tokens_of(entry) if what == "tokens" else figure_of(entry, what)


def _line(axes: Any, number: int, points: Sequence[_Point]) -> Any:
    """Draw a line and return it for the legend; one without a point stands there alone."""
    drawn = [point for point in points if point.y["mean"] is not None]
    look = line_look(number)
    if not drawn:
        return axes.plot([], [], **look)[0]
    line = axes.errorbar(
        [point.x for point in drawn],
        [point.y["mean"] for point in drawn],
        yerr=[point.y["deviation"] or 0.0 for point in drawn],
        xerr=[point.spread or 0.0 for point in drawn],
        capsize=2,
        **look,
    )
    for point in drawn:
        axes.annotate(
            point.mark,
            (point.x, point.y["mean"]),
            (4, 4),
            textcoords="offset points",
            color=look["color"],
            size=7,
        )
    return line


def _panels(count: int) -> tuple[Any, list[list[Any]]]:
    figure, rows = panels(count, _PANELS_IN_ROW, *(_PANEL if count > 1 else _ALONE))
    for axes in chain(*rows):
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    return figure, rows
