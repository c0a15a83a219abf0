"""The answer store: answers of simulators and models, kept once and found by any process.

One SQLite file in WAL mode. An answer is written once: the first writer wins, and later ones are
given what is stored. A commit is a single write to the log, so a killed process loses at most the
answer it was about to write; after a power cut the last answers may be gone, the file is sound.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import orjson

from seal.core.errors import DataError, InfrastructureError, UsageError
from seal.core.secrets import without_keys

VERSION = 1
"""Version of the tables, in the file's `user_version`."""

_APPLICATION = 0x5EA1  # the file's `application_id`: tells our files from other SQLite files
_CREATE = """
CREATE TABLE IF NOT EXISTS entries (
    key TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    created TEXT NOT NULL,
    checksum TEXT NOT NULL
)
"""

FILE_NAME = "answers.sqlite"
"""Name of the store in a cache folder."""

_Row = tuple[bytes, bytes, bytes, bytes, bytes]
_INSERT = (
    "INSERT INTO entries VALUES (CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT),"
    " CAST(? AS TEXT), CAST(? AS TEXT)) ON CONFLICT (key) DO NOTHING"
)
_SELECT = "SELECT key, kind, value, created, checksum FROM entries "
_PAGE_OF_ROWS = (
    _SELECT + "WHERE key > CAST(? AS TEXT) AND kind = coalesce(?, kind) ORDER BY key LIMIT 500"
)
_PAGE = 500
"""Entries that are looked up in one statement: SQLite takes at least 999 parameters."""
_FOREIGN = b" "
"""Begins a value that orjson cannot hold as it is, such as integers of more than 64 bits."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One stored answer."""

    key: str
    kind: str
    """`simulator`, `model`, `embedding` or `mcp`."""
    value: dict[str, Any] | None
    """None: damaged, what is stored does not match its checksum."""
    created: str
    """When it was written, ISO 8601 in UTC; provenance, never part of identity."""


@dataclass(frozen=True, slots=True)
class StoreStats:
    """Size of a store."""

    entries: dict[str, int]
    """Kind to number of entries."""
    bytes: int
    """Size of the file and its log."""
    version: int = VERSION


