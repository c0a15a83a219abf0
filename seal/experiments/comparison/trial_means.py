"""The trials of each task as one row of a score table."""

from __future__ import annotations

from dataclasses import replace

from seal.core.arrays import np
from seal.evaluation.statistics import cluster_sums
from seal.runs.score_table import ScoreTable, TrialSpread, row_numbers


def means_over_trials(table: ScoreTable) -> ScoreTable:
    """Return a table with a row a task and goal, as trial 0: the mean of the trials with a value.

    Without any such trial the reason is that of the first.
    """
    owners = row_numbers(table.goals[:, [0, 2]])
    first = np.unique(owners, return_index=True)[1]
    goals = table.goals[first]
    goals[:, 1] = 0
    sums = cluster_sums(table.values, owners)[0]
    counts = cluster_sums(~np.isnan(table.values), owners)[0]
    return replace(
        table,
        goals=goals,
        values=np.where(counts > 0, sums / np.maximum(counts, 1), np.nan),
        why=np.where(counts > 0, -1, table.why[first]),
        spread=_spread(table),
    )


def _spread(table: ScoreTable) -> TrialSpread:
    chats = row_numbers(table.goals[:, :2])
    task = table.goals[np.unique(chats, return_index=True)[1], 0]
    sums = cluster_sums(table.values, chats)[0]
    held = cluster_sums(~np.isnan(table.values), chats)[0] > 0
    count = cluster_sums(held, task)[0].astype(np.int64)
    means = cluster_sums(sums, task)[0] / np.maximum(count, 1)
    squares = cluster_sums(np.where(held, sums - means[task], 0.0) ** 2, task)[0]
    return TrialSpread(np.where(count > 1, squares / np.maximum(count - 1, 1), np.nan), count)
