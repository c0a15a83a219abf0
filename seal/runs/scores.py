"""scores.jsonl, line by line and as a table of numbers (scores.npz)."""

from __future__ import annotations

import math
import zipfile
import zlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any, Generic, NamedTuple

import orjson

from seal.core import DataError, Score
from seal.core.arrays import Floats, Integers, NDArray, np
from seal.core.files import AtomicFile
from seal.core.records import SCHEMAS, Record, decode
from seal.core.secrets import without_keys
from seal.core.values import json_bytes, json_text
from seal.evaluation.goals import INFRASTRUCTURE
from seal.evaluation.statistics import kind_of_reason, ranks
from seal.runs.journal import LineTail

# -- The scores of a run line by line, read without decoding what repeats.

ScoredGoal = tuple[str, int, int]
"""Task id, trial, goal."""
_MOST_SAID = 5_000
_LONGEST_SAID = 1_000
"""Bytes of what a line says of a metric that is remembered."""
_STEPS, _STOPS = b',"steps":', b'"stops":['
_METRIC = b',"metric":'
_ANYTHING = b',"metric":"","value":null}'
"""Ends a line of a score."""
_PLACE_FIELDS = 4
"""Fields before the metric: schema, task, trial and goal."""
_DETAILS = b',"details":{'
_HEAD = b'{"schema":"%b",' % SCHEMAS[Score].encode()
"""Begins a line of a score; a line that lost its newline has two."""


def chat_told(line: bytes) -> tuple[tuple[str, int], list[str]]:
    """Return of which task and trial a line of a trajectory is, and why each goal ended.

    Its steps, which are nearly all of it, are not read where its form is ours.

    Raises:
        ValueError, KeyError, TypeError: It is no trajectory.
    """
    head, _, rest = line.partition(_STEPS)
    try:
        told = orjson.loads(head + b"}") | orjson.loads(b"{" + rest[rest.rindex(_STOPS) :])
    except ValueError:  # of another form, or its provenance has stops of its own
        told = orjson.loads(line)
    return (told["task_id"], told["trial"]), [stop["reason"] for stop in told["stops"]]


class Tail(Generic[Record]):
    """The records of a growing file, each once (`LineTail`).

    Args:
        path: The file.
        kind: Of the records.
        saying: Only lines that hold one of these as a JSON string, in whatever field, are read: to
            look for it in a line takes a fraction of the time. Of scores, only those of metrics of
            these names. Empty: all lines.
        whole: The file grows no more: a last line without a newline is read, or was torn.
    """

    def __init__(
        self, path: Path, kind: type[Record], saying: Collection[str] = (), whole: bool = False
    ) -> None:
        self.path = path
        self._lines = LineTail(path, whole)
        self._decode = _decoder(kind)
        self._saying = tuple(json_text(text).encode() for text in saying)
        self._of_scores = kind is Score
        self.torn = False
        """True: a last line without a newline is no record."""

    def read(self) -> Iterator[Record]:
        """Yield the records that were not read before.

        Raises:
            DataError: A complete line is no record; the text names file and line.
        """
        for line in self._lines.read():
            if self._saying and not self._may_say(line):
                continue
            try:
                yield self._decode(line)
            except DataError as error:
                if not line.endswith(b"\n"):
                    self.torn = True
                    return
                raise DataError(f"{self._lines}: {error}") from error

    def _may_say(self, line: bytes) -> bool:
        if self._of_scores:
            _, mark, said = line.partition(_METRIC)
            if mark:
                return said.startswith(self._saying)
        return any(text in line for text in self._saying)


