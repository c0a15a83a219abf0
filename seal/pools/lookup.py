"""Benchmarks and pools by name.

There are installed and registered benchmarks, pools that ship, folders that were imported, upstream
files under SEAL_DATA, and what a user hands over.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from seal.core.canonical import digest
from seal.core.errors import UsageError, check_name, shortened
from seal.core.folders import cache_folder
from seal.core.types import Task
from seal.pools.benchmark import Benchmark, Code, loaded
from seal.pools.catalogue import by_any_name
from seal.pools.importer import REGISTRY, TOOLS, import_benchmark
from seal.pools.own_parts import OwnTool
from seal.pools.pool import StoredPool, load_pool


def open_pool(what: str | Path | Benchmark) -> StoredPool:
    """Return the pool that a benchmark, a path or a name stands for.

    A name that does not ship is looked for under SEAL_DATA, in the folder that the catalogue gives
    it or in one of its own name; upstream files there are imported into the cache folder once, and
    again when they, or our importers, change.

    Raises:
        UnknownNameError: Nothing of that name; lists what there is.
        UsageError: A known benchmark whose files are not here; names the import command.
        DataError: The folder is no pool.
    """
    if isinstance(what, Benchmark):
        return what.pool()
    name = str(what)
    names = pool_names()
    if Path(what).is_dir() and not (name in names and not (Path(what) / TOOLS).is_file()):
        pool = load_pool(Path(what))
        return StoredPool(pool.folder, benchmark=known_benchmark(pool.name))
    check_name("pool or folder", name, names)
    known = known_benchmark(name)
    if known is not None and known.is_complete:
        return known.pool()
    importer, options = _importer(name)
    source = source_folder(name)
    if source is None:
        folder = _folders(name)[0]
        raise UsageError(
            f"no files of {name!r}: set SEAL_DATA to the folder that holds {folder}/, or import "
            f"them: seal import {importer} SOURCE --out POOL, then seal run POOL"
        )
    pool = load_pool(_imported(name, importer, source, options))
    return StoredPool(pool.folder, benchmark=known)


def pool_names() -> list[str]:
    """Return the names that `open_pool` knows, whether or not their files are here."""
    imported = [name for name, entry in by_any_name().items() if entry.importer]
    return sorted({*imported, *REGISTRY.names()})


def is_shipped(name: str) -> bool:
    """Tell whether a benchmark's tools and tasks come with the distribution that offers it."""
    known = known_benchmark(name)
    return known is not None and known.is_complete


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


Bench: TypeAlias = str | Path | Benchmark
"""A name, a pool folder, or a benchmark; verbs also take tasks as a list (`bench_of`)."""


def known_benchmark(name: str) -> Benchmark | None:
    """Return the installed or registered benchmark of a name; None: there is none.

    Raises:
        UsageError: Its code fails to import, or is no benchmark.
    """
    if name not in REGISTRY:
        return None
    found = REGISTRY.resolve(name)
    if isinstance(found, Benchmark):
        return found
    if callable(found):
        return Benchmark(name, importer=found)
    raise UsageError(
        f"the benchmark {name!r} is {shortened(found)}; expected a seal.Benchmark, or an importer"
    )


def bench_of(bench: Bench | Sequence[Task], tools: Sequence[OwnTool]) -> Bench:
    """Return what a verb was given to play; of a list of tasks and its tools a benchmark.

    Raises:
        UsageError: Tasks without tools, tools beside a whole benchmark, or a part that cannot be.
    """
    if isinstance(bench, str | Path | Benchmark):
        if tools:
            raise UsageError(
                "tools go with a list of tasks; a benchmark has its own: leave them out"
            )
        return bench
    if not bench or not tools:
        missing = "tools" if bench else "task"
        raise UsageError(f"no {missing}: give tasks as a list, and their tools as tools=[...]")
    return Benchmark("tasks", tools=tools, tasks=bench)


def answer_formats() -> dict[str, Code]:
    """Return the formats of kept answers that installed benchmarks read, each with its reader."""
    found = [known_benchmark(name) for name in REGISTRY.names()]
    return {format: read for one in found if one for format, read in one.answers.items()}


def reader_of(what: Literal["verdicts", "preferences"], benchmark: str) -> Callable[[Path], Any]:
    """Return what reads recorded files: the benchmark's own reader, else any installed one's.

    Args:
        what: What the files hold.
        benchmark: That was played.

    Raises:
        UsageError: No installed benchmark has recorded files.
    """
    names = [benchmark, *REGISTRY.names()]
    found = (getattr(known_benchmark(name), what, None) for name in names)
    reader = next((one for one in found if one is not None), None)
    if reader is None:
        raise UsageError(f"no installed benchmark reads recorded {what}; leave the file out")
    read: Callable[[Path], Any] = loaded(reader)
    return read
