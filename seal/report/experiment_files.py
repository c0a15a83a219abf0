"""What experiments, sweeps and ablations leave for readers; figures need extra `experiments`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.core import MissingExtraError
from seal.core.folders import within
from seal.experiments.result_files import LongForm
from seal.experiments.retrieval import ranking_files as retrieval
from seal.experiments.sweep import sweep_files as sweep
from seal.report.ablation_results import AblationSection, similarity_figures
from seal.report.figures import save
from seal.report.frames import write_parquet
from seal.report.html import write_report
from seal.report.retrieval_results import retrieval_figures
from seal.report.sections import Section, default_sections
from seal.report.sweep_results import sweep_figures
from seal.runs.run_folder import RunFolder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
    return _written(retrieval_figures, result, folder, retrieval.LONG)


def write_sweep(content: Mapping[str, Any], folder: Path) -> list[str]:
    """Write sweep.parquet and the figures into a sweep's folder.

    Args:
        content: Of sweep.json.
        folder: The sweep's folder.

    Returns:
        A sentence for each thing that was left out, as a package is not installed.
    """
    return _written(sweep_figures, content, folder, sweep.LONG)


def write_ablation(content: Mapping[str, Any], folder: Path) -> list[str]:
    """Write report.html into an ablation's folder; of similarity the figure.

    The page has all runs side by side below the ablation's own tables, whose numbers lead to their
    tasks and steps.

    Args:
        content: Of comparison.json.
        folder: The ablation's folder.

    Returns:
        A sentence for each thing that was left out, as a package is not installed.
    """
    runs = [RunFolder(within(folder, row["condition"])) for row in content["runs"]]
    if runs:
        sections: list[Section] = [AblationSection(content), *default_sections(runs)]
        write_report(runs, folder / REPORT, sections, varied=content["protocol"]["ablation"])
    return _written(similarity_figures, content, folder)


def _written(
    figures: Callable[[Mapping[str, Any]], Mapping[str, Figure]],
    content: Mapping[str, Any],
    folder: Path,
    form: LongForm | None = None,
) -> list[str]:
    """Write the figures, and the long form where there is one; tell what lacks a package."""
    writers: dict[str, Callable[[], Any]] = {}
    if form is not None:
        file = f"{form.name}.parquet"
        writers[file] = partial(write_parquet, form, content, folder / file)
    named = "the figure" if form is None else "the figures"
    writers[named] = lambda: save(figures(content), folder)
    notes = []
    for what, write in writers.items():
        try:
            write()
        except MissingExtraError as error:
            notes.append(f"without {what}: {error}")
    return notes
