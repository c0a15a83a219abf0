"""Google's models: the one module that imports google-genai (extra `gemini`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from seal.core.addresses import check_url, read_key
from seal.core.errors import MissingExtraError, ModelError, RequestError, UsageError
from seal.core.remote import RETRIED, PerProcess, Redactor, TransientError, retry_after, sentences

if TYPE_CHECKING:
    from google.genai import Client

Answer = TypeVar("Answer")

KEY = "GOOGLE_API_KEY"
_REFUSED = "The server does not take this request as it is."


class GeminiServer:
    """Google's server, and the key for it. Safe in threads, which share one client.

    Args:
        who: The model, `gemini/NAME`; begins every message.
        url: Address of another server that speaks this interface; None: Google's own.
        api_key_env: Variable that holds the key; None: GOOGLE_API_KEY.
        timeout_s: Longest silence of the server, in seconds.

    Raises:
        UsageError: No key, or no address; the text names the variable.
        MissingExtraError: google-genai is not installed.
    """

    def __init__(
        self, who: str, url: str | None, api_key_env: str | None, timeout_s: float
    ) -> None:
        self.url = check_url(url) if url else None
        self._who = who
        self._key_variable = api_key_env or KEY
        key = read_key(self._key_variable)
        if key is None:
            raise UsageError(f"{who}: no key; set {self._key_variable}")
        _require_sdk()
        self._key = key
        self._timeout_s = timeout_s
        self._redact = Redactor([key])
        self._clients: PerProcess[Client] = PerProcess()

    def __repr__(self) -> str:
        return f"GeminiServer({self._who!r})"

    def prepare(self) -> None:
        """Import the SDK, which takes seconds and is no silence of the server."""
        self._connection()

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
            failure = self._status_failure(error)
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

    def transient(self, said: str, wait_s: float | None = None) -> TransientError:
        """Return a failure that may pass, after what the server said."""
        return TransientError(self.told(said), wait_s)

    def told(self, said: str) -> str:
        """Return what the server said, with the model's name and without secrets."""
        return f"{self._who} {self._redact(said)}".rstrip()

    def _connection(self) -> Client:
        return self._clients.get(self._connect)

    def _connect(self) -> Client:
        from google.genai import Client

        options: Any = {
            "timeout": int(self._timeout_s * 1000),
            "retry_options": {"attempts": 1},
        }
        if self.url:
            options["base_url"] = self.url
        return Client(api_key=self._key, vertexai=False, http_options=options)

    def _status_failure(self, error: Any) -> ModelError:
        status = int(error.code or 0)
        said = f"answered HTTP {status}: {error.message or error.status or ''}"
        if status in RETRIED or status >= 500:
            headers = getattr(error.response, "headers", None) or {}
            return self.transient(said, retry_after(headers))
        if status in (401, 403) or "api key" in said.casefold():
            return ModelError(
                sentences(self.told(said), f"Set {self._key_variable} to a valid key.")
            )
        if status == 404:
            return ModelError(sentences(self.told(said), "Check the model's name."))
        return RequestError(sentences(self.told(said), _REFUSED))


def _require_sdk() -> None:
    try:
        import google.genai  # noqa: F401
    except ModuleNotFoundError as error:
        if error.name not in ("google", "google.genai"):
            raise
        raise MissingExtraError("google-genai", "gemini") from None


def _connection_errors() -> tuple[type[Exception], ...]:
    """Return the errors of the HTTP library that the SDK uses: httpx2, or httpx before it."""
    found: list[type[Exception]] = []
    for name in ("httpx2", "httpx"):
        try:
            found.append(__import__(name).TransportError)
        except ModuleNotFoundError:
            continue
    return tuple(found)
