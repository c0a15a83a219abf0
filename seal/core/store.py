"""The store of answers: each entry is kept once, in SQLite or PostgreSQL."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, Self

import orjson

from seal.core.errors import DataError, InfrastructureError, UsageError
from seal.core.files import cache_folder
from seal.core.secrets import note_addresses, without_keys, without_password

# -- What a database must do for the answer store: keep rows, each written once.

VERSION = 1
"""Version of the table, which a database keeps beside it."""
PAGE = 500
"""Rows that are read or looked up in one statement: SQLite takes at least 999 parameters."""

Row = tuple[bytes, bytes, bytes, bytes, bytes]
"""Key, kind, value, created and checksum. As bytes, damage shows as a wrong checksum and not as a
failure to read the row."""


class AnswerTable(Protocol):
    """The rows of a store in one database; safe in threads, in many processes and across a fork.

    Whatever is written is written once: of two writers of a key the first wins. Every method raises
    InfrastructureError where the database fails, or the table is closed.
    """

    location: str
    """What users know it by; holds no password."""
    outage: str
    """Why the database takes no request any more, for whoever ends a run; empty: it does."""
    reads_only: bool
    """True where nothing can be written, such as a file that is mounted for reading."""

    def select(self, keys: Sequence[str]) -> list[Row]:
        """Return the rows of at most `PAGE` keys, in any order."""

    def page(self, after: bytes, kind: str | None) -> list[Row]:
        """Return the next rows behind a key in the order of keys, at most `PAGE`.

        Args:
            after: Key that comes before them.
            kind: Only rows of this kind; None: all.
        """

    def insert(self, rows: Sequence[Row]) -> int:
        """Write the rows whose keys have none, all or nothing; return how many were written."""

    def delete(self, keys: Sequence[bytes]) -> None:
        """Remove rows."""

    def counts(self) -> list[tuple[bytes, int]]:
        """Return each kind with its number of rows."""

    def size(self) -> int:
        """Return the bytes that the table takes."""

    def salvage(self) -> int:
        """Put a sound table in the place of a damaged one, with all rows that can be read.

        Returns:
            The number of these rows.

        Raises:
            UsageError: The database mends itself.
        """

    def close(self) -> None:
        """Close all connections; closing twice is fine."""


def check_version(location: str, version: int) -> None:
    """Make sure that a store is of the version that this SEAL reads.

    Raises:
        DataError: It is not.
    """
    if version != VERSION:
        raise DataError(
            f"{location} is an answer store of version {version}, this SEAL reads version"
            f" {VERSION}: read it with the SEAL that wrote it, or choose another place for the"
            " cache"
        )


def foreign(location: str, reason: str) -> DataError:
    """Return the error of a database that holds something else."""
    return DataError(f"{location} is no answer store: {reason}; choose another place for the cache")


# -- The answer store: answers of simulators and models, kept once and found by any process.
#
# An answer is written once: the first writer wins, and later ones are given what is stored. Rows
# lie in one SQLite file, or in a PostgreSQL database that many machines share.

FILE_NAME = "answers.sqlite"
"""Name of the store in a cache folder."""
URL_VARIABLE = "SEAL_CACHE_URL"
"""Variable that names the database of the store."""
_EXPECTED = "expected postgresql://USER@HOST:PORT/DATABASE, or sqlite:///FILE"

_POSTGRES = ("postgresql://", "postgres://")
_SQLITE = "sqlite:///"
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
    """Size of the file and its log, or of the table."""
    version: int = VERSION


class Store:
    """Answers by key, in one place. Safe in threads, in many processes at once, and across a fork.

    It may be pickled: the copy opens the same place.

    Args:
        place: A file, which is made with its folder where it does not exist; or a URL:
            `postgresql://USER@HOST:PORT/DATABASE`, or `sqlite:///FILE`.
        timeout: Seconds to wait for other writers, or for a server that has gone.
        folder: Where indexes of what is stored lie; None: beside the file, or of a database the
            user's cache folder.
        in_open: Keys that are no secrets in what is stored (`seal.core.secrets.InOpen`).
        if_asked: Open the place when the first row is asked for, and not before: a run that keeps
            nothing needs none. Whatever is wrong with the place is raised then.

    Raises:
        UsageError: The place cannot be made or opened, or it is no URL that is known.
        DataError: What is there is no store, or of another version.
        InfrastructureError: The file cannot be read now, as others hold it, or the server does not
            answer.
    """

    def __init__(
        self,
        place: Path | str,
        timeout: float = 60.0,
        folder: Path | None = None,
        in_open: Container[str] = (),
        if_asked: bool = False,
    ) -> None:
        self._opened = (place, timeout, folder, in_open, if_asked)
        self._in_open = in_open
        self._said: set[str] = set()
        self._rows_of: AnswerTable | None = None
        self._opening = threading.Lock()
        file = _file_at(place)
        self.location = without_password(str(place)) if file is None else str(file)
        """What users know the place by; holds no password."""
        self.folder = folder or (cache_folder() if file is None else file.parent)
        if not if_asked:
            self._rows_of = _table_at(place, timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections. Closing twice is fine; using the store afterwards is an error."""
        if self._rows_of is not None:
            self._rows_of.close()

    @property
    def _table(self) -> AnswerTable:
        with self._opening:
            if self._rows_of is None:
                self._rows_of = _table_at(*self._opened[:2])
            return self._rows_of

    def __reduce__(self) -> tuple[type[Store], tuple[Any, ...]]:
        return Store, self._opened

    @property
    def outage(self) -> str:
        """Why the database takes no request any more, for whoever ends a run; empty: it does."""
        return "" if self._rows_of is None else self._rows_of.outage

    def is_new(self, word: str) -> bool:
        """Tell whether nobody has said a word of entries before, so that users read it once."""
        known = word in self._said
        self._said.add(word)
        return not known

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the entry stored under a key, or None.

        Raises:
            InfrastructureError: The entry is damaged, or the store cannot be read.
        """
        rows = self._table.select([key])
        return self._sound(rows[0]) if rows else None

    def put(self, key: str, entry: dict[str, Any], kind: str = "model") -> dict[str, Any]:
        """Store an entry unless there is one, and return the one that is stored.

        The result has been through JSON, so that the first run sees what later runs will read.

        Args:
            key: Digest of everything that shapes the answer.
            entry: JSON values; kept with the order of its keys.
            kind: `simulator`, `simulator_failure`, `model`, `embedding` or `mcp`.

        Raises:
            TypeError: A value that JSON cannot hold.
            ValueError: A number is NaN or infinite.
            InfrastructureError: The stored entry is damaged, or the store cannot be written.
        """
        row = _row(key, kind, entry, self._in_open)
        stored = None if self._table.insert([row]) else self.get(key)
        return _value_of(row[2]) if stored is None else stored

    def get_each(self, keys: Sequence[str]) -> Iterator[dict[str, Any] | None]:
        """Yield for each key, in order, the entry stored under it, or None.

        Keys are looked up some hundred at a time: 30,000 entries never lie in memory together.

        Raises:
            InfrastructureError: An entry is damaged, or the store cannot be read.
        """
        for start in range(0, len(keys), PAGE):
            page = keys[start : start + PAGE]
            found = {_text(row[0]): row for row in self._table.select(page)}
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
            InfrastructureError: A stored entry is damaged, or the store cannot be written.
        """
        self._table.insert(
            [_row(key, kind, entry, self._in_open) for key, entry in entries.items()]
        )
        stored = zip(entries, self.get_each(list(entries)), strict=True)
        return [entries[key] if entry is None else entry for key, entry in stored]

    def entries(self, kind: str | None = None) -> Iterator[Entry]:
        """Yield the entries in the order of their keys; a damaged one has the value None.

        What is written meanwhile may be seen or not.

        Args:
            kind: Only entries of this kind; None: all.
        """
        for row in self._rows(kind):
            key, its_kind, _, created, _ = (_text(column) for column in row)
            yield Entry(key, its_kind, _decode(row), created)

    def stats(self) -> StoreStats:
        """Return the numbers of entries and the size."""
        by_kind = {_text(kind): count for kind, count in sorted(self._table.counts())}
        return StoreStats(by_kind, self._table.size())

    @property
    def reads_only(self) -> bool:
        """True where nothing can be written."""
        return self._table.reads_only

    def salvage(self) -> int:
        """Save the entries of a damaged file that can be read, and return their number.

        They stand in a new file in its place; the damaged one stays beside it, with `.damaged`
        after its name. Nobody else may use the store meanwhile.

        Raises:
            InfrastructureError: Others use it, or the new file cannot be written.
            UsageError: It is a database that mends itself.
        """
        return self._table.salvage()

    def discard_damaged(self) -> list[str]:
        """Remove the entries that do not match their checksum, and return their keys."""
        damaged = [row[0] for row in self._rows(None) if _decode(row) is None]
        self._table.delete(damaged)
        return [_text(key) for key in damaged]

    def _rows(self, kind: str | None) -> Iterator[Row]:
        last = b""
        while rows := self._table.page(last, kind):
            yield from rows
            last = rows[-1][0]

    def _sound(self, row: Row) -> dict[str, Any]:
        value = _decode(row)
        if value is None:
            raise InfrastructureError(
                f"{self.location}: the entry {_text(row[0])} is damaged; `seal cache verify POOL`"
                " lists such entries, and --repair removes them"
            )
        return value


