"""Files that grow while a run goes on: trajectories, timings, live steps, and their indexes."""

from __future__ import annotations

import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Generic, Literal, TypeVar

import orjson

from seal.core import DataError, Step, Trajectory, shortened
from seal.core.files import AtomicFile, append_line, close_file, content_of, opened, repair_tail
from seal.core.records import BRIEF, SCHEMAS, brief, read_step, repair_of
from seal.core.secrets import without_keys
from seal.core.values import digest, json_bytes, json_value
from seal.runs.costs import (
    Account,
    Ledger,
    Spent,
    count_of,
    ledger_record,
    merged,
    read_ledger,
    tokens_of,
)

if TYPE_CHECKING:
    from seal.core.table_versions import TableWriter

# -- What a large file of a run is known to hold, kept beside it for a run that is resumed.
#
# The index of `trajectories.jsonl` is `trajectories.index`. It covers the lines that the file had
# when it was written; later lines are read. One that is damaged, or of a file that was replaced,
# cut or ends otherwise, counts as none. A file of less than 4 MB has none.

OFTEN = 5_000
"""Lines after which an index is written anew, so that a killed run reads few again."""
_LARGE = 4 << 20
_TAIL = 4096
"""Bytes at the end of what is covered by which the file is known again."""


@dataclass(frozen=True, slots=True)
class FileIndex:
    """What the first lines of a file hold."""

    size: int
    """Bytes of these lines."""
    lines: int
    known: dict[str, Any]
    """JSON values that the reader of the file understands."""


NOTHING = FileIndex(0, 0, {})


def read_index(path: Path) -> FileIndex:
    """Return what is known of a file; `NOTHING` where it has no index, or not of its own."""
    try:
        head, body = content_of(_place(path)).split(b"\n", 1)
        told = json_value(head)
        size = int(told["size"])
        if _digest(body) == told["body"] and _end_of(path, size) == told["end"]:
            return FileIndex(size, int(told["lines"]), dict(json_value(body)))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return NOTHING


def write_index(path: Path, index: FileIndex) -> None:
    """Keep what is known of a file, where it is large."""
    if index.size < _LARGE:
        return
    body = orjson.dumps(index.known)
    told = {"size": index.size, "lines": index.lines, "body": _digest(body)}
    with AtomicFile(_place(path)) as out:
        out.write(orjson.dumps({**told, "end": _end_of(path, index.size)}) + b"\n" + body)


def forget(path: Path) -> None:
    """Remove the index of a file that is to be replaced."""
    _place(path).unlink(missing_ok=True)


def _place(path: Path) -> Path:
    return path.with_suffix(".index")


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _end_of(path: Path, size: int) -> str:
    """Return the digest of the last bytes of the first `size` ones; empty where it is shorter."""
    start = max(0, size - _TAIL)
    with opened(path) as file:
        file.seek(start)
        end = file.read(size - start)
    return _digest(end) if len(end) == size - start else ""


# -- Files that grow line by line, with a record for each key.

Key = TypeVar("Key", bound=Hashable)


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
        with opened(self.path) as lines:
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
        with opened(self.path) as old, AtomicFile(self.path) as new:
            for key in keys:
                start, length = self.places[key]
                old.seek(start)
                new.write(old.read(length))
                places[key] = end, length
                end += length
        self.places = places


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

    def fault(self, what: str) -> DataError:
        """Return the error that the line read last is damaged, with the place and the repair."""
        return DataError(f"{self}: {what}; {repair_of(self.path)}")

    def read(self) -> Iterator[bytes]:
        """Yield the complete lines that were not read before.

        Raises:
            DataError: It is no plain file, or cannot be opened.
        """
        try:
            file = opened(self.path)
        except FileNotFoundError:
            return
        except OSError as error:
            raise DataError(f"{self.path}: {error.strerror}") from error
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


# -- The steps of chats that are going on; they last as long as the chats.

Pair = tuple[str, int]
"""Task id and trial."""


