"""Where runs and experiments lie below a folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from seal.core import DataError
from seal.experiments.retrieval.ranking_files import RETRIEVAL
from seal.runs.run_folder import BASELINES, CORRECTED, MANIFEST, RunFolder

DEPTH = 4
"""Folders below the one that is looked through, at most, in which a run may lie."""


PARTS = (*BASELINES, CORRECTED)
"""Names of run folders that are part of another run."""


def runs_below(folder: Path) -> Iterator[RunFolder]:
    """Yield the run in a folder, or those below it, by when they were begun.

    Floors, ceilings and corrected runs belong to another run, and links to folders may lead out:
    all are left out. Links within a run are not looked at.
    """
    found = [path for path in _holding(folder, MANIFEST) if path.name not in PARTS]
    for path in sorted(found, key=lambda path: ((path / MANIFEST).stat().st_mtime, path)):
        yield RunFolder(path)


def experiments_below(folder: Path) -> Iterator[Path]:
    """Yield the folders of experiments in retrieval, in the order of their paths."""
    for path in _holding(folder, RETRIEVAL.name):
        with suppress(DataError):  # results of something else
            if RETRIEVAL.read(path / RETRIEVAL.name)["results"]:
                yield path


def _holding(folder: Path, name: str, depth: int = DEPTH) -> Iterator[Path]:
    """Yield the folders that hold a file, without what lies below them or nobody may read."""
    try:
        if (folder / name).is_file():
            yield folder
            return
        below = sorted(folder.iterdir()) if depth else []
        inner = [it for it in below if it.is_dir() and not it.is_symlink() and it.name[0] != "."]
    except PermissionError:
        return
    for path in inner:
        yield from _holding(path, name, depth - 1)


def folder_at(folder: Path, inner: str, name: str) -> Path | None:
    """Return the folder of a run or an experiment, without reading others; None: there is none.

    Args:
        folder: The one that is looked through.
        inner: Path of the other below it; `/` stands between folders, empty is the first itself.
        name: Of the file that it holds: `run.json`, or that of an experiment.
    """
    path, parts = folder, inner.split("/") if inner else []
    try:
        for part in parts:
            if not part or part[0] == "." or (path / name).is_file() or (path / part).is_symlink():
                return None
            path /= part
        return path if len(parts) <= DEPTH and (path / name).is_file() else None
    except OSError:  # no name of a folder, or none that may be read
        return None
