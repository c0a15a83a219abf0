"""Reading a file of records while another process writes it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Generic

from seal.core.errors import DataError
from seal.core.plain import json_text
from seal.core.records import Record, decode


class LineTail:
    """The complete lines of a growing file, each once.

    A last line without its newline is being written: it is left for the next time. A file that was
    replaced or cut is read from its start again; one that does not exist has no lines.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.number = 0
        """Line that was read last, from 1."""
        self._offset = 0
        self._inode = 0

    def read(self) -> Iterator[bytes]:
        """Yield the complete lines that were not read before."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            self._notice_replacement()
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                self.number += 1
                if line.strip():
                    yield line

    def _notice_replacement(self) -> None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return
        if found.st_ino != self._inode or found.st_size < self._offset:
            self._offset = self.number = 0
        self._inode = found.st_ino


class Tail(Generic[Record]):
    """The records of a growing file, each once (`LineTail`).

    Args:
        path: The file.
        kind: Of the records.
        saying: Only lines that hold one of these as a JSON string, in whatever field, are read: to
            look for it in a line takes a fraction of the time. Empty: all lines.
    """

    def __init__(self, path: Path, kind: type[Record], saying: Collection[str] = ()) -> None:
        self._lines = LineTail(path)
        self._kind: type[Record] = kind
        self._saying = [json_text(text).encode() for text in saying]

    def read(self) -> Iterator[Record]:
        """Yield the records that were not read before.

        Raises:
            DataError: A complete line is no record; the text names file and line.
        """
        for line in self._lines.read():
            if self._saying and not any(text in line for text in self._saying):
                continue
            try:
                yield decode(line, self._kind)
            except DataError as error:
                raise DataError(
                    f"{self._lines.path}, line {self._lines.number}: {error}"
                ) from error
