"""Figures of an experiment in retrieval, as SVG and PNG.

recall_over_pool_size    a panel a pool, a line a retriever; whiskers: deviation over samples
recall_over_pools        a bar for each pool and retriever; whiskers: 95 % intervals
recall_over_k            a panel a pool, a line a retriever; whiskers: 95 % intervals

Equal results give equal bytes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.report.figure_layout import lay_out, panels, title
from seal.report.figures import bar_look, line_look, literal, save, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PANELS_IN_ROW = 3
_PANEL = (3.0, 2.3)
"""Width and height of its axes, in inches."""
_ALONE = (4.6, 2.8)
"""Those of a figure's only panel."""
_CROWD = 8
"""Retrievers in a panel, beyond which it grows."""
_TALLER = 0.08
"""Inches for each retriever beyond."""
_BAR = 0.26
"""Inches of a bar with the space beside it."""
_BARS_IN_ROW = 45
_BETWEEN = 1.6
"""Space between two pools, in bars."""
_BARS_SIZE = (4.6, 2.9)
"""Least width, and least height, of the axes with bars, in inches."""
_LETTER = 0.085
"""Inches of a letter below the bars."""
_NAME = 48
"""Characters of a retriever in a caption."""
_POOL = 26
"""Characters of a pool below its bars."""
_REASON = 160
"""Characters of a reason in a caption."""
_INTERVALS = "Error bars: 95 % bootstrap interval over tasks."