class LiveFile:
    """`RUN/live/DIGEST.PID.jsonl`, each line {task_id, trial, step}; made when a step comes."""

    def __init__(self, run: Path, task_id: str, trial: int, in_open: Container[str] = ()) -> None:
        self._path = run / "live" / f"{digest([task_id, trial])[:16]}.{os.getpid()}.jsonl"
        self._task_id = task_id
        self._trial = trial
        self._hidden = partial(without_keys, in_open=in_open)
        self._run = run
        self._file: IO[bytes] | None = None

    @cached_property
    def _tables(self) -> TableWriter:
        from seal.core.table_versions import TableWriter

        return TableWriter(self._run, self._hidden)

    def write(self, step: Step) -> None:
        """Append one step; whoever follows the run sees it at once."""
        if self._file is None:
            with suppress(FileNotFoundError):  # an agent removes the folder
                if not self._path.parent.is_dir():
                    self._path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self._path.open("wb")
        if self._file is None:
            return
        told = step if step.state is None else brief(step, self._tables)
        line = {"task_id": self._task_id, "trial": self._trial, "step": told}
        append_line(self._file, self._hidden(json_bytes(line)) + b"\n")

    def __enter__(self) -> LiveFile:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._file is not None:
            close_file(self._file)
            self._path.unlink(missing_ok=True)


def in_flight(run: Path, pid: int | Literal["*"] = "*") -> dict[Pair, tuple[Step, ...]]:
    """Return task and trial of the chats that a process plays, or played when it died.

    Args:
        run: The folder.
        pid: Of the process; `*`: of any.

    Returns:
        The steps of each chat until now.
    """
    found = {}
    for path in (run / "live").glob(f"*.{pid}.jsonl"):
        if told := list(LiveTail(path).steps()):
            found[told[0][0]] = tuple(step for _, step in told)
    return dict(sorted(found.items()))


class LiveTail(LineTail):
    """The steps that are added to the file of a running chat, each once."""

    def steps(self) -> Iterator[tuple[Pair, Step]]:
        """Yield what is new: task and trial, and the step.

        Raises:
            DataError: A line is none; the text names it.
        """
        for line in self.read():
            if self.number == 1:
                from seal.core.table_versions import TableReader

                self._tables = TableReader(self.path.parent.parent)
            try:
                fields = json_value(line)
                step = read_step(fields["step"], self._tables)
                yield (str(fields["task_id"]), int(fields["trial"])), step
            except (ValueError, KeyError, TypeError, AttributeError, DataError) as error:
                raise DataError(
                    f"{self}: expected an object with task_id, trial and step, got {error!r:.200}"
                ) from error


def chats_told(chats: Iterable[Pair]) -> str:
    """Return tasks and trials in words."""
    return " and ".join(f"task {task_id}, trial {trial}" for task_id, trial in chats)


# -- The files that a run appends to while it goes on: its trajectories, and their timings.
#
# A line is appended and flushed when a chat ends, so that a killed run loses only what was in
# flight; a torn last line is cut off. When the run ends, the trajectories are put in task order by
# atomic rename. The timings hold what differs between runs: when each chat began, how long it took
# and what it cost. What judges cost stands in lines of its own, one for each time that the run was
# scored.
#
# What large files hold is kept in an index beside them (`FileIndex`), so that a resumed run does
# not read them again.


def bring_back(file: IO[bytes], path: Path) -> None:
    """Write anew what an open file holds, where somebody has removed its name."""
    if not os.fstat(file.fileno()).st_nlink:
        path.parent.mkdir(parents=True, exist_ok=True)
        file.seek(0)
        with AtomicFile(path) as new:
            shutil.copyfileobj(file, new)


