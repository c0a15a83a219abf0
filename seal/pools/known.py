"""Benchmarks by name: installed ones, registered ones, and what a user hands over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from seal.core.errors import SealError, UsageError, shortened
from seal.core.types import Task
from seal.pools.benchmark import Benchmark, Code, loaded
from seal.pools.importer import REGISTRY
from seal.pools.own_tools import OwnTool

Bench: TypeAlias = str | Path | Benchmark
"""What every verb takes: a name, a pool folder, or a benchmark."""


def known_benchmark(name: str) -> Benchmark | None:
    """Return the installed or registered benchmark of a name; None: there is none.

    Raises:
        UsageError: Its code fails to import, or is no benchmark.
    """
    if name not in REGISTRY:
        return None
    try:
        found = REGISTRY.resolve(name)
    except SealError:
        raise
    except Exception as error:  # whatever a stranger's module raises
        raise UsageError(
            f"the benchmark {name!r} fails to import: {type(error).__name__}: {error}; "
            "mend or uninstall the distribution that offers it"
        ) from error
    if isinstance(found, Benchmark):
        return found
    if callable(found):
        return Benchmark(name, importer=found)
    raise UsageError(
        f"the benchmark {name!r} is {shortened(found)}; expected a seal.Benchmark, or an importer"
    )


def benchmark_of(tasks: Sequence[Task], tools: Sequence[OwnTool]) -> Benchmark:
    """Return a benchmark of tasks that are given with their tools alone.

    Raises:
        UsageError: There is none of either, or a part that cannot be.
    """
    if not tasks or not tools:
        missing = "tools" if tasks else "task"
        raise UsageError(f"no {missing}: give tasks as a list, and their tools as tools=[...]")
    return Benchmark("tasks", tools=tools, tasks=tasks)


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
