"""Whoever imports this waits for no disk: nobody pulls the plug in a test.

What a process wrote is in the file for everybody else, and stays there when the process is killed.
Processes that are programs of their own, and no forks, wait for the disk as ever.
"""

import functools
import os
import sqlite3
from typing import Any


class _Connection(sqlite3.Connection):
    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        return super().execute(sql.replace("synchronous = NORMAL", "synchronous = OFF"), *values)


os.fsync = lambda file: None
sqlite3.connect = functools.partial(sqlite3.connect, factory=_Connection)  # type: ignore[assignment]
