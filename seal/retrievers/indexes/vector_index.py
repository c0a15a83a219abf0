"""Search among vectors: the one module that imports Faiss."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from seal.core.errors import DataError
from seal.retrievers.contract import DECIMALS, Hits
from seal.retrievers.indexes.kinds import Flat, Hnsw, IndexKind, Ivf, Sq8

faiss: Any = import_module("faiss")  # its type stubs lack half of what is used here
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
_FLAT = Flat()

Scorer: TypeAlias = Callable[[npt.NDArray[np.intp], npt.NDArray[np.int64]], npt.NDArray[np.float64]]
"""Rows of queries, (r,), and their candidates, (r, width), to the exact scores, (r, width)."""


class Writable(Protocol):
    """Takes bytes."""

    def write(self, data: bytes, /) -> int:
        """Write bytes and return their number."""
        ...


class Readable(Protocol):
    """Gives bytes."""

    def read(self, size: int, /) -> bytes:
        """Return at most `size` bytes; fewer only at the end."""
        ...


class Found(NamedTuple):
    """What one query found, best first, equal scores by position."""

    positions: list[int]
    scores: list[float]
    """Inner products, rounded to 6 decimals."""

    def hits(self, ids: Sequence[str]) -> Hits:
        """Return the hits, of vectors that have these ids by their positions."""
        pairs = zip(self.positions, self.scores, strict=True)
        return [(ids[position], score) for position, score in pairs]


class VectorIndex:
    """Unit vectors behind one Faiss index, searched by inner product.

    Faiss names candidates in float32, whose last digits depend on batch and threads; their scores
    are then computed in float64. Of an exact kind more candidates are asked for until none outside
    them can belong to the answer. Of any kind the answer depends on the vectors and the query
    alone, and has k vectors wherever there are as many.

    Args:
        index: A Faiss index of inner products that can reconstruct its vectors.
        kind: What it is, and how it is searched.
    """

    def __init__(self, index: Any, kind: IndexKind = _FLAT) -> None:
        self._index = index
        self._kind = kind

    @classmethod
    def build(cls, vectors: npt.NDArray[np.float32], kind: IndexKind = _FLAT) -> VectorIndex:
        """Return an index of vectors, float32, (n, dimension), rows of length 1. Seeded.

        Raises:
            UsageError: More lists than vectors.
        """
        index = _empty(vectors.shape, kind)
        with _one_thread():  # the graph depends on the order in which vectors are added
            index.train(vectors)
            index.add(vectors)
        if isinstance(kind, Ivf):
            index.make_direct_map()  # by which vectors are reconstructed
        return cls(index, kind)

    @property
    def count(self) -> int:
        """Number of vectors."""
        return int(self._index.ntotal)

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self._index.d)

    def vectors(self) -> npt.NDArray[np.float32]:
        """Return a copy of all vectors, float32, (n, dimension)."""
        rows: npt.NDArray[np.float32] = self._index.reconstruct_n(0, self.count)
        return rows

    def search(
        self,
        queries: npt.NDArray[np.float32],
        k: int,
        scorer: Scorer | None = None,
        noise: float = _NOISE,
        margin: int = _MARGIN,
    ) -> list[Found]:
        """Return the k nearest vectors of each query, or all where there are fewer.

        Args:
            queries: float32, (q, dimension), rows of length 1 or 0.
            k: At least 1.
            scorer: Gives the exact scores of candidates; None: inner products with the vectors.
            noise: More than an exact score differs from the inner product in the index.
            margin: Candidates beyond k that are asked for at first.
        """
        search = _Search(self._index, self._kind, queries, scorer, noise)
        return search.nearest(min(k, self.count), margin)

    def write(self, file: Writable) -> None:
        """Write the index as Faiss does, piece by piece."""
        faiss.write_index(self._index, faiss.PyCallbackIOWriter(file.write))

    @classmethod
    def read(cls, file: Readable, kind: IndexKind = _FLAT) -> VectorIndex:
        """Return the index that `write` wrote, piece by piece.

        Raises:
            DataError: What is read is no index, or one of another kind.
        """
        try:
            index = faiss.read_index(faiss.PyCallbackIOReader(file.read))
        except RuntimeError as error:
            raise DataError(f"not an index that Faiss {faiss.__version__} can read") from error
        if type(index) is not _CLASSES[type(kind)]:
            raise DataError(f"an index of the kind {type(index).__name__}, expected {kind.name}")
        return cls(index, kind)


class _Search:
    """One search: its queries, and how candidates are found and scored."""

    def __init__(
        self,
        index: Any,
        kind: IndexKind,
        queries: npt.NDArray[np.float32],
        scorer: Scorer | None,
        noise: float,
    ) -> None:
        self._index = index
        self._kind = kind
        self._queries = queries
        self._scorer = scorer or self._inner_products
        self._noise = noise

    def nearest(self, k: int, margin: int) -> list[Found]:
        """Return the k nearest of each query."""
        width = min(k + margin, self._index.ntotal)
        rows = np.arange(len(self._queries))
        if not self._kind.exact:
            with _one_thread():  # for one query, threads cost more than they take off
                return [self._near(row, k, width) for row in rows.tolist()]
        found: list[Found] = []
        for start in range(0, len(rows), _BATCH):
            found.extend(self._certain(rows[start : start + _BATCH], k, width))
        return found

    def _certain(self, rows: npt.NDArray[np.intp], k: int, width: int) -> list[Found]:
        """Widen the candidates until nothing outside them can belong to the answer."""
        found: dict[int, Found] = {}
        while len(found) < len(rows):
            pending = np.array([row for row in rows.tolist() if row not in found])
            rough, candidates = self._index.search(self._queries[pending], width)
            answers = self._best(pending, np.sort(candidates, axis=1), k)
            for row, last, answer in zip(
                pending.tolist(), rough[:, -1].tolist(), answers, strict=True
            ):
                # Nothing outside the candidates scores above the last of them.
                if width == self._index.ntotal or answer.scores[-1] > last + self._noise:
                    found[row] = answer
            width = min(2 * width, self._index.ntotal)
        return [found[row] for row in rows.tolist()]

    def _near(self, row: int, k: int, width: int) -> Found:
        """Return the best of what the index names; of all vectors where it names too few.

        Each query is searched alone: in a batch, products of the coarse centres differ in their
        last digits, and so may the lists that are searched.
        """
        parameters = _parameters(self._kind, width)
        _, named = self._index.search(self._queries[row : row + 1], width, params=parameters)
        positions = np.sort(named[named >= 0])
        if len(positions) < k:
            positions = np.arange(self._index.ntotal)
        [answer] = self._best(np.array([row]), positions[None], k)
        return answer

    def _best(
        self, rows: npt.NDArray[np.intp], positions: npt.NDArray[np.int64], k: int
    ) -> Iterator[Found]:
        """Yield for each row the k best of its candidates, (r, width), ascending."""
        scores = np.round(self._scorer(rows, positions), DECIMALS) + 0.0  # no negative zero
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return map(
            Found,
            np.take_along_axis(positions, order, axis=1).tolist(),
            np.take_along_axis(scores, order, axis=1).tolist(),
        )

    def _inner_products(
        self, rows: npt.NDArray[np.intp], positions: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        width, dimension = positions.shape[1], self._index.d
        scores = np.empty(positions.shape)
        columns = max(1, min(width, _NUMBERS // dimension))
        step = max(1, _NUMBERS // (columns * dimension))
        for start in range(0, len(rows), step):
            queries = self._queries[rows[start : start + step]]
            for left in range(0, width, columns):
                part = positions[start : start + step, left : left + columns]
                vectors = self._index.reconstruct_batch(part.ravel()).reshape(*part.shape, -1)
                scores[start : start + step, left : left + columns] = np.einsum(
                    "qnd,qd->qn", vectors, queries, dtype=np.float64
                )
        return scores


_CLASSES = {
    Flat: faiss.IndexFlatIP,
    Sq8: faiss.IndexScalarQuantizer,
    Hnsw: faiss.IndexHNSWFlat,
    Ivf: faiss.IndexIVFFlat,
}


def _empty(shape: tuple[int, ...], kind: IndexKind) -> Any:
    """Return an index without vectors for vectors of a shape, (n, dimension)."""
    count, dimension = shape
    match kind:
        case Flat():
            return faiss.IndexFlatIP(dimension)
        case Sq8():
            code = faiss.ScalarQuantizer.QT_8bit
            return faiss.IndexScalarQuantizer(dimension, code, faiss.METRIC_INNER_PRODUCT)
        case Hnsw(m, ef_construction):
            graph = faiss.IndexHNSWFlat(dimension, m, faiss.METRIC_INNER_PRODUCT)
            graph.hnsw.efConstruction = ef_construction
            return graph
        case Ivf():
            lists = faiss.IndexIVFFlat(
                faiss.IndexFlatIP(dimension),
                dimension,
                kind.lists_for(count),
                faiss.METRIC_INNER_PRODUCT,
            )
            lists.cp.min_points_per_centroid = 1  # below it Faiss prints a warning
            return lists


def _parameters(kind: IndexKind, width: int) -> Any:
    """Return how an approximate index is searched for `width` vectors."""
    if isinstance(kind, Hnsw):
        return faiss.SearchParametersHNSW(efSearch=max(kind.ef_search, width))
    return faiss.SearchParametersIVF(nprobe=kind.probes) if isinstance(kind, Ivf) else None


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let Faiss work on one thread; other threads of this process are left alone by OpenMP."""
    threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(threads)
