"""What runs of 100 to 100,000 tasks x 3 trials cost: scoring, opening for a resume, comparing.

    python perf/scale.py [--short] [--out results/scale.md]

The chats of the sample, played by two offline models, are written out again under other ids until
there are enough. Each command is a process of its own: its CPU seconds count, start included, and
its peak of memory. A cost is straight where the seconds a task beyond the start stay within 10 %
from one size to the next. `--short` has 100 and 300 tasks.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

SIZES = (100, 1_000, 10_000, 100_000)
SHORT = (100, 300)
TRIALS = 3
RUNS = 5
MODELS = ("lexical", "oracle")
OPEN = (
    "import sys; from pathlib import Path; from seal.runs.journal import Journal;"
    "run = Path(sys.argv[1]); journal = Journal(run / 'trajectories.jsonl');"
    "print(len(journal.finished)); journal.close()"
)
"""What a run that is resumed does before its first chat, but for its pool."""


@dataclass(frozen=True)
class Cost:
    """Of one process."""

    cpu_s: float
    mb: float


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print, or write the page; exceeding a goal is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="100 and 300 tasks, for CI")
    parser.add_argument("--out", type=Path, help="page to write")
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        played = [play(model, place / model) for model in MODELS]
        rows = []
        for tasks in SHORT if options.short else SIZES:
            rows.append((tasks, *measured(played, place / str(tasks), tasks)))
            print(told(rows[-1:])[-1], flush=True)
            shutil.rmtree(place / str(tasks))
    if options.out is not None:
        options.out.write_text(page(told(rows)), encoding="utf-8")
    return 0


def play(model: str, out: Path) -> Path:
    """Play the sample; return its folder."""
    words = ("run", "sample", "--model", model, "--trials", str(TRIALS), "--no-baselines")
    cache = {**os.environ, "SEAL_CACHE_DIR": str(out.with_name("cache"))}
    command = [sys.executable, "-m", "seal", *words, "--out", str(out)]
    subprocess.run(command, env=cache, stdout=subprocess.DEVNULL, check=True)
    return out


def measured(played: Sequence[Path], place: Path, tasks: int) -> tuple[int, Cost, Cost, Cost]:
    """Return the size of the scores in MB, and what scoring, opening and comparing cost."""
    runs = [place / f"run-{number}" for number in range(RUNS)]
    for run, source in zip(runs[: len(played)], played, strict=True):
        grow(source, run, tasks)
    scoring = cost_of("-m", "seal", "score", str(runs[0]))
    cost_of("-m", "seal", "score", str(runs[1]))
    for number, run in enumerate(runs[len(played) :]):  # the same files under other names
        shutil.copytree(runs[number % len(played)], run, copy_function=os.link)
    opening = cost_of("-c", OPEN, str(runs[0]))
    comparing = cost_of("-m", "seal", "compare", *map(str, runs), "--json")
    size = (runs[0] / "scores.jsonl").stat().st_size
    return size >> 20, scoring, opening, comparing


def grow(played: Path, run: Path, tasks: int) -> None:
    """Write an unscored run of so many tasks: those that were played, under further ids."""
    run.mkdir(parents=True)
    for name in ("run.json", "tools.jsonl"):
        shutil.copy(played / name, run)
    ids = [orjson.loads(line)["id"] for line in (played / "tasks.jsonl").open("rb")]
    for name, each in (("tasks.jsonl", 1), ("trajectories.jsonl", TRIALS)):
        known = (played / name).read_bytes().splitlines(keepends=True)
        assert len(known) == each * len(ids)
        with (run / name).open("wb") as file:
            file.writelines(renamed(known, ids, each, tasks))


def renamed(known: Sequence[bytes], ids: Sequence[str], each: int, tasks: int) -> Iterator[bytes]:
    """Yield the lines of so many tasks, `each` a task."""
    for number in range(tasks):
        copy, place = divmod(number, len(ids))
        old, new = orjson.dumps(ids[place]), orjson.dumps(f"{ids[place]}-{copy}")
        for line in known[place * each : (place + 1) * each]:
            yield line.replace(old, new)


def cost_of(*words: str) -> Cost:
    """Return what a Python process costs."""
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def told(rows: Sequence[tuple[int, int, Cost, Cost, Cost]]) -> list[str]:
    """Return the lines of the table."""
    lines = [
        "| tasks | scores.jsonl, MB | score, CPU s | MB | open, CPU s | MB |"
        f" compare {RUNS} runs, CPU s | MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for tasks, size, *costs in rows:
        cells = " | ".join(f"{cost.cpu_s:.1f} | {cost.mb:.0f}" for cost in costs)
        lines.append(f"| {tasks:,} | {size:,} | {cells} |")
    return lines


def page(table: Sequence[str]) -> str:
    """Return the page of the results."""
    return "\n".join(
        [
            "# What large runs cost",
            "",
            f"Made by `python perf/scale.py --out results/scale.md`: runs of {TRIALS} trials, whose"
            " chats are those of the sample under other ids. CPU seconds of the whole process,",
            "its start included, and its peak of memory. *open* is what a resumed run does with"
            " its trajectories before the first chat.",
            "",
            *table,
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
