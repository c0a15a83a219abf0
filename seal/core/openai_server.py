"""Servers that speak OpenAI's interface: the one module that imports OpenAI's SDK.

A request goes through the SDK's `post`, because `chat.completions.create` walks over the whole body
once more: 4.3 instead of 1.1 ms of CPU for a prompt with ten tools.
"""

from __future__ import annotations

import base64
import os
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from seal.core.addresses import BASE_URL, check_url, public_url, read_key
from seal.core.errors import ModelError, RequestError, UsageError
from seal.core.remote import (
    RETRIED,
    PerProcess,
    Redactor,
    TransientError,
    retry_after,
    sentences,
)

if TYPE_CHECKING:
    from openai import APIStatusError, OpenAI

KEY = "OPENAI_API_KEY"
SERVER = "OPENAI_BASE_URL"
_NO_KEY = "no-key-needed"  # local servers want some header


def server_url(given: str | None, setting: str = BASE_URL) -> str | None:
    """Return the address of a server: the given one, else OPENAI_BASE_URL; None: OpenAI's own.

    Args:
        given: The address; None or empty: none.
        setting: Where it is given, for the message.

    Raises:
        UsageError: It is no address.
    """
    url = given or os.environ.get(SERVER, "").strip() or None
    return check_url(url, setting if given else SERVER) if url else None


class OpenAIServer:
    """A server, and the key for it. Safe in threads, which share one client.

    Nothing is sent, and the SDK is not imported, before the first request.

    Args:
        who: The model, `openai/NAME`; begins every message.
        url: From `server_url`.
        api_key_env: Variable that holds the key; None: OPENAI_API_KEY.
        timeout_s: Longest silence of the server, in seconds.
        refused: What to do where it does not take a request: one sentence.
        setting: Where the address is given, for messages.

    Raises:
        UsageError: Neither a key nor a server; the text names the variable and the setting.
    """

    def __init__(
        self,
        who: str,
        url: str | None,
        api_key_env: str | None,
        timeout_s: float,
        refused: str,
        setting: str = BASE_URL,
    ) -> None:
        self.url = url
        self._setting = setting
        self._who = who
        self._key_variable = api_key_env or KEY
        self._key = read_key(self._key_variable)
        self._timeout_s = timeout_s
        self._refused = refused
        if not self._key and not url:
            raise UsageError(
                f"{who}: no key and no server; set {self._key_variable}, or name a server "
                f"with {setting} (vLLM, Ollama, llama.cpp)"
            )
        self._clients: PerProcess[OpenAI] = PerProcess()
        parts = urlsplit(url or "")
        self._redact = Redactor([self._key, parts.password, *_values(parts.query)])

    def __repr__(self) -> str:
        return f"OpenAIServer({self._who!r})"

    def prepare(self) -> None:
        """Import the SDK, which takes seconds and is no silence of the server."""
        self._connection()

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """Return the JSON of the server's answer, with every failure told in words of ours.

        The SDK's errors end here, cause and context included: they may hold the key.

        Raises:
            TransientError: A failure that may pass.
            RequestError: The server does not take this request.
            ModelError: It takes none: key, name or address are wrong.
        """
        import openai

        failure: ModelError
        try:
            return self._connection().post(path, cast_to=object, body=body)
        except openai.APIStatusError as error:
            failure = self._status_failure(error)
        except openai.APITimeoutError:
            failure = self.transient(f"gave no answer within {self._timeout_s:g} seconds")
        except openai.APIConnectionError as error:
            said = f"could not be reached or broke off: {error.__cause__ or error}"
            failure = self.transient(sentences(said, f"Is it running, is {self._setting} right?"))
        except ValueError as error:
            failure = self.transient(f"answered what is no JSON: {error}")
        except openai.OpenAIError as error:
            failure = ModelError(self.told(str(error)))
        raise failure

    def transient(self, said: str, wait_s: float | None = None) -> TransientError:
        """Return a failure that may pass, after what the server said."""
        return TransientError(self.told(said), wait_s)

    def told(self, said: str) -> str:
        """Return what the server said, with its name and without secrets."""
        where = f" at {public_url(self.url)}" if self.url else ""
        return f"{self._who}{where} {self._redact(said)}".rstrip()

    def _connection(self) -> OpenAI:
        return self._clients.get(self._connect)

    def _connect(self) -> OpenAI:
        from openai import OpenAI

        # The SDK looks into whatever httpx it finds, be it half imported by another thread.
        with suppress(ModuleNotFoundError):
            import_module("httpx")
        options: dict[str, Any] = {}
        if self.url:
            parts = urlsplit(self.url)
            host = parts.netloc.rpartition("@")[2]
            options["base_url"] = urlunsplit((parts.scheme, host, parts.path, "", ""))
            options["default_query"] = dict(parse_qsl(parts.query, keep_blank_values=True))
            if parts.username:
                login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
                header = "Basic " + base64.b64encode(login).decode()
                options["default_headers"] = {"Authorization": header}
        return OpenAI(
            api_key=self._key or _NO_KEY,
            timeout=self._timeout_s,
            max_retries=0,
            **options,
        )

    def _status_failure(self, error: APIStatusError) -> ModelError:
        status = error.status_code
        said = f"answered HTTP {status}: {_message(error)}"
        spent = error.code == "insufficient_quota"
        if (status in RETRIED or status >= 500) and not spent:
            return self.transient(said, retry_after(error.response.headers))
        repair = self._repair(status)
        kind = RequestError if repair is self._refused else ModelError
        return kind(sentences(self.told(said), repair))

    def _repair(self, status: int) -> str:
        if status in (401, 403):
            return f"Set {self._key_variable} to a key that may use this model."
        if status == 404:
            return (
                f"Check the model's name and {self._setting} (it usually ends in /v1); "
                "`seal models` lists the forms."
            )
        if status == 429:
            return f"The account behind {self._key_variable} has no quota left."
        return self._refused


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