class Journal(KeyedLines[Pair]):
    """Trajectories as they finish.

    Args:
        path: The file; it may exist from an earlier run.
    """

    def __init__(self, path: Path) -> None:
        self._failed: set[Pair] = set()
        self._lines = 0
        self._indexed = 0
        """Lines that the index covers."""
        super().__init__(path)

    @property
    def played(self) -> Set[Pair]:
        """Pairs that have a line, errors too."""
        return self.places.keys()

    @property
    def finished(self) -> set[Pair]:
        """Pairs that need not be played again: those whose last line is no error."""
        return self.places.keys() - self._failed

    def append(self, outcome: JobOutcome) -> None:
        """Write the trajectory of a chat, if it has one; it is in the file when this returns."""
        if outcome.line is not None:
            pair = (outcome.task_id, outcome.trial)
            self.write(pair, outcome.line)
            self._note(pair, outcome.failed)
            if self._lines - self._indexed >= OFTEN:
                self._write_index()

    def close(self) -> None:
        """Close the file, as it is."""
        super().close()
        if self._lines > self._indexed:
            self._write_index()

    def put_in_order(self, order: Mapping[str, int]) -> None:
        """Rewrite the file in the order of tasks and trials, the last line of each pair alone.

        Args:
            order: Task id to its position; a trajectory of another task is dropped.
        """
        forget(self.path)
        pairs = (pair for pair in self.places if pair[0] in order)
        self.rewrite(sorted(pairs, key=lambda pair: (order[pair[0]], pair[1])))
        self._lines = len(self.places)
        self._write_index()

    def _covered(self) -> tuple[int, int]:
        """Return what the index covers, and note its chats; nothing where it tells of none."""
        index = read_index(self.path)
        try:
            columns = [index.known[name] for name in ("tasks", "trials", "starts", "lengths")]
            failed = set(index.known["failed"])
        except (KeyError, TypeError):
            return 0, 0
        tasks, trials, starts, lengths = columns
        pairs = list(zip(tasks, trials, strict=False))
        self.places = dict(zip(pairs, zip(starts, lengths, strict=False), strict=False))
        self._failed = {pair for place, pair in enumerate(pairs) if place in failed}
        self._lines = self._indexed = index.lines
        return index.size, index.lines

    def _write_index(self) -> None:
        known = {
            "tasks": [task for task, _ in self.places],
            "trials": [trial for _, trial in self.places],
            "starts": [start for start, _ in self.places.values()],
            "lengths": [length for _, length in self.places.values()],
            "failed": [n for n, pair in enumerate(self.places) if pair in self._failed],
        }
        size = self.path.stat().st_size
        write_index(self.path, FileIndex(size, self._lines, known))
        self._indexed = self._lines

    def _key(self, line: bytes, number: int) -> Pair:
        """Take note of a trajectory, and return its task and trial."""
        try:
            fields: dict[str, Any] = json_value(line)
            if fields["schema"] not in (SCHEMAS[Trajectory], BRIEF):
                raise DataError(
                    f"{self.path}, line {number}: schema {shortened(fields['schema'])}, expected "
                    f"{SCHEMAS[Trajectory]!r}; {repair_of(self.path)}"
                )
            failed = any(stop["reason"] == "error" for stop in fields["stops"])
            pair = (fields["task_id"], fields["trial"])
            if not isinstance(pair[0], str) or type(pair[1]) is not int:
                raise TypeError("its task_id is no text, or its trial no whole number")
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise DataError(
                f"{self.path}, line {number}: no trajectory, an object with schema, task_id, trial "
                f"and stops; {repair_of(self.path)}"
            ) from error
        self._note(pair, failed)
        return pair

    def _note(self, pair: Pair, failed: bool) -> None:
        self._lines += 1
        (self._failed.add if failed else self._failed.discard)(pair)


class Timings:
    """The file `timings.jsonl`, one line a chat; chats that were played again have several.

    Args:
        path: The file; a torn last line of an earlier part of the run is cut off.

    Raises:
        DataError: A line is damaged.
    """

    def __init__(self, path: Path) -> None:
        repair_tail(path)
        self.spent = spending_of(path)
        """What the run spent until now."""
        self._indexed = 0
        """Lines that the index covered when this was last written."""
        self.file = path.open("a+b")

    def add(self, outcome: JobOutcome) -> None:
        """Write one chat; it is in the file when this returns."""
        names = ("task_id", "trial", "started", "seconds")
        fields = {name: getattr(outcome, name) for name in names}
        fields["seconds"] = round(outcome.seconds, 6)
        self._write(fields | {"tokens": outcome.tokens, "note": outcome.note}, outcome.asked)

    def add_judging(self, asked: Ledger) -> None:
        """Write what the judges of the run were asked."""
        self._write({"tokens": tokens_of(asked)}, asked)

    def _write(self, fields: dict[str, Any], asked: Ledger) -> None:
        told = {**fields, "asked": ledger_record(asked)}
        append_line(self.file, without_keys(json_bytes(told)) + b"\n")
        self.spent.add(fields["tokens"], asked)
        if self.spent.lines - self._indexed >= OFTEN:
            self._write_index()

    def _write_index(self) -> None:
        self.spent.keep(Path(self.file.name))
        self._indexed = self.spent.lines

    def close(self) -> None:
        """Close the file."""
        close_file(self.file)
        if self.spent.lines > self._indexed:
            self._write_index()


