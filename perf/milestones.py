"""CPU of measuring chats by milestones, as a share of the same search without memo and bound.

    python perf/milestones.py [--short] [FILE ...]

The chats are ToolSandbox's recorded trajectories where SEAL_DATA, or a FILE, has them; else
synthetic ones: six milestones in a chain over 30 messages that meet few of them. The reference is
ToolSandbox's depth-first search, every condition measured whenever it is asked for, over those of
the chats whose searches are small. Budget: 5 ms a chat in the mean and 0.2 s at most, on one core.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from functools import partial
from math import comb
from pathlib import Path
from typing import NamedTuple

from timing import seconds_of

from seal.benchmarks.toolsandbox.importer import import_trajectories
from seal.core import Milestone, Plan, Step, Task, Trajectory
from seal.core.conditions import FIRST, LAST, MESSAGE
from seal.core.state_conditions import AllOf, StateHas, StateUnchanged
from seal.core.table_matching import Column
from seal.evaluation.plans import measure_plan, under, view
from seal.pools.importer import Notes, Recorded

DATA = Path(os.environ.get("SEAL_DATA") or Path(__file__).resolve().parents[2] / "shared/data")

MEAN_MS, MOST_MS = 5.0, 200.0
FILES = ("vectors_public.jsonl.gz", "fuzz_public.jsonl.gz")
SMALL = 4_000
"""Matches that a search of the reference may have at most."""
SAMPLE = 60
"""Chats that the reference measures."""


class Case(NamedTuple):
    """One chat and the plan that it is measured by."""

    plan: Plan
    trajectory: Trajectory
    state: dict[str, list[dict[str, object]]] | None


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; beside the budget; exceeding it is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="every tenth chat")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    asked = parser.parse_args(argv)
    files = asked.files or known_files()
    cases = [case for file in files for case in recorded(file)] or synthetic()
    cases = cases[::10] if asked.short else cases
    taken = [seconds_of(partial(measure, case)) for case in cases]
    small = [n for n, case in enumerate(cases) if matches(case) <= SMALL]
    sample = small[:: max(1, len(small) // SAMPLE)]
    ours = sum(taken[n] for n in sample)
    reference = sum(seconds_of(partial(naive, cases[n])) for n in sample)
    print(f"{'':24}{'chats':>7}{'mean ms':>9}{'most ms':>9}{'ratio':>8}")
    row("measured", taken, None)
    row("of these, the sample", [taken[n] for n in sample], ours / reference)
    row("the sample, naively", [reference / len(sample)] * len(sample), 1.0)
    print(f"budget: {MEAN_MS:.0f} ms in the mean, {MOST_MS:.0f} ms at most")
    return 0


def row(name: str, taken: Sequence[float], ratio: float | None) -> None:
    mean, most = sum(taken) / len(taken) * 1e3, max(taken) * 1e3
    told = f"{ratio:8.3f}" if ratio is not None else ""
    print(f"{name:24}{len(taken):7}{mean:9.2f}{most:9.1f}{told}")


def known_files() -> list[Path]:
    folder = DATA / "toolsandbox"
    return [folder / name for name in FILES if (folder / name).is_file()]


def recorded(file: Path) -> list[Case]:
    """Return the chats of a file of recorded trajectories."""
    plans: dict[str, Task] = {}
    cases = []
    for record in import_trajectories(file, Notes()):
        if isinstance(record, Task):
            plans[record.id] = record
        elif isinstance(record, Recorded):
            task = plans[record.trajectory.task_id]
            cases.append(
                Case((task.goals[0].plans or ())[0], record.trajectory, task.initial_state)
            )
    return cases


def synthetic() -> list[Case]:
    """Return chats of other lengths, that meet other milestones."""
    return [synthetic_case(number) for number in range(400)]


def synthetic_case(number: int) -> Case:
    count, length = 2 + number % 5, 6 + number % 25
    nodes = tuple(
        Milestone(
            AllOf((said(f"step {node * number % 7} of the plan is done"), kept(node - 1))),
            (node - 1,) if node else (),
        )
        for node in range(count)
    )
    steps = tuple(
        Step(
            index,
            "user_simulator" if index % 3 == 0 else "agent",
            "user_simulator" if index % 3 else "agent",
            f"step {(index * 5 + number) % 9} of the plan is {'done' if index % 2 else 'next'}",
            turn=index,
            state={"notes": [{"id": index // 4}]},
        )
        for index in range(length)
    )
    return Case(Plan(nodes), Trajectory("t", 0, steps), None)


def said(text: str) -> StateHas:
    columns = {"content": Column("rouge_l")}
    return StateHas(MESSAGE, ({"author": "agent", "content": text},), columns=columns)


def kept(since: int) -> StateUnchanged:
    return StateUnchanged("notes", since)


def measure(case: Case) -> object:
    steps = view(case.trajectory, 0, case.state, "toolsandbox")
    return measure_plan(case.plan, steps, "toolsandbox")


def matches(case: Case) -> int:
    """Return how many matches a chain of the plan's nodes has at most."""
    places, count = len(case.trajectory.steps), len(case.plan.milestones)
    return comb(places + count - 1, count) * max(1, len(case.plan.minefields) * places)


def naive(case: Case) -> float:
    """Return the largest sum, each condition measured whenever it is asked for."""
    steps = view(case.trajectory, 0, case.state, "toolsandbox")
    nodes = [under(nodes, "toolsandbox") for nodes in (case.plan.milestones, case.plan.minefields)]
    return sum(searched(each, steps, {}, 0) for each in nodes)


def searched(
    nodes: Sequence[Milestone], steps: Sequence[Step], mapped: dict[int, int], least: int
) -> float:
    reached = {FIRST: steps[0], LAST: steps[-1], **{n: steps[p] for n, p in mapped.items()}}
    candidates = sorted(
        (-node.condition.similarity(steps[place], reached), number, place)
        for number, node in enumerate(nodes)
        if number not in mapped and set(node.after) <= mapped.keys()
        for place in range(least, len(steps))
    )
    best = 0.0
    for lost, number, place in candidates:
        if len(nodes) - len(mapped) - 1 - lost <= best:
            continue
        rest = searched(nodes, steps, {**mapped, number: place}, place)
        best = max(best, rest - lost)
    return best


if __name__ == "__main__":
    sys.exit(main())
