"""Apps: customers of service desks, served under written policies, in worlds of our own."""

from pathlib import Path

from seal.core import Task
from seal.pools.benchmark import Benchmark
from seal.pools.declarations import NeededWorld


def needed(task: Task) -> NeededWorld | None:
    """Return that a task needs its world: what its tools do there is what is asked."""
    return NeededWorld(task.world) if task.world else None


APPS = Benchmark(
    "apps",
    folder=Path(__file__).parent / "sample",
    needs_world="seal.benchmarks.apps:needed",
    play={"team": "direct"},
)
"""Conversations at the desks of a shop, a bank, a calendar, a mailbox, a drive and an agency.

Each world is one file (`shop`, `bank`), made of a seed; `shop+bank` is both, which share people and
accounts. `sample/authored/` holds the scenarios that were written by hand. Beside it lies the pool
of these and of those that goal templates make, as `perf/samples/compile_samples.py apps` gives it.
"""
