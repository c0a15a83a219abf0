"""Embedders by name; vectors checked, scaled, kept."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from seal.core import (
    CacheMissError,
    CacheMode,
    InfrastructureError,
    ModelError,
    OptionError,
    Pool,
    RequestError,
    UsageError,
    shortened,
)
from seal.core.registry import Registry, label_of, load_dotted
from seal.core.store import Store
from seal.core.text import counted
from seal.core.values import digest
from seal.retrievers.base import made_of, refuse_unknown_options

# -- Embedders turn texts into vectors; which one is an option of the `dense` retriever.
#
# An embedder is anything with `embed(texts)`. A name says provider and model (`openai/MODEL`); a
# name without a known provider is a sentence-transformers model or a folder that holds one. The
# default, all-MiniLM-L6-v2, needs no library (`minilm`).

DEFAULT_MODEL = "all-MiniLM-L6-v2"
MAP = "map.json"
"""File of a folder that `seal train-retriever --trains map` wrote, a verb that is gone."""

EMBEDDERS = Registry(
    "embedder",
    "seal.embedders",
    {
        "all-MiniLM-L6-v2": "seal.retrievers.minilm:MiniLM",
        "gemini": "seal.retrievers.server_embedders:GeminiEmbedder",
        "openai": "seal.retrievers.server_embedders:OpenAIEmbedder",
        "sentence-transformers": "seal.retrievers.library_embedders:SentenceEmbedder",
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


TRUST = "trust_remote_code"
ALLOWED = "sentence_transformers"
"""The module that a user allows (`allow_code`) to let a model run the code that comes with it."""


def check_trust(pool: Pool) -> None:
    """Refuse to run the code of a model, unless the user allows it beside the option.

    Raises:
        OptionError: The option is neither true nor false, or the user does not allow `ALLOWED`.
    """
    asked = pool.options.get(TRUST, False)
    if not isinstance(asked, bool):
        raise OptionError(f"{TRUST}={asked}: expected true or false")
    if asked and ALLOWED not in pool.allow_code:
        raise OptionError(
            f"{TRUST}=true runs the Python code that comes with the model; if you trust it, give "
            f"--allow-code {ALLOWED} too"
        )


def build_embedder(
    what: Any, options: Mapping[str, Any], answers: Store | None = None, cache: CacheMode = "record"
) -> Embedder:
    """Return an embedder; one that has an `identity` keeps its vectors where there is a store.

    Args:
        what: `provider/model`, a registered name, a sentence-transformers model or its folder, a
            dotted path, or the thing itself: an object with `embed`, a class that takes the
            options, or a function of texts.
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
        return what, what
    if what == f"sentence-transformers/{DEFAULT_MODEL}":
        what = DEFAULT_MODEL
    provider, _, model = what.partition("/")
    if provider == "mteb":
        raise UsageError(f"{what}: mteb/ is gone; give the name of a sentence-transformers model")
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


# -- Rows of numbers that an embedder gave: checked, gathered, scaled to length 1, and kept.
#
# They are kept in the answer store, so that no text is embedded twice by one model.

Vectors: TypeAlias = npt.NDArray[np.float32]
Purpose: TypeAlias = Literal["document", "query"]
Progress: TypeAlias = Callable[[int, int], None]
"""Told how many texts are embedded, and how many are to be."""

_TEXTS = 256
"""Texts that an embedder is asked at once where it says nothing itself."""
_ROWS = 4096
"""Rows that are scaled at once, so that what is computed besides stays small."""


class Embedder(Protocol):
    """Turns texts into vectors.

    Some attributes are optional: `identity`, a text that names the weights (without it nothing is
    kept on disk); `embed_queries(texts)` for models that read queries otherwise than documents;
    `batch_size`, the number of texts that are handed over at once (256 where it is missing);
    `longest`, the tokens that are read of a text, with `is_longer(text)`.
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
        self._name = name
        self._given = self._is_made = dimension is not None
        self.rows: Vectors = np.empty((count, dimension or 0), dtype=np.float32)
        """The array itself, no copy; without columns until there is a piece."""

    def expect(self, rows: Vectors, what: str = "texts") -> Vectors:
        """Return the array that rows, (..., dimension), can be written into.

        Raises:
            ModelError: They have another dimension than the others; `what` says what they are.
        """
        dimension = rows.shape[-1]
        if not self._is_made:
            self.rows = np.empty((len(self.rows), dimension), dtype=np.float32)
            self._is_made = True
        if dimension != self.rows.shape[1]:
            others = "the tools" if self._given else "those before"
            raise ModelError(
                f"embedder {self._name}: {what} have {counted(dimension, 'dimension')}, {others} "
                f"{self.rows.shape[1]}: one model must embed all texts"
            )
        return self.rows


def ask_in_batches(
    embedder: Embedder,
    purpose: Purpose,
    texts: Sequence[str],
    name: str,
    progress: Progress | None = None,
) -> Iterator[tuple[Sequence[str], Vectors]]:
    """Yield texts, as many as the embedder takes at once, with their rows, float32 and finite.

    `progress` is told of each batch but the only one.

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
        if progress is not None and len(texts) > size:
            progress(start + len(batch), len(texts))


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
            f"embedder {name}: expected {counted(count, 'row')} of numbers, all of one length; "
            f"{_fault_of_rows(raw)}"
        ) from error
    if rows.ndim != 2 or len(rows) != count or rows.shape[1] == 0:
        raise ModelError(
            f"embedder {name}: {counted(count, 'text')} gave an array of shape {rows.shape}, "
            f"expected ({count}, dimension){_UNPOOLED if rows.ndim > 2 else ''}"
        )
    if not np.isfinite(rows).all():
        bad = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
        raise RequestError(
            f"embedder {name}: row {bad} of {count} holds NaN or an infinite number; its text is "
            f"{shortened(texts[bad])}"
        )
    return rows


