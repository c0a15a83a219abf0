"""The servers of OpenAI's interface, those behind an SDK, and Google's; the keys for them."""

from __future__ import annotations

import logging
import os
import re
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from weakref import WeakMethod

from seal.core.concurrency import given_up, seconds_left
from seal.core.errors import (
    MissingExtraError,
    ModelError,
    OptionError,
    OverdueError,
    RequestError,
    UsageError,
)
from seal.core.http import (
    KEPT_CONNECTIONS,
    LARGEST,
    LONGEST_CONNECT_S,
    HttpServer,
    elsewhere,
    proxy_of,
    taken,
    undecoded,
    unreached_through,
)
from seal.core.secrets import GEMINI_URL, OPENAI_URL, ServerSettings
from seal.core.servers import Server, sentences
from seal.core.streams import (
    CHAT,
    GEMINI,
    RESPONSES,
    Patience,
    chat_of,
    has_words,
    holds_answer,
    is_ended,
)

_log = logging.getLogger(__name__)
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

    home = "https://api.openai.com/v1"
    variables = OPENAI_URL, "OPENAI_API_KEY"

    def __init__(self, who: str, settings: ServerSettings, refused: str) -> None:
        self.refused = refused
        super().__init__(who, settings)
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
        if form is CHAT and (offered := _offered(body)):
            form = chat_of(offered)
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
        if status in (401, 403) and (told := super()._repair(status, said)) == self._key_repair:
            return f"Set {self._key_variable} to a key that may use this model."
        if status in (401, 403):
            return told
        if status in (404, 405) or (status in (400, 422) and _NO_MODEL.search(said)):
            return (
                f"Check the model's name and {self.setting} (it usually ends in /v1); "
                "`seal models` lists the forms."
            )
        return super()._repair(status, said)


def _offered(body: Mapping[str, Any]) -> list[str]:
    """Return the names of the tools that a chat completion offers."""
    return [tool["function"]["name"] for tool in body.get("tools", ())]


class SdkServer(Server):
    """A server behind an SDK. A request that takes longer than it may goes on in its own thread.

    Raises:
        UsageError: No key where there must be one; the text names the variable.
        MissingExtraError: The SDK is not installed.
    """

    package: str
    """Distribution that is needed."""
    module: str
    """What is imported of it."""
    extra: str
    """The extra that brings it."""
    needs_key = True
    form = CHAT
    """In which answers come that are streamed."""

    def __init__(
        self, who: str, settings: ServerSettings, secrets: Iterable[str | None] = ()
    ) -> None:
        super().__init__(who, settings, secrets)
        if self.needs_key:
            self._require_key()
        family = self.module.partition(".")[0]
        if find_spec(family) is None or find_spec(self.module) is None:
            raise MissingExtraError(self.package, self.extra)

    def post(self, body: Mapping[str, Any]) -> Any:
        """Return the JSON of an answer, with every failure told in words of ours.

        The SDK's errors end here: they may hold the key.

        Raises:
            TransientError: A failure that may pass.
            OverdueError: The time was up while words of the answer came.
            RequestError: The server does not take this request.
            ModelError: It takes none: key or name are wrong.
        """
        client, text = self._connection(), bytearray()
        failure: ModelError | OverdueError
        try:
            return given_up(lambda: self._sent(client, body, text), seconds_left())
        except OverdueError:
            if has_words(text, self.form):
                failure = OverdueError(self.told("was still answering when the time was up"))
            else:
                failure = self.transient("gave no answer before the time was up", status=0)
        except Exception as error:  # SDKs have no one class for what goes wrong in them
            failure = self._told(error)
        raise failure

    @abstractmethod
    def _sent(self, client: Any, body: Mapping[str, Any], text: bytearray) -> Any:
        """Return the JSON of an answer.

        Args:
            client: What `_connect` gave.
            body: Of the request.
            text: Grows by what is read of an answer that is streamed.
        """

    @abstractmethod
    def _told(self, error: Exception) -> ModelError:
        """Return an error of the SDK in words of ours."""


class _AnsweredError(Exception):
    """An answer came, and is read: nothing is left for the SDK to do.

    Args:
        status: Of HTTP.
        headers: By name, in any case.
        text: Its body.
        led_to: Address to which redirects led; empty: to none.
    """

    def __str__(self) -> str:  # SDKs write errors to their logs, and a body may repeat a key
        return f"HTTP {self.args[0]}"


