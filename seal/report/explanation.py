"""A run explained, and the files that say so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seal.core.errors import MissingExtraError
from seal.experiments.explanation.explain import EXAMPLES, explain_run
from seal.experiments.result_files import check_results_folder, write_json
from seal.pools.benchmark import Benchmark
from seal.report.explanation_figure import draw_waterfall
from seal.report.explanation_tables import MARKDOWN, write_markdown
from seal.report.figures import FOLDER
from seal.runs.run_folder import RunFolder

JSON = "explanation.json"


def explain(
    run: Path,
    metric: str | None = None,
    examples: int = EXAMPLES,
    out: Path | None = None,
    bench: Benchmark | None = None,
) -> dict[str, Any]:
    """Return why a run's failed goals failed, and write it into a folder where one is given.

    Args:
        run: Run folder, wherever it was moved.
        metric: Whose verdict counts; None: that of each goal's kind of gold.
        examples: Most of each stage.
        out: Folder for explanation.json, explanation.md and figures/waterfall.svg and .png.
        bench: What was played, where it is not installed.

    Returns:
        What `seal.experiments.explanation.explain` says; with `out` also `notes`, sentences on what
        was left out, as a package is not installed.

    Raises:
        DataError: The folder is no scored run, nothing was played, or a file is damaged.
        UsageError: A metric without a value, or a folder that holds something else.
    """
    if out is not None:
        check_results_folder(out, {JSON, MARKDOWN, FOLDER}, "an explanation")
    content = explain_run(RunFolder.open(run), metric, examples, bench=bench)
    return content if out is None else {**content, "notes": write_explanation(content, out)}


def write_explanation(content: Mapping[str, Any], out: Path) -> list[str]:
    """Write the files of an explanation.

    Args:
        content: What `explain_run` returned.
        out: Folder; what it has of these files is replaced.

    Returns:
        A sentence for what was left out, as a package is not installed.
    """
    out.mkdir(parents=True, exist_ok=True)
    write_json(content, out / JSON)
    write_markdown(content, out)
    try:
        draw_waterfall(content, out)
    except MissingExtraError as error:
        return [f"without the figure: {error}"]
    return []
