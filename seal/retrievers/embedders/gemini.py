"""Embeddings of Google's models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from seal.core.errors import ModelError
from seal.core.providers import GeminiServer
from seal.retrievers.embedders.remote import OPTIONS, RemoteOptions, requests_of

if TYPE_CHECKING:
    from google.genai import Client


class GeminiEmbedder:
    """Embeds texts through `batchEmbedContents`, documents and queries each as what they are.

    The key stands in GOOGLE_API_KEY. Busy servers are tried again with growing pauses, and long
    ones are told; refusals fail at once. Nothing is read or sent before the first text.

    Args:
        options: `model`, such as `gemini-embedding-001`; optional those of `RemoteOptions`;
            `batch_size` is 100, which is also the most that Google takes.

    Raises:
        UsageError: No model is named, or an option or the address is none.
    """

    OPTIONS: ClassVar[frozenset[str]] = OPTIONS

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._options = RemoteOptions.read("gemini", options, batch_size=100)
        self.batch_size = self._options.batch_size
        self.identity = self._options.identity

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """Return one row for each document, in their order.

        Raises:
            ModelError: The server failed, refused, or answered with something else than one row for
                each text. The text names the repair, never the key.
            MissingExtraError: google-genai is not installed.
            UsageError: There is no key.
        """
        return self._rows(texts, "RETRIEVAL_DOCUMENT")

    def embed_queries(self, texts: Sequence[str]) -> list[Any]:
        """Return one row for each query, in their order; fails as `embed` does."""
        return self._rows(texts, "RETRIEVAL_QUERY")

    def _rows(self, texts: Sequence[str], task: str) -> list[Any]:
        requests = requests_of(texts, self.batch_size)
        return [row for request in requests for row in self._embed(request, task)]

    def _embed(self, texts: list[str], task: str) -> list[Any]:
        server, options = self._server, self._options
        # One content a text: the SDK would join bare texts to one for some models.
        contents: Any = [{"role": "user", "parts": [{"text": text}]} for text in texts]
        config: Any = {"task_type": task, "output_dimensionality": options.dimensions}

        def embed(client: Client) -> Any:
            return client.models.embed_content(
                model=options.model, contents=contents, config=config
            )

        def ask() -> list[Any]:
            embeddings = server.ask(embed).embeddings
            if not embeddings:
                raise server.transient("answered what is no list of embeddings")
            return [embedding.values for embedding in embeddings]

        rows = server.answer(ask)
        if len(rows) != len(texts):
            raise ModelError(
                server.told(
                    f"answered with {len(rows)} embeddings for {len(texts)} texts: it must give "
                    "one for each"
                )
            )
        return rows

    @cached_property
    def _server(self) -> GeminiServer:
        return GeminiServer(self._options.name, self._options)
