"""The trials of each task as one row of a score table."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

from seal.runs.score_table import ScoreTable, Spread


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
