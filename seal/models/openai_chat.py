"""`openai/NAME`: OpenAI and every server that speaks its chat completions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seal.core.errors import UsageError
from seal.core.protocols import Completion, Request
from seal.core.providers import OpenAIServer, server_url
from seal.core.secrets import public_url
from seal.core.types import JSON
from seal.models.settings import ModelSettings
from seal.models.tokens import estimate_usage
from seal.models.wire import (
    MalformedAnswerError,
    WireToolsCache,
    parse_completion,
    wire_request,
)

_REFUSED = (
    "The server does not take this request as it is; a field that it names can be left "
    "out with -M FIELD=null."
)


class OpenAIModel:
    """A model behind an OpenAI-compatible server. Safe in threads, which share one client.

    Built only where a key or a server is known; nothing is sent before the first request.

    Args:
        name: What the server calls the model.
        settings: Address, tries, further fields.

    Raises:
        UsageError: Neither a key nor a server; the text names the variable and the flag.
    """

    cached = True

    def __init__(self, name: str, settings: ModelSettings) -> None:
        self.name = name
        self.settings = settings
        url = server_url(settings.base_url, settings.address_from)
        if not name:
            raise UsageError("openai/: the model's name is missing; write openai/NAME")
        self._server = OpenAIServer(
            f"openai/{name}",
            url,
            settings.api_key_env,
            settings.timeout_s,
            _REFUSED,
            settings.address_from,
        )
        self._tools = WireToolsCache()

    @property
    def identity(self) -> dict[str, JSON]:
        """What shapes this model's answers, besides the request; holds no secret."""
        return {
            "model": f"openai/{self.name}",
            "base_url": public_url(self._server.url) if self._server.url else None,
            "temperature": self.settings.temperature,
            "options": dict(self.settings.options),
        }

    def __repr__(self) -> str:
        return f"OpenAIModel({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle without key and connections: the other process reads its own environment."""
        return (OpenAIModel, (self.name, replace(self.settings, recordings=None)))

    def complete(self, request: Request) -> Completion:
        """Return the server's answer.

        Raises:
            ModelError: The server refused, or failed as often as may be tried.
        """
        tools = self._tools.get(request.tools)
        settings = self.settings
        body = wire_request(self.name, request, tools, settings.temperature, settings.options)

        def ask() -> Completion:
            answer = self._server.post("/chat/completions", body)
            try:
                completion, counted = parse_completion(answer, tools)
            except MalformedAnswerError as error:
                problem = str(error)
            else:
                return completion if counted else estimate_usage(request, completion, self.name)
            raise self._server.transient(f"answered what is no chat completion: {problem}")

        return self._server.answer(ask, settings)


def build(name: str, settings: ModelSettings) -> OpenAIModel:
    """Return the model `openai/NAME`."""
    return OpenAIModel(name, settings)
