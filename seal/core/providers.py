"""The servers of OpenAI's interface and of Google's, and the keys for them.

urllib3 is imported when it is first used, by `seal.core.connections` too.
"""

from __future__ import annotations

import base64
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from seal.core.deadlines import seconds_left, within
from seal.core.errors import (
    InfrastructureError,
    ModelError,
    OverdueError,
    RequestError,
    UsageError,
    shortened,
)
from seal.core.plain import json_bytes
from seal.core.secrets import (
    BASE_URL,
    GEMINI_URL,
    OPENAI_URL,
    ServerSettings,
    check_url,
    public_url,
)
from seal.core.servers import Server, sentences
from seal.core.streams import (
    CHAT,
    GEMINI,
    RESPONSES,
    CutStreamError,
    Streamed,
    answer_in,
    has_words,
    is_ended,
)

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager
    from urllib3.exceptions import HTTPError

_OPENAI = "https://api.openai.com/v1"
_GENERATE = "generateContent"
_GEMINI = "https://generativelanguage.googleapis.com"
_NO_KEY = "no-key-needed"  # local servers want some header
_KEPT_CONNECTIONS = 1000
"""To one server; more are opened where more threads ask at once, and closed afterwards."""
_LONGEST_CONNECT_S = 15.0
_LONGEST_END_S = 1.0
"""After the last event of a stream."""
_LARGEST = 64 * 2**20
"""Bytes of an answer; a server that sends more sends no answer."""
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
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate",
    "Content-Type": "application/json",
    "User-Agent": "seal",
}
_ACCOUNT = {
    "OpenAI-Organization": "OPENAI_ORG_ID",
    "OpenAI-Project": "OPENAI_PROJECT_ID",
}
"""Header to the variable that holds its value: whose account is charged."""


