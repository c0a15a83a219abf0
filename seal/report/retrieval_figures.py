"""Figures of an experiment in retrieval, as SVG and PNG.

recall_over_pool_size    a panel a pool, a line a retriever; whiskers: deviation over samples
recall_over_pools        a bar for each pool and retriever; whiskers: 95 % intervals
recall_over_k            a panel a pool, a line a retriever; whiskers: 95 % intervals

Equal results give equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seal.report.figures import COLOURS, MARKERS, STYLE, caption, save
from seal.report.frames import require

_PANELS_IN_ROW = 3
_LABEL = 48
"""Characters of a retriever in a legend."""
_REASON = 160
"""Characters of a reason in a caption."""
_INTERVALS = "Error bars: 95 % bootstrap interval over tasks."


def draw_figures(result: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw what the results hold, and return the files.

    Pool sizes are drawn where there are several, cut-offs where there are several.

    Args:
        result: What `seal.retrieve` returned.
        folder: Of the experiment; the files lie in `figures/` there.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    require("matplotlib")
    import matplotlib as mpl

    entries = result["results"]
    ks = result["protocol"]["k"]
    written: list[Path] = []
    with mpl.rc_context(STYLE):
        if len({entry["size"] for entry in entries}) > 1:
            figure = _over_sizes(entries, f"recall@{ks[-1]}")
            written += save(figure, folder, "recall_over_pool_size")
        figure = _over_pools(_largest(entries), f"recall@{ks[-1]}")
        written += save(figure, folder, "recall_over_pools")
        if len(ks) > 1:
            written += save(_over_ks(_largest(entries), ks), folder, "recall_over_k")
    return written


def _largest(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the entries of each pool's largest size."""
    most: dict[str, int] = {}
    for entry in entries:
        most[entry["pool"]] = max(entry["tools"], most.get(entry["pool"], 0))
    last = {(e["pool"], e["retriever"]): e for e in entries if e["tools"] == most[e["pool"]]}
    return list(last.values())


def _over_sizes(entries: Sequence[Mapping[str, Any]], metric: str) -> Any:
    figure, panels = _panels(entries)
    for pool, axes in panels:
        mine = [entry for entry in entries if entry["pool"] == pool]
        sizes = sorted({entry["tools"] for entry in mine})
        for number, label in enumerate(_names(entries)):
            points = [
                (entry["tools"], entry["metrics"][metric])
                for entry in mine
                if entry["retriever"] == label and _measured(entry, metric)
            ]
            points.sort(key=lambda point: point[0])
            spread = [found["deviation"] or 0.0 for _, found in points]
            _line(axes, number, label, [size for size, _ in points], points, [spread, spread])
        axes.set_xscale("log")
        axes.set_xlim(0.8 * sizes[0], 1.25 * sizes[-1])  # also where there is nothing to draw
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45, ha="right")
        axes.minorticks_off()
        axes.set_xlabel("tools in the pool")
        axes.set_ylabel(metric)
        axes.set_title(pool)
    _legend(figure, panels)
    bars = (
        "Error bars: one standard deviation (n - 1) over samples; none where there is one sample."
    )
    caption(figure, bars, *_lacking(entries, metric))
    return figure


def _over_ks(entries: Sequence[Mapping[str, Any]], ks: Sequence[int]) -> Any:
    figure, panels = _panels(entries)
    for pool, axes in panels:
        mine = {entry["retriever"]: entry for entry in entries if entry["pool"] == pool}
        for number, label in enumerate(_names(entries)):
            if label not in mine or not _measured(mine[label], f"recall@{ks[0]}"):
                continue
            points = [(k, mine[label]["metrics"][f"recall@{k}"]) for k in ks]
            _line(axes, number, label, list(ks), points, _whiskers([found for _, found in points]))
        axes.set_xlim(0, ks[-1] + 1)
        axes.set_xticks(list(ks))
        axes.set_xlabel("K")
        axes.set_ylabel("recall@K")
        axes.set_title(pool)
    _legend(figure, panels)
    caption(figure, _INTERVALS, *_lacking(entries, f"recall@{ks[0]}"))
    return figure


