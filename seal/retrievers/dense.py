"""Dense retrieval: any embedder behind one exact index.

Source: the SEAL paper, section 3 (retriever): inner product of unit vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from seal.core.protocols import Pool
from seal.core.types import Query
from seal.retrievers.contract import Hits, check_k, in_order
from seal.retrievers.documents import DEFAULT, documents, template_name
from seal.retrievers.embedders import (
    DEFAULT_MODEL,
    build_embedder,
    embed_documents,
    embed_queries,
    name_of,
)
from seal.retrievers.index_store import kept_index
from seal.retrievers.vector_index import VectorIndex


class Dense:
    """Retrieves by the cosine of embeddings, in [-1, 1].

    Args:
        pool: Options: `model` (see `seal.retrievers.embedders.build_embedder`), `template`, and
            those of the embedder, such as `base_url` and `batch_size`. The index is kept in
            `pool.cache_dir` where the embedder has an `identity`.

    Raises:
        ModelError: The embedder's server failed, or its vectors are none.
        UsageError: No such embedder.
    """

    def __init__(self, pool: Pool) -> None:
        tools = in_order(pool.tools)
        template = pool.options.get("template") or DEFAULT
        model = pool.options.get("model") or DEFAULT_MODEL
        self._embedder = build_embedder(model, pool.options, pool.answers, pool.cache)
        self._ids = [tool.id for tool in tools]
        self._index = self._opened(pool, documents(tools, template), template_name(template))
        self.identity = f"dense/{name_of(self._embedder)}/{template_name(template)}"

    def _opened(self, pool: Pool, texts: list[str], template: str) -> VectorIndex:
        def build() -> VectorIndex:
            return VectorIndex.build(embed_documents(self._embedder, texts))

        embedder = getattr(self._embedder, "identity", "")
        if pool.cache_dir is None or not embedder:
            return build()
        identity = {
            "tools": list(zip(self._ids, texts, strict=True)),
            "template": template,
            "embedder": embedder,
        }
        return kept_index(pool.cache_dir, identity, len(texts), build)

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools nearest to it, equally near ones by id.

        Raises:
            UsageError: k is less than 1.
            ModelError: The embedder's server failed, or its vectors are none.
        """
        check_k(k)
        if not queries:
            return []
        texts = [query.text for query in queries]
        vectors = embed_queries(self._embedder, texts, self._index.dimension)
        return [
            [
                (self._ids[position], score)
                for position, score in zip(found.positions, found.scores, strict=True)
            ]
            for found in self._index.search(vectors, k)
        ]
