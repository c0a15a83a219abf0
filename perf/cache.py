"""Reads and writes of the answer store as multiples of bare SQLite, and how many a second.

    python perf/cache.py [--short]

One process, entries of about 1 KB, 64-digit keys in random order. The reference is the same
select, and the same insert with its commit, through the `sqlite3` module alone: WAL, synchronous
NORMAL, the same folder. Then eight processes write at once, half of their keys shared, and nothing
may be lost.
Budget: 20,000 gets/s and 4,000 puts/s a process.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from seal.core import Tool
from seal.core.canonical import digest
from seal.core.store import Store
from seal.simulator_cache.answer_cache import Cached
from seal.simulator_cache.template import Template

GETS, PUTS = 20_000, 4_000
WRITERS = 8
SLICES = 5
ENTRY = {
    "tool": "lab/weather/now",
    "arguments": {"city": "Oslo", "days": 3},
    "response": {"days": [{"high": 4.5, "low": -1.0, "text": "light rain " * 8}] * 7},
    "error": "",
    "simulator": "template/1",
    "prompt_version": "",
    "seed": 0,
}
TOOL = Tool("lab/weather/now", "now_for_weather", returns={"city": "str", "high": "float"})


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; the exit code is 1 where an entry is lost, never for speed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="2,000 entries instead of 20,000")
    parser.add_argument("--dir", type=Path, help="folder on the disk to measure")
    options = parser.parse_args(argv)
    count = 2_000 if options.short else 20_000
    keys = [digest(number) for number in range(count)]
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        bare_puts, bare_gets = measure_sqlite(Path(folder, "bare.sqlite"), keys)
        puts, gets = measure_store(Path(folder, "answers.sqlite"), keys)
        simulated = measure_cached(Path(folder, "cached.sqlite"), min(count, 5_000))
        lost, together = measure_writers(Path(folder, "shared.sqlite"), count // WRITERS)
    print(f"{count} entries{'':14}{'per second':>12}{'bare sqlite3':>14}{'ratio':>8}{'budget':>10}")
    for name, rate, bare, budget in (
        ("gets", gets, bare_gets, GETS),
        ("puts", puts, bare_puts, PUTS),
    ):
        print(f"{name:26}{rate:12,.0f}{bare:14,.0f}{bare / rate:8.2f}{budget:10,}")
    print(f"{'simulated and kept':26}{simulated[0]:12,.0f}")
    print(f"{'replayed':26}{simulated[1]:12,.0f}")
    print(f"{f'puts of {WRITERS} processes':26}{together:12,.0f}{'':14}{'':8}{lost:7} lost")
    return int(lost > 0)


def best_rate(items: Sequence[Any], work: Callable[[Any], object]) -> float:
    """Return how many a second in the best of five slices: neighbours on the machine slow some."""
    size = len(items) // SLICES
    slices = (items[start : start + size] for start in range(0, size * SLICES, size))
    return max(size / seconds_of(partial(through, work, part)) for part in slices)


def through(work: Callable[[Any], object], items: Sequence[Any]) -> None:
    for item in items:
        work(item)


def seconds_of(work: Callable[[], object]) -> float:
    """Return the seconds that a function takes: wall time, for the disk counts."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure_sqlite(path: Path, keys: Sequence[str]) -> tuple[float, float]:
    """Return inserts and selects a second of the `sqlite3` module."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
    text = json.dumps(ENTRY)

    def put(key: str) -> None:
        connection.execute("INSERT INTO entries VALUES (?, ?)", (key, text))

    def get(key: str) -> None:
        connection.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()

    rates = best_rate(keys, put), best_rate(keys, get)
    connection.close()
    return rates


def measure_store(path: Path, keys: Sequence[str]) -> tuple[float, float]:
    """Return puts and gets a second of the store."""
    with Store(path) as store:
        puts = best_rate(keys, lambda key: store.put(key, ENTRY, "simulator"))
        return puts, best_rate(keys, store.get)


def measure_cached(path: Path, count: int) -> tuple[float, float]:
    """Return calls a second that the template simulator answers: anew, then from the store."""
    calls = [{"city": f"city {number}", "days": 3} for number in range(count)]
    with Store(path) as store:
        cached = Cached(Template(), store)

        def play(arguments: dict[str, Any]) -> None:
            cached.respond(TOOL, arguments)

        return best_rate(calls, play), best_rate(calls, play)


def write(path: Path, worker: int, count: int) -> None:
    """Put as many shared as own keys."""
    with Store(path) as store:
        for number in range(count // 2):
            store.put(f"shared/{number}", {"worker": worker, **ENTRY})
            store.put(f"{worker}/{number}", ENTRY)


def measure_writers(path: Path, count: int) -> tuple[int, float]:
    """Return how many entries eight writers lost, and their puts a second, start included."""
    context = multiprocessing.get_context("spawn")
    crew = [context.Process(target=write, args=(path, n, count)) for n in range(WRITERS)]

    def run() -> None:
        for process in crew:
            process.start()
        for process in crew:
            process.join()

    speed = WRITERS * 2 * (count // 2) / seconds_of(run)
    with Store(path) as store:
        kept = sum(store.stats().entries.values())
    return (WRITERS + 1) * (count // 2) - kept, speed


if __name__ == "__main__":
    sys.exit(main())
