"""Folders that results are written to, and their JSON files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import orjson

from seal.core.errors import DataError, UsageError
from seal.core.plain import INDENTED, json_bytes
from seal.core.records import AtomicFile
from seal.core.secrets import without_keys


def check_results_folder(out: Path, known: Collection[str], what: str) -> None:
    """Refuse a folder of something else; results that are there already are replaced.

    Args:
        out: The folder; it need not be there.
        known: Names of the files and folders that are written.
        what: They are, such as `a comparison`.

    Raises:
        UsageError: It is a file, or holds something else.
    """
    if others := sorted(_names(out) - {*known}):
        raise UsageError(
            f"{out} holds something else than {what} (such as {others[0]!r}); give --out a new "
            "folder"
        )


def check_experiment_folder(out: Path, file: str, what: str, resume: bool) -> None:
    """Make sure that an experiment of several runs may begin, or go on, in a folder.

    Args:
        out: The folder; it need not be there.
        file: Name of the file by which the experiment is known.
        what: The experiment is, such as `sweep`.
        resume: Go on with the one that is there.

    Raises:
        UsageError: It is a file, holds one that is not to be resumed, or other things.
    """
    names = _names(out)
    if file in names:
        if not resume:
            raise UsageError(f"{out} holds {_a(what)} already; add --resume, or give another --out")
    elif "run.json" in names:
        raise UsageError(f"{out} holds a run and no {what}; give --out a new folder")
    elif others := sorted(names - {".lock"}):
        raise UsageError(
            f"{out} is not empty and holds no {what} (but {others[0]!r}); give --out a new folder"
        )


def _a(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


def _names(out: Path) -> set[str]:
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file; give --out a folder")
    return {entry.name for entry in out.iterdir()} if out.is_dir() else set()


def write_json(content: Mapping[str, Any], path: Path) -> None:
    """Write a file of indented JSON, without keys of services, whole or not at all."""
    with AtomicFile(path) as file:
        file.write(without_keys(json_bytes(content, INDENTED)))


def read_json(path: Path, parts: Collection[str], what: str) -> dict[str, Any]:
    """Return the content of the file by which an experiment is known.

    Args:
        path: The file.
        parts: Fields that it must have.
        what: The experiment is, such as `sweep`.

    Raises:
        DataError: It is none.
    """
    try:
        content = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}: not JSON: {error}; give another --out") from error
    if not isinstance(content, dict) or not all(part in content for part in parts):
        raise DataError(f"{path}: no {what}: expected an object with {', '.join(parts)}")
    return content
