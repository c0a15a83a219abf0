"""Vectors kept in the answer store, so that no text is embedded twice by one model."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seal.core.canonical import digest
from seal.core.errors import CacheMissError, InfrastructureError, ModelError, shortened
from seal.core.protocols import CacheMode
from seal.core.store import Store
from seal.retrievers.embedders.vectors import Embedder, Matrix, Purpose, Vectors, ask_in_batches

KIND = "embedding"
"""Kind of the entries in the store."""

KEY_VERSION = 1
"""Part of every key; grows when keys are made in another way."""

_NUMBERS = np.dtype("<f4")


class CachedEmbedder:
    """An embedder with its vectors kept by content.

    The key is the SHA-256 of the canonical JSON of the embedder's identity, what the text is for
    (document or query) and the text. Vectors are kept batch by batch, as float32 as they came; of
    two writers the first wins, and both use its vector, so that the last digits, which may depend
    on the rest of a batch, are the same in every run. Rows that are not as they must be are never
    kept.

    Args:
        inner: The embedder; it has an `identity`. Nothing is asked of it for texts that are kept.
        store: Where vectors are kept.
        mode: record: look, else ask and keep; replay: look, never ask.
    """

    def __init__(self, inner: Embedder, store: Store, mode: CacheMode = "record") -> None:
        self.inner = inner
        self.mode = mode
        self.identity = str(getattr(inner, "identity", ""))
        self._store = store

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the rows of documents, as `vectors` does."""
        return self.vectors("document", texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the rows of queries, as `vectors` does."""
        return self.vectors("query", texts)

    def vectors(
        self, purpose: Purpose, texts: Sequence[str], dimension: int | None = None
    ) -> Vectors:
        """Return one row for each text, float32, (n, dimension), of any length.

        Args:
            purpose: What the texts are.
            texts: Equal ones are embedded once.
            dimension: Numbers that a row must have; None: those of the first.

        Raises:
            CacheMissError: Replay mode, and a text has no kept vector.
            InfrastructureError: What is kept is damaged, or cannot be read or written.
            ModelError: The embedder failed, gave no such rows, or what is kept has another
                dimension.
        """
        matrix = Matrix(len(texts), self.identity, dimension)
        missing = self._look_up(purpose, texts, matrix)
        if missing and self.mode == "replay":
            raise CacheMissError(self._miss(purpose, list(missing)))
        for batch, rows in ask_in_batches(self.inner, purpose, list(missing), self.identity):
            matrix.expect(rows, "queries" if purpose == "query" else "documents")
            keys = [self._key(purpose, text) for text in batch]
            for text, row in zip(batch, self._kept(keys, rows), strict=True):
                matrix.put(missing[text], row)
        return matrix.rows

    def _look_up(
        self, purpose: Purpose, texts: Sequence[str], matrix: Matrix
    ) -> Mapping[str, Sequence[int]]:
        """Put the kept vectors in their places, and return the other texts with theirs."""
        missing: dict[str, list[int]] = {}
        keys = [self._key(purpose, text) for text in texts]
        for position, entry in enumerate(self._store.get_each(keys)):
            if entry is None:
                missing.setdefault(texts[position], []).append(position)
                continue
            try:
                matrix.put(position, _decoded(entry))
            except ModelError as error:
                raise ModelError(
                    f"{error}; this one is kept, for {shortened(texts[position])}: choose another "
                    "--cache-dir, or --cache off"
                ) from None
        return missing

    def _kept(self, keys: Sequence[str], rows: Vectors) -> Iterable[Vectors]:
        entries = {
            key: {"embedder": self.identity, "vector": _encoded(row)}
            for key, row in zip(keys, rows, strict=True)
        }
        return map(_decoded, self._store.put_each(entries, KIND))

    def _key(self, purpose: Purpose, text: str) -> str:
        return digest([KEY_VERSION, self.identity, purpose, text])

    def _miss(self, purpose: Purpose, missing: Sequence[str]) -> str:
        more = f" and of {len(missing) - 1} more" if len(missing) > 1 else ""
        return (
            f"no kept vector by {self.identity} of the {purpose} {shortened(missing[0])}{more}: "
            "embed it once with --cache record"
        )


def _encoded(row: Vectors) -> str:
    return base64.b64encode(row.astype(_NUMBERS, copy=False).tobytes()).decode()


def _decoded(entry: Mapping[str, Any]) -> Vectors:
    """Return the row, (dimension,), that an entry holds.

    Raises:
        InfrastructureError: It holds none.
    """
    try:
        numbers = np.frombuffer(base64.b64decode(entry["vector"], validate=True), dtype=_NUMBERS)
    except (KeyError, TypeError, ValueError, binascii.Error) as error:
        raise InfrastructureError(
            f"a kept vector is damaged ({type(error).__name__}: {error}); use another --cache-dir"
        ) from error
    return numbers.astype(np.float32, copy=False)
