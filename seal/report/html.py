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
from dataclasses import dataclass, field
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import Any

from markupsafe import Markup

from seal.core import Score, Task, UsageError
from seal.core.plain import json_text as compact_json
from seal.core.records import AtomicFile
from seal.report.annotations import annotate
from seal.report.chat_records import decisive_of, outcome, trajectories_so_far
from seal.report.gold import json_text
from seal.report.lanes import Lane, lanes_of, measure_differences, model_name
from seal.report.pages import asset, content_hash, stream
from seal.report.pieces import chat_pieces, task_pieces
from seal.report.printable import escaped_json, one_line, printable
from seal.report.run_results import missing_notes, outcome_notes
from seal.report.sections import Section, default_sections
from seal.runs.lines import RecordLookup
from seal.runs.run_folder import REFUSED, RunFolder
from seal.runs.wholeness import check_whole

MAX_BYTES = 64_000_000
"""Bytes of conversations in one page; a browser stays quick below."""
_HEAD = 2_000
"""Bytes at the beginning of a page that hold its title."""
_SHORT = 500
"""Characters of a piece that is known by itself; a longer one is known by its digest."""
_ENDING = re.compile("<(?=!--|/?script)", re.IGNORECASE)
"""What may end a data block, or begin another script."""
_ORDER = ("run", "ceiling", "floor")
"""In which chats are written, as long as there is room."""


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
    lanes = lanes_of(runs)
    rendered = [
        (section.title, body)
        for section in (default_sections(runs) if sections is None else sections)
        if (body := section.render(lanes)) is not None
    ]
    script, style = asset("app.js"), asset("style.css")
    embedded = _Embedded(lanes, max_bytes)
    pieces = stream(
        "page.html",
        title=" · ".join(lane.label for lane in lanes if lane.kind == "run"),
        lanes=lanes,
        sections=rendered,
        differences=measure_differences(runs),
        varied=varied,
        manifests=[(model_name(run), _manifest_parts(run)) for run in runs],
        warnings=[
            *(text for run in runs for text in run.manifest().get("warnings") or ()),
            *(
                f"{model} refused a request: {what}"
                for run in runs
                for model, what in (run.manifest().get(REFUSED) or {}).items()
            ),
            *missing_notes(lanes),
            *(f"{lane.label}: {note}" for lane in lanes for note in outcome_notes(lane.summary)),
        ],
        script=script,
        style=style,
        script_hash=content_hash(script),
        style_hash=content_hash(style),
        blocks=embedded.blocks(),
        index=embedded.index,
    )
    with AtomicFile(out) as file:
        for piece in pieces:
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


def _manifest_parts(run: RunFolder) -> list[tuple[str, str]]:
    manifest = run.manifest()
    return [(name, json_text(manifest[name], indent=2)) for name in sorted(manifest)]


@dataclass(slots=True)
class _Row:
    """What the page's table shows of a task."""

    task_id: str
    place: int
    text: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    chats: dict[tuple[int, int], tuple[str, str, int]] = field(default_factory=dict)
    """(lane, trial) to label, stop reason and number of calls."""


class _Embedded:
    """The data blocks of a page, and the index of its table once they are all out."""

    def __init__(self, lanes: Sequence[Lane], max_bytes: int) -> None:
        self._lanes = lanes
        self._decisive = decisive_of([lane.run for lane in lanes])
        self._bytes_left = max_bytes
        self._pieces = Pieces()
        self._rows: dict[str, _Row] = {}
        self._left_out = 0

    def blocks(self) -> Iterator[Markup]:
        """Yield tasks, then each lane's chats."""
        for lane in self._lanes:
            for task in lane.run.tasks() if lane.kind == "run" else ():
                if task.id not in self._rows:
                    place = self._described(task).place
                    yield self._pieces.block("task", str(place), task_pieces(task)) or Markup()
        positions = range(len(self._lanes))
        for position in sorted(positions, key=lambda n: _ORDER.index(self._lanes[n].kind)):
            yield from self._chats(position)

    def index(self) -> Markup:
        """Return the block from which the page builds its table."""
        value = {
            "lanes": [[lane.kind, printable(lane.label), lane.colour] for lane in self._lanes],
            "rows": [self._index_row(row) for row in self._rows.values()],
            "left_out": self._left_out,
        }
        return data_block("index", "0", json_text(value))

    def _described(self, task: Task) -> _Row:
        row = self._row(task.id)
        row.text = one_line(task.goals[0].text, 240) if task.goals else ""
        row.tags = {
            one_line(name, 40): one_line(_tag_text(value), 60) for name, value in task.tags.items()
        }
        return row

    def _row(self, task_id: str) -> _Row:
        return self._rows.setdefault(task_id, _Row(task_id, len(self._rows)))

    def _chats(self, lane: int) -> Iterator[Markup]:
        run = self._lanes[lane].run
        tasks = RecordLookup(run.path / "tasks.jsonl", Task, lambda task: task.id)
        scores = RecordLookup(run.scores_path, Score, lambda score: (score.task_id, score.trial))
        for chat in trajectories_so_far(run):
            task = next(iter(tasks.get(chat.task_id)), None)
            scored = scores.get((chat.task_id, chat.trial))
            row, short = self._row(chat.task_id), outcome(chat, scored, self._decisive)
            row.chats[lane, chat.trial] = (short.label, short.stop, short.calls)
            notes = annotate(task, chat, scored)
            pieces = chat_pieces(chat, notes, scored, self._decisive)
            key = f"{lane}/{row.place}/{chat.trial}"
            block = self._pieces.block("chat", key, pieces, self._bytes_left)
            if block is None:
                self._left_out += 1
            else:
                self._bytes_left -= len(block.encode())
                yield block

    def _index_row(self, row: _Row) -> list[Any]:
        chats: list[list[list[Any]]] = [[] for _ in self._lanes]
        for (lane, trial), (label, stop, calls) in sorted(row.chats.items()):
            chats[lane].append([trial, label, printable(stop), calls])
        return [printable(row.task_id), row.text, row.tags, chats]


def _tag_text(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


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
            None where both have no room; the page then has none of the pieces either.
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
