"""The files of an ablation.

comparison.json          what was varied, a row for each run, the paired differences
comparison.md            the same for a person (`seal.report.ablation_table`)
report.html              its tables, and its runs side by side
CONDITION/               its run: a run folder
figures/                 of the ablation of similarity, with the extra `experiments`
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seal.experiments.result_files import check_experiment_folder, read_json, write_json
from seal.runs.identity import check_resumable

COMPARISON = "comparison.json"
_PARTS = ("protocol", "runs", "comparisons", "notes")


def check_folder(out: Path, resume: bool) -> None:
    """Make sure that an ablation may begin, or go on, in a folder.

    Raises:
        UsageError: It is a file, holds an ablation that is not to be resumed, or other things.
    """
    check_experiment_folder(out, COMPARISON, "ablation", resume)


def begin(out: Path, content: Mapping[str, Any]) -> None:
    """Write the first comparison.json, or make sure that the one there is of the same ablation.

    Raises:
        UsageError: The folder holds another ablation; names each part that differs.
        DataError: Its comparison.json is malformed.
    """
    if not (out / COMPARISON).is_file():
        write(out, content)
        return
    before = read(out / COMPARISON)
    now = {"measure": content["protocol"], "system": {}}
    check_resumable({"measure": before["protocol"], "system": {}}, now, out)


def write(out: Path, content: Mapping[str, Any]) -> None:
    """Write comparison.json, whole or not at all."""
    write_json(content, out / COMPARISON)


def read(file: Path) -> dict[str, Any]:
    """Return the content of comparison.json.

    Raises:
        DataError: It is none.
    """
    return read_json(file, _PARTS, "ablation")
