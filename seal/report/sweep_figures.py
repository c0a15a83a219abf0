"""Figures of a sweep, as SVG and PNG.

metrics_over_pool_size   a panel a K, a line a metric (the SEAL paper's Figure 4)
pass_rate_over_recall    recall@K against pass rate, call recall and tokens; a line a pool size

Whiskers: deviation over samples. Equal results give equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from seal.report.figures import COLOURS, MARKERS, STYLE, caption, save
from seal.report.frames import require
from seal.report.sweep_table import (
    CALL_RECALL,
    METRICS,
    PASS_RATE,
    figure_of,
    lacking,
    tokens_of,
)

_BARS = "Error bars: one standard deviation (n - 1) over samples; none where there is one sample."
_AGAINST = (PASS_RATE, CALL_RECALL, "tokens")


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

    Pool sizes are drawn where there are several, K where there are several.

    Args:
        content: Of sweep.json.
        folder: Of the sweep; the files lie in `figures/` there.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    require("matplotlib")
    import matplotlib as mpl

    entries = content["results"]
    written: list[Path] = []
    with mpl.rc_context(STYLE):
        if len({entry["size"] for entry in entries}) > 1:
            written += save(_over_sizes(entries), folder, "metrics_over_pool_size")
        if len({entry["top_k"] for entry in entries}) > 1:
            written += save(_over_recall(entries), folder, "pass_rate_over_recall")
    return written


def _over_sizes(entries: Sequence[Mapping[str, Any]]) -> Any:
    ks = sorted({entry["top_k"] for entry in entries})
    sizes = sorted({entry["size"] for entry in entries})
    figure, panels = _panels(len(ks))
    for k, axes in zip(ks, panels, strict=True):
        mine = sorted((e for e in entries if e["top_k"] == k), key=lambda entry: entry["size"])
        for number, metric in enumerate(METRICS):
            measured = any(figure_of(entry, metric)["mean"] is not None for entry in entries)
            label = metric if measured else f"{metric}: n/a"
            points = [_Point(entry["size"], figure_of(entry, metric)) for entry in mine]
            _line(axes, number, label, points)
        axes.set_xscale("log")
        axes.set_xlim(0.8 * sizes[0], 1.25 * sizes[-1])
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45, ha="right")
        axes.minorticks_off()
        axes.set_ylim(0, 1.05)
        axes.set_xlabel("tools in the pool")
        axes.set_title(f"K = {k}")
    panels[0].set_ylabel("mean over samples")
    _legend(figure, panels)
    caption(figure, _BARS, *lacking(entries))
    return figure


def _over_recall(entries: Sequence[Mapping[str, Any]]) -> Any:
    sizes = sorted({entry["size"] for entry in entries})
    counted = any(tokens_of(entry)["mean"] is not None for entry in entries)
    shown = [what for what in _AGAINST if counted or what != "tokens"]
    figure, panels = _panels(len(shown))
    for what, axes in zip(shown, panels, strict=True):
        for number, size in enumerate(sizes):
            mine = sorted((e for e in entries if e["size"] == size), key=lambda e: e["top_k"])
            across = [(entry, figure_of(entry, f"recall@{entry['top_k']}")) for entry in mine]
            points = [
                _Point(found["mean"], _height(entry, what), found["deviation"], f"{entry['top_k']}")
                for entry, found in across
                if found["mean"] is not None
            ]
            _line(axes, number, f"{size:,} tools", points)
        axes.set_xlim(0, 1.05)
        axes.set_ylim(0, None if what == "tokens" else 1.05)
        axes.set_xlabel("recall@K; at each point its K")
        axes.set_title("tokens of a goal" if what == "tokens" else what)
    _legend(figure, panels)
    uncounted = "" if counted else "No panel of tokens: no model counted any."
    caption(figure, _BARS, uncounted, *lacking(entries, (PASS_RATE, CALL_RECALL)))
    return figure


def _height(entry: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    return tokens_of(entry) if what == "tokens" else figure_of(entry, what)


def _line(axes: Any, number: int, label: str, points: Sequence[_Point]) -> None:
    """Draw a line; one without a point to draw stands in the legend alone."""
    drawn = [point for point in points if point.y["mean"] is not None]
    colour = COLOURS[number % len(COLOURS)]
    look = {"color": colour, "marker": MARKERS[number % len(MARKERS)], "markersize": 4}
    if not drawn:
        axes.plot([], [], label=label, linewidth=1.2, **look)
        return
    axes.errorbar(
        [point.x for point in drawn],
        [point.y["mean"] for point in drawn],
        yerr=[point.y["deviation"] or 0.0 for point in drawn],
        xerr=[point.spread or 0.0 for point in drawn],
        label=label,
        capsize=2,
        linewidth=1.2,
        **look,
    )
    for point in drawn:
        place = (point.x, point.y["mean"])
        axes.annotate(point.mark, place, (4, 4), textcoords="offset points", color=colour, size=7)


def _panels(count: int) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(5.0, 3.6 * count), 3.7), layout="constrained")
    axes = list(figure.subplots(1, count, squeeze=False).flat)
    for each in axes:
        each.grid(axis="y", color="#dddddd", linewidth=0.6)
    return figure, axes


def _legend(figure: Any, panels: Sequence[Any]) -> None:
    shown: dict[str, Any] = {}
    for axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        shown = dict(zip(labels, handles, strict=True)) | shown
    figure.legend(shown.values(), shown.keys(), loc="outside upper center", ncols=4, frameon=False)
