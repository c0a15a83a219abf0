"""The files of a run, line by line: files that grow, records by key, and scores that repeat."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import orjson

from seal.core import DataError, Score
from seal.core.plain import json_text
from seal.core.records import (
    SCHEMAS,
    AtomicFile,
    Record,
    append_line,
    close_file,
    decode,
    repair_tail,
)

Key = TypeVar("Key", bound=Hashable)
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


class KeyedLines(ABC, Generic[Key]):
    """A file that gets a line at a time; of several lines of one key the last one counts.

    Memory holds where the lines stand. A torn last line is cut off.

    Args:
        path: The file; it may exist from an earlier time.

    Raises:
        DataError: A line is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        repair_tail(path)
        self.places: dict[Key, tuple[int, int]] = {}
        """Key to where its line begins, and its length."""
        if path.is_file():
            self._scan(*self._covered())
        self.file = path.open("a+b")

    @abstractmethod
    def _key(self, line: bytes, number: int) -> Key:
        """Take note of a line that the file had, and return its key.

        Raises:
            DataError: It is damaged.
        """

    def _covered(self) -> tuple[int, int]:
        """Return the bytes and lines at the file's beginning that are noted already."""
        return 0, 0

    def _scan(self, start: int, number: int) -> None:
        with self.path.open("rb") as lines:
            lines.seek(start)
            for at, line in enumerate(lines, number + 1):
                self.places[self._key(line, at)] = start, len(line)
                start += len(line)

    def write(self, key: Key, line: bytes) -> None:
        """Append the line of a key; it is in the file when this returns."""
        start = self.file.tell()
        append_line(self.file, line)
        self.places[key] = start, len(line)

    def close(self) -> None:
        """Close the file, as it is."""
        close_file(self.file)

    def rewrite(self, keys: Iterable[Key]) -> None:
        """Close the file, and replace it by the lines of some keys in their order."""
        close_file(self.file)
        places, end = {}, 0
        with self.path.open("rb") as old, AtomicFile(self.path) as new:
            for key in keys:
                start, length = self.places[key]
                old.seek(start)
                new.write(old.read(length))
                places[key] = end, length
                end += length
        self.places = places


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


class LineTail:
    """The complete lines of a growing file, each once.

    A last line without its newline is being written: it is left for the next time. A file that was
    replaced or cut is read from its start again; one that does not exist has no lines.

    Args:
        path: The file.
        whole: It grows no more, so that its last line counts without a newline too.
    """

    def __init__(self, path: Path, whole: bool = False) -> None:
        self.path = path
        self.whole = whole
        self.number = 0
        """Line that was read last, from 1."""
        self.offset = 0
        """Where the next line begins."""
        self._inode = 0

    def __str__(self) -> str:
        """Return file and line, for messages."""
        return f"{self.path}, line {self.number}"

    def read(self) -> Iterator[bytes]:
        """Yield the complete lines that were not read before.

        Raises:
            DataError: It is a pipe, for whose writer this would wait.
        """
        if self.path.is_fifo():
            raise DataError(f"{self.path} is a pipe; expected a file")
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            found = os.fstat(file.fileno())
            if found.st_ino != self._inode or found.st_size < self.offset:
                self.offset = self.number = 0
            self._inode = found.st_ino
            file.seek(self.offset)
            for line in file:
                if not line.endswith(b"\n") and not self.whole:
                    return
                self.offset += len(line)
                self.number += 1
                if line.strip():
                    yield line


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
