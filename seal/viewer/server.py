"""A server on this machine that shows runs; it makes each page when it is asked for.

It answers to numeric addresses and to the names of this machine alone. So no page of a stranger
can read runs through a name of its own (DNS rebinding). What it shows are runs that lie below the
given folders: an address names a run, never a path. Scripts and styles are its own.
"""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from seal.core import SealError, UsageError, shortened
from seal.report.pages import FILES, asset, linked, notice, parts_page
from seal.report.retrieval import experiment_page
from seal.viewer.labelling import LabelPages, LabelSheet
from seal.viewer.shelf import NotThereError, Shelf, list_page

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = "127.0.0.1"
_AT_ONCE = 24
"""Runs of a page; each is read whole."""
_NAMES = (LOOPBACK, "localhost")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-cache"),
]
_KINDS = {"css": "text/css", "js": "text/javascript", "json": "application/json"}


def serve(shelf: Shelf | LabelSheet, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Show runs, or let people label a sheet, until the process is interrupted.

    Args:
        shelf: The runs, or the sheet.
        host: Address to listen at.
        port: 0: one that is free.
        tell: Is given the address once it can be opened.

    Raises:
        UsageError: The port is taken or none, or the address is none of this machine's; or others
            could reach a sheet there.
    """
    import uvicorn

    if not 0 <= port < 1 << 16:
        raise UsageError(f"--port {port}: expected a whole number from 0 to 65535")
    if isinstance(shelf, LabelSheet):
        if not _is_loopback(host):
            raise UsageError(
                f"--host {host}: labels are taken from this machine alone; leave it out"
            )
        app = guarded(LabelPages(shelf).app())
    else:
        app = app_of(shelf, (host, socket.gethostname()) if host not in _NAMES else ())
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, port))
            listening.listen()
        except (OSError, TypeError) as error:  # TypeError: what can be no name of a host
            is_host = isinstance(error, (TypeError, socket.gaierror))
            repair = "--port, or 0 for one that is free"
            if is_host or getattr(error, "errno", None) == errno.EADDRNOTAVAIL:
                repair = "--host, such as 127.0.0.1"
            raise UsageError(
                f"cannot listen at {shortened(host)}, port {port}: "
                f"{getattr(error, 'strerror', error)}; give another {repair}"
            ) from error
        name = f"[{host}]" if ":" in host else host
        tell(f"http://{name}:{listening.getsockname()[1]}/")
        settings = uvicorn.Config(app, log_level="warning", lifespan="off", server_header=False)
        with _crowding_told_once():
            uvicorn.Server(settings).run(sockets=[listening])


@contextmanager
def _crowding_told_once() -> Iterator[None]:
    """Let one line tell of connections that wait, and not asyncio's traceback of each try.

    A try that comes after the end, when nothing listens any more, is not told of either.
    """
    told: list[str] = []

    def shown(record: logging.LogRecord) -> bool:
        if "_start_serving(" in record.getMessage():
            return False
        if "out of system resource" not in record.getMessage():
            return True
        told.append("seal: too many connections are open: close some, or raise `ulimit -n`")
        record.msg, record.args, record.exc_info = told[0], (), None
        return len(told) == 1

    log = logging.getLogger("asyncio")
    log.addFilter(shown)
    try:
        yield
    finally:
        log.removeFilter(shown)


def app_of(shelf: Shelf, names: Sequence[str] = ()) -> Starlette:
    """Return the application.

    Args:
        shelf: What it shows.
        names: By which clients may call it, beside those of this machine's loopback.
    """
    from starlette.applications import Starlette
    from starlette.routing import Route

    pages = _Pages(shelf)
    routes = [
        Route("/", pages.runs),
        Route("/run", pages.run),
        Route("/live", pages.live),
        Route("/block/{key:path}", pages.block),
        Route("/retrieval", pages.retrieval),
        Route("/{name}", pages.file),
    ]
    return guarded(Starlette(routes=routes), names)


def guarded(app: Starlette, names: Sequence[str] = ()) -> Starlette:
    """Return an application that answers to this machine's names alone, and to `names`."""
    from starlette.middleware.gzip import GZipMiddleware

    app.add_middleware(GZipMiddleware, minimum_size=1_000)
    app.add_middleware(_Guarded, names=[*_NAMES, *names])
    return app


def _is_loopback(host: str) -> bool:
    try:
        return host in _NAMES or ip_address(host).is_loopback
    except ValueError:
        return False


class _Guarded:
    """Refuses foreign names, and adds headers that keep a page from what is not its own.

    An address of numbers needs no name that a stranger could have pointed here: it is answered.
    """

    def __init__(self, app: ASGIApp, names: Collection[str]) -> None:
        self._app = app
        self._names = {name.lower() for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        from starlette.datastructures import Headers
        from starlette.responses import PlainTextResponse

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_HEADERS]
            await send(message)

        known = self._is_ours(Headers(scope=scope).get("host", ""))
        app = self._app if known else PlainTextResponse("This server has another name.", 400)
        await app(scope, receive, guarded)

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name not in self._names:
                ip_address(name)
        except ValueError:  # no address
            return False
        return True


class _Pages:
    """What is answered; each method is run in a thread of its own."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def runs(self, request: Request) -> Response:
        """Answer with the list of runs."""
        experiments = {name: f"retrieval?{_asked(of=name)}" for name in self._shelf.experiments()}
        return _told(
            list_page(
                "Runs",
                self._shelf.facts(),
                lambda facts: f"run?{_asked(run=facts.name)}",
                experiments,
                choose=True,
                **linked("/"),
            )
        )

    def run(self, request: Request) -> Response:
        """Answer with the page of a run, or of several side by side."""

        def made() -> str:
            names = _runs(request)
            how = {**linked("/"), "home": "/", "source": f"block/{{key}}?{_asked(run=names)}"}
            if (now := self._shelf.live(names)) is not None:
                how |= {"live": now, "live_source": f"live?{_asked(run=names)}"}
            return "".join(self._shelf.page(names, **how))

        return self._made(made)

    def live(self, request: Request) -> Response:
        """Answer with what a running run does now; with the status 410 once it has ended."""

        def made() -> str:
            now = self._shelf.live(_runs(request))
            if now is None:
                raise _EndedError("the run has ended")
            return now

        return self._made(made)

    def block(self, request: Request) -> Response:
        """Answer with a part of the page of runs."""
        key = request.path_params["key"]
        kind = "json" if key.endswith(".json") else "html"
        return self._made(lambda: self._shelf.block(_runs(request), key), kind)

    def retrieval(self, request: Request) -> Response:
        """Answer with the page of an experiment in retrieval."""
        name = request.query_params.get("of", "")

        def made() -> str:
            return experiment_page(name, self._shelf.experiment(name), **linked("/"), home="/")

        return self._made(made)

    def file(self, request: Request) -> Response:
        """Answer with the style sheet or a script."""
        name = request.path_params["name"]
        return file_of(name) or _failed(f"there is no page {shortened(name)} here", 404)

    def _made(self, make: Callable[[], str], kind: str = "html") -> Response:
        try:
            return _told(make(), kind)
        except NotThereError as error:
            return _failed(str(error), 404)
        except _EndedError as error:
            return _failed(str(error), 410)
        except SealError as error:
            return _failed(str(error), 409)


class _EndedError(UsageError):
    """No process plays the run any more."""


def _runs(request: Request) -> list[str]:
    """Return the runs that an address names, each once.

    Raises:
        UsageError: It names more than stand on one page.
    """
    names = request.query_params.getlist("run")
    if len(names) > _AT_ONCE:
        raise UsageError(f"{len(names)} runs are asked for; choose at most {_AT_ONCE}")
    return list(dict.fromkeys(names))


def file_of(name: str) -> Response | None:
    """Return the answer that is a style sheet or a script; None: it is none."""
    return _told(asset(name), name.rpartition(".")[2]) if name in FILES else None


def _asked(**named: Any) -> str:
    return urlencode(named, doseq=True)


def _told(text: str, kind: str = "html", status: int = 200) -> Response:
    from starlette.responses import Response

    return Response(text, status, media_type=_KINDS.get(kind, "text/html"))


def _failed(why: str, status: int) -> Response:
    home = [("All runs", "/")]
    page = parts_page("viewer", "Nothing to show", [notice(why)], home, **linked("/"))
    return _told(page, status=status)
