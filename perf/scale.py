"""What runs of 100 to 100,000 tasks x 3 trials cost: scoring, resuming, comparing.

    python perf/scale.py [--short] [--largest N] [--scored N] [--out results/scale.md]

The chats of the sample, played by two offline models and scored, are written out again under other
ids until there are enough. Each command is a process of its own: its CPU seconds count, start
included, and its peak of memory. A resumed run lacks one chat; it is measured up to the first
request of that chat, once without the indexes beside its files and once with them. `--scored`
tells from how many tasks on nothing is scored, for that takes hours on a busy machine; the scores
that are compared are then those of the sample under other ids, as for the other sizes. `--largest`
leaves out larger sizes. `--short` has 100 and 300 tasks.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import orjson

from seal.pools.lookup import open_pool
from seal.runs.score_table import write_columns

SIZES = (100, 1_000, 10_000, 100_000)
SHORT = (100, 300)
TRIALS = 3
RUNS = 5
MODELS = ("lexical", "oracle")
RESUME = f"""
import os, sys
from pathlib import Path
from seal.runs.play import run
from seal.runs.settings import RunSettings

class Ending:
    identity = "ending"

    def complete(self, request):
        os._exit(0)

given = {{"model": Ending(), "retriever": "random", "cache": "off", "trials": {TRIALS}}}
run(RunSettings(pool=sys.argv[1], baselines=False, **given), Path(sys.argv[2]), resume=True)
"""
"""Goes on with a run, or begins it, up to the first request to its model."""
INDEX = """
import sys
from pathlib import Path
from seal.runs.journal import Journal, Timings

for kind, name in ((Journal, "trajectories.jsonl"), (Timings, "timings.jsonl")):
    kind(Path(sys.argv[1], name)).close()