_UNPOOLED = (
    ". It gives a row for each token of a text: start its server so that it pools them (llama.cpp: "
    "--pooling mean)"
)


def _fault_of_rows(raw: Any) -> str:
    """Return which row keeps rows from being an array, without its numbers."""
    if isinstance(raw, (str, bytes, Mapping)) or not isinstance(raw, Iterable):
        return f"got {shortened(raw)}"
    first: int | None = None
    for position, row in enumerate(raw):
        if isinstance(row, (str, bytes, Mapping)) or not isinstance(row, Collection):
            return f"row {position} is {shortened(row)}"
        if any(isinstance(item, (list, tuple)) for item in row):
            return f"row {position} holds rows{_UNPOOLED}"
        odd = next((item for item in row if not _is_number(item)), None)
        if odd is not None:
            return f"row {position} holds {shortened(odd)}"
        first = len(row) if first is None else first
        if len(row) != first:
            return f"row {position} has {counted(len(row), 'number')}, row 0 has {first}"
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


KIND = "embedding"
"""Kind of the entries in the store."""

KEY_VERSION = 1
"""Part of every key; grows when keys are made in another way."""

_NUMBERS = np.dtype("<f4")
_PROBE = "Tell me the weather in Bern, and book a table for two on Friday at half past seven."
"""A text by whose vector a model behind a name is known again."""
_SAME = 0.99
"""Cosine of two vectors that one model gives for one text, at least: batches change last digits."""


class CachedEmbedder:
    """An embedder with its vectors kept by content.

    The key is the SHA-256 of the canonical JSON of the embedder's identity, what the text is for
    (document or query) and the text. Vectors are kept batch by batch, as float32 as they came; of
    two writers the first wins, and both use its vector. The last digits may depend on the rest of a
    batch; so they are the same in every run. Rows that are not as they must be are never kept.

    A server may have another model under the same name later. So one that `is_served` is asked for
    the vector of a probe text before the first text, and it must be the one that is kept.

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
        self._is_known = self._is_local = not getattr(inner, "is_served", False)
        self._seen: tuple[Purpose, str, Vectors] | None = None
        """A text whose vector was kept, for those that were kept without a probe's."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the rows of documents, as `vectors` does."""
        return self.vectors("document", texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the rows of queries, as `vectors` does."""
        return self.vectors("query", texts)

    def vectors(
        self,
        purpose: Purpose,
        texts: Sequence[str],
        dimension: int | None = None,
        progress: Progress | None = None,
    ) -> Vectors:
        """Return one row for each text, float32, (n, dimension), of any length.

        Args:
            purpose: What the texts are.
            texts: Equal ones are embedded once.
            dimension: Numbers that a row must have; None: those of the first.
            progress: Told of those that are not kept.

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
        if missing and not self._is_known:
            self._check_model()
            self._is_known = True
        asked = ask_in_batches(self.inner, purpose, list(missing), self.identity, progress)
        for batch, rows in asked:
            matrix.expect(rows, "queries" if purpose == "query" else "documents")
            entries = {
                self._key(purpose, text): self._entry(row)
                for text, row in zip(batch, rows, strict=True)
            }
            kept = map(_decoded, self._store.put_each(entries, KIND))
            for text, row in zip(batch, kept, strict=True):
                matrix.expect(row)[missing[text]] = row
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
                row = _decoded(entry)
                if not self._is_local and not row.any() and texts[position].strip():
                    raise ModelError(
                        f"embedder {self.identity}: an earlier version kept a vector of zeros, a "
                        "fault of the server"
                    )
                self._seen = self._seen or (purpose, texts[position], row)
                matrix.expect(row)[position] = row
            except ModelError as error:
                raise ModelError(
                    f"{error}; this one is kept, for {shortened(texts[position])}: choose another "
                    "--cache-dir, or --cache off"
                ) from None
        return missing

    def _check_model(self) -> None:
        """Make sure that the model is the one whose vectors are kept.

        Raises:
            ModelError: It gives another vector for a text than is kept.
        """
        (entry,) = self._store.get_each([self._key("document", _PROBE)])
        known = self._seen if entry is None else ("document", _PROBE, _decoded(entry))
        purpose: Purpose = known[0] if known else "document"
        text, kept = known[1:] if known else (_PROBE, None)
        ((_, rows),) = ask_in_batches(self.inner, purpose, [text], self.identity)
        if kept is not None and not _are_one(kept, rows[0]):
            raise ModelError(
                f"embedder {self.identity}: another model answers under this name now than the one "
                f"whose vectors are kept: they differ for {shortened(text)}. Choose another "
                "--cache-dir, or --cache off"
            )
        if kept is None:
            entries = {self._key("document", _PROBE): self._entry(rows[0])}
            list(self._store.put_each(entries, KIND))

    def _entry(self, row: Vectors) -> dict[str, Any]:
        return {"embedder": self.identity, "vector": _encoded(row)}

    def _key(self, purpose: Purpose, text: str) -> str:
        return digest([KEY_VERSION, self.identity, purpose, text])

    def _miss(self, purpose: Purpose, missing: Sequence[str]) -> str:
        more = f" and of {len(missing) - 1} more" if len(missing) > 1 else ""
        return (
            f"no kept vector by {self.identity} of the {purpose} {shortened(missing[0])}{more}: "
            "embed it once with --cache record"
        )


def _are_one(first: Vectors, second: Vectors) -> bool:
    """Tell whether two vectors of one text come of one model."""
    if first.shape != second.shape:
        return False
    a, b = first.astype(np.float64), second.astype(np.float64)
    return bool(a @ b >= _SAME * np.sqrt((a @ a) * (b @ b)))


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
