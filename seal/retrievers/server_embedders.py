"""Embedders and rerankers behind a server: of OpenAI's interface, Google's, and `/rerank`."""

from __future__ import annotations

import binascii
import math
import re
from abc import ABC, abstractmethod
from base64 import b64decode
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np

from seal.core import ModelError, OptionError, RequestError, shortened
from seal.core.providers import CLOUD, GeminiServer, OpenAIServer
from seal.core.secrets import OPENAI_URL, ServerSettings, check_address, public_url
from seal.core.servers import Server, sentences, server_url
from seal.core.text import count_by_bytes, counted, words
from seal.core.values import digest, well_formed
from seal.retrievers.base import above_zero
from seal.retrievers.embedders import Purpose

_NUMBERS: Mapping[str, type[int | float]] = {
    **dict.fromkeys(("batch_size", "dimensions", "max_tries"), int),
    **dict.fromkeys(("first_wait_s", "max_wait_s", "timeout_s"), float),
    **dict.fromkeys(("requests_per_minute", "tokens_per_minute"), float),
}
OPTIONS = frozenset({"api_key_env", "base_url", *_NUMBERS})

BASE_URL = "the retriever's option base_url="
"""Where the address of an embedder's server is given, for messages."""
_CHARACTERS = 400_000
"""Characters of one request: about 100,000 tokens, a third of what OpenAI takes at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteOptions(ServerSettings):
    """Options of an embedder behind a server."""

    provider: str
    model: str
    dimensions: int | None = None
    """Numbers in a vector, of models that can shorten theirs; None: as many as the model gives."""
    batch_size: int
    """Texts in one request."""
    timeout_s: float = 60.0
    address_from: str = field(default=BASE_URL, repr=False, compare=False)

    @property
    def name(self) -> str:
        """What users call the model: `provider/model`."""
        return f"{self.provider}/{self.model}"

    @property
    def identity(self) -> str:
        """What shapes the vectors: model, server and dimensions; holds no secret."""
        where = f"@{public_url(self.base_url)}" if self.base_url else ""
        if query := urlsplit(self.base_url or "").query:  # as a digest: it may hold a key
            where += f"?{digest(query)[:16]}"
        shortened = f"#{self.dimensions}" if self.dimensions else ""
        return f"{self.name}{where}{shortened}"

    @classmethod
    def read(cls, provider: str, options: Mapping[str, Any], batch_size: int) -> RemoteOptions:
        """Return the options that a retriever was given.

        Args:
            provider: As it stands in the embedder's name, `provider/model`.
            options: `model` and those of `OPTIONS`; others are left alone.
            batch_size: Where none is given.

        Raises:
            UsageError: No model, no address, or an option that is no number above 0.
        """
        model = str(options.get("model") or "")
        if not model:
            raise OptionError(f"no embedding model is named: write {provider}/MODEL")
        url = options.get("base_url") or None
        given: dict[str, Any] = {"batch_size": batch_size}
        for name, kind in _NUMBERS.items():
            if options.get(name) is not None:
                given[name] = above_zero(name, options[name], kind)
        return cls(
            provider=provider,
            model=model,
            base_url=None if url is None else check_address(str(url), BASE_URL),
            api_key_env=options.get("api_key_env") or None,
            **given,
        )


def requests_of(texts: Sequence[str], size: int) -> Iterator[list[str]]:
    """Yield the texts of one request after the other: at most `size`, and not too long together.

    Servers refuse empty texts and halves of surrogate pairs: a blank and U+FFFD stand for them. A
    text that is too long by itself is sent alone, for the server to judge.
    """
    request: list[str] = []
    characters = 0
    for text in texts:
        if request and (len(request) == size or characters + len(text) > _CHARACTERS):
            yield request
            request, characters = [], 0
        request.append(well_formed(text) if text.strip() else " ")
        characters += len(text)
    if request:
        yield request


def _tokens_of(texts: Sequence[str]) -> Callable[[object], int]:
    """Return what estimates the tokens of a request: its answer has none."""
    return lambda _: sum(map(count_by_bytes, texts))


class ServerEmbedder(ABC):
    """Embeds texts on a server.

    Busy servers are tried again with growing pauses (Retry-After holds), and long ones are told;
    refusals fail at once. Nothing is read or sent before the first text.

    Args:
        options: `model`; optional those of `RemoteOptions`.

    Raises:
        UsageError: No model is named, or an option or the address is none.
    """

    OPTIONS: ClassVar[frozenset[str]] = OPTIONS
    is_served: ClassVar[bool] = True
    """Its name may stand for another model later."""
    provider: ClassVar[str]
    most: ClassVar[int]
    """Texts in one request where `batch_size` does not say."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = self._read(RemoteOptions.read(self.provider, options, self.most))
        self.batch_size = self._options.batch_size
        self.identity = self._options.identity

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """Return one row for each document, in their order.

        Raises:
            ModelError: The server failed, refused, or answered with something else than one row for
                each text. The text names the repair, never the key.
            UsageError: There is no key, nor a server that may need none.
        """
        return self._rows(texts, "document")

    def embed_queries(self, texts: Sequence[str]) -> list[Any]:
        """Return one row for each query, in their order; fails as `embed` does."""
        return self._rows(texts, "query")

    def _rows(self, texts: Sequence[str], purpose: Purpose) -> list[Any]:
        requests = requests_of(texts, self.batch_size)
        return [row for request in requests for row in self._request(request, purpose)]

    def _read(self, options: RemoteOptions) -> RemoteOptions:
        return options

    def _request(self, texts: list[str], purpose: Purpose) -> list[Any]:
        """Return the rows of one request."""

        def ask() -> list[dict[str, Any]]:
            items = self._items(texts, purpose)
            if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
                raise self._server.transient("answered what is no list of embeddings")
            return items

        rows, problem = _rows_in(self._server.answer(ask, _tokens_of(texts)), len(texts))
        if problem := problem or _fault_of(rows, texts):
            raise ModelError(self._server.told(problem))
        return rows

    @abstractmethod
    def _items(self, texts: list[str], purpose: Purpose) -> Any:
        """Return an object for each text, with its row under `embedding`; else what came."""

    @property
    @abstractmethod
    def _server(self) -> Server:
        """The server, which is made when the first text is embedded."""


