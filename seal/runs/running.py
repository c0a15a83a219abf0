"""A run while it goes on: chats are scored as they end, and a reader follows it."""

from __future__ import annotations

import logging
import queue
import shutil
import threading
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from seal.core import DataError, Scale, Score, Task, Trajectory
from seal.core.files import LOCK, append_line, is_held, opened, repair_tail
from seal.core.records import decode
from seal.core.secrets import IN_PLACE
from seal.core.values import json_value
from seal.evaluation.statistics import Summariser, groups_of
from seal.runs.costs import ledger_record, read_ledger
from seal.runs.journal import LineTail, Pair, Spending
from seal.runs.run import SCALES, TIMINGS, RunFolder, plain_scales
from seal.runs.scores import ScoreLines, Tail, chat_told
from seal.runs.scoring import Known

_LOG = logging.getLogger(__name__)

# -- Chats are scored beside play, in a thread of their own, and their scores wait in a file.
#
# The file holds them in the order in which chats ended. When all have ended, scoring takes what is
# there and writes scores.jsonl in the order of the tasks; then the file goes. Nothing waits for the
# thread: what it did not come to is scored at the end. A killed run leaves the file for readers; a
# resumed one adds to it, and scores what others had played at its end.

SO_FAR = "scores.so-far.jsonl"
"""File of a run folder with the scores of chats that have ended."""
_WAITING = 64
"""Chats that wait to be scored, at most."""


class ScoredBeside:
    """Scores chats while others are played.

    Args:
        folder: Of the run.
        score: Gives what comes of a chat (`Scorer.at_once`).
    """

    def __init__(
        self,
        folder: RunFolder,
        score: Callable[[Task, Trajectory], Known | None],
    ) -> None:
        self._folder = folder
        self._score = score
        path = folder.path / SO_FAR
        if folder.scores_path.is_file() and not path.is_file():
            shutil.copyfile(folder.scores_path, path)
        repair_tail(path)
        self._path = path
        self._file = path.open("a+b")
        self._places: dict[Pair, tuple[int, int, Set[str]]] = {}
        """Chat to where its scores begin, their bytes, and the names of one's own."""
        self._names: dict[Set[str], Set[str]] = {}
        """Sets of names, each kept once."""
        self._waiting: queue.SimpleQueue[tuple[Task, bytes] | None] = queue.SimpleQueue()
        self._ended = False
        self._thread = threading.Thread(target=self._work, name="scores", daemon=True)
        self._thread.start()

    def take(self, task: Task, line: bytes) -> None:
        """Score a chat soon, unless too many wait."""
        if self._waiting.qsize() < _WAITING:
            self._waiting.put((task, line))

    def stop(self) -> None:
        """Score no more chats after the one that is being scored."""
        self._ended = True
        self._waiting.put(None)

    def end(self) -> None:
        """Stop, and wait for the one that is being scored."""
        self.stop()
        self._thread.join()

    @contextmanager
    def known(self) -> Iterator[Callable[[Pair], Known | None]]:
        """Give what is known of a chat, None where it was not scored; the file is removed then.

        The block may read until its end; where it fails the file stays.
        """
        lines = ScoreLines()
        try:
            file = opened(self._path)
        except FileNotFoundError:  # an agent removed it
            yield lambda pair: None
            return
        with file:

            def read(pair: Pair) -> Known | None:
                if pair not in self._places:
                    return None
                start, length, own = self._places[pair]
                file.seek(start)
                written = file.read(length)
                return list(map(lines.decode, written.splitlines(True))), own, written

            yield read
        self._path.unlink(missing_ok=True)

    def _work(self) -> None:
        with closing(self._file):
            while (taken := self._waiting.get()) is not None and not self._ended:
                task, line = taken
                try:
                    self._write(task, decode(line, Trajectory, beside=self._folder.path))
                except Exception as error:  # scoring at the end meets it too, and raises it
                    _LOG.debug("task %s is scored at the end: %r", task.id, error)

    def _write(self, task: Task, chat: Trajectory) -> None:
        found = self._score(task, chat)
        if (
            found is None or IN_PLACE.encode() in found[2]
        ):  # a key is struck out: they read otherwise
            return
        _, own, written = found
        start = self._file.seek(0, 2)
        append_line(self._file, written)
        own = self._names.setdefault(own, own)
        self._places[chat.task_id, chat.trial] = start, len(written), own


# -- A run that goes on, as readers see it: its summary is of the chats that have ended.

Told = TypeVar("Told")

_SHOWN = 12
"""Chats that have ended last, of which a reader is told."""
_PACE = 64
"""Chats by which it is told how fast a run is."""


def as_it_is(run: RunFolder) -> RunFolder:
    """Return a run as a `RunningRun` while a process plays it; else as it was given."""
    if isinstance(run, RunningRun):
        return run if is_running(run) else RunFolder(run.path)
    return RunningRun(run.path) if is_running(run) else run


def is_running(run: RunFolder) -> bool:
    """Tell whether a process plays a run: it writes there, and its summary is not the last."""
    summary, chats = run.path / "summary.json", run.trajectories_path
    if not is_held(run.path) or not chats.is_file():
        return False
    return not summary.is_file() or summary.stat().st_mtime_ns < chats.stat().st_mtime_ns


