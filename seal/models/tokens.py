"""Counts of tokens where a server gives none.

With tiktoken's table at hand (its cache folder holds the file with the right digest) texts are
counted by it; the network is never asked. Without, a text counts as its UTF-8 bytes divided by 4,
rounded up. Both can only guess what a chat template adds, so the record says `estimated`.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from seal.core import Completion, Request, ToolCall, Usage
from seal.core.plain import json_text
from seal.core.text import count_by_bytes as count_by_bytes

Counter = Callable[[str], int]
PER_MESSAGE = 4
"""Tokens that a chat template adds to a message."""

_ROOT = "https://openaipublic.blob.core.windows.net/encodings/"
_TABLES = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
"""Encoding to the SHA-256 of its table. Source: tiktoken_ext/openai_public.py."""


def token_counter(model: str) -> Counter:
    """Return what counts the tokens of a text for a model, without any network.

    Args:
        model: Name such as "gpt-4o"; an unknown one is counted as a recent model of OpenAI's.
    """
    old = ("gpt-4", "gpt-3.5")
    new = ("gpt-4o", "gpt-4.1", "gpt-4.5")
    is_old = model.startswith(old) and not model.startswith(new)
    return _counter("cl100k_base" if is_old else "o200k_base")


@cache
def _counter(encoding: str) -> Counter:
    if not table_is_at_hand(encoding):
        return count_by_bytes
    import tiktoken

    table = tiktoken.get_encoding(encoding)
    return lambda text: len(table.encode_ordinary(text))


def table_is_at_hand(encoding: str) -> bool:
    """Tell whether tiktoken would read the table from its cache folder instead of fetching it."""
    folder = os.environ.get("TIKTOKEN_CACHE_DIR") or os.environ.get("DATA_GYM_CACHE_DIR")
    place = Path(folder) if folder else Path(tempfile.gettempdir()) / "data-gym-cache"
    # tiktoken names the file by its address, and fetches it anew where the digest differs.
    file = place / hashlib.sha1(f"{_ROOT}{encoding}.tiktoken".encode()).hexdigest()
    try:
        content = file.read_bytes()
    except OSError:
        return False
    return hashlib.sha256(content).hexdigest() == _TABLES[encoding]


def estimate_usage(request: Request, completion: Completion, model: str = "") -> Completion:
    """Return the completion with an estimated usage."""
    count = token_counter(model)
    thought = count(completion.reasoning)
    tokens_in = sum(
        PER_MESSAGE + count(message.content) + _calls(message.calls, count)
        for message in request.messages
    )
    tokens_in += sum(
        count(f"{tool.name} {tool.description} {json_text(tool.parameters)}")
        for tool in request.tools
    )
    tokens_out = thought + count(completion.content) + _calls(completion.calls, count)
    return replace(completion, usage=Usage(tokens_in, tokens_out, True, thought))


def count_thinking(completion: Completion, model: str = "") -> Completion:
    """Return a counted completion with its thinking counted too: where it was not, by estimate."""
    usage = completion.usage
    if usage.reasoning or not completion.reasoning:
        return completion
    thought = min(token_counter(model)(completion.reasoning), usage.tokens_out)
    return replace(completion, usage=replace(usage, reasoning=thought))


def _calls(calls: tuple[ToolCall, ...], count: Counter) -> int:
    return sum(count(f"{call.name} {call.raw or json_text(call.arguments)}") for call in calls)
