"""Folders and files written whole or not at all: paths, parts, locks, `AtomicFile`."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import stat
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from io import BufferedReader
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seal.core.errors import DataError, UsageError, shortened

if TYPE_CHECKING:
    from gzip import GzipFile

# -- Folders: who writes into one, and where caches are kept.

LOCK = ".lock"
"""Name of the file that says who writes into a folder."""


_LONGEST = 255
"""Bytes of the name of a file or folder, of any file system in use."""
_LONGEST_PATH = 4_095 - 2 * _LONGEST
"""Bytes of a path in which there is room for files and their parts."""


def check_path(name: str, path: str | PathLike[str]) -> None:
    """Make sure that a path can be one.

    Args:
        name: What it was given as, for messages.
        path: Need not be there.

    Raises:
        UsageError: It is empty, begins with `~`, or has characters or a length that no file system
            takes. Or it lies in what is no folder, or is a link to nothing.
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
    elif len(os.fsencode(Path(text).absolute())) > _LONGEST_PATH:
        fault = f"with its folders it has more than {_LONGEST_PATH:,} bytes; shorten it"
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


_PART = re.compile(r"\.(.+?)\.(\d+)(?:-\d+)?\.(?:part|old)")
"""Name of what is being written, which takes its own name in the end, or gives way to it."""


def part_of(path: Path) -> Path:
    """Return where this thread writes what takes the place of `path` when it is whole.

    What processes left there that were killed is removed.
    """
    for other in path.parent.iterdir() if path.parent.is_dir() else ():
        found = _PART.fullmatch(other.name)
        if found and found[1] == path.name and _is_abandoned(other, int(found[2])):
            remove(other)
    return path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.part")


def whole_name(name: str) -> str:
    """Return the name that a file or folder takes when it is whole; its own where it is."""
    found = _PART.fullmatch(name)
    return found[1] if found else name


def remove(path: Path) -> None:
    """Remove a file, or a folder with all that it holds; it need not be there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def in_work(part: Path) -> Iterator[None]:
    """Show other processes, also those of other machines, that a file or folder is written to."""
    descriptor = os.open(part, os.O_RDONLY)
    try:
        with suppress(OSError):  # the file system has no locks; its files are never abandoned
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _is_abandoned(part: Path, process: int) -> bool:
    """Tell whether whoever wrote this is gone."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return not _is_locked(part)  # by another machine or container, which has its own numbers
    except PermissionError:  # it is another user's
        pass
    return False


