"""Search among vectors, and indexes on disk: the one module that imports Faiss.

An index is `flat`, one that `faiss.index_factory` makes of a text, or a store of another make.
Vectors of the flat one are kept as they are, and searched where they lie. Of another index that
is kept (`seal.retrievers.kept`) the first line says {format, key, count}. Neither writing nor
reading holds a second copy of the vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson

from seal.core import DataError, OptionError
from seal.core.registry import Registry, name_of
from seal.core.text import counted
from seal.core.values import digest
from seal.retrievers.base import DECIMALS, Hits
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
_SOME_DIMENSION = 64
"""Of an index that is made to see whether Faiss reads its text."""
_UNREAD = "could not parse"
_NOISE = 1e-5
"""More than the error of a float32 inner product of unit vectors, in any order of its sum."""
_CANDIDATES = {"efConstruction": 200, "efSearch": 128}
"""Of a graph, while it is built and while it is searched; more where more are wanted."""
_PROBES = 16
"""Lists that a query searches; more than there are: all."""

Scorer: TypeAlias = Callable[[Places, Places], Floats]
"""Rows of queries, (r,), and their candidates, (r, width), to the exact scores, (r, width)."""


class VectorStore(Protocol):
    """A vector database, or any search among vectors of another make."""

    def add(self, vectors: npt.NDArray[np.float32]) -> None:
        """Take all vectors, float32, (n, dimension), rows of length 1; called once."""
        ...

    def search(self, query: npt.NDArray[np.float32], k: int) -> Sequence[int]:
        """Return about the k vectors of the highest inner products, by their rows.

        Args:
            query: float32, (dimension,).
            k: At most as many as there are.
        """
        ...


@dataclass(frozen=True)
class IndexKind:
    """What an index is."""

    name: str
    """`flat`, what `faiss.index_factory` takes, or `own,store=` and the name of a class."""
    store: Callable[[], VectorStore] | None = field(default=None, compare=False, repr=False)
    """Makes an empty store of another make."""


FLAT = IndexKind("flat")
"""All vectors as they are: exact."""
STORES = Registry("vector index", "seal.indexes", {})
INDEX_OPTIONS = frozenset({"index", "m", "ef_construction", "ef_search", "lists", "probes"})
"""The option that chooses an index, and those of earlier versions."""

_GONE = {
    "hnsw": "HNSW32",
    "ivf": "IVF64,Flat",
    "sq8": "SQ8",
    "m": "HNSW32",
    "ef_construction": "HNSW32",
    "ef_search": "HNSW32",
    "lists": "IVF64,Flat",
    "probes": "IVF64,Flat",
}
"""Names and options of earlier versions, and what is written now."""


def index_kind(options: Mapping[str, Any]) -> IndexKind:
    """Return the kind that `index` names, `flat` where it is absent.

    Args:
        options: Of a retriever; those that choose no index are passed over. `index` is a text of
            `faiss.index_factory`, a class that is a `VectorStore`, its dotted path, or an entry
            point of `seal.indexes`.

    Raises:
        UsageError: No such index, or a name or option of an earlier version.
    """
    asked = options.get("index") or FLAT.name
    for old in sorted((INDEX_OPTIONS - {"index"}) & options.keys()):
        raise OptionError(f'{old} is gone: Faiss reads the whole index, as index="{_GONE[old]}"')
    if not isinstance(asked, str) or ":" in asked or asked in STORES:
        return IndexKind(f"own,store={name_of(asked)}", STORES.resolve(asked))
    if asked in _GONE:
        raise OptionError(f'index={asked} is gone: write it as Faiss does, index="{_GONE[asked]}"')
    if asked == FLAT.name:
        return FLAT
    try:
        faiss.index_factory(_SOME_DIMENSION, asked, faiss.METRIC_INNER_PRODUCT)
    except RuntimeError as error:
        if _UNREAD in str(error):
            known = "".join(f"{name}, " for name in STORES.names())
            raise OptionError(
                f"index={asked}: Faiss knows no such index; give flat, {known}or a text of "
                'faiss.index_factory, as index=HNSW32 or index="IVF64,Flat"'
            ) from error
    return IndexKind(asked)


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
    """Unit vectors behind one index, searched by inner product.

    Faiss names candidates in float32, whose last digits depend on batch and threads; their scores
    are then computed in float64, of vectors as the index holds them. Of the exact index more
    candidates are asked for until none outside them can belong to the answer. Of any kind the
    answer depends on the vectors and the query alone, and has k vectors wherever there are as many.

    Args:
        index: A Faiss index of inner products that can reconstruct its vectors, or what is asked as
            one.
    """

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def build(cls, vectors: Floats32, kind: IndexKind = FLAT) -> VectorIndex:
        """Return an index of vectors, float32, (n, dimension), rows of length 1. Seeded.

        Raises:
            UsageError: Faiss makes no such index of these vectors, as one of more lists than
                vectors, or one that holds no vectors.
        """
        if kind == FLAT:
            return cls(_Rows(vectors))
        if kind.store:
            return cls(_Stored(kind.store(), vectors))
        try:
            return cls(_built(vectors, kind.name))
        except RuntimeError as error:
            count, dimension = vectors.shape
            reason = " ".join(str(error).rpartition(" Error: ")[2].split())
            raise OptionError(
                f"index={kind.name}: Faiss makes none of {counted(count, 'vector')} of "
                f"{counted(dimension, 'number')} ({reason}); give another, or index=flat"
            ) from error

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
        search = _Search(self._index, queries, scorer, noise)
        return search.nearest(min(k, self.count), margin)

    def write(self, write: Callable[[bytes], int]) -> None:
        """Write the index as Faiss does, piece by piece."""
        faiss.write_index(self._index, faiss.PyCallbackIOWriter(write))

    @classmethod
    def read(cls, read: Callable[[int], bytes]) -> VectorIndex:
        """Return the index that `write` wrote, piece by piece.

        Raises:
            DataError: What is read is no index.
        """
        try:
            return cls(faiss.read_index(faiss.PyCallbackIOReader(read)))
        except RuntimeError as error:
            raise DataError(f"not an index that Faiss {faiss.__version__} can read") from error


class _Rows:
    """Vectors as they lie, in memory or in a file, with what is asked of a Faiss index."""

    def __init__(self, vectors: Floats32) -> None:
        self.rows = vectors
        self.ntotal, self.d = vectors.shape

    def search(self, queries: Floats32, width: int) -> Any:
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

    def search(self, queries: Floats32, width: int) -> Any:
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
    queries: Floats32
    scorer: Scorer | None
    noise: float

    def nearest(self, k: int, margin: int) -> list[Found]:
        """Return the k nearest of each query."""
        width = min(k + margin, self.index.ntotal)
        rows = np.arange(len(self.queries))
        if type(self.index) is not _Rows:
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
        _, named = self.index.search(self.queries[row : row + 1], width)
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


def _built(vectors: Floats32, text: str) -> Any:
    """Return what `faiss.index_factory` makes of a text, with vectors.

    Raises:
        RuntimeError: It makes none of them, or one that does not hold vectors.
    """
    index = faiss.index_factory(vectors.shape[1], text, faiss.METRIC_INNER_PRODUCT)
    lists = faiss.try_extract_index_ivf(index)
    if lists is not None:
        lists.cp.min_points_per_centroid = 1  # below it Faiss prints a warning
        lists.nprobe = _PROBES
    if isinstance(index, faiss.IndexHNSW):
        for name, candidates in _CANDIDATES.items():
            setattr(index.hnsw, name, candidates)
    with _one_thread():  # the graph depends on the order in which vectors are added
        index.train(vectors)
        index.add(vectors)
    if lists is not None:
        lists.make_direct_map()  # by which vectors are reconstructed
    index.reconstruct_n(0, 1)
    return index


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
    if kind.store:
        return build()
    key = digest(identity)
    path = folder / f"{key}.index"
    if kind == FLAT:
        lying = kept_under(path, key, lambda: {"vectors": build().shared().ravel()})["vectors"]
        return VectorIndex(_Rows(lying.reshape(count, -1)))
    return kept_file(
        path,
        lambda path: read_index(path, key, count),
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


def read_index(path: Path, key: str, count: int) -> VectorIndex:
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
        index = VectorIndex.read(file.read)
    if index.count != count:
        raise DataError(f"index {path} holds {counted(index.count, 'vector')}, expected {count}")
    return index