def _over_pools(entries: Sequence[Mapping[str, Any]], metric: str) -> Any:
    from matplotlib.figure import Figure

    pools = list(dict.fromkeys(entry["pool"] for entry in entries))
    labels = _names(entries)
    width = 0.8 / len(labels)
    figure = Figure(
        figsize=(max(6.4, 0.35 * len(pools) * len(labels) + 2), 4.2), layout="constrained"
    )
    axes = figure.add_subplot()
    found = {(entry["pool"], entry["retriever"]): entry for entry in entries}
    for number, label in enumerate(labels):
        axes.bar([0], [0], color=COLOURS[number % len(COLOURS)], label=_short(label))
        for position, pool in enumerate(pools):
            x = position + (number - (len(labels) - 1) / 2) * width
            entry = found.get((pool, label))
            if entry is None or not _measured(entry, metric):
                axes.text(x, 0.02, "n/a", rotation=90, ha="center", va="bottom", color="#555555")
                continue
            value = entry["metrics"][metric]
            axes.bar(x, value["mean"], width * 0.92, color=COLOURS[number % len(COLOURS)])
            whiskers = _whiskers([value])
            axes.errorbar([x], [value["mean"]], whiskers, color="#222222", capsize=2, linewidth=1)
    axes.set_xticks(range(len(pools)), pools, rotation=30, ha="right")
    axes.set_xlim(-0.6, len(pools) - 0.4)
    axes.set_ylim(0, 1.05)
    axes.set_ylabel(metric)
    _legend(figure, [("", axes)])
    caption(figure, _INTERVALS, *_lacking(entries, metric))
    return figure


def _lacking(entries: Sequence[Mapping[str, Any]], metric: str) -> list[str]:
    """Return a sentence for each retriever and reason why it has no figure, with the pools."""
    pools: dict[tuple[str, str], dict[str, None]] = {}
    for entry in entries:
        if not _measured(entry, metric):
            reason = entry.get("unavailable", "no query with relevant tools")
            pools.setdefault((entry["retriever"], reason), {})[entry["pool"]] = None
    return [
        f"n/a: {_short(retriever)} on {', '.join(met)}: {_short(reason, _REASON)}"
        for (retriever, reason), met in pools.items()
    ]


def _measured(entry: Mapping[str, Any], metric: str) -> bool:
    found = entry["metrics"].get(metric)
    return found is not None and found["mean"] is not None


def _line(
    axes: Any,
    number: int,
    label: str,
    xs: Sequence[int],
    points: Sequence[tuple[int, Mapping[str, Any]]],
    whiskers: Sequence[Sequence[float]],
) -> None:
    if not xs:
        return
    axes.errorbar(
        xs,
        [found["mean"] for _, found in points],
        whiskers,
        label=_short(label),
        color=COLOURS[number % len(COLOURS)],
        marker=MARKERS[number % len(MARKERS)],
        markersize=4,
        capsize=2,
        linewidth=1.2,
    )


def _whiskers(found: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    """Return the lengths of the intervals below and above the means; 0 where there is none."""
    ends = (("low", -1), ("high", 1))
    return [
        [0.0 if it[end] is None else max(0.0, sign * (it[end] - it["mean"])) for it in found]
        for end, sign in ends
    ]


def _panels(entries: Sequence[Mapping[str, Any]]) -> tuple[Any, list[tuple[str, Any]]]:
    """Return a figure with axes for each pool."""
    from matplotlib.figure import Figure

    pools = list(dict.fromkeys(entry["pool"] for entry in entries))
    columns = min(_PANELS_IN_ROW, len(pools))
    rows = math.ceil(len(pools) / columns)
    figure = Figure(figsize=(max(5.0, 3.6 * columns), 2.9 * rows + 0.8), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    axes = list(grid.flat)
    for spare in axes[len(pools) :]:
        spare.set_visible(False)
    for each in axes:
        each.set_ylim(0, 1.05)
        each.grid(axis="y", color="#dddddd", linewidth=0.6)
    return figure, list(zip(pools, axes, strict=False))


def _legend(figure: Any, panels: Sequence[tuple[str, Any]]) -> None:
    shown: dict[str, Any] = {}
    for _, axes in panels:
        handles, labels = axes.get_legend_handles_labels()
        shown |= dict(zip(labels, handles, strict=True))
    if shown:
        columns = 1 if max(map(len, shown)) > _LABEL // 2 else min(3, len(shown))
        place = "outside upper center"
        names = [label.replace("$", r"\$") for label in shown]
        figure.legend(shown.values(), names, loc=place, ncols=columns, frameon=False)


def _names(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(entry["retriever"] for entry in entries))


def _short(text: str, length: int = _LABEL) -> str:
    """Return a text, a long one with its middle left out."""
    half = (length - 3) // 2
    return text if len(text) <= length else f"{text[:half]}...{text[-half:]}"
