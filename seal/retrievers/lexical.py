"""What retrievers by words share: where a word ends, and exact search among sparse vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

from seal.core.protocols import Pool
from seal.core.text import CJK
from seal.core.types import Query
from seal.retrievers.contract import DECIMALS, Hits, check_k, in_order

WORD = rf"[{CJK}]|[^\W{CJK}]+"
"""Regex of a word. Chinese and Japanese set no blanks: there each character counts as one."""

_CELLS = 4_000_000
"""Scores that are held at once: 32 MB."""


class LexicalRetriever:
    """Retrieves by the inner products of sparse vectors of words, exactly.

    The answer to a query depends on nothing but the pool and its text; safe in threads.

    Args:
        identity: Names all that shapes the scores besides the tools.
        pool: The n tools.
        documents: A row for each tool, in the order of ids, (n, terms).
        queries: Turns texts into rows, (q, terms).
    """

    lexical: ClassVar[bool] = True
    """A score of 0 says that query and tool share no term."""

    def __init__(
        self,
        identity: str,
        pool: Pool,
        documents: csr_matrix,
        queries: Callable[[Sequence[str]], csr_matrix],
    ) -> None:
        self.identity = identity
        self._ids = [tool.id for tool in in_order(pool.tools)]
        self._terms = documents.T.tocsr()  # a product with another layout converts it each time
        self._queries = queries

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest scores, equal ones by id.

        Raises:
            UsageError: k is less than 1.
        """
        check_k(k)
        step = max(1, _CELLS // len(self._ids))
        found: list[Hits] = []
        for start in range(0, len(queries), step):
            texts = [query.text for query in queries[start : start + step]]
            products: Any = self._queries(texts) @ self._terms
            scores = np.round(products.toarray(), DECIMALS)
            found.extend(_best(row, self._ids, k) for row in scores)
        return found


def _best(scores: npt.NDArray[np.float64], ids: Sequence[str], k: int) -> Hits:
    """Return the hits of the k highest scores, equal ones by id.

    Args:
        scores: (n,), rounded, so that equal means equal.
        ids: n tool ids, ascending.
        k: At least 1; more than n gives all.
    """
    lowest = np.partition(scores, -k)[-k] if k < len(scores) else scores.min()
    positions = np.flatnonzero(scores >= lowest)
    positions = positions[np.argsort(-scores[positions], kind="stable")][:k]
    values = scores[positions] + 0.0  # no negative zero in a record
    return [
        (ids[position], value)
        for position, value in zip(positions.tolist(), values.tolist(), strict=True)
    ]
