"""The report: one HTML file that needs no network.

Its data blocks share their parts: what occurs twice is written once. Chats of one run repeat each
other: floor, run and ceiling hear the same requests, most scores of a goal have the value of those
of the next, and one reason stands beside many. So each text, list and map of a block is a part with
a number, which stands once in a block of kind `parts`, and `"@12"` in its place; parts refer to
parts. The page's script puts them together when a chat is opened.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any

from markupsafe import Markup

from seal.core.errors import UsageError
from seal.core.plain import json_bytes
from seal.core.plain import json_text as compact_json
from seal.core.records import AtomicFile
from seal.core.types import Score, Tables, Task, Trajectory
from seal.report.annotations import Annotator
from seal.report.chat_records import (
    decisive_of,
    last_stop,
    outcome_label,
    scores_so_far,
    trajectories_so_far,
)
from seal.report.gold import json_text
from seal.report.lanes import Lane, lanes_of, measure_differences, model_name
from seal.report.page_data import chat_data, score_data, table_data, task_data
from seal.report.pages import asset, content_hash, stream
from seal.report.printable import escaped_json, one_line, printable
from seal.report.run_results import missing_notes
from seal.report.sections import Section, default_sections
from seal.runs.run_folder import RunFolder
from seal.runs.wholeness import check_whole

MAX_BYTES = 64_000_000
"""Bytes of conversations in one page; a browser stays quick below."""
_HEAD = 2_000
"""Bytes at the beginning of a page that hold its title."""
LEAST = 12
"""Characters of the JSON of a part; a shorter one is not worth a reference."""
MARK = "@"
"""How a reference begins. A text that begins so is always a part."""
DIGEST = 40
"""Bytes of the digest that is the key of a part; JSON of fewer bytes is its own key."""

_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
EMBEDDING_ORDER = ("run", "ceiling", "floor")


def write_report(
    runs: Sequence[RunFolder],
    out: Path,
    sections: Sequence[Section] | None = None,
    max_bytes: int = MAX_BYTES,
) -> Path:
    """Write the report of one run, or of several side by side.

    The same runs give the same bytes. Trajectories and scores are streamed: memory holds one of
    them and a short row for each task.

    Args:
        runs: Scored runs; floor and ceiling are those of the first that has them.
        out: The file to write; it appears whole or not at all.
        sections: Parts above the table of tasks; None: ours and those of plug-ins.
        max_bytes: Conversations beyond this size are left out, and the page says so.

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
        manifests=[(model_name(run), _manifest_parts(run)) for run in runs],
        warnings=[
            *(text for run in runs for text in run.manifest().get("warnings") or ()),
            *missing_notes(lanes),
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
    text: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    chats: dict[tuple[int, int], _Chat] = field(default_factory=dict)
    """(lane, trial) to the chat."""


@dataclass(slots=True)
class _Chat:
    failed: bool
    stop: str
    calls: int
    decisive: list[Score] = field(default_factory=list)


class _Embedded:
    """The data blocks of a page, and the index of its table once they are all out."""

    def __init__(self, lanes: Sequence[Lane], max_bytes: int) -> None:
        self._lanes = lanes
        self._decisive = decisive_of([lane.run for lane in lanes])
        self._bytes_left = max_bytes
        self._parts = SharedParts()
        self._rows: dict[str, _Row] = {}
        self._places: dict[str, int] = {}
        self._tables: dict[bytes, int] = {}
        """Digest of a table to the number of its block; worlds begin alike."""
        self._left_out = 0

    def blocks(self) -> Iterator[Markup]:
        """Yield tasks, then each lane's chats and scores."""
        for lane in self._lanes:
            for task in lane.run.tasks() if lane.kind == "run" else ():
                if task.id not in self._rows:
                    block = self._parts.block("task", str(self._place(task)), task_data(task))
                    yield block or Markup()
        for position in self._embedding_order():
            yield from self._chats(position)
            yield from self._scores(position)

    def index(self) -> Markup:
        """Return the block from which the page builds its table."""
        value = {
            "lanes": [[lane.kind, printable(lane.label), lane.colour] for lane in self._lanes],
            "rows": [self._index_row(row) for row in self._rows.values()],
            "left_out": self._left_out,
            "decisive": self._decisive,
        }
        return data_block("index", "0", json_text(value))

    def _embedding_order(self) -> list[int]:
        positions = range(len(self._lanes))
        return sorted(positions, key=lambda place: EMBEDDING_ORDER.index(self._lanes[place].kind))

    def _place(self, task: Task) -> int:
        row = self._row(task.id)
        row.text = one_line(task.goals[0].text, 240) if task.goals else ""
        row.tags = {
            one_line(name, 40): one_line(_tag_text(value), 60) for name, value in task.tags.items()
        }
        return self._places[task.id]

    def _row(self, task_id: str) -> _Row:
        if task_id not in self._rows:
            self._places[task_id] = len(self._rows)
            self._rows[task_id] = _Row(task_id)
        return self._rows[task_id]

    def _chats(self, lane: int) -> Iterator[Markup]:
        annotator = Annotator(self._lanes[lane].run)
        for trajectory in trajectories_so_far(self._lanes[lane].run):
            self._row(trajectory.task_id).chats[lane, trajectory.trial] = _short(trajectory)
            key = self._key(lane, trajectory.task_id, trajectory.trial)
            notes = annotator.annotate(trajectory)
            yield from self._new_tables(notes.beginning)
            world = [(name, self._tables[_digest(rows)]) for name, rows in notes.beginning.items()]
            block = self._fitting("chat", key, chat_data(trajectory, notes, world))
            if block:
                yield block
            else:
                self._left_out += 1

    def _new_tables(self, tables: Tables) -> Iterator[Markup]:
        """Yield a block for each table that the page has not had yet."""
        for rows in tables.values():
            digest = _digest(rows)
            if digest not in self._tables:
                self._tables[digest] = len(self._tables)
                yield self._fitting("table", str(self._tables[digest]), table_data(rows))

    def _scores(self, lane: int) -> Iterator[Markup]:
        scores = scores_so_far(self._lanes[lane].run)
        for (task_id, trial), group in groupby(scores, lambda s: (s.task_id, s.trial)):
            found = list(group)
            chat = self._row(task_id).chats.get((lane, trial))
            if chat is not None:
                chat.decisive.extend(s for s in found if s.metric in self._decisive)
            yield self._fitting("scores", self._key(lane, task_id, trial), score_data(found))

    def _key(self, lane: int, task_id: str, trial: int) -> str:
        return f"{lane}/{self._places[task_id]}/{trial}"

    def _fitting(self, kind: str, key: str, value: Any) -> Markup:
        """Return a block; an empty one where it has no room."""
        block = self._parts.block(kind, key, value, self._bytes_left) or Markup()
        self._bytes_left -= len(block.encode())
        return block

    def _index_row(self, row: _Row) -> list[Any]:
        chats: list[list[list[Any]]] = [[] for _ in self._lanes]
        for (lane, trial), chat in sorted(row.chats.items()):
            label = outcome_label(chat.failed, chat.decisive, self._decisive)
            chats[lane].append([trial, label, printable(chat.stop), chat.calls])
        return [printable(row.task_id), row.text, row.tags, chats]


def _short(trajectory: Trajectory) -> _Chat:
    calls = sum(1 for _ in trajectory.calls())
    return _Chat(trajectory.failed, last_stop(trajectory), calls)


def _tag_text(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)


def _digest(rows: Sequence[dict[str, Any]]) -> bytes:
    return blake2b(json_text(rows).encode("utf-8", "surrogatepass")).digest()


def data_block(kind: str, key: str, value: str) -> Markup:
    """Return a data block, which the browser keeps as text and never runs.

    Args:
        kind: Suffix of the attribute by which the script finds it: `data-chat`.
        key: That attribute's value; digits and slashes.
        value: JSON text; `<`, `>`, `&` and control characters are written as escapes, so that no
            text of it ends the block or changes how the page is read.
    """
    opening = Markup('<script type="application/json" data-{}="{}">').format(kind, key)
    return opening + Markup(escaped_json(value).translate(_ESCAPES)) + Markup("</script>")


class SharedParts:
    """Writes blocks, and remembers which parts the page has: the key and the number of each."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}

    def block(self, kind: str, key: str, value: Any, room: float = inf) -> Markup | None:
        """Return a data block after the parts that it needs and the page lacks.

        Args:
            kind: As of `data_block`.
            key: As of `data_block`.
            value: JSON.
            room: Bytes that both may have.

        Returns:
            None where both have no room; the page then has none of the parts either.
        """
        writing = _Writing(self._numbers)
        body = writing.referred(value) if _is_marked(value) else writing.body(value)
        first = len(self._numbers)
        parts = data_block("parts", str(first), f"[{','.join(writing.parts)}]")
        block = (parts if writing.parts else Markup()) + data_block(kind, key, body)
        if len(block.encode()) > room:
            return None
        self._numbers |= writing.new
        return block


class _Writing:
    """One block's JSON, with references.

    Args:
        known: Parts that the page has.
    """

    def __init__(self, known: dict[bytes, int]) -> None:
        self._known = known
        self.new: dict[bytes, int] = {}
        self.parts: list[str] = []

    def body(self, value: Any) -> str:
        """Return the JSON of a block; of its parts, and not of the whole, are there references."""
        if isinstance(value, (list, tuple)):
            return f"[{','.join(map(self.referred, value))}]"
        if isinstance(value, dict):
            named = (f"{compact_json(key)}:{self.referred(part)}" for key, part in value.items())
            return f"{{{','.join(named)}}}"
        return compact_json(value)

    def referred(self, value: Any) -> str:
        """Return a part as it stands in the block: a reference where it is worth one."""
        whole = json_bytes(value)
        key = whole if len(whole) < DIGEST else blake2b(whole, digest_size=DIGEST).digest()
        number = self._known.get(key, self.new.get(key))
        if number is None:
            text = self.body(value) if isinstance(value, (list, tuple, dict)) else whole.decode()
            if not isinstance(value, (str, list, tuple, dict)) or (
                len(text) < LEAST and not _is_marked(value)
            ):
                return text
            number = self.new[key] = len(self._known) + len(self.new)
            self.parts.append(text)
        return f'"{MARK}{number}"'


def _is_marked(value: Any) -> bool:
    """Tell whether a value would be taken for a reference."""
    return isinstance(value, str) and value.startswith(MARK)