def open_store(
    folder: Path | str | None = None,
    writes: bool = False,
    in_open: Container[str] = (),
    if_asked: bool = False,
) -> Store:
    """Return the store that a run uses: the database of SEAL_CACHE_URL, else a file in a folder.

    Args:
        folder: The cache folder; None: SEAL_CACHE_DIR, else the user's own.
        writes: Whether answers will be kept there, so that one which can only be read is refused.
        in_open: As of `Store`.
        if_asked: As of `Store`.

    Raises:
        SealError: As `Store` raises.
    """
    place = cache_folder(folder).absolute()
    note_addresses(URL_VARIABLE)
    at = os.environ.get(URL_VARIABLE) or place / FILE_NAME
    if isinstance(at, str) and not is_url(at) and "password=" in at.replace(" ", ""):
        raise UsageError(f"{URL_VARIABLE}: {_EXPECTED}; the password: PGPASSWORD")
    store = Store(at, folder=place, in_open=in_open, if_asked=if_asked)
    if writes and store.reads_only:
        store.close()
        raise UsageError(
            f"{store.location} can only be read: play with --cache replay or --cache off, or give "
            "another --cache-dir"
        )
    return store


def url_elsewhere() -> str:
    """Return the address of SEAL_CACHE_URL for other machines; empty where there is none.

    Its password is not in it: each machine has its own.
    """
    return without_password(os.environ.get(URL_VARIABLE, ""))


