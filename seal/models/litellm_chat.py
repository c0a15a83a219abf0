"""`litellm/NAME`: whatever LiteLLM knows (extra `litellm`), which this module alone imports.

LiteLLM takes the key from the variable of its provider, and gives answers in the form of chat
completions.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from seal.core import Completion, MissingExtraError, ModelError, OverdueError, Request
from seal.core.deadlines import given_up, seconds_left
from seal.core.secrets import held_keys
from seal.core.servers import Server
from seal.models.profiles import Profile, find_profile
from seal.models.settings import ModelSettings
from seal.models.wire import ServerModel, WireTools, parse_completion, wire_request


class _LiteLLM(Server):
    """LiteLLM, which finds the server by the model's name.

    Raises:
        MissingExtraError: litellm is not installed.
    """

    def __init__(self, who: str, settings: ModelSettings) -> None:
        self.url = settings.base_url
        super().__init__(who, "", "", settings, held_keys())
        if find_spec("litellm") is None:
            raise MissingExtraError("litellm", "litellm")

    def post(self, body: Mapping[str, Any]) -> Any:
        """Return the JSON of an answer, with every failure told in words of ours.

        Raises:
            TransientError: A failure that may pass.
            RequestError: The server does not take this request.
            ModelError: It takes none: key or name are wrong.
        """
        failure: ModelError
        try:
            complete = self._connection()
            told: dict[str, Any] = {"api_base": self.url, "api_key": self._key, "drop_params": True}
            told |= {"timeout": self._settings.timeout_s, "num_retries": 0, "max_retries": 0}
            return given_up(lambda: complete(**body, **told).model_dump(), seconds_left())
        except OverdueError:
            failure = self.transient("gave no answer before the time was up", status=0)
        except Exception as error:  # LiteLLM has no class of its own for all its failures
            status = getattr(error, "status_code", None)
            headers = getattr(getattr(error, "response", None), "headers", None) or {}
            said = str(getattr(error, "message", None) or error)
            failure = self._failure(status if isinstance(status, int) else 500, said, headers)
        raise failure

    def _connect(self) -> Any:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks GitHub
        import litellm

        litellm.suppress_debug_info = True
        return litellm.completion

    @property
    def _key_repair(self) -> str:
        return "Set the variable of the provider's key, or name one by key_env=VARIABLE."


class LiteLLMModel(ServerModel):
    """A model that LiteLLM asks. Safe in threads.

    Fields of the request that its provider does not know are left out by LiteLLM.

    Args:
        name: As LiteLLM has it: `PROVIDER/MODEL`.
        settings: Address, tries, further fields of the request.

    Raises:
        UsageError: No such profile.
        MissingExtraError: litellm is not installed.
    """

    provider = "litellm"
    _server: _LiteLLM
    unusable = "answered what is no chat completion"

    def __init__(self, name: str, settings: ModelSettings) -> None:
        super().__init__(name, settings)
        self._server = _LiteLLM(f"litellm/{name}", settings)
        self.profile = find_profile(name, self.place, settings.profile)

    def _body(self, request: Request, tools: WireTools, profile: Profile) -> Any:
        return wire_request(self.name, request, tools, self.settings, profile)

    def _ask(self, body: Any) -> Any:
        return self._server.post(body)

    def _read(self, answer: Any, tools: WireTools) -> tuple[Completion, bool]:
        return parse_completion(answer, tools)


def build(name: str, settings: ModelSettings) -> LiteLLMModel:
    """Return the model `litellm/NAME`."""
    return LiteLLMModel(name, settings)
