"""The SQLite file of the answer store: made, recognised, and opened by any number of users at once.

The file is in WAL mode.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from seal.core.errors import DataError, InfrastructureError, SealError, UsageError

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


class AnswerFile:
    """Connections to one file. Safe in threads, in many processes at once, and across a fork.

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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections. Closing twice is fine; using the file afterwards is an error."""
        self._closed = True
        self._drop_inherited()
        self._close_idle()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection that no other thread uses meanwhile."""
        if self._closed:
            raise InfrastructureError(f"{self.path}: the store is closed")
        self._drop_inherited()
        connection = None
        try:
            connection = self._borrow()
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

    def _borrow(self) -> sqlite3.Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

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
            connection = self._connect()
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        except sqlite3.OperationalError as error:
            raise self._not_opened(error) from error
        except sqlite3.DatabaseError as error:
            raise self._foreign(str(error)) from error
        try:
            if not self._is_ours(connection):
                _create(connection, self.timeout)
        except sqlite3.OperationalError as error:
            raise self._not_opened(error) from error
        except sqlite3.DatabaseError as error:
            raise self._foreign(str(error)) from error
        finally:
            connection.close()

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

    def _not_opened(self, error: sqlite3.OperationalError) -> SealError:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            return self._unusable(str(error))
        return InfrastructureError(f"{self.path} cannot be opened: {error}")

    def _unusable(self, reason: str) -> UsageError:
        return UsageError(
            f"{self.path} cannot be opened: {reason}; give another --cache-dir or SEAL_CACHE_DIR, "
            "a folder that can be made and written"
        )

    def _foreign(self, reason: str) -> DataError:
        return DataError(f"{self.path} is no answer store: {reason}; choose another cache folder")


def _create(connection: sqlite3.Connection, timeout: float) -> None:
    """Make the tables; several processes may do so at once."""
    _wait_for_wal(connection, timeout)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(_CREATE)
    connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute("COMMIT")


def _wait_for_wal(connection: sqlite3.Connection, timeout: float) -> None:
    # SQLite's own busy timeout does not cover every step of the change to WAL mode.
    end = time.monotonic() + timeout
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
