"""Vectors in an index: one space, or two side by side."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from seal.core import Longer, Pool, Query
from seal.retrievers.base import (
    DEFAULT,
    Documents,
    Hits,
    check_k,
    cut_at_tokens,
    of_worded,
    template_name,
    whole_option,
)
from seal.retrievers.embedders import (
    DEFAULT_MODEL,
    Purpose,
    Vectors,
    build_embedder,
    check_trust,
    embed_documents,
    embed_queries,
    name_of,
)
from seal.retrievers.kept import digest_of, kept_arrays
from seal.retrievers.lexical import Floats32, SparseRows, highest, ranked
from seal.retrievers.postings import Floats, Places
from seal.retrievers.vector_index import (
    FLAT,
    INDEX_OPTIONS,
    IndexKind,
    VectorIndex,
    index_kind,
    inner_products,
    kept_index,
)

# -- Dense retrieval: any embedder behind one index, exact unless another kind is asked for.
#
# Source: the SEAL paper, section 3 (retriever): inner product of unit vectors.


class Dense:
    """Retrieves by the cosine of embeddings, in [-1, 1].

    Args:
        pool: Options: `model` (see `seal.retrievers.embedders.build_embedder`), `template`,
            `cut` (tokens that are embedded of a document or query, a quarter of its bytes each),
            `index` (see `seal.retrievers.vector_index.index_kind`), and those of the embedder,
            such as `base_url` and `batch_size`. The index is kept in `pool.cache_dir` where the
            embedder has an `identity`.

    Raises:
        ModelError: The embedder's server failed, or its vectors are none.
        UsageError: No such embedder or index, or none that Faiss makes of so few tools.
    """

    SURE_OPTIONS: ClassVar[frozenset[str]] = frozenset({"model", "template", "cut", *INDEX_OPTIONS})
    """Options of its own; others are the embedder's."""

    def __init__(self, pool: Pool) -> None:
        check_trust(pool)
        kind = index_kind(pool.options)
        template = pool.options.get("template") or DEFAULT
        documents = Documents(pool.tools, template)
        own = {"cut", *INDEX_OPTIONS}
        options = {name: value for name, value in pool.options.items() if name not in own}
        model = options.get("model") or DEFAULT_MODEL
        self._embedder = build_embedder(model, options, pool.answers, pool.cache)
        self._ids = documents.ids
        self._cut, self._pool = whole_option(pool.options, "cut", 0, 0), pool
        folder = pool.cache_dir if getattr(self._embedder, "identity", "") else None
        self._tell("document", len(self._ids), lambda: self._longer(documents, folder))
        self.identity = f"dense/{name_of(self._embedder)}/{template_name(template)}"
        if self._cut:
            self.identity += f"/cut={self._cut}"
        if kind != FLAT:
            self.identity += f"/{kind.name}"
        self._index = self._kept(kind, documents, template_name(template), folder)

    @classmethod
    def space(cls, pool: Pool) -> Dense:
        """Return the tools of a pool as vectors."""
        return cls(pool)

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools nearest to it, equally near ones by id.

        A query without a word has none.

        Raises:
            UsageError: k is less than 1.
            ModelError: The embedder's server failed, or its vectors are none.
        """
        check_k(k)
        return of_worded(queries, lambda asked: self._nearest(asked, k))

    def _nearest(self, queries: Sequence[Query], k: int) -> list[Hits]:
        vectors = self.queries([query.text for query in queries])
        return [found.hits(self._ids) for found in self._index.search(vectors, k)]

    def documents(self) -> Vectors:
        """Return a copy of the embeddings of the tools, float32, (n, dimension)."""
        return self._index.vectors()

    def shared(self) -> Vectors:
        """Return the embeddings of the tools themselves, which live as long as this retriever."""
        return self._index.shared()

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts, float32, (q, dimension).

        Raises:
            ModelError: The embedder's server failed, or its vectors are none.
        """
        self._tell("query", len(texts), lambda: self._count_longer(texts))
        return embed_queries(self._embedder, self._read(texts), self._index.dimension)

    def _read(self, texts: Sequence[str]) -> Sequence[str]:
        """Return what the embedder gets of texts."""
        return [cut_at_tokens(text, self._cut) for text in texts] if self._cut else texts

    def _tell(self, kind: Purpose, total: int, longer: Callable[[], int]) -> None:
        """Tell the pool how many texts are longer than is read of each."""
        longest = self._cut or getattr(self._asked, "longest", 0)
        if self._pool.longer and longest:
            self._pool.longer(Longer(kind, longer(), total, longest))

    @property
    def _asked(self) -> Any:
        """The embedder itself, behind what keeps its vectors."""
        return getattr(self._embedder, "inner", self._embedder)

    def _count_longer(self, texts: Sequence[str]) -> int:
        if self._cut:
            pairs = zip(self._read(texts), texts, strict=True)
            return sum(len(cut) < len(text) for cut, text in pairs)
        return sum(map(self._asked.is_longer, texts))

    def _longer(self, documents: Documents, folder: Path | None) -> int:
        """Return how many documents are longer, counted once: a tokenizer takes its time."""
        read = f"cut={self._cut}" if self._cut else str(self._asked.longest)
        counted = kept_arrays(
            folder,
            ["longer", name_of(self._embedder), read],
            documents,
            lambda: {"longer": np.array([self._count_longer(documents.texts)])},
        )
        return int(counted["longer"][0])

    def _kept(
        self, kind: IndexKind, documents: Documents, template: str, folder: Path | None
    ) -> VectorIndex:
        """Return the index of the tools, kept where there is a folder."""

        def build() -> VectorIndex:
            texts = self._read(documents.texts)
            vectors = embed_documents(self._embedder, texts, self._pool.progress)
            return VectorIndex.build(vectors, kind)

        if folder is None:
            return build()
        identity = {
            "tools": digest_of(documents),
            "template": template,
            "embedder": name_of(self._embedder),
            "cut": self._cut,
            "index": kind.name,
        }
        return kept_index(folder, identity, len(self._ids), kind, build)