def _fault_of(rows: Sequence[Any], texts: Sequence[str]) -> str:
    """Return what shows that a server embedded nothing, or one text for all; empty: nothing does.

    Rows of zeros alone, and one row for texts of different words, come from servers that are out of
    memory, or that embed the first text of a batch alone.
    """
    vectors = (row if isinstance(row, list) else [None] for row in rows)
    blank = [n for n, row in enumerate(vectors) if row and all(number == 0 for number in row)]
    spoken = [n for n in blank if texts[n].strip()]
    if spoken:
        return (
            f"gave zeros alone for {len(spoken)} of {counted(len(texts), 'text')}, the first "
            f"{shortened(texts[spoken[0]])}. {_REPAIR}"
        )
    begun = {tuple(words(text[:_SEEN].casefold())) for text in texts}  # models cut what is longer
    if len(begun) > 2 and all(row == rows[0] for row in rows):
        return f"gave one and the same vector for {len(begun)} different texts. {_REPAIR}"
    return ""


_SEEN = 200
"""Characters of a text that any model reads."""
_REPAIR = "Is it well, and this model one of embeddings? Else try -R batch_size=1"


def _numbers(row: Any) -> Any:
    """Return a row as numbers; some servers send them as base64, float32 in little-endian order."""
    if not isinstance(row, str):
        return row
    try:
        return np.frombuffer(b64decode(row, validate=True), dtype="<f4").tolist()
    except (ValueError, binascii.Error):
        return row


