"""Exact search among vectors: the one module that imports Faiss."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import faiss
import numpy as np
import numpy.typing as npt

from seal.core.errors import DataError
from seal.retrievers.contract import DECIMALS

# Faiss 1.15 does not use BLAS below 128,000 vectors, which makes batches up to 3.6 times slower.
faiss.cvar.distance_compute_blas_threshold = 20

_BATCH = 256
"""Queries that are searched at once."""
_MARGIN = 16
"""Candidates beyond k that are scored again."""
_NUMBERS = 8_000_000
"""Numbers of candidates' vectors that are held at once: 32 MB."""
_NOISE = 1e-5
"""More than the error of a float32 inner product of unit vectors, in any order of its sum."""


class Found(NamedTuple):
    """What one query found, best first, equal scores by position."""

    positions: list[int]
    scores: list[float]
    """Inner products, rounded to 6 decimals."""


class VectorIndex:
    """Unit vectors behind one Faiss index, searched by inner product.

    Faiss names candidates in float32, whose last digits depend on batch and threads; their scores
    are then computed in float64, and more candidates are asked for until none outside them can
    belong to the answer. So the answer depends on the vectors and the query alone.

    Args:
        index: A Faiss index of inner products that can reconstruct its vectors.
    """

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def build(cls, vectors: npt.NDArray[np.float32]) -> VectorIndex:
        """Return an index of vectors, float32, (n, dimension), rows of length 1."""
        index = faiss.IndexFlatIP(vectors.shape[1])
        index.add(vectors)
        return cls(index)

    @property
    def count(self) -> int:
        """Number of vectors."""
        return int(self._index.ntotal)

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self._index.d)

    def search(self, queries: npt.NDArray[np.float32], k: int) -> list[Found]:
        """Return the k nearest vectors of each query, or all where there are fewer.

        Args:
            queries: float32, (q, dimension), rows of length 1 or 0.
            k: At least 1.
        """
        found: list[Found] = []
        for start in range(0, len(queries), _BATCH):
            found.extend(self._search(queries[start : start + _BATCH], min(k, self.count)))
        return found

    def _search(self, queries: npt.NDArray[np.float32], k: int) -> list[Found]:
        found: dict[int, Found] = {}
        width = min(k + _MARGIN, self.count)
        while len(found) < len(queries):
            pending = [row for row in range(len(queries)) if row not in found]
            rough, candidates = self._index.search(queries[pending], width)
            answers = self._best(queries[pending], np.sort(candidates, axis=1), k)
            for row, outside, answer in zip(pending, rough[:, -1].tolist(), answers, strict=True):
                # Nothing outside the candidates scores above the last of them.
                if width == self.count or answer.scores[-1] > outside + _NOISE:
                    found[row] = answer
            width = min(2 * width, self.count)
        return [found[row] for row in range(len(queries))]

    def _best(
        self, queries: npt.NDArray[np.float32], positions: npt.NDArray[np.int64], k: int
    ) -> Iterator[Found]:
        """Yield for each query the k best of its candidates, (q, width), ascending."""
        width = positions.shape[1]
        step = max(1, _NUMBERS // (width * self.dimension))
        for start in range(0, len(queries), step):
            part = positions[start : start + step]
            vectors = self._index.reconstruct_batch(part.ravel()).reshape(*part.shape, -1)
            exact = np.einsum(
                "qnd,qd->qn", vectors, queries[start : start + step], dtype=np.float64
            )
            scores = np.round(exact, DECIMALS) + 0.0  # no negative zero in a record
            order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
            yield from map(
                Found,
                np.take_along_axis(part, order, axis=1).tolist(),
                np.take_along_axis(scores, order, axis=1).tolist(),
            )

    def to_bytes(self) -> memoryview:
        """Return the index as Faiss writes it."""
        data: memoryview = faiss.serialize_index(self._index).data
        return data

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> VectorIndex:
        """Return the index that `to_bytes` wrote.

        Raises:
            DataError: The bytes are no index.
        """
        try:
            return cls(faiss.deserialize_index(np.frombuffer(data, dtype=np.uint8)))
        except RuntimeError as error:
            raise DataError(f"not an index that Faiss {faiss.__version__} can read") from error
