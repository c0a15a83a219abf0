"""A sheet of goals or turns that people label in a browser, one at a time.

The sheet is that of `seal annotate export`, and stays one: each label is written into it at once,
whole or not at all, and `seal annotate import` takes it. A rater sees neither the labels of others
nor a verdict. Raters may take turns, or sit before several windows.

The server answers to this machine alone. A label is taken from its own page only: each form has a
token that no page of a stranger can read.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from hmac import compare_digest
from pathlib import Path
from secrets import token_urlsafe
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode, urlsplit

from seal.core import DataError, UsageError, shortened
from seal.core.text import counted, one_line
from seal.evaluation.agreement import Kappa, fleiss_kappa
from seal.experiments.annotation import COLUMNS, SHOWN, question_of, read_sheet
from seal.pools.reading.tables import CsvRows, escaped, unescaped, write_csv
from seal.report.pages import linked, render

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

# -- The sheet: its items in their order, and what each rater says of them.

_NAME = 60
"""Characters of a rater's name."""
_SAID = {
    "role": "The assistant plays",
    "before": "Said before",
    "asked": "Asked",
    "calls": "Calls with their results",
    "gold": "Gold",
    "answer": "Answer",
}
"""Column to its heading."""


class LabelSheet:
    """A sheet as its file is now; what others write into the file meanwhile is read.

    Args:
        path: The file.

    Raises:
        DataError: It cannot be read, is no sheet of `seal annotate export`, or a row is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.question = question_of(path)
        self.items: dict[str, dict[str, str]] = {}
        """Id of an item to what a person sees of it, by column."""
        self.votes: dict[str, dict[str, str]] = {}
        """Id of an item to rater to value, in the order in which they came."""
        self._lock = threading.Lock()
        self._stamp: tuple[int, int] | None = None
        self.read()

    def read(self) -> None:
        """Read the file, where it has changed.

        Raises:
            DataError: As for the class.
        """
        with self._lock:
            self._read()

    def put(self, item: str, rater: str, value: str) -> None:
        """Take a rater's label of an item, in the place of an earlier one, and write the file.

        Raises:
            UsageError: There is no such item or value, or the rater has no name.
            DataError: As for the class.
        """
        with self._lock:
            self._read()
            if item not in self.items:
                raise UsageError(f"item {shortened(item)} is not in {self.path}")
            if value not in self.question.values:
                expected = ", ".join(self.question.values)
                raise UsageError(f"{shortened(value)}: expected {expected}")
            if not rater:
                raise UsageError("who labels? give a name")
            self.votes.setdefault(item, {})[rater] = value
            self._write()

    def next_of(self, rater: str) -> str | None:
        """Return the first item that a rater has not labelled; None: all are labelled."""
        return next((item for item in self.items if rater not in self.votes.get(item, {})), None)

    def beside(self, item: str, by: int) -> str | None:
        """Return the item so many places on; None where there is none."""
        items = list(self.items)
        place = items.index(item) + by
        return items[place] if 0 <= place < len(items) else None

    @property
    def labelled(self) -> dict[str, int]:
        """Rater to the number of items that he or she labelled."""
        return dict(Counter(rater for of in self.votes.values() for rater in of))

    @property
    def kappa(self) -> Kappa:
        """Fleiss' kappa over the items that most raters labelled."""
        shared = (of for of in self.votes.values() if len(of) > 1)
        return fleiss_kappa(Counter(tuple(sorted(of.values())) for of in shared))

    def _read(self) -> None:
        try:
            found = self.path.stat()
        except OSError as error:
            raise DataError(f"{self.path}: {error.strerror}; bring the sheet back") from error
        stamp = found.st_mtime_ns, found.st_size
        if stamp == self._stamp:
            return
        rows = CsvRows(self.path, f"{self.question.name}s")
        if lacking := [name for name in COLUMNS if name not in rows.columns]:
            raise DataError(
                f"{self.path}: no column {', '.join(lacking)}; write the sheet anew with `seal "
                "annotate export RUN --out SHEET`"
            )
        items: dict[str, dict[str, str]] = {}
        for row in rows:
            if isinstance(row, str):
                raise DataError(f"{self.path}: {row}")
            fields = row[1]
            items.setdefault(fields["item"], {name: unescaped(fields[name]) for name in SHOWN})
        votes: dict[str, dict[str, str]] = {}
        for vote in read_sheet(self.path, self.question, {name: name for name in items}):
            if isinstance(vote, str):
                raise DataError(f"{self.path}: {vote}")
            if vote.value is not None:
                votes.setdefault(vote.item, {})[vote.rater] = vote.value
        self.items, self.votes, self._stamp = items, votes, stamp

    def _write(self) -> None:
        """Write a row for each label, and one without for each item that has none."""
        text = self.question.text
        rows = (
            [item, text, *map(escaped, shown.values()), value, escaped(rater)]
            for item, shown in self.items.items()
            for rater, value in (self.votes.get(item) or {"": ""}).items()
        )
        write_csv(self.path, COLUMNS, rows)
        self._stamp = None


