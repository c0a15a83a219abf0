"""Rankings of one retriever over one set of tools, and their metrics as rows of numbers."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from seal.agents.view import fault
from seal.core.errors import InfrastructureError, OptionError, SealError, UnknownNameError
from seal.core.protocols import Pool, Retriever
from seal.core.types import Query, Ranking
from seal.evaluation.retrieval import measure_rankings, metric_names, qrels_of
from seal.experiments.retrieval.contenders import Contender
from seal.experiments.retrieval.draws import Ranked
from seal.retrievers import build_retriever, rank

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_log = logging.getLogger(__name__)

_AT_ONCE = 256
"""Queries in one batch."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One retriever's rankings of one set of tools."""

    identity: str
    """What the built retriever calls itself."""
    rankings: tuple[Ranking, ...]
    """One for each goal that is ranked, also of those without relevant tools."""
    values: Floats
    """(queries with relevant tools, metrics), in the order of the rankings and `metric_names`."""
    rows: dict[tuple[str, int], int]
    """(task id, goal) to its row."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Why a retriever could not be asked."""

    reason: str


def measure(
    contender: Contender, ranked: Ranked, pool: Pool, ks: Sequence[int]
) -> Measured | Unavailable:
    """Build a retriever over a pool, rank its tasks' goals, and score the rankings.

    What only building or asking can tell (a missing key, extra or model, a server that is down, an
    answer that is no ranking, an exception of a plug-in) makes the retriever unavailable here and
    stops nothing else.

    Args:
        contender: The retriever.
        ranked: What is measured.
        pool: The same tools and tasks as the retriever gets them.
        ks: Cut-offs; the largest is the length of a ranking.

    Raises:
        UnknownNameError: The retriever knows no such model's provider, template or option.
        OptionError: An option has a value that it cannot have.
    """
    try:
        retriever = build_retriever(contender.what, pool)
        rankings = tuple(_rankings(retriever, ranked, max(ks)))
        identity = str(getattr(retriever, "identity", "") or contender.label)
    except (UnknownNameError, OptionError):
        raise
    except SealError as error:
        return Unavailable(_reason(error))
    except (Exception, SystemExit) as error:  # what a plug-in may do
        _log.debug("%s failed", contender.label, exc_info=True)
        return Unavailable(_one_line(fault(error)))
    return Measured(identity, rankings, *_values(rankings, ranked, ks))


def _reason(error: SealError) -> str:
    kind = "no answer: " if isinstance(error, InfrastructureError) else ""
    return kind + _one_line(str(error))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _rankings(retriever: Retriever, ranked: Ranked, k: int) -> Iterator[Ranking]:
    known = {tool.id for tool in ranked.tools}
    queries = (
        Query(task.goals[position].text, task.id, position) for task, position in ranked.goals
    )
    while batch := list(islice(queries, _AT_ONCE)):
        yield from rank(retriever, batch, k, known)


def _values(
    rankings: Sequence[Ranking], ranked: Ranked, ks: Sequence[int]
) -> tuple[Floats, dict[tuple[str, int], int]]:
    import numpy as np

    measured = measure_rankings(rankings, qrels_of(ranked.tasks), ks)
    values = np.array(list(measured.values()), dtype=np.float64)
    rows = {key: row for row, key in enumerate(measured)}
    return values.reshape(len(rows), len(metric_names(ks))), rows
