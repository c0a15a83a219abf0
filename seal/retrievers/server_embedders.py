"""Embedders and rerankers behind a server: of OpenAI's interface, Google's, and `/rerank`."""

from __future__ import annotations

import binascii
import logging
import math
import re
from abc import ABC, abstractmethod
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar
from urllib.parse import urlsplit

import numpy as np

from seal.core import ModelError, OptionError, RequestError, shortened
from seal.core.outcomes import error_in, words_of
from seal.core.providers import CLOUD, GeminiServer, OpenAIServer
from seal.core.secrets import OPENAI_URL, ServerSettings, check_address, public_url, route_of
from seal.core.servers import Server, TransientError, sentences, server_url
from seal.core.text import count_by_bytes, counted, words
from seal.core.values import well_formed
from seal.retrievers.base import above_zero
from seal.retrievers.embedders import Purpose, checked_rows

_log = logging.getLogger(__name__)
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
        if route := route_of(self.base_url):
            where += f"?{route}"
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
        name, comma, rest = model.partition(",")
        if comma:
            raise OptionError(
                f"model={provider}/{model}: write the options of its server beside the model, "
                f"without quotes: model={provider}/{name},{rest}"
            )
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

        def ask() -> list[Any]:
            rows, problem = _rows_in(self._items(texts, purpose), len(texts))
            if problem := problem or _fault_of(rows, texts):
                raise self._server.transient(problem)
            try:
                checked_rows(rows, texts, self.identity)
            except RequestError as error:  # of this text alone, or beside those of its request
                if len(texts) == 1:
                    raise
                raise RequestError(sentences(str(error), _ALONE)) from None
            except ModelError as error:
                raise TransientError(str(error)) from None
            asked = self._options.dimensions or 0
            if given := next((len(row) for row in rows if asked not in (0, len(row))), 0):
                told = f"gave a vector of {given:,} numbers where {asked:,} were asked for"
                raise RequestError(sentences(self._server.told(told), _NO_DIMENSIONS))
            return rows

        return self._server.answer(ask, _tokens_of(texts))

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
    vectors = [row if isinstance(row, list) else [None] for row in rows]
    blank = [n for n, row in enumerate(vectors) if row and all(number == 0 for number in row)]
    spoken = [n for n in blank if texts[n].strip()]
    if spoken:
        return (
            f"gave zeros alone for {len(spoken)} of {counted(len(texts), 'text')}, the first "
            f"{shortened(texts[spoken[0]])}. {_REPAIR}"
        )
    different = _different(texts)
    if different > 2 and None not in vectors[0] and all(row == rows[0] for row in rows):
        return f"gave one and the same vector for {different} different texts. {_REPAIR}"
    return ""


_ALONE = "It may be read alone: -R batch_size=1"
_SEEN = 200
"""Characters of a text that any model reads."""
_REPAIR = "Is it well, and this model one of embeddings? Else try -R batch_size=1"


def _numbers(row: Any) -> Any:
    """Return a row as numbers; some servers send them as base64, float32 in little-endian order."""
    if not isinstance(row, str):
        return row
    try:
        numbers = np.frombuffer(b64decode(row, validate=True), dtype="<f4")
    except (ValueError, binascii.Error):
        return row
    # Other bytes read so are often NaN, or of sizes that no model gives: float64, or big-endian.
    with np.errstate(invalid="ignore"):
        given = numbers != 0
        sizes = np.abs(numbers[given])
        odd = ~((sizes > _LEAST) & (sizes < _MOST))
    halves = len(given) >= _LONG and given.any() and not given[::2].any()  # of float64
    return row if halves or (sizes.size and odd.mean() > _MOST_ODD) else numbers.tolist()


