"""Seconds that `import seal` and `seal --help` add to the interpreter's own start.

    python perf/startup.py [--short]

Each line is the median of several processes and its ratio to `python -c pass` in the same run.
Budgets: 0.15 s and 0.4 s above the interpreter. What a process imports is a matter of the tests;
`python -X importtime -c "import seal"` shows where time goes.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence

REFERENCE = "python -c pass"
COMMANDS = {
    REFERENCE: ["-c", "pass"],
    "import seal": ["-c", "import seal"],
    "seal --help": ["-m", "seal", "--help"],
    "seal run --help": ["-m", "seal", "run", "--help"],
}
BUDGETS = {"import seal": 0.15, "seal --help": 0.4}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; beside the budgets; exceeding one is no failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="few repetitions")
    repetitions = 5 if parser.parse_args(argv).short else 21
    medians = measure(repetitions)
    print(f"{'':18}{'seconds':>9}{'ratio':>8}{'above':>9}{'budget':>9}")
    for name, seconds in medians.items():
        above = seconds - medians[REFERENCE]
        budget = f"{BUDGETS[name]:9.2f}" if name in BUDGETS else ""
        print(f"{name:18}{seconds:9.3f}{seconds / medians[REFERENCE]:8.2f}{above:9.3f}{budget}")
    return 0


def measure(repetitions: int) -> dict[str, float]:
    """Return each command's median seconds; they take turns, so that load hits all alike."""
    taken: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(repetitions):
        for name, words in COMMANDS.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)
            taken[name].append(time.perf_counter() - start)
    return {name: statistics.median(seconds) for name, seconds in taken.items()}


if __name__ == "__main__":
    sys.exit(main())
