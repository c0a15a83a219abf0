"""What a database must do for the answer store: keep rows, each written once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from seal.core.errors import DataError

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
            f" {VERSION}: export it with the SEAL that wrote it, and import it into a new store"
        )


def foreign(location: str, reason: str) -> DataError:
    """Return the error of a database that holds something else."""
    return DataError(f"{location} is no answer store: {reason}; choose another place for the cache")
