"""The page of one run or several, in blocks; as one HTML file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import islice, starmap, takewhile
from math import inf
from pathlib import Path
from shlex import quote
from statistics import fmean
from typing import Any, Generic

from markupsafe import Markup

from seal.core import DataError, Score, Task, Trajectory, UsageError
from seal.core.files import AtomicFile, opened
from seal.core.records import Record, decode, repair_of
from seal.core.text import escaped_json, one_line, printable
from seal.core.values import json_text as compact_json
from seal.core.values import json_value
from seal.evaluation.attribution import MEANINGS, Decided
from seal.experiments.explanation import Explainer
from seal.report.chat_list import ChatLine, chat_line, kept_lines
from seal.report.chat_pages import (
    ChatFacts,
    annotate,
    cause_text,
    chat_pieces,
    json_text,
    target_line,
    task_pieces,
)
from seal.report.grids import grouped
from seal.report.lanes import (
    Lane,
    ShortTable,
    by_chat,
    decisive_of,
    facts_of,
    lanes_of,
    measure_differences,
    model_name,
    outcome_label,
    scores_so_far,
    shipped_prices,
)
from seal.report.pages import inline, stream
from seal.report.run_results import missing_notes, named_notes, outcome_notes
from seal.report.sections import OURS, OwnSection, Section, default_sections
from seal.runs.costs import dollars_of
from seal.runs.journal import LineTail, timings_of
from seal.runs.run import (
    REFUSED,
    TIMINGS,
    RunFolder,
    check_whole,
    varied_settings,
    varied_text,
)
from seal.runs.scores import RecordLookup, chat_told

# -- The pages of one run, or of several side by side, in parts that are asked for one by one.
#
# A page holds what is read first. The rest are blocks, each with a key: portions of the table of
# tasks (`rows/0.json`), what a task asks (`task/12.html`), its chats (`chat/1/12/0.html`: lane,
# task, trial) and sections (`section/3.html`). One file holds all blocks, a site has a file for
# each, and a server makes those that are asked for. Of a run's files memory holds where records
# stand.

FIRST, PORTION = 100, 1_000
"""Rows of the table of tasks in the first block, and in each other one."""
COLUMNS = 2
"""Metrics in the table of tasks, over all runs together; each run has at least one."""
EARLY = ("Summary", "Charts")
"""Sections that stand before the table of tasks; they need summary.json alone."""
_COMPARISON = OURS["comparison"].title
"""Stands first where there are several runs."""
ORDER = ("run", "ceiling", "floor")
"""Kinds of lanes, by how much their chats matter to a reader."""
_TEXT, _TAG, _VALUE, _ANSWER = 240, 40, 60, 120
"""Characters of a goal, a tag, its value, and of an answer or a target in the table of tasks."""
_TAGS = 300
"""Tags by which the table can be filtered, at most."""

_WARNING = ": warning: "
"""Stands in a note that is not folded."""
_NUMBER = re.compile(r"[0-9]{1,9}")

Key = tuple[str, int]
"""Task id and trial."""


@dataclass(slots=True)
class _Row:
    """What the table shows of a task."""

    task_id: str
    place: int
    text: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    chats: dict[tuple[int, int], list[Any]] = field(default_factory=dict)
    """(lane, trial) to label, stop reason and the values of the metrics that are shown."""
    target: str = ""
    """What is asked for, as far as it is known; likewise the details."""
    details: dict[tuple[int, int], list[Any]] = field(default_factory=dict)
    """(lane, trial) of runs to stage and cause of the first failure, answer, calls and cost."""

    def told(self, lanes: int) -> list[Any]:
        """Return the row as the page's script reads it."""
        chats: list[list[list[Any]]] = [[] for _ in range(lanes)]
        for (lane, trial), known in sorted(self.chats.items()):
            chats[lane].append([trial, *known, *self.details.get((lane, trial), ())])
        return [printable(self.task_id), self.text, self.tags, chats, self.target]


