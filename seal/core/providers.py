"""The servers of OpenAI's interface and of Google's, and the keys for them."""

from __future__ import annotations

import logging
import os
import re
from typing import Any

from seal.core.errors import RequestError, UsageError
from seal.core.http import CHAT, GEMINI, RESPONSES, HttpServer
from seal.core.secrets import GEMINI_URL, OPENAI_URL, ServerSettings

_log = logging.getLogger(__name__)
_OPENAI = "https://api.openai.com/v1"
_GENERATE = "generateContent"
_GEMINI = "https://generativelanguage.googleapis.com"
_NO_KEY = "no-key-needed"  # local servers want some header
_STREAMED = {"/chat/completions": CHAT, "/responses": RESPONSES}
"""Where answers come piece by piece, if they may."""
_COUNTED = {"stream_options": {"include_usage": True}}
"""Asks for the tokens of a streamed chat completion; other answers have them anyway."""
_ABOUT_STREAMS = re.compile(r"\bstream(?:ing|_options)?\b")
_NO_MODEL = re.compile(
    r"\bmodel\b.{0,80}\b(?:not found|not exist|not a valid)|\b(?:invalid|unknown|no such) model\b",
    re.IGNORECASE,
)
_CONTEXTS = (
    "n_ctx",  # llama.cpp
    "max_model_len",  # vLLM
    "context_length",  # OpenRouter, Ollama
    "loaded_context_length",  # LM Studio
    "max_context_length",  # Mistral
    "context_window",  # Groq
)
"""Names of a model's context."""
_LISTS = (
    ("/models", "data", "id"),
    ("//api/v0/models", "data", "id"),
    ("//api/ps", "models", "name"),
)
"""Where models are listed, in which field, and which field of an entry is the model's name."""
_ACCOUNT = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
"""Header to the variable that holds its value: whose account is charged."""


