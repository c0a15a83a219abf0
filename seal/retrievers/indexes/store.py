"""Indexes on disk, each under the digest of what shaped it.

A file is one line of JSON (format, key, count), the index, and the SHA-256 of all before as 64
hexadecimal digits. It is written under a lock by one process while the others wait, and appears
whole or not at all. Neither writing nor reading holds a second copy of the vectors.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from seal.core.canonical import canonical_json, digest
from seal.core.errors import DataError
from seal.core.records import AtomicFile
from seal.retrievers.indexes.kinds import IndexKind
from seal.retrievers.indexes.vector_index import VectorIndex

FORMAT = "seal-index/2"

_DIGEST = 64
"""Bytes of the digest at the end."""
_PIECE = 1 << 20
"""Bytes that are read at once."""

_log = logging.getLogger(__name__)


def digest_of_each(items: Iterable[Any]) -> str:
    """Return the SHA-256 of JSON values in their order; one of them is held at a time."""
    total = hashlib.sha256()
    for item in items:
        total.update(canonical_json(item) + b"\n")
    return total.hexdigest()


def kept_index(
    folder: Path, identity: Any, count: int, kind: IndexKind, build: Callable[[], VectorIndex]
) -> VectorIndex:
    """Return the index kept under an identity; build and keep it where there is none.

    A file that is damaged, or was made for another identity, is built again and replaced.

    Args:
        folder: Where indexes are kept; made where it is missing.
        identity: JSON value of everything that shapes the index.
        count: Number of vectors that the index must have.
        kind: Of the index.
        build: Makes the index. What it raises leaves nothing on disk.
    """
    key = digest(identity)
    path = folder / f"{key}.index"
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(path.with_suffix(".lock")):
        if path.is_file():
            try:
                return read_index(path, key, count, kind)
            except DataError as error:
                _log.warning("%s; it is built again", error)
        index = build()
        write_index(path, key, index)
        return index


def write_index(path: Path, key: str, index: VectorIndex) -> None:
    """Write an index with the key of what shaped it."""
    head = {"format": FORMAT, "key": key, "count": index.count}
    with AtomicFile(path) as file:
        digested = _Digested(file)
        digested.write(orjson.dumps(head) + b"\n")
        index.write(digested)
        file.write(digested.total.hexdigest().encode())


def read_index(path: Path, key: str, count: int, kind: IndexKind) -> VectorIndex:
    """Return the index of a file.

    Raises:
        DataError: The file is damaged, or holds the index of other tools, of another embedder or of
            another kind.
    """
    with path.open("rb") as file:
        head = _head(file.readline(_PIECE))
        start = file.tell()
        if head.get("format") != FORMAT:
            raise DataError(f"index {path} does not start with a line of {FORMAT}")
        if (head.get("key"), head.get("count")) != (key, count):
            raise DataError(
                f"index {path} was made for other tools, another template, another embedder or "
                "another kind of index"
            )
        if not _sound(file, path.stat().st_size - _DIGEST):
            raise DataError(f"index {path} is damaged: its bytes do not have the digest at its end")
        file.seek(start)
        index = VectorIndex.read(file, kind)
    if index.count != count:
        raise DataError(f"index {path} holds {index.count} vectors, expected {count}")
    return index


class _Digested:
    """A file that computes the SHA-256 of what is written to it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.total = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Write bytes and return their number."""
        self.total.update(data)
        return self._file.write(data)


def _head(line: bytes) -> dict[str, Any]:
    """Return the first line's map; an empty one where it is none."""
    try:
        head = orjson.loads(line)
    except orjson.JSONDecodeError:
        return {}
    return head if isinstance(head, dict) else {}


def _sound(file: BinaryIO, size: int) -> bool:
    """Tell whether the first `size` bytes have the digest that follows them."""
    total = hashlib.sha256()
    file.seek(0)
    left = size
    while left > 0 and (piece := file.read(min(left, _PIECE))):
        total.update(piece)
        left -= len(piece)
    return file.read(_DIGEST) == total.hexdigest().encode()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other processes and threads out; the lock ends with the process that holds it."""
    try:
        import fcntl
    except ImportError:  # no such locks on Windows: two may build the same index, one file stays
        yield
        return
    with path.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