def is_url(place: Path | str) -> bool:
    """Tell whether a place of a store is given by a URL and not as a path."""
    return isinstance(place, str) and "://" in place


def _file_at(place: Path | str) -> Path | None:
    """Return the file of a place; None: it is a database of a server."""
    if not isinstance(place, str) or not is_url(place):
        return Path(place)
    if place.startswith(_POSTGRES):
        return None
    if place.startswith(_SQLITE) and len(place) > len(_SQLITE):
        return Path(place.removeprefix(_SQLITE))
    raise UsageError(f"{URL_VARIABLE} begins with {place.partition('://')[0]}://: {_EXPECTED}")


def _table_at(place: Path | str, timeout: float) -> AnswerTable:
    file = _file_at(place)
    if file is None:
        from seal.core.postgres_store import PostgresAnswers

        return PostgresAnswers(str(place), timeout)
    from seal.core.sqlite_store import SqliteAnswers

    return SqliteAnswers(file, timeout)


def digest_of_entries(store: Store, keys: Iterable[str]) -> str:
    """Return one digest of what the entries under some keys say, whenever they were written.

    Raises:
        InfrastructureError: An entry is damaged.
    """
    whole = hashlib.sha256()
    in_order = sorted(set(keys))
    for key, entry in zip(in_order, store.get_each(in_order), strict=True):
        text = json.dumps(entry, sort_keys=True, separators=(",", ":"))
        whole.update(f"{key} {text}\n".encode())
    return whole.hexdigest()


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _row(
    key: str,
    kind: str,
    entry: dict[str, Any],
    in_open: Container[str],
) -> Row:
    stamp = datetime.now(UTC).isoformat(timespec="seconds")
    content = (key.encode(), kind.encode(), without_keys(_encode(entry), in_open), stamp.encode())
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


def _decode(row: Row) -> dict[str, Any] | None:
    """Return a row's value, or None where the row does not match its checksum."""
    key, kind, value, created, checksum = row
    try:
        if _checksum(key, kind, value, created) != checksum:
            return None
    except TypeError:  # a column that is no text any more
        return None
    return _value_of(value)


def _value_of(text: bytes) -> dict[str, Any]:
    read = json.loads if text.startswith(_FOREIGN) else orjson.loads
    value: dict[str, Any] = read(text)
    return value