class OpenAIServer(HttpServer):
    """A server that speaks OpenAI's interface.

    Args:
        who: The model, `openai/NAME`; begins every message.
        settings: How it is asked; the key is OPENAI_API_KEY where they name no variable.
        refused: What to do where it does not take a request: one sentence.

    Raises:
        UsageError: No address, or neither a key nor a server; names the variable and the setting.
    """

    def __init__(self, who: str, settings: ServerSettings, refused: str) -> None:
        self.refused = refused
        super().__init__(who, settings, _OPENAI, (OPENAI_URL, "OPENAI_API_KEY"))
        if not self._key and not self.url:
            raise UsageError(
                f"{who}: no key and no server; set {self._key_variable}, or name a server "
                f"with {settings.address_from} (vLLM, Ollama, llama.cpp)"
            )
        key = self._key or _NO_KEY
        at_azure = (self._address.hostname or "").endswith((".azure.com", ".azure-api.net"))
        header = settings.key_header or ("api-key" if at_azure and not self._login else None)
        self._headers |= (
            {header: key} if header else {"Authorization": self._login or f"Bearer {key}"}
        )
        told = {"stream": True}
        self._stream_fields = (told | _COUNTED, told, {}) if settings.stream else ({},)
        """What is added to a request, the fullest first; what was refused is taken out."""
        for header, variable in _ACCOUNT.items():
            if os.environ.get(variable):
                self._headers[header] = os.environ[variable]

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Return the JSON of the server's answer, every failure told in words of ours.

        A model's answer is streamed where it may be, and is the same JSON. A server that refuses to
        count the tokens of a stream, or to stream, is not asked for it again.
        """
        form = _STREAMED.get(path)
        ways = self._stream_fields if form else ({},)
        if form is RESPONSES:
            ways = tuple(fields for fields in ways if not fields.keys() & _COUNTED.keys())
        for number, fields in enumerate(ways, 1):
            try:
                answer = self._post(path, fields | body, form or CHAT)
            except RequestError as error:
                if not (fields and _ABOUT_STREAMS.search(error.said)):
                    raise
                self._shorten(ways[number:])
            else:
                return answer
        raise AssertionError("the last request has no field of streams")

    def _shorten(self, ways: tuple[dict[str, Any], ...]) -> None:
        """Keep to the ways that a refusal of streams leaves; it is told once.

        Other threads may be refused the same: each takes out what it has sent itself.
        """
        with self._lock:
            before = self._stream_fields
            self._stream_fields = min(before, ways, key=len)
        if left_out := sorted(before[0].keys() - self._stream_fields[0].keys()):
            told = f"{', '.join(left_out)} left out"
            _log.warning("%s refused a request; from now on: %s", self._who, told)

    def context_of(self, model: str) -> int | None:
        """Return how many tokens prompt and answer may have, as the server says.

        It says so under one of several names: llama.cpp at `/props`; of each model at `/models`, LM
        Studio at a place of its own, and Ollama of those that are loaded.
        """
        settings = self._found("//props").get("default_generation_settings")
        shown = [settings] if isinstance(settings, dict) else []
        for path, field, name in _LISTS:
            listed = self._found(path).get(field)
            entries = listed if isinstance(listed, list) else []
            shown += [one for one in entries if isinstance(one, dict) and one.get(name) == model]
        counts = (one.get(name) for one in shown for name in _CONTEXTS)
        return next((n for n in counts if isinstance(n, int) and n > 0), None)

    def _found(self, path: str) -> dict[str, Any]:
        """Return the JSON object that a server shows at a path; empty where it shows none.

        Args:
            path: As `/models`, below the address; `//props` is at the server's root.
        """
        from urllib3.exceptions import HTTPError

        pool = self._connection()
        whole = path[1:] if path.startswith("//") else self._address.path.rstrip("/") + path
        url = self._address._replace(path=whole).geturl()
        try:
            answer = pool.urlopen("GET", url, headers=self._headers)
            shown = answer.json() if answer.status == 200 else {}
        except (HTTPError, ValueError):
            return {}
        return shown if isinstance(shown, dict) else {}

    def _repair(self, status: int, said: str) -> str:
        if status in (401, 403):
            return f"Set {self._key_variable} to a key that may use this model."
        if status in (404, 405) or (status in (400, 422) and _NO_MODEL.search(said)):
            return (
                f"Check the model's name and {self.setting} (it usually ends in /v1); "
                "`seal models` lists the forms."
            )
        return super()._repair(status, said)


class GeminiServer(HttpServer):
    """Google's server, or another one that speaks its interface.

    Args:
        who: The model, `gemini/NAME`; begins every message.
        settings: How it is asked; the key is GOOGLE_API_KEY where they name no variable, and the
            address one of another server that speaks this interface.

    Raises:
        UsageError: No key, or no address; the text names the variable.
    """

    def __init__(self, who: str, settings: ServerSettings) -> None:
        super().__init__(who, settings, _GEMINI, (GEMINI_URL, "GOOGLE_API_KEY"))
        path = self._address.path.rstrip("/").removesuffix("/v1beta")  # which requests have
        self._address = self._address._replace(path=path)
        self._require_key()
        self._headers[settings.key_header or "x-goog-api-key"] = self._key or ""

    def ask(self, model: str, method: str, body: dict[str, Any]) -> Any:
        """Return the JSON that a method of a model gives; answers are streamed."""
        if method == _GENERATE and self._settings.stream:
            method = "streamGenerateContent?alt=sse"
        return self._post(f"/v1beta/{self.path_of(model)}:{method}", body, GEMINI)

    @staticmethod
    def path_of(model: str) -> str:
        """Return the path of a model: `models/NAME`, or its name where that is a path."""
        return model if "/" in model else f"models/{model}"

    def _repair(self, status: int, said: str) -> str:
        wrong_key = "api key" in said.casefold()
        return self._key_repair if wrong_key else super()._repair(status, said)
