"""The report: one HTML file that needs no network.

Its tasks and chats are made of pieces of HTML, and what occurs twice is written once. Chats of one
run repeat each other: floor, run and ceiling hear the same requests, and most scores of a goal have
the value of those of the next. So each piece has a number and stands once in a block of kind
`parts`; the block of a chat lists the numbers of its pieces. The page's script puts them together
when a chat is opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from math import inf
from pathlib import Path

from markupsafe import Markup

from seal.core import UsageError
from seal.core.plain import json_text as compact_json
from seal.core.records import AtomicFile
from seal.report.pages import inline
from seal.report.printable import escaped_json
from seal.report.run_pages import RunPages
from seal.report.sections import Section
from seal.runs.run_folder import RunFolder
from seal.runs.wholeness import check_whole

MAX_BYTES = 64_000_000
"""Bytes of conversations in one page; a browser stays quick below."""
_HEAD = 2_000
"""Bytes at the beginning of a page that hold its title."""
_SHORT = 500
"""Characters of a piece that is known by itself; a longer one is known by its digest."""
_ENDING = re.compile("<(?=!--|/?script)", re.IGNORECASE)
"""What may end a data block, or begin another script."""


def write_report(
    runs: Sequence[RunFolder],
    out: Path,
    sections: Sequence[Section] | None = None,
    max_bytes: int = MAX_BYTES,
    varied: str = "",
) -> Path:
    """Write the report of one run, or of several side by side.

    The same runs give the same bytes. Trajectories and scores are streamed: memory holds one of
    them and a short row for each task.

    Args:
        runs: Scored runs; floor and ceiling are those of the first that has them.
        out: The file to write; it appears whole or not at all.
        sections: Parts above the table of tasks; None: ours and those of plug-ins.
        max_bytes: Conversations beyond this size are left out, and the page says so.
        varied: The ablation whose conditions the runs are; empty: they should measure the same.

    Returns:
        `out`.

    Raises:
        UsageError: No run, or `out` is there and no page of ours.
        DataError: A run has not been scored, or a file of it is damaged or cut.
    """
    _refuse_other(out)
    for run in runs:
        check_whole(run)
    pages = RunPages(runs, sections, varied)
    bodies = [pages.section(place) for place in range(len(pages.sections))]
    with AtomicFile(out) as file:
        for piece in pages.page(bodies, **inline(), blocks=_blocks(pages, max_bytes)):
            file.write(piece.encode())
    return out


def _refuse_other(out: Path) -> None:
    """Refuse to replace a file that is no page of ours.

    Raises:
        UsageError: It is one, or a folder.
    """
    if out.is_dir():
        raise UsageError(f"{out} is a folder; give --out a file, such as {out / 'report.html'}")
    if out.is_file():
        with out.open("rb") as file:
            beginning = file.read(_HEAD)
        if beginning and b"<title>SEAL " not in beginning:
            raise UsageError(f"{out} holds something else than a report; give --out a new file")


def _blocks(pages: RunPages, room: int) -> Iterator[Markup]:
    """Yield tasks, chats as long as there is room for these bytes, then the table and its index."""
    written, left_out = Pieces(), 0
    for kind, numbers in pages.parts():
        key = "/".join(map(str, numbers))
        if kind == "task":
            yield written.block(kind, key, pages.task(*numbers)) or Markup()
        elif block := written.block(kind, key, pages.chat(*numbers), room):
            room -= len(block.encode())
            yield block
        else:
            left_out += 1
    for number in pages.portions:
        yield data_block("rows", str(number), compact_json(pages.portion(number)))
    yield data_block("index", "0", compact_json(pages.index(left_out)))


def data_block(kind: str, key: str, value: str) -> Markup:
    """Return a data block, which the browser keeps as text and never runs.

    Args:
        kind: Suffix of the attribute by which the script finds it: `data-chat`.
        key: That attribute's value; digits and slashes.
        value: JSON text; control characters, and each `<` that could end the block or change how
            the page is read, are written as escapes.
    """
    opening = Markup('<script type="application/json" data-{}="{}">').format(kind, key)
    text = _ENDING.sub(r"\\u003c", escaped_json(value))
    return opening + Markup(text) + Markup("</script>")


class Pieces:
    """Writes blocks, and remembers which pieces the page has, and the number of each."""

    def __init__(self) -> None:
        self._numbers: dict[str | bytes, int] = {}

    def block(self, kind: str, key: str, pieces: Iterable[str], room: float = inf) -> Markup | None:
        """Return a data block of the numbers of its pieces, after those that the page lacks.

        Args:
            kind: As of `data_block`.
            key: As of `data_block`.
            pieces: HTML; together they are what the block shows.
            room: Bytes that both may have.

        Returns:
            None if both together have no room; then the page has none of the pieces either.
        """
        numbers, first = [], len(self._numbers)
        new: dict[str | bytes, int] = {}
        written: list[str] = []
        for piece in pieces:
            name = piece if len(piece) < _SHORT else blake2b(piece.encode()).digest()
            number = self._numbers.get(name, new.get(name))
            if number is None:
                number = new[name] = first + len(new)
                written.append(str(piece))
            numbers.append(number)
        parts = data_block("parts", str(first), compact_json(written)) if written else Markup()
        block = parts + data_block(kind, key, compact_json(numbers))
        if len(block.encode()) > room:
            return None
        self._numbers |= new
        return block
