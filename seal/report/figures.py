"""What all figures share: colours, markers, style, files. Equal figures give equal bytes."""

from __future__ import annotations

from pathlib import Path
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
