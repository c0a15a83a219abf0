"""Search among vectors, and indexes on disk: the one module that imports Faiss.

A file of an index is named by the digest of what shaped it. It is one line of JSON (format, key,
count), the index, and the SHA-256 of all before as 64 hexadecimal digits. One process writes it
under a lock while the others wait; it appears whole or not at all. Neither writing nor reading
holds a second copy of the vectors.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson

from seal.core import DataError
from seal.core.canonical import digest
from seal.core.records import AtomicFile
from seal.retrievers.contract import DECIMALS, Hits
from seal.retrievers.index_kinds import Flat, Hnsw, IndexKind, Ivf, Own, Sq8, VectorStore

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

    def write(self, write: Callable[[bytes], int]) -> None:
        """Write the index as Faiss does, piece by piece."""
        faiss.write_index(self._index, faiss.PyCallbackIOWriter(write))

    @classmethod
    def read(cls, read: Callable[[int], bytes], kind: IndexKind = _FLAT) -> VectorIndex:
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


class _Stored:
    """A store of another make beside its vectors, with what is asked of a Faiss index."""

    def __init__(self, store: VectorStore, vectors: npt.NDArray[np.float32]) -> None:
        self._store = store
        self._vectors = vectors
        self.ntotal, self.d = vectors.shape
        store.add(vectors)

    def search(self, queries: npt.NDArray[np.float32], width: int, params: None) -> Any:
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

    def reconstruct_batch(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return vectors by their rows."""
        return self._vectors[positions]

    def reconstruct_n(self, first: int, count: int) -> npt.NDArray[np.float32]:
        """Return a copy of some vectors in a row."""
        return self._vectors[first : first + count].copy()


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

_DIGEST = 64
"""Bytes of the digest at the end."""
_PIECE = 1 << 20
"""Bytes that are read at once."""

_log = logging.getLogger(__name__)


def kept_index(
    folder: Path, identity: Any, count: int, kind: IndexKind, build: Callable[[], VectorIndex]
) -> VectorIndex:
    """Return the index kept under an identity; build and keep it where there is none.

    A file that is damaged, or was made for another identity, is built again and replaced. What a
    store of another make holds is its own, and not kept here.

    Args:
        folder: Where indexes are kept; made where it is missing.
        identity: JSON value of everything that shapes the index.
        count: Number of vectors that the index must have.
        kind: Of the index.
        build: Makes the index. What it raises leaves nothing on disk.
    """
    if isinstance(kind, Own):
        return build()
    key = digest(identity)
    path = folder / f"{key}.index"
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(path.with_suffix(".lock")):
        if path.is_file():
            try:
                return read_index(path, key, count, kind)
            except DataError as error:
                _log.warning("%s; it is built again", error)
        index = build()
        write_index(path, key, index)
        return index


def write_index(path: Path, key: str, index: VectorIndex) -> None:
    """Write an index with the key of what shaped it."""
    head = {"format": FORMAT, "key": key, "count": index.count}
    with AtomicFile(path) as file:
        digested = _Digested(file)
        digested.write(orjson.dumps(head) + b"\n")
        index.write(digested.write)
        file.write(digested.total.hexdigest().encode())


def read_index(path: Path, key: str, count: int, kind: IndexKind) -> VectorIndex:
    """Return the index of a file.

    Raises:
        DataError: The file is damaged, or holds the index of other tools, of another embedder or of
            another kind.
    """
    with path.open("rb") as file:
        head = _head(file.readline(_PIECE))
        start = file.tell()
        if head.get("format") != FORMAT:
            raise DataError(f"index {path} does not start with a line of {FORMAT}")
        if (head.get("key"), head.get("count")) != (key, count):
            raise DataError(
                f"index {path} was made for other tools, another template, another embedder or "
                "another kind of index"
            )
        if not _sound(file, path.stat().st_size - _DIGEST):
            raise DataError(f"index {path} is damaged: its bytes do not have the digest at its end")
        file.seek(start)
        index = VectorIndex.read(file.read, kind)
    if index.count != count:
        raise DataError(f"index {path} holds {index.count} vectors, expected {count}")
    return index


class _Digested:
    """A file that computes the SHA-256 of what is written to it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.total = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Write bytes and return their number."""
        self.total.update(data)
        return self._file.write(data)


def _head(line: bytes) -> dict[str, Any]:
    """Return the first line's map; an empty one where it is none."""
    try:
        head = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return head if isinstance(head, dict) else {}


def _sound(file: BinaryIO, size: int) -> bool:
    """Tell whether the first `size` bytes have the digest that follows them."""
    total = hashlib.sha256()
    file.seek(0)
    left = size
    while left > 0 and (piece := file.read(min(left, _PIECE))):
        total.update(piece)
        left -= len(piece)
    return file.read(_DIGEST) == total.hexdigest().encode()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes and threads out; the lock ends with the process that holds it."""
    try:
        import fcntl
    except ImportError:  # no such locks on Windows: two may build the same index, one file stays
        yield
        return
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
