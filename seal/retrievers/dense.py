"""Dense retrieval: any embedder behind one index, exact unless another kind is asked for.

Source: the SEAL paper, section 3 (retriever): inner product of unit vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from seal.core.protocols import Pool
from seal.core.types import Query
from seal.retrievers.contract import Hits, check_k, in_order
from seal.retrievers.documents import DEFAULT, documents, template_name
from seal.retrievers.embedders import (
    DEFAULT_MODEL,
    Vectors,
    build_embedder,
    embed_documents,
    embed_queries,
    name_of,
)
from seal.retrievers.indexes.kinds import (
    INDEX_OPTIONS,
    Flat,
    IndexKind,
    index_kind,
    index_name,
    shaping,
)
from seal.retrievers.indexes.store import digest_of_each, kept_index
from seal.retrievers.indexes.vector_index import VectorIndex


class Dense:
    """Retrieves by the cosine of embeddings, in [-1, 1].

    Args:
        pool: Options: `model` (see `seal.retrievers.embedders.build_embedder`), `template`,
            `index` with its parameters (see `seal.retrievers.indexes.kinds`), and those of the
            embedder, such as `base_url` and `batch_size`. The index is kept in `pool.cache_dir`
            where the embedder has an `identity`.

    Raises:
        ModelError: The embedder's server failed, or its vectors are none.
        UsageError: No such embedder or index, or more lists than tools.
    """

    SURE_OPTIONS: ClassVar[frozenset[str]] = frozenset({"model", "template", *INDEX_OPTIONS})
    """Options of its own; others are the embedder's."""

    def __init__(self, pool: Pool) -> None:
        kind = index_kind(pool.options)
        self._space = DenseSpace(pool)
        self._ids = [tool.id for tool in in_order(pool.tools)]
        self._index = self._space.index(kind)
        self.identity = self._space.identity
        if not isinstance(kind, Flat):
            self.identity += f"/{index_name(kind)}"

    @staticmethod
    def space(pool: Pool) -> DenseSpace:
        """Return the tools of a pool as vectors."""
        return DenseSpace(pool)

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools nearest to it, equally near ones by id.

        Raises:
            UsageError: k is less than 1.
            ModelError: The embedder's server failed, or its vectors are none.
        """
        check_k(k)
        if not queries:
            return []
        vectors = self._space.queries([query.text for query in queries])
        return [found.hits(self._ids) for found in self._index.search(vectors, k)]


class DenseSpace:
    """The tools of a pool as embeddings.

    Args:
        pool: As of `Dense`.
    """

    def __init__(self, pool: Pool) -> None:
        tools = in_order(pool.tools)
        template = pool.options.get("template") or DEFAULT
        options = {k: v for k, v in pool.options.items() if k not in INDEX_OPTIONS}
        model = options.get("model") or DEFAULT_MODEL
        self._embedder = build_embedder(model, options, pool.answers, pool.cache)
        self._template = template_name(template)
        self._ids = [tool.id for tool in tools]
        self._texts = documents(tools, template)
        self._folder = pool.cache_dir
        self._dimension = 0
        self.identity = f"dense/{name_of(self._embedder)}/{self._template}"

    def index(self, kind: IndexKind) -> VectorIndex:
        """Return the index of the tools, kept where the embedder has an identity."""

        def build() -> VectorIndex:
            return VectorIndex.build(embed_documents(self._embedder, self._texts), kind)

        embedder = getattr(self._embedder, "identity", "")
        if self._folder is None or not embedder:
            index = build()
        else:
            identity = {
                "tools": digest_of_each(zip(self._ids, self._texts, strict=True)),
                "template": self._template,
                "embedder": embedder,
                **shaping(kind),
            }
            index = kept_index(self._folder, identity, len(self._ids), kind, build)
        self._dimension = index.dimension
        return index

    def documents(self) -> Vectors:
        """Return the embeddings of the tools, float32, (n, dimension).

        Raises:
            ModelError: The embedder's server failed, or its vectors are none.
        """
        return self.index(Flat()).vectors()

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts, float32, (q, dimension), once those of the tools are.

        Raises:
            ModelError: The embedder's server failed, or its vectors are none.
        """
        return embed_queries(self._embedder, texts, self._dimension)