# -- Two vector spaces side by side.
#
# A retriever whose score is the inner product of two vectors has a function `space(pool)`, by which
# the hybrid joins it with another. It may have two more: `cosines(text)`, the products with all
# tools, float64, (n,), and `shared()`, the rows of the tools without a copy.

Matrix: TypeAlias = SparseRows | Floats32
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


_NOISE = 1e-5
"""More than the error of an inner product of float32 numbers."""
_CELLS = 4_000_000
"""Scores that are held at once: 32 MB."""


class _TwoSpaces(ABC):
    """Retrieves by the weighted cosine of two spaces, a few queries at once."""

    _step: int
    """Queries that are answered at once."""

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools of the highest weighted cosines, equal ones by id.

        A query without a word has none.

        Raises:
            UsageError: k is less than 1.
            ModelError: An embedder's server failed, or its vectors are none.
        """
        check_k(k)
        return of_worded(queries, lambda asked: self._highest(asked, k))

    def _highest(self, queries: Sequence[Query], k: int) -> list[Hits]:
        asked = self._asked([query.text for query in queries])
        found: list[Hits] = []
        for start in range(0, len(queries), self._step):
            found.extend(self._best([rows[start : start + self._step] for rows in asked], k))
        return found

    @abstractmethod
    def _asked(self, texts: Sequence[str]) -> list[Any]:
        """Return what each of the spaces is asked by."""

    @abstractmethod
    def _best(self, asked: Sequence[Any], k: int) -> Iterable[Hits]:
        """Return the k best tools of some queries, as both spaces are asked by them."""


class WeightedCosines(_TwoSpaces):
    """Retrieves by the weighted cosine of two spaces, exactly: every tool is scored.

    Args:
        ids: n tool ids, ascending.
        spaces: The two.
        weight: Of the first, in [0, 1].
        dimensions: Part of the name alone.

    Raises:
        ModelError: An embedder's server failed, or its vectors are none.
    """

    def __init__(
        self,
        ids: Sequence[str],
        spaces: tuple[VectorSpace, VectorSpace],
        weight: float,
        dimensions: int,
    ) -> None:
        self._ids = ids
        self._step = max(1, _CELLS // len(ids))
        self.lexical = all(getattr(space, "lexical", False) for space in spaces)
        self.identity = _name(spaces, weight, dimensions, FLAT)
        self._parts = [
            (share, _Cosines(space) if hasattr(space, "cosines") else _Products(space))
            for space, share in zip(spaces, (weight, 1 - weight), strict=True)
        ]

    def _asked(self, texts: Sequence[str]) -> list[Any]:
        return [part.asked(texts) for _, part in self._parts]

    def _best(self, asked: Sequence[Any], k: int) -> Iterator[Hits]:
        rough = [part.products(rows) for (_, part), rows in zip(self._parts, asked, strict=True)]
        for row in range(len(asked[0])):
            total = sum(
                share * products[row]
                for (share, _), products in zip(self._parts, rough, strict=True)
            )
            # What the last digits of float32 may hide is scored again, in float64.
            places = highest(total, k, 2 * _NOISE)
            scores = np.zeros(len(places))
            for (share, part), rows, products in zip(self._parts, asked, rough, strict=True):
                scores += share * part.exact(rows[row : row + 1], products[row], places)
            yield ranked(places, scores, self._ids, k)


class _Cosines:
    """A space that scores all tools by itself."""

    def __init__(self, space: Any) -> None:
        self._space = space

    def asked(self, texts: Sequence[str]) -> Sequence[str]:
        """Return what products are asked by."""
        return texts

    def products(self, texts: Sequence[str]) -> Floats:
        """Return the products of texts with all tools, (q, n)."""
        return np.stack([self._space.cosines(text) for text in texts])

    def exact(self, text: Any, products: Floats, places: Places) -> Floats:
        """Return the products of a text at some places, float64."""
        return products[places]


class _Products:
    """A space of rows."""

    def __init__(self, space: VectorSpace) -> None:
        rows = space.shared() if hasattr(space, "shared") else space.documents()
        self._documents = rows.transposed() if isinstance(rows, SparseRows) else rows
        self.asked = space.queries

    def products(self, queries: Any) -> Any:
        """Return the products of queries with all tools, (q, n): of float32 rows, in float32."""
        if isinstance(self._documents, SparseRows):
            return queries @ self._documents
        return queries @ self._documents.T

    def exact(self, query: Any, products: Any, places: Places) -> Floats:
        """Return the products of a query at some places, float64."""
        if isinstance(self._documents, SparseRows):
            return np.asarray(products[places])
        take = self._documents.__getitem__
        [scores] = inner_products(take, self._documents.shape[1], query, places[None])
        return np.asarray(scores)


def _name(spaces: Sequence[VectorSpace], weight: float, dimensions: int, kind: IndexKind) -> str:
    shares = zip((weight, 1 - weight), spaces, strict=True)
    names = " + ".join(f"{share:g}*{space.identity}" for share, space in shares)
    return f"cosine({names})/{dimensions}/{kind.name}"


# -- Two vector spaces in one index that is not exact.

_NONZERO = 4
"""Numbers of a term's row of the projection that are not 0."""
_DEVIATIONS = 4
"""Standard deviations by which a projected inner product is taken to be wrong at most."""
_MARGIN = 100
"""Candidates beyond k that are scored at first."""
_BATCH = 256
"""Rows that are projected, and queries that are searched, at once."""


