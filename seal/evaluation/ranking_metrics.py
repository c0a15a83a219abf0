"""Metrics of rankings (recall, MRR, nDCG), TREC files, and when to offer no tool."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from math import inf, log2, sqrt
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

from seal.core import JSON, Goal, Ranking, Task
from seal.core.arrays import Floats, np
from seal.core.files import AtomicFile
from seal.core.records import query_id, trec_word
from seal.evaluation.goals import GoalChat, GoalMetric, Value, undefined

# -- Ranking metrics at K: recall, mrr, ndcg, all_found; of rankings alone precision and tokens.
#
# Source: the SEAL paper, "Retrieval"; formulas: trec_eval, whose values these are to the last bit.
# All others are in [0, 1]. Relevance is binary but in ndcg, where a goal's label `grades` weighs
# its tools (tool id to a number above 0): the gain of a tool is its grade, as trec_eval has it.
#
# - recall@K: share of the relevant tools among the first K.
# - mrr@K: 1 / rank of the first relevant tool, 0 where that rank is beyond K.
# - ndcg@K: with log2 discounts, against the best order of the relevant tools.
# - all_found@K: 1 where every relevant tool is among the first K.
# - precision@K: share of the first K tools that are relevant. Unlike trec_eval it divides by the
#   tools that there are where a ranking is shorter than K, as under a token budget.
# - tokens@K: what the schemas of the first K tools take of a model's context; no share.
#
# Relevant tools of which any one is enough (`Alternatives`) count as one tool. In the ranking it
# stands in the place of the best of them, under the id of the first. The others are taken out.
#
# Micro means weigh a goal by the number of its relevant tools.

Key = tuple[str, int]
"""Task id and goal."""
Qrels = Mapping[Key, Collection[str]]
"""Goal to the ids of its relevant tools: all are wanted, or one of `Alternatives`."""
MEASURES = ("recall", "mrr", "ndcg", "all_found")
RANKED = (*MEASURES, "precision", "tokens")
"""What is measured of rankings without a chat."""


class Alternatives(tuple[str, ...]):
    """Ids of relevant tools of which any one is enough."""

    __slots__ = ()


class Graded(dict[str, float]):
    """Ids of relevant tools to their grades."""


def grade_of(relevant: Collection[str], tool: str) -> float:
    """Return the grade of a relevant tool, 1 where upstream has none."""
    return relevant.get(tool, 1) if isinstance(relevant, Graded) else 1


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


class _Outcome(NamedTuple):
    """What the metrics of a ranked list depend on: a run has few different ones."""

    relevant: int
    """Number of tools that are wanted."""
    found: tuple[int, ...]
    """Positions, from 0, at which they stand."""
    gains: tuple[float, ...]
    """Of these, in their order."""
    best: tuple[float, ...] = ()
    """Of all that are wanted, the highest first; empty: 1 each."""


def _outcome(tools: Sequence[str], relevant: Collection[str], length: int) -> _Outcome:
    gold = frozenset(wanted(relevant))
    ranked = collapse(tools, relevant)[:length]
    found = [(rank, tool) for rank, tool in enumerate(ranked) if tool in gold]
    grades = relevant if isinstance(relevant, Graded) else {}
    gains = tuple(grades.get(tool, 1) for _, tool in found)
    best = tuple(sorted(grades.values(), reverse=True))
    return _Outcome(len(gold), tuple(rank for rank, _ in found), gains, best)


@lru_cache(maxsize=65536)
def _measured(outcome: _Outcome, ks: tuple[int, ...]) -> dict[str, float]:
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
    """The ranking metrics of a trajectory."""

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
        relevant = _relevant(goal.goal)
        reason = _why_undefined(group, relevant)
        if reason:
            return dict.fromkeys(self.names, undefined(reason))
        outcome = _outcome(merge(group), relevant, max(self.ks))
        measured = _measured(outcome, self.ks)
        return {name: Value(value, outcome.relevant) for name, value in measured.items()}


def measure_rankings(
    rankings: Iterable[Ranking],
    qrels: Qrels,
    ks: Sequence[int] = (1, 5, 10),
    tokens: Mapping[str, int] | None = None,
) -> dict[Key, tuple[float, ...]]:
    """Return the metrics of every goal that has relevant tools and a ranking, without a chat.

    Args:
        rankings: Several of one goal are merged (`merge`). One without hits has 0.
        qrels: Relevant tools.
        ks: Cut-offs, each at least 1.
        tokens: Of each tool's schema; None: neither precision nor tokens are measured.

    Returns:
        Goal to its metrics in the order of `metric_names`, with `tokens` in that of `RANKED`; goals
        stand in the order of `qrels`.
    """
    by_goal = by_goal_of(rankings)
    measured = {}
    for key, relevant in qrels.items():
        if not _why_undefined(by_goal.get(key, ()), relevant):
            tools = merge(by_goal[key])
            outcome = _outcome(tools, relevant, max(ks))
            row = tuple(_measured(outcome, tuple(ks)).values())
            if tokens is not None:
                row += tuple(_precision(outcome, len(collapse(tools, relevant)), ks))
                row += tuple(float(sum(tokens[tool] for tool in tools[:k])) for k in ks)
            measured[key] = row
    return measured


def _precision(outcome: _Outcome, length: int, ks: Sequence[int]) -> Iterator[float]:
    """Yield the precision at every cut-off of a collapsed list of this length."""
    for k in ks:
        found = sum(rank < k for rank in outcome.found)
        yield found / min(k, length) if length else 0.0


def _why_undefined(rankings: Sequence[Ranking], relevant: Collection[str]) -> str:
    if not relevant:
        return "no relevant tools annotated"
    return "" if rankings else "nothing was retrieved: tools were given"


def qrels_of(tasks: Iterable[Task]) -> dict[Key, Collection[str]]:
    """Return the relevant tools of every goal; `Alternatives` where any one is enough, `Graded`."""
    return {(task.id, i): _relevant(goal) for task in tasks for i, goal in enumerate(task.goals)}


def _relevant(goal: Goal) -> Collection[str]:
    if goal.any_relevant:
        return Alternatives(goal.relevant)
    grades = goal.labels.get("grades")
    if not isinstance(grades, dict) or not all(map(_is_grade, grades.values())):
        return goal.relevant
    return Graded({tool: grades.get(tool, 1) for tool in goal.relevant})


def _is_grade(value: JSON) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < inf


def by_goal_of(rankings: Iterable[Ranking]) -> dict[Key, list[Ranking]]:
    """Return the rankings of each goal, in order."""
    grouped: dict[Key, list[Ranking]] = defaultdict(list)
    for ranking in rankings:
        grouped[ranking.task_id, ranking.goal].append(ranking)
    return dict(grouped)


# -- When to offer no tool: how well the score of the first place tells who needs one.
#
# A retriever always names its best tools, also where none serves. Its score is of use where it is
# higher for queries that need a tool than for those that need none.

KEPT = 0.95
"""Share of the queries that need a tool which a threshold must not turn away."""
_Z = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class Calibration:
    """How far the first scores of two kinds of queries lie apart."""

    auroc: float
    """Chance that a query that needs a tool has a higher score than one that needs none, equal
    scores counted half, in [0, 1]; 0.5: the score tells nothing."""
    low: float
    """Bounds of its 95 % interval."""
    high: float
    needing: int
    """Queries that need a tool."""
    without: int
    """Queries that need none."""
    threshold: float
    """The highest score below which at most 5 % of the queries that need a tool lie."""
    turned_away: float
    """Share of the queries that need none whose score is below it, in [0, 1]."""


def calibration(needing: Sequence[float], without: Sequence[float]) -> Calibration | None:
    """Return how well scores tell queries that need a tool from those that need none.

    Sources: Hanley and McNeil, The Meaning and Use of the Area under a ROC Curve, Radiology 143,
    1982 (the area as a chance); DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988 (the
    variance, of which the interval is normal, cut at 0 and 1).

    Args:
        needing: The first scores of queries that need a tool.
        without: Those of queries that need none.

    Returns:
        None where there are fewer than two of a kind.
    """
    if min(len(needing), len(without)) < 2:
        return None
    high, low = np.sort(np.asarray(needing)), np.sort(np.asarray(without))
    above = _share_below(low, high)
    below = 1 - _share_below(high, low)
    auroc = float(above.mean())
    half = _Z * sqrt(above.var(ddof=1) / len(high) + below.var(ddof=1) / len(low))
    threshold = float(high[int((1 - KEPT) * len(high))])
    return Calibration(
        auroc,
        max(0.0, auroc - half),
        min(1.0, auroc + half),
        len(high),
        len(low),
        threshold,
        float((low < threshold).mean()),
    )


def _share_below(ordered: Floats, values: Floats) -> Floats:
    """Return for each value the share of ordered ones below it, equal ones counted half."""
    ends = [np.searchsorted(ordered, values, side=side) for side in ("left", "right")]
    shares: Floats = (ends[0] + ends[1]) / (2 * len(ordered))
    return shares


# -- Rankings and relevant tools as files of TREC.


def write_trec_run(
    path: Path, rankings: Iterable[Ranking], tag: str = "seal", qrels: Qrels | None = None
) -> int:
    """Write rankings as a TREC run file. Returns the number of goals.

    Query ids are `task:goal`. The score column counts down to 1, so that every TREC tool, whatever
    it does with equal scores, sees our order. Blanks and % in ids are percent-encoded.

    Args:
        path: Of the file.
        rankings: Several of one goal are merged (`merge`).
        tag: Name of the run.
        qrels: Whose `Alternatives` stand as one tool (`collapse`), as they do in the qrels file;
            None: every tool stands for itself.
    """
    goals = by_goal_of(rankings)
    with AtomicFile(path) as out:
        for key, group in goals.items():
            tools = collapse(merge(group), (qrels or {}).get(key, ()))
            head, end = f"{query_id(key)} Q0 ", f" {trec_word(tag)}\n"
            lines = (
                f"{head}{trec_word(tool)} {rank + 1} {len(tools) - rank}{end}"
                for rank, tool in enumerate(tools)
            )
            out.write("".join(lines).encode())
    return len(goals)


def write_trec_qrels(path: Path, qrels: Qrels) -> int:
    """Write relevant tools as a TREC qrels file, with their grades; `Alternatives` as their first.

    A grade is written as a whole number where it is one, as trec_eval reads it.

    Returns:
        The number of lines.
    """
    lines = 0
    with AtomicFile(path) as out:
        for key, relevant in qrels.items():
            for tool in wanted(relevant):
                grade = grade_of(relevant, tool)
                out.write(f"{query_id(key)} 0 {trec_word(tool)} {grade:g}\n".encode())
                lines += 1
    return lines
