"""Runs as pandas frames."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

from seal.api.objects.base import Shown
from seal.core import UsageError, shortened
from seal.core.folders import check_path
from seal.core.signatures import checked
from seal.core.text import counted
from seal.experiments.comparison.between_runs import named_runs
from seal.report.frames import calls_frame, messages_frame, scores_frame, tasks_frame
from seal.report.glance import Glance
from seal.report.grids import Grid
from seal.report.lanes import model_name
from seal.runs.run_folder import RunFolder

if TYPE_CHECKING:
    from pandas import DataFrame

    from seal.api.objects.run_object import Run

RunLike: TypeAlias = Union[str, "PathLike[str]", RunFolder, "Run"]
"""A run: what `seal.run` returned, its folder, or the path of that."""


class Framed(ABC):
    """Runs as pandas frames, each made when it is asked for; they need the extra `experiments`.

    Every frame has the columns run, model, task_id, trial, goal (from 0), query (the goal's text)
    and `tag_NAME` for each tag of a task; then come those of its kind.
    """

    @abstractmethod
    def _runs(self) -> Mapping[str, RunFolder]:
        """Return name, as in the column `run`, to run."""

    @cached_property
    def scores(self) -> DataFrame:
        """A row for each score: metric, value (missing: it does not apply), weight, reason."""
        return scores_frame(self._runs())

    @cached_property
    def calls(self) -> DataFrame:
        """A row for each call.

        index (of its step), turn, author, tool (id; missing: no such tool), name (as the model
        wrote it), arguments (JSON; as written where that is none), valid (False: it was rejected
        before it ran), error (its kind), message (of the error), result (what the model read).
        """
        return calls_frame(self._runs())

    @cached_property
    def messages(self) -> DataFrame:
        """A row for each step of a chat.

        index, turn, author, recipient, kind (message, call or result), content, and tokens_in and
        tokens_out of the model calls behind it, on the first step of a reply.
        """
        return messages_frame(self._runs())

    @cached_property
    def tasks(self) -> DataFrame:
        """A row for each goal of each chat that was played.

        benchmark, split, outcome (solved, unsolved, undecided, error, unscored), stop (its reason),
        error, answer, turns, calls, tokens_in, tokens_out.
        """
        return tasks_frame(self._runs())


@dataclass(frozen=True, repr=False)
class Frames(Framed, Shown):
    """The frames of several runs."""

    runs: Mapping[str, RunFolder] = field(hash=False)
    """Name, as in the column `run`, to run."""

    def _runs(self) -> Mapping[str, RunFolder]:
        return self.runs

    def _glance(self) -> Glance:
        rows = [
            (name, model_name(run), f"{run.summary()['tasks']:,}", f"{run.summary()['errors']:,}")
            for name, run in self.runs.items()
        ]
        grid = Grid(
            f"frames of {counted(len(rows), 'run')}", ("run", "model", "tasks", "errors"), rows
        )
        return Glance(grid, ("frames: scores, calls, messages, tasks",))


def folder_of(run: object) -> Path:
    """Return the folder of a run, which need not be there.

    Raises:
        UsageError: It is nothing of the kind.
    """
    if isinstance(run, (str, PathLike)):
        check_path("run", run)
        return Path(run)
    folder = run if isinstance(run, RunFolder) else getattr(run, "folder", None)
    if not isinstance(folder, RunFolder):
        raise UsageError(
            f"expected a run, got {shortened(run)}: give what seal.run returned, or its folder"
        )
    return folder.path


def folders_of(runs: Iterable[RunLike | Iterable[RunLike]]) -> list[Path]:
    """Return the folders of runs that stand alone or in lists, or come one by one.

    Raises:
        UsageError: One is no run.
    """
    found: list[Path] = []
    for each in runs:
        if isinstance(each, (str, PathLike, Mapping)) or not isinstance(each, Iterable):
            found.append(folder_of(each))
        else:
            found += map(folder_of, each)
    return found


@checked
def frames(*runs: RunLike | Iterable[RunLike]) -> Frames:
    """Join runs in pandas frames of their scores, calls, messages and tasks.

    Args:
        runs: What `seal.run` returned, folders, or a list, generator or the like of such. Each is
            named by its folder, with as many of the folders above it as tell all apart.

    Raises:
        UsageError: No run, one that stands there twice, or something else.
        DataError: A folder holds no run.

    Example:
        >>> import seal
        >>> for model in ("lexical", "oracle"):
        ...     run = seal.run("sample", model=model, limit=2, out=model, baselines=False)
        >>> scores = seal.frames("lexical", "oracle").scores
        >>> sorted(set(scores["model"]))
        ['lexical', 'oracle']
    """
    paths = folders_of(runs)
    if not paths:
        raise UsageError("frames of no run: give one run at least")
    return Frames(named_runs(paths))