_LEAST, _MOST = 1e-12, 1e6
"""Sizes between which numbers of vectors lie."""
_LONG = 64
"""Numbers of which by chance not each second is 0."""
_MOST_ODD = 0.02
"""Share of numbers of another size in a vector that is one."""


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
        self._tells_purpose = False
        """Whether a text is sent as a query or a passage: NVIDIA's NIM refuses it otherwise."""
        self._model = ""
        """As answers name it; empty: none did."""

    def _read(self, options: RemoteOptions) -> RemoteOptions:
        return replace(options, base_url=server_url(options.base_url, BASE_URL, OPENAI_URL))

    def _request(self, texts: list[str], purpose: Purpose) -> list[Any]:
        try:
            return super()._request(texts, purpose)
        except RequestError as error:
            if "encoding_format" in error.said and self._form:
                self._form = {}
                return self._request(texts, purpose)
            if _UNTOLD.search(error.said) and not self._tells_purpose:
                self._tells_purpose = True
                return self._request(texts, purpose)
            if "dimensions" in error.said and self._options.dimensions:
                told = sentences(self._server.told(error.said), _NO_DIMENSIONS)
                raise RequestError(told, None, error.status, error.said) from None
            raise _with_repair(error, texts) from None

    def _items(self, texts: list[str], purpose: Purpose) -> Any:
        body: dict[str, Any] = {"model": self._options.model, "input": texts}
        if self._options.dimensions:
            body["dimensions"] = self._options.dimensions
        if self._tells_purpose:
            body["input_type"] = "query" if purpose == "query" else "passage"
        answer = _posted(self._server, "/embeddings", self._form | body)
        self._model = _one_model(self._server, answer, self._model)
        told = answer if isinstance(answer, dict) else {}
        rows = told.get("data")
        return rows if isinstance(rows, list) and (rows or not error_in(told)) else told

    @cached_property
    def _server(self) -> OpenAIServer:
        return OpenAIServer(self._options.name, self._options, _REFUSED)


_UNTOLD = re.compile(r"\binput_type\b(?!=)")
"""How NIM refuses a text without its purpose; pydantic writes `input_type=str` of other faults."""
_REFUSED = "The server does not take this request as it is."
_NO_DIMENSIONS = "Leave -R dimensions out: this model cannot shorten its vectors."
_SHORTER = (
    "Read fewer tokens of a text (-R cut=N), take a model that reads more, shorter documents (-R "
    "template=name), or -R batch_size=1"
)
_TOO_LONG = re.compile(r"\b(?:long|length|tokens|batch|too (?:large|many))\b", re.IGNORECASE)
_TOO_LARGE = re.compile(
    r"too large to process|physical batch size"
    r"|index-select invalid index \d|index out of range in self"
    r"|size of (?:the )?tensor \w{0,9} ?\(\d+\) must match",
    re.IGNORECASE,
)
"""How llama.cpp refuses a text that is too long, by 500; how TEI (424) and servers of PyTorch fail
where a text has more tokens than the model has places."""
_AT_ONCE = re.compile(
    r"batch size \d+ > [^\d]{0,40}(\d{1,6})"
    r"|batch size [^\d.]{0,60}not (?:be )?(?:larger|greater|more) than (\d{1,6})"
    r"|(?:at most|maximum(?: of)?|up to|more than) (\d{1,6}) "
    r"(?:texts|documents|inputs|items|passages|requests)"
    r"|\b(?:texts|documents|inputs) must be at most (\d{1,6})\b",
    re.IGNORECASE,
)
"""How servers refuse too many texts at once: TEI, DashScope, Google, those that check by pydantic,
Cohere."""
_ONE = re.compile(
    r"\binput['\"]? (?:must|should) be a (?:string|str)\b|\bonly one input\b", re.IGNORECASE
)
"""How servers refuse several texts that take one alone."""


def _posted(server: OpenAIServer, path: str, body: dict[str, Any]) -> Any:
    """Return the answer to texts; a refusal by 500 is one, and does not pass."""
    try:
        answer = server.post(path, body)
    except TransientError as error:
        if not _TOO_LARGE.search(error.said):
            raise
        raise RequestError(str(error), None, error.status, error.said) from None
    _refuse_errors(server, answer)
    return answer


def _refuse_errors(server: Server, answer: Any) -> None:
    """Raise TransientError where an error stands beside what a server gives."""
    given = answer if isinstance(answer, dict) else {}
    if (said := _said_in(answer)) and any(given.get(name) for name in _GIVEN):
        raise server.transient(f"gave an error beside its answer{said}")


def _one_model(server: Server, answer: Any, before: str) -> str:
    """Return the model that an answer names, which must be that of the answers before.

    Numbers of two models are in no relation: gateways fall back to another one without a word.

    Raises:
        TransientError: It is another.
    """
    told = answer.get("model") if isinstance(answer, dict) else None
    if not isinstance(told, str) or not told:
        return before
    if before and told != before:
        raise server.transient(
            f"answered by the model {shortened(told)}, and before by {shortened(before)}. Does a "
            "gateway fall back to it?"
        )
    return told


