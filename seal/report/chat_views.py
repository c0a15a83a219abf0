"""`seal view`: the tasks of a run, one chat, or a chat while it runs."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from seal.core import Step, Task, Trajectory, UsageError
from seal.core.folders import is_held
from seal.pools.search import named_one
from seal.report.chat_records import decisive_of, outcomes, scores_so_far, trajectories_so_far
from seal.report.grids import Grid
from seal.report.printable import one_line
from seal.report.transcript import (
    COLOURS,
    FOLD,
    ending_lines,
    heading_lines,
    join_lines,
    render_transcript,
    step_lines,
)
from seal.runs.lines import LineTail, Tail
from seal.runs.run_folder import RunFolder, live_steps

if TYPE_CHECKING:
    from rich.console import Console

POLL_SECONDS = 0.3


def view(
    run: RunFolder,
    task_id: str | None = None,
    trial: int = 0,
    follow: bool = False,
    out: Console | None = None,
    fold: int | None = FOLD,
) -> None:
    """Print the list of a run's tasks, one chat, or what is being said.

    Args:
        run: The run; it may be running.
        task_id: A task's id, its start or its last part, where that names one task; None: all.
        trial: Which of the task's trials.
        follow: Print chats as they grow, until the chat (or the run) has ended.
        out: Where to print; None: the terminal.
        fold: Characters of a text before it is folded; None: all of it.

    Raises:
        UnknownNameError: No such task; names the closest.
        UsageError: The text fits several tasks, or the task was not played in this trial.
    """
    from rich.console import Console

    out = out or Console(highlight=False)
    task = None if task_id is None else find_task(run, task_id)
    if follow:
        for text in Follower(run, task, trial, fold).texts():
            out.print(text, soft_wrap=True)
    elif task is None:
        out.print(outcome_table(run))
    else:
        out.print(_transcript(run, task, trial, fold), soft_wrap=True)


def find_task(run: RunFolder, wanted: str) -> Task:
    """Return the task that a user's text names: its id, else the one id that starts or ends so.

    Raises:
        UnknownNameError: None does; names the closest.
        UsageError: Several do.
    """
    tasks = {task.id: task for task in run.tasks()}
    return tasks[named_one("task", wanted, tasks)]


def outcome_table(run: RunFolder) -> Grid:
    """Return the run's tasks: id, goal, outcome, stop reason, number of calls.

    Under the goal of a task that failed stands the start of its error.
    """
    goals = {t.id: one_line(t.goals[0].text, 60) if t.goals else "" for t in run.tasks()}
    done = list(outcomes(run))
    several_trials = any(chat.trial for chat in done)
    rows = []
    for chat in done:
        error = f"\n{one_line(chat.error, 72)}" if chat.error else ""
        goal = f"{goals.get(chat.task_id, '')}{error}"
        trial = (str(chat.trial),) if several_trials else ()
        rows.append((chat.task_id, *trial, goal, chat.label, chat.stop, str(chat.calls)))
    played = {chat.task_id for chat in done}
    for task_id in (id for id in goals if id not in played):
        trial = ("",) if several_trials else ()
        rows.append((task_id, *trial, goals[task_id], "unfinished", "", ""))
    columns = ("task", *(("trial",) if several_trials else ()), "goal", "outcome", "stop", "calls")
    return Grid("", columns, rows, names=len(columns) - 1, colours=COLOURS)


class Follower:
    """Prints a run while it is written.

    A chat in progress stands in `live/*.jsonl` of the run folder, each line one step as
    `{"task_id": ..., "trial": ..., "step": {...}}`; when it has ended, its whole is a line of
    trajectories.jsonl.

    Args:
        run: The run.
        task: Follow this task alone; None: all.
        trial: Trial of that task.
        fold: Characters of a text before it is folded.
    """

    def __init__(
        self, run: RunFolder, task: Task | None = None, trial: int = 0, fold: int | None = FOLD
    ) -> None:
        self._run = run
        self._wanted = (task.id, trial) if task else None
        self._tasks = {task.id: task} if task else {task.id: task for task in run.tasks()}
        self._fold = fold
        self._chats = Tail(run.trajectories_path, Trajectory)
        self._live: dict[str, LineTail] = {}
        self._shown: dict[tuple[str, int], int] = {}
        self._failed: dict[tuple[str, int], bool] = {}
        self._heading: tuple[str, int] | None = None

    def texts(self, poll: float = POLL_SECONDS) -> Iterator[Any]:
        """Yield what is new, as it comes, until the chat or the run has ended, or nobody writes."""
        while True:
            # In this order: what a run wrote before it let go of the folder is seen below.
            written = is_held(self._run.path)
            ended = self._has_ended()
            found_new = False
            for text in self.read_new():
                found_new = True
                yield text
            if ended or self._wanted in self._failed:
                return
            if not written and not found_new:
                folder = shlex.quote(str(self._run.path))
                told = (
                    f"the run stopped unfinished; go on with: seal run ... --out {folder} --resume"
                )
                yield join_lines([("", ""), (told, "yellow")])
                return
            time.sleep(poll)

    def read_new(self) -> Iterator[Any]:
        """Yield what was written since the last time: steps of running chats, then endings."""
        for key, step in self._live_steps():
            if self._awaits(key):
                if step.index == 0:  # a chat that was interrupted begins anew
                    self._shown.pop(key, None)
                yield from self._show_steps(key, [step])
        for trajectory in self._chats.read():
            key = (trajectory.task_id, trajectory.trial)
            repeated = key in self._failed and trajectory.failed
            if self._awaits(key) and not repeated:
                self._failed[key] = trajectory.failed
                yield from self._show_steps(key, trajectory.steps)
                yield join_lines(ending_lines(trajectory, ()))
                self._shown.pop(key, None)

    def _awaits(self, key: tuple[str, int]) -> bool:
        # A chat that the infrastructure ended is played again by a resumed run.
        return self._wanted in (None, key) and self._failed.get(key, True)

    def _show_steps(self, key: tuple[str, int], steps: Any) -> Iterator[Any]:
        first = self._shown.get(key, 0)
        new = [step for step in steps if step.index >= first]
        if not new:
            return
        if self._heading != key:
            self._heading = key
            yield join_lines([("", ""), *heading_lines(*key, self._tasks.get(key[0]))])
        self._shown[key] = new[-1].index + 1
        yield join_lines(step_lines(new, self._fold))

    def _live_steps(self) -> Iterator[tuple[tuple[str, int], Step]]:
        folder = self._run.path / "live"
        names = sorted(file.name for file in folder.glob("*.jsonl")) if folder.is_dir() else []
        self._live = {name: self._live.get(name) or LineTail(folder / name) for name in names}
        yield from chain.from_iterable(map(live_steps, self._live.values()))

    def _has_ended(self) -> bool:
        summary = self._run.path / "summary.json"
        chats = self._run.trajectories_path
        if not summary.is_file() or not chats.is_file() or any(self._run.path.glob("live/*.jsonl")):
            return False
        return summary.stat().st_mtime_ns >= chats.stat().st_mtime_ns


def _transcript(run: RunFolder, task: Task, trial: int, fold: int | None) -> Any:
    played = [chat for chat in trajectories_so_far(run) if chat.task_id == task.id]
    found = next((chat for chat in reversed(played) if chat.trial == trial), None)
    if found is None:
        trials = ", ".join(str(chat.trial) for chat in played)
        hint = f"played: trial {trials}" if trials else "it has not been played yet; try --follow"
        raise UsageError(f"task {task.id!r} has no trial {trial}; {hint}")
    scores = [s for s in scores_so_far(run) if (s.task_id, s.trial) == (task.id, trial)]
    judge = str(run.manifest().get("measure", {}).get("judge", {}).get("judge", ""))
    return render_transcript(task, found, run.tools(), scores, fold, judge, decisive_of([run]))