_OF_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Let an error of writing, such as that of a full disk, name the file as one of opening does.

    Raises:
        OSError: The block's own, with the path.
    """
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in _OF_WRITING:
            error.filename = str(path)
        raise


class Lock:
    """The right to write into a folder; held by one process at a time, freed when it dies.

    Raises:
        UsageError: Another process holds it.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK

    def __enter__(self) -> Lock:
        """Take the lock."""
        if self._path.exists() and not self._path.is_file():
            raise UsageError(f"{_no_plain(self._path)}; remove it")
        self._file = self._path.open("a+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.seek(0)
            owner = self._file.read().strip() or "unknown"
            self._file.close()
            who = "this" if owner == str(os.getpid()) else "another"
            raise UsageError(
                f"{who} process (pid {owner}) is writing into {self._path.parent}; "
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
    return _is_locked(folder / LOCK)


def _is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def cache_folder(given: str | Path | None = None) -> Path:
    """Return the cache folder: the given one, else SEAL_CACHE_DIR, else the user's own.

    Raises:
        UsageError: There is none of them, as where a container's user has no home.
    """
    if given is not None:
        return Path(given)
    named = os.environ.get("SEAL_CACHE_DIR")
    if named:
        return Path(named)
    from platformdirs import user_cache_path

    try:
        return user_cache_path("seal", appauthor=False)
    except RuntimeError as error:
        raise UsageError(f"no cache folder: {error}; or set SEAL_CACHE_DIR") from error


# -- Files opened for reading: a pipe's writer is never waited for, a device has no end.

_KINDS = {
    stat.S_ISREG: "a file",
    stat.S_ISFIFO: "a pipe",
    stat.S_ISCHR: "a device",
    stat.S_ISBLK: "a device",
    stat.S_ISSOCK: "a socket",
    stat.S_ISDIR: "a folder",
}


def opened(path: Path) -> BufferedReader:
    """Open a file of a user or of a run for reading, at once.

    Raises:
        OSError: It cannot be opened, or is no plain file; `strerror` says what it is.
    """
    # A path's own `open` has no opener.
    file = open(path, "rb", opener=_at_once)  # noqa: SIM115
    mode = os.fstat(file.fileno()).st_mode
    if stat.S_ISREG(mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, f"it is {_kind(mode)}, and no file", str(path))


def _at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # else a pipe waits for its writer


def content_of(path: Path) -> bytes:
    """Return the bytes of a file (`opened`)."""
    with opened(path) as file:
        return file.read()


def no_file(path: Path) -> str:
    """Return in words that there is no file at a path, or what stands there."""
    if not path.exists():
        return f"no file {path}"
    return f"{_no_plain(path)}; put the file in its place"


def _no_plain(path: Path) -> str:
    return f"{path} is {kind_of(path)}, and no file"


def kind_of(path: Path) -> str:
    """Return in words what stands at a path, such as `a pipe`."""
    if path.is_symlink() and not path.exists():
        return "a link that leads nowhere"
    return _kind(path.stat().st_mode)


def _kind(mode: int) -> str:
    return next((name for is_one, name in _KINDS.items() if is_one(mode)), "no file")


# -- Lines of files that may be packed with gzip, unpacked as far as can be trusted.
#
# A few kB can unpack to GB, and a line of a few MB of JSON can become GB in memory. So what comes
# of a file is bounded by its own size, and each line of it alone.

PACKED = ".gz"
RATIO = 100
"""Bytes that one packed byte may become; JSON of benchmarks becomes 50, nothing but zeros 1,032."""
SMALL = 2**26
"""Unpacked bytes that any file may have."""
_LARGEST = 2**30
"""Unpacked bytes that no file may pass."""
_LINE = 2**24
"""Unpacked bytes that no line may pass."""


def lines_of(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file; one that is named `*.gz` is unpacked on the way.

    Raises:
        DataError: It is no whole gzip file, or unpacks to too much.
    """
    if path.suffix != PACKED:
        with opened(path) as lines:
            yield from lines
        return
    import gzip
    from zlib import error as damage

    size = path.stat().st_size
    try:
        with opened(path) as packed, closing(gzip.GzipFile(fileobj=packed)) as file:
            yield from _bounded(file, path, size)
    except (EOFError, gzip.BadGzipFile, damage) as error:
        raise DataError(f"{path}: no whole gzip file: {error}; fetch it again") from error


def _bounded(file: GzipFile, path: Path, size: int) -> Iterator[bytes]:
    limit = min(_LARGEST, max(SMALL, RATIO * size))
    total = number = 0
    while line := file.readline(_LINE + 1):
        total += len(line)
        number += 1
        if len(line) > _LINE:
            raise _too_large(f"{path}, line {number}: it unpacks to more than {_LINE} bytes")
        if total > limit:
            raise _too_large(f"{path}: {size} bytes unpack to more than {limit}")
        yield line


def _too_large(fault: str) -> DataError:
    return DataError(
        f"{fault}; if you trust the file, unpack it with gunzip and name what comes of it"
    )


# -- Files written whole or not at all, and files that get lines at their end.


class AtomicFile:
    """A binary file that replaces `path` when the block ends well, and vanishes when not.

    Until then, whatever happens, the file under `path` is the old one. Of several writers at once,
    in threads or processes, each writes its own whole file, and the last to end wins. A device or
    a pipe is no file to replace: it is a `UsageError`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Any:
        self._writing = self._written()
        return self._writing.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._writing.__exit__(*error)

    @contextmanager
    def _written(self) -> Iterator[Any]:
        if self.path.exists() and not (self.path.is_file() or self.path.is_dir()):
            raise UsageError(f"{self.path} is a device or a pipe; give the path of a file")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = part_of(self.path)
        try:
            with naming(self.path):
                with part.open("wb") as file, in_work(part):
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                part.replace(self.path)
        finally:
            part.unlink(missing_ok=True)


def append_line(file: Any, line: bytes) -> None:
    """Append a line to an open binary file; it is in the file when this returns.

    Raises:
        OSError: It cannot be written; names the file.
    """
    with naming(file.name):
        file.write(line)
        file.flush()


def close_file(file: Any) -> None:
    """Close a file that was written to.

    Raises:
        OSError: What is left cannot be written; names the file.
    """
    with naming(file.name):
        file.close()


def repair_tail(path: Path) -> int:
    """Cut a torn last line off a file that is appended to. Returns the number of bytes cut.

    A line is torn where its newline is missing: the writer was killed in the middle of it.
    """
    if not path.is_file():
        return 0
    size = path.stat().st_size
    with path.open("rb+") as file:
        end = size
        while end > 0:
            start = max(0, end - 65536)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            file.truncate(end)
    return size - end