class OpenAIEmbedder(ServerEmbedder):
    """Embeds texts through `POST {base_url}/embeddings`, queries as documents.

    The key stands in OPENAI_API_KEY; a server named by `base_url` or OPENAI_BASE_URL may need none.
    """

    provider = "openai"
    most = 128

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(options)
        self._form: dict[str, Any] = {"encoding_format": "float"}
        """Says what servers do anyway; a server that refuses it is not sent it again."""

    def _read(self, options: RemoteOptions) -> RemoteOptions:
        return replace(options, base_url=server_url(options.base_url, BASE_URL, OPENAI_URL))

    def _request(self, texts: list[str], purpose: Purpose) -> list[Any]:
        try:
            return super()._request(texts, purpose)
        except RequestError as error:
            if "encoding_format" in error.said and self._form:
                self._form = {}
                return self._request(texts, purpose)
            if "dimensions" in error.said and self._options.dimensions:
                told = sentences(self._server.told(error.said), _NO_DIMENSIONS)
                raise RequestError(told, None, error.status, error.said) from None
            if error.refusal is not None or _TOO_LONG.search(error.said):
                longest = max(texts, key=len)
                told = (
                    f"The longest of {counted(len(texts), 'text')} has {len(longest):,} "
                    f"characters: {shortened(longest)}. {_SHORTER}"
                )
                told = sentences(str(error), told)
                raise RequestError(told, error.refusal, error.status, error.said) from None
            raise

    def _items(self, texts: list[str], purpose: Purpose) -> Any:
        body: dict[str, Any] = {"model": self._options.model, "input": texts}
        if self._options.dimensions:
            body["dimensions"] = self._options.dimensions
        answer = self._server.post("/embeddings", self._form | body)
        return answer.get("data") if isinstance(answer, dict) else None

    @cached_property
    def _server(self) -> OpenAIServer:
        return OpenAIServer(self._options.name, self._options, _REFUSED)


_REFUSED = "The server does not take this request as it is."
_NO_DIMENSIONS = "Leave -R dimensions out: this model cannot shorten its vectors."
_SHORTER = "Take a model that reads more, shorter documents (-R template=name), or -R batch_size=1"
_TOO_LONG = re.compile(r"\b(?:long|length|tokens|batch|too (?:large|many))\b", re.IGNORECASE)


def _rows_in(items: list[dict[str, Any]], count: int) -> tuple[list[Any], str]:
    """Return the rows of items in the order of their texts, and what is wrong with them.

    Items without any index stand in that order.
    """
    bare = next((n for n, item in enumerate(items) if "embedding" not in item), None)
    if bare is not None:
        return [], f"answered with items without an embedding, such as item {bare}"
    unnumbered = [n for n, item in enumerate(items) if item.get("index") is None]
    indexes: list[Any] = [item.get("index") for item in items]
    if len(unnumbered) == len(items):
        indexes = list(range(len(items)))
    elif unnumbered:
        return [], f"answered with items of which some lack an index, such as item {unnumbered[0]}"
    rows = {
        int(float(n)): item["embedding"]
        for n, item in zip(indexes, items, strict=True)
        if _is_place(n)
    }
    if len(items) != count or rows.keys() != set(range(count)):
        return [], (
            f"answered with {counted(len(items), 'embedding')} of {len(rows)} indexes for "
            f"{counted(count, 'text')}: it must give one for each, index 0 to {count - 1}"
        )
    return [_numbers(rows[index]) for index in range(count)], ""


def _is_place(index: Any) -> bool:
    """Tell whether an index is a whole number, as a number or a text: `0`, `"0"`, `0.0`."""
    return not isinstance(index, bool) and re.fullmatch(r"\d{1,9}(?:\.0)?", str(index)) is not None