class HttpServer(Server):
    """A server that is asked by requests of ours, through urllib3.

    An SDK takes four times the CPU for one, and up to a second to import.

    Args:
        who: The model, `PROVIDER/NAME`; begins every message.
        settings: How it is asked.
        own: The provider's own address.
        variables: Which may hold the address of another server, and which holds the key.

    Raises:
        UsageError: What is given as an address is none.
    """

    may_be_proxied = True
    """Whether it is asked through the proxy that the environment names."""

    def __init__(
        self, who: str, settings: ServerSettings, own: str, variables: tuple[str, str]
    ) -> None:
        self.url = url = server_url(settings.base_url, settings.address_from, variables[0])
        self._setting = settings.address_from
        parts = urlsplit(url or own)
        query = [value for _, value in parse_qsl(parts.query) if len(value) >= 8]
        where = f" at {public_url(url)}" if url else ""
        super().__init__(who, where, variables[1], settings, [parts.password, *query])
        self._address = parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="")
        self._login = _login(parts)
        self._headers = dict(_HEADERS)

    def _post(self, path: str, body: dict[str, Any], form: Streamed) -> Any:
        """Return the JSON of the server's answer, with every failure told in words of ours.

        An answer that is streamed is the same JSON as one that is not. The library's errors end
        here, cause and context included: they may hold the key.

        Args:
            path: Below the server's address, and a query that is added to the address's own.
            body: Of the request.
            form: In which the answer comes if it is streamed.

        Raises:
            TransientError: A failure that may pass.
            OverdueError: The time was up while words of the answer came.
            RequestError: The server does not take this request.
            ModelError: It takes none: key, name or address are wrong.
        """
        from urllib3.exceptions import HTTPError

        pool = self._connection()  # first: a server of our own has its address from then on
        below, _, query = path.partition("?")
        place = self._address._replace(
            path=self._address.path.rstrip("/") + below,
            query="&".join(filter(None, (self._address.query, query))),
        )
        url = place.geturl()
        data, headers, text = json_bytes(body), self._headers, bytearray()
        failure: InfrastructureError
        try:
            answer = pool.urlopen("POST", url, body=data, headers=headers, preload_content=False)
            _read(answer, text, form)
            if 200 <= answer.status < 300:
                return answer_in(text, form)
            failure = self._told_status(answer, text)
        except CutStreamError as error:
            failure = self.transient(f"broke off: {error}", status=0)
        except HTTPError as error:
            failure = self._told_connection(error, has_words(text, form))
        except ValueError as error:
            sent = shortened(self._clean(text.decode(errors="replace")))  # no half of a key
            said = f"answered what is no JSON: {error}. Is {self._setting} right? It sent {sent}"
            failure = self.transient(said)
        raise failure

    def _told_connection(self, error: HTTPError, spoke: bool) -> InfrastructureError:
        """Return what became of a connection, on which words of the model had come or had not."""
        from urllib3.exceptions import MaxRetryError, NewConnectionError, SSLError, TimeoutError

        root = error.reason if isinstance(error, MaxRetryError) and error.reason else error
        found = not isinstance(root, (NewConnectionError, SSLError))
        # A refused connection is a TimeoutError to urllib3, too.
        if not found or not isinstance(root, TimeoutError):
            cause = next((one for one in error.args if isinstance(one, Exception)), error)
            said = f"could not be reached or broke off: {error.__cause__ or cause}"
            asked = f"Is it running, is {self._setting} right?"
            said = sentences(said, asked if self.url else "Can this machine reach the provider?")
        elif seconds_left():
            said = f"gave no answer within {self._settings.timeout_s:g} seconds"
        elif spoke:
            return OverdueError(self.told("was still answering when the time was up"))
        else:
            said = "gave no answer before the time was up"
        return self.transient(said, status=0, found=found)

    def _told_status(self, answer: BaseHTTPResponse, text: bytearray) -> ModelError:
        try:
            body = answer_in(text, CHAT)
        except ValueError:
            body = text.decode(errors="replace")
        found = body.get("error") if isinstance(body, dict) else None
        inner = found if isinstance(found, dict) else {}
        spent = inner.get("code") == "insufficient_quota"
        codes = f"{inner.get('code')} {inner.get('type')}"
        said = _message(body)
        if isinstance(inner.get("metadata"), dict) and inner["metadata"].get("raw"):
            said += f": {inner['metadata']['raw']}"  # what the provider behind OpenRouter said
        if inner.get("code") == "tool_use_failed":
            said += f" failed_generation: {inner.get('failed_generation') or ''}"
        return self._failure(answer.status, said, answer.headers, spent, codes)

    def _connect(self) -> PoolManager:
        import urllib3

        from seal.core.connections import open_pool

        silence = self._settings.timeout_s
        options: dict[str, Any] = {
            "maxsize": _KEPT_CONNECTIONS,
            "timeout": urllib3.Timeout(connect=min(silence, _LONGEST_CONNECT_S), read=silence),
            "retries": urllib3.Retry(None, connect=False, read=False, redirect=5, other=0),
        }
        proxy = _proxy(self._address) if self.may_be_proxied else None
        if proxy is None:
            return open_pool(None, None, **options)
        login = _login(proxy)
        headers = {"Proxy-Authorization": login} if login else None
        try:
            return open_pool(proxy.geturl(), headers, **options)
        except urllib3.exceptions.ProxySchemeUnknown:
            shown = public_url(proxy.geturl())
            raise UsageError(
                f"proxy {shown} of the environment: expected http:// or https://"
            ) from None


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
                # Other threads may be refused the same: each takes out what it has sent itself.
                self._stream_fields = min(self._stream_fields, ways[number:], key=len)
            else:
                return answer
        raise AssertionError("the last request has no field of streams")

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
                f"Check the model's name and {self._setting} (it usually ends in /v1); "
                "`seal models` lists the forms."
            )
        if status in (402, 429):
            left = "quota" if status == 429 else "credit"
            return f"The account behind {self._key_variable} has no {left} left."
        return self.refused


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
        self._require_key()
        self._headers[settings.key_header or "x-goog-api-key"] = self._key or ""

    def ask(self, model: str, method: str, body: dict[str, Any]) -> Any:
        """Return the JSON that a method of a model gives; answers are streamed."""
        if method == _GENERATE and self._settings.stream:
            method = "streamGenerateContent?alt=sse"
        place = model if "/" in model else f"models/{model}"
        return self._post(f"/v1beta/{place}:{method}", body, GEMINI)

    def _repair(self, status: int, said: str) -> str:
        wrong_key = "api key" in said.casefold()
        return self._key_repair if wrong_key else super()._repair(status, said)


def _read(answer: BaseHTTPResponse, text: bytearray, form: Streamed) -> None:
    """Read an answer to its end into a text, piece by piece: what came stays if it breaks off.

    Raises:
        urllib3.exceptions.HTTPError: It breaks off.
        ValueError: It is too large.
    """
    while piece := answer.read1(2**16):
        text += piece
        if len(text) > _LARGEST:
            answer.close()
            raise ValueError(f"more than {_LARGEST >> 20} MiB")
        if is_ended(text, form):
            with within(_LONGEST_END_S):  # the connection serves on if its own end follows at once
                answer.drain_conn()
            return


def _login(parts: SplitResult) -> str | None:
    """Return the header that holds an address's user and password; None where it has no user."""
    if not parts.username:
        return None
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    return "Basic " + base64.b64encode(login).decode()


def _proxy(address: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment names for an address; None: there is none."""
    proxies = getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(address.netloc):
        return None
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}")


def server_url(
    given: str | None, setting: str = BASE_URL, variable: str = OPENAI_URL
) -> str | None:
    """Return the address of a server: the given one, else the variable's; None: the provider's own.

    Args:
        given: The address; None or empty: none.
        setting: Where it is given, for the message.
        variable: Environment variable that may hold it.

    Raises:
        UsageError: It is no address.
    """
    url = given or os.environ.get(variable, "").strip() or None
    return check_url(url, setting if given else variable) if url else None


def _message(body: object) -> str:
    """Return what the body of an error says, as OpenAI's interface has it; all of any other."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(said, str) and said:
            return said
    return str(body or "")
