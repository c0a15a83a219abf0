"""Time and CPU of generating the 256 dialogues of four missions, but for what a model takes.

    python perf/generation.py [--short]

The command's own work: roles that talk in AutoGen, the checker, the simulator `template`, machine
checks with the oracle's play, records on disk. Speakers of a script, those of the tests, say what
a model would. The reference is the play of the finished pool by
the oracle. Budget: 60 s on one core.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import seal

sys.path[:0] = [
    str(Path(__file__).resolve().parents[1] / folder) for folder in ("tests", "tests/benchmarks")
]
BUDGET_S = 60.0
ALL = 256


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; beside the budget; exceeding it is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="16 dialogues")
    count = 16 if parser.parse_args(argv).short else ALL
    with TemporaryDirectory() as folder:
        out = Path(folder)
        made, cpu, wall = measured(
            lambda: seal.generate(
                "missions",
                "sample",
                out=out / "pool",
                model=import_module("weather_talk").WeatherTalk(),
                relations=("implicit", "ellipsis"),
                limit=count,
                cache_dir=out / "cache",
            )
        )
        _, play_cpu, play_wall = measured(
            lambda: seal.run(
                out / "pool",
                model="oracle",
                team="direct",
                out=out / "run",
                baselines=False,
                cache_dir=out / "cache",
            )
        )
    print(f"{'':22}{'CPU s':>8}{'wall s':>8}{'ratio':>7}")
    print(f"{'oracle plays the pool':22}{play_cpu:8.1f}{play_wall:8.1f}{1:7.2f}")
    print(f"{'generate missions':22}{cpu:8.1f}{wall:8.1f}{cpu / play_cpu:7.2f}")
    print(f"{made.to_json()['tasks']} of {count} dialogues; budget for {ALL}: {BUDGET_S:.0f} s")
    return 0


def measured(work: Any) -> tuple[Any, float, float]:
    """Return what comes of work, with its seconds of CPU and of the clock."""
    cpu, wall = time.process_time(), time.perf_counter()
    found = work()
    return found, time.process_time() - cpu, time.perf_counter() - wall


if __name__ == "__main__":
    sys.exit(main())
