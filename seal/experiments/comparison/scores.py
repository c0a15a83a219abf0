"""The scores of one run as a table of numbers: a row a task, trial and goal, a column a metric."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from seal.core import DataError
from seal.evaluation.goals import INFRASTRUCTURE
from seal.evaluation.statistics import kind_of_reason
from seal.runs.lines import ScoredGoal, ScoreLines

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ERROR = "error"
"""Why a score has no value whose task the infrastructure failed."""
MISSING = "not scored"
"""Why there is no score."""


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """What a run's scores.jsonl says."""

    rows: Mapping[ScoredGoal, int]
    metrics: Mapping[str, int]
    """Name to column."""
    values: NDArray[np.float64]
    """(rows, metrics); NaN where there is no value."""
    why: NDArray[np.int32]
    """(rows, metrics): place in `reasons`; -1 where there is a value."""
    reasons: tuple[str, ...]
    """Kinds of reason why scores have no value."""
    spread: Mapping[str, Spread] | None = None
    """Task to how its trials differ; None: the rows are by trial."""


class Spread(NamedTuple):
    """How the trials of one task differ, by metric. A trial is what its goals sum up to."""

    variance: NDArray[np.float64]
    """NaN where fewer than two trials have a value."""
    trials: NDArray[np.int64]
    """How many have one."""


def read_scores(path: Path) -> ScoreTable:
    """Return the scores of a file, which is read once.

    Details, which no comparison looks at, are not checked to be JSON.

    Raises:
        DataError: There is no such file, or a line of it is no score, or one of what another line
            has scored; names the line.
    """
    import numpy as np

    if not path.is_file():
        raise DataError(f"no file {path}: score the run with `seal score {path.parent}`")
    rows: defaultdict[ScoredGoal, int] = defaultdict(count().__next__)
    metrics: defaultdict[str, int] = defaultdict(count().__next__)
    reasons = _Reasons()
    row, column, why, value = array("q"), array("q"), array("q"), array("d")
    scores = ScoreLines(details=False)
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                goal, said = scores.parts(line)
            except DataError as error:
                raise DataError(f"{path}, line {number}: {error}") from error
            row.append(rows[goal])
            column.append(metrics[said.metric])
            why.append(reasons[said.reason])
            value.append(math.nan if said.value is None else said.value)
    shape = (len(rows), len(metrics))
    places = np.asarray(row), np.asarray(column)
    _refuse_repeated(path, places[0] * len(metrics) + places[1])
    values, whys, found = np.full(shape, np.nan), np.zeros(shape, dtype=np.int32), np.asarray(value)
    values[places] = found
    whys[places] = np.where(np.isnan(found), np.asarray(why), -1)
    return ScoreTable(dict(rows), dict(metrics), values, whys, tuple(reasons.kinds))


def means_over_trials(table: ScoreTable) -> ScoreTable:
    """Return a table with a row a task and goal, as trial 0: the mean of the trials with a value.

    Without any such trial the reason is that of the first.
    """
    import numpy as np

    owners = [(task, 0, goal) for task, _, goal in table.rows]
    rows = {owner: place for place, owner in enumerate(dict.fromkeys(owners))}
    place = np.asarray([rows[owner] for owner in owners], dtype=np.int64)
    present = ~np.isnan(table.values)
    sums, counts = np.zeros((2, len(rows), len(table.metrics)))
    np.add.at(sums, place, np.where(present, table.values, 0.0))
    np.add.at(counts, place, present)
    first = np.unique(place, return_index=True)[1]
    return replace(
        table,
        rows=rows,
        values=np.where(counts > 0, sums / np.maximum(counts, 1), np.nan),
        why=np.where(counts > 0, -1, table.why[first]),
        spread=_spread(table),
    )


def _spread(table: ScoreTable) -> dict[str, Spread]:
    import numpy as np

    trials: defaultdict[str, defaultdict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for (task, trial, _), row in table.rows.items():
        trials[task][trial].append(row)
    found = {}
    for task, chats in trials.items():
        goals = [table.values[rows] for rows in chats.values()]
        sums = np.array([np.nansum(values, axis=0) for values in goals])
        held = np.array([~np.isnan(values).all(axis=0) for values in goals])
        count = held.sum(axis=0)
        mean = np.where(held, sums, 0.0).sum(axis=0) / np.maximum(count, 1)
        squares = np.where(held, (sums - mean) ** 2, 0.0).sum(axis=0)
        variance = np.where(count > 1, squares / np.maximum(count - 1, 1), np.nan)
        found[task] = Spread(variance, count)
    return found


def _refuse_repeated(path: Path, cells: NDArray[np.int64]) -> None:
    """Raise DataError where a line scores what an earlier one has scored; names both.

    Args:
        path: The file.
        cells: What each line scores, as a number.
    """
    import numpy as np

    if not len(cells) or np.bincount(cells).max() == 1:
        return
    _, first, place = np.unique(cells, return_index=True, return_inverse=True)
    line = int(np.flatnonzero(first[place] != np.arange(len(cells)))[0])
    raise DataError(
        f"{path}, line {line + 1}: scores task, trial, goal and metric of line "
        f"{int(first[place][line]) + 1} again; write the file anew: `seal score {path.parent}`"
    )


class _Reasons(dict[str, int]):
    """Reason to the place of its kind; kinds are numbered as they come."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds = {MISSING: 0}

    def __missing__(self, reason: str) -> int:
        kind = ERROR if reason.startswith(INFRASTRUCTURE) else kind_of_reason(reason)
        self[reason] = place = self.kinds.setdefault(kind, len(self.kinds))
        return place
