"""`openai/NAME`: OpenAI and every server that speaks its chat completions, or its responses."""

from __future__ import annotations

from typing import Any

from seal.core import JSON, Completion, Request
from seal.core.providers import OpenAIServer
from seal.models.profiles import Profile, find_profile
from seal.models.settings import ModelSettings
from seal.models.wire import ServerModel, WireTools, parse_completion, wire_request

_REFUSED = (
    "The server does not take this request as it is; a field that it names can be left "
    "out with -M FIELD=null."
)


class OpenAIModel(ServerModel):
    """A model behind an OpenAI-compatible server. Safe in threads, which share one client.

    Built only where a key or a server is known; nothing is sent before the first request.

    Args:
        name: What the server calls the model.
        settings: Address, tries, further fields.

    Raises:
        UsageError: Neither a key nor a server; the text names the variable and the flag. Or no such
            profile.
        DataError: The profile's file is wrong.
    """

    provider = "openai"
    _server: OpenAIServer
    unusable = "answered what is no chat completion"

    def __init__(self, name: str, settings: ModelSettings) -> None:
        super().__init__(name, settings)
        self.counted_as = name
        self._server = OpenAIServer(f"openai/{name}", settings, _REFUSED)
        self.profile = find_profile(name, self.place, settings.profile)

    def _body(self, request: Request, tools: WireTools, profile: Profile) -> Any:
        return wire_request(self.name, request, tools, self.settings, profile)

    @property
    def identity(self) -> dict[str, JSON]:
        """What shapes this model's answers, besides the request; holds no secret."""
        return super().identity | ({"api": "responses"} if self._is_of_responses else {})

    @property
    def _is_of_responses(self) -> bool:
        return self.settings.api == "responses"

    def _ask(self, body: Any) -> Any:
        if not self._is_of_responses:
            return self._server.post("/chat/completions", body)
        from seal.models.responses import as_chat, as_response

        return as_chat(self._server.post("/responses", as_response(body)))

    def _read(self, answer: Any, tools: WireTools) -> tuple[Completion, bool]:
        return parse_completion(answer, tools)


def build(name: str, settings: ModelSettings) -> OpenAIModel:
    """Return the model `openai/NAME`."""
    return OpenAIModel(name, settings)
