"""Benchmarks and pools by name; those under SEAL_DATA are imported when they must be."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from seal.core import DataError, Task, UnknownNameError, UsageError, check_name, shortened
from seal.core.files import check_path, content_of
from seal.core.registry import load_dotted, warn_once
from seal.environments import REGISTRY as WORLDS
from seal.pools.benchmark import FUNCTION, Benchmark, Code, OwnTool
from seal.pools.importer import REGISTRY, TOOLS, WorldFile
from seal.pools.pool import StoredPool, load_pool

# -- Benchmarks and pools by name.
#
# There are installed and registered benchmarks, pools that ship, folders that were imported,
# upstream files under SEAL_DATA, and what a user hands over.


def open_pool(what: str | Path | Benchmark) -> StoredPool:
    """Return the pool that a benchmark, a path, a name or a dotted path stands for.

    A name that does not ship is looked for under SEAL_DATA, in the folder that the catalogue gives
    it or in one of its own name; upstream files there are imported into the cache folder once, and
    again when they, or our importers, change. A run's folder of a benchmark's name is no pool: the
    name stands for the benchmark. A module of the current folder, such as shop.py, stands for the
    one benchmark that it makes by name.

    Raises:
        UnknownNameError: Nothing of that name; lists what there is.
        UsageError: A known benchmark whose files are not here; names the import command. Or a text
            that can be no path.
        DataError: The folder is no pool.
    """
    if isinstance(what, Benchmark):
        return what.pool()
    check_path("pool", what)
    name, folder = str(what), Path(what)
    known = known_benchmark(name)
    if (folder / TOOLS).is_file() and not (known and (folder / "run.json").is_file()):
        return _stored(folder)
    if known is not None and known.is_complete:
        return known.pool()

    from seal.pools.catalogue import pool_names

    if folder.is_dir() and name not in pool_names():
        return _stored(folder)  # which says what it lacks
    made = _made_in(folder) if folder.suffix == ".py" and folder.is_file() else []
    if len(made) == 1:
        name = made[0]
    if ":" in name:
        found = REGISTRY.resolve(name)
        if not isinstance(found, Benchmark):
            raise UsageError(f"{name!r} is {shortened(found)}; expected a seal.Benchmark")
        return found.pool()
    if folder.is_file():
        named = f", or name a benchmark that it makes: {' or '.join(made) or folder.stem + ':NAME'}"
        raise DataError(
            f"{folder} is a file, and a pool is a folder; make one of your own files: "
            "seal new NAME --tools FILE --tasks FILE --out POOL" + named * (folder.suffix == ".py")
        )
    if Path(f"{name}.py").is_file():
        cure = f"{name}.py is a module: name a benchmark that it makes, as {name}:NAME."
        raise UnknownNameError("pool or folder", name, (), cure=cure)
    check_name("pool or folder", name, pool_names())
    from seal.pools.catalogue import imported_pool

    return _stored(imported_pool(name).folder)  # a second name has the parts of the first


def _made_in(module: Path) -> list[str]:
    """Return the dotted paths of the benchmarks that a module of this folder makes by name."""
    try:
        lines = ast.parse(content_of(module)).body if module.parent == Path() else []
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [
        f"{module.stem}:{target.id}"
        for line in lines
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Call)
        if ast.unparse(line.value.func).rpartition(".")[2] == Benchmark.__name__
        for target in line.targets
        if isinstance(target, ast.Name)
    ]


def _stored(folder: Path) -> StoredPool:
    pool = load_pool(folder)
    return StoredPool(pool.folder, benchmark=known_benchmark(pool.made_of))


def with_functions(pool: StoredPool, allow_code: Collection[str]) -> StoredPool:
    """Return a pool whose calls go to the functions that its tools name, where they are allowed.

    Args:
        pool: A folder's; one that has functions already stays as it is.
        allow_code: Modules that the user allows; of each, its own functions alone.

    Raises:
        UsageError: An allowed function is not there, or takes other arguments.
    """
    if not allow_code or (pool.benchmark is not None and pool.benchmark.functions):
        return pool
    named = [str(tool.source.get(FUNCTION, "")).split(":") for tool in pool.tools()]
    found = [
        (module, load_dotted(f"{module}:{name}"))
        for module, *names in named
        if module in allow_code and len(names) == 1 and (name := names[0]).isidentifier()
    ]
    functions = [each for module, each in found if getattr(each, "__module__", "") == module]
    if not functions:
        return pool
    return StoredPool(pool.folder, benchmark=Benchmark.load(pool.folder, tools=functions))


def is_shipped(name: str) -> bool:
    """Tell whether a benchmark's tools and tasks come with the distribution that offers it."""
    known = known_benchmark(name)
    return known is not None and known.is_complete


