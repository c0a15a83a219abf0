"""A server asked over HTTP, with limits on every wait."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

from seal.core.concurrency import seconds_left, within
from seal.core.errors import InfrastructureError, ModelError, OverdueError, UsageError, shortened
from seal.core.secrets import ServerSettings, public_url, server_url
from seal.core.servers import Server, sentences
from seal.core.streams import CHAT, CutStreamError, Streamed, answer_in, has_words, is_ended
from seal.core.values import json_bytes

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager
    from urllib3.exceptions import HTTPError

# -- A server that is asked over HTTP: what is sent, read and told, whatever interface it speaks.
#
# urllib3 is imported when it is first used, by `seal.core.connections` too.

_KEPT_CONNECTIONS = 1000
"""To one server; more are opened where more threads ask at once, and closed afterwards."""
_LONGEST_CONNECT_S = 15.0
_LONGEST_END_S = 1.0
"""After the last event of a stream."""
_LARGEST = 64 * 2**20
"""Bytes of an answer; a server that sends more sends no answer."""
_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "gzip, deflate",
    "Content-Type": "application/json",
    "User-Agent": "seal",
}


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

    unreached = "Can this machine reach the provider?"
    """What to ask where the provider's own address gives no answer."""
    may_be_proxied = True
    """Whether it is asked through the proxy that the environment names."""

    def __init__(
        self, who: str, settings: ServerSettings, own: str, variables: tuple[str, str]
    ) -> None:
        self.url = url = server_url(settings.base_url, settings.address_from, variables[0])
        parts = urlsplit(url or own)
        query = [value for _, value in parse_qsl(parts.query) if len(value) >= 8]
        super().__init__(who, variables[1], settings, [parts.password, *query])
        if url and not settings.base_url:
            self.setting = variables[0]
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

        from seal.core.connections import post

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
            answer = post(pool, url, data, headers)
            _read(answer, text, form)
            if 200 <= answer.status < 300:
                return answer_in(text, form)
            failure = self._told_status(answer, text)
        except CutStreamError as error:
            failure = self.transient(f"broke off: {error}", status=0)
        except HTTPError as error:
            failure = self._told_connection(error, text, form)
        except ValueError as error:
            sent = shortened(self._clean(text.decode(errors="replace")))  # no half of a key
            said = f"answered what is no JSON: {error}. Is {self.setting} right? It sent {sent}"
            failure = self.transient(said)
        raise failure

    def _told_connection(
        self, error: HTTPError, text: bytearray, form: Streamed
    ) -> InfrastructureError:
        """Return what became of a connection, on which a part of an answer may have come."""
        from urllib3.exceptions import MaxRetryError, NewConnectionError, SSLError, TimeoutError

        root = error.reason if isinstance(error, MaxRetryError) and error.reason else error
        found = not isinstance(root, (NewConnectionError, SSLError))
        # A refused connection is a TimeoutError to urllib3, too.
        if not found or not isinstance(root, TimeoutError):
            cause = next((one for one in error.args if isinstance(one, Exception)), error)
            said = f"broke off: {error.__cause__ or cause}"
            if not text:
                asked = f"Is it running, is {self.setting} right?"
                asked = asked if self.url else self.unreached
                said = sentences(f"could not be reached or {said}", asked)
        elif seconds_left():
            said = f"gave no answer within {self._settings.timeout_s:g} seconds"
        elif has_words(text, form):
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
        if delay := _retry_delay(inner):
            answer.headers.setdefault("retry-after", delay)
        return self._failure(answer.status, said, answer.headers, spent, codes)

    def _connect(self) -> PoolManager:
        import urllib3

        from seal.core.connections import open_pool

        silence, own = self._settings.timeout_s, self._headers.keys() - _HEADERS.keys()
        options: dict[str, Any] = {
            "maxsize": _KEPT_CONNECTIONS,
            "timeout": urllib3.Timeout(connect=min(silence, _LONGEST_CONNECT_S), read=silence),
            "retries": urllib3.Retry(
                None,
                connect=False,
                read=False,
                redirect=5,
                other=0,
                remove_headers_on_redirect=own,  # to another server: they hold key and account
            ),
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


def _retry_delay(error: dict[str, Any]) -> str:
    """Return the seconds that Google's error asks to wait; empty where it asks for none.

    Source: google.rpc.RetryInfo. No header of Google's says so.
    """
    details = error.get("details")
    for one in details if isinstance(details, list) else ():
        if isinstance(one, dict) and isinstance(one.get("retryDelay"), str):
            return str(one["retryDelay"]).removesuffix("s")
    return ""


def _message(body: object) -> str:
    """Return what the body of an error says, as OpenAI's interface has it; all of any other."""
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, dict) else inner
        if isinstance(said, str) and said:
            return said
    return str(body or "")
