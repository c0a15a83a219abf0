"""CPU of scoring a tool's life in dialogue, against reading what is scored.

    python perf/dialogue.py [--short] [POOL]

The dialogues of a pool (`seal import dialogtool`; without one SEAL_DATA's test files are imported),
as a model plays them that is right in part: gold decisions with every third request wrong, replies
shuffled. Reference: `json.loads` of the trajectories' lines. Budget: 20 s for 2,921 dialogues, the
four tasks of use and the texts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from seal.api.benchmarks import import_benchmark, load_pool
from seal.benchmarks.dialogtool.metrics import Dialogue
from seal.benchmarks.dialogtool.tool_life import AWARENESS, REQUESTER, RESPONDER, write_act
from seal.core import Step, Stop, Task, Tool, ToolCall, Trajectory
from seal.core.records import encode

DATA = Path(os.environ.get("SEAL_DATA") or Path(__file__).resolve().parents[2] / "shared/data")
BUDGET_S, DIALOGUES = 20.0, 2_921
USER = "user_simulator"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; beside the budget; exceeding it is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="a tenth of the dialogues")
    parser.add_argument("pool", nargs="?", type=Path)
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        place = asked.pool or Path(folder) / "pool"
        if asked.pool is None:
            import_benchmark("dialogtool", DATA / "sgd", place, split="test")
        pool = load_pool(place)
        tools = {tool.id: tool for tool in pool.tools()}
        tasks = [task for task in pool.tasks() if "act" in task.goals[0].labels]
    tasks = tasks[: DIALOGUES // 10] if asked.short else tasks
    drawn = random.Random(0)
    chats = [played(task, tools, drawn) for task in tasks]
    lines = [encode(chat) for chat in chats]
    began = time.process_time()
    for line in lines:
        json.loads(line)
    reading = time.process_time() - began
    began = time.process_time()
    metric = Dialogue()
    scores = sum(
        len(metric.score(task, chat, tools)) for task, chat in zip(tasks, chats, strict=True)
    )
    scoring = time.process_time() - began
    turns = sum(len(task.goals) for task in tasks)
    print(f"{len(tasks):,} dialogues, {turns:,} turns, {scores:,} scores")
    print(f"json.loads of their trajectories {reading:.2f} s")
    print(f"scoring {scoring:.2f} s, {scoring / reading:.1f} x reading")
    print(f"budget: {BUDGET_S * len(tasks) / DIALOGUES:.1f} s for as many dialogues")
    return 0


def played(task: Task, tools: dict[str, Tool], drawn: random.Random) -> Trajectory:
    """Return a chat in which much is right."""
    steps = tuple(step for place in range(len(task.goals)) for step in turn(task, place, tools))
    stops = (Stop("done"),) * len(task.goals)
    said = [drawn.sample(s.content.split(), len(s.content.split())) for s in steps]
    mixed = tuple(
        Step(place, s.author, USER, " ".join(words) if s.author == RESPONDER else s.content, s.call,
             goal=s.goal)
        for place, (s, words) in enumerate(zip(steps, said, strict=True))
    )  # fmt: skip
    return Trajectory(task.id, 0, mixed, stops=stops)


def turn(task: Task, place: int, tools: dict[str, Tool]) -> Iterator[Step]:
    """Yield what is said in a turn; every third request is another API's."""
    goal = task.goals[place]
    yield Step(0, AWARENESS, USER, write_act(str(goal.labels["act"]), "so it is"), goal=place)
    yield Step(0, REQUESTER, USER, goal=place)
    for gold in goal.plans[0].calls() if goal.plans else ():
        name = gold.tool if place % 3 else next(iter(tools))
        call = ToolCall(f"c{place}", tools[name].name, gold.canonical_arguments(), tool=name)
        yield Step(0, REQUESTER, "executor", call=call, goal=place)
    yield Step(0, RESPONDER, USER, goal.reference[-1].content, goal=place)


if __name__ == "__main__":
    sys.exit(main())
