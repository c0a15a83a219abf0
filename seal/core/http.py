"""A server asked over HTTP, with limits on every wait."""

from __future__ import annotations

import base64
import errno
import os
import zlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

from seal.core.concurrency import seconds_left, within
from seal.core.errors import InfrastructureError, ModelError, OverdueError, UsageError, shortened
from seal.core.outcomes import codes_of, error_in, told_by_provider, unread
from seal.core.secrets import ServerSettings, public_url
from seal.core.servers import Server, TransientError, sentences
from seal.core.streams import (
    CHAT,
    CutStreamError,
    Patience,
    Streamed,
    answer_in,
    has_words,
    holds_answer,
    is_ended,
    is_stream,
)
from seal.core.values import json_bytes

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

# -- A server that is asked over HTTP: what is sent, read and told, whatever interface it speaks.
#
# urllib3 is imported when it is first used, by `seal.core.connections` too.

KEPT_CONNECTIONS = 1000
"""To one server; more are opened where more threads ask at once, and closed afterwards."""
LONGEST_CONNECT_S = 15.0
_LONGEST_END_S = 1.0
"""After the last event of a stream."""
LARGEST = 64 * 2**20
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
    """

    home: str
    """The provider's own address."""
    may_be_proxied = True
    """Whether it is asked through the proxy that the environment names."""

    def __init__(self, who: str, settings: ServerSettings) -> None:
        super().__init__(who, settings)
        parts = urlsplit(self.url or self.home)
        self._address = parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment="")
        self._login = _login(parts)
        self._headers = dict(_HEADERS)

    def _post(self, path: str, body: dict[str, Any], form: Streamed) -> Any:
        """Return the JSON of the server's answer, with every failure told in words of ours.

        An answer that is streamed is the same JSON as one that is not. The library's errors end
        here, cause and context included: they may hold the key.

        Args:
            path: Below the server's address.
            body: Of the request.
            form: In which the answer comes if it is streamed.

        Raises:
            TransientError: A failure that may pass.
            OverdueError: The time was up while words of the answer came.
            RequestError: The server does not take this request.
            ModelError: It takes none: key, name or address are wrong.
        """
        from urllib3.exceptions import HTTPError, TimeoutError

        from seal.core.connections import post

        pool = self._connection()  # first: a server of our own has its address from then on
        url = self._address._replace(path=self._address.path.rstrip("/") + path).geturl()
        data, text = json_bytes(body), bytearray()
        try:
            answer = post(pool, url, data, self._headers)
            try:
                stays = _read(answer, text, form, self._settings.timeout_s)
            except TimeoutError:
                if not (stays := holds_answer(text, form)):
                    raise
            if stays:
                self.tell_open()
        except (HTTPError, ValueError) as error:
            failure = self._told_connection(error, text, form)
        else:
            return taken(self, answer.status, answer.headers, text, form, _led_to(answer, url))
        raise failure

    def _told_connection(
        self, error: Exception, text: bytearray, form: Streamed
    ) -> InfrastructureError:
        """Return what became of a connection, on which a part of an answer may have come."""
        from urllib3 import exceptions as of_urllib3
        from urllib3.exceptions import MaxRetryError, NewConnectionError, SSLError, TimeoutError

        root = error.reason if isinstance(error, MaxRetryError) and error.reason else error
        if any(map(_is_of_open_files, _causes(root))):
            return self._told_open_files()
        through = isinstance(root, of_urllib3.ProxyError)
        if isinstance(root, of_urllib3.ProxyError):
            told = str(root.original_error)
            error = root = of_urllib3.HTTPError(told.partition("): ")[2] or told)
        if isinstance(root, of_urllib3.DecodeError):
            return self.transient(undecoded(root.args[0]))
        found = not isinstance(root, (NewConnectionError, SSLError)) and not through
        # A refused connection is a TimeoutError to urllib3, too.
        if not found or not isinstance(root, TimeoutError):
            cause = next((one for one in error.args if isinstance(one, Exception)), error)
            said = f"broke off: {error.__cause__ or cause}"
            if not text:
                said = self.not_there(said)
            if not through and (to := _last_of(error, self._address)):
                said = sentences(said, elsewhere(to))
            if through:
                said = unreached_through(self._address, root)
        elif seconds_left():
            said = f"gave no answer within {self._settings.timeout_s:g} seconds"
        elif has_words(text, form):
            return OverdueError(self.told("was still answering when the time was up"))
        else:
            said = "gave no answer before the time was up"
        return self.transient(said, status=0, found=found)

    def _told_open_files(self) -> TransientError:
        said = "was not asked, for too many files are open: give fewer --workers, or raise"
        return self.transient(f"{said} `ulimit -n`", status=0)

    def _connect(self) -> PoolManager:
        import urllib3

        from seal.core.connections import open_pool

        silence, own = self._settings.timeout_s, self._headers.keys() - _HEADERS.keys()
        options: dict[str, Any] = {
            "maxsize": KEPT_CONNECTIONS,
            "timeout": urllib3.Timeout(connect=min(silence, LONGEST_CONNECT_S), read=silence),
            "retries": urllib3.Retry(
                None,
                connect=False,
                read=False,
                redirect=5,
                other=0,
                remove_headers_on_redirect=own,  # to another server: they hold key and account
            ),
        }
        proxy = proxy_of(self._address) if self.may_be_proxied else None
        address = proxy.geturl() if proxy else None
        login = _login(proxy) if proxy else None
        headers = {"Proxy-Authorization": login} if login else None
        try:
            return open_pool(address, headers, **options)
        except (urllib3.exceptions.ProxySchemeUnknown, urllib3.exceptions.LocationParseError):
            raise UsageError(
                f"proxy {public_url(address or '')} of the environment: expected http:// or https://,"
                " a host and a port; mend HTTP_PROXY or HTTPS_PROXY, or unset it"
            ) from None
        except OSError as error:
            if _is_of_open_files(error):
                raise self._told_open_files() from None
            raise


