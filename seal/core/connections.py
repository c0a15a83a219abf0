"""Connections to servers, over urllib3, with limits on every wait."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Mapping
from http.client import RemoteDisconnected
from typing import TYPE_CHECKING, Any

import certifi
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager, ProxyManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, ProtocolError
from urllib3.util.ssl_ import create_urllib3_context

from seal.core.concurrency import given_up, seconds_left
from seal.core.errors import OverdueError

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

# -- Connections of urllib3 on which no wait is longer than the silence allowed, or the time left.
#
# A socket's own timeout begins anew with every byte, so that a server which drips would hold a
# reader for ever. Here each wait for bytes looks at the clock of the chat that reads
# (`seal.core.concurrency`), headers and the TLS of a connection included.


class _Timed(socket.socket):
    """A socket whose timeout is a silence, cut short where less time is left."""

    _silence: float | None = None

    def settimeout(self, value: float | None) -> None:
        self._silence = value
        super().settimeout(value)

    def _wait_shorter(self) -> None:
        left = seconds_left()
        if not left:
            raise TimeoutError("the time is up")
        super().settimeout(left if self._silence is None else min(self._silence, left))

    def recv_into(self, *given: Any) -> int:
        self._wait_shorter()
        return super().recv_into(*given)

    def sendall(self, *given: Any) -> None:
        self._wait_shorter()
        super().sendall(*given)


class _TimedTLS(_Timed, ssl.SSLSocket):
    """The same over TLS."""


class _StaleError(RemoteDisconnected):
    """A connection that has served was closed before the next answer began.

    Servers close one that rests, and llama.cpp after each stream, without a word.
    """


class _Opened:
    """Opens connections within the time left, however long names and addresses take."""

    _has_served = False

    def getresponse(self) -> Any:
        try:
            answer = super().getresponse()  # type: ignore[misc]
        except (RemoteDisconnected, ConnectionResetError) as error:
            if self._has_served:
                raise _StaleError(str(error)) from error
            raise
        self._has_served = True
        return answer

    def _new_conn(self) -> socket.socket:
        open_one: Any = super()._new_conn  # type: ignore[misc]
        most = min(seconds_left(), self.timeout or 60.0)  # type: ignore[attr-defined]
        try:
            plain: socket.socket = given_up(open_one, most)
        except OverdueError:
            raise ConnectTimeoutError(self, f"no connection within {most:.3g} s") from None
        self._has_served = False
        timed = _Timed(plain.family, plain.type, plain.proto, plain.detach())
        timed.settimeout(most)
        return timed


class _Plain(_Opened, HTTPConnection):
    pass


class _Secure(_Opened, HTTPSConnection):
    pass


class _PlainPool(HTTPConnectionPool):
    ConnectionCls = _Plain


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _Secure


def open_pool(
    proxy: str | None, proxy_headers: dict[str, str] | None, **options: Any
) -> PoolManager:
    """Return the pool of connections to one server, or to the proxy before it.

    Raises:
        urllib3.exceptions.ProxySchemeUnknown: The proxy is of another kind than http and https.
        urllib3.exceptions.LocationParseError: The proxy is no address.
    """
    context = create_urllib3_context()
    context.sslsocket_class = _TimedTLS
    if {"SSL_CERT_FILE", "SSL_CERT_DIR"} & os.environ.keys():
        context.load_default_certs()
    else:
        context.load_verify_locations(certifi.where())
    options["ssl_context"] = context
    pool: PoolManager
    if proxy is None:
        pool = PoolManager(**options)
    else:
        pool = ProxyManager(proxy, proxy_headers=proxy_headers, **options)
    pool.pool_classes_by_scheme = {"http": _PlainPool, "https": _SecurePool}
    return pool


def post(pool: PoolManager, url: str, body: bytes, headers: Mapping[str, str]) -> BaseHTTPResponse:
    """Return the answer to a request, whose body is yet to be read.

    One that went out on a stale connection is sent again at once, on the next.

    Raises:
        urllib3.exceptions.HTTPError: No answer came.
    """
    while True:
        try:
            return pool.urlopen("POST", url, body=body, headers=headers, preload_content=False)
        except ProtocolError as error:
            if not isinstance(error.args[-1], _StaleError):
                raise