class JointSpace(_TwoSpaces):
    """Retrieves by the weighted cosine of two spaces, out of one index that is not exact.

    The index holds both vectors of a tool side by side. Each is scaled by the root of its weight,
    so inner products are weighted cosines. Sparse vectors are projected, which is exact on average;
    so more candidates are asked for than are wanted, and their scores are computed from the vectors
    themselves.

    Args:
        ids: n tool ids, ascending.
        spaces: The two.
        weight: Of the first, in [0, 1].
        dimensions: Numbers that a sparse vector with more terms is projected to, at least 4.
        kind: Of the index.
        folder: Where an index that takes long to build is kept; None: nowhere.

    Raises:
        ModelError: An embedder's server failed, or its vectors are none.
        UsageError: Faiss makes no such index of so few tools.
    """

    _step = _BATCH

    def __init__(
        self,
        ids: Sequence[str],
        spaces: tuple[VectorSpace, VectorSpace],
        weight: float,
        dimensions: int,
        kind: IndexKind,
        folder: Path | None,
    ) -> None:
        self._ids = ids
        self._parts = [
            _Part(space, share, dimensions, seed)
            for seed, (space, share) in enumerate(zip(spaces, (weight, 1 - weight), strict=True))
        ]
        self.lexical = all(getattr(space, "lexical", False) for space in spaces)
        self._noise = _NOISE + sum(part.noise for part in self._parts)
        self._index = _index(self._vectors(), kind, folder)
        self.identity = _name(spaces, weight, dimensions, kind)

    def _asked(self, texts: Sequence[str]) -> list[Any]:
        return [part.space.queries(texts) for part in self._parts]

    def _best(self, queries: Sequence[Any], k: int) -> list[Hits]:
        def score(rows: Places, positions: Places) -> Floats:
            scores = np.zeros(positions.shape)
            for part, asked in zip(self._parts, queries, strict=True):
                scores += part.share * part.cosines(asked[rows], positions)
            return scores

        vectors = np.hstack(
            [part.scaled(asked) for part, asked in zip(self._parts, queries, strict=True)]
        )
        nearest = self._index.search(vectors, k, score, self._noise, _MARGIN)
        return [found.hits(self._ids) for found in nearest]

    def _vectors(self) -> Floats32:
        """Return the vectors of the tools, float32, (n, dimensions of both)."""
        vectors = np.empty((len(self._ids), sum(p.width for p in self._parts)), dtype=np.float32)
        left = 0
        for part in self._parts:
            for start in range(0, len(vectors), _BATCH):
                rows = slice(start, start + _BATCH)
                vectors[rows, left : left + part.width] = part.scaled(part.documents[rows])
            left += part.width
        return vectors


