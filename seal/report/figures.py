"""What all figures share: looks of series, style, files. Equal figures give equal bytes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.report.frames import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FOLDER = "figures"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
"""Told apart by colour-blind readers too (Okabe and Ito)."""
MARKERS = "osD^vPX*"
DASHES = ("-", "--", ":", "-.")
HATCHES = ("///", "xxx", "...", "---", "\\\\\\", "+++", "|||", "ooo")
STYLE: Any = {
    "svg.hashsalt": "seal",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "figure.dpi": 100,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.8,
}
"""Of matplotlib, as `rc_context` takes it."""


def bar_look(number: int) -> dict[str, Any]:
    """Return colour and hatch of a series of bars: no two series have the same.

    Args:
        number: Of the series, from 0. The first eight differ by colour and have no hatch.
    """
    cycle, place = divmod(number, len(COLOURS))
    hatch = ""
    if cycle:
        denser, kind = divmod(cycle - 1, len(HATCHES))
        hatch = HATCHES[kind] + HATCHES[kind][0] * denser
    return {"facecolor": COLOURS[place], "hatch": hatch, "edgecolor": "white", "linewidth": 0}


def line_look(number: int) -> dict[str, Any]:
    """Return colour, marker and dashes of a line: of 256 lines no two have the same.

    Args:
        number: Of the series, from 0. The first eight are drawn through and differ by colour and
            by marker.
    """
    cycle, place = divmod(number, len(COLOURS))
    return {
        "color": COLOURS[place],
        "marker": MARKERS[(place + cycle) % len(MARKERS)],
        "linestyle": DASHES[(cycle + cycle // len(MARKERS)) % len(DASHES)],
        "markersize": 4,
        "linewidth": 1.2,
    }


def literal(text: str) -> str:
    r"""Return a text as matplotlib has to be given it so that it is drawn as it is.

    No part is read as a formula; a character that the font lacks is written as its escape, \u5de5.
    """
    from matplotlib.font_manager import findfont, get_font

    font = get_font(findfont(STYLE["font.family"]))
    known = "".join(
        each if each == "\n" or font.get_char_index(ord(each)) else ascii(each)[1:-1]
        for each in text
    )
    return known.replace("$", r"\$")


@contextmanager
def styled() -> Iterator[None]:
    """Let matplotlib draw and write in `STYLE`.

    Raises:
        MissingExtraError: matplotlib is not installed.
    """
    require("matplotlib")
    import matplotlib as mpl

    with mpl.rc_context(STYLE):
        yield


def save(figures: Mapping[str, Figure], folder: Path) -> list[Path]:
    """Write figures as SVG and PNG into `figures/` of a folder, and return the files.

    Args:
        figures: Name of the files, without their endings, to figure, which was made `styled`.
        folder: Of the experiment.
    """
    if not figures:
        return []
    with styled():
        return [file for name, figure in figures.items() for file in _save(figure, folder, name)]


def _save(figure: Figure, folder: Path, name: str) -> list[Path]:
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    files = [folder / FOLDER / f"{name}.{kind}" for kind in ("svg", "png")]
    figure.savefig(files[0], metadata={"Date": None})
    figure.savefig(files[1], dpi=150, metadata={"Software": None})
    return files
