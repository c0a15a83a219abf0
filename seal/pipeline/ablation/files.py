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

import orjson

from seal.core.errors import DataError, UsageError
from seal.core.records import AtomicFile
from seal.core.secrets import without_keys
from seal.pipeline.identity import check_resumable

COMPARISON = "comparison.json"
_PARTS = ("protocol", "runs", "comparisons", "notes")


def check_folder(out: Path, resume: bool) -> None:
    """Make sure that an ablation may begin, or go on, in a folder.

    Raises:
        UsageError: It is a file, holds an ablation that is not to be resumed, or other things.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; give --out a folder")
    names = {entry.name for entry in out.iterdir()} if out.is_dir() else set()
    if COMPARISON in names:
        if not resume:
            raise UsageError(f"{out} holds an ablation already; add --resume, or another --out")
    elif "run.json" in names:
        raise UsageError(f"{out} holds a run and no ablation; give --out a new folder")
    elif others := sorted(names - {".lock"}):
        raise UsageError(
            f"{out} is not empty and holds no ablation (but {others[0]!r}); give --out a new folder"
        )


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
    with AtomicFile(out / COMPARISON) as file:
        text = orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        file.write(without_keys(text))


def read(file: Path) -> dict[str, Any]:
    """Return the content of comparison.json.

    Raises:
        DataError: It is none.
    """
    try:
        content = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError as error:
        raise DataError(f"{file}: not JSON: {error}; give another --out") from error
    if not isinstance(content, dict) or not all(part in content for part in _PARTS):
        raise DataError(f"{file}: no ablation: expected an object with {', '.join(_PARTS)}")
    return content