class RecordLookup(Generic[Record]):
    """The records of a file of JSON lines; memory holds where they stand, not what they say.

    A file that does not exist has no records. Of scores that begin alike, so that they are of one
    goal, only the first is read before they are asked for.

    Args:
        path: The file; it must not change meanwhile.
        kind: Type of the records.
        key: A record to what it is asked for by.
        whole: As of `Tail`; False: a last line without its newline is left out.

    Raises:
        DataError: A line is no record; the text names the line.
    """

    def __init__(
        self, path: Path, kind: type[Record], key: Callable[[Record], Hashable], whole: bool = False
    ) -> None:
        self.path = path
        self._decode = _decoder(kind)
        self._places: dict[Any, list[_Span]] = {}
        self.torn = False
        """As of `Tail`."""
        lines = LineTail(path, whole)
        span, last, begins = _Span(0, 0, 0), None, b""
        for line in lines.read():
            place = line.partition(_METRIC)[0] if kind is Score else b""
            if not place or place != begins or not line.endswith(b"\n"):
                try:
                    found = key(self._decode(line))
                except DataError as error:
                    self.torn = not line.endswith(b"\n")
                    if self.torn:
                        return
                    raise DataError(f"{lines}: {error}") from error
                if found != last or not span.count:
                    span = _Span(lines.offset - len(line), lines.number, 0)
                    self._places.setdefault(found, []).append(span)
                last, begins = found, place
            span.count += 1

    def __iter__(self) -> Iterator[Any]:
        """Return the keys, in the order of the file."""
        return iter(self._places)

    def get(self, key: Hashable) -> list[Record]:
        """Return the records of a key, in the order of the file.

        Raises:
            DataError: A line is no record; the text names the line.
        """
        spans = self._places.get(key)
        return list(self._read(spans)) if spans else []

    def _read(self, spans: Iterable[_Span]) -> Iterator[Record]:
        with self.path.open("rb") as file:
            for span in spans:
                file.seek(span.start)
                lines = filter(bytes.strip, file)
                for number, line in enumerate(islice(lines, span.count), span.number):
                    try:
                        yield self._decode(line)
                    except DataError as error:
                        raise DataError(f"{self.path}, line {number}: {error}") from error


@dataclass(slots=True)
class _Span:
    """Lines of one key that follow each other."""

    start: int
    """Where the first one begins."""
    number: int
    """Of the first one, from 1."""
    count: int


def _decoder(kind: type[Record]) -> Callable[[bytes], Any]:
    return ScoreLines().decode if kind is Score else partial(decode, kind=kind)


class ScoreLines:
    """Decodes scores: what many lines say, each of another chat, is checked once.

    Args:
        details: False: they are left out, and not checked to be JSON.
    """

    def __init__(self, details: bool = True) -> None:
        self._details = details
        self._said: dict[bytes, Score] = {}
        self._place = b""
        self._of: ScoredGoal | None = None

    def decode(self, line: bytes) -> Score:
        """Return the score of a line.

        Raises:
            DataError: It is none.
        """
        of, said = self.parts(line)
        return Score(*of, said.metric, said.value, said.weight, said.reason, said.details)

    def parts(self, line: bytes) -> tuple[ScoredGoal, Score]:
        """Return of which goal a line is, and a score, maybe of another goal, that says the rest.

        Raises:
            DataError: It is no score.
        """
        place, _, said = line.partition(_METRIC)
        if not self._details:
            said, _, details = said.partition(_DETAILS)
            if not details.endswith((b"}}\n", b"}}")) or _HEAD in details:
                said = line  # another form, or none
        of, known = self._goal(place), self._said.get(said)
        if of is not None and known is not None:
            return of, known
        score = decode(line, Score)
        if of is not None and len(self._said) < _MOST_SAID and len(said) < _LONGEST_SAID:
            self._said[said] = score
        return (score.task_id, score.trial, score.goal), score

    def _goal(self, place: bytes) -> ScoredGoal | None:
        """Return task, trial and goal from how a line begins; None where it says more or less."""
        if place != self._place:
            self._place, self._of = place, None
            if place.count(b'":') == _PLACE_FIELDS:
                with suppress(DataError):
                    found = decode(place + _ANYTHING, Score)
                    self._of = (found.task_id, found.trial, found.goal)
        return self._of


# -- The scores of one run as a table of numbers: a row a task, trial and goal, a column a metric.
#
# Of a large run the table stands in `scores.npz` too, beside the lines that it was made of. Whoever
# needs figures alone reads it in a hundredth of the time. It counts as long as scores.jsonl is what
# it was: where one byte differs, or there is no such file, the lines are read.

