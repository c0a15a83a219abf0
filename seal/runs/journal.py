"""The file that trajectories are appended to while a run goes on.

A line is appended and flushed when a chat ends, so that a killed run loses only what was in flight;
a torn last line is cut off; when the run ends the file is put in task order by atomic rename.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from seal.core.errors import DataError
from seal.core.records import SCHEMAS, AtomicFile, encode, repair_tail
from seal.core.types import Trajectory

Pair = tuple[str, int]
"""Task id and trial."""


class Journal:
    """Trajectories as they finish.

    Args:
        path: The file; it may exist from an earlier run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cut = repair_tail(path)
        """Bytes of a torn line that were cut off."""
        self._places: dict[Pair, tuple[int, int]] = {}
        self._failed: set[Pair] = set()
        self._scan()
        self._file = path.open("ab")

    @property
    def finished(self) -> set[Pair]:
        """Pairs that need not be played again: those whose last line is no error."""
        return self._places.keys() - self._failed

    @property
    def failed(self) -> set[Pair]:
        """Pairs whose last line is an error of the infrastructure."""
        return set(self._failed)

    def append(self, trajectory: Trajectory) -> None:
        """Write one trajectory; it is in the file when this returns."""
        self.append_line(
            encode(trajectory), (trajectory.task_id, trajectory.trial), trajectory.failed
        )

    def append_line(self, line: bytes, pair: Pair, failed: bool) -> None:
        """Write one encoded trajectory."""
        start = self._file.tell()
        self._file.write(line)
        self._file.flush()
        self._note(pair, failed, start, len(line))

    def close(self) -> None:
        """Close the file, as it is."""
        self._file.close()

    def put_in_order(self, order: Mapping[str, int]) -> None:
        """Rewrite the file in the order of tasks and trials, the last line of each pair alone.

        Args:
            order: Task id to its position; a trajectory of another task is dropped.
        """
        self._file.close()
        pairs = sorted(
            (p for p in self._places if p[0] in order), key=lambda p: (order[p[0]], p[1])
        )
        with self.path.open("rb") as old, AtomicFile(self.path) as new:
            for pair in pairs:
                start, length = self._places[pair]
                old.seek(start)
                new.write(old.read(length))

    def _scan(self) -> None:
        if not self.path.is_file():
            return
        start = 0
        with self.path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                pair, failed = self._read(line, number)
                self._note(pair, failed, start, len(line))
                start += len(line)

    def _read(self, line: bytes, number: int) -> tuple[Pair, bool]:
        try:
            fields: dict[str, Any] = orjson.loads(line)
            if fields["schema"] != SCHEMAS[Trajectory]:
                raise DataError(f"{self.path}, line {number}: schema {fields['schema']!r}")
            failed = any(stop["reason"] == "error" for stop in fields["stops"])
            return (fields["task_id"], fields["trial"]), failed
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise DataError(
                f"{self.path}, line {number}: no trajectory ({error}); "
                f"delete the line to play its task again"
            ) from error

    def _note(self, pair: Pair, failed: bool, start: int, length: int) -> None:
        self._places[pair] = (start, length)
        (self._failed.add if failed else self._failed.discard)(pair)
