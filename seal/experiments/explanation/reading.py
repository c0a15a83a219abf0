"""The chats of a run with their tasks and scores, whatever their order, one at a time.

A last line that was torn while it was written is counted, not read, and chats that the run should
have are told. Of tasks and scores only the places of their lines are held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

import orjson

from seal.core.errors import DataError
from seal.core.records import Record, decode
from seal.core.types import Score, Task, Trajectory
from seal.evaluation.goals import DECIDING
from seal.evaluation.user_audit import NAMES as AUDITED
from seal.runs.run_folder import RunFolder

NOT_PLAYED = "not played"
TRIAL = "trial not played"
TORN = "torn last line"
UNKNOWN = "chat of a task that is not in tasks.jsonl"

_MILESTONES = ("similarity", "milestone_similarity", "minefield_similarity")
READ = frozenset({*DECIDING, *AUDITED, *_MILESTONES})
"""Metrics whose scores the rules look at."""


class Chat(NamedTuple):
    """One chat of a run."""

    task: Task
    trajectory: Trajectory
    scores: list[Score]
    """Those of the metrics that were asked for."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What of a run cannot be explained."""

    reasons: Counter[str] = field(default_factory=Counter)
    """Goals, chats and torn lines, by reason."""
    tasks: list[str] = field(default_factory=list)
    """Those of which no trial was played."""
    trials: list[tuple[str, int]] = field(default_factory=list)
    """(task id, trial) that were not played, of tasks of which others were."""


def chats_of(run: RunFolder, left_out: LeftOut, metrics: Collection[str] = READ) -> Iterator[Chat]:
    """Yield each chat of a run with its task and scores, in the order of its trajectories.

    Args:
        run: The run.
        left_out: What is left out is put here; complete when the last chat was yielded.
        metrics: Whose scores are read.

    Raises:
        DataError: The run is not scored, its files are of several runs, or a line is damaged.
    """
    tasks_path = run.path / "tasks.jsonl"
    _require_scores(run)
    with ExitStack() as stack:
        tasks = stack.enter_context(_open(tasks_path))
        chats = stack.enter_context(_open(run.trajectories_path))
        scores = stack.enter_context(_open(run.scores_path))
        places = _task_places(tasks, tasks_path, left_out.reasons)
        scored = _score_places(scores, run.scores_path, metrics, left_out.reasons)
        _check_same_run(run, scored, places)
        played: dict[str, set[int]] = {}
        for number, line in enumerate(chats, 1):
            trajectory = _whole(line, Trajectory, run.trajectories_path, number, left_out.reasons)
            if trajectory is None:
                continue
            place = places.get(trajectory.task_id)
            if place is None:
                left_out.reasons[UNKNOWN] += 1
                continue
            played.setdefault(trajectory.task_id, set()).add(trajectory.trial)
            task = _at(tasks, place, Task)
            own = scored.get((task.id, trajectory.trial), ())
            yield Chat(task, trajectory, [_at(scores, offset, Score) for offset in own])
        due = _trials(run, played)
        for task_id, place in places.items():
            lacking = sorted(due - played.get(task_id, set()))
            if not lacking:
                continue
            goals = len(lacking) * len(_at(tasks, place, Task).goals)
            if task_id in played:
                left_out.reasons[TRIAL] += goals
                left_out.trials.extend((task_id, trial) for trial in lacking)
            else:
                left_out.reasons[NOT_PLAYED] += goals
                left_out.tasks.append(task_id)


def _trials(run: RunFolder, played: Mapping[str, set[int]]) -> set[int]:
    """Return the trials that each task should have: those of run.json, else all that any has."""
    told = (run.manifest().get("measure") or {}).get("trials")
    if type(told) is int:
        return set(range(told))
    return set().union(*played.values())


def _require_scores(run: RunFolder) -> None:
    if not run.scores_path.is_file():
        raise DataError(
            f"{run.path} is not scored: there is no scores.jsonl; score it with "
            f"`seal score {run.path}`"
        )


def _check_same_run(
    run: RunFolder, scored: Mapping[tuple[str, int], object], tasks: Mapping[str, int]
) -> None:
    """Refuse scores none of which is of a task of the run."""
    if scored and not any(task_id in tasks for task_id, _ in scored):
        raise DataError(
            f"{run.scores_path}: no task of these scores is in tasks.jsonl, such as "
            f"{next(iter(scored))[0]!r}: they are of another run; score this one again with "
            f"`seal score {run.path}`"
        )


def _open(path: Path) -> IO[bytes]:
    if not path.is_file():
        raise DataError(f"no file {path}: the folder holds no whole run")
    return path.open("rb")


def _whole(
    line: bytes, kind: type[Record], path: Path, number: int, excluded: Counter[str]
) -> Record | None:
    """Return the record of a line; None for an empty line and for a torn last one."""
    if not line.strip():
        return None
    try:
        return decode(line, kind)
    except DataError as error:
        if not line.endswith(b"\n"):
            excluded[f"{TORN}: {path.name}"] += 1
            return None
        raise DataError(f"{path}, line {number}: {error}") from error


def _task_places(file: IO[bytes], path: Path, excluded: Counter[str]) -> dict[str, int]:
    """Return task id to where its line begins."""
    places, start = {}, 0
    for number, line in enumerate(file, 1):
        fields = _fields(line, Task, path, number, excluded)
        if fields is not None:
            places[str(fields["id"])] = start
        start += len(line)
    return places


def _score_places(
    file: IO[bytes], path: Path, metrics: Collection[str], excluded: Counter[str]
) -> dict[tuple[str, int], list[int]]:
    """Return (task id, trial) to where the lines of the wanted scores begin."""
    places: dict[tuple[str, int], list[int]] = {}
    start = 0
    for number, line in enumerate(file, 1):
        fields = _fields(line, Score, path, number, excluded)
        if fields is not None:
            own = places.setdefault((str(fields["task_id"]), _trial(fields)), [])
            if fields["metric"] in metrics:
                own.append(start)
        start += len(line)
    return places


def _trial(fields: Mapping[str, object]) -> int:
    found = fields["trial"]
    return found if isinstance(found, int) else -1


_NEEDED = {Task: ("id", "goals"), Score: ("task_id", "trial", "metric", "goal")}


def _fields(
    line: bytes, kind: type[Task] | type[Score], path: Path, number: int, excluded: Counter[str]
) -> dict[str, object] | None:
    """Return a line's fields without checking them all, which takes ten times as long."""
    try:
        found = orjson.loads(line)
        if all(name in found for name in _NEEDED[kind]):
            return dict(found)
    except (ValueError, TypeError):
        pass
    if kind is Task:
        _whole(line, Task, path, number, excluded)
    else:
        _whole(line, Score, path, number, excluded)
    return None


def _at(file: IO[bytes], place: int, kind: type[Record]) -> Record:
    file.seek(place)
    try:
        return decode(file.readline(), kind)
    except DataError as error:
        raise DataError(f"{file.name}: {error}") from error
