"""Embedders turn texts into vectors; which one is an option of the `dense` retriever.

An embedder is anything with `embed(texts)`. A name says provider and model (`openai/MODEL`); a name
without a known provider is a sentence-transformers model or a folder that holds one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seal.core.errors import ModelError, UsageError
from seal.core.registry import Registry, load_dotted
from seal.retrievers.contract import refuse_unknown_options

Vectors = npt.NDArray[np.float32]

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"

EMBEDDERS = Registry(
    "embedder",
    "seal.embedders",
    {
        "openai": "seal.retrievers.openai_embedder:OpenAIEmbedder",
        "sentence-transformers": "seal.retrievers.sentence_embedder:SentenceEmbedder",
    },
)


class Embedder(Protocol):
    """Turns texts into vectors.

    Two attributes are optional: `identity`, a text that names the weights (without it nothing is
    kept on disk), and `embed_queries(texts)` for models that read queries otherwise than documents.
    """

    def embed(self, texts: Sequence[str]) -> Any:
        """Return one row of numbers for each text, (n, dimension), of any length.

        Raises:
            ModelError: A server failed or refused.
        """
        ...


class FunctionEmbedder:
    """An embedder made of a function of texts.

    Args:
        function: Texts to rows.
    """

    def __init__(self, function: Callable[[Sequence[str]], Any]) -> None:
        self._function = function

    def embed(self, texts: Sequence[str]) -> Any:
        """Return what the function returns."""
        return self._function(texts)


def build_embedder(what: Any, options: Mapping[str, Any]) -> Embedder:
    """Return an embedder.

    Args:
        what: `provider/model`, a registered name, a sentence-transformers model or its folder, a
            dotted path, or the thing itself: an object with `embed`, a class that takes the
            options, or a function of texts.
        options: The retriever's options; a class gets them with `model` set to the model's name.

    Raises:
        MissingExtraError: The embedder needs a package that is not installed.
        UnknownNameError: An option that a shipped embedder does not know.
        UsageError: No such embedder, or it has no `embed`.
    """
    plugin, model = _resolved(what)
    if hasattr(plugin, "OPTIONS"):
        known = {"model", "template", *plugin.OPTIONS}
        refuse_unknown_options(f"the embedder {what}", options, known)
    if isinstance(plugin, type):
        plugin = plugin({**options, "model": model})
    elif callable(plugin) and not hasattr(plugin, "embed"):
        plugin = FunctionEmbedder(plugin)
    if not callable(getattr(plugin, "embed", None)):
        raise UsageError(
            f"the embedder {what!r} is a {type(plugin).__name__} without a method embed(texts)"
        )
    embedder: Embedder = plugin
    return embedder


def _resolved(what: Any) -> tuple[Any, Any]:
    """Return the plug-in and the name of the model that it is asked for."""
    if not isinstance(what, str):
        return what, what
    provider, _, model = what.partition("/")
    if provider in EMBEDDERS.names():
        return EMBEDDERS.resolve(provider), model
    if ":" in what and not Path(what).exists():
        return load_dotted(what), what
    return EMBEDDERS.resolve("sentence-transformers"), what


def embed_documents(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """Return the unit vectors of documents, float32, (n, dimension).

    Raises:
        ModelError: The embedder gave no such rows, or its server failed.
    """
    return _unit_rows(embedder.embed(texts), len(texts), name_of(embedder))


def embed_queries(embedder: Embedder, texts: Sequence[str], dimension: int) -> Vectors:
    """Return the unit vectors of queries, float32, (n, dimension).

    Each distinct text is embedded once, in the order of the texts: the order of queries never
    reaches a model whose last digits depend on the batch.

    Raises:
        ModelError: The embedder gave no such rows, or its server failed.
    """
    distinct = sorted(set(texts))
    embed = getattr(embedder, "embed_queries", embedder.embed)
    vectors = _unit_rows(embed(distinct), len(distinct), name_of(embedder), dimension)
    position = {text: row for row, text in enumerate(distinct)}
    return vectors[[position[text] for text in texts]]


def name_of(embedder: Embedder) -> str:
    """Return the embedder's identity, else the name of its class."""
    return str(getattr(embedder, "identity", "") or type(embedder).__name__)


def _unit_rows(raw: Any, count: int, name: str, dimension: int | None = None) -> Vectors:
    """Return rows of length 1; a row of zeros stays one, and so is like nothing."""
    try:
        with np.errstate(over="ignore"):  # what float32 cannot hold is infinite, and told below
            rows = np.ascontiguousarray(raw, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"embedder {name}: expected {count} rows of numbers, all of one length ({error})"
        ) from error
    if rows.ndim != 2 or len(rows) != count or rows.shape[1] == 0:
        raise ModelError(
            f"embedder {name}: {count} texts gave an array of shape {rows.shape}, expected "
            f"({count}, dimension)"
        )
    if dimension is not None and rows.shape[1] != dimension:
        raise ModelError(
            f"embedder {name}: queries have {rows.shape[1]} dimensions, the tools {dimension}: one "
            "model must embed both"
        )
    if not np.isfinite(rows).all():
        bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise ModelError(f"embedder {name}: row {bad} of {count} holds NaN or an infinite number")
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))
    lengths[lengths == 0] = 1
    unit: Vectors = rows / lengths[:, None].astype(np.float32)
    return unit


__all__ = ["DEFAULT_MODEL", "EMBEDDERS", "Embedder", "Vectors", "build_embedder"]
