"""`seal.Run`: a run's files with its forms, and frames of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from seal.api.result import Estimates, Shown
from seal.core import Score, Task, Trajectory, UsageError, shortened
from seal.core.files import check_path
from seal.core.settings import checked, checked_names
from seal.core.text import counted, goal_name
from seal.experiments.comparison import named_runs
from seal.report.figures import interval_figure
from seal.report.frames import runs_frame
from seal.report.grids import Grid
from seal.report.lanes import ShortTable, answer_of, lanes_of, model_name, summary_table
from seal.report.pages import BarGroup
from seal.report.run_results import (
    error_notes,
    gold_notes,
    outcome_notes,
    result_tables,
    run_latex,
)
from seal.report.table_forms import Glance, terminal_text
from seal.runs.run import RunFolder, exit_code_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from seal.evaluation.attribution import Decided
    from seal.pools.benchmark import Benchmark


# -- Runs as pandas frames.

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
        return runs_frame(self._runs(), "scores")

    @cached_property
    def calls(self) -> DataFrame:
        """A row for each call.

        index (of its step), turn, author, tool (id; missing: no such tool), name (as the model
        wrote it), arguments (JSON; as written where that is none), valid (False: it was rejected
        before it ran), error (its kind), message (of the error), result (what the model read).
        """
        return runs_frame(self._runs(), "calls")

    @cached_property
    def messages(self) -> DataFrame:
        """A row for each step of a chat.

        index, turn, author, recipient, kind (message, call or result), content, and tokens_in and
        tokens_out of the model calls behind it, on the first step of a reply.
        """
        return runs_frame(self._runs(), "messages")

    @cached_property
    def tasks(self) -> DataFrame:
        """A row for each goal of each chat that was played.

        benchmark, split, outcome (solved, unsolved, undecided, error, unscored), stop (its reason),
        error, answer, messages, calls, tokens_in, tokens_out.
        """
        return runs_frame(self._runs(), "tasks")


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


# -- One chat of a run.


@dataclass(frozen=True, repr=False)
class PlayedChat(Shown):
    """One chat of a run; `Run.chat` gives it."""

    folder: RunFolder = field(hash=False)
    task: Task
    """What was asked, and its gold."""
    trajectory: Trajectory
    """What was said and done."""
    scores: Sequence[Score]
    """Of this task and trial."""
    why: Sequence[Decided]
    """Of each goal whether it is solved, and what explains a failure."""

    def _glance(self) -> Glance:
        from seal.report.chat_pages import calls_beside_gold, cause_text, target_line
        from seal.report.lanes import decisive_of, outcome_label
        from seal.report.transcript import outline

        chat, one = self.trajectory, self.task
        label = outcome_label(chat.failed, self.scores, decisive_of([self.folder]))
        head = [f"task {one.id}, trial {chat.trial}: {label}"]
        goals = len(one.goals)
        head += [f"{goal_name(n, goals)}: {goal.text}" for n, goal in enumerate(one.goals)]
        names = {id: tool.name for id, tool in self.folder.tools().items()}
        head.append(f"target: {target_line(one, names)}")
        head += [
            f"{goal_name(place, goals)} failed: {cause_text(cause)}: {cause.said}"
            for place, (_, cause) in enumerate(self.why)
            if cause is not None
        ]
        answers = (
            f"{goal_name(place, goals)} answer: {'none' if answer is None else answer}"
            for place, answer in enumerate(chat.answers)
        )
        shown = outline(chat, calls_beside_gold(one, chat))
        return Glance(shown._replace(title="\n".join(head)), tuple(answers))

    def __str__(self) -> str:
        """Return the whole chat, as `seal view` prints it."""
        from seal.report.transcript import transcript_of

        return transcript_of(self.folder, self.task, self.trajectory.trial).plain


# -- A run that was played and scored.

_LEFT_OUT = ("skipped", "unfinished")
_OTHERS = "run.table(every=True), or run.report()"
"""What shows the metrics that the first table leaves out."""


@checked_names
@dataclass(frozen=True, repr=False)
class Run(Estimates, Framed, Shown):
    """What a run measured.

    It is a mapping of metrics: `run["pass_rate"].mean`, `.low`, `.high`, `.n`.

    Example:
        >>> import seal
        >>> run = seal.run("sample", model="oracle", first=2, out="first", baselines=False)
        >>> run["call_recall"].mean, run["call_recall"].n
        (1.0, 2)
        >>> len(run.tasks)
        2
        >>> seal.Run.load("first").summary == run.summary
        True
    """

    folder: RunFolder
    """Its files: tasks, tools, trajectories, scores."""
    summary: Mapping[str, Any] = field(hash=False)
    """What summary.json holds."""
    exit_code: int = 0
    """0 fine, 1 finished with task errors or with crashes alone, 3 a budget stopped it."""
    bench: Benchmark | None = field(default=None, hash=False)
    """What was played, where it was made in memory: its metrics and sections are in no file."""

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Run:
        """Return the run of a folder, wherever it was moved.

        Raises:
            DataError: The folder holds no run, or it is not scored, or a file is damaged.
        """
        folder = RunFolder.open(folder_of(path))
        folder.manifest()
        summary = folder.summary()
        return cls(folder, summary, exit_code_of(summary))

    @property
    def _entries(self) -> Mapping[str, Mapping[str, Any]]:
        entries: Mapping[str, Mapping[str, Any]] = self.summary.get("metrics", {})
        return entries

    @property
    def baselines(self) -> dict[str, Run]:
        """The runs of `floor` and `ceiling`, those of them that were played."""
        return {name: Run.load(run.path) for name, run in self.folder.baselines().items()}

    @property
    def frames(self) -> Frames:
        """The frames alone, as `seal.frames` gives them of several runs."""
        return Frames(self._runs())

    def _runs(self) -> dict[str, RunFolder]:
        return {self.folder.path.resolve().name: self.folder}

    def chat(self, task: str | int, trial: int = 0) -> PlayedChat:
        """Return one chat, which a notebook shows as an outline and `print` shows whole.

        Args:
            task: Its id, or the start or last part of one, where that names one task; or its place
                in the run, from 1.
            trial: Which of the task's trials, from 0.

        Raises:
            UnknownNameError: No such task; names the closest.
            UsageError: The text fits several tasks, or the task was not played in this trial.

        Example:
            >>> import seal
            >>> run = seal.run("sample", model="oracle", first=1, out="one", baselines=False)
            >>> chat = run.chat("weather-01")
            >>> chat.task.id, chat.trajectory.answers[0] is None
            ('weather-01', False)
        """
        from seal.report.transcript import chat_of, find_task

        found = find_task(self.folder, task)
        return PlayedChat(self.folder, found, *chat_of(self.folder, found, trial))

    def report(self, out: str | PathLike[str] | None = None) -> Path:
        """Write the HTML report, or the tables alone, and return the file.

        Args:
            out: The file, of which .tex or .csv has the tables; None: report.html in the run's
                folder.

        Raises:
            DataError: A file of the run is damaged.
        """
        from seal.api.results import report

        return report(self, out)

    def _glance(self) -> Glance:
        errors = error_notes(self.summary.get("error_reasons") or {}, most=1)
        crashes = error_notes(self.summary.get("crashes") or {}, most=1, what="exception")
        baselines = self.folder.baselines().values()
        played = (note for other in baselines for note in gold_notes(other.summary()))
        notes = dict.fromkeys((*outcome_notes(self.summary), *played))
        short = ShortTable(lanes_of([self.folder]))
        told = (*short.first_gaps(_OTHERS), *notes, *errors, *crashes)
        grid = summary_table(self.folder)._replace(title=self._title())
        return Glance(grid, (*told, f"folder: {self.folder.path}"))

    def _title(self) -> str:
        measure = self.folder.manifest().get("measure") or {}
        summary = self.summary
        counts = [
            counted(summary.get("tasks", 0), "task"),
            counted(measure.get("trials", 1), "trial"),
            counted(summary.get("errors", 0), "error"),
            *(f"{summary[name]:,} {name}" for name in _LEFT_OUT if summary.get(name)),
        ]
        return "\n".join((*answer_of(self.folder), ", ".join(counts)))

    def _tables(self) -> Iterable[Any]:
        return result_tables(self.folder, others=_OTHERS)

    def table(self, every: bool = False) -> str:
        """Return the tables as the command line prints them.

        Args:
            every: All main metrics, as `seal run --all-metrics` prints them; else the first five.
        """
        return terminal_text(result_tables(self.folder, every, _OTHERS))

    def latex(self) -> str:
        """Return the tables as LaTeX; the first has a short caption, and a label."""
        return run_latex(self.folder, self._tables())

    def _figures(self) -> Iterable[Figure]:
        from seal.report.sections import lane_bar

        short = ShortTable(lanes_of([self.folder]))
        lanes = sorted(lanes_of([self.folder]), key=lambda lane: lane.kind != "run")
        groups = [
            BarGroup(name, tuple(lane_bar(lane, name) for lane in lanes))
            for name in short.bounded
            if name in short.valued
        ]
        title = f"{self.folder.pool_name}: {model_name(self.folder)}"
        yield interval_figure(title, "mean", groups)
