"""The files that a run appends to while it goes on: its trajectories, and their timings.

A line is appended and flushed when a chat ends, so that a killed run loses only what was in flight;
a torn last line is cut off. When the run ends, the trajectories are put in task order by atomic
rename. The timings hold what differs between runs: when each chat began, how long it took and what
it cost. What judges cost stands in lines of its own, one for each time that the run was scored.

What large files hold is kept in an index beside them (`file_index`), so that a resumed run does not
read them again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Set
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

from seal.core import DataError, Trajectory
from seal.core.plain import json_bytes
from seal.core.records import SCHEMAS, AtomicFile, append_line, close_file, repair_tail
from seal.core.secrets import without_keys
from seal.runs.file_index import NOTHING, OFTEN, FileIndex, forget, read_index, write_index
from seal.runs.lines import KeyedLines
from seal.runs.run_folder import BASELINES, Pair, RunFolder
from seal.runs.spending.ledger import (
    Account,
    Ledger,
    Spent,
    ledger_record,
    merged,
    read_ledger,
    tokens_of,
)
from seal.runs.workers import JobOutcome


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
            fields: dict[str, Any] = orjson.loads(line)
            if fields["schema"] != SCHEMAS[Trajectory]:
                raise DataError(f"{self.path}, line {number}: schema {fields['schema']!r}")
            failed = any(stop["reason"] == "error" for stop in fields["stops"])
            pair = (fields["task_id"], fields["trial"])
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise DataError(
                f"{self.path}, line {number}: no trajectory ({error}); "
                f"delete the line to play its task again"
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
    with path.open("rb") as lines:
        lines.seek(after.size)
        for number, line in enumerate(lines, after.lines + 1):
            if not line.endswith(b"\n"):
                return  # torn by a kill: the chat is played again
            try:
                fields = orjson.loads(line)
                asked = read_ledger(fields.get("asked", []))
                if "task_id" in fields:
                    if not isinstance(fields["task_id"], str):
                        raise TypeError("task_id is no text")
                    fields |= {"trial": int(fields["trial"]), "seconds": float(fields["seconds"])}
                yield {**fields, "tokens": int(fields["tokens"]), "asked": asked}
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise DataError(
                    f"{path}, line {number}: no timing ({error}); delete the line"
                ) from error


def note_judging(folder: RunFolder, asked: Ledger) -> list[dict[str, Any]]:
    """Write what judges were asked to the run's timings, and return the usage by role.

    Args:
        folder: Of the run.
        asked: By judges, while the run was scored.

    Returns:
        {role, model, requests, tokens_in, tokens_out, estimated} for each role that used tokens,
        kept answers too, so that a run played from them has the same; of chats that were played
        again the last counts, and of judges this scoring. What was spent, the timings say.
    """
    path = folder.path / "timings.jsonl"
    if asked:
        with closing(Timings(path)) as timings:
            timings.add_judging(asked)
    total = merged([chats_asked(path), asked])
    return [
        {
            "role": role,
            "model": model,
            "requests": spent.requests + spent.kept,
            "tokens_in": spent.tokens_in + spent.kept_in,
            "tokens_out": spent.tokens_out + spent.kept_out,
            "estimated": spent.estimated,
        }
        for (role, model), spent in total.items()
        if spent.tokens or spent.kept_in or spent.kept_out
    ]


def spent_on(folder: RunFolder) -> Spending:
    """Return what a run spent until now, its baselines with it; torn last lines are cut off."""
    total = Spending()
    for path in (folder.path, *(folder.path / name for name in BASELINES)):
        timings = path / "timings.jsonl"
        if timings.is_file():
            repair_tail(timings)
            spent = spending_of(timings)
            total.add(spent.tokens, spent.asked, spent.lines)
    return total
