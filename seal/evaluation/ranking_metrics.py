"""Metrics of rankings: recall, MRR, nDCG."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from math import isfinite, log2
from typing import NamedTuple

from seal.core import JSON, DataError, Goal, Ranking, shortened
from seal.evaluation.goals import GoalChat, GoalMetric, Value, undefined

# -- Ranking metrics at K: recall, mrr, ndcg, all_found.
#
# Source: the SEAL paper, "Retrieval"; formulas: trec_eval, whose values these are to the last bit.
# All are in [0, 1]. Relevance is binary but in ndcg, where a goal's label `grades` weighs
# its tools (tool id to a number; 0 and below: not relevant): the gain of a tool is its grade, as
# trec_eval has it.
#
# `seal.evaluation.rankings` has those of rankings alone, without a chat.
#
# Relevant tools of which any one is enough (`Alternatives`) count as one tool. In the ranking it
# stands in the place of the best of them, under the id of the first. The others are taken out.
#
# Micro means weigh a goal by the number of its relevant tools.

MEASURES = ("recall", "mrr", "ndcg", "all_found")


class Alternatives(tuple[str, ...]):
    """Ids of relevant tools of which any one is enough."""

    __slots__ = ()


class Graded(dict[str, float]):
    """Ids of relevant tools to their grades."""


def metric_names(ks: Sequence[int], measures: Sequence[str] = MEASURES) -> list[str]:
    """Return recall@K..., mrr@K..., ndcg@K..., all_found@K... for every cut-off."""
    return [f"{measure}@{k}" for measure in measures for k in ks]


def merge(rankings: Iterable[Ranking]) -> list[str]:
    """Return the tool ids of all rankings as one list without repeats.

    A tool has its highest score in any ranking; equal scores stand in the order of ids. One ranking
    is itself; several, as per-step and on-demand retrieval make them, come from one retriever, so
    that their scores compare. On the multi-tool tasks of StableToolBench, split into clauses, this
    found more (recall@10 .784) than dealing the rankings out by rank did (.769).
    """
    best: dict[str, float] = {}
    for ranking in rankings:
        for tool, score in ranking.hits:
            best[tool] = max(best.get(tool, score), score)
    return sorted(best, key=lambda tool: (-best[tool], tool))


def collapse(tools: Iterable[str], relevant: Collection[str]) -> list[str]:
    """Return the tools with `Alternatives` as one: the first of them, where the best one stands.

    Relevant tools that are all wanted leave the list as it is.
    """
    if not isinstance(relevant, Alternatives):
        return list(tools)
    merged = set(relevant)
    return list(dict.fromkeys(relevant[0] if tool in merged else tool for tool in tools))


def wanted(relevant: Collection[str]) -> tuple[str, ...]:
    """Return the relevant tools that a collapsed list is searched for, each once."""
    return tuple(dict.fromkeys(relevant))[: 1 if isinstance(relevant, Alternatives) else None]


class Outcome(NamedTuple):
    """What the metrics of a ranked list depend on: a run has few different ones."""

    relevant: int
    """Number of tools that are wanted."""
    found: tuple[int, ...]
    """Positions, from 0, at which they stand."""
    gains: tuple[float, ...]
    """Of these, in their order."""
    best: tuple[float, ...] = ()
    """Of all that are wanted, the highest first; empty: 1 each."""


def outcome_of(tools: Sequence[str], relevant: Collection[str], length: int) -> Outcome:
    """Return what the metrics of a ranked list of at most `length` tools depend on."""
    gold = frozenset(wanted(relevant))
    ranked = collapse(tools, relevant)[:length]
    found = [(rank, tool) for rank, tool in enumerate(ranked) if tool in gold]
    grades = relevant if isinstance(relevant, Graded) else {}
    gains = tuple(grades.get(tool, 1) for _, tool in found)
    best = tuple(sorted(grades.values(), reverse=True))
    return Outcome(len(gold), tuple(rank for rank, _ in found), gains, best)


@lru_cache(maxsize=65536)
def measured_at(outcome: Outcome, ks: tuple[int, ...]) -> dict[str, float]:
    """Return every metric at every cut-off, in the order of `metric_names`."""
    tops = [[rank for rank in outcome.found if rank < k] for k in ks]
    gains = outcome.best or (1,) * outcome.relevant
    best = [_gain(range(len(gains)), gains[:k]) for k in ks]
    rows = (
        [len(top) / outcome.relevant for top in tops],
        [1 / (top[0] + 1) if top else 0.0 for top in tops],
        [_gain(top, outcome.gains) / first for top, first in zip(tops, best, strict=True)],
        [float(len(top) == outcome.relevant) for top in tops],
    )
    return dict(zip(metric_names(ks), chain.from_iterable(rows), strict=True))


def _gain(ranks: Iterable[int], gains: Iterable[float]) -> float:
    return sum(gain / log2(rank + 2) for rank, gain in zip(ranks, gains, strict=False))


@dataclass(frozen=True)
class Retrieval(GoalMetric):
    """The ranking metrics of a trajectory, bit-identical to trec_eval.

    - recall@K: share of the relevant tools among the first K.
    - mrr@K: 1 / rank of the first relevant tool, 0 where that rank is beyond K.
    - ndcg@K: with log2 discounts, against the best order of the relevant tools.
    - all_found@K: 1 where every relevant tool is among the first K.
    """

    ks: tuple[int, ...] = (1, 5, 10)
    """Cut-offs, each at least 1."""

    main = ("recall", "mrr")

    @cached_property
    def names(self) -> list[str]:
        """Names of the scores: every metric at every cut-off (`metric_names`)."""
        return metric_names(self.ks)

    def measure(self, goal: GoalChat) -> dict[str, Value]:
        """Return the values of one goal."""
        group = [one for one in goal.trajectory.rankings if one.goal == goal.position]
        relevant = relevant_of(goal.goal)
        reason = why_undefined(group, relevant)
        if reason:
            return dict.fromkeys(self.names, undefined(reason))
        outcome = outcome_of(merge(group), relevant, max(self.ks))
        measured = measured_at(outcome, self.ks)
        return {name: Value(value, outcome.relevant) for name, value in measured.items()}


def why_undefined(rankings: Sequence[Ranking], relevant: Collection[str]) -> str:
    """Return why the rankings of a goal have no metrics; empty: they have."""
    if not relevant:
        return "no relevant tools annotated"
    return "" if rankings else "nothing was retrieved: tools were given"


def relevant_of(goal: Goal) -> Collection[str]:
    """Return the relevant tools of a goal: `Alternatives` where any one is enough, `Graded`.

    Raises:
        DataError: A grade is no number; names the tool.
    """
    if goal.any_relevant:
        return Alternatives(goal.relevant)
    grades = goal.labels.get("grades")
    if grades is None:
        return goal.relevant
    if not isinstance(grades, dict):
        raise DataError(f"label grades: expected tools to numbers, got {shortened(grades)}")
    graded = {tool: _grade(tool, grades.get(tool, 1)) for tool in goal.relevant}
    return Graded({tool: grade for tool, grade in graded.items() if grade > 0})


def _grade(tool: str, value: JSON) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not isfinite(value):
        raise DataError(
            f"label grades: the grade of {tool!r} is {shortened(value)}, expected a number; 0 and "
            "below: not relevant"
        )
    return value
