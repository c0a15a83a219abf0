"""Rows of the answer store in one SQLite file, in WAL mode.

A commit is a single write to the log, so a killed process loses at most the answer it was about to
write; after a power cut the last answers may be gone, the file is sound. A file that cannot be
written is read, and of a file with damaged pages the rows of all others can be saved.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from seal.core.errors import InfrastructureError, UsageError
from seal.core.store import PAGE, VERSION, Row, check_version, foreign

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
_INSERT = (
    "INSERT INTO entries VALUES (CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT),"
    " CAST(? AS TEXT), CAST(? AS TEXT)) ON CONFLICT (key) DO NOTHING"
)
_SELECT = "SELECT key, kind, value, created, checksum FROM entries "
_ONE = f"{_SELECT}WHERE key = ?"
_NEXT = (
    f"{_SELECT}WHERE key > CAST(? AS TEXT) AND kind = coalesce(?, kind) ORDER BY key LIMIT {PAGE}"
)


_MAGIC = b"SQLite format 3\0"
_LEAF = b"\x0d"
"""How a page begins that holds rows of a table."""
_PAGE_SIZE = slice(16, 18)
_CHANGES, _PAGES, _OURS, _VALID_FOR = (slice(at, at + 4) for at in (24, 28, 68, 92))
"""Fields of a SQLite file's header, https://www.sqlite.org/fileformat2.html#the_database_header."""
_BETWEEN = f"{_SELECT}WHERE rowid BETWEEN ? AND ?"
_LEAST_ROW = 64
"""Bytes that a row takes at least: its checksum and time alone are as many."""
_DAMAGED = "stop its runs; `seal cache verify POOL --repair` then saves what can be read"
_DELETED = (
    "the file was deleted while it was in use; start again, which makes it anew, and delete a cache"
    " only when no run uses it"
)
_REPAIRS = {
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_FULL: "free some space there",
    sqlite3.SQLITE_READONLY: "let its folder be written, or give another --cache-dir",
    sqlite3.SQLITE_IOERR: "see whether its disk is sound and mounted",
    sqlite3.SQLITE_CANTOPEN: "give fewer --workers or raise `ulimit -n`, if many files are open",
}
"""What SQLite says to what helps."""
_LASTING = _REPAIRS.keys() - {sqlite3.SQLITE_CANTOPEN}
"""After these no request is worth its price, for its answer cannot be kept."""


_Result = TypeVar("_Result")


class DamagedStoreError(InfrastructureError):
    """A page of the file is damaged; what lies on others can be saved."""