def _led_to(answer: BaseHTTPResponse, url: str) -> str:
    """Return the address to which redirects led a request; empty: there were none."""
    for step in answer.retries.history if answer.retries else ():
        if step.redirect_location:
            url = urljoin(url, step.redirect_location)
    return url if answer.retries and answer.retries.history else ""


def _last_of(error: Exception, asked: SplitResult) -> str:
    """Return the address that was asked last, where redirects led away from the one asked."""
    where: Any = getattr(error, "conn", None) or getattr(error, "pool", None)
    host, port = getattr(where, "host", None), getattr(where, "port", None)
    if host is None:
        return ""
    last = urlsplit(urljoin(f"{asked.scheme}://{host}:{port}", getattr(error, "url", None) or ""))
    own = asked.hostname, asked.port or {"http": 80, "https": 443}.get(asked.scheme)
    is_below = not last.path or last.path.startswith(asked.path.rstrip("/"))
    return "" if (host, port) == own and is_below else last.geturl()


def elsewhere(url: str) -> str:
    """Return that redirects led a request to another address, without that one's secrets."""
    return f"It was led on to {public_url(url)}"


def taken(
    server: Server,
    status: int,
    headers: Mapping[str, str],
    text: bytearray,
    form: Streamed,
    led_to: str = "",
) -> Any:
    """Return the JSON of an answer that was read to its end.

    An answer that is streamed is the same JSON as one that is not.

    Args:
        server: That gave it.
        status: Of HTTP.
        headers: Of it.
        text: Its body.
        form: In which it comes if it is streamed.
        led_to: Address to which redirects led; empty: to none.

    Raises:
        TransientError: It is none, or its status may pass.
        ModelError: Its status stays.
    """
    try:
        text = _unpacked(text) if text.startswith(_GZIP) else text
        if len(text) > LARGEST:
            raise ValueError(f"more than {LARGEST >> 20} MiB")
        if 200 <= status < 300:
            server.tell_cached(headers)
            return answer_in(text, form)
        failure = _told_status(server, status, headers, text)
    except CutStreamError as error:
        repair = error.repair if server.streams else ""
        failure = server.transient(f"broke off: {error}{repair}", status=0)
    except ValueError as error:
        sent = shortened(server.cleaned(text.decode(errors="replace")))  # no half of a key
        repair = f"Is {server.setting} right?"
        if is_stream(text):
            repair = "Take -M stream=false" if server.streams else "Mend what stands before it"
            repair = f"Does a proxy cut or join the events of its stream? {repair}."
        failure = server.transient(f"answered what is no JSON: {error}. {repair} It sent {sent}")
    if led_to:
        failure.args = (sentences(str(failure), elsewhere(led_to)), *failure.args[1:])
    raise failure