_GIVEN = ("data", "results", "embedding", "embeddings", "predictions")


def _with_repair(
    error: RequestError, texts: Sequence[str], of: Sequence[str] = ("batch_size",)
) -> RequestError:
    """Return a refusal with what helps against texts that are too long, or too many at once.

    Args:
        error: The refusal.
        texts: Of the request.
        of: Options by which they become fewer.
    """
    found, alone = _AT_ONCE.search(error.said), len(texts) > 1 and _ONE.search(error.said)
    if found or alone:
        most = next(filter(None, found.groups())) if found else "1"
        ways = " or ".join(f"-R {name}={most}" for name in of)
        told = f"Send fewer texts at once: {ways}"
    elif error.refusal or _TOO_LONG.search(error.said) or _TOO_LARGE.search(error.said):
        longest = max(texts, key=len)
        told = (
            f"The longest of {counted(len(texts), 'text')} has {len(longest):,} characters: "
            f"{shortened(longest)}. {_SHORTER}"
        )
    else:
        return error
    return RequestError(sentences(str(error), told), error.refusal, error.status, error.said)


def _said_in(answer: Any) -> str:
    """Return what an answer of status 200 says of an error."""
    error = error_in(answer)
    return f": {words_of(error)}" if error else ""


def _rows_in(items: Any, count: int) -> tuple[list[Any], str]:
    """Return the rows of items in the order of their texts, and what is wrong with them.

    Items without any index stand in that order.
    """
    if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
        return [], f"answered what is no list of embeddings{_said_in(items)}"
    bare = next((n for n, item in enumerate(items) if "embedding" not in item), None)
    if bare is not None:
        return [], f"answered with items without an embedding, such as item {bare}"
    indexes = _places(items)
    unnumbered = [n for n, index in enumerate(indexes) if index is None]
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
        said = (
            f"answered with {counted(len(items), 'embedding')} of {len(rows)} indexes for "
            f"{counted(count, 'text')}: it must give one for each, index 0 to {count - 1}"
        )
        repair = "Let it batch no requests together, or take another version of it"
        if len(items) < count:
            repair = f"-R batch_size={len(items) or 1} may help"
        return [], f"{said}. {repair}"
    return [_numbers(rows[index]) for index in range(count)], ""


def _places(items: Sequence[dict[str, Any]]) -> list[Any]:
    """Return the indexes of items; Google leaves out an index 0, as every value of zero."""
    indexes = [item.get("index") for item in items]
    rest = {int(float(str(index))) for index in indexes if _is_place(index)}
    if indexes.count(None) == 1 and rest and rest == set(range(1, len(items))):
        return [0 if index is None else index for index in indexes]
    return indexes


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
        _refuse_errors(self._server, answer)
        given = answer if isinstance(answer, dict) else {}
        # The third and second are Vertex AI's.
        found = given.get("embeddings") or given.get("predictions") or [given.get("embedding")]
        is_told = isinstance(found, list) and found != [None]
        return list(map(_item_of, found)) if is_told else given

    @cached_property
    def _server(self) -> GeminiServer:
        return GeminiServer(self._options.name, self._options, self._cloud)


def _item_of(embedding: Any) -> Any:
    """Return an embedding of Google's as an item of OpenAI's; what is none, as it is."""
    given = embedding if isinstance(embedding, dict) else {}
    inner = given.get("embeddings", given)
    return {"embedding": inner.get("values")} if given and isinstance(inner, dict) else embedding


def _different(texts: Sequence[str]) -> int:
    """Return how many texts differ in what any model reads of them."""
    return len({tuple(words(text[:_SEEN].casefold())) for text in texts})


# -- Rerankers: vLLM, TEI, Infinity, Jina, Cohere, Voyage, NIM, DashScope.

_TEXTS_AT_ONCE = 100
"""Texts of one request to a reranker where `batch_size` does not say."""


