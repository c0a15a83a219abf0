"""What a retriever is given, and retrieval for many tasks at once.

A failure costs no task but those that it concerns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seal.core import (
    CacheMissError,
    CacheMode,
    ChatModel,
    InfrastructureError,
    ModelError,
    Pool,
    Query,
    Ranking,
    RequestError,
    SealError,
    Task,
    Tool,
    fault,
)
from seal.core.store import Store
from seal.models import Flagged
from seal.runs.cast import RunModel, find_recording
from seal.runs.spending.ledger import Meter


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was retrieved for tasks before they are played."""

    rankings: Mapping[str, tuple[Ranking, ...]] = field(default_factory=dict)
    """Task id to the rankings of its goals."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """Task id to why nothing could be retrieved for it."""
    outage: str = ""
    """Why the retriever's server failed for the tasks, or for half of them; empty: it did not."""


def rank_tasks(
    rank: Callable[[Sequence[Query]], Sequence[Ranking]], queries: Mapping[str, Sequence[Query]]
) -> Retrieved:
    """Rank the queries of several tasks in one batch.

    Where the batch fails, all its tasks do: a server that is down is not asked once more for each.
    One of its texts may be to blame, where a server refuses it or no vector of it is kept. Then
    halves of the batch are tried, down to single tasks.

    Args:
        rank: Returns one ranking for each query; what it raises of a plug-in or of the
            infrastructure is a failure of these queries.
        queries: Task id to its queries; tasks without any are left out.

    Raises:
        SealError: A fault that concerns every task, such as a retriever whose answer is none.
    """
    try:
        found = rank([query for several in queries.values() for query in several])
    except (RequestError, CacheMissError) as error:
        if len(queries) == 1:
            return Retrieved(failures=dict.fromkeys(queries, str(error)))
        items, middle = list(queries.items()), len(queries) // 2
        one, two = (rank_tasks(rank, dict(half)) for half in (items[:middle], items[middle:]))
        return Retrieved(
            {**one.rankings, **two.rankings},
            {**one.failures, **two.failures},
            one.outage or two.outage,
        )
    except InfrastructureError as error:
        outage = str(error) if isinstance(error, ModelError) else ""
        return Retrieved(failures=dict.fromkeys(queries, str(error)), outage=outage)
    except SealError:
        raise
    except (Exception, SystemExit) as error:  # what a plug-in may do
        return Retrieved(failures=dict.fromkeys(queries, fault(error)))
    rankings: dict[str, tuple[Ranking, ...]] = {}
    for ranking in found:
        rankings[ranking.task_id] = (*rankings.get(ranking.task_id, ()), ranking)
    return Retrieved(rankings)


def search_pool(
    store: Store,
    tools: Sequence[Tool],
    tasks: Sequence[Task] = (),
    *,
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    cache: CacheMode = "record",
    models: Callable[[Any], ChatModel] | None = None,
    meter: Meter | None = None,
) -> Pool:
    """Return the pool that a retriever is built over.

    Args:
        store: Where vectors are kept; indexes lie in `indexes` of its folder. It must stay
            open as long as the retriever is used.
        tools: To choose from.
        tasks: For retrievers that read gold.
        seed: Of what is drawn by chance.
        options: `-R key=value`.
        cache: How vectors and answers are used; `off` keeps no index either.
        models: Opens the language models that a retriever asks; None: those that their names say.
        meter: Counts what these are asked.
    """
    indexes = None if cache == "off" else store.folder / "indexes"

    def opened(what: Any) -> ChatModel:
        asked = RunModel(Flagged.of(what), lambda name: find_recording(name, None))
        return asked.of_retriever(store, cache, meter or Meter())

    return Pool(
        tuple(tools), tuple(tasks), seed, indexes, options or {}, store, cache, models or opened
    )
