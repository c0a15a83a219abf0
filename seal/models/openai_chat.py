"""`openai/NAME`: OpenAI and every server that speaks its chat completions.

The one module here that imports OpenAI's SDK. A request goes through the SDK's `post`, because
`chat.completions.create` walks over the whole body once more: 4.3 instead of 1.1 ms of CPU for a
prompt with ten tools.
"""

from __future__ import annotations

import base64
import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from seal.core.errors import ModelError, UsageError
from seal.core.protocols import Completion, Request
from seal.core.types import JSON
from seal.models.remote import (
    RETRIED,
    Redactor,
    TransientError,
    retry_after,
    sentences,
    with_tries,
)
from seal.models.settings import ModelSettings, check_url, public_url, read_key
from seal.models.tokens import estimate_usage
from seal.models.wire import (
    MalformedAnswerError,
    WireToolsCache,
    parse_completion,
    wire_request,
)

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

KEY = "OPENAI_API_KEY"
SERVER = "OPENAI_BASE_URL"
_NO_KEY = "no-key-needed"  # local servers want some header


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
        self._key_variable = settings.api_key_env or KEY
        self._url = settings.base_url or os.environ.get(SERVER, "").strip() or None
        if self._url:
            check_url(self._url)
        self._key = read_key(self._key_variable)
        if not name:
            raise UsageError("openai/: the model's name is missing; write openai/NAME")
        if not self._key and not self._url:
            raise UsageError(
                f"openai/{name}: no key and no server; set {self._key_variable}, or name a server "
                "with --base-url (vLLM, Ollama, llama.cpp)"
            )
        self._tools = WireToolsCache()
        self._lock = threading.Lock()
        self._client: tuple[int, OpenAI] | None = None
        parts = urlsplit(self._url or "")
        self._redact = Redactor([self._key, parts.password, *_values(parts.query)])

    @property
    def identity(self) -> dict[str, JSON]:
        """What shapes this model's answers, besides the request; holds no secret."""
        return {
            "model": f"openai/{self.name}",
            "base_url": public_url(self._url) if self._url else None,
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
            answer = self._post(body)
            try:
                completion, counted = parse_completion(answer, tools)
            except MalformedAnswerError as error:
                problem = str(error)
            else:
                return completion if counted else estimate_usage(request, completion, self.name)
            raise self._transient(f"answered what is no chat completion: {problem}")

        self._shared_client()  # importing the SDK takes seconds and is no silence of the server
        return with_tries(ask, settings)

    def _post(self, body: dict[str, Any]) -> Any:
        """Return the JSON of the server's answer, with every failure told in words of ours.

        The SDK's errors end here, cause and context included: they may hold the key.
        """
        import openai

        failure: ModelError
        try:
            return self._shared_client().post("/chat/completions", cast_to=object, body=body)
        except openai.APIStatusError as error:
            failure = self._status_failure(error)
        except openai.APITimeoutError:
            failure = self._transient(f"gave no answer within {self.settings.timeout_s:g} seconds")
        except openai.APIConnectionError as error:
            said = f"could not be reached or broke off: {error.__cause__ or error}"
            failure = self._transient(sentences(said, "Is it running, is --base-url right?"))
        except ValueError as error:
            failure = self._transient(f"answered what is no JSON: {error}")
        except openai.OpenAIError as error:
            failure = ModelError(self._told(str(error)))
        raise failure

    def _shared_client(self) -> OpenAI:
        """Return this process's client: a fork must not share its parent's connections."""
        client = self._client
        if client is not None and client[0] == os.getpid():
            return client[1]
        with self._lock:
            client = self._client
            if client is None or client[0] != os.getpid():
                client = (os.getpid(), self._connect())
                self._client = client
        return client[1]

    def _connect(self) -> OpenAI:
        from openai import OpenAI

        options: dict[str, Any] = {}
        if self._url:
            parts = urlsplit(self._url)
            host = parts.netloc.rpartition("@")[2]
            options["base_url"] = urlunsplit((parts.scheme, host, parts.path, "", ""))
            options["default_query"] = dict(parse_qsl(parts.query, keep_blank_values=True))
            if parts.username:
                login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
                header = "Basic " + base64.b64encode(login).decode()
                options["default_headers"] = {"Authorization": header}
        return OpenAI(
            api_key=self._key or _NO_KEY,
            timeout=self.settings.timeout_s,
            max_retries=0,
            **options,
        )

    def _status_failure(self, error: APIStatusError) -> ModelError:
        status = error.status_code
        said = f"answered HTTP {status}: {_message(error)}"
        spent = error.code == "insufficient_quota"
        if (status in RETRIED or status >= 500) and not spent:
            return self._transient(said, retry_after(error.response.headers))
        return ModelError(sentences(self._told(said), self._repair(status)))

    def _repair(self, status: int) -> str:
        if status in (401, 403):
            return f"Set {self._key_variable} to a key that may use this model."
        if status == 404:
            return (
                "Check the model's name and --base-url (it usually ends in /v1); "
                "`seal models` lists the forms."
            )
        if status == 429:
            return f"The account behind {self._key_variable} has no quota left."
        return (
            "The server does not take this request as it is; a field that it names can be left "
            "out with -M FIELD=null."
        )

    def _transient(self, said: str, wait_s: float | None = None) -> TransientError:
        return TransientError(self._told(said), wait_s)

    def _told(self, said: str) -> str:
        where = f" at {public_url(self._url)}" if self._url else ""
        return f"openai/{self.name}{where} {self._redact(said)}".rstrip()


def build(name: str, settings: ModelSettings) -> OpenAIModel:
    """Return the model `openai/NAME`."""
    return OpenAIModel(name, settings)


def _message(error: APIStatusError) -> str:
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(said, str) and said:
            return said
    return str(body or error.message)


def _values(query: str) -> list[str]:
    return [value for _, value in parse_qsl(query) if len(value) >= 8]
