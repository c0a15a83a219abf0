"""Lines of files that may be packed with gzip, unpacked as far as can be trusted.

A few kB can unpack to GB, and a line of a few MB of JSON can become GB in memory. So what comes of
a file is bounded by its own size, and each line of it alone.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from seal.core import DataError

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
        with path.open("rb") as lines:
            yield from lines
        return
    size = path.stat().st_size
    try:
        with closing(gzip.open(path)) as file:
            yield from _bounded(file, path, size)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path}: no whole gzip file: {error}; fetch it again") from error


def _bounded(file: gzip.GzipFile, path: Path, size: int) -> Iterator[bytes]:
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
