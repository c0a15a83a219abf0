"""Time and memory of `seal compare`, as a multiple of parsing the same scores.

    python perf/compare.py [--short]

Two runs of 2,000 tasks x 3 trials with every metric of a run: the chats of the sample, scored, and
written out again under other ids until there are enough. Some values are drawn anew, so that the
runs differ. The whole process is measured, its start included; the reference is `orjson.loads` of
every line of the two scores.jsonl, in this process. Budget: 3 s and 300 MB. `--short` has 200
tasks.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson

from seal.runs.score_table import write_columns

BUDGET_S, BUDGET_MB = 3.0, 300
TASKS, TRIALS = 2_000, 3
ANEW = 0.1
"""Share of the values in [0, 1] that are drawn anew."""
REPEATS = 3


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print, beside the budget; exceeding it is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="200 tasks, for CI")
    short = parser.parse_args(argv).short
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        played = place / "played"
        # In a process of its own: a child's memory is never told as less than its parent's.
        limit = ("--limit", "10") if short else ()
        words = ("--trials", str(TRIALS), "--no-baselines", "--out", str(played), *limit)
        command = (sys.executable, "-m", "seal", "run", "sample", *words)
        cache = {**os.environ, "SEAL_CACHE_DIR": str(place / "cache")}
        subprocess.run(command, env=cache, stdout=subprocess.DEVNULL, check=True)
        runs = [place / name for name in ("one", "other")]
        for seed, run in enumerate(runs):
            grow(played, run, TASKS // 10 if short else TASKS, random.Random(seed))
            write_columns(run / "scores.jsonl")
        lines = sum(run.joinpath("scores.jsonl").read_bytes().count(b"\n") for run in runs)
        parsing = min(seconds_of_parsing(runs) for _ in range(REPEATS))
        took, cpu, most = min(comparing(runs) for _ in range(REPEATS))
        print(
            f"2 runs x {TASKS // 10 if short else TASKS} tasks x {TRIALS} trials: {lines:,} scores"
        )
        print(f"{'':32}{'s':>7}{'CPU s':>8}{'ratio':>8}{'MB':>6}")
        print(f"{'orjson.loads of every line':32}{parsing:7.2f}{'':8}{1:8.2f}")
        name = "seal compare, 10,000 resamples"
        print(f"{name:32}{took:7.2f}{cpu:8.2f}{took / parsing:8.2f}{most:6.0f}")
        print(f"{'budget':32}{BUDGET_S:7.2f}{'':16}{BUDGET_MB:6.0f}")
    return 0


def grow(played: Path, run: Path, tasks: int, rng: random.Random) -> None:
    """Write a scored run of so many tasks: those that were played, under further ids."""
    run.mkdir()
    for name in ("run.json", "tools.jsonl"):
        shutil.copy(played / name, run)
    summary = orjson.loads((played / "summary.json").read_bytes())
    del summary["lines"]  # of the run that was played
    (run / "summary.json").write_bytes(orjson.dumps(summary))
    known = [orjson.loads(line) for line in (played / "tasks.jsonl").open("rb")]
    copies = -(-tasks // len(known))
    ids = {task["id"] for task in known}
    kept = {f"{task['id']}-{copy}" for copy in range(copies) for task in known}
    kept = set(sorted(kept)[:tasks])
    with (run / "tasks.jsonl").open("wb") as file:
        for copy in range(copies):
            for task in known:
                if f"{task['id']}-{copy}" in kept:
                    file.write(orjson.dumps({**task, "id": f"{task['id']}-{copy}"}) + b"\n")
    scores = [orjson.loads(line) for line in (played / "scores.jsonl").open("rb")]
    assert ids == {score["task_id"] for score in scores}
    with (run / "scores.jsonl").open("wb") as file:
        for line in grown(scores, copies, kept, rng):
            file.write(line)


def grown(
    scores: Sequence[dict[str, object]], copies: int, kept: set[str], rng: random.Random
) -> Iterator[bytes]:
    """Yield the lines of the scores."""
    for copy in range(copies):
        for score in scores:
            named = f"{score['task_id']}-{copy}"
            if named in kept:
                value = score["value"]
                if isinstance(value, (int, float)) and value <= 1 and rng.random() < ANEW:
                    value = float(rng.random() < 0.5)
                yield orjson.dumps({**score, "task_id": named, "value": value}) + b"\n"


def seconds_of_parsing(runs: Sequence[Path]) -> float:
    """Return the seconds that parsing every score takes."""
    start = time.perf_counter()
    for run in runs:
        with (run / "scores.jsonl").open("rb") as lines:
            for line in lines:
                orjson.loads(line)
    return time.perf_counter() - start


def comparing(runs: Sequence[Path]) -> tuple[float, float, float]:
    """Return the seconds, CPU seconds and MB of the whole command."""
    words = [sys.executable, "-m", "seal", "compare", *map(str, runs), "--json"]
    with tempfile.TemporaryFile() as told:
        start = time.perf_counter()
        process = subprocess.Popen(words, stdout=told)
        _, status, used = os.wait4(process.pid, 0)
        took = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        assert len(json.load(told)["comparisons"]) > 30
    return took, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
