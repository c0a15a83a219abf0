"""Folders: who writes into one, and where caches are kept."""

from __future__ import annotations

import fcntl
import os
from os import PathLike
from pathlib import Path
from typing import Any

from seal.core.errors import DataError, UsageError, shortened

LOCK = ".lock"
"""Name of the file that says who writes into a folder."""


_LONGEST = 255
"""Bytes of the name of a file or folder, of any file system in use."""


def check_path(name: str, path: str | PathLike[str]) -> None:
    """Make sure that a path can be one.

    Args:
        name: What it was given as, for messages.
        path: Need not be there.

    Raises:
        UsageError: It is empty, begins with `~`, has characters or a length that no file system
            takes, lies in what is no folder, or is a link to nothing.
    """
    text = os.fspath(path)
    try:
        longest = max(len(os.fsencode(part)) for part in Path(text).parts or (text,))
    except UnicodeEncodeError:
        longest = None
    if not text:
        fault = "it is empty; give one, such as '.' for this folder"
    elif Path(text).parts[:1] == ("~",):
        fault = f"only a shell knows what ~ is; write {Path(text).expanduser()}"
    elif longest is None or "\0" in text:
        fault = "it has a character that no path can have; leave it out"
    elif longest > _LONGEST:
        fault = f"a name in it has {longest} bytes, and {_LONGEST} are possible; shorten it"
    elif any(parent.is_file() for parent in Path(text).parents):
        fault = "it lies in a file, which is no folder; give another"
    elif Path(text).is_symlink() and not Path(text).exists():
        fault = "it is a link to what does not exist; remove the link, or give another"
    else:
        return
    raise UsageError(f"{name}: {shortened(text)} is no path: {fault}")


def within(folder: Path, name: Any) -> Path:
    """Return the path of what stands in a folder, or in one below it, under a name from data.

    Raises:
        DataError: The name is no text, or leads out of the folder.
    """
    path = Path(name) if isinstance(name, str) and "\0" not in name else Path()
    if not path.parts or ".." in path.parts or path.is_absolute():
        raise DataError(
            f"{folder}: {shortened(name)} is no name of what lies in this folder; mend it"
        )
    return folder / path


class Lock:
    """The right to write into a folder; held by one process at a time, freed when it dies.

    Raises:
        UsageError: Another process holds it.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK

    def __enter__(self) -> Lock:
        """Take the lock."""
        self._file = self._path.open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.seek(0)
            owner = self._file.read().strip() or "unknown"
            self._file.close()
            raise UsageError(
                f"another process (pid {owner}) is writing into {self._path.parent}; "
                f"wait for it, or give another --out"
            ) from error
        self._file.truncate(0)
        self._file.write(str(os.getpid()))
        self._file.flush()
        return self

    def __exit__(self, *error: object) -> None:
        """Free the lock; the file stays, for another may wait on it already."""
        self._file.truncate(0)
        self._file.close()


def is_held(folder: Path) -> bool:
    """Tell whether a process holds the lock of a folder: it writes there."""
    try:
        file = (folder / LOCK).open("rb")
    except FileNotFoundError:
        return False
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def cache_folder(given: str | Path | None = None) -> Path:
    """Return the cache folder: the given one, else SEAL_CACHE_DIR, else the user's own."""
    if given is not None:
        return Path(given)
    named = os.environ.get("SEAL_CACHE_DIR")
    if named:
        return Path(named)
    from platformdirs import user_cache_path

    return user_cache_path("seal", appauthor=False)
