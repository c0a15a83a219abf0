"""A pool as a task of mteb, so that its own code measures any of its models on our tools.

Source: mteb 2, `mteb.abstasks.AbsTaskRetrieval`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seal.core.trec import query_id
from seal.evaluation.ranking_metrics import grade_of, qrels_of
from seal.pools.pool import StoredPool
from seal.retrievers.documents import DEFAULT, documents
from seal.retrievers.embedders.mteb_models import task_metadata


def mteb_task(pool: StoredPool, template: Any = DEFAULT) -> Any:
    """Return a pool's goals that have relevant tools as a retrieval task of mteb.

    Its figures are those of mteb, without the rounding to 5 decimals. Grades are whole numbers
    there, and of tools of which any one is enough all are wanted.

    Args:
        pool: The tools and tasks.
        template: What a model reads of a tool, as the retriever `dense` takes it.

    Raises:
        UsageError: mteb is not installed.
    """
    metadata = task_metadata(pool.name)
    from datasets import Dataset
    from mteb.abstasks import AbsTaskRetrieval

    tasks = list(pool.every_task())
    texts = {(task.id, n): goal.text for task in tasks for n, goal in enumerate(task.goals)}
    qrels = {key: relevant for key, relevant in qrels_of(tasks).items() if relevant}
    tools = pool.tools()
    corpus = [
        {"id": tool.id, "text": text}
        for tool, text in zip(tools, documents(tools, template), strict=True)
    ]
    task = type("PoolTask", (AbsTaskRetrieval,), {"metadata": metadata, **_MEASURED})()
    task.dataset = {
        "default": {
            "test": {
                "corpus": Dataset.from_list(corpus),
                "queries": Dataset.from_list(
                    [{"id": query_id(key), "text": texts[key]} for key in qrels]
                ),
                "relevant_docs": {
                    query_id(key): {tool: max(1, round(grade_of(found, tool))) for tool in found}
                    for key, found in qrels.items()
                },
                "top_ranked": None,
            }
        }
    }
    task.data_loaded = True
    return task


def _whole_means(
    task: Any, scores: Mapping[str, Mapping[str, float]], *_: Any, **__: Any
) -> dict[str, float]:
    """Return the means of the queries' scores, which take the place of the rounded ones."""
    names = {"recall": "recall", "ndcg_cut": "ndcg", "map_cut": "map", "P": "precision"}
    found = {
        f"{own}_at_{k}": [of_query[f"{name}_{k}"] for of_query in scores.values()]
        for name, own in names.items()
        for k in task.k_values
    }
    return {name: sum(values) / len(values) for name, values in found.items()}


_MEASURED = {"task_specific_scores": _whole_means}
