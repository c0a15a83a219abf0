"""Rows of the answer store in a table of a PostgreSQL database, which many machines share.

An answer is durable when `put` returns, as far as the server's own `synchronous_commit` says so.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, TypeVar

from seal.core.errors import InfrastructureError, UsageError, needing
from seal.core.secrets import without_password
from seal.core.store import PAGE, VERSION, Row, check_version, foreign

with needing("psycopg", "postgres"):
    import psycopg
    import psycopg_pool
    from psycopg.conninfo import conninfo_to_dict

_CONNECTIONS = 8
"""Most connections of a process: a server allows about 100, and a statement is short."""
_PATIENCE = {"connect_timeout": 10, "keepalives_idle": 30, "tcp_user_timeout": 60_000}
"""Of libpq, where the URL says nothing: seconds, seconds and milliseconds."""
_LOCK = 0x5EA1  # of who makes the table
_COMMENT = "SEAL answer store, version "
_BARE = re.compile(r"[^/:@]*:[^/@]*/[^@]*@|[^/@]*@[^/@]*@")
"""Behind the `://`: a password with a / or an @ as it is, of which libpq would read a part as a
host and tell it."""
_CREATE = f"""
CREATE TABLE seal_answers (
    key bytea PRIMARY KEY,
    kind bytea NOT NULL,
    value bytea NOT NULL,
    created bytea NOT NULL,
    checksum bytea NOT NULL
);
COMMENT ON TABLE seal_answers IS '{_COMMENT}{VERSION}'
"""
_FIND = "SELECT to_regclass('seal_answers'), obj_description(to_regclass('seal_answers'))"
_SELECT = "SELECT key, kind, value, created, checksum FROM seal_answers "
_NEXT = f"{_SELECT}WHERE key > %s AND (%s::bytea IS NULL OR kind = %s) ORDER BY key LIMIT {PAGE}"
_INSERT = "INSERT INTO seal_answers VALUES (%s, %s, %s, %s, %s) ON CONFLICT (key) DO NOTHING"

Connection: TypeAlias = Any  # psycopg.Connection
_Result = TypeVar("_Result")
# The pool tells of every failed try; the error that comes of them is ours to tell.
_SILENT = logging.NullHandler()


class PostgresAnswers:
    """An `AnswerTable` in the first schema of a database's search path.

    A connection that breaks is replaced, and what it was asked is asked again once: every request
    may be repeated, for a row is written once.

    Args:
        url: `postgresql://USER@HOST:PORT/DATABASE`, as libpq reads it; what it leaves out comes
            from libpq's own variables, such as PGPASSWORD.
        timeout: Seconds to wait for a server that has gone, once it was there.

    Raises:
        MissingExtraError: psycopg is not installed.
        UsageError: The URL is malformed, or the user may not make the table.
        DataError: The database has a table of our name that is not ours, or of another version.
        InfrastructureError: The server does not answer, or refuses the user.
    """

    def __init__(self, url: str, timeout: float) -> None:
        self.location = without_password(url)
        self.outage = ""
        self.reads_only = False
        self._timeout = timeout
        self._closed = False
        self._pools: dict[int, psycopg_pool.ConnectionPool[Connection]] = {}
        try:
            if _BARE.match(url.partition("://")[2]):
                raise psycopg.ProgrammingError
            self._told: dict[str, Any] = {**_PATIENCE, **conninfo_to_dict(url)}
        except psycopg.ProgrammingError:
            raise UsageError(
                "SEAL_CACHE_URL: expected postgresql://USER@HOST:PORT/DATABASE, in"
                " which %40 stands for an @ of the password, %2F for /, %3A for : and %25 for %"
            ) from None  # libpq's own text, and the URL, may tell the password
        logging.getLogger("psycopg.pool").addHandler(_SILENT)
        self._prepare()

    def select(self, keys: Sequence[str]) -> list[Row]:
        """See `AnswerTable`."""
        values: Any = [key.encode() for key in keys]
        where = "WHERE key = ANY(%s)"
        if len(keys) == 1:  # is quicker by itself
            where, values = "WHERE key = %s", values[0]
        return self._asked(lambda c: c.execute(_SELECT + where, (values,), binary=True).fetchall())

    def page(self, after: bytes, kind: str | None) -> list[Row]:
        """See `AnswerTable`."""
        its = None if kind is None else kind.encode()
        return self._asked(lambda c: c.execute(_NEXT, (after, its, its), binary=True).fetchall())

    def insert(self, rows: Sequence[Row]) -> int:
        """See `AnswerTable`."""

        def insert(connection: Connection) -> int:
            if len(rows) == 1:
                return int(connection.execute(_INSERT, rows[0]).rowcount)
            with connection.transaction(), connection.cursor() as cursor:
                # In one order, so that two writers of the same keys never wait for each other.
                cursor.executemany(_INSERT, sorted(rows))
                return int(cursor.rowcount)

        return self._asked(insert)

    def delete(self, keys: Sequence[bytes]) -> None:
        """See `AnswerTable`."""
        self._asked(lambda c: c.execute("DELETE FROM seal_answers WHERE key = ANY(%s)", (keys,)))

    def counts(self) -> list[tuple[bytes, int]]:
        """See `AnswerTable`."""
        query = "SELECT kind, count(*) FROM seal_answers GROUP BY kind"
        return self._asked(lambda c: c.execute(query, binary=True).fetchall())

    def size(self) -> int:
        """Return the bytes of the table and its index."""
        query = "SELECT pg_total_relation_size('seal_answers')"
        return int(self._asked(lambda c: c.execute(query).fetchall())[0][0])

    def salvage(self) -> int:
        """See `AnswerTable`."""
        raise UsageError(f"{self.location}: a damaged database is mended by its server's own tools")

    def close(self) -> None:
        """See `AnswerTable`."""
        self._closed = True
        if (pool := self._pools.get(os.getpid())) is not None:
            pool.close()

    def _asked(self, work: Callable[[Connection], _Result]) -> _Result:
        """Return what a connection gives; one that turns out to be broken is replaced first."""
        if self._closed:
            raise InfrastructureError(f"{self.location}: the store is closed")
        pool = self._pool()
        try:
            try:
                result = self._on(pool, work)
            except _BrokenError:
                pool.check()
                result = self._on(pool, work)
        except psycopg_pool.PoolTimeout as error:
            self.outage = (
                f"{self.location}: no connection to the server for {self._timeout:g} s; start it"
            )
            raise InfrastructureError(self.outage) from error
        except _BrokenError as error:
            self.outage = f"{self.location}: two connections in a row broke: {self._shown(error)}"
            raise InfrastructureError(self.outage) from None
        except psycopg.Error as error:
            raise InfrastructureError(f"{self.location}: {self._shown(error)}") from None
        self.outage = ""
        return result

    @staticmethod
    def _on(
        pool: psycopg_pool.ConnectionPool[Connection], work: Callable[[Connection], _Result]
    ) -> _Result:
        connection = pool.getconn()  # `pool.connection()` would commit what is committed
        try:
            return work(connection)
        except psycopg.OperationalError as error:
            if connection.broken:
                raise _BrokenError(str(error)) from error
            raise
        finally:
            pool.putconn(connection)

    def _pool(self) -> psycopg_pool.ConnectionPool[Connection]:
        # Of each process its own: the parent's stays referenced, for its sockets are the parent's.
        process = os.getpid()
        if process not in self._pools:
            made: psycopg_pool.ConnectionPool[Connection] = psycopg_pool.ConnectionPool(
                kwargs={**self._told, "autocommit": True},
                min_size=0,
                max_size=_CONNECTIONS,
                timeout=self._timeout,
                num_workers=1,
                open=False,
            )
            made.open()  # before another thread sees it
            if self._pools.setdefault(process, made) is not made:
                made.close()
        return self._pools[process]

    def _prepare(self) -> None:
        try:
            with psycopg.connect(**self._told) as connection:
                connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
                if not self._is_ours(connection):
                    connection.execute(_CREATE)
        except psycopg.errors.InsufficientPrivilege as error:
            raise UsageError(
                f"{self.location}: {self._shown(error)}; let the user make a table there, or give"
                " another SEAL_CACHE_URL"
            ) from None
        except (psycopg.Error, UnicodeError) as error:  # UnicodeError: no name of a host
            raise InfrastructureError(
                f"{self.location} cannot be opened: {self._shown(error)}; start the server, give"
                " its password by PGPASSWORD, or give another SEAL_CACHE_URL"
            ) from None

    def _is_ours(self, connection: Connection) -> bool:
        """Return False where there is no table, and raise for one that we cannot use."""
        table, comment = connection.execute(_FIND).fetchall()[0]
        if table is None:
            return False
        version = re.fullmatch(_COMMENT + r"(\d+)", comment or "")
        if version is None:
            raise foreign(self.location, "its table seal_answers is of something else")
        check_version(self.location, int(version[1]))
        return True

    def _shown(self, error: Exception) -> str:
        """Return what the server said, in one line and without the password."""
        text = " ".join(str(error).split())
        password = self._told.get("password")
        return text.replace(password, "***") if password else text


class _BrokenError(Exception):
    """The connection is gone; another may serve."""