_GZIP = b"\x1f\x8b"
"""How a body begins that a gateway packed twice (Kong), or packed and did not say so."""


def _unpacked(text: bytearray) -> bytearray:
    """Return a body, unpacked where it begins as what is packed, up to the byte too many."""
    try:
        packed = zlib.decompressobj(zlib.MAX_WBITS | 16)
        return bytearray(packed.decompress(text, LARGEST + 1))
    except zlib.error:
        return text


def _told_status(
    server: Server, status: int, headers: Mapping[str, str], text: bytearray
) -> ModelError:
    """Return the failure that an answer of HTTP says, in whatever form its body does."""
    try:
        body = answer_in(text, CHAT)
    except ValueError:
        is_text = b"\0" not in text
        body = text.decode(errors="replace") if is_text else f"{len(text)} bytes that are no text"
    inner = error_in(body) or {}
    spent = inner.get("code") == "insufficient_quota"
    said = f"{_message(inner or body)}{told_by_provider(inner)}"
    if (delay := _retry_delay(inner)) and "retry-after" not in headers:
        headers = {"retry-after": delay}
    codes, param = " ".join(codes_of(inner)), inner.get("param")
    failure = server.failure(status, said, headers, spent, codes, unread(said, inner))
    failure.param = param if isinstance(param, str) else ""
    return failure


def _read(answer: BaseHTTPResponse, text: bytearray, form: Streamed, silence: float) -> bool:
    """Read an answer to its end into a text, piece by piece: what came stays if it breaks off.

    Returns:
        Whether it is whole, and nothing but its server keeps the connection open.

    Raises:
        urllib3.exceptions.HTTPError: It breaks off, or is silent for so many seconds.
    """
    patience = Patience(silence)
    while piece := answer.read1(2**16):
        text += piece
        if patience.is_over(piece, text, form):
            answer.close()
            return True
        if len(text) > LARGEST:
            answer.close()
            return False
        if is_ended(text, form):
            with within(_LONGEST_END_S):  # the connection serves on if its own end follows at once
                answer.drain_conn()
            return False
    return False


def _is_of_open_files(error: BaseException) -> bool:
    return getattr(error, "errno", 0) in (errno.EMFILE, errno.ENFILE)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _login(parts: SplitResult) -> str | None:
    """Return the header that holds an address's user and password; None where it has no user."""
    if not parts.username:
        return None
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    return "Basic " + base64.b64encode(login).decode()


def proxy_of(address: SplitResult) -> SplitResult | None:
    """Return the proxy that the environment names for an address; None: there is none."""
    proxies = getproxies()
    proxy = proxies.get(address.scheme) or proxies.get("all")
    if not proxy or proxy_bypass(address.netloc):
        return None
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}")


def unreached_through(address: SplitResult, said: object) -> str:
    """Return that a proxy of the environment gave no connection, and the variable that names it."""
    names = (f"{address.scheme}_proxy", "all_proxy")
    spelled = (one for name in names for one in (name.upper(), name))
    variable = next((name for name in spelled if os.environ.get(name)), "the system")
    return (
        f"could not be reached through the proxy that {variable} names: {said}. "
        f"Without it: NO_PROXY={address.hostname}"
    )


def undecoded(said: object) -> str:
    """Return that the body of an answer is not packed as its header says."""
    return f"answered with a wrong header Content-Encoding: {said} Mend the server or its gateway"


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
    """Return what an error says in words; all of it where it has none."""
    said = body.get("message") if isinstance(body, dict) else None
    return said if isinstance(said, str) and said else str(body or "")