class Store:
    """Answers by key, in one file. Safe in threads, in many processes at once, and across a fork.

    It may be pickled: the copy opens the same file.

    Args:
        path: The file; it and its folder are made where they do not exist.
        timeout: Seconds to wait for other writers.

    Raises:
        UsageError: The file or its folder cannot be made or opened.
        DataError: The file is no store, or of another version.
        InfrastructureError: The file cannot be read now, as others hold it.
    """

    def __init__(self, path: Path | str, timeout: float = 60.0) -> None:
        self.path = Path(path)
        self.timeout = timeout
        self._idle: deque[sqlite3.Connection] = deque()
        self._inherited: list[sqlite3.Connection] = []
        self._process = os.getpid()
        self._closed = False
        self._prepare()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections. Closing twice is fine; using the file afterwards is an error."""
        self._closed = True
        self._drop_inherited()
        self._close_idle()

    def __reduce__(self) -> tuple[type[Store], tuple[Path, float]]:
        return Store, (self.path, self.timeout)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the entry stored under a key, or None.

        Raises:
            InfrastructureError: The entry is damaged, or the file cannot be read.
        """
        with self._connection() as connection:
            row: _Row | None = connection.execute(_SELECT + "WHERE key = ?", (key,)).fetchone()
        return None if row is None else self._sound(row)

    def put(
        self, key: str, entry: dict[str, Any], kind: str = "model", created: str | None = None
    ) -> dict[str, Any]:
        """Store an entry unless there is one, and return the one that is stored.

        The result has been through JSON, so that the first run sees what later runs will read.

        Args:
            key: Digest of everything that shapes the answer.
            entry: JSON values; kept with the order of its keys.
            kind: `simulator`, `simulator_failure`, `model`, `embedding` or `mcp`.
            created: When it was made, ISO 8601; None: now.

        Raises:
            TypeError: A value that JSON cannot hold.
            ValueError: A number is NaN or infinite.
            InfrastructureError: The stored entry is damaged, or the file cannot be written.
        """
        row = _row(key, kind, entry, created)
        with self._connection() as connection:
            inserted = connection.execute(_INSERT, row).rowcount
        stored = None if inserted else self.get(key)
        return self._sound(row) if stored is None else stored

    def get_each(self, keys: Sequence[str]) -> Iterator[dict[str, Any] | None]:
        """Yield for each key, in order, the entry stored under it, or None.

        Keys are looked up some hundred at a time: 30,000 entries never lie in memory together.

        Raises:
            InfrastructureError: An entry is damaged, or the file cannot be read.
        """
        for start in range(0, len(keys), _PAGE):
            page = keys[start : start + _PAGE]
            marks = ",".join("?" * len(page))
            with self._connection() as connection:
                rows = connection.execute(_SELECT + f"WHERE key IN ({marks})", page).fetchall()
            found = {_text(row[0]): row for row in rows}
            for key in page:
                row = found.get(key)
                yield None if row is None else self._sound(row)

    def put_each(
        self, entries: Mapping[str, dict[str, Any]], kind: str = "model"
    ) -> list[dict[str, Any]]:
        """Store the entries of keys that have none, all or nothing, and return what is stored.

        Args:
            entries: Key to entry, each as for `put`.
            kind: Of all of them.

        Raises:
            TypeError: A value that JSON cannot hold.
            ValueError: A number is NaN or infinite.
            InfrastructureError: A stored entry is damaged, or the file cannot be written.
        """
        rows = [_row(key, kind, entry) for key, entry in entries.items()]
        with self._connection() as connection, connection:  # commits all of it, or nothing
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(_INSERT, rows)
        stored = zip(entries, self.get_each(list(entries)), strict=True)
        return [entries[key] if entry is None else entry for key, entry in stored]

    def entries(self, kind: str | None = None) -> Iterator[Entry]:
        """Yield the entries in the order of their keys; a damaged one has the value None.

        No transaction stays open between two entries: what is written meanwhile may be seen or not.

        Args:
            kind: Only entries of this kind; None: all.
        """
        for row in self._rows(kind):
            key, its_kind, _, created, _ = (_text(column) for column in row)
            yield Entry(key, its_kind, _decode(row), created)

    def stats(self) -> StoreStats:
        """Return the numbers of entries and the size on disk."""
        with self._connection() as connection:
            counts = connection.execute("SELECT kind, count(*) FROM entries GROUP BY kind")
            by_kind = {_text(kind): count for kind, count in sorted(counts.fetchall())}
        files = [self.path, self.path.with_name(self.path.name + "-wal")]
        return StoreStats(by_kind, sum(f.stat().st_size for f in files if f.is_file()))

    def discard_damaged(self) -> list[str]:
        """Remove the entries that do not match their checksum, and return their keys."""
        damaged = [row[0] for row in self._rows(None) if _decode(row) is None]
        with self._connection() as connection:
            connection.executemany(
                "DELETE FROM entries WHERE key = CAST(? AS TEXT)", [(key,) for key in damaged]
            )
        return [_text(key) for key in damaged]

    def _rows(self, kind: str | None) -> Iterator[_Row]:
        last = b""
        while True:
            with self._connection() as connection:
                rows = connection.execute(_PAGE_OF_ROWS, (last, kind)).fetchall()
            if not rows:
                return
            yield from rows
            last = rows[-1][0]

    def _sound(self, row: _Row) -> dict[str, Any]:
        value = _decode(row)
        if value is None:
            raise InfrastructureError(
                f"{self.path}: the entry {_text(row[0])} is damaged; `seal cache verify` lists"
                " such entries and `seal cache verify --repair` removes them"
            )
        return value

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that no other thread uses meanwhile."""
        if self._closed:
            raise InfrastructureError(f"{self.path}: the store is closed")
        self._drop_inherited()
        connection = None
        try:
            try:
                connection = self._idle.pop()
            except IndexError:  # all are lent
                connection = self._connect()
            yield connection
        except sqlite3.Error as error:
            raise InfrastructureError(f"{self.path}: {error}") from error
        finally:
            if connection is not None:
                self._idle.append(connection)
            if self._closed:  # while it was lent: `close` did not see it
                self._close_idle()

    def _close_idle(self) -> None:
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:  # empty: several threads may do this at once
                return
            connection.close()

    def _drop_inherited(self) -> None:
        # A forked child must not even close its parent's connections: that would drop the locks.
        if self._process != os.getpid():
            self._inherited.extend(self._idle)
            self._idle.clear()
            self._process = os.getpid()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, self.timeout, isolation_level=None, check_same_thread=False
        )
        # As bytes, damage shows as a wrong checksum and not as a failure to read the row.
        connection.text_factory = bytes
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _prepare(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._connect()) as connection:
                if not self._is_ours(connection):
                    _create(connection, self.timeout)
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise self._unusable(str(error)) from error
            raise InfrastructureError(f"{self.path} cannot be opened: {error}") from error
        except sqlite3.DatabaseError as error:
            raise self._foreign(str(error)) from error

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Return False for an empty file, and raise for one that we cannot use."""
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application == _APPLICATION and version != VERSION:
            raise DataError(
                f"{self.path} is an answer store of version {version}, this SEAL reads version"
                f" {VERSION}: export it with the SEAL that wrote it, and import it into a new"
                " cache folder"
            )
        if application == _APPLICATION:
            return True
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise self._foreign("it holds other tables")
        return False

    def _unusable(self, reason: str) -> UsageError:
        return UsageError(
            f"{self.path} cannot be opened: {reason}; give another --cache-dir or SEAL_CACHE_DIR, "
            "a folder that can be made and written"
        )

    def _foreign(self, reason: str) -> DataError:
        return DataError(f"{self.path} is no answer store: {reason}; choose another cache folder")


