"""Indexes on disk, each under the digest of what shaped it.

A file is one line of JSON (format, key, SHA-256 of the rest, count) and the index. It is written
under a lock by one process while the others wait, and appears whole or not at all.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from seal.core.canonical import digest
from seal.core.errors import DataError
from seal.core.records import AtomicFile
from seal.retrievers.vector_index import VectorIndex

FORMAT = "seal-index/1"

_log = logging.getLogger(__name__)


def kept_index(
    folder: Path, identity: Any, count: int, build: Callable[[], VectorIndex]
) -> VectorIndex:
    """Return the index kept under an identity; build and keep it where there is none.

    A file that is damaged, or was made for another identity, is built again and replaced.

    Args:
        folder: Where indexes are kept; made where it is missing.
        identity: JSON value of everything that shapes the vectors.
        count: Number of vectors that the index must have.
        build: Makes the index. What it raises leaves nothing on disk.
    """
    key = digest(identity)
    path = folder / f"{key}.index"
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(path.with_suffix(".lock")):
        if path.is_file():
            try:
                return read_index(path, key, count)
            except DataError as error:
                _log.warning("%s; it is built again", error)
        index = build()
        write_index(path, key, index)
        return index


def write_index(path: Path, key: str, index: VectorIndex) -> None:
    """Write an index with the key of what shaped it."""
    body = index.to_bytes()
    head = {
        "format": FORMAT,
        "key": key,
        "sha256": hashlib.sha256(body).hexdigest(),
        "count": index.count,
    }
    with AtomicFile(path) as file:
        file.write(orjson.dumps(head) + b"\n")
        file.write(body)


def read_index(path: Path, key: str, count: int) -> VectorIndex:
    """Return the index of a file.

    Raises:
        DataError: The file is damaged, or holds the index of other tools or of another embedder.
    """
    data = path.read_bytes()
    end = data.find(b"\n")
    try:
        head = orjson.loads(data[: max(end, 0)])
    except orjson.JSONDecodeError:
        head = None
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise DataError(f"index {path} does not start with a line of {FORMAT}")
    if (head.get("key"), head.get("count")) != (key, count):
        raise DataError(
            f"index {path} was made for other tools, another template or another embedder"
        )
    body = memoryview(data)[end + 1 :]
    if hashlib.sha256(body).hexdigest() != head.get("sha256"):
        raise DataError(f"index {path} is damaged: its bytes do not have the digest in its head")
    index = VectorIndex.from_bytes(body)
    if index.count != count:
        raise DataError(f"index {path} holds {index.count} vectors, expected {count}")
    return index


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
