"""Reads and writes of the answer store beside the bare clients of its databases.

    python perf/cache.py [--short]

One process, entries of about 1 KB, 64-digit keys in random order. The reference is the same
select, and the same insert with its commit, through the client alone, with orjson between entry
and text: `sqlite3` (WAL, synchronous NORMAL, the same folder), and psycopg with one connection to
a server that this program starts, where PostgreSQL is installed. Slices of the store and of the
client take turns, so that both have the same neighbours. Then eight processes write at once, half
of their keys shared, and nothing may be lost.
Budget: 20,000 gets/s and 4,000 puts/s a process in a file; at least 0.5 of the client's rates.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
import orjson
from postgres_server import postgres_server, programs

from seal.core import Tool
from seal.core.store import Store
from seal.core.values import digest
from seal.simulator_cache.answer_cache import Cached
from seal.simulator_cache.simulators import Template

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
    print(f"{count} entries{'':14}{'per second':>12}{'bare client':>14}{'ratio':>8}{'budget':>10}")
    with tempfile.TemporaryDirectory(dir=options.dir) as folder:
        lost = measured(Path(folder, "answers.sqlite"), bare_sqlite(Path(folder, "bare")), keys)
        simulated = measure_cached(Path(folder, "cached.sqlite"), min(count, 5_000))
    print(f"{'simulated and kept':26}{simulated[0]:12,.0f}")
    print(f"{'replayed':26}{simulated[1]:12,.0f}")
    if programs() is None:
        print("PostgreSQL is not installed")
    else:
        with postgres_server(quick=False) as server:
            print("PostgreSQL")
            lost += measured(server.url(), bare_postgres(server.url()), keys[: count // 4])
    return int(lost > 0)


@dataclass(frozen=True)
class Client:
    """A database without the store: one row written, one read."""

    put: Callable[[str], object]
    get: Callable[[str], object]
    close: Callable[[], None]


def measured(place: Path | str, bare: Client, keys: Sequence[str]) -> int:
    """Print how quick the store and the client are; return how many entries were lost."""
    budgets = (PUTS, GETS) if isinstance(place, Path) else (None, None)
    with Store(place) as store:
        puts = rates(keys, lambda key: store.put(key, ENTRY, "simulator"), bare.put)
        gets = rates(keys, store.get, bare.get)
    bare.close()
    for name, (ours, theirs), budget in zip(("puts", "gets"), (puts, gets), budgets, strict=True):
        asked = f"{budget:10,}" if budget else ""
        print(f"{name:26}{ours:12,.0f}{theirs:14,.0f}{ours / theirs:8.2f}{asked}")
    lost, together = measure_writers(place, len(keys) // WRITERS)
    print(f"{f'puts of {WRITERS} processes':26}{together:12,.0f}{'':22}{lost:5} lost")
    return lost


def rates(
    items: Sequence[Any], work: Callable[[Any], object], other: Callable[[Any], object]
) -> tuple[float, float]:
    """Return how many a second two ways do in the best of five slices each, by turns."""
    size = len(items) // SLICES
    slices = [items[start : start + size] for start in range(0, size * SLICES, size)]
    best = [0.0, 0.0]
    for part in slices:
        for which, way in enumerate((work, other)):
            best[which] = max(best[which], size / seconds_of(partial(through, way, part)))
    return best[0], best[1]


def best_rate(items: Sequence[Any], work: Callable[[Any], object]) -> float:
    """Return how many a second in the best of five slices: neighbours on the machine slow some."""
    return rates(items, work, lambda item: None)[0]


def through(work: Callable[[Any], object], items: Sequence[Any]) -> None:
    for item in items:
        work(item)


def seconds_of(work: Callable[[], object]) -> float:
    """Return the seconds that a function takes: wall time, for the disk counts."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def bare_sqlite(path: Path) -> Client:
    """Return the `sqlite3` module alone."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT NOT NULL)")

    def put(key: str) -> None:
        text = orjson.dumps(ENTRY).decode()
        connection.execute("INSERT INTO entries VALUES (?, ?)", (key, text))

    def get(key: str) -> None:
        select = "SELECT value FROM entries WHERE key = ?"
        orjson.loads(connection.execute(select, (key,)).fetchone()[0])

    return Client(put, get, connection.close)


def bare_postgres(url: str) -> Client:
    """Return psycopg alone, with one connection that commits each statement."""
    import psycopg

    connection = psycopg.connect(url, autocommit=True)
    connection.execute("CREATE TABLE bare (key text PRIMARY KEY, value text NOT NULL)")

    def put(key: str) -> None:
        text = orjson.dumps(ENTRY).decode()
        connection.execute("INSERT INTO bare VALUES (%s, %s)", (key, text))

    def get(key: str) -> None:
        select = "SELECT value FROM bare WHERE key = %s"
        orjson.loads(connection.execute(select, (key,)).fetchone()[0])

    return Client(put, get, connection.close)


def measure_cached(path: Path, count: int) -> tuple[float, float]:
    """Return calls a second that the template simulator answers: anew, then from the store."""
    calls = [{"city": f"city {number}", "days": 3} for number in range(count)]
    with Store(path) as store:
        cached = Cached(Template(), store)

        def play(arguments: dict[str, Any]) -> None:
            cached.respond(TOOL, arguments)

        return best_rate(calls, play), best_rate(calls, play)


def write(path: Path | str, worker: int, count: int) -> None:
    """Put as many shared as own keys."""
    with Store(path) as store:
        for number in range(count // 2):
            store.put(f"shared/{number}", {"worker": worker, **ENTRY})
            store.put(f"{worker}/{number}", ENTRY)


def measure_writers(path: Path | str, count: int) -> tuple[int, float]:
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
        kept = sum("/" in entry.key for entry in store.entries())
    return (WRITERS + 1) * (count // 2) - kept, speed


if __name__ == "__main__":
    sys.exit(main())
