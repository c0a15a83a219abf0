"""A run explained, and the files that say so."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from seal.core.errors import MissingExtraError, UsageError
from seal.core.records import AtomicFile
from seal.core.secrets import without_keys
from seal.pipeline.explanation.explain import EXAMPLES, explain_run
from seal.pipeline.run_folder import RunFolder
from seal.report.explanation_figure import draw_waterfall
from seal.report.explanation_tables import MARKDOWN, write_markdown
from seal.report.figures import FOLDER

JSON = "explanation.json"


def explain(
    run: Path,
    metric: str | None = None,
    examples: int = EXAMPLES,
    out: Path | None = None,
) -> dict[str, Any]:
    """Return why a run's failed goals failed, and write it into a folder where one is given.

    Args:
        run: Run folder, wherever it was moved.
        metric: Whose verdict counts; None: that of each goal's kind of gold.
        examples: Most of each stage.
        out: Folder for explanation.json, explanation.md and figures/waterfall.svg and .png.

    Returns:
        What `seal.pipeline.explanation.explain` says; with `out` also `notes`, sentences on what
        was left out, as a package is not installed.

    Raises:
        DataError: The folder is no scored run, nothing was played, or a file is damaged.
        UsageError: A metric without a value, or a folder that holds something else.
    """
    if out is not None:
        _check_folder(out)
    content = explain_run(RunFolder.open(run), metric, examples)
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
    with AtomicFile(out / JSON) as file:
        text = orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        file.write(without_keys(text))
    write_markdown(content, out)
    try:
        draw_waterfall(content, out)
    except MissingExtraError as error:
        return [f"without the figure: {error}"]
    return []


def _check_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; give --out a folder")
    known = {JSON, MARKDOWN, FOLDER}
    others = sorted({entry.name for entry in out.iterdir()} - known) if out.is_dir() else []
    if others:
        raise UsageError(
            f"{out} holds something else than an explanation (such as {others[0]!r}); give --out a "
            "new folder"
        )
