"""The folder in which a generation works: a killed one goes on where it was.

    generation/settings.json   what its records are made by
    generation/NAME.jsonl      each record as it was made, a line each

A line is written when its record is done. Of several lines about one record the last one counts; a
torn last line is cut off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import orjson

from seal.core import JSON, DataError, UsageError
from seal.core.canonical import equal
from seal.core.folders import Lock
from seal.core.records import AtomicFile, decode, encode, to_plain
from seal.runs.lines import KeyedLines

WORK = "generation"
"""Folder, inside of what is made, of what it was made of."""
SETTINGS = "settings.json"


class Identified(Protocol):
    """A record of a generation, a dataclass."""

    @property
    def id(self) -> str:
        """What tells it from the others."""
        ...


Made = TypeVar("Made", bound=Identified)


class RecordJournal(KeyedLines[str], Generic[Made]):
    """Records as they are made. For one thread.

    Args:
        path: The file; it may exist from an earlier run.
        kind: Of the records.
        schema: Name and version of their form.

    Raises:
        DataError: A line is no such record.
    """

    def __init__(self, path: Path, kind: type[Made], schema: str) -> None:
        self._kind = kind
        self._schema = schema
        self.made: dict[str, Made] = {}
        """By id, as the file has them."""
        super().__init__(path)

    def add(self, made: Made) -> Made:
        """Write a record; it is in the file when this returns.

        Returns:
            What the file has of it: keys of services, and what JSON cannot hold, are replaced. Who
            goes on with this makes what one makes who reads the file.
        """
        line = encode(made, self._schema)
        held = decode(line, self._kind, self._schema)
        self.write(held.id, line)
        self.made[held.id] = held
        return held

    def put_in_order(self, ids: Sequence[str]) -> None:
        """Rewrite the file with one line a record, in this order; others follow."""
        self.rewrite(dict.fromkeys([*(own for own in ids if own in self.made), *self.made]))
        self.made = {own: self.made[own] for own in self.places}

    def _key(self, line: bytes, number: int) -> str:
        """Take note of a record, and return its id."""
        try:
            made = decode(line, self._kind, self._schema)
        except DataError as error:
            raise DataError(
                f"{self.path}, line {number}: {error}; delete the line, so that what it "
                "was of is made again"
            ) from error
        self.made[made.id] = made
        return made.id


def check_folder(out: Path) -> None:
    """Make sure that a generation may write into a folder.

    Raises:
        UsageError: It holds something that no generation made.
    """
    taken = out.exists() and (not out.is_dir() or any(out.iterdir()))
    if taken and not (out / WORK).is_dir():
        raise UsageError(f"{out} exists and holds something else: choose a new folder")


@contextmanager
def open_journal(
    out: Path, settings: Mapping[str, JSON], name: str, kind: type[Made], schema: str
) -> Iterator[RecordJournal[Made]]:
    """Give the journal of a generation, for one process at a time.

    Args:
        out: Folder of what is made; it is made too.
        settings: What shapes the records.
        name: Of the journal.
        kind: Of the records.
        schema: Name and version of their form.

    Raises:
        UsageError: The folder holds something else, or records of other settings, or another
            process is at work there.
        DataError: A file is malformed.
    """
    check_folder(out)
    work = out / WORK
    work.mkdir(parents=True, exist_ok=True)
    with Lock(work):
        _check_settings(work / SETTINGS, to_plain(settings))
        with closing(RecordJournal(work / name, kind, schema)) as journal:
            yield journal


def _check_settings(path: Path, settings: Mapping[str, JSON]) -> None:
    """Make sure that a folder's records are made as these would be; else write down how."""
    if not path.is_file():
        with AtomicFile(path) as file:
            file.write(
                orjson.dumps(settings, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
            )
        return
    try:
        before = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise DataError(f"{path}: not JSON: {error}; choose another --out") from error
    held = before if isinstance(before, dict) else {}
    for name, value in settings.items():
        if not equal(value, held.get(name)):
            raise UsageError(
                f"{path.parent.parent} was made with another {name}: {held.get(name)!r}, now "
                f"{value!r}; choose another --out"
            )
