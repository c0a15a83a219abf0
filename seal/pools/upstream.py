"""Upstream files: pools imported from those under SEAL_DATA, once, and recorded verdicts."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from seal.core import DataError, UsageError
from seal.core.canonical import digest
from seal.core.folders import cache_folder
from seal.pools.benchmark import loaded
from seal.pools.catalogue import by_any_name
from seal.pools.importer import REGISTRY
from seal.pools.imports import import_benchmark
from seal.pools.lookup import installed_benchmarks, known_benchmark
from seal.pools.pool import StoredPool, load_pool


def pool_names() -> list[str]:
    """Return the names that `open_pool` knows, whether or not their files are here."""
    imported = [name for name, entry in by_any_name().items() if entry.importer]
    return sorted({*imported, *REGISTRY.names()})


def imported_pool(name: str) -> StoredPool:
    """Return the pool of a known name, imported where that was not done.

    Raises:
        UsageError: Its files are not here; names the import command.
    """
    importer, options = _importer(name)
    source = source_folder(name)
    if source is None:
        folder = _folders(name)[0]
        raise UsageError(
            f"no files of {name!r}: set SEAL_DATA to the folder that holds {folder}/, or import "
            f"them: seal import {importer} SOURCE --out POOL, then seal run POOL"
        )
    return load_pool(_imported(name, importer, source, options))


def source_folder(name: str) -> Path | None:
    """Return the folder under SEAL_DATA that holds a benchmark's files; None: there is none."""
    data = os.environ.get("SEAL_DATA")
    found = (Path(data) / folder for folder in _folders(name)) if data else ()
    return next((folder for folder in found if folder.is_dir()), None)


def _folders(name: str) -> list[str]:
    entry = by_any_name().get(name)
    return [folder for folder in (entry.folder if entry else None, name) if folder]


def _importer(name: str) -> tuple[str, dict[str, Any]]:
    entry = by_any_name().get(name)
    return (entry.importer, entry.options) if entry and entry.importer else (name, {})


def _imported(name: str, importer: str, source: Path, options: dict[str, Any]) -> Path:
    entry = by_any_name().get(name)
    folders = [source, *(source.parent / beside for beside in (entry.beside if entry else ()))]
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    state = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in files]
    identity = digest([state, importer, options, _code_of_importers()])
    out = cache_folder() / "pools" / f"{name}-{identity[:16]}"
    if not (out / "import.json").is_file():
        import_benchmark(importer, source, out, **options)
    return out


def _code_of_importers() -> str:
    """Return the digest of the modules that import: a changed one makes its pools anew.

    The tools of worlds are made from their functions, so these count too.
    """
    here = Path(__file__).parents[1]
    folders = (here / "benchmarks", here / "environments", here / "pools")
    modules = sorted(module for folder in folders for module in folder.rglob("*.py"))
    return digest([hashlib.sha256(module.read_bytes()).hexdigest() for module in modules])


def reader_of(what: Literal["verdicts", "preferences"], benchmark: str) -> Callable[[Path], Any]:
    """Return what reads recorded files: the benchmark's own reader, else the first that can.

    Args:
        what: What the files hold.
        benchmark: That was played.

    Raises:
        UsageError: No installed benchmark has recorded files.
    """
    own = getattr(known_benchmark(benchmark), what, None)
    others = (getattr(one, what) for one in installed_benchmarks().sound.values())
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
