"""What retrievers keep on disk: files of one key, made by one process, whole or not at all.

A file is named by the digest of what shaped it. It is one line of JSON, its content, and the
SHA-256 of all before as 64 hexadecimal digits.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import logging
import mmap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
import orjson

from seal.core import DataError
from seal.core.files import AtomicFile
from seal.core.values import digest
from seal.retrievers.base import Documents
from seal.retrievers.postings import Arrays

_DIGEST = 64
"""Bytes of the digest at the end."""
_PIECE = 1 << 20
"""Bytes that are read at once."""

_log = logging.getLogger(__name__)

Kept = TypeVar("Kept")


def kept_file(
    path: Path,
    read: Callable[[Path], Kept],
    build: Callable[[], Kept],
    write: Callable[[Path, Kept], None],
) -> Kept:
    """Return what a file holds; build and keep it where there is none.

    A file that is damaged, or was made for something else, is made again and replaced. One process
    makes it under a lock while the others wait. Nothing is kept in a folder that can only be read
    or has no space left; the latter is told.

    Args:
        path: Of the file; its folder is made where it is missing.
        read: Raises `DataError` where the file is no good.
        build: What it raises leaves nothing on disk.
        write: Writes the file.
    """
    with _alone(path) as may_write:
        if path.is_file():
            try:
                return read(path)
            except DataError as error:
                _log.warning("%s; it is built again", error)
        made = build()
        try:
            if may_write:
                write(path, made)
        except OSError as error:  # such as a full disk
            _log.warning("the index is not kept in %s: %s", path.parent, error.strerror)
        return made


@contextmanager
def _alone(path: Path) -> Iterator[bool]:
    """Let one process at a time make a file; yield whether it can be written at all."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = path.with_suffix(".lock").open("ab")
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        yield False
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # it ends with the process that holds it
        yield True


def write_signed(path: Path, write: Callable[[Callable[[Any], int]], None]) -> None:
    """Write a file, and behind it the digest of its bytes.

    Args:
        path: Of the file.
        write: Is given what writes bytes.
    """
    total = hashlib.sha256()
    with AtomicFile(path) as file:

        def signed(data: Any) -> int:
            total.update(data)
            file.write(data)
            return len(data)

        write(signed)
        file.write(total.hexdigest().encode())


@contextmanager
def opened_signed(path: Path) -> Iterator[tuple[bytes, BinaryIO]]:
    """Yield the first line of a file, and the file behind that line.

    Raises:
        DataError: The file does not end in the digest of its bytes.
    """
    with path.open("rb") as file:
        if not _sound(file, path.stat().st_size - _DIGEST):
            raise DataError(f"index {path} is damaged: its bytes do not have the digest at its end")
        file.seek(0)
        yield file.readline(_PIECE), file


def _sound(file: BinaryIO, size: int) -> bool:
    """Tell whether the first `size` bytes have the digest that follows them."""
    total = hashlib.sha256()
    left = size
    while left > 0 and (piece := file.read(min(left, _PIECE))):
        total.update(piece)
        left -= len(piece)
    return file.read(_DIGEST) == total.hexdigest().encode()


# -- Arrays: opened where they lie, by whatever process asks.

ARRAYS = "seal-arrays/1"
_LEAST = 5_000
"""Tools from which on arrays are kept; those of fewer are built as fast as they are read."""
_BATCH = 1_000
"""Texts that are joined at once."""
_AT = 64
"""Arrays begin at multiples of so many bytes."""


def kept_arrays(
    folder: Path | None,
    identity: Sequence[str],
    documents: Documents,
    build: Callable[[], Arrays],
) -> Arrays:
    """Return arrays that are kept for some texts; build and keep them where there are none.

    Args:
        folder: Where they are kept; None: nowhere.
        identity: Of what shapes them besides the texts.
        documents: The texts.
        build: Makes the arrays, each of one dimension.
    """
    if folder is None or len(documents.ids) < _LEAST:
        return build()
    key = digest([ARRAYS, *identity, digest_of(documents)])
    return kept_under(folder / f"{key}.arrays", key, build)


def kept_under(path: Path, key: str, build: Callable[[], Arrays]) -> Arrays:
    """Return the arrays that a file keeps under a key; build and keep them where there are none."""
    return kept_file(
        path,
        lambda path: read_arrays(path, key),
        build,
        lambda path, arrays: write_arrays(path, key, arrays),
    )


def digest_of(documents: Documents) -> str:
    """Return the SHA-256 of texts and their ids, or of what they are known to be made of."""
    made_of = documents.made_of or [_digest_of(documents.ids), _digest_of(documents.texts)]
    return digest(list(made_of))


def _digest_of(texts: Sequence[str]) -> str:
    """Return the SHA-256 of texts: five times as fast as that of canonical JSON."""
    total = hashlib.sha256()
    for start in range(0, len(texts), _BATCH):
        batch = "\0".join(texts[start : start + _BATCH])
        lengths = [len(text) for text in texts[start : start + _BATCH]]
        total.update(orjson.dumps(lengths) + batch.encode("utf-8", "surrogatepass"))
    return total.hexdigest()


def write_arrays(path: Path, key: str, arrays: Arrays) -> None:
    """Write arrays with the key of what shaped them."""
    listed = [[name, array.dtype.str, len(array)] for name, array in arrays.items()]
    head = orjson.dumps({"format": ARRAYS, "key": key, "arrays": listed}) + b"\n"

    def write(signed: Callable[[Any], int]) -> None:
        signed(head)
        place = len(head)
        for array in arrays.values():
            place += signed(bytes(-place % _AT))
            place += signed(np.ascontiguousarray(array).view(np.uint8).data)

    write_signed(path, write)


def read_arrays(path: Path, key: str) -> Arrays:
    """Return the arrays of a file, which cannot be written to.

    Raises:
        DataError: The file is damaged, or holds something else.
    """
    with opened_signed(path) as (line, file):
        try:
            head = orjson.loads(line)
            if (head["format"], head["key"]) != (ARRAYS, key):
                raise DataError(
                    f"index {path} was made by another version or for other tools, another "
                    "template or another embedder"
                )
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            place, arrays = len(line), {}
            for name, kind, count in head["arrays"]:
                place += -place % _AT
                arrays[name] = np.frombuffer(content, np.dtype(kind), count, place)
                place += arrays[name].nbytes
            return arrays
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(f"index {path} does not start with a line of {ARRAYS}") from error
