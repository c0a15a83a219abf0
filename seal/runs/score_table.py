"""The scores of one run as a table of numbers: a row a task, trial and goal, a column a metric.

Of a large run the table stands in `scores.npz` too, beside the lines that it was made of. Whoever
needs figures alone reads it in a hundredth of the time. It counts as long as scores.jsonl is what
it was: where one byte differs, or there is no such file, the lines are read.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from seal.core import DataError
from seal.core.arrays import Floats, Integers, NDArray, np
from seal.core.files import AtomicFile, opened
from seal.core.records import repair_of
from seal.core.secrets import without_keys
from seal.core.values import json_bytes, json_value
from seal.evaluation.statistics import ranks
from seal.runs.scores import (
    ABSENT,
    COLUMNS,
    EXPLAINED,
    LARGE,
    VALUE,
    Columns,
    ScoredGoal,
    ScoreLines,
    check_rate,
    stamp_after,
)

_VERSION = 1


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """What a run's scores.jsonl says."""

    tasks: tuple[str, ...]
    """Ids, in the order of their first rows."""
    goals: Integers
    """(rows, 3): place in `tasks`, trial and goal. No two rows are the same."""
    metrics: Mapping[str, int]
    """Name to column."""
    values: Floats
    """(rows, metrics); NaN where there is no value."""
    why: NDArray[np.int32]
    """(rows, metrics): place in `reasons`; -1 where there is a value."""
    reasons: tuple[str, ...]
    """Kinds of reason why scores have no value."""
    spread: TrialSpread | None = None
    """How the trials of each task differ; None: the rows are by trial."""

    def scored(self) -> Iterator[ScoredGoal]:
        """Yield task id, trial and goal of each row."""
        yield from ((self.tasks[task], trial, goal) for task, trial, goal in self.goals.tolist())

    def chats(self) -> Integers:
        """Return the place in `tasks` and the trial of every chat, (chats, 2)."""
        return self.goals[np.unique(row_numbers(self.goals[:, :2]), return_index=True)[1], :2]


class TrialSpread(NamedTuple):
    """How the trials of tasks differ, (tasks, metrics). A trial is what its goals sum up to."""

    variance: Floats
    """NaN where fewer than two trials have a value."""
    trials: Integers
    """How many have one."""


def row_numbers(rows: Integers) -> Integers:
    """Return one number for each row; rows have the same number where all their columns agree.

    Numbers begin at 0, leave none out, and sort as the rows do.
    """
    found = np.zeros(len(rows), dtype=np.int64)
    for place in map(ranks, rows.T):
        found = found * (int(place.max(initial=-1)) + 1) + place
    return ranks(found)


def table_of(columns: Columns) -> ScoreTable:
    """Return what was gathered as a table."""
    shape = len(columns.rows), len(columns.by_metric)
    values, why = np.full(shape, np.nan), np.zeros(shape, dtype=np.int32)
    for place, (its_values, its_why) in enumerate(columns.by_metric.values()):
        values[: len(its_values), place] = its_values
        why[: len(its_why), place] = np.where(np.asarray(its_why) == ABSENT, 0, its_why)
    tasks = {task: place for place, task in enumerate(dict.fromkeys(t for t, _, _ in columns.rows))}
    goals = [(tasks[task], trial, goal) for task, trial, goal in columns.rows]
    return ScoreTable(
        tuple(tasks),
        np.asarray(goals, dtype=np.int64).reshape(-1, 3),
        {name: place for place, name in enumerate(columns.by_metric)},
        values,
        why,
        tuple(columns.reasons.kinds),
    )


