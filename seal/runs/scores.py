"""scores.jsonl, line by line, and its scores gathered in columns."""

from __future__ import annotations

import math
import zlib
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any, Generic

from seal.core import DataError, Score, shortened
from seal.core.files import opened
from seal.core.records import SCHEMAS, Record, decode, repair_of
from seal.core.values import json_text, json_value
from seal.evaluation.goals import INFRASTRUCTURE, LARGEST_SCORE
from seal.evaluation.statistics import kind_of_reason
from seal.runs.journal import LineTail

# -- The scores of a run line by line, read without decoding what repeats.

ScoredGoal = tuple[str, int, int]
"""Task id, trial, goal."""
_MOST_PLACES = 10**9
_ROUNDING = 1e-9
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
        told = json_value(head + b"}") | json_value(b"{" + rest[rest.rindex(_STOPS) :])
    except ValueError:  # of another form, or its provenance has stops of its own
        told = json_value(line)
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
        rates: Metrics whose scores lie in [0, 1]: `RunFolder.rates`.
    """

    def __init__(
        self,
        path: Path,
        kind: type[Record],
        saying: Collection[str] = (),
        whole: bool = False,
        rates: Container[str] = (),
    ) -> None:
        self.path = path
        self._lines = LineTail(path, whole)
        self._decode = _decoder(kind, path.parent, rates)
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
                raise self._lines.fault(str(error)) from error

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
        rates: As of `Tail`.

    Raises:
        DataError: A line is no record; the text names the line.
    """

    def __init__(
        self,
        path: Path,
        kind: type[Record],
        key: Callable[[Record], Hashable],
        whole: bool = False,
        rates: Container[str] = (),
    ) -> None:
        self.path = path
        self._decode = _decoder(kind, path.parent, rates)
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
                    raise lines.fault(str(error)) from error
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
        with opened(self.path) as file:
            for span in spans:
                file.seek(span.start)
                lines = filter(bytes.strip, file)
                for number, line in enumerate(islice(lines, span.count), span.number):
                    try:
                        yield self._decode(line)
                    except DataError as error:
                        raise DataError(
                            f"{self.path}, line {number}: {error}; {repair_of(self.path)}"
                        ) from error


@dataclass(slots=True)
class _Span:
    """Lines of one key that follow each other."""

    start: int
    """Where the first one begins."""
    number: int
    """Of the first one, from 1."""
    count: int


def _decoder(kind: type[Record], beside: Path, rates: Container[str]) -> Callable[[bytes], Any]:
    if kind is not Score:
        return partial(decode, kind=kind, beside=beside)
    lines = ScoreLines()

    def decoded(line: bytes) -> Score:
        score = lines.decode(line)
        check_rate(score, rates)
        return score

    return decoded


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
        score = _in_range(decode(line, Score))
        if of is not None and len(self._said) < _MOST_SAID and len(said) < _LONGEST_SAID:
            self._said[said] = score
        return (score.task_id, score.trial, score.goal), score

    def _goal(self, place: bytes) -> ScoredGoal | None:
        """Return task, trial and goal from how a line begins; None where it says more or less."""
        if place != self._place:
            self._place, self._of = place, None
            if place.count(b'":') == _PLACE_FIELDS:
                with suppress(DataError):
                    found = _in_range(decode(place + _ANYTHING, Score))
                    self._of = (found.task_id, found.trial, found.goal)
        return self._of


def _in_range(score: Score) -> Score:
    """Return a score whose numbers are those of one: others come from outside.

    Raises:
        DataError: One is not.
    """
    for name, place in (("trial", score.trial), ("goal", score.goal)):
        if not 0 <= place < _MOST_PLACES:
            raise DataError(f"{name} {shortened(place)}: expected a whole number from 0 to 10^9")
    for name, number in (("value", score.value), ("weight", score.weight)):
        if number is not None and abs(number) > LARGEST_SCORE:
            raise DataError(f"{name} {number:g}: expected a number up to {LARGEST_SCORE:g}")
    return score


def is_rate(value: float | None) -> bool:
    """Tell whether a value lies in [0, 1], or there is none."""
    return value is None or -_ROUNDING <= value <= 1 + _ROUNDING


def check_rate(score: Score, rates: Container[str]) -> None:
    """Make sure that the score of a metric among those whose scores lie in [0, 1] does, too.

    Raises:
        DataError: It does not.
    """
    if not is_rate(score.value) and score.metric in rates:
        raise DataError(f"value {score.value:g} of {score.metric}: expected a number from 0 to 1")


# -- Scores gathered in columns while they are written, of which `score_table` makes a table.

ERROR = "error"
"""Why a score has no value whose task the infrastructure failed."""
MISSING = "not scored"
"""Why there is no score."""
ABSENT, VALUE = -2, -1
"""Why there is no value, while scores are gathered: no score; there is one."""


class Columns:
    """Collects scores one by one: 12 bytes a score are kept, in columns that grow."""

    def __init__(self) -> None:
        self.stamp = 0, 0
        """Size and CRC-32 of the lines that were taken."""
        self.again = False
        """A score was taken of which another one had been taken before, which stays."""
        self.rows: defaultdict[ScoredGoal, int] = defaultdict(count().__next__)
        """Task, trial and goal to a row."""
        self.by_metric: dict[str, tuple[array[float], array[int]]] = {}
        """Metric to its values, and to why there are none, by rows; the last rows may be missing.

        In the second, `ABSENT` stands for no score, `VALUE` for one with a value.
        """
        self.reasons = _Reasons()

    def take(self, scores: Iterable[Score], lines: bytes) -> None:
        """Take scores, and the lines in which they are written."""
        self.stamp = stamp_after(lines, *self.stamp)
        for one in scores:
            self.again |= not self.add((one.task_id, one.trial, one.goal), one)

    def add(self, goal: ScoredGoal, said: Score) -> bool:
        """Take what a score says of a goal; False: there is one already, which stays."""
        row = self.rows[goal]
        column = self.by_metric.get(said.metric)
        if column is None:
            column = self.by_metric[said.metric] = array("d"), array("i")
        values, why = column
        value, reason = said.value, VALUE
        if value is None:
            value, reason = math.nan, self.reasons[said.reason]
        if (gap := row - len(values)) >= 0:
            values.extend([math.nan] * gap)
            why.extend([ABSENT] * gap)
            values.append(value)
            why.append(reason)
        elif why[row] == ABSENT:
            values[row], why[row] = value, reason
        else:
            return False
        return True


def stamp_after(block: bytes, size: int, crc: int) -> tuple[int, int]:
    """Return size and CRC-32 of bytes with a further block."""
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


# -- The files of a run's columns and of what explains them, and from which size on a run has it.

COLUMNS, EXPLAINED = "scores.npz", "explained.json"
LARGE = 1_000
"""Scored goals from which on a run has these files."""
