"""Retrievers that do not search: oracle, given, random."""

from __future__ import annotations

import logging
import random
from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import ClassVar

from seal.core import DataError, Goal, Pool, Query, UsageError
from seal.core.conditions import Asked, Called, Replied
from seal.core.text import goal_name
from seal.core.values import derive_seed
from seal.retrievers.base import Hits, by_place, check_k, ids_of

_log = logging.getLogger(__name__)

# -- Retrievers that know the task: its relevant tools (`oracle`) and those it gives (`given`).


class _OfGoals:
    """Answers a query by the goal of the pool's tasks that it is of."""

    identity: ClassVar[str]
    reads_text: ClassVar[bool] = False
    reads_gold: ClassVar[bool] = True

    OPTIONS: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, pool: Pool) -> None:
        self._ids = ids_of(pool.tools)
        self._known = frozenset(self._ids)
        self._goals = {
            (task.id, position): goal
            for task in pool.tasks
            for position, goal in enumerate(task.goals)
        }

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return the tools of each query's goal.

        Raises:
            UsageError: k is less than 1, or a query names no goal of the pool's tasks, or one that
                does not say which tools are meant.
            DataError: A tool of the goal is not in the pool.
        """
        check_k(k)
        return [self._hits(query, self._goal(query), k) for query in queries]

    def _goal(self, query: Query) -> Goal:
        goal = self._goals.get((query.task_id, query.goal))
        if goal is None:
            raise UsageError(
                f"retriever {self.identity}: no task {query.task_id!r} with "
                f"{goal_name(query.goal)} in the pool; it answers queries about the pool's tasks "
                "alone, so give the pool its tasks or choose a retriever that searches, such as "
                "tfidf"
            )
        return goal

    def _hits(self, query: Query, goal: Goal, k: int) -> Hits:
        raise NotImplementedError

    def _check_known(self, query: Query, verb: str, tools: Iterable[str]) -> None:
        missing = sorted(tool for tool in tools if tool not in self._known)
        if missing:
            raise DataError(
                f"task {query.task_id!r}, {goal_name(query.goal)}, {verb} the tool "
                f"{missing[0]!r}, which the pool does not have: import the benchmark again, "
                "or leave the task out"
            )


class Oracle(_OfGoals):
    """Retrieves the relevant tools of the query's goal with score 1, then the others with score 0.

    It takes `relevant` from the pool's tasks: the ceiling of every retrieval metric. Where none is
    annotated, it takes the tools that the gold calls; where that asks of a world, those offered.
    """

    identity = "oracle"

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        goals = self._goals.values()
        silent = sum(goal.plans is None and not needed(goal) for goal in goals)
        if silent == len(goals) and goals:
            raise UsageError(
                "retriever oracle: no goal of the pool says which tools it needs: choose a "
                "retriever that searches, such as --retriever tfidf"
            )
        if silent:
            _log.warning(
                "retriever oracle: %d of %d goals do not say which tools they need; they are "
                "offered the first tools by id",
                silent,
                len(goals),
            )

    def _hits(self, query: Query, goal: Goal, k: int) -> Hits:
        relevant = needed(goal)
        self._check_known(query, "needs", relevant)
        others = (tool for tool in self._ids if tool not in relevant)
        ranked = chain(((tool, 1.0) for tool in sorted(relevant)), ((tool, 0.0) for tool in others))
        return list(islice(ranked, k))


def needed(goal: Goal) -> set[str]:
    """Return the tools that a goal needs: the relevant, else the called, else the offered ones."""
    plans = goal.plans or ()
    called = {tool for plan in plans for tool in plan.tools()}
    asked = (milestone.condition for plan in plans for milestone in plan.milestones)
    of_world = not all(isinstance(condition, (Called, Asked, Replied)) for condition in asked)
    return set(goal.relevant) or called or set(goal.offered or () if of_world else ())


class Given(_OfGoals):
    """Retrieves exactly the tools that the query's goal offers, in their order.

    The whole list whatever k is: a benchmark that gives tools gives all of them. The scores count
    down to 1: they hold the order, no measure.
    """

    identity = "given"
    complete = True
    """Its rows are never cut at k."""
    measures = False

    def _hits(self, query: Query, goal: Goal, k: int) -> Hits:
        if goal.offered is None:
            raise UsageError(
                f"task {query.task_id!r}, {goal_name(query.goal)}, does not say which tools "
                "are offered: choose a retriever that searches, such as --retriever tfidf"
            )
        self._check_known(query, "offers", goal.offered)
        unique = list(dict.fromkeys(goal.offered))
        return by_place(unique, len(unique))


# -- The floor: tools by seeded chance.


class Random:
    """Retrieves tools by chance, each query by a seed of its own.

    The seed derives from the pool's seed and the query's task, goal and text: neither other queries
    nor their order matter, and the first tools of a longer answer are the shorter one. The scores
    count down from the number of tools: they hold the order, no measure.
    """

    identity = "random"
    measures = False

    OPTIONS: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, pool: Pool) -> None:
        self._ids = ids_of(pool.tools)
        self._seed = pool.seed

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query min(k, pool) tools.

        Raises:
            UsageError: k is less than 1.
        """
        check_k(k)
        return [self._drawn(query, min(k, len(self._ids))) for query in queries]

    def _drawn(self, query: Query, k: int) -> Hits:
        """Draw as Fisher and Yates shuffle, but only as far as k."""
        chance = random.Random(derive_seed(self._seed, query.task_id, query.goal, query.text))
        count = len(self._ids)
        moved: dict[int, int] = {}
        hits: Hits = []
        for position in range(k):
            other = chance.randrange(position, count)
            hits.append((self._ids[moved.get(other, other)], float(count - position)))
            moved[other] = moved.get(position, position)
        return hits
