"""What all figures share: colours, markers, style, files. Equal figures give equal bytes."""

from __future__ import annotations

from pathlib import Path
from textwrap import wrap
from typing import Any

FOLDER = "figures"
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")
"""Told apart by colour-blind readers too (Okabe and Ito)."""
MARKERS = "osD^vPX*"
STYLE: Any = {
    "svg.hashsalt": "seal",
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
"""Of matplotlib, as `rc_context` takes it."""


_CAPTION_WIDTH = 17
"""Characters of a caption's line for each inch of the figure."""


def caption(figure: Any, *sentences: str) -> None:
    """Write below a figure what its marks mean.

    Args:
        figure: Of matplotlib, with a constrained layout.
        sentences: Each begins a line; empty ones are left out.
    """
    width = int(_CAPTION_WIDTH * figure.get_figwidth())
    lines = [line for text in sentences for line in wrap(text, width)]
    if lines:
        text = "\n".join(lines).replace("$", r"\$")
        figure.supxlabel(text, fontsize=6.5, color="#444444", ha="center")


def save(figure: Any, folder: Path, name: str) -> list[Path]:
    """Write a figure as SVG and PNG into `figures/` of a folder, and return the files.

    Args:
        figure: Of matplotlib, made under `STYLE`.
        folder: Of the experiment.
        name: Of the files, without their endings.
    """
    (folder / FOLDER).mkdir(parents=True, exist_ok=True)
    files = [folder / FOLDER / f"{name}.{kind}" for kind in ("svg", "png")]
    figure.savefig(files[0], metadata={"Date": None})
    figure.savefig(files[1], dpi=150, metadata={"Software": None})
    return files
