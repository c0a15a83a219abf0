"""An embedder behind a trained linear map: the vectors of another one, turned and stretched.

The folder of a map:

    map.npy    float32, (2, dimension, dimension): of queries, of documents
    map.json   {base, base_identity}: the embedder that it was trained for
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from seal.core import DataError, UsageError
from seal.retrievers.embedders import MAP
from seal.retrievers.embedders.vectors import Embedder, Vectors

MATRICES = "map.npy"


def base_of(folder: Path) -> tuple[str, str]:
    """Return the name of the embedder that a map was trained for, and its identity then.

    Raises:
        DataError: The file does not say it.
    """
    try:
        about = json.loads((folder / MAP).read_bytes())
        return str(about["base"]), str(about["base_identity"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{folder / MAP} does not say {error}; train the map again") from error


def write_map(matrices: Vectors, base: str, base_identity: str, folder: Path) -> None:
    """Write a map into a folder; `map.json`, which makes it a map, is written last."""
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / MATRICES, matrices)
    about = {"base": base, "base_identity": base_identity}
    (folder / MAP).write_text(json.dumps(about, indent=1) + "\n")


class LinearMap:
    """Embeds texts by another embedder, and maps what it gives.

    Args:
        folder: Of the map.
        base: The embedder; what it gives is kept as its own vectors are.

    Raises:
        DataError: The matrices are not those of a map.
        UsageError: It was trained for another embedder, or another version of it.
    """

    def __init__(self, folder: Path, base: Embedder) -> None:
        name, trained_for = base_of(folder)
        identity = str(getattr(base, "identity", ""))
        if identity != trained_for:
            raise UsageError(
                f"{folder} was trained for {trained_for or name}, and {identity or name} is here; "
                "train it again"
            )
        content = (folder / MATRICES).read_bytes()
        self._queries, self._documents = _matrices(folder / MATRICES)
        self._base = base
        self.identity = (
            f"{identity}/map@{hashlib.sha256(content).hexdigest()[:16]}" if identity else ""
        )

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each document, float32, (n, dimension)."""
        from seal.retrievers.embedders import embed_documents

        return embed_documents(self._base, texts) @ self._documents

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each query, float32, (n, dimension)."""
        from seal.retrievers.embedders import embed_queries

        return embed_queries(self._base, texts, len(self._queries)) @ self._queries


def _matrices(path: Path) -> tuple[Vectors, Vectors]:
    try:
        found = np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        raise DataError(f"{path} cannot be read ({error}); train the map again") from error
    if found.ndim != 3 or found.shape[0] != 2 or found.shape[1] != found.shape[2]:
        raise DataError(
            f"{path}: expected two square matrices, got the shape {found.shape}; train it again"
        )
    if found.dtype != np.float32 or not np.isfinite(found).all():
        raise DataError(f"{path}: expected finite numbers, float32; train the map again")
    return found[0], found[1]