"""
"""Leaves what a run that is interrupted leaves beside its files."""
COSTS = ("score", "resume without indexes", "resume", f"compare {RUNS} runs")


@dataclass(frozen=True)
class Cost:
    """Of one process."""

    cpu_s: float
    mb: float


Row = tuple[int, Mapping[str, Cost]]
"""Tasks, and what each of `COSTS` was; what was not measured is not there."""


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print, or write the page; exceeding a goal is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="100 and 300 tasks, for CI")
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="most tasks of a run")
    parser.add_argument("--scored", type=int, default=SIZES[-1], help="most tasks to be scored")
    parser.add_argument("--out", type=Path, help="page to write")
    options = parser.parse_args(argv)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        played = [play(model, place / model) for model in MODELS]
        for tasks in SHORT if options.short else (n for n in SIZES if n <= options.largest):
            work = place / str(tasks)
            rows.append((tasks, measured(played, work, tasks, tasks <= options.scored)))
            print(told(rows)[-1], flush=True)
            shutil.rmtree(work)
            if options.out is not None:
                words = list(sys.argv[1:] if argv is None else argv)
                options.out.write_text(page(rows, words), encoding="utf-8")
    return 0


def play(model: str, out: Path) -> Path:
    """Play the sample; return its folder."""
    words = ("run", "sample", "--model", model, "--trials", str(TRIALS), "--no-baselines")
    cache = {**os.environ, "SEAL_CACHE_DIR": str(out.with_name("cache"))}
    command = [sys.executable, "-m", "seal", *words, "--out", str(out)]
    subprocess.run(command, env=cache, stdout=subprocess.DEVNULL, check=True)
    return out


def measured(played: Sequence[Path], place: Path, tasks: int, scored: bool) -> dict[str, Cost]:
    """Return what scoring, resuming and comparing cost."""
    costs = {}
    if scored:
        unscored = place / "unscored"
        copied(played[0], unscored, "run.json", "tools.jsonl")
        grow(played[0], unscored, tasks, "tasks.jsonl", "trajectories.jsonl")
        costs["score"] = cost_of("-m", "seal", "score", str(unscored))
        shutil.rmtree(unscored)
    costs["resume without indexes"], costs["resume"] = resuming(played[0], place, tasks)
    runs = [place / f"run-{number}" for number in range(RUNS)]
    for run, source in zip(runs[: len(played)], played, strict=True):
        copied(source, run, "run.json", "tools.jsonl")
        summary = orjson.loads((source / "summary.json").read_bytes())
        del summary["lines"]  # of the run that was played
        (run / "summary.json").write_bytes(orjson.dumps(summary))
        grow(source, run, tasks, "tasks.jsonl", "scores.jsonl")
        write_columns(run / "scores.jsonl")
    for number, run in enumerate(runs[len(played) :]):  # the same files under other names
        shutil.copytree(runs[number % len(played)], run, copy_function=os.link)
    costs[COSTS[-1]] = cost_of("-m", "seal", "compare", *map(str, runs), "--json")
    return costs


def resuming(played: Path, place: Path, tasks: int) -> tuple[Cost, Cost]:
    """Return what it costs to go on with a run whose last chat is missing."""
    pool, run = place / "pool", place / "resumed"
    copied(open_pool("sample").folder, pool, "import.json", "tools.jsonl")
    grow(played, pool, tasks, "tasks.jsonl")
    cost_of("-c", RESUME, str(pool), str(run))
    grow(played, run, tasks, "trajectories.jsonl", "timings.jsonl")
    path = run / "trajectories.jsonl"
    with path.open("rb+") as file:
        file.truncate(path.stat().st_size - 1)  # the last line is torn, and its chat is played
    (run / "tasks.index").unlink(missing_ok=True)
    costs = cost_of("-c", RESUME, str(pool), str(run))
    cost_of("-c", INDEX, str(run))
    return costs, cost_of("-c", RESUME, str(pool), str(run))


def copied(source: Path, out: Path, *names: str) -> None:
    """Copy files of a folder into a new one."""
    out.mkdir(parents=True)
    for name in names:
        shutil.copy(source / name, out)


def grow(played: Path, out: Path, tasks: int, *names: str) -> None:
    """Write files of a run for so many tasks: the lines of those that were played, renamed."""
    ids = [orjson.loads(line)["id"] for line in (played / "tasks.jsonl").open("rb")]
    for name in names:
        of: dict[str, list[bytes]] = {id: [] for id in ids}
        for line in (played / name).open("rb"):
            fields = orjson.loads(line)
            of[fields["id"] if name == "tasks.jsonl" else fields["task_id"]].append(line)
        with (out / name).open("wb") as file:
            file.writelines(renamed(of, tasks))


def renamed(of: Mapping[str, Sequence[bytes]], tasks: int) -> Iterator[bytes]:
    """Yield the lines of so many tasks, a task at a time."""
    whole = [(orjson.dumps(id), b"".join(lines)) for id, lines in of.items()]
    for number in range(tasks):
        copy, place = divmod(number, len(whole))
        old, lines = whole[place]
        yield lines.replace(old, old[:-1] + b'-%d"' % copy)


def cost_of(*words: str) -> Cost:
    """Return what a Python process costs."""
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def told(rows: Sequence[Row]) -> list[str]:
    """Return the lines of the table."""
    heads = "".join(f" {name}, CPU s | MB |" for name in COSTS)
    lines = [f"| tasks |{heads}", "|---|" + "---|---|" * len(COSTS)]
    for tasks, costs in rows:
        found = (costs.get(name) for name in COSTS)
        cells = (f"{cost.cpu_s:.1f} | {cost.mb:.0f}" if cost else "- | -" for cost in found)
        lines.append(f"| {tasks:,} | {' | '.join(cells)} |")
    return lines


def slopes(rows: Sequence[Row]) -> list[str]:
    """Return the table of what a thousand further tasks cost, from one size to the next."""
    lines = [f"| tasks | {' | '.join(COSTS)} |", "|---|" + "---|" * len(COSTS)]
    for (few, less), (many, more) in pairwise(rows):
        both = [(less.get(name), more.get(name)) for name in COSTS]
        each = (1000 * (b.cpu_s - a.cpu_s) / (many - few) if a and b else None for a, b in both)
        cells = ("-" if slope is None else f"{slope:.3f}" for slope in each)
        lines.append(f"| {few:,} to {many:,} | {' | '.join(cells)} |")
    return lines


def page(rows: Sequence[Row], words: Sequence[str]) -> str:
    """Return the page of the results."""
    return "\n".join(
        [
            "# What large runs cost",
            "",
            f"Made by `python perf/scale.py {' '.join(words)}`. Runs have {TRIALS} trials.",
            "Their chats and scores are those of the sample under other ids. CPU seconds are of the"
            " whole process, its start included. MB are its peak of memory.",
            "",
            "A resumed run lacks one chat. It is measured up to the first request of that chat.",
            "",
            *told(rows),
            "",
            "What a thousand further tasks cost, in CPU seconds; a straight cost has one figure:",
            "",
            *slopes(rows),
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
