"""How much the names of an environment's tools resemble each other, against the errors made there.

An environment is a category of tools; a goal belongs to that of its gold tools, else of its offered
ones, where it is a single one. J_avg in both variants is of all its tools
(`seal.evaluation.name_similarity`).

An error rate is 1 less the mean score of a pattern over the goals of the environment, so that its
denominators are those of `seal.evaluation.error_patterns.pattern_scores`; `any` is the share of
goals with at least one error of any pattern, `failed` 1 less the pass rate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from seal.core import Task, UsageError
from seal.core.arrays import Floats, np
from seal.core.canonical import derive_seed
from seal.core.text import counted
from seal.evaluation.statistics import mean_over, rounded
from seal.experiments.ablation.variants import PATTERNS
from seal.pools.counts import environments_of, home_of
from seal.pools.pool import StoredPool
from seal.runs.score_table import ScoreTable

VARIANTS = ("strict", "stopwords")
LEAST = 3
"""Fewest environments that show anything."""
ANY, FAILED = "any", "failed"
RATES = (*PATTERNS, ANY, FAILED)


def homes_of(pool: StoredPool, tasks: Iterable[Task]) -> dict[tuple[str, int], str]:
    """Return (task id, goal) to its environment; goals without one are left out.

    Args:
        pool: Whose tools there are.
        tasks: Those that are played.

    Raises:
        UsageError: Fewer than three environments have a goal: they show nothing.
    """
    category_of = {tool.id: tool.category for tool in pool.tools()}
    found = {}
    for task in tasks:
        for position, goal in enumerate(task.goals):
            home = home_of(goal, category_of)
            if home is not None:
                found[task.id, position] = home
    count = len(set(found.values()))
    if count < LEAST:
        raise UsageError(
            f"{pool.name} has goals in {counted(count, 'environment')}, and the ablation needs "
            "at least "
            f"{LEAST}: take a pool with more categories of tools, or select more tasks"
        )
    return found


def points_of(
    pool: StoredPool, homes: Mapping[tuple[str, int], str], scores: ScoreTable, seed: int
) -> list[dict[str, Any]]:
    """Return a point for each environment that has a goal, by name.

    Args:
        pool: Whose tools there are.
        homes: Of the goals (`homes_of`).
        scores: Of the run.
        seed: Of the intervals.

    Returns:
        {environment, tools, goals, strict, stopwords, rates: {name: {rate, low, high, n}}}: J_avg
        in both variants (None: fewer than two names), and the error rates with their 95 % bootstrap
        intervals over tasks; a rate is None where no goal has a value.
    """
    rows: dict[str, list[tuple[str, int]]] = {}
    for row, (task, _, goal) in enumerate(scores.scored()):
        if (task, goal) in homes:
            rows.setdefault(homes[task, goal], []).append((task, row))
    errors = _errors(scores)

    def rate(place: str, name: str) -> dict[str, Any]:
        found = rate_of(errors[name], rows[place], derive_seed(seed, place, name))
        return {"rate": found.pop("mean"), **found}

    return [
        {
            "environment": place.name,
            "tools": place.tools,
            "goals": len(rows[place.name]),
            "strict": rounded(place.similarity_strict),
            "stopwords": rounded(place.similarity_stopwords),
            "rates": {name: rate(place.name, name) for name in RATES},
        }
        for place in environments_of(pool)
        if place.name in rows
    ]


def rate_of(values: Floats, rows: Sequence[tuple[str, int]], seed: int) -> dict[str, Any]:
    """Return {mean, low, high, n} of some values, with the interval over their tasks.

    Args:
        values: Of all rows; NaN where there is none.
        rows: Those that count: the task and its place in `values`.
        seed: Of the interval.
    """
    found = [(task, float(values[row])) for task, row in rows if not np.isnan(values[row])]
    number = {task: place for place, task in enumerate(dict.fromkeys(task for task, _ in found))}
    return mean_over([value for _, value in found], [number[task] for task, _ in found], seed)


def _errors(scores: ScoreTable) -> dict[str, Floats]:
    """Return the error of every row, by name; NaN where there is no value."""
    nothing = np.full(len(scores.goals), np.nan)

    def error(metric: str) -> Floats:
        if metric not in scores.metrics:
            return nothing
        found: Floats = 1 - scores.values[:, scores.metrics[metric]]
        return found

    errors = {name: error(name) for name in PATTERNS}
    every = np.column_stack(list(errors.values()))
    known = ~np.isnan(every).all(axis=1)
    anyhow = np.where(known, (np.nan_to_num(every) > 0).any(axis=1), np.nan)
    return {**errors, ANY: anyhow, FAILED: error("pass_rate")}
