"""Files of verdicts and preferences that the authors of a benchmark recorded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from seal.core import DataError, UsageError
from seal.pools.benchmark import loaded
from seal.pools.importer import REGISTRY
from seal.pools.lookup import known_benchmark


def reader_of(what: Literal["verdicts", "preferences"], benchmark: str) -> Callable[[Path], Any]:
    """Return what reads recorded files: the benchmark's own reader, else the first that can.

    Args:
        what: What the files hold.
        benchmark: That was played.

    Raises:
        UsageError: No installed benchmark has recorded files.
    """
    own = getattr(known_benchmark(benchmark), what, None)
    others = (getattr(known_benchmark(name), what, None) for name in REGISTRY.names())
    readers = [own] if own is not None else [one for one in others if one is not None]
    if not readers:
        raise UsageError(f"no installed benchmark reads recorded {what}; leave the file out")

    def read(path: Path) -> Any:
        if not path.exists():
            raise DataError(f"{path}: there is no such file or folder; give the recorded {what}")
        faults = []
        for reader in readers:
            try:
                return loaded(reader)(path)
            except DataError as error:
                faults.append(str(error))
        raise DataError("; ".join(faults))

    return read
