"""Dense retrieval: any embedder behind one index, exact unless another kind is asked for.

Source: the SEAL paper, section 3 (retriever): inner product of unit vectors.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from seal.core import Pool, Query
from seal.core.canonical import canonical_json
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
from seal.retrievers.index_kinds import (
    INDEX_OPTIONS,
    Flat,
    IndexKind,
    index_kind,
    index_name,
    shaping,
)
from seal.retrievers.vector_index import VectorIndex, kept_index


class Dense:
    """Retrieves by the cosine of embeddings, in [-1, 1].

    Args:
        pool: Options: `model` (see `seal.retrievers.embedders.build_embedder`), `template`,
            `index` with its parameters (see `seal.retrievers.index_kinds`), and those of the
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
        tools = in_order(pool.tools)
        template = pool.options.get("template") or DEFAULT
        options = {k: v for k, v in pool.options.items() if k not in INDEX_OPTIONS}
        model = options.get("model") or DEFAULT_MODEL
        self._embedder = build_embedder(model, options, pool.answers, pool.cache)
        self._ids = [tool.id for tool in tools]
        texts = documents(tools, template)
        self.identity = f"dense/{name_of(self._embedder)}/{template_name(template)}"
        if not isinstance(kind, Flat):
            self.identity += f"/{index_name(kind)}"
        self._index = self._kept(kind, texts, template_name(template), pool)

    @classmethod
    def space(cls, pool: Pool) -> Dense:
        """Return the tools of a pool as vectors."""
        return cls(pool)

    def retrieve(self, queries: Sequence[Query], k: int) -> list[Hits]:
        """Return for each query the k tools nearest to it, equally near ones by id.

        Raises:
            UsageError: k is less than 1.
            ModelError: The embedder's server failed, or its vectors are none.
        """
        check_k(k)
        if not queries:
            return []
        vectors = self.queries([query.text for query in queries])
        return [found.hits(self._ids) for found in self._index.search(vectors, k)]

    def documents(self) -> Vectors:
        """Return a copy of the embeddings of the tools, float32, (n, dimension)."""
        return self._index.vectors()

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Return the embeddings of texts, float32, (q, dimension).

        Raises:
            ModelError: The embedder's server failed, or its vectors are none.
        """
        return embed_queries(self._embedder, texts, self._index.dimension)

    def _kept(
        self, kind: IndexKind, texts: Sequence[str], template: str, pool: Pool
    ) -> VectorIndex:
        """Return the index of the tools, kept where the embedder has an identity."""

        def build() -> VectorIndex:
            return VectorIndex.build(embed_documents(self._embedder, texts, pool.progress), kind)

        embedder = getattr(self._embedder, "identity", "")
        if pool.cache_dir is None or not embedder:
            return build()
        identity = {
            "tools": _digest_of_each(zip(self._ids, texts, strict=True)),
            "template": template,
            "embedder": embedder,
            **shaping(kind),
        }
        return kept_index(pool.cache_dir, identity, len(self._ids), kind, build)


def _digest_of_each(items: Iterable[Any]) -> str:
    """Return the SHA-256 of JSON values in their order; one of them is held at a time."""
    total = hashlib.sha256()
    for item in items:
        total.update(canonical_json(item) + b"\n")
    return total.hexdigest()
