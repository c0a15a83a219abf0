"""Reads the chats of a run with their tasks and scores, one at a time.

The files may be in any order. A torn last line is counted, not read. Missing chats are listed. Only
the places of the lines of tasks and scores are held in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from seal.core import DataError, Score, Task, Trajectory
from seal.evaluation.calls import VERDICT
from seal.evaluation.goals import DECIDING
from seal.evaluation.user_audit import NAMES as AUDITED
from seal.runs.lines import RecordLookup, Tail
from seal.runs.run_folder import RunFolder

NOT_PLAYED = "not played"
TRIAL = "trial not played"
TORN = "torn last line"
UNKNOWN = "chat of a task that is not in tasks.jsonl"

_MILESTONES = ("similarity", "milestone_similarity", "minefield_similarity")
READ = frozenset({*DECIDING, VERDICT, *AUDITED, *_MILESTONES})
"""Metrics whose scores the rules look at."""


class ScoredChat(NamedTuple):
    """One chat of a run."""

    task: Task
    trajectory: Trajectory
    scores: list[Score]
    """Scores of the metrics that were asked for."""


@dataclass(frozen=True, slots=True)
class Unexplained:
    """What cannot be explained of a run."""

    reasons: Counter[str] = field(default_factory=Counter)
    """Goals, chats and torn lines, by reason."""
    tasks: list[str] = field(default_factory=list)
    """Ids of the tasks that were not played."""
    trials: list[tuple[str, int]] = field(default_factory=list)
    """(task id, trial) that were not played, for tasks that have other trials."""


def chats_of(
    run: RunFolder, left_out: Unexplained, metrics: Collection[str] = READ
) -> Iterator[ScoredChat]:
    """Yield each chat of a run with its task and scores, in the order of its trajectories.

    Args:
        run: The run.
        left_out: Gets what is left out; complete after the last chat.
        metrics: Metrics whose scores are read.

    Raises:
        DataError: The run is not scored, its files are of several runs, or a line is damaged.
    """
    for path in (run.scores_path, run.path / "tasks.jsonl", run.trajectories_path):
        _require(run, path)
    chats = Tail(run.trajectories_path, Trajectory, whole=True)
    tasks = RecordLookup(run.path / "tasks.jsonl", Task, lambda task: task.id, whole=True)
    scores = RecordLookup(run.scores_path, Score, lambda s: (s.task_id, s.trial), whole=True)
    _check_same_run(run, {task for task, _ in scores}, {*tasks})
    played: dict[str, set[int]] = {}
    for trajectory in chats.read():
        task = next(iter(tasks.get(trajectory.task_id)), None)
        if task is None:
            left_out.reasons[UNKNOWN] += 1
            continue
        played.setdefault(task.id, set()).add(trajectory.trial)
        own = scores.get((task.id, trajectory.trial))
        yield ScoredChat(task, trajectory, [score for score in own if score.metric in metrics])
    for file in (tasks, scores, chats):
        if file.torn:
            left_out.reasons[f"{TORN}: {file.path.name}"] += 1
    due = _trials(run, played)
    for task_id in tasks:
        lacking = sorted(due - played.get(task_id, set()))
        goals = len(lacking) * len(tasks.get(task_id)[0].goals) if lacking else 0
        if lacking and task_id in played:
            left_out.reasons[TRIAL] += goals
            left_out.trials.extend((task_id, trial) for trial in lacking)
        elif lacking:
            left_out.reasons[NOT_PLAYED] += goals
            left_out.tasks.append(task_id)


def _trials(run: RunFolder, played: Mapping[str, set[int]]) -> set[int]:
    """Return the trials that each task should have: those of run.json, else all that occur."""
    told = (run.manifest().get("measure") or {}).get("trials")
    if type(told) is int:
        return set(range(told))
    return set().union(*played.values())


def _require(run: RunFolder, path: Path) -> None:
    if not path.is_file() and path == run.scores_path:
        raise DataError(
            f"{run.path} is not scored: there is no scores.jsonl; score it with "
            f"`seal score {run.path}`"
        )
    if not path.is_file():
        raise DataError(f"no file {path}: the folder holds no whole run")


def _check_same_run(run: RunFolder, scored: set[str], tasks: set[str]) -> None:
    """Refuse scores of which none belongs to a task of the run."""
    if scored and not scored & tasks:
        raise DataError(
            f"{run.scores_path}: no task of these scores is in tasks.jsonl, such as "
            f"{min(scored)!r}: they are of another run; score this one again with "
            f"`seal score {run.path}`"
        )