# -- The pages: who labels, one item after the other, and how far all agree.


class LabelPages:
    """What is answered.

    Args:
        sheet: What is labelled.
    """

    def __init__(self, sheet: LabelSheet) -> None:
        self._sheet = sheet
        self._token = token_urlsafe(32)

    def app(self) -> Starlette:
        """Return the application, without what guards it (`server.guarded`)."""
        from starlette.applications import Starlette
        from starlette.routing import Route

        return Starlette(
            routes=[
                Route("/", self.shown),
                Route("/label", self.taken, methods=["POST"]),
                Route("/{name}", self.file),
            ]
        )

    def shown(self, request: Request) -> Response:
        """Answer with the item that is asked for, or with the rater's next one."""
        told = request.query_params
        return self._page(_name(told.get("rater", "")), told.get("item", ""))

    async def taken(self, request: Request) -> Response:
        """Take a label, and lead to the next item."""
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import RedirectResponse

        body = await _body(request)
        token, rater, item, value = (
            next(iter(body.get(name, ())), "") for name in ("token", "rater", "item", "value")
        )
        if not (_is_own(request) and compare_digest(token.encode(), self._token.encode())):
            return _text("This label comes from another page; load the page again.", 403)
        rater = _name(rater)
        try:
            await run_in_threadpool(self._sheet.put, item, rater, value)
        except (UsageError, DataError) as error:
            return _text(str(error), 409)
        return RedirectResponse(f"/?{urlencode({'rater': rater})}", 303)

    def file(self, request: Request) -> Response:
        """Answer with the style sheet or a script."""
        from seal.viewer.server import file_of

        return file_of(request.path_params["name"]) or _text("There is no such page here.", 404)

    def _page(self, rater: str, wanted: str) -> Response:
        sheet = self._sheet
        try:
            sheet.read()
        except DataError as error:
            return _text(str(error), 409)
        item = wanted if wanted in sheet.items else sheet.next_of(rater)
        shown = sheet.items[item] if item and rater else {}
        last = next(reversed(sheet.items), None)
        beside = (
            {"previous": sheet.beside(item, -1), "next": sheet.beside(item, 1)}
            if item
            else {"previous": last}
        )
        links = {
            name: f"?{urlencode({'rater': rater, 'item': other})}"
            for name, other in beside.items()
            if other
        }
        page = render(
            "label.html",
            **linked("/"),
            title=sheet.path.name,
            question=sheet.question.text,
            values=list(enumerate(sheet.question.values, 1)),
            rater=rater,
            raters=sheet.labelled,
            item=item if rater else "",
            place=list(sheet.items).index(item) + 1 if item else 0,
            count=len(sheet.items),
            said=sheet.votes.get(item or "", {}).get(rater, ""),
            shown=[(_SAID[name], text) for name, text in shown.items() if text],
            links=links,
            token=self._token,
            agreement=_agreement(sheet.kappa, sheet.labelled),
            sheet=str(sheet.path),
        )
        return _text(page, kind="text/html")


def _agreement(kappa: Kappa, labelled: Mapping[str, int]) -> str:
    """Return how far raters agree, in words."""
    if not kappa.subjects:
        return "agreement: no two raters labelled the same item yet" if labelled else ""
    value = "n/a, all labels are the same" if kappa.value is None else f"{kappa.value:.3f}"
    items = counted(kappa.subjects, "item")
    return f"Fleiss' kappa: {value}, over {items} with {kappa.votes} labels each"


def _name(text: str) -> str:
    return one_line(text, _NAME).strip()


_LONGEST = 10_000
"""Bytes of a form."""


async def _body(request: Request) -> dict[str, list[str]]:
    """Return the fields of a form; nothing of one that is too long."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _LONGEST:
            return {}
    return parse_qs(body.decode("utf-8", "replace"))


def _is_own(request: Request) -> bool:
    """Tell whether what a browser says of a request fits a page of this server."""
    site, origin = (request.headers.get(name) for name in ("sec-fetch-site", "origin"))
    if site not in (None, "same-origin"):
        return False
    return origin in (None, "null") or urlsplit(origin).netloc == request.headers.get("host")


def _text(text: str, status: int = 200, kind: str = "text/plain") -> Response:
    from starlette.responses import Response

    return Response(text, status, media_type=kind)