class ServerReranker:
    """Scores pairs of texts through `POST {base_url}/rerank`, one query with its texts a request.

    An address that ends in `/ranking` is NIM's, and asked as it stands.

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
                "ADDRESS/rerank: base_url=ADDRESS (vLLM, TEI, Infinity, Jina, Cohere, Voyage), or "
                "NIM: base_url=ADDRESS/ranking"
            )
        self.identity = self._options.identity
        self._path = "/rerank"
        self._is_of_nim = urlsplit(self._options.base_url).path.rstrip("/").endswith("/ranking")
        if self._is_of_nim:
            self._path = ""

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return a number for each pair; the higher, the better.

        Raises:
            ModelError: The server failed, refused, or gave no number for each text.
        """
        found: list[float] = []
        counts: list[int] = []
        """Of each query with different texts, how many have one and the same score."""
        for query, of_query in groupby(pairs, key=itemgetter(0)):
            texts, begins = [text for _, text in of_query], len(found)
            for request in requests_of(texts, self._options.batch_size):
                found += self._asked(query, request)
            if (different := _different(texts)) > 2:
                counts.append(different if len(set(found[begins:])) == 1 else 0)
        flat, all_texts = sum(map(bool, counts)), _different([text for _, text in pairs])
        is_one = len(set(found)) == 1
        same = all_texts if is_one else max(counts, default=0)
        said = f"gave one and the same score for {same} different texts"
        if same > 2 and (is_one or 2 * flat > len(counts)):
            raise ModelError(
                self._server.told(f"{said}. Is it well, and this model one that ranks?")
            )
        if flat:
            _log.warning(self._server.told(f"{said}, of {flat} of {len(counts)} queries"))
        return found

    def _asked(self, query: str, texts: list[str]) -> list[float]:
        server = self._server
        asked = well_formed(query) if query.strip() else " "
        body: dict[str, Any] = {"model": self._options.model, "query": asked}
        body |= {"documents": texts, "texts": texts}
        body["top_n"] = len(texts)  # else some servers give the first ten, or none

        def ask() -> list[float]:
            sent = {name: value for name, value in body.items() if name not in self._without}
            if self._is_of_nim:
                passages = [{"text": text} for text in texts]
                sent = {"model": body["model"], "query": {"text": asked}, "passages": passages}
            answer = _posted(server, self._path, sent)
            self._model = _one_model(server, answer, self._model)
            return self._scores_in(answer, texts)

        while True:  # ends: each refusal takes a field out
            try:
                return server.answer(ask, _tokens_of([asked, *texts]))
            except RequestError as error:
                told, gone = _with_repair(error, texts, ("batch_size", "depth")), self._without
                # Most servers know one of the two names of the texts.
                may_go = () if {"texts", "documents"} & gone else ("texts", "documents")
                optional = [name for name in ("top_n", *may_go) if name not in gone]
                named = next((name for name in optional if name in error.said), None)
                if "passages" in error.said and not self._is_of_nim:
                    self._is_of_nim = True
                    continue
                if named is None or told is not error:
                    raise told from None
                self._without = gone | {named}

    def _scores_in(self, answer: Any, texts: Sequence[str]) -> list[float]:
        """Return the score of each text.

        Raises:
            TransientError: The answer has no number for one of them.
        """
        items = answer
        if isinstance(answer, dict):
            inner = answer.get("output")  # DashScope
            within = {**inner, **answer} if isinstance(inner, dict) else answer
            items = within.get("results") or within.get("data") or within.get("rankings")
        items = [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []
        scores = {
            int(float(place)): item.get("relevance_score", item.get("score", item.get("logit")))
            for place, item in zip(_places(items), items, strict=True)
            if _is_place(place)
        }
        numbers = [scores.get(place) for place in range(len(texts))]
        numbers = [None if isinstance(n, bool) else n for n in numbers]
        found = [float(n) for n in numbers if isinstance(n, (int, float)) and math.isfinite(n)]
        if len(found) == len(texts) == len(items):
            return found
        said = f"gave no score for each of {counted(len(texts), 'text')}"
        if found and len(found) == len(items):
            said += f" but for {len(found)}, so that -R batch_size={len(found)} may help"
        raise self._server.transient(f"{said}{_said_in(answer) or f': {shortened(answer)}'}")

    _model = ""
    """As answers name it; empty: none did."""
    _without: frozenset[str] = frozenset()
    """Fields that the server does not take."""

    @cached_property
    def _server(self) -> OpenAIServer:
        return OpenAIServer(self._options.name, self._options, _REFUSED)
