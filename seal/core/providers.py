"""The servers of OpenAI's interface and of Google's, and the keys for them.

This is the one module that imports OpenAI's SDK and google-genai (extra `gemini`), when first used.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from seal.core.errors import MissingExtraError, ModelError, UsageError
from seal.core.secrets import BASE_URL, ServerSettings, check_url, public_url
from seal.core.servers import Server, sentences

if TYPE_CHECKING:
    from google.genai import Client
    from openai import OpenAI

Answer = TypeVar("Answer")

OPENAI_URL = "OPENAI_BASE_URL"
"""Variable that holds the address of an OpenAI-compatible server."""
_NO_KEY = "no-key-needed"  # local servers want some header


class OpenAIServer(Server):
    """A server that speaks OpenAI's interface.

    A request goes through the SDK's `post`, because `chat.completions.create` walks over the whole
    body once more: 4.3 instead of 1.1 ms of CPU for a prompt with ten tools.

    Args:
        who: The model, `openai/NAME`; begins every message.
        settings: How it is asked; the key is OPENAI_API_KEY where they name no variable.
        refused: What to do where it does not take a request: one sentence.

    Raises:
        UsageError: No address, or neither a key nor a server; names the variable and the setting.
    """

    def __init__(self, who: str, settings: ServerSettings, refused: str) -> None:
        self.url = url = server_url(settings.base_url, settings.address_from)
        self.refused = refused
        self._setting = settings.address_from
        parts = urlsplit(url or "")
        query = [value for _, value in parse_qsl(parts.query) if len(value) >= 8]
        where = f" at {public_url(url)}" if url else ""
        super().__init__(who, where, "OPENAI_API_KEY", settings, [parts.password, *query])
        if not self._key and not url:
            raise UsageError(
                f"{who}: no key and no server; set {self._key_variable}, or name a server "
                f"with {settings.address_from} (vLLM, Ollama, llama.cpp)"
            )

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
            spent = error.code == "insufficient_quota"
            message = _message(error.body) or error.message
            failure = self._failure(error.status_code, message, error.response.headers, spent)
        except openai.APITimeoutError:
            failure = self.transient(f"gave no answer within {self._settings.timeout_s:g} seconds")
        except openai.APIConnectionError as error:
            said = f"could not be reached or broke off: {error.__cause__ or error}"
            failure = self.transient(sentences(said, f"Is it running, is {self._setting} right?"))
        except ValueError as error:
            failure = self.transient(f"answered what is no JSON: {error}")
        except openai.OpenAIError as error:
            failure = ModelError(self.told(str(error)))
        raise failure

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
            api_key=self._key or _NO_KEY, timeout=self._settings.timeout_s, max_retries=0, **options
        )

    def _repair(self, status: int, said: str) -> str:
        if status in (401, 403):
            return f"Set {self._key_variable} to a key that may use this model."
        if status == 404:
            return (
                f"Check the model's name and {self._setting} (it usually ends in /v1); "
                "`seal models` lists the forms."
            )
        if status == 429:
            return f"The account behind {self._key_variable} has no quota left."
        return self.refused


class GeminiServer(Server):
    """Google's server, or another one that speaks its interface.

    Args:
        who: The model, `gemini/NAME`; begins every message.
        settings: How it is asked; the key is GOOGLE_API_KEY where they name no variable, and the
            address one of another server that speaks this interface.

    Raises:
        UsageError: No key, or no address; the text names the variable.
        MissingExtraError: google-genai is not installed.
    """

    def __init__(self, who: str, settings: ServerSettings) -> None:
        self.url = settings.base_url
        super().__init__(who, "", "GOOGLE_API_KEY", settings)
        if self._key is None:
            raise UsageError(f"{who}: no key; set {self._key_variable}")
        try:
            import google.genai  # noqa: F401
        except ModuleNotFoundError as error:
            if error.name not in ("google", "google.genai"):
                raise
            raise MissingExtraError("google-genai", "gemini") from None

    def ask(self, question: Callable[[Client], Answer]) -> Answer:
        """Return what a question to the SDK's client gives, failures told in words of ours.

        The SDK's errors end here: they may hold the key.

        Raises:
            TransientError: A failure that may pass.
            RequestError: The server does not take this request.
            ModelError: It takes none: key or name are wrong.
        """
        from google.genai import errors
        from pydantic import ValidationError

        failure: ModelError
        try:
            return question(self._connection())
        except errors.APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            message = error.message or error.status or ""
            failure = self._failure(int(error.code or 0), message, headers)
        except ValidationError as error:
            field = ".".join(map(str, error.errors()[0]["loc"]))
            kind = error.title.removesuffix("Dict")
            failure = ModelError(self.told(f"cannot use this {kind}: {field} is not valid."))
        except _connection_errors() as error:
            failure = self.transient(
                f"could not be reached or broke off: {type(error).__name__}: {error}"
            )
        except (AttributeError, TypeError, ValueError) as error:  # the SDK reads without checking
            failure = self.transient(f"answered what is not of its interface: {error}")
        raise failure

    def _connect(self) -> Client:
        from google.genai import Client

        options: Any = {
            "timeout": int(self._settings.timeout_s * 1000),
            "retry_options": {"attempts": 1},
        }
        if self.url:
            options["base_url"] = self.url
        return Client(api_key=self._key, vertexai=False, http_options=options)

    def _repair(self, status: int, said: str) -> str:
        if status in (401, 403) or "api key" in said.casefold():
            return f"Set {self._key_variable} to a valid key."
        return "Check the model's name." if status == 404 else self.refused


def server_url(given: str | None, setting: str = BASE_URL) -> str | None:
    """Return the address of a server: the given one, else OPENAI_BASE_URL; None: OpenAI's own.

    Args:
        given: The address; None or empty: none.
        setting: Where it is given, for the message.

    Raises:
        UsageError: It is no address.
    """
    url = given or os.environ.get(OPENAI_URL, "").strip() or None
    return check_url(url, setting if given else OPENAI_URL) if url else None


def _connection_errors() -> tuple[type[Exception], ...]:
    """Return the errors of the HTTP library that Google's SDK uses: httpx2, or httpx before it."""
    found: list[type[Exception]] = []
    for name in ("httpx2", "httpx"):
        with suppress(ModuleNotFoundError):
            found.append(import_module(name).TransportError)
    return tuple(found)


def _message(body: object) -> str:
    """Return what the body of an error says, as OpenAI's interface has it; all of any other."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(said, str) and said:
            return said
    return str(body or "")
