"""Embeddings of OpenAI and of every server that speaks its interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

from seal.core.errors import ModelError
from seal.core.providers import OpenAIServer, server_url
from seal.retrievers.embedders.remote import BASE_URL, OPTIONS, RemoteOptions, requests_of

_REFUSED = "Check the length of the texts, and lower -R batch_size."


class OpenAIEmbedder:
    """Embeds texts through `POST {base_url}/embeddings`.

    The key stands in OPENAI_API_KEY; a server named by `base_url` or OPENAI_BASE_URL may need none.
    Busy servers are tried again with growing pauses (Retry-After holds), and long ones are told;
    refusals fail at once. Nothing is read or sent before the first text.

    Args:
        options: `model`; optional those of `RemoteOptions`; `batch_size` is 128.

    Raises:
        UsageError: No model is named, or an option or the address is none.
    """

    OPTIONS: ClassVar[frozenset[str]] = OPTIONS

    def __init__(self, options: Mapping[str, Any]) -> None:
        read = RemoteOptions.read("openai", options, batch_size=128)
        self._options = replace(read, base_url=server_url(read.base_url, BASE_URL))
        self.batch_size = read.batch_size
        self.identity = self._options.identity

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """Return one row for each text, in their order.

        Raises:
            ModelError: The server failed, refused, or answered with something else than one row for
                each text. The text names the repair, never the key.
            UsageError: Neither key nor server.
        """
        requests = requests_of(texts, self.batch_size)
        return [row for request in requests for row in self._embed(request)]

    def _embed(self, texts: list[str]) -> list[Any]:
        server, options = self._server, self._options
        body: dict[str, Any] = {
            "model": options.model,
            "input": texts,
            "encoding_format": "float",
        }
        if options.dimensions:
            body["dimensions"] = options.dimensions

        def ask() -> list[Any]:
            items = _items(server.post("/embeddings", body))
            if items is None:
                raise server.transient("answered what is no list of embeddings")
            return items

        return self._in_order(server.answer(ask), len(texts))

    def _in_order(self, items: list[Any], count: int) -> list[Any]:
        rows = {item["index"]: item["embedding"] for item in items}
        if len(items) != count or rows.keys() != set(range(count)):
            raise ModelError(
                self._server.told(
                    f"answered with {len(items)} embeddings of {len(rows)} indexes for {count} "
                    f"texts: it must give one for each, index 0 to {count - 1}"
                )
            )
        return [rows[index] for index in range(count)]

    @cached_property
    def _server(self) -> OpenAIServer:
        return OpenAIServer(self._options.name, self._options, _REFUSED)


def _items(answer: Any) -> list[Any] | None:
    """Return the embeddings of an answer, each with its index; None where it is no such answer."""
    items = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(items, list):
        return None
    sound = all(
        isinstance(item, dict) and isinstance(item.get("index"), int) and "embedding" in item
        for item in items
    )
    return items if sound else None