class HttpxServer(SdkServer):
    """A server behind an SDK that asks through httpx.

    The SDK makes the requests, signs in and sends. Answers are read as they came: SDKs leave out
    what they do not know, errors amid an answer among it.
    """

    home: str
    """Where the hosts of the provider end."""
    key_header: str
    """Bears the key where the settings name no header."""
    signs_in = False
    """Whether the SDK sends something else than the key."""

    def __init__(self, who: str, settings: ServerSettings) -> None:
        super().__init__(who, settings)
        self._asking = threading.local()
        self._address = urlsplit(self.url or "")
        path = self._address.path.rstrip("/")
        self._version = (re.findall(r"/(v1\w*)\Z", path) or [""])[0]
        """Of the interface, where it ends the address."""
        path = path.removesuffix(f"/{self._version}")
        self._base = self._address._replace(path=path, query="", fragment="").geturl() or None
        """The address before the version."""
        self._hooks = {"request": [_weakly(self._addressed)], "response": [_weakly(self._read)]}
        """What the client of httpx is to be made with, as `event_hooks`."""

    def _addressed(self, request: Any) -> None:
        """Let a request wait as long as the settings say, and bear the key to this server alone."""
        silence, url = self._settings.timeout_s, request.url
        self._asking.urls.append(str(url))
        waits = {"connect": min(silence, LONGEST_CONNECT_S), "read": silence, "write": silence}
        request.extensions["timeout"] = waits | {"pool": None}
        header = self._settings.key_header or self.key_header
        for name in (self.key_header, header):
            request.headers.pop(name, None)
        home = type(url)(self.url or f"https://{url.host}")
        own = (url.scheme, url.host, url.port) == (home.scheme, home.host, home.port)
        if own and (self.url or f".{url.host}".endswith(self.home)):
            request.url = url.copy_merge_params(parse_qsl(self._address.query))
            if not self.signs_in:
                request.headers[header] = self._key or ""

    def _read(self, response: Any) -> None:
        """Read an answer to its end.

        Raises:
            _AnsweredError: Always, but where it leads elsewhere.
        """
        if response.has_redirect_location:
            return
        text, patience = self._asking.text, Patience(self._settings.timeout_s)
        try:
            for piece in response.iter_bytes():
                text += piece
                if len(text) > LARGEST or is_ended(text, self.form):
                    break
                if patience.is_over(piece, text, self.form):
                    self.tell_open()
                    break
        except Exception as error:  # of httpx, which only the SDKs import
            if not type(error).__name__.endswith("Timeout") or not holds_answer(text, self.form):
                raise
            self.tell_open()
        urls = self._asking.urls
        led_to = urls[-1] if len(urls) > 1 else ""
        raise _AnsweredError(response.status_code, response.headers, text, led_to)

    def post(self, body: Mapping[str, Any]) -> Any:
        """Return the JSON of an answer, read as it came."""
        status, headers, text, led_to = super().post(body)
        return taken(self, status, headers, text, self.form, led_to)

    def _sent(self, client: Any, body: Mapping[str, Any], text: bytearray) -> Any:
        self._asking.text, self._asking.urls = text, []
        try:
            self._ask(client, body)
        except Exception as error:
            cause = error.__cause__ or error
            if not isinstance(cause, _AnsweredError):
                raise
            return cause.args
        raise AssertionError("an answer leaves the SDK by an error alone")

    @abstractmethod
    def _ask(self, client: Any, body: Mapping[str, Any]) -> None:
        """Let the SDK send a request."""

    def _told(self, error: Exception) -> ModelError:
        cause = next((one for one in (error, error.__cause__) if _of_transport(one)), None)
        if cause is None:
            return ModelError(self.told(f"was not asked: {self.package} refuses this: {error}"))
        kind = type(cause).__name__
        if kind.endswith("Timeout"):
            said = f"gave no answer within {self._settings.timeout_s:g} seconds"
            return self.transient(said, status=0)
        if kind == "DecodingError":
            return self.transient(undecoded(f"{cause}."))
        found, said = kind not in ("ConnectError", "ProxyError"), f"broke off: {cause}"
        through = not found and self.url and proxy_of(self._address)
        said = unreached_through(self._address, cause) if through else self.not_there(said)
        to = urlsplit(_asked_last(cause))
        away = self.url and to.hostname not in (None, self._address.hostname)
        if away or kind == "TooManyRedirects":
            said = sentences(said, elsewhere(to.geturl()))
        return self.transient(said, status=0, found=found)


