"""Compares tasks that no tool serves with the answerable tasks that they were made from.

The tag `irrelevance` says why no tool serves a task. `metadata["seed"]` names the task that it was
made from. `seal.evaluation.abstention` defines what counts as abstaining.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seal.core import Task, UsageError
from seal.core.canonical import derive_seed
from seal.core.text import counted
from seal.experiments.ablation.similarity import rate_of
from seal.experiments.ablation.variants import ABSTENTION, Variation
from seal.experiments.comparison.pairs import Side, compare
from seal.experiments.series import PlannedRun
from seal.pools.pool import StoredPool
from seal.pools.task_order import prefix
from seal.runs.settings import RunSettings, changed

TAG = "irrelevance"
_ANSWERABLE = (None, "", "none", False)
"""Values of the tag for tasks that tools serve."""


@dataclass(frozen=True, slots=True)
class Irrelevant:
    """The tasks of both conditions."""

    kinds: Mapping[str, str]
    """Id of an irrelevant task to its kind."""
    seeds: Mapping[str, str]
    """Id of an irrelevant task to that of the answerable one, if the pool has it."""

    @classmethod
    def of(cls, pool: StoredPool, settings: RunSettings) -> Irrelevant:
        """Return the tasks of a pool; `limit` and `first` count irrelevant tasks.

        Raises:
            UsageError: The pool has no irrelevant task, or no answerable task that one was made
                from.
        """
        every = {task.id for task in pool.tasks()}
        irrelevant = [
            task
            for task in pool.tasks(select=settings.select)
            if task.tags.get(TAG) not in _ANSWERABLE
        ][: settings.first]
        if settings.limit is not None:
            drawn = prefix(irrelevant, settings.limit)
            irrelevant = [task for task in irrelevant if task.id in drawn]
        if not irrelevant:
            raise UsageError(
                f"{pool.name} has no selected task with the tag {TAG!r}: take a pool that has, "
                "or make one: seal generate queries --tools POOL --kinds irrelevance --out DIR"
            )
        seeds = {task.id: seed for task in irrelevant if (seed := _seed(task)) in every}
        if not seeds:
            raise UsageError(
                f"{pool.name}: none of {counted(len(irrelevant), 'irrelevant task')} names by "
                "metadata.seed an answerable task of the pool; nothing can be set beside them"
            )
        return cls({task.id: str(task.tags[TAG]) for task in irrelevant}, seeds)

    def conditions(self, ablation: Variation, settings: RunSettings) -> list[PlannedRun]:
        """Return the two conditions, which name their tasks, so that no limit or tag applies."""
        shared = changed(settings, limit=None, first=None, select={})
        parts = (tuple(self.kinds), tuple(dict.fromkeys(self.seeds.values())))
        return [
            PlannedRun(name, shared, only)
            for name, only in zip(ablation.conditions, parts, strict=True)
        ]

    def by_kind(self, one: Side, other: Side, seed: int) -> list[dict[str, Any]]:
        """Return for each kind the scores of its tasks and of their seeds, and the differences.

        Args:
            one: The run of the irrelevant tasks.
            other: That of the answerable ones.
            seed: Of intervals and tests.

        Returns:
            {kind, tasks, without_seed, metrics: {name: {mean, low, high, n}}, comparisons}: the
            share of all tasks of the kind, with its 95 % bootstrap interval over tasks, and the
            paired differences to their seeds (`comparison.pairs.compare`).
        """
        tasks = Counter(self.kinds.values())
        return [
            {
                "kind": kind,
                "tasks": tasks[kind],
                "without_seed": tasks[kind] - len(self._partners(kind)),
                "metrics": {name: self._share(one, kind, name, seed) for name in ABSTENTION},
                "comparisons": compare(
                    one,
                    other,
                    derive_seed(seed, kind),
                    metrics=ABSTENTION,
                    partner=self._partners(kind),
                ),
            }
            for kind in sorted(tasks)
        ]

    def _partners(self, kind: str) -> dict[str, str]:
        return {task: seed for task, seed in self.seeds.items() if self.kinds[task] == kind}

    def _share(self, one: Side, kind: str, metric: str, seed: int) -> dict[str, Any]:
        table = one.scores
        if metric not in table.metrics:  # nothing was scored
            return {"mean": None, "low": None, "high": None, "n": 0}
        scored = enumerate(table.scored())
        rows = [(task, row) for row, (task, _, _) in scored if self.kinds.get(task) == kind]
        values = table.values[:, table.metrics[metric]]
        return rate_of(values, rows, derive_seed(seed, kind, metric))


def _seed(task: Task) -> str:
    made_of = task.metadata.get("seed")
    return made_of if isinstance(made_of, str) else ""