class RunPages:
    """What is shown of runs side by side.

    Args:
        runs: Scored runs; floor and ceiling are as of `lanes_of`.
        sections: Parts beside the table of tasks; None: ours and those of plug-ins.
        varied: The ablation whose conditions the runs are; empty: they should measure the same.

    Raises:
        UsageError: No run.
        DataError: A run has not been scored.
    """

    def __init__(
        self, runs: Sequence[RunFolder], sections: Sequence[Section] | None = None, varied: str = ""
    ) -> None:
        self.runs = list(runs)
        self.lanes = lanes_of(runs)
        self.varied = varied
        found = default_sections(runs) if sections is None else sections
        self._leading = EARLY if len(self.runs) == 1 else (_COMPARISON, *EARLY)
        places = {title: place for place, title in enumerate(self._leading)}
        self.sections = sorted(found, key=lambda it: places.get(it.title, len(places)))
        self._decisive = decisive_of([lane.run for lane in self.lanes])
        self._columns = [
            name
            for name in ShortTable([lane for lane in self.lanes if lane.kind == "run"]).first
            if any(name in lane.metrics for lane in self.lanes)
        ][: max(1, COLUMNS // len(self.runs))]
        self._details = _details_of(self.runs)
        self._made: dict[int, Markup] = {}
        self._tasks_of: dict[int, _Places[Task]] = {}
        self._scores_by_chat: dict[int, RecordLookup[Score]] = {}

    @property
    def title(self) -> str:
        """What the runs are called, and what was varied of an ablation."""
        labels = " · ".join(lane.label for lane in self.lanes if lane.kind == "run")
        return f"Ablation of {self.varied}: {labels}" if self.varied else labels

    def page(self, bodies: Sequence[Markup | None], **how: Any) -> Iterator[str]:
        """Yield the page in pieces.

        Args:
            bodies: Of each section; None: it is loaded when a reader comes to it.
            **how: Of the template: its style, script and blocks (`pages.inline`, `pages.linked`),
                and `unsure`, the places of sections that are announced once they have content.
        """
        listed = list(enumerate(zip(self.sections, bodies, strict=True)))
        shown = [
            (place, section.title, body)
            for place, (section, body) in listed
            if body is None or body.strip()
        ]
        labels = [lane.label for lane in self.lanes if lane.kind == "run"]
        return stream(
            "page.html",
            title=self.title,
            lanes=self.lanes,
            columns=self._columns,
            details=self._details,
            stages=list(MEANINGS.values()),
            facts=[(lane, facts_of(lane.run).told()) for lane in self.lanes if lane.kind == "run"],
            placed=sorted(enumerate(self.lanes), key=lambda each: each[1].kind != "run"),
            early=[each for each in shown if each[1] in self._leading],
            sections=[each for each in shown if each[1] not in self._leading],
            differences=measure_differences(self.runs),
            settings=varied_text(varied_settings(dict(zip(labels, self.runs, strict=True)))),
            varied=self.varied,
            manifests=[(model_name(run), _manifest_parts(run)) for run in self.runs],
            warnings=list(self._warnings()),
            remarks=[note for note in self._outcomes() if _WARNING not in note],
            **how,
        )

    def _warnings(self) -> Iterator[str]:
        for run in self.runs:
            yield from run.manifest().get("warnings") or ()
        for run in self.runs:
            for model, what in (run.manifest().get(REFUSED) or {}).items():
                yield f"{model} refused a request: {what}"
            yield from named_notes(run.manifest())
        yield from missing_notes(self.lanes)
        yield from (note for note in self._outcomes() if _WARNING in note)

    def _outcomes(self) -> Iterator[str]:
        """Yield what a reader must know of the outcomes of the runs, then of their baselines."""
        for lane in sorted(self.lanes, key=lambda each: ORDER.index(each.kind)):
            yield from (f"{lane.label}: {note}" for note in outcome_notes(lane.summary))

    def early(self) -> list[Markup | None]:
        """Return the HTML of the sections before the table of tasks, None of the others.

        It is empty of those of which the summaries tell that they have nothing to say.
        """
        return [
            self.section(place)
            if section.title in EARLY
            or (isinstance(section, OwnSection) and not section.may_say(self.lanes))
            else None
            for place, section in enumerate(self.sections)
        ]

    @property
    def unsure(self) -> list[int]:
        """Places of sections that may turn out to have nothing to say (`holds`)."""
        return [
            place
            for place, section in enumerate(self.sections)
            if not isinstance(section, OwnSection)
            or (section.holds is not None and section.may_say(self.lanes))
        ]

    def holds(self, place: int) -> bool:
        """Tell whether a section has something to say; of ours without making it."""
        section = self.sections[place]
        if isinstance(section, OwnSection):
            return section.says(self.lanes)
        return bool(self.section(place).strip())

    def section(self, place: int) -> Markup:
        """Return the HTML of a section, made once; empty where it has nothing to say."""
        if place not in self._made:
            self._made[place] = self.sections[place].render(self.lanes) or Markup()
        return self._made[place]

    def index(self, left_out: int = 0) -> dict[str, Any]:
        """Return what the page's script has to know before it draws the table.

        Args:
            left_out: Chats that the page has no room for.
        """
        rows = self.rows
        tags = Counter(tag for row in rows for tag in row.tags.items())
        often = [(tag, count) for tag, count in tags.items() if count > 1 or len(tags) <= 60]
        labels = {known[0] for row in rows for known in row.chats.values()}
        labels |= {"unfinished"} if any(len(row.chats) < len(self.lanes) for row in rows) else set()
        return {
            **self._head(),
            "count": len(rows),
            "portions": len(self.portions),
            "tags": sorted([*tag, count] for tag, count in often)[:_TAGS],
            "outcomes": sorted(labels),
            "left_out": left_out,
        }

    def start(self) -> dict[str, Any]:
        """Return what the page's script draws until it has the index: the first rows of the table.

        They are read where the files begin. Of a run whose chats are not in the order of its tasks,
        as after a kill, chats are missing here.
        """
        first = next(lane for lane in self.lanes if lane.kind == "run")
        lines = _told(LineTail(first.run.path / "tasks.jsonl"), Task, _task_told)
        tasks = {task_id: shown for task_id, shown, _ in islice(lines, FIRST)}
        chats = [dict(_first_chats(lane.run.trajectories_path, tasks)) for lane in self.lanes]
        scores = [self._scores(lane.run, tasks) for lane in self.lanes]
        rows = [row.told(len(self.lanes)) for row in self._rows([tasks], chats, scores)]
        return {**self._head(), "rows": rows}

    def _head(self) -> dict[str, Any]:
        return {
            "lanes": [
                [lane.kind, printable(lane.label), lane.colour, _named(lane)] for lane in self.lanes
            ],
            "columns": list(map(printable, self._columns)),
            "details": self._details,
        }

    def portion(self, number: int) -> list[list[Any]]:
        """Return the rows of a portion of the table, from 0."""
        end = FIRST + number * PORTION
        rows = self.rows[end - PORTION : end] if number else self.rows[:FIRST]
        for row in rows:
            self._detail(row)
        return [row.told(len(self.lanes)) for row in rows]

    def _detail(self, row: _Row) -> None:
        """Note what a task asks for, and what needs the whole chat, where it is not known yet."""
        for lane, trial in row.chats:
            if self.lanes[lane].kind == "run" and (lane, trial) not in row.details:
                if line := self._lines[lane].get((row.task_id, trial)):
                    self._note(lane, row, line)
                    continue
                with suppress(DataError):  # whoever opens the chat is told of the damage
                    self._known(lane, row, trial)
        if not row.target and (task := self._task(row.task_id)) is not None:
            row.target = one_line(target_line(task, self._names), _ANSWER)

    @property
    def portions(self) -> range:
        """The numbers of all portions."""
        return range(1 + -(-max(0, len(self.rows) - FIRST) // PORTION))

    @cached_property
    def rows(self) -> list[_Row]:
        """A row for each task of the runs, and for each that a chat is of."""
        runs = [place for place, lane in enumerate(self.lanes) if lane.kind == "run"]
        return self._rows(
            [self._tasks(place).shown for place in runs],
            [chats.shown for chats in self._chats],
            [self._scores(lane.run) for lane in self.lanes],
        )

    def _rows(
        self,
        tasks: Iterable[Mapping[str, tuple[str, dict[str, str]]]],
        chats: Iterable[Mapping[Key, tuple[str, bool]]],
        scores: Iterable[Mapping[Key, list[Score]]],
    ) -> list[_Row]:
        """Return a row for each task.

        Args:
            tasks: What is shown of them, for each run.
            chats: What is shown of them, for each lane.
            scores: By chat, for each lane.
        """
        found: dict[str, _Row] = {}
        for shown in tasks:
            for task_id, (text, tags) in shown.items():
                found.setdefault(task_id, _Row(task_id, len(found), text, tags))
        for position, (played, scored) in enumerate(zip(chats, scores, strict=True)):
            for (task_id, trial), (stop, failed) in played.items():
                row = found.setdefault(task_id, _Row(task_id, len(found)))
                mine = scored.get((task_id, trial), [])
                label = outcome_label(failed, mine, self._decisive)
                row.chats[position, trial] = [label, printable(stop), self._values(mine)]
        return list(found.values())

    def _scores(
        self, run: RunFolder, among: Container[str] | None = None
    ) -> dict[Key, list[Score]]:
        """Return the scores that the table needs, by chat.

        Args:
            run: Whose they are.
            among: Ids of tasks: only the scores before the first of another task.
        """
        scores = scores_so_far(run, (*self._decisive, *self._columns))
        if among is not None:
            scores = takewhile(lambda score: score.task_id in among, scores)
        return by_chat(scores)

    def _values(self, scores: Iterable[Score]) -> list[float | None]:
        values = grouped((score.metric, score.value) for score in scores if score.value is not None)
        return [round(fmean(values[n]), 4) if n in values else None for n in self._columns]

    def task(self, place: int) -> Iterator[str]:
        """Yield the pieces that show a task; none if no run has the task any more."""
        task = self._task(self.rows[place].task_id)
        return iter(()) if task is None else task_pieces(task, self._names)

    def chat(self, position: int, place: int, trial: int) -> Iterator[str]:
        """Yield the pieces of a chat: lane, task and trial.

        Raises:
            KeyError: It was not played.
        """
        task, chat, scores, why = self._known(position, self.rows[place], trial)
        notes = annotate(task, chat, scores, self._names)
        seconds, _ = self._timed[position].get((chat.task_id, trial), _UNKNOWN)
        told = ChatFacts(self._sights[position], seconds, why)
        return chat_pieces(chat, notes, scores, self._decisive, told)

    def _known(
        self, position: int, row: _Row, trial: int
    ) -> tuple[Task | None, Trajectory, list[Score], Sequence[Decided]]:
        """Return a chat with its task, its scores and why its goals failed; the row notes it.

        Raises:
            KeyError: It was not played.
        """
        key = row.task_id, trial
        chat = self._chats[position].get(key)
        if chat is None:
            raise KeyError(key)
        if position not in self._scores_by_chat:
            path = self.lanes[position].run.scores_path
            found = RecordLookup(path, Score, lambda score: (score.task_id, score.trial))
            self._scores_by_chat[position] = found
        scores = self._scores_by_chat[position].get(key)
        task = self._tasks(position).get(key[0])
        why = self._explainers[position].of(task, chat, scores) if task and scores else ()
        if self.lanes[position].kind == "run":
            line = chat_line(task, chat, scores, why, self._decisive, self._names)
            self._note(position, row, line)
        return task, chat, scores, why

    def _note(self, position: int, row: _Row, line: ChatLine) -> None:
        _, cost = self._timed[position].get((line.task, line.trial), _UNKNOWN)
        told = line.doubt if line.cause is None else cause_text(line.cause)
        row.target = row.target or line.target
        row.details[position, line.trial] = [told, line.answer, line.calls, cost]

    @cached_property
    def _lines(self) -> list[dict[Key, ChatLine]]:
        """Of each run that keeps what lists tell, the chats."""
        kept = (kept_lines(lane.run) if lane.kind == "run" else () for lane in self.lanes)
        return [{(line.task, line.trial): line for line in lines} for lines in kept]

    def block(self, key: str) -> str | None:
        """Return the text of a block, JSON or HTML; None: no block has this key."""
        kind, *places = key.removesuffix(".json").removesuffix(".html").split("/")
        made = self._makers.get(kind)
        if made is None or not all(map(_NUMBER.fullmatch, places)):
            return None
        try:
            return made(*map(int, places))
        except (LookupError, TypeError):
            return None

    @cached_property
    def _makers(self) -> Mapping[str, Callable[..., str]]:
        return {
            "index": lambda _: compact_json(self.index()),
            "rows": lambda number: compact_json(self.portion(number)),
            "task": lambda place: "".join(self.task(place)),
            "chat": lambda *places: "".join(self.chat(*places)),
            "section": self.section,
            "holds": lambda place: compact_json(self.holds(place)),
        }

    def parts(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Yield kind and places of every task and chat, those that matter most first.

        Of several runs these are the chats of tasks that ended otherwise in another run.

        `"/".join([kind, *places])` with its ending is the key of a block.
        """
        yield from (("task", (row.place,)) for row in self.rows)
        kinds = [lane.kind for lane in self.lanes]
        ranked = sorted(self.rows, key=lambda row: len(_ends(row, kinds)) < 2)
        for kind in ORDER:
            for row in ranked:
                for lane, trial in row.chats:
                    if kinds[lane] == kind:
                        yield "chat", (lane, row.place, trial)

    def _task(self, task_id: str) -> Task | None:
        positions = (place for place, lane in enumerate(self.lanes) if lane.kind == "run")
        found = (self._tasks(position).get(task_id) for position in positions)
        return next((task for task in found if task is not None), None)

    def _tasks(self, position: int) -> _Places[Task]:
        if position not in self._tasks_of:
            path = self.lanes[position].run.path / "tasks.jsonl"
            self._tasks_of[position] = _Places(path, Task, _task_told)
        return self._tasks_of[position]

    @cached_property
    def _chats(self) -> list[_Places[Trajectory]]:
        paths = (lane.run.trajectories_path for lane in self.lanes)
        return [_Places(path, Trajectory, _chat_told) for path in paths]

    @cached_property
    def _timed(self) -> list[dict[Key, tuple[float | None, float | None]]]:
        return [_timed(lane.run, self._details.get("cost") == "tokens") for lane in self.lanes]

    @cached_property
    def _explainers(self) -> list[Explainer]:
        return [Explainer(lane.run) for lane in self.lanes]

    @cached_property
    def _names(self) -> dict[str, str]:
        """Tool to its name, of the first run that has its tools; a page needs none."""
        kept = (run for run in self.runs if (run.path / "tools.jsonl").is_file())
        run = next(kept, None)
        return {} if run is None else {id: tool.name for id, tool in run.tools().items()}

    @cached_property
    def _sights(self) -> list[Mapping[str, str]]:
        return [_sight_of(lane.run) for lane in self.lanes]


def _named(lane: Lane) -> str:
    """Return what names a lane's folder on the command line, where the run's own one lies."""
    path = lane.run.path.resolve()
    return quote(printable(path.name if lane.kind == "run" else f"{path.parent.name}/{path.name}"))


def _ends(row: _Row, kinds: Sequence[str]) -> set[tuple[str, ...]]:
    """Return how the chats of a task ended, in each run."""
    by_lane = grouped((lane, known[0]) for (lane, _), known in sorted(row.chats.items()))
    return {tuple(ends) for lane, ends in by_lane.items() if kinds[lane] == "run"}


def _told(
    lines: LineTail, kind: type[Any], told: Callable[[bytes], tuple[Any, Any]]
) -> Iterator[tuple[Any, Any, int]]:
    """Yield key, what is shown and where it begins, of each line.

    Raises:
        DataError: A line is no record of this kind; the text names it.
    """
    for line in lines.read():
        try:
            key, shown = told(line)
            hash(key)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise lines.fault(f"no {kind.__name__.lower()}: {error!r:.100}") from error
        yield key, shown, lines.offset - len(line)


def _first_chats(path: Path, among: Container[str]) -> Iterator[tuple[Key, tuple[str, bool]]]:
    """Yield what is shown of the chats before the first of a task that is not among some."""
    for key, shown, _ in _told(LineTail(path), Trajectory, _chat_told):
        if key[0] not in among:
            return
        yield key, shown


def _task_told(line: bytes) -> tuple[str, tuple[str, dict[str, str]]]:
    """Return the id of a line's task, and the start of its first goal and its tags."""
    told = json_value(line)
    goals = told.get("goals") or [{"text": ""}]
    tags = (
        (name, value if isinstance(value, str) else json_text(value))
        for name, value in (told.get("tags") or {}).items()
    )
    return told["id"], (one_line(goals[0]["text"], _TEXT), dict(starmap(_tag, tags)))


@lru_cache(10_000)
def _tag(name: str, value: str) -> tuple[str, str]:
    return one_line(name, _TAG), one_line(value, _VALUE)


def _chat_told(line: bytes) -> tuple[Key, tuple[str, bool]]:
    """Return of which chat a line is, why it ended last, and whether the infrastructure failed."""
    chat, reasons = chat_told(line)
    return chat, (reasons[-1] if reasons else "", "error" in reasons)


def _details_of(runs: Sequence[RunFolder]) -> dict[str, str]:
    """Return name and heading of what the table tells of a chat beside outcome and scores.

    Of several runs there is no room for it.
    """
    if len(runs) > 1:
        return {}
    facts = facts_of(runs[0])
    cost = "dollars" if facts.dollars else "tokens" if facts.tokens else ""
    told = {"why": "stage and cause", "answer": "answer", "calls": "calls"}
    return told | ({"cost": cost} if cost else {})


_UNKNOWN = (None, None)


def _timed(run: RunFolder, in_tokens: bool) -> dict[Key, tuple[float | None, float | None]]:
    """Return how long each chat took, in seconds, and its cost in tokens, else in dollars.

    Of chats that were played again the last counts.
    """
    return {
        (it["task_id"], it["trial"]): (
            it["seconds"],
            it["tokens"] if in_tokens else dollars_of(it["asked"], shipped_prices()),
        )
        for it in timings_of(run.path / TIMINGS)
        if "task_id" in it
    }


def _sight_of(run: RunFolder) -> Mapping[str, str]:
    """Return role to what it sees, of a team that is installed; others' code is not imported."""
    from seal.agents.teams import REGISTRY, build_team

    name = (run.manifest().get("system") or {}).get("team")
    return build_team(name, {}).sight if name in REGISTRY.names() else {}


def _manifest_parts(run: RunFolder) -> list[tuple[str, str]]:
    manifest = run.manifest()
    return [(name, json_text(manifest[name], indent=2)) for name in sorted(manifest)]


class _Places(Generic[Record]):
    """Where each record of a file stands, by key, and what the table shows of it.

    Of several records of one key the last counts. A last line without a newline is being written.

    Args:
        path: The file; it need not be there.
        kind: Of the records.
        told: A line to its key and to what is shown of it; it reads as little as it can.

    Raises:
        DataError: A line is no record; the text names it.
    """

    def __init__(
        self, path: Path, kind: type[Record], told: Callable[[bytes], tuple[Any, Any]]
    ) -> None:
        self._path, self._kind = path, kind
        self.shown: dict[Any, Any] = {}
        self._places: dict[Any, int] = {}
        for key, self.shown[key], place in _told(LineTail(path), kind, told):
            self._places[key] = place

    def get(self, key: Any) -> Record | None:
        """Return the record of a key; None where there is none.

        Raises:
            DataError: Its line is none.
        """
        if key not in self._places:
            return None
        with opened(self._path) as file:
            file.seek(self._places[key])
            try:
                return decode(file.readline(), self._kind, beside=self._path.parent)
            except DataError as error:
                raise DataError(f"{self._path}: {key}: {error}; {repair_of(self._path)}") from error


# -- The report: one HTML file that needs no network.
#
# Its tasks and chats are made of pieces of HTML, and what occurs twice is written once. Chats of
# one run repeat each other: floor, run and ceiling hear the same requests, and most scores of a
# goal have the value of those of the next. So each piece has a number and stands once in a block of
# kind `parts`; the block of a chat lists the numbers of its pieces. The page's script puts them
# together when a chat is opened.

MAX_BYTES = 32_000_000
"""Bytes of conversations in the page of one run; a browser stays quick below."""
_SIDE_BY_SIDE = 8_000_000
"""Bytes of those in the page of several runs, which is of what differs between them."""
_IN_VAIN = 20
"""Conversations without room, one after the other, after which no other one is made."""
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
    max_bytes: int | None = None,
    varied: str = "",
) -> Path:
    """Write the report of one run, or of several side by side.

    The same runs give the same bytes. Trajectories and scores are streamed: memory holds one of
    them and a short row for each task.

    Args:
        runs: Scored runs; floor and ceiling are as of `lanes_of`.
        out: The file to write; it appears whole or not at all.
        sections: Parts above the table of tasks; None: ours and those of plug-ins.
        max_bytes: Conversations beyond this size are left out, and the page says so. None: a size
            of which a browser makes short work.
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
    usual = MAX_BYTES if len(runs) == 1 else _SIDE_BY_SIDE
    room = usual if max_bytes is None else max_bytes
    bodies = [pages.section(place) for place in range(len(pages.sections))]
    with AtomicFile(out) as file:
        for piece in pages.page(bodies, **inline(), blocks=data_blocks(pages, room)):
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
        with opened(out) as file:
            beginning = file.read(_HEAD)
        if beginning and b"<title>SEAL " not in beginning:
            raise UsageError(f"{out} holds something else than a report; give --out a new file")


def data_blocks(pages: RunPages, room: int = MAX_BYTES) -> Iterator[Markup]:
    """Yield tasks, chats as long as there is room for these bytes, then the table and its index."""
    written, left_out, in_vain = Pieces(), 0, 0
    for kind, numbers in pages.parts():
        key = "/".join(map(str, numbers))
        if kind == "task":
            yield written.block(kind, key, pages.task(*numbers)) or Markup()
        elif in_vain < _IN_VAIN and (block := written.block(kind, key, pages.chat(*numbers), room)):
            room -= len(block.encode())
            in_vain = 0
            yield block
        else:
            left_out += 1
            in_vain += 1
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
