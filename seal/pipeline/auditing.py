"""The judge of a scored run held against rules, and against people's labels."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from seal.core.errors import DataError
from seal.core.types import JSON, Task, Trajectory
from seal.evaluation.goals import goal_steps
from seal.evaluation.judges import METRICS
from seal.evaluation.judges.audit import Audit, Case, audit, decisions
from seal.evaluation.judges.measures import answer_of
from seal.evaluation.rule_judge import RuleJudge
from seal.pipeline.run_folder import RunFolder

COLUMNS = ("task_id", "label")
_SOLVED = {"solved": True, "unsolved": False}


@dataclass(frozen=True, slots=True)
class Labels:
    """What people say of answers."""

    cases: Mapping[Case, bool]
    problems: tuple[str, ...]
    """Rows that were not taken, with the reason."""


def audit_run(folder: RunFolder, labels: Path | None = None) -> dict[str, JSON]:
    """Hold every judged metric of a run against rules and, where given, against people.

    Args:
        folder: A scored run; its summary.json gets the audit.
        labels: CSV with columns task_id, label (solved or unsolved) and maybe trial and goal.

    Returns:
        {metric: {rules: audit, people: audit}, and, with labels, labels: {taken, problems}}.
        Against rules: over the goals that rules decide, which they do only where it is safe.

    Raises:
        DataError: The run is not scored, the file cannot be read, or no label is of the run.
    """
    summary = folder.summary()
    measured = [name for name in METRICS.values() if name in summary["metrics"]]
    references: dict[str, Mapping[Case, bool]] = {"rules": _rules(folder)}
    told: dict[str, JSON] = {}
    if labels is not None:
        given = read_labels(labels)
        references["people"] = _of_run(folder, given, labels)
        told["labels"] = {"taken": len(given.cases), "problems": list(given.problems)}
    found: dict[str, JSON] = {}
    for metric in measured:
        judged = decisions(folder.scores(), metric)
        compared = {name: audit(judged, cases) for name, cases in references.items()}
        found[metric] = {name: one.record() for name, one in compared.items()}
    found |= told
    folder.write_json("summary.json", {**summary, "audit": found})
    return found


def read_labels(path: Path) -> Labels:
    """Return people's labels from a CSV file; a later label of a goal replaces an earlier one.

    Raises:
        DataError: The file cannot be read, or lacks a column.
    """
    cases: dict[Case, bool] = {}
    problems: list[str] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            table = csv.DictReader(lines)
            lacking = [name for name in COLUMNS if name not in (table.fieldnames or ())]
            if lacking:
                raise DataError(
                    f"{path}: no column {', '.join(lacking)}; expected task_id, label and, where "
                    "there are several, trial and goal"
                )
            for row in table:
                problem = _take(row, cases)
                if problem:
                    problems.append(f"{path.name}, line {table.line_num}: {problem}")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; give a CSV file of labels") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: no CSV in UTF-8: {error}") from None
    return Labels(cases, tuple(problems))


def _take(row: Mapping[str, str | None], cases: dict[Case, bool]) -> str:
    """Take a row in; returns what is wrong with it, empty where nothing is."""
    label = (row.get("label") or "").strip().lower()
    if label not in _SOLVED:
        return f"label {label!r}: expected solved or unsolved"
    numbers = [(row.get(name) or "0").strip() for name in ("trial", "goal")]
    if not all(number.isdecimal() for number in numbers):
        return f"trial and goal {', '.join(numbers)}: expected whole numbers"
    cases[(row.get("task_id") or "").strip(), int(numbers[0]), int(numbers[1])] = _SOLVED[label]
    return ""


def _of_run(folder: RunFolder, given: Labels, path: Path) -> Mapping[Case, bool]:
    tasks = {task.id for task in folder.tasks()}
    known = Counter(case[0] in tasks for case in given.cases)
    if not known[True]:
        first = next(iter(given.cases), ("nothing", 0, 0))[0]
        raise DataError(
            f"{path}: labels of another run: none of {known[False]} is of a task of "
            f"{folder.path}, such as {first!r}; rows that are no label: {len(given.problems)}"
        )
    return given.cases


def _rules(folder: RunFolder) -> dict[Case, bool]:
    """Return what rules decide: goals that they leave unsure are left out."""
    tasks = {task.id: task for task in folder.tasks()}
    found: dict[Case, bool] = {}
    for trajectory in folder.trajectories():
        if not trajectory.failed:
            found |= _decided(tasks[trajectory.task_id], trajectory)
    return found


def _decided(task: Task, trajectory: Trajectory) -> dict[Case, bool]:
    judge, found = RuleJudge(), {}
    for position, goal in enumerate(task.goals):
        steps = goal_steps(trajectory, position)
        verdict = judge.judge(goal, answer_of(trajectory, position), steps)
        if verdict.label != "unsure":
            found[task.id, trajectory.trial, position] = verdict.label == "solved"
    return found


__all__ = ["Audit", "Labels", "audit_run", "read_labels"]