Bench: TypeAlias = str | Path | Benchmark
"""A name, a pool folder, or a benchmark; verbs also take tasks as a list (`bench_of`)."""


def known_benchmark(name: str) -> Benchmark | None:
    """Return the installed or registered benchmark of a name; None: there is none.

    Raises:
        UsageError: Its code fails to import, is no benchmark, or one of another name; or it is
            gone.
    """
    refuse_former(name)
    if name not in REGISTRY:
        return None
    found = REGISTRY.resolve(name)
    if isinstance(found, Benchmark):
        if found.name != name:
            raise UsageError(
                f"the benchmark {name!r} of {REGISTRY.offered_by(name)} is named {found.name!r}; "
                "give the entry point and the seal.Benchmark one name"
            )
        return found
    if callable(found):
        return Benchmark(name, importer=found)
    raise UsageError(
        f"the benchmark {name!r} is {shortened(found)}; expected a seal.Benchmark, or an importer, "
        f"from {REGISTRY.offered_by(name)}"
    )


_FORMER = {"multiwoz": "`seal import dialogtool` has dialogues of the same kind"}
"""Former benchmark to what replaces it."""


def refuse_former(name: str) -> None:
    """Refuse a benchmark that is gone.

    Raises:
        UsageError: It is; the text says what replaces it.
    """
    if name in _FORMER and name not in REGISTRY:
        raise UsageError(f"the benchmark {name} is gone: {_FORMER[name]}")


def sound_benchmark(name: str) -> Benchmark | None:
    """Return the known benchmark of a name, for readers of what was played.

    None: there is none; of one that cannot be had, a warning says why.
    """
    try:
        return known_benchmark(name)
    except UsageError as error:
        warn_once(f"{error}; until then, what was played is read by what its folder says")
        return None


def environments_beside(benchmark: Benchmark | None) -> Callable[[str], Any]:
    """Return what finds the environment of the benchmark by whose name a task calls its world.

    Args:
        benchmark: What is played; of other names it is an installed or registered one, so that
            pools that were made of a benchmark are played as well.
    """

    def found(name: str) -> Any:
        own = {} if benchmark is None else benchmark.worlds()
        if name in own or name in WORLDS:
            return own.get(name)
        known = known_benchmark(name)
        return None if known is None else known.worlds().get(name)

    return found


class Installed(NamedTuple):
    """The installed and registered benchmarks."""

    sound: dict[str, Benchmark]
    """By name."""
    broken: dict[str, str]
    """Name to why its benchmark cannot be had, and what to do about it."""


def installed_benchmarks() -> Installed:
    """Return all installed and registered benchmarks: a broken one stops none of the others."""
    found = Installed({}, {})
    for name in REGISTRY.names():
        try:
            known = known_benchmark(name)
        except UsageError as error:
            found.broken[name] = str(error)
        else:
            found.sound.update({name: known} if known else {})
    return found


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
    return declared("answers")


def declared(
    part: Literal["answers", "augmentations", "exports", "generators"],
) -> dict[str, Any]:
    """Return what installed benchmarks declare by name in a part."""
    found = installed_benchmarks().sound.values()
    return {name: code for one in found for name, code in getattr(one, part).items()}


def world_files() -> set[str]:
    """Return the names of the files that worlds of installed benchmarks read in pool folders."""
    return {name for one in installed_benchmarks().sound.values() for name in one.world_files}


def world_files_of(folder: Path) -> Iterator[WorldFile]:
    """Yield the files of its worlds that a pool folder holds."""
    for name in sorted(world_files()):
        if (folder / name).is_file():
            yield WorldFile(name, content_of(folder / name))
