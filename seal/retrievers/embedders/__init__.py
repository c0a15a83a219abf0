"""Embedders turn texts into vectors; which one is an option of the `dense` retriever.

An embedder is anything with `embed(texts)`. A name says provider and model (`openai/MODEL`); a name
without a known provider is a sentence-transformers model or a folder that holds one. The default,
all-MiniLM-L6-v2, needs no library (`minilm`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from seal.core import CacheMode, ModelError, UsageError
from seal.core.registry import Registry, load_dotted
from seal.core.specs import label_of
from seal.core.store import Store
from seal.retrievers.contract import made_of, refuse_unknown_options
from seal.retrievers.embedders.vectors import (
    CachedEmbedder,
    Matrix,
    Progress,
    Purpose,
    ask_in_batches,
    scale_to_unit,
)
from seal.retrievers.embedders.vectors import Embedder as Embedder
from seal.retrievers.embedders.vectors import Vectors as Vectors

DEFAULT_MODEL = "all-MiniLM-L6-v2"
MAP = "map.json"
"""File of a folder that `seal train-retriever --trains map` wrote, a verb that is gone."""

EMBEDDERS = Registry(
    "embedder",
    "seal.embedders",
    {
        "all-MiniLM-L6-v2": "seal.retrievers.embedders.minilm:MiniLM",
        "gemini": "seal.retrievers.embedders.server_embedders:GeminiEmbedder",
        "mteb": "seal.retrievers.embedders.mteb_models:MtebEmbedder",
        "openai": "seal.retrievers.embedders.server_embedders:OpenAIEmbedder",
        "sentence-transformers": "seal.retrievers.embedders.sentence_transformers:SentenceEmbedder",
    },
)


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


def build_embedder(
    what: Any, options: Mapping[str, Any], answers: Store | None = None, cache: CacheMode = "record"
) -> Embedder:
    """Return an embedder; one that has an `identity` keeps its vectors where there is a store.

    Args:
        what: `provider/model`, a registered name, a sentence-transformers model or its folder, a
            dotted path, or the thing itself: an object with `embed`, a class that takes the
            options, a function of texts, or an encoder of mteb.
        options: The retriever's options; a class gets them with `model` set to the model's name.
        answers: Where vectors are kept (`pool.answers`); None: nowhere.
        cache: How they are used (`pool.cache`); an embedder without identity is asked always.

    Raises:
        MissingExtraError: The embedder needs a package that is not installed.
        UnknownNameError: An option that a shipped embedder does not know.
        UsageError: No such embedder, or it has no `embed`. Or a folder of a linear map, which no
            version reads any more.
    """
    if isinstance(what, str | Path) and (Path(what) / MAP).is_file():
        raise UsageError(
            f"{what} is a linear map that seal train-retriever wrote, which is gone; train a model "
            "as docs/train-a-retriever.md says, and name its folder"
        )
    plugin, model = _resolved(what)
    if hasattr(plugin, "OPTIONS"):
        known = {"model", "template", *plugin.OPTIONS}
        refuse_unknown_options(f"the embedder {what}", options, known)
    if isinstance(plugin, type):
        plugin = made_of(
            plugin,
            {**options, "model": model},
            f"{label_of(plugin)} is no embedder: expected an object with embed(texts), or a class "
            "that takes its options, one map",
        )
    elif callable(plugin) and not hasattr(plugin, "embed"):
        plugin = FunctionEmbedder(plugin)
    if not callable(getattr(plugin, "embed", None)):
        raise UsageError(
            f"the embedder {what!r} is a {type(plugin).__name__} without a method embed(texts)"
        )
    embedder: Embedder = plugin
    if answers is None or cache == "off" or not getattr(embedder, "identity", ""):
        return embedder
    return CachedEmbedder(embedder, answers, cache)


def _resolved(what: Any) -> tuple[Any, Any]:
    """Return the plug-in and the name of the model that it is asked for."""
    if not isinstance(what, str):
        return (EMBEDDERS.resolve("mteb") if hasattr(what, "mteb_model_meta") else what), what
    if what == f"sentence-transformers/{DEFAULT_MODEL}":
        what = DEFAULT_MODEL
    provider, _, model = what.partition("/")
    if provider in EMBEDDERS.names():
        return EMBEDDERS.resolve(provider), model
    if ":" in what and not Path(what).exists():
        return load_dotted(what), what
    return EMBEDDERS.resolve("sentence-transformers"), what


def embed_documents(
    embedder: Embedder, texts: Sequence[str], progress: Progress | None = None
) -> Vectors:
    """Return the unit vectors of documents, float32, (n, dimension), and tell of the progress.

    Raises:
        CacheMissError: Replay mode, and a text has no kept vector.
        ModelError: The embedder gave no such rows, or zeros alone, or its server failed.
    """
    vectors = _rows(embedder, "document", texts, None, progress)
    if len(vectors) and not vectors.any():
        raise ModelError(
            f"embedder {name_of(embedder)}: every number of all {len(texts)} vectors is 0; check "
            "the server and its model"
        )
    return scale_to_unit(vectors)


def embed_queries(embedder: Embedder, texts: Sequence[str], dimension: int) -> Vectors:
    """Return the unit vectors of queries, float32, (n, dimension).

    Each distinct text is embedded once, in the order of the texts: the order of queries never
    reaches a model whose last digits depend on the batch.

    Raises:
        CacheMissError: Replay mode, and a text has no kept vector.
        ModelError: The embedder gave no such rows, or its server failed.
    """
    distinct = sorted(set(texts))
    vectors = scale_to_unit(_rows(embedder, "query", distinct, dimension))
    position = {text: row for row, text in enumerate(distinct)}
    return vectors[[position[text] for text in texts]]


def name_of(embedder: Embedder) -> str:
    """Return the embedder's identity, else the name of its class."""
    return str(getattr(embedder, "identity", "") or type(embedder).__name__)


def _rows(
    embedder: Embedder,
    purpose: Purpose,
    texts: Sequence[str],
    dimension: int | None = None,
    progress: Progress | None = None,
) -> Vectors:
    """Return one row for each text in an array that nobody else holds."""
    if isinstance(embedder, CachedEmbedder):
        return embedder.vectors(purpose, texts, dimension, progress)
    matrix = Matrix(len(texts), name_of(embedder), dimension)
    done = 0
    for batch, rows in ask_in_batches(embedder, purpose, texts, name_of(embedder), progress):
        what = "queries" if purpose == "query" else "documents"
        matrix.expect(rows, what)[done : done + len(batch)] = rows
        done += len(batch)
    return matrix.rows