@dataclass(slots=True)
class Spending:
    """What a run spent until now."""

    tokens: int = 0
    asked: dict[Account, Spent] = field(default_factory=dict)
    """Runs of earlier versions say nothing of it."""
    lines: int = 0
    """Of timings that were counted."""

    def add(self, tokens: int, asked: Ledger, lines: int = 1) -> None:
        """Count what some lines tell of."""
        self.tokens += tokens
        self.lines += lines
        for account, spent in asked.items():
            self.asked[account] = self.asked.get(account, Spent()) + spent

    def keep(self, timings: Path) -> None:
        """Write the index of a file, all of whose lines are counted."""
        known = {"tokens": self.tokens, "asked": ledger_record(self.asked)}
        write_index(timings, FileIndex(timings.stat().st_size, self.lines, known))


def spending_of(path: Path) -> Spending:
    """Return what all lines of a file of timings spent; nothing where there is none.

    Raises:
        DataError: A line is damaged.
    """
    spending, index = Spending(), read_index(path)
    try:
        spending.add(index.known["tokens"], read_ledger(index.known["asked"]), index.lines)
    except (KeyError, TypeError, ValueError):
        index = NOTHING
    for fields in timings_of(path, index):
        spending.add(fields["tokens"], fields["asked"])
    spending.asked = dict(sorted(spending.asked.items()))
    return spending


def chats_asked(path: Path) -> Ledger:
    """Return what models were asked in chats; of those that were played again the last counts.

    Raises:
        DataError: A line is damaged.
    """
    last = {
        (fields["task_id"], fields.get("trial")): fields["asked"]
        for fields in timings_of(path)
        if "task_id" in fields
    }
    return merged(last.values())


def timings_of(path: Path, after: FileIndex = NOTHING) -> Iterator[dict[str, Any]]:
    """Yield {tokens, asked} of each line of a file of timings; of a chat also its other fields.

    Args:
        path: The file; it need not be there.
        after: Covers the lines to leave out.

    Raises:
        DataError: A line is damaged.
    """
    if not path.is_file():
        return
    with opened(path) as lines:
        lines.seek(after.size)
        for number, line in enumerate(lines, after.lines + 1):
            if not line.endswith(b"\n"):
                return  # torn by a kill: the chat is played again
            try:
                fields = json_value(line)
                asked = read_ledger(fields.get("asked", []))
                if "task_id" in fields:
                    if not isinstance(fields["task_id"], str):
                        raise TypeError("task_id is no text")
                    if not 0 <= fields["seconds"] <= _LONGEST:
                        raise ValueError("seconds are no time that a chat takes")
                    fields |= {
                        "trial": count_of(fields["trial"]),
                        "seconds": float(fields["seconds"]),
                    }
                yield {**fields, "tokens": count_of(fields["tokens"]), "asked": asked}
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
                raise DataError(
                    f"{path}, line {number}: no timing, an object with task_id, trial, started, "
                    "seconds and tokens; delete the line"
                ) from error


_LONGEST = 1e10
"""Seconds of a chat, at most: three centuries."""


# -- What a worker hands back of a chat, to be written.


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """What came of a job."""

    task_id: str
    trial: int
    line: bytes | None
    """The trajectory as a line of its file; None where the task was skipped, or the chat cut."""
    failed: bool = False
    tokens: int = 0
    """Spent by all models that were asked while it was played."""
    seconds: float = 0.0
    started: float = 0.0
    """Seconds since 1970."""
    note: str = ""
    """Why it was skipped or failed."""
    asked: Ledger = field(default_factory=dict)
    """What models were asked, and by whom."""
    outage: str = ""
    """Why a server of the run counts as down, where the chat failed."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Model to what was changed in its requests, as its server had refused them."""
    cut: bool = False
    """Whether the time of the run was up before the chat ended: it is unfinished, with no line."""
    named: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Model to what answers called it."""
