"""Retrieval alone: rankings and their metrics over one or more pools, without a chat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from seal.core.errors import UsageError
from seal.core.protocols import Pool
from seal.core.records import AtomicFile, write_records
from seal.core.secrets import refuse_secret
from seal.core.types import Query, Ranking, Task
from seal.evaluation.retrieval import qrels_of, score_rankings, write_trec_qrels, write_trec_run
from seal.evaluation.statistics import Summariser, groups_of
from seal.pipeline.identity import name_of
from seal.pipeline.places import cache_folder
from seal.pipeline.pools import open_pool
from seal.retrievers import build_retriever, known_options, rank

_AT_ONCE = 256
"""Queries in one batch."""


def retrieve(
    pools: Sequence[str | Path],
    retrievers: Sequence[Any],
    k: Sequence[int] = (1, 5, 10),
    seed: int = 0,
    out: Path | None = None,
    options: Mapping[str, Any] | None = None,
    select: Mapping[str, str] | None = None,
    limit: int | None = None,
    cache_dir: str | Path | None = None,
) -> dict[str, Any]:
    """Rank every goal's tools with every retriever over every pool, and score the rankings.

    Args:
        pools: Names or folders.
        retrievers: Names, dotted paths, classes or objects.
        k: Cut-offs; the largest is the length of a ranking.
        seed: Of random retrieval and of the intervals.
        out: Folder for rankings, TREC run and qrels files; None: none are written.
        options: Of the retrievers.
        select: Tag to the value that a task must have.
        limit: At most so many tasks of each pool.
        cache_dir: Where indexes are kept; None: the usual place.

    Returns:
        {"results": [{pool, pool_digest, tools, queries, retriever, metrics}]}.

    Raises:
        UsageError: No pool, no retriever, a cut-off below 1, or an option that is a service's key.
    """
    refuse_secret("", options or {}, "options")
    if not pools or not retrievers or not k or min(k) < 1:
        raise UsageError("retrieval needs a pool, a retriever and cut-offs of at least 1")
    results = []
    written: Counter[str] = Counter()
    for place in pools:
        pool = open_pool(place)
        tasks = tuple(pool.tasks(select=select, limit=limit))
        indexes = cache_folder(cache_dir) / "indexes"
        searched = Pool(pool.tools(), tasks, seed, indexes, options or {})
        for what in retrievers:
            own = _options_of(what, retrievers, searched.options)
            found = _rank(what, replace(searched, options=own), max(k))
            result = {
                "pool": pool.name,
                "pool_digest": pool.digest,
                "tools": len(pool.tools()),
                "queries": len(found),
                "retriever": str(name_of(what)),
                "metrics": _metrics(found, tasks, tuple(k), seed),
            }
            results.append(result)
            if out is not None:
                _write(out / _folder_name(result, written), found, tasks, result)
    return {"results": results}


def _options_of(what: Any, retrievers: Sequence[Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of one retriever: without those that only others may take."""
    own = known_options(what)
    others = [known_options(other) for other in retrievers if other is not what]
    return {
        name: value
        for name, value in options.items()
        if own is None or name in own or not any(o is None or name in o for o in others)
    }


def _metrics(
    rankings: list[Ranking], tasks: Sequence[Task], k: tuple[int, ...], seed: int
) -> dict[str, Any]:
    summariser = Summariser({task.id: groups_of(task) for task in tasks}, seed)
    for score in score_rankings(rankings, qrels_of(tasks), k):
        summariser.add(score)
    return summariser.metrics()


def _folder_name(result: Mapping[str, Any], written: Counter[str]) -> str:
    """Return POOL-RETRIEVER, with a number where another pool or retriever has that name too."""
    name = re.sub(r"[^A-Za-z0-9._-]+", ".", f"{result['pool']}-{result['retriever']}")
    written[name] += 1
    return name if written[name] == 1 else f"{name}-{written[name]}"


def _rank(what: Any, pool: Pool, k: int) -> list[Ranking]:
    retriever = build_retriever(what, pool)
    known = {tool.id for tool in pool.tools}
    queries = (
        Query(goal.text, task.id, position)
        for task in pool.tasks
        for position, goal in enumerate(task.goals)
    )
    rankings: list[Ranking] = []
    while batch := list(islice(queries, _AT_ONCE)):
        rankings += rank(retriever, batch, k, known)
    return rankings


def _write(
    folder: Path, rankings: list[Ranking], tasks: Sequence[Task], result: dict[str, Any]
) -> None:
    write_records(folder / "rankings.jsonl", rankings)
    write_trec_run(folder / "run.trec", rankings, result["retriever"])
    write_trec_qrels(folder / "qrels.trec", qrels_of(tasks))
    with AtomicFile(folder / "summary.json") as file:
        file.write(orjson.dumps(result, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n")