ERROR = "error"
"""Why a score has no value whose task the infrastructure failed."""
MISSING = "not scored"
"""Why there is no score."""
_VERSION = 1
_ABSENT, _VALUE = -2, -1  # in `why`, while a table is made: no score, a score with a value


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """What a run's scores.jsonl says."""

    tasks: tuple[str, ...]
    """Ids, in the order of their first rows."""
    goals: Integers
    """(rows, 3): place in `tasks`, trial and goal. No two rows are the same."""
    metrics: Mapping[str, int]
    """Name to column."""
    values: Floats
    """(rows, metrics); NaN where there is no value."""
    why: NDArray[np.int32]
    """(rows, metrics): place in `reasons`; -1 where there is a value."""
    reasons: tuple[str, ...]
    """Kinds of reason why scores have no value."""
    spread: TrialSpread | None = None
    """How the trials of each task differ; None: the rows are by trial."""

    def scored(self) -> Iterator[ScoredGoal]:
        """Yield task id, trial and goal of each row."""
        yield from ((self.tasks[task], trial, goal) for task, trial, goal in self.goals.tolist())

    def chats(self) -> Integers:
        """Return the place in `tasks` and the trial of every chat, (chats, 2)."""
        return self.goals[np.unique(row_numbers(self.goals[:, :2]), return_index=True)[1], :2]


class TrialSpread(NamedTuple):
    """How the trials of tasks differ, (tasks, metrics). A trial is what its goals sum up to."""

    variance: Floats
    """NaN where fewer than two trials have a value."""
    trials: Integers
    """How many have one."""


def row_numbers(rows: Integers) -> Integers:
    """Return one number for each row; rows have the same number where all their columns agree.

    Numbers begin at 0, leave none out, and sort as the rows do.
    """
    found = np.zeros(len(rows), dtype=np.int64)
    for place in map(ranks, rows.T):
        found = found * (int(place.max(initial=-1)) + 1) + place
    return ranks(found)


class Columns:
    """Collects scores one by one: 12 bytes a score are kept, in columns that grow."""

    def __init__(self) -> None:
        self.stamp = 0, 0
        """Size and CRC-32 of the lines that were taken."""
        self.again = False
        """A score was taken of which another one had been taken before, which stays."""
        self._rows: defaultdict[ScoredGoal, int] = defaultdict(count().__next__)
        self._columns: dict[str, tuple[array[float], array[int]]] = {}
        self._reasons = _Reasons()

    def take(self, scores: Iterable[Score], lines: bytes) -> None:
        """Take scores, and the lines in which they are written."""
        self.stamp = _stamp_after(lines, *self.stamp)
        for one in scores:
            self.again |= not self.add((one.task_id, one.trial, one.goal), one)

    def add(self, goal: ScoredGoal, said: Score) -> bool:
        """Take what a score says of a goal; False: there is one already, which stays."""
        row = self._rows[goal]
        column = self._columns.get(said.metric)
        if column is None:
            column = self._columns[said.metric] = array("d"), array("i")
        values, why = column
        value, reason = said.value, _VALUE
        if value is None:
            value, reason = math.nan, self._reasons[said.reason]
        if (gap := row - len(values)) >= 0:
            values.extend([math.nan] * gap)
            why.extend([_ABSENT] * gap)
            values.append(value)
            why.append(reason)
        elif why[row] == _ABSENT:
            values[row], why[row] = value, reason
        else:
            return False
        return True

    def table(self) -> ScoreTable:
        """Return the table."""
        shape = len(self._rows), len(self._columns)
        values, why = np.full(shape, np.nan), np.zeros(shape, dtype=np.int32)
        for place, (its_values, its_why) in enumerate(self._columns.values()):
            values[: len(its_values), place] = its_values
            why[: len(its_why), place] = np.where(np.asarray(its_why) == _ABSENT, 0, its_why)
        metrics = {name: place for place, name in enumerate(self._columns)}
        tasks = {
            task: place for place, task in enumerate(dict.fromkeys(t for t, _, _ in self._rows))
        }
        goals = [(tasks[task], trial, goal) for task, trial, goal in self._rows]
        return ScoreTable(
            tuple(tasks),
            np.asarray(goals, dtype=np.int64).reshape(-1, 3),
            metrics,
            values,
            why,
            tuple(self._reasons.kinds),
        )


