"""Recorded verdicts for a run: which task each is of, and whether they are this run's at all."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping
from pathlib import Path

from seal.core.errors import DataError, shortened
from seal.evaluation.judges.measures import answer_of
from seal.evaluation.judges.panel import MISSING, Panel, recorded_panel
from seal.evaluation.judges.recorded import QueryVerdicts, VerdictFile
from seal.pools.known import reader_of
from seal.runs.judges import Recorded
from seal.runs.run_folder import RunFolder

_LOG = logging.getLogger(__name__)


def recorded_verdicts(folder: RunFolder, path: Path) -> Recorded:
    """Return the verdicts of a file for a run's tasks.

    A query is a task's where id and text are; the answer that was judged must be the run's, so
    that no verdict goes to what another model said.

    Args:
        folder: The run; the file tells of one chat for each task, which is the first trial's.
        path: Of StableToolBench's `pass_rate_results`, JSON or CSV.

    Raises:
        DataError: The file cannot be read, or its verdicts are another run's.
    """
    found: VerdictFile = reader_of("verdicts", folder.pool_name)(path)
    by_task = _joined(folder, found)
    if not by_task:
        raise DataError(
            f"{path}: verdicts of another run: none of its {len(found.queries)} queries is a task "
            f"of {folder.path} with the same id and text; give the file of this run"
        )
    check_answers(folder, path, {task_id: query.answer for task_id, query in by_task.items()})
    without = len(found.queries) - len(by_task)
    if without:
        _LOG.warning("%s: %d queries are no tasks of the run: left out", path, without)
    panels = {task_id: _panel(query, found.runs) for task_id, query in by_task.items()}
    return Recorded(panels, hashlib.sha256(path.read_bytes()).hexdigest()[:12])


def _joined(folder: RunFolder, found: VerdictFile) -> dict[str, QueryVerdicts]:
    by_task = {}
    for task in folder.tasks():
        query = found.queries.get(query_id_of(task.id))
        if query is not None and _words(query.query) == _words(task.goals[0].text):
            by_task[task.id] = query
    return by_task


def query_id_of(task_id: str) -> str:
    """Return what upstream's files of verdicts call a task."""
    return task_id.rpartition("/")[2].partition("#")[0]


def check_answers(
    folder: RunFolder, path: Path, judged: Mapping[str, str | None], kind: str = "verdicts"
) -> None:
    """Raise DataError where an answer that was judged is not the run's.

    Args:
        folder: The run.
        path: Of the file that says what was judged.
        judged: Task id to the answer in the first trial; None: unknown.
        kind: What the file holds.
    """
    differing, first = 0, ""
    for trajectory in folder.trajectories():
        answer = judged.get(trajectory.task_id)
        # What a run that did not finish said last is no answer, and depends on who tells it.
        if trajectory.trial or answer is None:
            continue
        said = answer_of(trajectory, 0)
        if _words(said) != _words(answer):
            differing += 1
            first = first or (
                f"task {trajectory.task_id}: judged was {shortened(answer)}, "
                f"the run says {shortened(said)}"
            )
    if differing:
        raise DataError(
            f"{path}: {kind} of another run: {differing} of {len(judged)} answers are not those "
            f"of {folder.path}, such as {first}; give the file of this run"
        )


def _panel(query: QueryVerdicts, runs: int) -> Panel:
    return recorded_panel([query.labels.get(run, MISSING) for run in range(runs)])


def _words(text: str | None) -> str:
    return " ".join((text or "").split())
