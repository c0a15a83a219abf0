"""Chats and scores of a run: files that grow, records by key, and how one chat ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Generic

from seal.core.errors import DataError
from seal.core.plain import json_text
from seal.core.records import Record, decode
from seal.core.types import Score, Trajectory
from seal.evaluation.goals import WHOLLY
from seal.runs.run_folder import RunFolder

DECISIVE = ("pass_rate", "success", "mission_accuracy", "similarity")
"""Metrics that can say whether a task is solved; the first that a chat was scored by counts."""
_MOST_SAID = 5_000
_LONGEST_SAID = 1_000
"""Bytes of what a line says of a metric that is remembered."""
_METRIC = b',"metric":'
_ANYTHING = b',"metric":"","value":null}'
"""Ends a line of a score."""
_PLACE_FIELDS = 4
"""Fields before the metric: schema, task, trial and goal."""


class LineTail:
    """The complete lines of a growing file, each once.

    A last line without its newline is being written: it is left for the next time. A file that was
    replaced or cut is read from its start again; one that does not exist has no lines.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0
        """Line that was read last, from 1."""
        self.offset = 0
        """Where the next line begins."""
        self._inode = 0

    def __str__(self) -> str:
        """Return file and line, for messages."""
        return f"{self.path}, line {self.number}"

    def read(self) -> Iterator[bytes]:
        """Yield the complete lines that were not read before."""
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
                if not line.endswith(b"\n"):
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
    """

    def __init__(self, path: Path, kind: type[Record], saying: Collection[str] = ()) -> None:
        self._lines = LineTail(path)
        self._decode: Callable[[bytes], Record] = _decoder(kind)
        self._saying = tuple(json_text(text).encode() for text in saying)
        self._of_scores = kind is Score

    def read(self) -> Iterator[Record]:
        """Yield the records that were not read before.

        Raises:
            DataError: A complete line is no record; the text names file and line.
        """
        return (record for _, record in self.placed())

    def placed(self) -> Iterator[tuple[int, Record]]:
        """Yield them with where their lines begin; errors as `read`."""
        for line in self._lines.read():
            if self._saying and not self._may_say(line):
                continue
            try:
                yield self._lines.offset - len(line), self._decode(line)
            except DataError as error:
                raise DataError(f"{self._lines}: {error}") from error

    def _may_say(self, line: bytes) -> bool:
        if self._of_scores:
            _, mark, said = line.partition(_METRIC)
            if mark:
                return said.startswith(self._saying)
        return any(text in line for text in self._saying)


class RecordLookup(Generic[Record]):
    """The records of a file of JSON lines; memory holds where they stand, not what they say.

    A last line without its newline is being written and left out; a file that does not exist has no
    records.

    Args:
        path: The file; it must not change meanwhile.
        kind: Type of the records.
        key: A record to what it is asked for by.

    Raises:
        DataError: A line is no record; the text names the line.
    """

    def __init__(self, path: Path, kind: type[Record], key: Callable[[Record], Hashable]) -> None:
        self._path = path
        self._decode: Callable[[bytes], Record] = _decoder(kind)
        self._places: dict[Hashable, list[list[int]]] = {}
        """Key to where lines of it begin, and how many follow each other."""
        last: Hashable = None
        for place, record in Tail(path, kind).placed():
            found = key(record)
            spans = self._places.setdefault(found, [])
            if spans and found == last:
                spans[-1][1] += 1
            else:
                spans.append([place, 1])
            last = found

    def get(self, key: Hashable) -> list[Record]:
        """Return the records of a key, in the order of the file."""
        spans = self._places.get(key)
        if not spans:
            return []
        found = []
        with self._path.open("rb") as file:
            for place, count in spans:
                file.seek(place)
                lines = filter(bytes.strip, file)
                found += [self._decode(line) for line in islice(lines, count)]
        return found


def _decoder(kind: type[Record]) -> Callable[[bytes], Any]:
    return ScoreLines().decode if kind is Score else partial(decode, kind=kind)


class ScoreLines:
    """Decodes scores: what many lines say, each of another chat, is checked once."""

    def __init__(self) -> None:
        self._said: dict[bytes, Score] = {}
        self._place = b""
        self._of: tuple[str, int, int] | None = None

    def decode(self, line: bytes) -> Score:
        """Return the score of a line.

        Raises:
            DataError: It is none.
        """
        place, _, said = line.partition(_METRIC)
        of, known = self._goal(place), self._said.get(said)
        if of is None or known is None:
            score = decode(line, Score)
            if of is not None and len(self._said) < _MOST_SAID and len(said) < _LONGEST_SAID:
                self._said[said] = score
            return score
        return Score(
            *of, known.metric, known.value, known.weight, reason=known.reason, details=known.details
        )

    def _goal(self, place: bytes) -> tuple[str, int, int] | None:
        """Return task, trial and goal from how a line begins; None where it says more or less."""
        if place != self._place:
            self._place, self._of = place, None
            if place.count(b'":') == _PLACE_FIELDS:
                with suppress(DataError):
                    found = decode(place + _ANYTHING, Score)
                    self._of = (found.task_id, found.trial, found.goal)
        return self._of


def decisive_of(runs: Iterable[RunFolder]) -> tuple[str, ...]:
    """Return the metrics that decide: those that benchmarks declare, then `DECISIVE`."""
    declared = (run.declared().get("success") for run in runs)
    return tuple(dict.fromkeys([*filter(None, declared), *DECISIVE]))


@dataclass(frozen=True, slots=True)
class Outcome:
    """One chat in short."""

    task_id: str
    trial: int
    label: str
    """solved, unsolved, unsure, error, or unscored."""
    stop: str
    """Stop reason of the last goal that was played; empty where there is none."""
    calls: int
    error: str = ""
    """What failed; empty where nothing did."""


def outcome_label(failed: bool, scores: Iterable[Score], decisive: Sequence[str] = DECISIVE) -> str:
    """Return the chat's outcome: its worst goal decides.

    Args:
        failed: The infrastructure ended the chat (`Trajectory.failed`).
        scores: Scores of the chat.
        decisive: Metrics that decide (`decisive_of`).

    Of several decisive metrics the first with a value counts (`deciding_metric`). A
    score may carry a `label` in its details, as the pass rate does; else 1 is solved and less is
    unsolved.
    """
    if failed:
        return "error"
    scores = list(scores)
    metric = deciding_metric(scores, decisive)
    if metric is None:
        return "unscored"
    return _worst({goal_label(s) for s in scores if s.metric == metric and s.value is not None})


def deciding_metric(scores: Iterable[Score], decisive: Sequence[str] = DECISIVE) -> str | None:
    """Return the metric that says how a chat ended; None: it has no such score."""
    measured = {score.metric for score in scores if score.value is not None}
    return next((metric for metric in decisive if metric in measured), None)


def goal_label(score: Score) -> str:
    """Return what one decisive score says of its goal."""
    label = score.details.get("label")
    if label in ("solved", "unsolved", "unsure"):
        return str(label)
    return "solved" if score.value is not None and score.value >= WHOLLY else "unsolved"


def reason_of(score: Score) -> str:
    """Return why a score is what it is: its reason, else the one in its details (a verdict's)."""
    return score.reason or str(score.details.get("reason") or "")


def _worst(labels: set[str]) -> str:
    return next(label for label in ("unsolved", "unsure", "solved") if label in labels)


def last_stop(trajectory: Trajectory) -> str:
    """Return the stop reason of the last goal that was played; empty where there is none."""
    return trajectory.stops[-1].reason if trajectory.stops else ""


def outcome(
    trajectory: Trajectory, scores: Iterable[Score], decisive: Sequence[str] = DECISIVE
) -> Outcome:
    """Return one chat in short."""
    return Outcome(
        task_id=trajectory.task_id,
        trial=trajectory.trial,
        label=outcome_label(trajectory.failed, scores, decisive),
        stop=last_stop(trajectory),
        calls=sum(1 for _ in trajectory.calls()),
        error=next((stop.error for stop in trajectory.stops if stop.error), ""),
    )


def decisive_scores(run: RunFolder) -> dict[tuple[str, int], list[Score]]:
    """Return the scores that decide each (task, trial); empty where the run is not scored."""
    found: dict[tuple[str, int], list[Score]] = {}
    for score in scores_so_far(run, decisive_of([run])):
        found.setdefault((score.task_id, score.trial), []).append(score)
    return found


def scores_so_far(run: RunFolder, metrics: Collection[str] = ()) -> Iterator[Score]:
    """Yield the scores of some metrics, of all where none is named; nothing of an unscored run."""
    for score in Tail(run.scores_path, Score, saying=metrics).read():
        if not metrics or score.metric in metrics:
            yield score


def trajectories_so_far(run: RunFolder) -> Iterator[Trajectory]:
    """Yield the chats that are complete; a line that is being written is left out."""
    yield from Tail(run.trajectories_path, Trajectory).read()


def outcomes(run: RunFolder) -> Iterator[Outcome]:
    """Yield every finished chat in short, in the order of the file."""
    scores, decisive = decisive_scores(run), decisive_of([run])
    for trajectory in trajectories_so_far(run):
        found = scores.get((trajectory.task_id, trajectory.trial), ())
        yield outcome(trajectory, found, decisive)