@dataclass(frozen=True, slots=True)
class RunState:
    """How far a running run is."""

    done: int
    """Chats that have ended, errors too."""
    total: int
    errors: int
    scored: int
    left_s: float | None
    """Seconds that it will take yet, as fast as it was; None: nothing has ended."""
    last: tuple[tuple[Pair, bool, tuple[Score, ...]], ...]
    """Chats that ended last, the last one first: whether it failed, and its scores."""


@dataclass(slots=True)
class _SoFar:
    """What is known of a running run; each line of its files is read once."""

    folder: RunFolder
    lock: threading.Lock = field(default_factory=threading.Lock)
    groups: dict[str, Any] = field(default_factory=dict)
    ended: dict[Pair, bool] = field(default_factory=dict)
    """Chat to whether it failed."""
    stops: Counter[str] = field(default_factory=Counter)
    last: OrderedDict[Pair, list[Score]] = field(default_factory=OrderedDict)
    scored: set[Pair] = field(default_factory=set)
    spending: Spending = field(default_factory=Spending)
    ends: deque[float] = field(default_factory=lambda: deque(maxlen=_PACE))
    scales: Mapping[str, Scale] = field(init=False)
    summariser: Summariser = field(init=False)
    chats: LineTail = field(init=False)
    scores: Tail[Score] = field(init=False)
    timings: LineTail = field(init=False)
    told: dict[str, Any] = field(default_factory=dict)
    """The summary of what was read."""

    def __post_init__(self) -> None:
        path = self.folder.path
        self.groups |= {task.id: groups_of(task) for task in self.folder.tasks()}
        self.scales = self.folder.scales()
        self.summariser = Summariser(self.groups, self.scales)
        self.chats, self.timings = LineTail(path / "trajectories.jsonl"), LineTail(path / TIMINGS)
        self.scores = Tail(path / SO_FAR, Score)

    def read(self) -> None:
        """Take in what was written since the last time."""
        for line in self.chats.read():
            pair, reasons = chat_told(line)
            if self.ended.get(pair) is not False:  # files are put in order when all have ended
                self.ended[pair] = "error" in reasons
                self.stops.update(reasons)
                self.last[pair] = []
        while len(self.last) > _PACE:
            self.last.popitem(last=False)
        for score in self.scores.read():
            pair = score.task_id, score.trial
            self.scored.add(pair)
            self.summariser.add(score)
            if pair in self.last:
                self.last[pair].append(score)
        for line in self.timings.read():
            told = json_value(line)
            self.spending.add(int(told["tokens"]), read_ledger(told.get("asked", [])))
            if "started" in told:
                self.ends.append(float(told["started"]) + float(told["seconds"]))

    def summary(self) -> dict[str, Any]:
        asked = self.spending.asked.values()
        usage = {
            "tokens_in": sum(each.tokens_in for each in asked),
            "tokens_out": sum(each.tokens_out for each in asked),
            "estimated": any(each.estimated for each in asked),
            "roles": ledger_record(self.spending.asked),
        }
        metrics = self.summariser.metrics()
        nothing: dict[str, Any] = {"error_reasons": {}, "skipped": 0, "unfinished": 0}
        return {
            **nothing,
            "tasks": len(self.groups),
            "errors": sum(self.ended.values()),
            "stop_reasons": dict(sorted(self.stops.items())),
            "metrics": metrics,
            SCALES: plain_scales(self.scales, metrics),
            "usage": {**usage, "calls": 0, "messages": 0},
        }

    def state(self) -> RunState:
        trials = (self.folder.manifest().get("measure") or {}).get("trials") or 1
        total, done = len(self.groups) * trials, len(self.ended)
        began = (self.folder.path / LOCK).stat().st_mtime  # of this process
        now = [end for end in self.ends if end >= began]
        first = now[0] if len(now) == _PACE else began
        pace = len(now) / max(0.1, time.time() - first)
        left = max(0, total - done) / pace if now else None
        told = reversed(list(self.last.items())[-_SHOWN:])
        last = tuple((pair, self.ended[pair], tuple(scores)) for pair, scores in told)
        return RunState(done, total, sum(self.ended.values()), len(self.scored), left, last)


@dataclass(frozen=True, slots=True)
class RunningRun(RunFolder):
    """The folder of a run that a process plays; its summary and scores are those until now."""

    _so_far: dict[Path, _SoFar] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was read, once something was."""

    @property
    def is_scored(self) -> bool:
        """True: chats are scored as they end."""
        return True

    @property
    def scores_path(self) -> Path:
        """File of the scores until now."""
        return self.path / SO_FAR

    def summary(self) -> dict[str, Any]:
        """Return what summary.json would say of the chats that had ended at the last `state`.

        Raises:
            DataError: A line of a file is damaged.
        """
        return self._told(lambda known: known.told)

    def state(self) -> RunState:
        """Return how far the run is.

        Raises:
            DataError: A line of a file is damaged.
        """
        return self._told(_SoFar.state, anew=True)

    def _told(self, what: Callable[[_SoFar], Told], anew: bool = False) -> Told:
        try:
            if self.path not in self._so_far:
                self._so_far.setdefault(self.path, _SoFar(RunFolder(self.path)))
            known = self._so_far[self.path]
            with known.lock:
                if anew or not known.told:
                    known.read()
                    known.told = known.summary()
                return what(known)
        except (ValueError, LookupError, TypeError) as error:
            raise DataError(
                f"{self.path}: a line of its chats or timings is damaged: {error!r:.200}; the run "
                "tells which when it is resumed"
            ) from error
