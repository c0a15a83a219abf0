"""Retrievers that know the task: its relevant tools (`oracle`) and those it gives (`given`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from seal.core import DataError, Goal, Pool, Query, UsageError
from seal.core.conditions import Asked, Called, Replied
from seal.retrievers.contract import Hits, by_place, check_k, in_order


class _Goals:
    """The goals of a pool's tasks, looked up by query."""

    def __init__(self, pool: Pool, retriever: str) -> None:
        self._goals = {
            (task.id, position): goal
            for task in pool.tasks
            for position, goal in enumerate(task.goals)
        }
        self._retriever = retriever

    def of(self, query: Query) -> Goal:
        """Return the query's goal.

        Raises:
            UsageError: The query names no goal of the pool's tasks.
        """
        goal = self._goals.get((query.task_id, query.goal))
        if goal is None:
            raise UsageError(
                f"retriever {self._retriever}: no task {query.task_id!r} with a goal {query.goal} "
                "in the pool; it answers queries about the pool's tasks alone, so give the pool "
                "its tasks or choose a retriever that searches, such as tfidf"
            )
        return goal


class Oracle:
    """Retrieves the relevant tools of the query's goal with score 1, then the others with score 0.

    It takes `relevant` from the pool's tasks: the ceiling of every retrieval metric. Where none is
    annotated, it takes the tools that the gold calls; where that asks of a world, those offered.
    """

    identity = "oracle"
    reads_text = False
    reads_gold = True

    OPTIONS: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, pool: Pool) -> None:
        self._ids = [tool.id for tool in in_order(pool.tools)]
        self._known = frozenset(self._ids)
        self._goals = _Goals(pool, self.identity)

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query min(k, pool) tools.

        Raises:
            UsageError: k is less than 1, or a query names no goal of the pool's tasks.
            DataError: A relevant tool is not in the pool.
        """
        check_k(k)
        return [self._hits(query, k) for query in queries]

    def _hits(self, query: Query, k: int) -> Hits:
        relevant = needed(self._goals.of(query))
        _check_known(query, "needs", relevant, self._known)
        hits: Hits = [(tool, 1.0) for tool in sorted(relevant)][:k]
        others = (tool for tool in self._ids if tool not in relevant)
        hits.extend((tool, 0.0) for tool, _ in zip(others, range(k - len(hits)), strict=False))
        return hits


def needed(goal: Goal) -> set[str]:
    """Return the tools that a goal needs: the relevant, else the called, else the offered ones."""
    plans = goal.plans or ()
    called = {call.tool for plan in plans for call in plan.calls()}
    asked = (milestone.condition for plan in plans for milestone in plan.milestones)
    of_world = not all(isinstance(condition, (Called, Asked, Replied)) for condition in asked)
    return set(goal.relevant) or called or set(goal.offered or () if of_world else ())


class Given:
    """Retrieves exactly the tools that the query's goal offers, in their order.

    The whole list whatever k is: a benchmark that gives tools gives all of them. The scores count
    down to 1: they hold the order, no measure.
    """

    identity = "given"
    complete = True
    """Its rows are never cut at k."""
    reads_text = False
    measures = False
    reads_gold = True

    OPTIONS: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, pool: Pool) -> None:
        self._known: Mapping[str, object] = {tool.id: tool for tool in in_order(pool.tools)}
        self._goals = _Goals(pool, self.identity)

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the offered tools of its goal; an empty list where none is offered.

        Raises:
            UsageError: k is less than 1, or a goal does not say which tools are offered.
            DataError: An offered tool is not in the pool.
        """
        check_k(k)
        return [self._hits(query) for query in queries]

    def _hits(self, query: Query) -> Hits:
        offered = self._goals.of(query).offered
        if offered is None:
            raise UsageError(
                f"task {query.task_id!r}, goal {query.goal}, does not say which tools are offered: "
                "choose a retriever that searches, such as --retriever tfidf"
            )
        _check_known(query, "offers", offered, self._known)
        unique = list(dict.fromkeys(offered))
        return by_place(unique, len(unique))


def _check_known(
    query: Query, verb: str, tools: Iterable[str], known: Mapping[str, object] | frozenset[str]
) -> None:
    missing = sorted(tool for tool in tools if tool not in known)
    if missing:
        raise DataError(
            f"task {query.task_id!r}, goal {query.goal}, {verb} the tool {missing[0]!r}, which the "
            "pool does not have: import the benchmark again, or leave the task out"
        )
