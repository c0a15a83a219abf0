"""Pools by name: what ships, folders that were imported, and upstream files under SEAL_DATA."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from seal.benchmarks import REGISTRY, import_benchmark, sample
from seal.benchmarks.importer import TOOLS
from seal.benchmarks.pool import StoredPool, load_pool
from seal.core.canonical import digest
from seal.core.errors import UnknownNameError, UsageError
from seal.pipeline.places import cache_folder

SHIPPED: dict[str, Callable[[], Path]] = {"sample": sample.folder}
"""Name to the folder of a benchmark that ships."""


def open_pool(what: str | Path) -> StoredPool:
    """Return the pool that a path or name stands for.

    A name that does not ship is looked for under SEAL_DATA; upstream files there are imported into
    the cache folder once, and again when they change.

    Raises:
        UnknownNameError: Nothing of that name; lists what there is.
        UsageError: A known benchmark whose files are not here; names the import command.
        DataError: The folder is no pool.
    """
    name = str(what)
    known = name in SHIPPED or name in REGISTRY.names()
    if Path(what).is_dir() and not (known and not (Path(what) / TOOLS).is_file()):
        return load_pool(Path(what))
    if name in SHIPPED:
        return load_pool(SHIPPED[name]())
    if not known:
        raise UnknownNameError("pool or folder", name, [*SHIPPED, *REGISTRY.names()])
    data = os.environ.get("SEAL_DATA")
    source = Path(data or "") / name
    if not data or not source.is_dir():
        raise UsageError(
            f"no files of {name!r}: set SEAL_DATA to the folder that holds {name}/, or import "
            f"them: seal import {name} SOURCE --out POOL, then seal run POOL"
        )
    return load_pool(_imported(name, source))


def _imported(name: str, source: Path) -> Path:
    files = sorted(path for path in source.rglob("*") if path.is_file())
    state = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    out = cache_folder() / "pools" / f"{name}-{digest(state)[:16]}"
    if not (out / "import.json").is_file():
        import_benchmark(name, source, out)
    return out