def write_columns(scores: Path, columns: Columns | None = None) -> None:
    """Write the table beside the finished file of the scores; of a small run, remove it.

    Args:
        scores: The file.
        columns: What was taken while it was written; None: the file is read.

    Raises:
        DataError: A line is no score, or one of what another line has scored.
    """
    path = scores.with_name(COLUMNS)
    path.unlink(missing_ok=True)
    if columns is None or columns.again:  # reading names the line that scores again
        table, stamp = _read_lines(scores), _stamp(scores)
    else:
        table, stamp = columns.table(), columns.stamp
    if len(table.goals) < LARGE:
        return
    told = {
        "version": _VERSION,
        "lines": stamp,
        "tasks": table.tasks,
        "metrics": list(table.metrics),
        "reasons": table.reasons,
    }
    with AtomicFile(path) as file:
        np.savez_compressed(
            file,
            told=np.frombuffer(without_keys(json_bytes(told)), dtype=np.uint8),
            goals=table.goals,
            values=table.values,
            why=table.why,
        )


def read_scores(path: Path) -> ScoreTable:
    """Return the scores of a run's scores.jsonl.

    Details, which no comparison looks at, are not checked to be JSON.

    Raises:
        DataError: There is no such file, or a line of it is no score, or one of what another line
            has scored; names the line.
    """
    if not path.is_file():
        raise DataError(f"no file {path}: score the run with `seal score {path.parent}`")
    return _kept(path) or _read_lines(path)


def _read_lines(path: Path) -> ScoreTable:
    columns, scores = Columns(), ScoreLines(details=False)
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                goal, said = scores.parts(line)
            except DataError as error:
                raise DataError(f"{path}, line {number}: {error}") from error
            if not columns.add(goal, said):
                raise DataError(
                    f"{path}, line {number}: scores task, trial, goal and metric of line "
                    f"{_first_line(path, goal, said.metric)} again; write the file anew: "
                    f"`seal score {path.parent}`"
                )
    return columns.table()


def _first_line(path: Path, goal: ScoredGoal, metric: str) -> int:
    """Return which line scores a goal by a metric first, from 1."""
    scores = ScoreLines(details=False)
    with path.open("rb") as lines:
        parts = enumerate(map(scores.parts, lines), 1)
        return next(n for n, (of, said) in parts if (of, said.metric) == (goal, metric))


def _kept(scores: Path) -> ScoreTable | None:
    """Return the table that stands beside a file of scores; None: none, or not of these scores."""
    path = scores.with_name(COLUMNS)
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(part.file_size for part in packed.infolist())
        if size > scores.stat().st_size:  # the columns of its lines are a fraction of them
            return None
        with np.load(path, allow_pickle=False) as parts:
            told = orjson.loads(parts["told"].tobytes())
            if told["version"] != _VERSION or tuple(told["lines"]) != _stamp(scores):
                return None
            goals, values, why = (parts[name] for name in ("goals", "values", "why"))
        table = ScoreTable(
            tuple(told["tasks"]),
            goals.astype(np.int64, copy=False),
            {name: place for place, name in enumerate(told["metrics"])},
            # By columns, which is how they are read.
            np.asfortranarray(values, dtype=np.float64),
            np.asfortranarray(why, dtype=np.int32),
            tuple(told["reasons"]),
        )
        shape = len(goals), len(table.metrics)
        sound = values.shape == why.shape == shape and goals.shape == (len(goals), 3)
        sound = sound and np.array_equal(np.unique(goals[:, 0]), np.arange(len(table.tasks)))
        return table if sound and _VALUE <= why.min() <= why.max() < len(table.reasons) else None
    except (OSError, ValueError, LookupError, TypeError, EOFError, zipfile.BadZipFile, zlib.error):
        return None  # no such file, or a damaged one: the lines tell all that it told


def _stamp(scores: Path) -> tuple[int, int]:
    """Return the size of a file and the CRC-32 of its bytes."""
    stamp = 0, 0
    with scores.open("rb") as file:
        while block := file.read(1 << 20):
            stamp = _stamp_after(block, *stamp)
    return stamp


def _stamp_after(block: bytes, size: int, crc: int) -> tuple[int, int]:
    return size + len(block), zlib.crc32(block, crc)


class _Reasons(dict[str, int]):
    """Reason to the place of its kind; kinds are numbered as they come."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds = {MISSING: 0}

    def __missing__(self, reason: str) -> int:
        kind = ERROR if reason.startswith(INFRASTRUCTURE) else kind_of_reason(reason)
        self[reason] = place = self.kinds.setdefault(kind, len(self.kinds))
        return place


# -- The file of a run's columns, and from which size on a run has it.

COLUMNS = "scores.npz"
LARGE = 1_000
"""Scored goals from which on a run has this file."""
