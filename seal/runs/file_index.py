"""What a large file of a run is known to hold, kept beside it so that a resumed run need not read.

The index of `trajectories.jsonl` is `trajectories.index`. It covers the lines that the file had
when it was written; later lines are read. One that is damaged, or of a file that was replaced, cut
or ends otherwise, counts as none. A file of less than 4 MB has none.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import orjson

from seal.core.records import AtomicFile

OFTEN = 5_000
"""Lines after which an index is written anew, so that a killed run reads few again."""
_LARGE = 4 << 20
_TAIL = 4096
"""Bytes at the end of what is covered by which the file is known again."""


@dataclass(frozen=True, slots=True)
class FileIndex:
    """What the first lines of a file hold."""

    size: int
    """Bytes of these lines."""
    lines: int
    known: dict[str, Any]
    """JSON values that the reader of the file understands."""


NOTHING = FileIndex(0, 0, {})


def read_index(path: Path) -> FileIndex:
    """Return what is known of a file; `NOTHING` where it has no index, or not of its own."""
    try:
        head, body = _place(path).read_bytes().split(b"\n", 1)
        told = orjson.loads(head)
        size = int(told["size"])
        if _digest(body) == told["body"] and _end_of(path, size) == told["end"]:
            return FileIndex(size, int(told["lines"]), dict(orjson.loads(body)))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return NOTHING


def write_index(path: Path, index: FileIndex) -> None:
    """Keep what is known of a file, where it is large."""
    if index.size < _LARGE:
        return
    body = orjson.dumps(index.known)
    told = {"size": index.size, "lines": index.lines, "body": _digest(body)}
    with AtomicFile(_place(path)) as out:
        out.write(orjson.dumps({**told, "end": _end_of(path, index.size)}) + b"\n" + body)


def forget(path: Path) -> None:
    """Remove the index of a file that is to be replaced."""
    _place(path).unlink(missing_ok=True)


def _place(path: Path) -> Path:
    return path.with_suffix(".index")


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def _end_of(path: Path, size: int) -> str:
    """Return the digest of the last bytes of the first `size` ones; empty where it is shorter."""
    start = max(0, size - _TAIL)
    with path.open("rb") as file:
        file.seek(start)
        end = file.read(size - start)
    return _digest(end) if len(end) == size - start else ""
