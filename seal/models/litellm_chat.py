"""`litellm/NAME`: whatever LiteLLM knows (extra `litellm`), which this module alone imports.

LiteLLM takes the key from the variable of its provider, and gives answers in the form of chat
completions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from seal.core import ModelError
from seal.core.secrets import held_keys
from seal.models.model_settings import ModelSettings
from seal.models.server_model import SdkServer, ServerModel


class _LiteLLM(SdkServer):
    """LiteLLM, which finds the server by the model's name."""

    package = "litellm"
    needs_key = False

    def __init__(self, who: str, settings: ModelSettings) -> None:
        self.url = settings.base_url
        super().__init__(who, "", settings, held_keys())

    def _sent(self, client: Any, body: Mapping[str, Any], heard: Callable[[], None]) -> Any:
        told: dict[str, Any] = {"api_base": self.url, "api_key": self._key, "drop_params": True}
        told |= {"timeout": self._settings.timeout_s, "num_retries": 0, "max_retries": 0}
        return client(**body, **told).model_dump()

    def _told(self, error: Exception) -> ModelError:
        status = getattr(error, "status_code", None)
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        said = str(getattr(error, "message", None) or error)
        return self._failure(status if isinstance(status, int) else 500, said, headers)

    def _connect(self) -> Any:
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else it asks GitHub
        import litellm

        litellm.suppress_debug_info = True
        return litellm.completion

    @property
    def _key_repair(self) -> str:
        return "Set the variable of the provider's key, or name one by key_env=VARIABLE."


class LiteLLMModel(ServerModel):
    """A model that LiteLLM asks, by the name that LiteLLM has for it: `PROVIDER/MODEL`.

    Fields of the request that its provider does not know are left out by LiteLLM.
    """

    provider = "litellm"
    _server: _LiteLLM

    def _served(self, who: str) -> _LiteLLM:
        return _LiteLLM(who, self.settings)

    def _asked(self, body: dict[str, Any]) -> Any:
        return self._server.post(body)


def build(name: str, settings: ModelSettings) -> LiteLLMModel:
    """Return the model `litellm/NAME`."""
    return LiteLLMModel(name, settings)