def write_columns(scores: Path, columns: Columns | None = None) -> None:
    """Write the table beside the finished file of the scores; of a small run, remove it.

    Args:
        scores: The file.
        columns: What was taken while it was written; None: the file is read.

    Raises:
        DataError: A line is no score, or one of what another line has scored.
    """
    path = scores.with_name(COLUMNS)
    path.unlink(missing_ok=True)
    scores.with_name(EXPLAINED).unlink(missing_ok=True)  # the rules may be other ones now
    if columns is None or columns.again:  # reading names the line that scores again
        table, stamp = _read_lines(scores), stamp_of(scores)
    else:
        table, stamp = table_of(columns), columns.stamp
    if len(table.goals) < LARGE:
        return
    told = {
        "version": _VERSION,
        "lines": stamp,
        "tasks": table.tasks,
        "metrics": list(table.metrics),
        "reasons": table.reasons,
    }
    with AtomicFile(path) as file:
        np.savez_compressed(
            file,
            told=np.frombuffer(without_keys(json_bytes(told)), dtype=np.uint8),
            goals=table.goals,
            values=table.values,
            why=table.why,
        )


def read_scores(path: Path, rates: Container[str] = ()) -> ScoreTable:
    """Return the scores of a run's scores.jsonl.

    Details, which no comparison looks at, are not checked to be JSON.

    Args:
        path: The file.
        rates: Metrics whose scores lie in [0, 1]: `RunFolder.rates`.

    Raises:
        DataError: There is no such file, or a line of it is no score, or one of what another line
            has scored; names the line.
    """
    if not path.is_file():
        raise DataError(f"no file {path}: score the run with `seal score {path.parent}`")
    return _kept(path) or _read_lines(path, rates)


def _read_lines(path: Path, rates: Container[str] = ()) -> ScoreTable:
    columns, scores = Columns(), ScoreLines(details=False)
    with opened(path) as lines:
        for number, line in enumerate(lines, 1):
            try:
                goal, said = scores.parts(line)
                check_rate(said, rates)
            except DataError as error:
                raise DataError(f"{path}, line {number}: {error}; {repair_of(path)}") from error
            if not columns.add(goal, said):
                raise DataError(
                    f"{path}, line {number}: scores task, trial, goal and metric of line "
                    f"{_first_line(path, goal, said.metric)} again; write the file anew: "
                    f"`seal score {path.parent}`"
                )
    return table_of(columns)


def _first_line(path: Path, goal: ScoredGoal, metric: str) -> int:
    """Return which line scores a goal by a metric first, from 1."""
    scores = ScoreLines(details=False)
    with opened(path) as lines:
        parts = enumerate(map(scores.parts, lines), 1)
        return next(n for n, (of, said) in parts if (of, said.metric) == (goal, metric))


def _kept(scores: Path) -> ScoreTable | None:
    """Return the table that stands beside a file of scores; None: none, or not of these scores."""
    path = scores.with_name(COLUMNS)
    try:
        opened(path).close()  # else a pipe waits for its writer
        with zipfile.ZipFile(path) as packed:
            size = sum(part.file_size for part in packed.infolist())
        if size > scores.stat().st_size:  # the columns of its lines are a fraction of them
            return None
        with np.load(path, allow_pickle=False) as parts:
            told = json_value(parts["told"].tobytes())
            if told["version"] != _VERSION or tuple(told["lines"]) != stamp_of(scores):
                return None
            goals, values, why = (parts[name] for name in ("goals", "values", "why"))
        table = ScoreTable(
            tuple(told["tasks"]),
            goals.astype(np.int64, copy=False),
            {name: place for place, name in enumerate(told["metrics"])},
            # By columns, which is how they are read.
            np.asfortranarray(values, dtype=np.float64),
            np.asfortranarray(why, dtype=np.int32),
            tuple(told["reasons"]),
        )
        shape = len(goals), len(table.metrics)
        sound = values.shape == why.shape == shape and goals.shape == (len(goals), 3)
        sound = sound and np.array_equal(np.unique(goals[:, 0]), np.arange(len(table.tasks)))
        return table if sound and VALUE <= why.min() <= why.max() < len(table.reasons) else None
    except (OSError, ValueError, LookupError, TypeError, EOFError, zipfile.BadZipFile, zlib.error):
        return None  # no such file, or a damaged one: the lines tell all that it told


def stamp_of(scores: Path) -> tuple[int, int]:
    """Return the size of a file and the CRC-32 of its bytes."""
    stamp = 0, 0
    with opened(scores) as file:
        while block := file.read(1 << 20):
            stamp = stamp_after(block, *stamp)
    return stamp