class SqliteAnswers:
    """An `AnswerTable` in a file.

    Args:
        path: The file; it and its folder are made where they do not exist.
        timeout: Seconds to wait for other writers.

    Raises:
        UsageError: The file or its folder cannot be made or opened.
        DataError: The file is no store, or of another version.
        InfrastructureError: The file cannot be read now, as others hold it.
    """

    def __init__(self, path: Path, timeout: float) -> None:
        self.location = str(path)
        self.outage = ""
        self.reads_only = False
        self._how = ""
        self._path = path
        self._timeout = timeout
        self._idle: deque[sqlite3.Connection] = deque()
        self._inherited: list[sqlite3.Connection] = []
        self._process = os.getpid()
        self._closed = False
        self._prepare()
        self._how = self._how or "mode=rw"  # a file that was deleted is not made again, empty

    def select(self, keys: Sequence[str]) -> list[Row]:
        """See `AnswerTable`."""
        where = _ONE if len(keys) == 1 else f"{_SELECT}WHERE key IN ({','.join('?' * len(keys))})"
        return self._asked(lambda connection: connection.execute(where, keys).fetchall())

    def page(self, after: bytes, kind: str | None) -> list[Row]:
        """See `AnswerTable`; no transaction stays open between two pages."""
        return self._asked(lambda c: c.execute(_NEXT, (after, kind)).fetchall())

    def insert(self, rows: Sequence[Row]) -> int:
        """See `AnswerTable`."""
        if self.reads_only:
            raise InfrastructureError(
                f"{self.location} can only be read; give another --cache-dir to keep answers"
            )

        if not self._path.exists():  # SQLite writes on, into a file that nobody finds again
            raise self._deleted()

        def insert(connection: sqlite3.Connection) -> int:
            if len(rows) == 1:  # commits by itself
                return connection.execute(_INSERT, rows[0]).rowcount
            with connection:  # commits all of it, or nothing
                connection.execute("BEGIN IMMEDIATE")
                return connection.executemany(_INSERT, rows).rowcount

        return self._asked(insert)

    def delete(self, keys: Sequence[bytes]) -> None:
        """See `AnswerTable`."""
        delete = "DELETE FROM entries WHERE key = CAST(? AS TEXT)"
        self._asked(lambda c: c.executemany(delete, [(key,) for key in keys]))

    def counts(self) -> list[tuple[bytes, int]]:
        """See `AnswerTable`."""
        query = "SELECT kind, count(*) FROM entries GROUP BY kind"
        return self._asked(lambda c: c.execute(query).fetchall())

    def size(self) -> int:
        """Return the bytes of the file and its log."""
        files = [self._path, self._path.with_name(self._path.name + "-wal")]
        return sum(file.stat().st_size for file in files if file.is_file())

    def close(self) -> None:
        """See `AnswerTable`."""
        self._closed = True
        self._drop_inherited()
        self._close_idle()

    def _asked(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """Return what a connection gives that no other thread uses meanwhile."""
        if self._closed:
            raise InfrastructureError(f"{self.location}: the store is closed")
        self._drop_inherited()
        connection = None
        try:
            try:
                connection = self._idle.pop()
            except IndexError:  # all are lent
                connection = self._connect()
            return work(connection)
        except sqlite3.Error as error:
            raise self._told(error) from error
        finally:
            if connection is not None:
                self._idle.append(connection)
            if self._closed:  # while it was lent: `close` did not see it
                self._close_idle()

    def _deleted(self) -> InfrastructureError:
        self.outage = f"{self.location}: {_DELETED}"
        return InfrastructureError(self.outage)

    def _told(self, error: sqlite3.Error) -> InfrastructureError:
        if not self._path.exists():
            return self._deleted()
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        repair = _REPAIRS.get(code, "")
        text = f"{self.location}: {error}{repair and '; '}{repair}"
        if code in _LASTING:
            self.outage = text
        return (DamagedStoreError if repair == _DAMAGED else InfrastructureError)(text)

    def salvage(self) -> int:
        """See `AnswerTable`; the damaged file gets the suffix `.damaged`."""
        self._close_idle()
        made = self._path.with_name(self._path.name + ".new")
        made.unlink(missing_ok=True)
        saved = 0
        with closing(SqliteAnswers(made, self._timeout)) as sound, self._to_save() as old:
            for rows in _readable(old, self._path.stat().st_size // _LEAST_ROW):
                saved += sound.insert(rows)
            for rows in _on_leaves(self._path):
                saved += sound.insert(rows)
        for part in ("", "-wal", "-shm"):
            damaged = self._path.with_name(self._path.name + part)
            if damaged.exists():
                damaged.replace(self._path.with_name(f"{self._path.name}.damaged{part}"))
        made.replace(self._path)
        self.outage = ""
        return saved

    @contextmanager
    def _to_save(self) -> Iterator[sqlite3.Connection]:
        """Give a connection to what can be read; nobody else uses the file meanwhile."""
        with ExitStack() as opened:
            try:
                old = opened.enter_context(closing(self._connect()))
                old.execute("BEGIN EXCLUSIVE")
                old.execute("SELECT count(*) FROM sqlite_master")
            except sqlite3.OperationalError as error:
                raise InfrastructureError(
                    f"{self.location} is in use: {error}; stop its runs first"
                ) from error
            except sqlite3.DatabaseError:  # SQLite refuses all of it
                old = opened.enter_context(_with_mended_header(self._path))
            yield old

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
        place = f"{self._path.absolute().as_uri()}?{self._how}" if self._how else self._path
        connection = sqlite3.connect(
            place, self._timeout, isolation_level=None, check_same_thread=False, uri=bool(self._how)
        )
        connection.text_factory = bytes
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _prepare(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._connect()) as connection:
                if not self._is_ours(connection):
                    _create(connection, self._timeout)
        except OSError as error:
            raise self._unusable(error.strerror or str(error)) from error
        except ValueError as error:  # a character that no path can have
            raise self._unusable(str(error)) from error
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                if self._opens_for_reading():
                    return
                raise self._unusable(str(error)) from error
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_FULL:
                raise self._unusable("the disk is full; make room and try again") from error
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_IOERR:
                why = f"{error}; make room, or see whether its disk is sound, and try again"
                raise self._unusable(why) from error
            raise InfrastructureError(f"{self.location} cannot be opened: {error}") from error
        except sqlite3.DatabaseError as error:
            if not _says_ours(self._path):
                raise foreign(self.location, str(error)) from error
            self._told(error)  # whoever asks for a row hears of it, and `salvage` saves what it can

    def _opens_for_reading(self) -> bool:
        """Open a file that cannot be written; what its log holds must be readable, too."""
        log = self._path.with_name(self._path.name + "-wal")
        is_whole = not log.exists() or not log.stat().st_size
        for how in ("mode=ro", *(["mode=ro&immutable=1"] if is_whole else [])):
            self._how = how
            try:
                with closing(self._connect()) as connection:
                    self.reads_only = self._is_ours(connection)
            except sqlite3.OperationalError:
                continue
            return self.reads_only
        self._how = ""
        return False

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Return False for an empty file, and raise for one that we cannot use."""
        with connection:  # one transaction: meanwhile another process may make the tables
            connection.execute("BEGIN")
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application == _APPLICATION:
            check_version(self.location, version)
            try:
                connection.execute(f"{_SELECT}LIMIT 0")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:  # no fault of its table
                    raise
                raise foreign(self.location, str(error)) from error
            return True
        if tables:
            raise foreign(self.location, "it holds other tables")
        return False

    def _unusable(self, reason: str) -> UsageError:
        return UsageError(
            f"{self.location} cannot be opened: {reason}; give another --cache-dir or"
            " SEAL_CACHE_DIR, a folder that can be made and written"
        )


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


def _says_ours(path: Path) -> bool:
    """Tell whether the header of a file that SQLite refuses is that of a store."""
    with path.open("rb") as file:
        return file.read(_OURS.stop)[_OURS] == _APPLICATION.to_bytes(4, "big")


@contextmanager
def _with_mended_header(path: Path) -> Iterator[sqlite3.Connection]:
    """Give a connection to a copy of a file, whose header tells the pages that it has.

    SQLite refuses a file that is cut off: its header tells of more pages. The log beside it holds
    the last rows; it is read, too, unless it makes SQLite refuse the file again.
    """
    with TemporaryDirectory(dir=path.parent) as folder:
        copy = Path(folder, path.name)
        for parts in (("", "-wal"), ("",)):
            for part in ("", "-wal", "-shm"):
                copy.with_name(copy.name + part).unlink(missing_ok=True)
            for part in parts:
                source = path.with_name(path.name + part)
                if source.exists():
                    shutil.copyfile(source, copy.with_name(copy.name + part))
            _mend_header(copy)
            with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
                connection.text_factory = bytes
                try:
                    connection.execute("SELECT count(*) FROM entries WHERE rowid = 0")
                except sqlite3.DatabaseError:
                    if parts[1:]:
                        continue
                yield connection
            return


def _mend_header(path: Path) -> int:
    """Let the header of a file tell the pages that it has, and return the bytes of a page."""
    with path.open("r+b") as file:
        header = bytearray(file.read(100).ljust(100, b"\0"))
        size = int.from_bytes(header[_PAGE_SIZE], "big")
        size = 1 << 16 if size == 1 else size if size in {1 << n for n in range(9, 16)} else 4096
        pages = -(-path.stat().st_size // size)
        header[: len(_MAGIC)] = _MAGIC
        header[_PAGES] = pages.to_bytes(4, "big")
        header[_VALID_FOR] = header[_CHANGES]
        file.seek(0)
        file.write(header)
        file.truncate(pages * size)
    return size


def _on_leaves(path: Path) -> Iterator[list[Row]]:
    """Yield the rows of each page that holds rows, whatever became of the pages that lead to it.

    SQLite takes such a page for the whole of a table, if the first page of a copy says so.
    """
    with TemporaryDirectory(dir=path.parent) as folder:
        copy, first = Path(folder, path.name), Path(folder, "first")
        shutil.copyfile(path, copy)
        size = _mend_header(copy)
        with closing(sqlite3.connect(first)) as made:
            made.execute(f"PRAGMA page_size = {size}")
            made.execute("CREATE TABLE entries (key, kind, value, created, checksum)")
        with copy.open("r+b") as file:
            leaves = [
                at // size + 1
                for at in range(size, copy.stat().st_size, size)
                if file.seek(at) and file.read(1) == _LEAF
            ]
            file.seek(0)
            file.write(first.read_bytes()[:size])
        _mend_header(copy)
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.text_factory = bytes
            for pragma in ("journal_mode = OFF", "synchronous = OFF", "writable_schema = ON"):
                connection.execute(f"PRAGMA {pragma}")
            for leaf in leaves:
                connection.execute("UPDATE sqlite_master SET rootpage = ?", (leaf,))
                connection.execute("PRAGMA writable_schema = RESET")
                connection.execute("PRAGMA writable_schema = ON")
                yield _whole_rows(connection)


def _whole_rows(connection: sqlite3.Connection) -> list[Row]:
    """Return the rows of a table up to the first that cannot be read, without those that lack."""
    found = []
    try:
        for row in connection.execute(_SELECT):
            if all(isinstance(part, bytes) for part in row):
                found.append(row)
    except sqlite3.DatabaseError:
        pass
    return found


def _readable(connection: sqlite3.Connection, most: int) -> Iterator[list[Row]]:
    """Yield the rows of a table, some at a time, without those on pages that are damaged.

    Args:
        connection: To the file.
        most: The largest number that a row can have.
    """
    for start in range(1, most + 1, PAGE):
        parts = [(start, min(start + PAGE - 1, most))]
        while parts:
            first, last = parts.pop()
            try:
                found = connection.execute(_BETWEEN, (first, last)).fetchall()
            except sqlite3.DatabaseError:
                if first < last:
                    middle = (first + last) // 2
                    parts += [(middle + 1, last), (first, middle)]
                continue
            if found:
                yield found
