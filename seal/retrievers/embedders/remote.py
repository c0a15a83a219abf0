"""What embedders behind a server share: their options, and batches that a request can carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from seal.core.errors import OptionError
from seal.core.plain import well_formed
from seal.core.secrets import ServerSettings, check_url, public_url

OPTIONS = frozenset(
    {
        "api_key_env",
        "base_url",
        "batch_size",
        "dimensions",
        "first_wait_s",
        "max_tries",
        "max_wait_s",
        "timeout_s",
    }
)

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
        for name in ("dimensions", "batch_size", "max_tries"):
            if options.get(name) is not None:
                given[name] = _number(name, options[name], int)
        for name in ("timeout_s", "first_wait_s", "max_wait_s"):
            if options.get(name) is not None:
                given[name] = _number(name, options[name], float)
        return cls(
            provider=provider,
            model=model,
            base_url=None if url is None else check_url(str(url), BASE_URL),
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


def _number(name: str, value: Any, kind: type[int] | type[float]) -> int | float:
    try:
        number = kind(value)
    except (TypeError, ValueError):
        number = 0
    if not 0 < number < float("inf"):
        raise OptionError(f"-R {name}={value}: expected a number above 0")
    return number
