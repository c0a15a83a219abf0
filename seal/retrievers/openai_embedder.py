"""Embeddings of OpenAI and of every server that speaks its interface."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import urlsplit

import openai

from seal.core.errors import ModelError, UsageError

_REPAIRS = {
    400: "check the model's name and the length of the texts",
    401: "check the key in OPENAI_API_KEY",
    403: "the key in OPENAI_API_KEY has no right to this model",
    404: "check the model's name and the address in base_url or OPENAI_BASE_URL",
}
_SHOWN = 300
"""Characters of a server's own words in a message."""


class OpenAIEmbedder:
    """Embeds texts through `POST {base_url}/embeddings`.

    The key stands in OPENAI_API_KEY; a server named by `base_url` or OPENAI_BASE_URL may need none.
    Busy servers are tried again with growing pauses (Retry-After holds), refusals fail at once.

    Args:
        options: `model`; optional `base_url`, `dimensions` (of models that can shorten their
            vectors), `batch_size` (texts a request, default 128), `max_retries` (default 5) and
            `timeout` (seconds a request, default 60).

    Raises:
        UsageError: No model is named, or neither key nor address is set.
    """

    OPTIONS: ClassVar[frozenset[str]] = frozenset(
        {"base_url", "dimensions", "batch_size", "max_retries", "timeout"}
    )

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._model = str(options.get("model") or "")
        if not self._model:
            raise UsageError("no embedding model is named: write openai/MODEL")
        base_url = options.get("base_url") or os.environ.get("OPENAI_BASE_URL")
        self._key = os.environ.get("OPENAI_API_KEY", "")
        if not self._key and not base_url:
            raise UsageError(
                "no key for OpenAI: set OPENAI_API_KEY, or name a server with --base-url"
            )
        dimensions = options.get("dimensions")
        self._dimensions = openai.omit if dimensions is None else int(dimensions)
        self._batch_size = max(1, int(options.get("batch_size") or 128))
        self._client = openai.OpenAI(
            api_key=self._key or "none",
            base_url=base_url,
            max_retries=int(options.get("max_retries", 5)),
            timeout=float(options.get("timeout", 60)),
        )
        self._address = _without_secrets(str(self._client.base_url))
        self.identity = f"openai/{self._model}@{self._address}"
        if dimensions is not None:
            self.identity += f"#{int(dimensions)}"

    def embed(self, texts: Sequence[str]) -> list[Any]:
        """Return one row for each text, in their order.

        Raises:
            ModelError: The server failed, refused, or answered with something else than one row for
                each text. The text names the repair, never the key.
        """
        rows: list[Any] = []
        for start in range(0, len(texts), self._batch_size):
            rows.extend(self._embed(texts[start : start + self._batch_size]))
        return rows

    def _embed(self, texts: Sequence[str]) -> list[Any]:
        try:
            reply = self._client.embeddings.with_raw_response.create(
                model=self._model,
                input=[text or " " for text in texts],  # servers refuse empty texts
                dimensions=self._dimensions,
                encoding_format="float",
            )
        except openai.APIStatusError as error:
            repair = _REPAIRS.get(error.status_code, "try again later or lower batch_size")
            # Not chained: the server's words may repeat the key, and a traceback would print them.
            raise self._failure(f"status {error.status_code}: {error.message}", repair) from None
        except openai.APIConnectionError as error:
            repair = "check the address in base_url or OPENAI_BASE_URL, and that the server runs"
            raise self._failure(str(error), repair) from None
        return self._rows(reply.text, len(texts))

    def _rows(self, body: str, count: int) -> list[Any]:
        """Return the embeddings of an answer by their index."""
        repair = "the server must return one embedding for each text"
        try:
            items = json.loads(body)["data"]
            rows = {int(item["index"]): item["embedding"] for item in items}
        except (ValueError, KeyError, TypeError):
            raise self._failure(f"no list of embeddings: {body}", repair) from None
        if len(items) != count or rows.keys() != set(range(count)):
            raise self._failure(f"{len(items)} embeddings for {count} texts", repair)
        return [rows[index] for index in range(count)]

    def _failure(self, what: str, repair: str) -> ModelError:
        if self._key:
            what = what.replace(self._key, "[key]")
        shown = what if len(what) <= _SHOWN else f"{what[:_SHOWN]}..."
        return ModelError(
            f"embedding server {self._address}, model {self._model}: {shown} ({repair})"
        )


def _without_secrets(address: str) -> str:
    """Return an address without user, password and query."""
    parts = urlsplit(address)
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{parts.hostname}{port}{parts.path}".rstrip("/")
