"""`openai/NAME`: OpenAI and every server that speaks its chat completions, or its responses."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from seal.core import JSON, Request, RequestError
from seal.core.providers import OpenAIServer
from seal.models.profiles import Profile
from seal.models.server_model import ServerModel
from seal.models.settings import ModelSettings
from seal.models.wire import WireTools

OUTPUT_CAP = 8192
"""Tokens that an answer may have where nobody says: a model that repeats itself ends. It is part of
no key: an answer that ended by itself before it is the same without it."""
_OUTPUT = re.compile(r"max_(?:\w+_)?tokens|(?:completion|output) tokens|in the completion")
_REFUSED = (
    "The server does not take this request as it is; a field that it names can be left "
    "out with -M FIELD=null."
)
_BACKGROUND = "Leave background out of the request, or let the answer be streamed."


class OpenAIModel(ServerModel):
    """A model behind an OpenAI-compatible server, built only where a key or a server is known."""

    provider = "openai"
    _server: OpenAIServer

    def __init__(self, name: str, settings: ModelSettings) -> None:
        super().__init__(name, settings)
        self.counted_as = name
        self._is_free = {"max_tokens", "max_completion_tokens"}.isdisjoint(settings.fields)
        """Whether nobody says how long an answer may be."""
        self._is_capped = self._is_free

    def _served(self, who: str) -> OpenAIServer:
        return OpenAIServer(who, self.settings, _REFUSED)

    def _body(self, request: Request, tools: WireTools, profile: Profile) -> dict[str, Any]:
        if request.max_tokens is None and self._is_capped:
            request = replace(request, max_tokens=OUTPUT_CAP)
        return super()._body(request, tools, profile)

    @property
    def identity(self) -> dict[str, JSON]:
        """What shapes this model's answers, besides the request; holds no secret."""
        return super().identity | ({"api": "responses"} if self._is_of_responses else {})

    @property
    def _is_of_responses(self) -> bool:
        return self.settings.api == "responses"

    def _asked(self, body: dict[str, Any]) -> Any:
        try:
            return self._sent(body)
        except RequestError as error:
            uncapped = {name: body[name] for name in body if body[name] != OUTPUT_CAP}
            if not (self._is_free and len(uncapped) < len(body) and _too_much(error.said)):
                raise
        answer = self._sent(uncapped)
        self._is_capped = False  # its window, or what it may write, is smaller
        return answer

    def _sent(self, body: dict[str, Any]) -> Any:
        if not self._is_of_responses:
            return self._server.post("/chat/completions", body)
        from seal.models.responses import as_chat, as_response, unfinished

        answer = self._server.post("/responses", as_response(body))
        if status := unfinished(answer):
            said = f"answered with a response that is only {status}. {_BACKGROUND}"
            raise RequestError(self._server.told(said))
        return as_chat(answer)


def _too_much(said: str) -> bool:
    """Tell whether a server refuses so long an output; a name that it lacks the profile learns."""
    return bool(_OUTPUT.search(said)) and not re.search(
        "unsupported|not supported", said, re.IGNORECASE
    )


def build(name: str, settings: ModelSettings) -> OpenAIModel:
    """Return the model `openai/NAME`."""
    return OpenAIModel(name, settings)
