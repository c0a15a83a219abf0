"""Retrievers whose score is the inner product of two vectors.

Such a retriever has a function `space(pool)`, which the hybrid joins with that of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_matrix

Matrix: TypeAlias = "csr_matrix | npt.NDArray[np.float32]"
"""Rows of length 1, or 0 where a text says nothing: sparse float64 or dense float32.

Those of TF-IDF are two rows of length sqrt(1/2) side by side, one of which alone may be 0: a text
of stop words has pieces of words, but no words.
"""


class VectorSpace(Protocol):
    """Tools and queries as vectors whose inner product is their cosine, or the mean of two."""

    identity: str
    """Names all that shapes the vectors besides the tools."""

    def documents(self) -> Matrix:
        """Return a row for each tool, in the order of ids, (n, dimension).

        Raises:
            ModelError: An embedder's server failed, or its vectors are none.
        """
        ...

    def queries(self, texts: Sequence[str]) -> Matrix:
        """Return a row for each text, (q, dimension). A row depends on its text alone.

        Raises:
            ModelError: An embedder's server failed, or its vectors are none.
        """
        ...


def unit_rows(rows: csr_matrix) -> csr_matrix:
    """Return sparse rows of length 1; a row of zeros stays one."""
    lengths = np.sqrt(rows.multiply(rows).sum(axis=1)).A1
    lengths[lengths == 0] = 1
    unit = rows.astype(np.float64).tocsr(copy=True)
    unit.data /= np.repeat(lengths, np.diff(unit.indptr))
    return unit
