"""Benchmarks by name: installed ones, registered ones, and what a user hands over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from seal.benchmarks.importer import REGISTRY
from seal.core.errors import UsageError, shortened
from seal.core.types import Task
from seal.pools.benchmark import Benchmark

Bench = str | Path | Benchmark | Sequence[Task]
"""What every verb takes: a name, a pool folder, a benchmark, or tasks (with `tools=`)."""


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


def given_benchmark(bench: Any, tools: Sequence[Any] = ()) -> str | Path | Benchmark:
    """Return what a verb was given as a name, a folder or a benchmark.

    Args:
        bench: As `Bench`.
        tools: Those of tasks that are given alone.

    Raises:
        UsageError: It is nothing of the kind, or tools are given beside a whole benchmark.
    """
    if isinstance(bench, (str, Path, Benchmark)):
        if tools:
            raise UsageError(
                "tools go with a list of tasks; a benchmark has its own: leave them out"
            )
        return bench
    if isinstance(bench, Task):
        bench = [bench]
    if isinstance(bench, Sequence) and bench and all(isinstance(task, Task) for task in bench):
        return Benchmark("tasks", tools=tuple(tools), tasks=tuple(bench))
    raise UsageError(
        f"{shortened(bench)} is no benchmark; expected a name, a folder, a seal.Benchmark, or a "
        "list of tasks with tools=[...]"
    )
