"""Rows of numbers that an embedder gave: checked, gathered in one array, scaled to length 1."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from seal.core.errors import ModelError, RequestError, shortened

Vectors: TypeAlias = npt.NDArray[np.float32]
Purpose: TypeAlias = Literal["document", "query"]

_TEXTS = 256
"""Texts that an embedder is asked at once where it says nothing itself."""
_ROWS = 4096
"""Rows that are scaled at once, so that what is computed besides stays small."""


class Embedder(Protocol):
    """Turns texts into vectors.

    Three attributes are optional: `identity`, a text that names the weights (without it nothing is
    kept on disk); `embed_queries(texts)` for models that read queries otherwise than documents;
    `batch_size`, the number of texts that are handed over at once (256 where it is missing).
    """

    def embed(self, texts: Sequence[str]) -> Any:
        """Return one row of numbers for each text, (n, dimension), of any length.

        Raises:
            ModelError: A server failed or refused.
        """
        ...


class Matrix:
    """One float32 array, (count, dimension), that is filled piece by piece.

    Args:
        count: Number of rows.
        name: The embedder's, for messages.
        dimension: Numbers in a row; None: as many as the first piece has.
    """

    def __init__(self, count: int, name: str, dimension: int | None = None) -> None:
        self._count = count
        self._name = name
        self._given = dimension is not None
        self._rows: Vectors | None = None if dimension is None else self._empty(dimension)

    @property
    def rows(self) -> Vectors:
        """The array itself, no copy."""
        return self._empty(0) if self._rows is None else self._rows

    def expect(self, rows: Vectors, what: str = "texts") -> Vectors:
        """Return the array that rows, (..., dimension), can be written into.

        Raises:
            ModelError: They have another dimension than the others; `what` says what they are.
        """
        dimension = rows.shape[-1]
        if self._rows is None:
            self._rows = self._empty(dimension)
        if dimension != self._rows.shape[1]:
            others = "the tools" if self._given else "those before"
            raise ModelError(
                f"embedder {self._name}: {what} have {dimension} dimensions, {others} "
                f"{self._rows.shape[1]}: one model must embed all texts"
            )
        return self._rows

    def put(
        self, position: int | slice | Sequence[int], rows: Vectors, what: str = "texts"
    ) -> None:
        """Write one row, (dimension,), or several, (n, dimension).

        Raises:
            ModelError: They have another dimension than the others; `what` says what they are.
        """
        self.expect(rows, what)[position] = rows

    def _empty(self, dimension: int) -> Vectors:
        return np.empty((self._count, dimension), dtype=np.float32)


def ask_in_batches(
    embedder: Embedder, purpose: Purpose, texts: Sequence[str], name: str
) -> Iterator[tuple[Sequence[str], Vectors]]:
    """Yield texts, as many as the embedder takes at once, with their rows, float32 and finite.

    Raises:
        ModelError: The embedder gave no such rows, or its server failed.
    """
    ask = embedder.embed
    if purpose == "query":
        ask = getattr(embedder, "embed_queries", ask)
    size = max(1, int(getattr(embedder, "batch_size", _TEXTS)))
    for start in range(0, len(texts), size):
        batch = texts[start : start + size]
        yield batch, checked_rows(ask(batch), batch, name)


def checked_rows(raw: Any, texts: Sequence[str], name: str) -> Vectors:
    """Return one float32 row for each text, (n, dimension), finite.

    Raises:
        RequestError: A row holds NaN or an infinite number.
        ModelError: What an embedder gave is something else; says what came.
    """
    count = len(texts)
    try:
        with np.errstate(over="ignore"):  # what float32 cannot hold is infinite, and told below
            rows = np.ascontiguousarray(raw, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"embedder {name}: expected {count} rows of numbers, all of one length; "
            f"{_fault_of_rows(raw)}"
        ) from error
    if rows.ndim != 2 or len(rows) != count or rows.shape[1] == 0:
        raise ModelError(
            f"embedder {name}: {count} texts gave an array of shape {rows.shape}, expected "
            f"({count}, dimension)"
        )
    if not np.isfinite(rows).all():
        bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise RequestError(
            f"embedder {name}: row {bad} of {count} holds NaN or an infinite number; its text is "
            f"{shortened(texts[bad])}"
        )
    return rows


def _fault_of_rows(raw: Any) -> str:
    """Return which row keeps rows from being an array, without its numbers."""
    if isinstance(raw, (str, bytes, Mapping)) or not isinstance(raw, Iterable):
        return f"got {shortened(raw)}"
    first: int | None = None
    for position, row in enumerate(raw):
        if isinstance(row, (str, bytes, Mapping)) or not isinstance(row, Collection):
            return f"row {position} is {shortened(row)}"
        odd = next((item for item in row if not _is_number(item)), None)
        if odd is not None:
            return f"row {position} holds {shortened(odd)}"
        first = len(row) if first is None else first
        if len(row) != first:
            return f"row {position} has {len(row)} numbers, row 0 has {first}"
    return f"got a {type(raw).__name__}"


def _is_number(item: Any) -> bool:
    """Tell whether numpy takes an item as a number; None becomes NaN."""
    try:
        np.float32(item)
    except (TypeError, ValueError):
        return False
    return True


def scale_to_unit(vectors: Vectors) -> Vectors:
    """Give every row the length 1, in place, and return the array; a row of zeros stays one."""
    for start in range(0, len(vectors), _ROWS):
        rows = vectors[start : start + _ROWS]
        lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))
        lengths[lengths == 0] = 1
        rows /= lengths[:, None].astype(np.float32)
    return vectors