def draw_figures(result: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw what the results hold, and return the files.

    Args:
        result: Of results.json.
        folder: Of the experiment; the files lie in `figures/` there.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    return save(retrieval_figures(result), folder)


def retrieval_figures(result: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figures of what the results hold, by name.

    Pool sizes are drawn where there are several, cut-offs where there are several.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    entries = result["results"]
    ks = result["protocol"]["k"]
    figures: dict[str, Figure] = {}
    with styled():
        if len({entry["size"] for entry in entries}) > 1:
            figures["recall_over_pool_size"] = _over_sizes(entries, f"recall@{ks[-1]}")
        figures["recall_over_pools"] = _over_pools(_largest(entries), f"recall@{ks[-1]}")
        if len(ks) > 1:
            figures["recall_over_k"] = _over_ks(_largest(entries), ks)
    return figures


def _largest(entries: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the entries of each pool's largest size."""
    most: dict[str, int] = {}
    for entry in entries:
        most[entry["pool"]] = max(entry["tools"], most.get(entry["pool"], 0))
    last = {(e["pool"], e["retriever"]): e for e in entries if e["tools"] == most[e["pool"]]}
    return list(last.values())


def _over_sizes(entries: Sequence[Mapping[str, Any]], metric: str) -> Any:
    figure, rows = _panels(entries)
    shown: dict[str, Any] = {}
    for pool, axes in zip(_pools(entries), chain(*rows), strict=True):
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
            if points:
                shown[label] = _line(axes, number, points, [spread, spread])
        axes.set_xscale("log")
        axes.set_xlim(0.8 * sizes[0], 1.25 * sizes[-1])  # also where there is nothing to draw
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=45, ha="right")
        axes.minorticks_off()
        axes.set_xlabel("tools in the pool")
        axes.set_ylabel(metric)
        title(axes, pool)
    bars = (
        "Error bars: one standard deviation (n - 1) over samples; none where there is one sample."
    )
    lay_out(figure, rows, shown, bars, *_lacking(entries, metric))
    return figure


def _over_ks(entries: Sequence[Mapping[str, Any]], ks: Sequence[int]) -> Any:
    figure, rows = _panels(entries)
    shown: dict[str, Any] = {}
    for pool, axes in zip(_pools(entries), chain(*rows), strict=True):
        mine = {entry["retriever"]: entry for entry in entries if entry["pool"] == pool}
        for number, label in enumerate(_names(entries)):
            if label not in mine or not _measured(mine[label], f"recall@{ks[0]}"):
                continue
            points = [(k, mine[label]["metrics"][f"recall@{k}"]) for k in ks]
            whiskers = _whiskers([found for _, found in points])
            shown[label] = _line(axes, number, points, whiskers)
        axes.set_xlim(0, ks[-1] + 1)
        axes.set_xticks(list(ks))
        axes.set_xlabel("K")
        axes.set_ylabel("recall@K")
        title(axes, pool)
    lay_out(figure, rows, shown, _INTERVALS, *_lacking(entries, f"recall@{ks[0]}"))
    return figure


def _over_pools(entries: Sequence[Mapping[str, Any]], metric: str) -> Any:
    pools, labels = _pools(entries), _names(entries)
    group = len(labels) + _BETWEEN
    lines = -(-len(pools) // max(1, int(_BARS_IN_ROW // group)))
    in_row = -(-len(pools) // lines)
    width = max(_BARS_SIZE[0], _BAR * group * in_row)
    height = _BARS_SIZE[1] + _TALLER * max(0, len(labels) - _CROWD)
    slanted = any(_LETTER * len(_short(pool, _POOL)) > width / in_row for pool in pools)
    slant = {"rotation": 30, "ha": "right"} if slanted else {}
    figure, rows = panels(lines, 1, width, height)
    for number, (axes,) in enumerate(rows):
        mine = pools[number * in_row : (number + 1) * in_row]
        _bars(axes, entries, metric, mine)
        ticks = [literal(_short(pool, _POOL)) for pool in mine]
        axes.set_xticks(range(len(mine)), ticks, **slant)
        axes.set_xlim(-0.55, in_row - 0.45)
        axes.set_ylim(0, 1.05)
        axes.set_ylabel(metric)
    shown = {label: _bar(number) for number, label in enumerate(labels)}
    lay_out(figure, rows, shown, _INTERVALS, *_lacking(entries, metric))
    return figure


def _bars(
    axes: Any, entries: Sequence[Mapping[str, Any]], metric: str, pools: Sequence[str]
) -> None:
    """Draw the bars of some pools, each pool's around its place in the sequence."""
    labels = _names(entries)
    width = 1 / (len(labels) + _BETWEEN)
    found = {(entry["pool"], entry["retriever"]): entry for entry in entries}
    for position, pool in enumerate(pools):
        for number, label in enumerate(labels):
            x = position + (number - (len(labels) - 1) / 2) * width
            entry = found.get((pool, label))
            if entry is None or not _measured(entry, metric):
                axes.text(x, 0.02, "n/a", rotation=90, ha="center", va="bottom", color="#555555")
                continue
            value = entry["metrics"][metric]
            axes.bar(x, value["mean"], width * 0.9, **bar_look(number))
            whiskers = _whiskers([value])
            _whisker(axes, x, value["mean"], whiskers)


def _whisker(axes: Any, x: float, mean: float, whiskers: Sequence[Sequence[float]]) -> None:
    """Draw an interval, rimmed with white so that it is seen on a black bar too."""
    from matplotlib.patheffects import withStroke

    _, caps, lines = axes.errorbar([x], [mean], whiskers, color="#222222", capsize=2, linewidth=1)
    for part in (*caps, *lines):
        part.set_path_effects([withStroke(linewidth=2, foreground="white")])


def _bar(number: int) -> Any:
    """Return what stands for a series of bars in a legend."""
    from matplotlib.patches import Patch

    return Patch(**bar_look(number))


def _lacking(entries: Sequence[Mapping[str, Any]], metric: str) -> list[str]:
    """Return a sentence for each retriever and reason why it has no figure, with the pools."""
    pools: dict[tuple[str, str], dict[str, None]] = {}
    for entry in entries:
        if not _measured(entry, metric):
            reason = entry.get("unavailable", "no query with relevant tools")
            pools.setdefault((entry["retriever"], reason), {})[entry["pool"]] = None
    return [
        f"n/a: {_short(retriever, _NAME)} on {', '.join(met)}: {_short(reason, _REASON)}"
        for (retriever, reason), met in pools.items()
    ]


def _measured(entry: Mapping[str, Any], metric: str) -> bool:
    found = entry["metrics"].get(metric)
    return found is not None and found["mean"] is not None


def _line(
    axes: Any,
    number: int,
    points: Sequence[tuple[int, Mapping[str, Any]]],
    whiskers: Sequence[Sequence[float]],
) -> Any:
    """Draw a line and return it for the legend."""
    return axes.errorbar(
        [x for x, _ in points],
        [found["mean"] for _, found in points],
        whiskers,
        capsize=2,
        **line_look(number),
    )


def _whiskers(found: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    """Return the lengths of the intervals below and above the means; 0 where there is none."""
    ends = (("low", -1), ("high", 1))
    return [
        [0.0 if it[end] is None else max(0.0, sign * (it[end] - it["mean"])) for it in found]
        for end, sign in ends
    ]


def _panels(entries: Sequence[Mapping[str, Any]]) -> tuple[Any, list[list[Any]]]:
    """Return a figure with axes for each pool."""
    count = len(_pools(entries))
    width, height = _PANEL if count > 1 else _ALONE
    height += _TALLER * max(0, len(_names(entries)) - _CROWD)
    figure, rows = panels(count, _PANELS_IN_ROW, width, height)
    for axes in chain(*rows):
        axes.set_ylim(0, 1.05)
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    return figure, rows


def _pools(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(entry["pool"] for entry in entries))


def _names(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(entry["retriever"] for entry in entries))


def _short(text: str, length: int) -> str:
    """Return a text, a long one with its middle left out."""
    half = (length - 3) // 2
    return text if len(text) <= length else f"{text[:half]}...{text[-half:]}"