def _weakly(method: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return a method as a hook that does not hold its server, which holds who has the hook.

    So the connections are closed when nobody has the server any more.
    """
    held = WeakMethod(method)

    def hook(given: Any) -> None:
        if (found := held()) is not None:
            found(given)

    return hook


def _of_transport(error: BaseException | None) -> bool:
    library = type(error).__module__.partition(".")[0]
    return library in ("httpx", "httpx2") or isinstance(error, OSError)


def _asked_last(error: BaseException) -> str:
    """Return the address that a client of httpx asked last; empty: it asked none."""
    try:
        return str(error.request.url)  # type: ignore[attr-defined]
    except (AttributeError, RuntimeError):  # an error of httpx that was given no request
        return ""


CLOUD = frozenset({"vertexai", "project", "location"})
"""Options by which Vertex AI is asked."""
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_SIGN_IN = (
    "Sign in by `gcloud auth application-default login`, or name the file of a service account by "
    "GOOGLE_APPLICATION_CREDENTIALS, and the project by project=PROJECT."
)


class GeminiServer(HttpxServer):
    """Google's server, or another one that speaks its interface, asked through google-genai.

    Args:
        who: The model, `gemini/NAME`; begins every message.
        settings: How it is asked; the key is GOOGLE_API_KEY where they name no variable, and the
            address one of another server that speaks this interface.
        options: Those of the model; `vertexai`, `project` and `location` say that Vertex AI is
            asked, for whom and where, with Google's default credentials.

    Raises:
        UsageError: No key, or no address; the text names the variable.
        MissingExtraError: The SDK is not installed.
    """

    variables = GEMINI_URL, "GOOGLE_API_KEY"
    package, module, extra = "google-genai", "google.genai", "gemini"
    home, key_header = ".googleapis.com", "x-goog-api-key"
    form = GEMINI
    _credentials: Any = None

    def __init__(self, who: str, settings: ServerSettings, options: Mapping[str, Any]) -> None:
        self._cloud = {name: options[name] for name in CLOUD if options.get(name)}
        if self._cloud and "vertexai" not in self._cloud:
            stray = ", ".join(sorted(self._cloud))
            raise OptionError(f"{who}: {stray} is of Vertex AI: add vertexai=true, or leave it out")
        self.needs_key = not self._cloud
        self.signs_in = bool(self._cloud) and not settings.api_key_env
        super().__init__(who, settings)

    def _connect(self) -> Any:
        import google.auth
        import httpx2
        from google import genai

        limits = httpx2.Limits(max_keepalive_connections=KEPT_CONNECTIONS)
        options: Any = {
            "base_url": self._base,
            "api_version": self._version or (None if self._cloud else "v1beta"),
            "client_args": {"event_hooks": self._hooks, "limits": limits},
        }
        who = {"vertexai": False, **self._cloud}
        try:
            if self.signs_in:
                self._credentials, project = google.auth.default(scopes=[_SCOPE])
                who = {"project": project, **who, "credentials": self._credentials}
            else:
                who["api_key"] = self._key
            return genai.Client(**who, http_options=options)
        except (ValueError, google.auth.exceptions.GoogleAuthError) as error:
            told = self.told(f"cannot be asked: {error}")
        raise UsageError(sentences(told, self._key_repair))

    def _ask(self, client: Any, body: Mapping[str, Any]) -> None:
        given = dict(body)
        method = given.pop("method")
        if method == "generate_content" and self._settings.stream:
            next(client.models.generate_content_stream(**given))
        else:
            getattr(client.models, method)(**given)

    def _told(self, error: Exception) -> ModelError:
        if type(error).__module__ == "google.auth.exceptions":
            said = f"could not be asked, as Google gave no token: {error}"
            if type(error).__name__ == "TransportError":
                return self.transient(said, status=0)
            return ModelError(sentences(self.told(said), _SIGN_IN))
        return super()._told(error)

    def cleaned(self, said: str) -> str:
        """Return a text without the secrets of this server, a token of Google's among them."""
        token = getattr(self._credentials, "token", None)
        return super().cleaned(said.replace(token, "***") if token else said)

    def _repair(self, status: int, said: str) -> str:
        wrong_key = "api key" in said.casefold()
        return self._key_repair if wrong_key else super()._repair(status, said)

    @property
    def _key_repair(self) -> str:
        return _SIGN_IN if self.signs_in else super()._key_repair
