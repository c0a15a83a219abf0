"""Rankings without a chat: their metrics, TREC files, and when to offer no tool."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from pathlib import Path
from statistics import NormalDist

from seal.core import DataError, Ranking, Task
from seal.core.arrays import Floats, np
from seal.core.files import AtomicFile
from seal.core.records import query_id, trec_word
from seal.core.text import goal_name
from seal.evaluation.ranking_metrics import (
    MEASURES,
    Graded,
    Outcome,
    collapse,
    measured_at,
    merge,
    outcome_of,
    relevant_of,
    wanted,
    why_undefined,
)

# -- The metrics of a run (`seal.evaluation.ranking_metrics`) and two of rankings alone.
#
# - precision@K: share of the first K tools that are relevant. Unlike trec_eval it divides by the
#   tools that there are where a ranking is shorter than K, as under a token budget.
# - map@K: the precision at the rank of each relevant tool among the first K, summed and divided by
#   the number of relevant tools (trec_eval: map_cut).
# - rprec@K: share of the R relevant tools among the first R, of a ranking cut at K (Rprec).
# - tokens@K: what the schemas of the first K tools take of a model's context; no share.

Key = tuple[str, int]
"""Task id and goal."""
Qrels = Mapping[Key, Collection[str]]
"""Goal to the ids of its relevant tools: all are wanted, or one of `Alternatives`."""
RANKED = (*MEASURES, "precision", "map", "rprec", "tokens")
"""What is measured of rankings without a chat."""


def grade_of(relevant: Collection[str], tool: str) -> float:
    """Return the grade of a relevant tool, 1 where upstream has none."""
    return relevant.get(tool, 1) if isinstance(relevant, Graded) else 1


def qrels_of(tasks: Iterable[Task]) -> dict[Key, Collection[str]]:
    """Return the relevant tools of every goal; `Alternatives` where any one is enough, `Graded`.

    Raises:
        DataError: A grade is no number; names the task.
    """
    found: dict[Key, Collection[str]] = {}
    for task in tasks:
        for position, goal in enumerate(task.goals):
            try:
                found[task.id, position] = relevant_of(goal)
            except DataError as error:
                raise DataError(f"task {task.id!r}, {goal_name(position)}: {error}") from error
    return found


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
        tokens: Of each tool's schema; None: only the metrics of a run are measured.

    Returns:
        Goal to its metrics in the order of `metric_names`, with `tokens` in that of `RANKED`; goals
        stand in the order of `qrels`.
    """
    by_goal = by_goal_of(rankings)
    measured = {}
    for key, relevant in qrels.items():
        if not why_undefined(by_goal.get(key, ()), relevant):
            tools = merge(by_goal[key])
            outcome = outcome_of(tools, relevant, max(ks))
            row = tuple(measured_at(outcome, tuple(ks)).values())
            if tokens is not None:
                row += tuple(_precision(outcome, len(collapse(tools, relevant)), ks))
                row += tuple(_average_precision(outcome, k) for k in ks)
                row += tuple(_found(outcome, min(outcome.relevant, k)) for k in ks)
                row += tuple(float(sum(tokens[tool] for tool in tools[:k])) for k in ks)
            measured[key] = row
    return measured


def _precision(outcome: Outcome, length: int, ks: Sequence[int]) -> Iterator[float]:
    """Yield the precision at every cut-off of a collapsed list of this length."""
    for k in ks:
        found = sum(rank < k for rank in outcome.found)
        yield found / min(k, length) if length else 0.0


def _average_precision(outcome: Outcome, k: int) -> float:
    ranks = [rank for rank in outcome.found if rank < k]
    return sum((number + 1) / (rank + 1) for number, rank in enumerate(ranks)) / outcome.relevant


def _found(outcome: Outcome, k: int) -> float:
    """Return the share of the relevant tools among the first k."""
    return sum(rank < k for rank in outcome.found) / outcome.relevant


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
    threshold: float | None
    """The highest score below which at most 5 % of the queries that need a tool lie; None: more of
    them than that were named no tool."""
    turned_away: float
    """Share of the queries that need none whose score is below it, in [0, 1]."""


def calibration(needing: Sequence[float], without: Sequence[float]) -> Calibration | None:
    """Return how well scores tell queries that need a tool from those that need none.

    Sources: Hanley and McNeil, The Meaning and Use of the Area under a ROC Curve, Radiology 143,
    1982 (the area as a chance); DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988 (the
    variance, of which the interval is normal, cut at 0 and 1).

    Args:
        needing: The first scores of queries that need a tool; minus infinity where none was named.
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
        threshold if isfinite(threshold) else None,
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
