"""Figure of the ablation of similarity, as SVG and PNG: error rates over the likeness of API names.

errors_over_similarity   a panel an error rate, a mark an environment, a colour a variant of J_avg

Whiskers: 95 % intervals over tasks. Equal results give equal bytes.

Source: Kokane et al., ToolScan (2024), the ablation on API complexity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.report.figure_layout import lay_out, panels, title
from seal.report.figures import line_look, save, styled
from seal.report.tables import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "errors_over_similarity"
_PANELS_IN_ROW = 3
_PANEL = (2.4, 1.8)
"""Width and height of its axes, in inches."""
_VARIANTS = ("strict", "stopwords")


def draw_similarity(content: Mapping[str, Any], folder: Path) -> list[Path]:
    """Draw the points of an ablation of similarity, and return the files; of any other nothing.

    Args:
        content: Of comparison.json.
        folder: Of the ablation; the files lie in `figures/` there.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    return save(similarity_figures(content), folder)


def similarity_figures(content: Mapping[str, Any]) -> dict[str, Figure]:
    """Return the figure of an ablation of similarity by its name; of any other nothing.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    if not content.get("points"):
        return {}
    with styled():
        return {NAME: _figure(content["points"], content["correlations"])}


def _figure(points: Sequence[Mapping[str, Any]], correlations: Sequence[Mapping[str, Any]]) -> Any:
    names = list(dict.fromkeys(found["rate"] for found in correlations))
    most = min(1.0, 1.2 * max(point[v] or 0.1 for point in points for v in _VARIANTS))
    figure, rows = panels(len(names), _PANELS_IN_ROW, *_PANEL)
    shown: dict[str, Any] = {}
    for name, axes in zip(names, chain(*rows), strict=True):
        for place, variant in enumerate(_VARIANTS):
            shown[f"J_avg {variant}"] = _marks(axes, place, points, variant, name)
        axes.set_xlim(0, most)
        axes.set_ylim(bottom=0)
        if axes.get_ylim()[1] < 0.1:  # an axis of nothing but noise would look like an effect
            axes.set_ylim(0, 0.1)
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        axes.set_xlabel("J_avg of the names")
        title(axes, f"{name}: {_told(correlations, name)}")
    for row in rows:
        row[0].set_ylabel("error rate")
    lay_out(
        figure,
        rows,
        shown,
        "A mark is an environment. Whiskers: 95 % intervals over tasks.",
        "rho: Spearman's over the environments, strict / stopwords; n/a: all rates are alike.",
    )
    return figure


def _marks(
    axes: Any, place: int, points: Iterable[Mapping[str, Any]], variant: str, name: str
) -> Any:
    look = {**line_look(place), "linestyle": "none"}
    drawn = [
        (point[variant], point["rates"][name])
        for point in points
        if point[variant] is not None and point["rates"][name]["rate"] is not None
    ]
    below = [found["rate"] - _or(found["low"], found["rate"]) for _, found in drawn]
    above = [_or(found["high"], found["rate"]) - found["rate"] for _, found in drawn]
    return axes.errorbar(
        [x for x, _ in drawn],
        [found["rate"] for _, found in drawn],
        yerr=[[max(0.0, length) for length in lengths] for lengths in (below, above)],
        capsize=2,
        elinewidth=0.8,
        **look,
    )


def _or(value: float | None, instead: float) -> float:
    return instead if value is None else value


def _told(correlations: Iterable[Mapping[str, Any]], name: str) -> str:
    rhos = {found["similarity"]: found["rho"] for found in correlations if found["rate"] == name}
    return "rho " + " / ".join(number(rhos.get(variant)) for variant in _VARIANTS)