class _Part:
    """One of the two spaces, with its share of the score."""

    def __init__(self, space: VectorSpace, share: float, dimensions: int, seed: int) -> None:
        self.space = space
        self.share = share
        self.documents = space.documents()
        terms = self.documents.shape[1]
        projected = isinstance(self.documents, SparseRows) and terms > dimensions
        self._projection = sparse_projection(terms, dimensions, seed) if projected else None
        self.width = dimensions if projected else terms
        # Off the diagonal the error of a projected inner product of unit vectors has a variance of
        # at most 2 / dimensions; of vectors that are little alike, as most are, about half of it.
        self.noise = _DEVIATIONS * share / np.sqrt(dimensions) if projected else 0.0

    def scaled(self, rows: Matrix) -> Floats32:
        """Return rows as they stand in the index, float32, (r, width)."""
        if not isinstance(rows, SparseRows):
            dense: npt.NDArray[np.floating] = rows
        elif self._projection is None:
            dense = rows.toarray()
        else:
            dense = rows @ self._projection
        scaled: Floats32 = (dense * np.sqrt(self.share)).astype(np.float32)
        return scaled

    def cosines(self, queries: Any, positions: Places) -> Floats:
        """Return the inner products of each query with its candidates, (q, width)."""
        if isinstance(self.documents, SparseRows):
            return _sparse_products(self.documents, queries, positions)
        return inner_products(self.documents.__getitem__, self.width, queries, positions)


def sparse_projection(terms: int, dimensions: int, seed: int) -> SparseRows:
    """Return a random matrix, (terms, dimensions), that keeps inner products on average.

    Each row has 4 numbers of 0.5 or -0.5, one in each quarter of the columns: its length is 1.
    Source: Kane and Nelson (2014), Sparser Johnson-Lindenstrauss Transforms (block construction).

    Args:
        terms: Rows.
        dimensions: Columns, at least 4.
        seed: Equal seeds give equal matrices.
    """
    random = np.random.default_rng(seed)
    edges = np.linspace(0, dimensions, _NONZERO + 1).astype(np.int64)
    columns = random.integers(edges[:-1], edges[1:], size=(terms, _NONZERO))
    signs = random.choice(np.array([-1.0, 1.0]), size=(terms, _NONZERO)) / np.sqrt(_NONZERO)
    starts = np.arange(0, terms * _NONZERO + 1, _NONZERO)
    return SparseRows(signs.ravel(), columns.ravel(), starts, dimensions)


def _sparse_products(documents: SparseRows, queries: SparseRows, positions: Places) -> Floats:
    products = np.empty(positions.shape)
    weights = np.zeros(documents.width)
    for row, candidates in enumerate(positions):
        entries = slice(queries.starts[row], queries.starts[row + 1])
        weights[queries.columns[entries]] = queries.data[entries]
        products[row] = documents[candidates].dot(weights)
        weights[queries.columns[entries]] = 0
    return products


def _index(vectors: Floats32, kind: IndexKind, folder: Path | None) -> VectorIndex:
    """Return the index of vectors."""

    def build() -> VectorIndex:
        return VectorIndex.build(vectors, kind)

    if folder is None:
        return build()
    identity = {"vectors": hashlib.sha256(vectors.data).hexdigest(), "index": kind.name}
    return kept_index(folder, identity, len(vectors), kind, build)