class GeminiEmbedder(ServerEmbedder):
    """Embeds texts through google-genai, documents and queries each as what they are.

    The key stands in GOOGLE_API_KEY; `vertexai`, `project` and `location` ask Vertex AI, as of a
    chat model. Google takes at most 100 texts at once.
    """

    OPTIONS = OPTIONS | CLOUD
    provider = "gemini"
    most = 100

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(options)
        self._cloud = {name: options[name] for name in CLOUD & options.keys()}
        if self._cloud.get("vertexai"):
            self.identity += "@vertexai"

    def _items(self, texts: list[str], purpose: Purpose) -> Any:
        config = {
            "task_type": f"RETRIEVAL_{purpose.upper()}",
            "output_dimensionality": self._options.dimensions,
        }
        contents = [{"role": "user", "parts": [{"text": text}]} for text in texts]
        sent = {"model": self._options.model, "contents": contents, "config": config}
        answer = self._server.post({"method": "embed_content", **sent})
        given = answer if isinstance(answer, dict) else {}
        # The third and second are Vertex AI's.
        found = given.get("embeddings") or given.get("predictions") or [given.get("embedding")]
        return list(map(_item_of, found)) if isinstance(found, list) else found

    @cached_property
    def _server(self) -> GeminiServer:
        return GeminiServer(self._options.name, self._options, self._cloud)


def _item_of(embedding: Any) -> Any:
    """Return an embedding of Google's as an item of OpenAI's; what is none, as it is."""
    given = embedding if isinstance(embedding, dict) else {}
    inner = given.get("embeddings", given)
    return {"embedding": inner.get("values")} if given and isinstance(inner, dict) else embedding


# -- Rerankers: vLLM, TEI, Infinity, Jina, Cohere, Voyage.

_TEXTS_AT_ONCE = 100
"""Texts of one request to a reranker where `batch_size` does not say."""


class ServerReranker:
    """Scores pairs of texts through `POST {base_url}/rerank`, one query with its texts a request.

    Args:
        options: `model` as `openai/NAME`, `base_url`, and those of `RemoteOptions`.

    Raises:
        UsageError: No address is given, or an option is none.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        provider, _, model = str(options.get("model")).partition("/")
        self._options = RemoteOptions.read(provider, {**options, "model": model}, _TEXTS_AT_ONCE)
        if self._options.base_url is None:
            raise OptionError(
                f"rerank,model={self._options.name}: name its server, which answers at "
                "ADDRESS/rerank: base_url=ADDRESS (vLLM, TEI, Infinity, Jina, Cohere, Voyage)"
            )
        self.identity = self._options.identity

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return a number for each pair; the higher, the better.

        Raises:
            ModelError: The server failed, refused, or gave no number for each text.
        """
        found: list[float] = []
        for query, of_query in groupby(pairs, key=itemgetter(0)):
            for texts in requests_of([text for _, text in of_query], self._options.batch_size):
                found += self._asked(query, texts)
        return found

    def _asked(self, query: str, texts: list[str]) -> list[float]:
        server = self._server
        asked = well_formed(query) if query.strip() else " "
        body = {"model": self._options.model, "query": asked, "documents": texts, "texts": texts}

        def ask() -> Any:
            return server.post("/rerank", {n: v for n, v in body.items() if n not in self._without})

        tokens = _tokens_of([asked, *texts])
        try:
            answer = server.answer(ask, tokens)
        except RequestError as error:  # most servers know one of the two names of the texts
            named = next((n for n in ("texts", "documents") if n in error.said), None)
            if named is None or self._without:
                raise
            self._without = {named}
            answer = server.answer(ask, tokens)
        items = answer
        if isinstance(answer, dict):
            items = answer.get("results") or answer.get("data")
        scores: dict[Any, Any] = {}
        for item in items if isinstance(items, list) else ():
            if isinstance(item, dict) and _is_place(item.get("index")):
                score = item.get("relevance_score", item.get("score"))
                scores[int(float(item["index"]))] = score
        numbers = [scores.get(place) for place in range(len(texts))]
        if not all(isinstance(n, (int, float)) and math.isfinite(n) for n in numbers):
            said = f"gave no score for each of {counted(len(texts), 'text')}: {shortened(answer)}"
            raise ModelError(server.told(said))
        return [float(n) for n in numbers if n is not None]

    _without: Collection[str] = ()
    """Names of the texts that the server does not take."""

    @cached_property
    def _server(self) -> OpenAIServer:
        return OpenAIServer(self._options.name, self._options, _REFUSED)
