"""What lies below the folders that are shown: runs and experiments in retrieval, by name."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from seal.core import UsageError
from seal.report.run_facts import RunFacts, experiments_below, facts_of, runs_below
from seal.report.run_pages import RunPages
from seal.runs.run_folder import RunFolder

_OPEN = 4
"""Pages that are kept open at a time."""
_FILES = ("run.json", "summary.json", "tasks.jsonl", "trajectories.jsonl", "scores.jsonl")

_Found = TypeVar("_Found", Path, RunFolder)


@dataclass(slots=True)
class _Opened:
    """Pages of runs as their files were when they were opened."""

    stamp: tuple[tuple[str, int, int], ...]
    pages: RunPages
    lock: threading.Lock = field(default_factory=threading.Lock)


class Shelf:
    """The runs and experiments below some folders; nothing else can be named.

    Args:
        folders: Where they lie, or run folders.

    Raises:
        UsageError: One is no folder.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        for folder in folders:
            if not folder.is_dir():
                raise UsageError(f"there is no folder {folder}; give the one that runs lie in")
        self._folders = [folder.resolve() for folder in folders]
        self._opened: OrderedDict[tuple[str, ...], _Opened] = OrderedDict()
        self._lock = threading.Lock()

    def runs(self) -> dict[str, RunFolder]:
        """Return the runs by name, those begun last first."""
        found = ((folder, run) for folder in self._folders for run in runs_below(folder))
        named = {self._name(folder, run.path): run for folder, run in found}
        return dict(reversed(named.items()))

    def experiments(self) -> dict[str, Path]:
        """Return the folders of experiments in retrieval by name."""
        found = ((folder, path) for folder in self._folders for path in experiments_below(folder))
        return {self._name(folder, path): path for folder, path in found}

    def facts(self) -> list[RunFacts]:
        """Return what is told of each run."""
        return [facts_of(run, name) for name, run in self.runs().items()]

    def block(self, names: Sequence[str], key: str) -> str | None:
        """Return a block of the pages of some runs (`RunPages.block`); None: there is none."""
        opened = self._open(names)
        with opened.lock:
            return opened.pages.block(key)

    def page(self, names: Sequence[str], **how: object) -> Iterator[str]:
        """Yield the page of some runs; its later sections are blocks.

        Args:
            names: Of the runs.
            **how: As of `RunPages.page`.

        Raises:
            KeyError: There is no such run.
            UsageError: No run is named.
            DataError: A run is damaged, or not scored.
        """
        opened = self._open(names)
        with opened.lock:
            yield from opened.pages.page(opened.pages.early(), **how)

    def _open(self, names: Sequence[str]) -> _Opened:
        found = self.runs()
        runs = [found[name] for name in names]
        stamp = tuple(_stamps(runs))
        with self._lock:
            opened = self._opened.get(tuple(names))
            if opened is None or opened.stamp != stamp:
                opened = _Opened(stamp, RunPages(runs))
                self._opened[tuple(names)] = opened
            self._opened.move_to_end(tuple(names))
            while len(self._opened) > _OPEN:
                self._opened.popitem(last=False)
            return opened

    def _name(self, folder: Path, path: Path) -> str:
        if path == folder:
            return folder.name
        inner = path.relative_to(folder).as_posix()
        return inner if len(self._folders) == 1 else f"{folder.name}/{inner}"


def _stamps(runs: Sequence[RunFolder]) -> Iterator[tuple[str, int, int]]:
    for run in runs:
        for part in (run, *run.baselines().values()):
            for path in (part.path / name for name in _FILES):
                if path.is_file():
                    told = path.stat()
                    yield str(path), told.st_mtime_ns, told.st_size
