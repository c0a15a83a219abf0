"""Ranking metrics through ir-measures: recall@K, mrr@K, ndcg@K, all_found@K.

Source: the SEAL paper, "Retrieval"; formulas: trec_eval, which ir-measures calls. All are in
[0, 1]; relevance is binary.

- recall@K: share of the relevant tools among the first K.
- mrr@K: 1 / rank of the first relevant tool, 0 where that rank is beyond K.
- ndcg@K: with log2 discounts, against the best order of the relevant tools.
- all_found@K: 1 where every relevant tool is among the first K.

Micro means weigh a goal by the number of its relevant tools.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from seal.core.records import AtomicFile
from seal.core.types import Goal, Ranking, Score, Task, Tool, Trajectory
from seal.evaluation.goals import Value, score_goals, undefined

Qrels = Mapping[tuple[str, int], Collection[str]]
"""(task id, goal) to the ids of its relevant tools."""
MEASURES = ("recall", "mrr", "ndcg", "all_found")


def metric_names(ks: Sequence[int]) -> list[str]:
    """Return recall@K..., mrr@K..., ndcg@K..., all_found@K... for every cut-off."""
    return [f"{measure}@{k}" for measure in MEASURES for k in ks]


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


def measure_ranking(
    tools: Sequence[str], relevant: Collection[str], ks: Sequence[int]
) -> dict[str, float]:
    """Return every metric of one ranked list.

    Args:
        tools: Ids, best first, each once.
        relevant: At least one id; repeats count once.
        ks: Cut-offs, each at least 1; a list shorter than K is taken as it is.
    """
    gold = set(relevant)
    found = tuple(rank for rank, tool in enumerate(tools[: max(ks)]) if tool in gold)
    return _measure_found(len(gold), found, tuple(ks))


@lru_cache(maxsize=65536)
def _measure_found(relevant: int, found: tuple[int, ...], ks: tuple[int, ...]) -> dict[str, float]:
    """Return the metrics of a list that has relevant tools at these positions, from 0.

    Positions are all that counts, and a run has few different ones, so ir-measures, which costs
    half a millisecond a query, is asked once for each.
    """
    from ir_measures import RR, R, nDCG, pytrec_eval

    length = max(ks)
    names = [str(position) for position in range(length)]
    gold = [names[position] for position in found]
    gold += [f"absent {number}" for number in range(relevant - len(found))]
    run = {"q": {name: float(length - rank) for rank, name in enumerate(names)}}
    measures = [RR, *(R @ k for k in ks), *(nDCG @ k for k in ks)]
    evaluator = pytrec_eval.evaluator(measures, {"q": dict.fromkeys(gold, 1)})
    values = {str(result.measure): float(result.value) for result in evaluator.iter_calc(run)}
    metrics = {f"recall@{k}": values[f"R@{k}"] for k in ks}
    # trec_eval has no cut-off for the reciprocal rank; beyond rank K it is 0 by definition.
    metrics |= {f"mrr@{k}": values["RR"] if found and found[0] < k else 0.0 for k in ks}
    metrics |= {f"ndcg@{k}": values[f"nDCG@{k}"] for k in ks}
    return metrics | {f"all_found@{k}": float(metrics[f"recall@{k}"] == 1.0) for k in ks}


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The ranking metrics of a trajectory."""

    ks: tuple[int, ...] = (1, 5, 10)
    """Cut-offs, each at least 1."""

    def score(self, task: Task, trajectory: Trajectory, tools: Mapping[str, Tool]) -> list[Score]:
        """Return one score for each goal, metric and cut-off."""
        rankings = _by_goal(trajectory.rankings)

        def measure(position: int, goal: Goal) -> dict[str, Value]:
            return _values(rankings.get((task.id, position), []), goal.relevant, self.ks)

        return score_goals(task, trajectory, metric_names(self.ks), measure)


def score_rankings(
    rankings: Iterable[Ranking], qrels: Qrels, ks: Sequence[int] = (1, 5, 10)
) -> list[Score]:
    """Return the scores of rankings without a chat, trial 0.

    Goals stand in the order of `qrels`, then those that are ranked but not in it.

    Args:
        rankings: Several of one goal are merged (`merge`).
        qrels: Relevant tools; a goal that has none, or no ranking, gets None with a reason. A
            ranking without hits found nothing and scores 0.
        ks: Cut-offs, each at least 1.
    """
    by_goal = _by_goal(rankings)
    scores = []
    for key in dict.fromkeys([*qrels, *by_goal]):
        values = _values(by_goal.get(key, []), qrels.get(key, ()), tuple(ks))
        scores += [values[name].score(key[0], 0, key[1], name) for name in metric_names(ks)]
    return scores


def qrels_of(tasks: Iterable[Task]) -> dict[tuple[str, int], tuple[str, ...]]:
    """Return the relevant tools of every goal."""
    return {(task.id, i): goal.relevant for task in tasks for i, goal in enumerate(task.goals)}


def _by_goal(rankings: Iterable[Ranking]) -> dict[tuple[str, int], list[Ranking]]:
    grouped: dict[tuple[str, int], list[Ranking]] = defaultdict(list)
    for ranking in rankings:
        grouped[ranking.task_id, ranking.goal].append(ranking)
    return dict(grouped)


def _values(
    rankings: Sequence[Ranking], relevant: Collection[str], ks: tuple[int, ...]
) -> dict[str, Value]:
    names = metric_names(ks)
    if not relevant:
        return dict.fromkeys(names, undefined("no relevant tools annotated"))
    if not rankings:
        return dict.fromkeys(names, undefined("nothing was retrieved: tools were given"))
    weight = len(set(relevant))
    metrics = measure_ranking(merge(rankings), relevant, ks)
    return {name: Value(metrics[name], weight) for name in names}


def write_trec_run(path: Path, rankings: Iterable[Ranking], tag: str = "seal") -> int:
    """Write rankings as a TREC run file. Returns the number of goals.

    Query ids are `task:goal`. The score column counts down to 1, so that every TREC tool, whatever
    it does with equal scores, sees our order. Blanks and % in ids are percent-encoded.
    """
    goals = _by_goal(rankings)
    with AtomicFile(path) as out:
        for key, group in goals.items():
            tools = merge(group)
            for rank, tool in enumerate(tools):
                fields = (
                    _query_id(key),
                    "Q0",
                    _word(tool),
                    rank + 1,
                    len(tools) - rank,
                    _word(tag),
                )
                out.write(" ".join(map(str, fields)).encode() + b"\n")
    return len(goals)


def write_trec_qrels(path: Path, qrels: Qrels) -> int:
    """Write relevant tools as a TREC qrels file. Returns the number of lines."""
    lines = 0
    with AtomicFile(path) as out:
        for line in _qrel_lines(qrels):
            out.write(line.encode())
            lines += 1
    return lines


def _qrel_lines(qrels: Qrels) -> Iterator[str]:
    for key, relevant in qrels.items():
        for tool in dict.fromkeys(relevant):
            yield f"{_query_id(key)} 0 {_word(tool)} 1\n"


def _query_id(key: tuple[str, int]) -> str:
    return f"{_word(key[0])}:{key[1]}"


def _word(text: str) -> str:
    """Return the text as one word: blanks and % percent-encoded, the rest as it is."""
    from urllib.parse import quote

    return "".join(quote(c) if c.isspace() or c == "%" else c for c in text)
