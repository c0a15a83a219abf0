"""What of an experiment in retrieval needs the extra `experiments`: Parquet and figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seal.core.errors import MissingExtraError
from seal.report.frames import write_parquet
from seal.report.retrieval_figures import draw_figures


def write_tables_and_figures(result: Mapping[str, Any], folder: Path) -> list[str]:
    """Write results.parquet and the figures into an experiment's folder.

    Args:
        result: What `seal.retrieve` returned.
        folder: The experiment's folder.

    Returns:
        A sentence for each thing that was left out, as a package is not installed.
    """
    notes = []
    for what, write in (("results.parquet", write_parquet), ("the figures", draw_figures)):
        try:
            write(result, folder)
        except MissingExtraError as error:
            notes.append(f"without {what}: {error}")
    return notes