def _create(connection: sqlite3.Connection, timeout: float) -> None:
    """Make the tables in a file in WAL mode; several processes may do so at once."""
    end = time.monotonic() + timeout
    while True:  # SQLite's own busy timeout does not cover every step of the change to WAL mode
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_CREATE)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")


def digest_of_entries(store: Store, keys: Iterable[str]) -> str:
    """Return one digest of what the entries under some keys say, whenever they were written.

    Raises:
        InfrastructureError: An entry is damaged.
    """
    whole = hashlib.sha256()
    for key in sorted(set(keys)):
        text = json.dumps(store.get(key), sort_keys=True, separators=(",", ":"))
        whole.update(f"{key} {text}\n".encode())
    return whole.hexdigest()


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _row(key: str, kind: str, entry: dict[str, Any], created: str | None = None) -> _Row:
    stamp = datetime.now(UTC).isoformat(timespec="seconds") if created is None else created
    content = (key.encode(), kind.encode(), without_keys(_encode(entry)), stamp.encode())
    return (*content, _checksum(*content))


def _checksum(key: bytes, kind: bytes, value: bytes, created: bytes) -> bytes:
    whole = b"\n".join((key, kind, created, value))
    return hashlib.blake2b(whole, digest_size=16).hexdigest().encode()


def _encode(entry: dict[str, Any]) -> bytes:
    try:
        plain = orjson.dumps(entry)
    except TypeError:
        plain = b"null"
    if orjson.loads(plain) == entry:  # not so for NaN, tuples, dataclasses
        return plain
    return _FOREIGN + json.dumps(entry, separators=(",", ":"), allow_nan=False).encode()


def _decode(row: _Row) -> dict[str, Any] | None:
    """Return a row's value, or None where the row does not match its checksum."""
    *content, checksum = row
    try:
        if _checksum(*content) != checksum:
            return None
    except TypeError:  # a column that is no text any more
        return None
    read = json.loads if content[2].startswith(_FOREIGN) else orjson.loads
    value: dict[str, Any] = read(content[2])
    return value
