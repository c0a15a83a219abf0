"""Search among vectors, and indexes on disk: the one module that imports Faiss.

Vectors of an exact index are kept as they are, and searched where they lie. Of another index that
is kept (`seal.retrievers.kept`) the first line says {format, key, count}. Neither writing nor
reading holds a second copy of the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import orjson

from seal.core import DataError
from seal.core.text import counted
from seal.core.values import digest
from seal.retrievers.base import DECIMALS, Hits
from seal.retrievers.index_kinds import Flat, Hnsw, IndexKind, Ivf, Own, Sq8, VectorStore
from seal.retrievers.kept import kept_file, kept_under, opened_signed, write_signed
from seal.retrievers.lexical import Floats32
from seal.retrievers.postings import Floats, Places

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

Scorer: TypeAlias = Callable[[Places, Places], Floats]
"""Rows of queries, (r,), and their candidates, (r, width), to the exact scores, (r, width)."""


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
        index: A Faiss index of inner products that can reconstruct its vectors, or what is asked as
            one.
        kind: What it is, and how it is searched.
    """

    def __init__(self, index: Any, kind: IndexKind = _FLAT) -> None:
        self._index = index
        self._kind = kind

    @classmethod
    def build(cls, vectors: Floats32, kind: IndexKind = _FLAT) -> VectorIndex:
        """Return an index of vectors, float32, (n, dimension), rows of length 1. Seeded.

        Raises:
            UsageError: More lists than vectors.
        """
        if isinstance(kind, Flat):
            return cls(_Rows(vectors), kind)
        if isinstance(kind, Own):
            return cls(_Stored(kind.build(), vectors), kind)
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

    def vectors(self) -> Floats32:
        """Return a copy of all vectors, float32, (n, dimension)."""
        rows: Floats32 = self._index.reconstruct_n(0, self.count)
        return rows

    def shared(self) -> Floats32:
        """Return all vectors as they lie, not to be written to; of an index without, a copy."""
        return self._index.rows if isinstance(self._index, _Rows) else self.vectors()

    def search(
        self,
        queries: Floats32,
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

    def write(self, write: Callable[[bytes], int]) -> None:
        """Write the index as Faiss does, piece by piece."""
        faiss.write_index(self._index, faiss.PyCallbackIOWriter(write))

    @classmethod
    def read(cls, read: Callable[[int], bytes], kind: IndexKind) -> VectorIndex:
        """Return the index that `write` wrote, piece by piece.

        Raises:
            DataError: What is read is no index, or one of another kind.
        """
        try:
            index = faiss.read_index(faiss.PyCallbackIOReader(read))
        except RuntimeError as error:
            raise DataError(f"not an index that Faiss {faiss.__version__} can read") from error
        if type(index) is not _CLASSES.get(type(kind)):
            raise DataError(f"an index of the kind {type(index).__name__}, expected {kind.name}")
        return cls(index, kind)


class _Rows:
    """Vectors as they lie, in memory or in a file, with what is asked of a Faiss index."""

    def __init__(self, vectors: Floats32) -> None:
        self.rows = vectors
        self.ntotal, self.d = vectors.shape

    def search(self, queries: Floats32, width: int, params: None = None) -> Any:
        """Return the highest products of queries, (q, width), descending, and their rows."""
        return faiss.knn(queries, self.rows, width, faiss.METRIC_INNER_PRODUCT)

    def reconstruct_batch(self, positions: Places) -> Floats32:
        """Return vectors by their rows."""
        return self.rows[positions]

    def reconstruct_n(self, first: int, count: int) -> Floats32:
        """Return a copy of some vectors in a row."""
        return self.rows[first : first + count].copy()


class _Stored(_Rows):
    """A store of another make beside its vectors."""

    def __init__(self, store: VectorStore, vectors: Floats32) -> None:
        super().__init__(vectors)
        self._store = store
        store.add(vectors)

    def search(self, queries: Floats32, width: int, params: None = None) -> Any:
        """Return (no scores, candidates (1, about width)); of one query.

        Raises:
            DataError: The store named a row that it was not given, or no whole numbers.
        """
        named = np.asarray(self._store.search(queries[0], width))
        whole = named.ndim == 1 and (named.size == 0 or np.issubdtype(named.dtype, np.integer))
        if not whole or ((named < 0) | (named >= self.ntotal)).any():
            raise DataError(
                f"index {type(self._store).__name__}: search gave {named!r}, expected rows from 0 "
                f"to {self.ntotal - 1}"
            )
        return None, np.unique(named.astype(np.int64))[None]


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: its queries, and how candidates are found and scored."""

    index: Any
    kind: IndexKind
    queries: Floats32
    scorer: Scorer | None
    noise: float

    def nearest(self, k: int, margin: int) -> list[Found]:
        """Return the k nearest of each query."""
        width = min(k + margin, self.index.ntotal)
        rows = np.arange(len(self.queries))
        if not self.kind.exact:
            with _one_thread():  # for one query, threads cost more than they take off
                return [self._near(row, k, width) for row in rows.tolist()]
        found: list[Found] = []
        for start in range(0, len(rows), _BATCH):
            found.extend(self._certain(rows[start : start + _BATCH], k, width))
        return found

    def _certain(self, rows: Places, k: int, width: int) -> list[Found]:
        """Widen the candidates until nothing outside them can belong to the answer."""
        found: dict[int, Found] = {}
        while len(found) < len(rows):
            pending = np.array([row for row in rows.tolist() if row not in found])
            rough, candidates = self.index.search(self.queries[pending], width)
            answers = self._best(pending, np.sort(candidates, axis=1), k)
            for row, last, answer in zip(
                pending.tolist(), rough[:, -1].tolist(), answers, strict=True
            ):
                # Nothing outside the candidates scores above the last of them.
                if width == self.index.ntotal or answer.scores[-1] > last + self.noise:
                    found[row] = answer
            width = min(2 * width, self.index.ntotal)
        return [found[row] for row in rows.tolist()]

    def _near(self, row: int, k: int, width: int) -> Found:
        """Return the best of what the index names; of all vectors where it names too few.

        Each query is searched alone: in a batch, products of the coarse centres differ in their
        last digits, and so may the lists that are searched.
        """
        parameters = _parameters(self.kind, width)
        _, named = self.index.search(self.queries[row : row + 1], width, params=parameters)
        positions = np.sort(named[named >= 0])
        if len(positions) < k:
            positions = np.arange(self.index.ntotal)
        [answer] = self._best(np.array([row]), positions[None], k)
        return answer

    def _best(self, rows: Places, positions: Places, k: int) -> Iterator[Found]:
        """Yield for each row the k best of its candidates, (r, width), ascending."""
        if self.scorer is not None:
            exact = self.scorer(rows, positions)
        else:
            take, queries = self.index.reconstruct_batch, self.queries[rows]
            exact = inner_products(take, self.index.d, queries, positions)
        scores = np.round(exact, DECIMALS) + 0.0  # no negative zero
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return map(
            Found,
            np.take_along_axis(positions, order, axis=1).tolist(),
            np.take_along_axis(scores, order, axis=1).tolist(),
        )


def inner_products(
    take: Callable[[Places], Floats32], dimension: int, queries: Floats32, positions: Places
) -> Floats:
    """Return the products of each query with its candidates, (q, width); few are held at once.

    Args:
        take: Gives the vectors at positions, (n, dimension).
        dimension: Numbers in a vector.
        queries: (q, dimension).
        positions: Of the candidates, (q, width).
    """
    width = positions.shape[1]
    scores = np.empty(positions.shape)
    columns = max(1, min(width, _NUMBERS // dimension))
    step = max(1, _NUMBERS // (columns * dimension))
    for start in range(0, len(queries), step):
        rows = slice(start, start + step)
        for left in range(0, width, columns):
            part = positions[rows, left : left + columns]
            vectors = take(part.ravel()).reshape(*part.shape, -1)
            scores[rows, left : left + columns] = np.einsum(
                "qnd,qd->qn", vectors, queries[rows], dtype=np.float64
            )
    return scores


_CLASSES = {
    Sq8: faiss.IndexScalarQuantizer,
    Hnsw: faiss.IndexHNSWFlat,
    Ivf: faiss.IndexIVFFlat,
}


def _empty(shape: tuple[int, ...], kind: IndexKind) -> Any:
    """Return an index without vectors for vectors of a shape, (n, dimension)."""
    count, dimension = shape
    match kind:
        case Sq8():
            code = faiss.ScalarQuantizer.QT_8bit
            return faiss.IndexScalarQuantizer(dimension, code, faiss.METRIC_INNER_PRODUCT)
        case Hnsw(m, ef_construction):
            graph = faiss.IndexHNSWFlat(dimension, m, faiss.METRIC_INNER_PRODUCT)
            graph.hnsw.efConstruction = ef_construction
            return graph
        case Ivf():
            coarse, metric = faiss.IndexFlatIP(dimension), faiss.METRIC_INNER_PRODUCT
            lists = faiss.IndexIVFFlat(coarse, dimension, kind.lists_for(count), metric)
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


FORMAT = "seal-index/2"
_BEGIN = f'{{"format":"{FORMAT}",'.encode()


def kept_index(
    folder: Path, identity: Any, count: int, kind: IndexKind, build: Callable[[], VectorIndex]
) -> VectorIndex:
    """Return the index kept under an identity; build and keep it where there is none.

    A file that is damaged, or was made for another identity, is built again and replaced. What a
    store of another make holds is its own, and not kept here.

    Args:
        folder: Where indexes are kept; made where it is missing. Nothing is kept in one that can
            only be read or has no space left; the latter is told.
        identity: JSON value of everything that shapes the index.
        count: Number of vectors that the index must have.
        kind: Of the index.
        build: Makes the index. What it raises leaves nothing on disk.
    """
    if isinstance(kind, Own):
        return build()
    key = digest(identity)
    path = folder / f"{key}.index"
    if isinstance(kind, Flat):
        lying = kept_under(path, key, lambda: {"vectors": build().shared().ravel()})["vectors"]
        return VectorIndex(_Rows(lying.reshape(count, -1)), kind)
    return kept_file(
        path,
        lambda path: read_index(path, key, count, kind),
        build,
        lambda path, index: write_index(path, key, index),
    )


def write_index(path: Path, key: str, index: VectorIndex) -> None:
    """Write an index with the key of what shaped it."""

    def write(signed: Callable[[bytes], int]) -> None:
        signed(_head(key, index.count))
        index.write(signed)

    write_signed(path, write)


def _head(key: str, count: int) -> bytes:
    """Return the first line of a file."""
    return orjson.dumps({"format": FORMAT, "key": key, "count": count}) + b"\n"


def read_index(path: Path, key: str, count: int, kind: IndexKind) -> VectorIndex:
    """Return the index of a file.

    Raises:
        DataError: The file is damaged, or holds the index of other tools, of another embedder or of
            another kind.
    """
    with opened_signed(path) as (head, file):
        if not head.startswith(_BEGIN):
            raise DataError(f"index {path} does not start with a line of {FORMAT}")
        if head != _head(key, count):
            raise DataError(
                f"index {path} was made for other tools, another template, another embedder or "
                "another kind of index"
            )
        index = VectorIndex.read(file.read, kind)
    if index.count != count:
        raise DataError(f"index {path} holds {counted(index.count, 'vector')}, expected {count}")
    return index
