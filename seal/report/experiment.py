"""What experiments, sweeps and ablations leave for readers; figures need extra `experiments`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from seal.core.errors import MissingExtraError
from seal.report.ablation_section import AblationSection
from seal.report.ablation_table import write_markdown
from seal.report.frames import PARQUET, SWEEP_PARQUET, write_parquet, write_sweep_parquet
from seal.report.html import write_report
from seal.report.retrieval_figures import draw_figures
from seal.report.sections import Section, default_sections
from seal.report.similarity_figure import draw_similarity
from seal.report.sweep_figures import draw_sweep
from seal.runs.run_folder import RunFolder

REPORT = "report.html"
"""Of the runs of an ablation."""


def write_tables_and_figures(result: Mapping[str, Any], folder: Path) -> list[str]:
    """Write results.parquet and the figures into an experiment's folder.

    Args:
        result: Of results.json.
        folder: The experiment's folder.

    Returns:
        A sentence for each thing that was left out, as a package is not installed.
    """
    return _written(result, folder, {PARQUET: write_parquet, "the figures": draw_figures})


def write_sweep(content: Mapping[str, Any], folder: Path) -> list[str]:
    """Write sweep.parquet and the figures into a sweep's folder.

    Args:
        content: Of sweep.json.
        folder: The sweep's folder.

    Returns:
        A sentence for each thing that was left out, as a package is not installed.
    """
    return _written(
        content, folder, {SWEEP_PARQUET: write_sweep_parquet, "the figures": draw_sweep}
    )


def write_ablation(content: Mapping[str, Any], folder: Path) -> list[str]:
    """Write comparison.md into an ablation's folder.

    Also report.html, all runs side by side below the ablation's own tables, whose numbers lead to
    their tasks and steps; of similarity the figure.

    Args:
        content: Of comparison.json.
        folder: The ablation's folder.

    Returns:
        A sentence for each thing that was left out, as a package is not installed.
    """
    write_markdown(content, folder)
    runs = [RunFolder(folder / row["condition"]) for row in content["runs"]]
    if runs:
        sections: list[Section] = [AblationSection(content), *default_sections(runs)]
        write_report(runs, folder / REPORT, sections)
    return _written(content, folder, {"the figure": draw_similarity})


def _written(
    result: Mapping[str, Any],
    folder: Path,
    writers: Mapping[str, Callable[[Mapping[str, Any], Path], Any]],
) -> list[str]:
    notes = []
    for what, write in writers.items():
        try:
            write(result, folder)
        except MissingExtraError as error:
            notes.append(f"without {what}: {error}")
    return notes
