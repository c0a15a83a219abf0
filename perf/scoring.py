"""CPU of scoring trajectories as a multiple of decoding them, and the peak of memory.

    python perf/scoring.py [--short]

One process streams synthetic tasks and trajectories from files: three calls with results, a ranking
of ten, an answer of some sentences. The reference is `seal.core.records.decode` of the same lines.
Budget: under 500 MB for 40,000 tasks, scored and summarised. Beside them one answer in which facts
are sought, of 10 MB for 40,000 tasks.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from timing import seconds_of

from seal.core import (
    Goal,
    Milestone,
    Plan,
    Ranking,
    Step,
    Stop,
    Task,
    ToolCall,
    ToolResult,
    Trajectory,
)
from seal.core.conditions import Argument, Called
from seal.core.records import read_records, write_records
from seal.core.statements import states
from seal.evaluation.scoring import score_trajectory, usual_metrics
from seal.evaluation.statistics import Summariser, groups_of

MEMORY_MB = 500
FACTS = (7, "2024-05-02", "17:31", "Bo Ek", "+46700233", True)
CITIES = ("Bern", "Lima", "Oslo", "Quito", "Tunis")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; beside the budget; exceeding it is no failure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="2,000 tasks instead of 40,000")
    count = 2_000 if parser.parse_args(argv).short else 40_000
    with tempfile.TemporaryDirectory() as folder:
        tasks, trajectories = Path(folder, "tasks.jsonl"), Path(folder, "trajectories.jsonl")
        write_records(tasks, (make_task(i) for i in range(count)))
        write_records(trajectories, (make_trajectory(i) for i in range(count)))
        decoding = seconds_of(lambda: decode_all(tasks, trajectories))
        summariser = Summariser({t.id: groups_of(t) for t in read_records(tasks, Task)})
        scoring = seconds_of(lambda: score_all(tasks, trajectories, summariser))
        summarising = seconds_of(summariser.metrics)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count} tasks{'':9}{'CPU s':>9}{'per task':>12}{'ratio':>8}")
    rows = {"decoding": decoding, "scoring": scoring - decoding, "summarising": summarising}
    for name, taken in rows.items():
        print(f"{name:18}{taken:9.2f}{taken / count * 1e6:9.0f} us{taken / decoding:8.2f}")
    print(f"peak memory {peak:.0f} MB, budget {MEMORY_MB} MB")
    print_long_answer(count * 5)
    return 0


def print_long_answer(sentences: int) -> None:
    """Show what it costs to look for facts of every kind in one long answer.

    The reference splits the same text into words by a regular expression, once for each fact.
    """
    text = "On May 1, I paid twenty-one [dollars] at 5:30 pm. " * sentences
    searched = seconds_of(lambda: [states(text, fact) for fact in FACTS])
    split = seconds_of(lambda: [re.findall(r"\w+", text) for _ in FACTS])
    size = f"an answer of {len(text) / 1e6:.1f} MB"
    print(f"{size}: {len(FACTS)} facts sought in {searched:.2f} CPU s, {searched / split:.1f} x")


def decode_all(tasks: Path, trajectories: Path) -> None:
    for _ in pairs(tasks, trajectories):
        pass


def score_all(tasks: Path, trajectories: Path, summariser: Summariser) -> None:
    metrics = usual_metrics()
    for task, trajectory in pairs(tasks, trajectories):
        for score in score_trajectory(task, trajectory, {}, metrics):
            summariser.add(score)


def pairs(tasks: Path, trajectories: Path) -> Iterator[tuple[Task, Trajectory]]:
    return zip(read_records(tasks, Task), read_records(trajectories, Trajectory), strict=True)


def make_task(number: int) -> Task:
    gold = tuple(
        Milestone(Called(f"bench/tool/api{i}", {"city": Argument((CITIES[i],))})) for i in range(3)
    )
    relevant = tuple(f"bench/tool/api{i}" for i in range(3))
    goal = Goal(
        "Compare three cities.", (Plan(gold),), (str(20 + number % 7), "cloudy"), relevant=relevant
    )
    tags = {"group": f"G{number % 3}", "multi_tool": True, "parallel": number % 2 == 0}
    return Task(f"task{number}", "synthetic", (goal,), tags=tags)


def make_trajectory(number: int) -> Trajectory:
    steps = [Step(0, "user_simulator", "execution_manager", "Compare three cities.")]
    for i in range(3):
        call = ToolCall(
            f"call_{i}", f"api{i}", {"city": CITIES[(number + i) % 3]}, tool=f"bench/tool/api{i}"
        )
        steps.append(Step(1 + i, "execution_manager", "executor", call=call, turn=1))
    for i in range(3):
        value = {"city": CITIES[i], "temperature": 20 + (number + i) % 7, "sky": "cloudy"}
        result = ToolResult(f"call_{i}", str(value), value=value)
        steps.append(
            Step(4 + i, "executor", "execution_manager", str(value), result=result, turn=2)
        )
    answer = f"Bern has {20 + number % 5} degrees and is cloudy. Lima and Oslo are much the same."
    steps.append(Step(7, "execution_manager", "user_simulator", answer, turn=3))
    hits = tuple(
        (f"bench/tool/api{i}", float(20 - (i * (number % 11 + 1)) % 17)) for i in range(10)
    )
    return Trajectory(
        f"task{number}",
        0,
        tuple(steps),
        (Ranking(f"task{number}", 0, "Compare three cities.", hits),),
        stops=(Stop("done"),),
        answers=(answer,),
    )


if __name__ == "__main__":
    sys.exit(main())
