"""CPU of judging missions, and of counting their paths.

    python perf/missions.py [--short] [FILE]

Missions of 40 nodes under random dependencies, played right and with a part left out: with names of
their own, with eight names, with three; of one name and three arguments, which are also exchanged
between turns. Independent tools, whose paths are counted.
Where SEAL_DATA
or a FILE has them, the missions of the differential vectors. Budget: 100 ms a mission of 40 nodes,
50 ms to count the paths of eight tools, on one core. Reading jieba's words, which happens once a
process and only where texts are compared, is told apart.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))

from plain_missions import judge

from seal.benchmarks.mmtb.published_rules import words
from seal.evaluation.mission_gold import ANSWER

DATA = Path(os.environ.get("SEAL_DATA") or Path(__file__).resolve().parents[2] / "shared/data")

NODES = 40
MOST_MS, EIGHT_MS = 100.0, 50.0


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; beside the budget; exceeding it is no failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", action="store_true", help="a tenth of the missions")
    parser.add_argument("file", nargs="?", type=Path, default=known_file(), metavar="FILE")
    asked = parser.parse_args(argv)
    print(f"jieba's words, once a process: {ms(lambda: words('two words')):.0f} ms")
    print(f"{'':32}{'missions':>9}{'mean ms':>9}{'most ms':>9}")
    for names in (NODES, 8, 3):
        drawn = [drawn_mission(seed, names) for seed in range(10 if asked.short else 100)]
        right = [ms(partial(judge, m[0], m[1])) for m in drawn]
        wrong = [ms(partial(judge, m[0], m[1][:15] + m[1][20:])) for m in drawn]
        row(f"{NODES} nodes, {names} names, right", right)
        row(f"{NODES} nodes, {names} names, wrong", wrong)
    for density in (0.0, 0.03, 0.08):
        alike = [repeated_mission(seed, density) for seed in range(10 if asked.short else 100)]
        name = f"one name, density {density}"
        row(f"{name}, right", [ms(partial(judge, *m)) for m in alike])
        row(f"{name}, wrong", [ms(partial(judge, m[0], m[1][:15] + m[1][18:])) for m in alike])
        row(f"{name}, exchanged", [ms(partial(judge, m[0], exchanged(m[1]))) for m in alike])
    if asked.file.is_file():
        records = [json.loads(line) for line in asked.file.read_text().splitlines()]
        for match in ("clean", "mmtb"):
            judged = [partial(judge, r["nodes"], r["steps"], match) for r in records]
            row(f"vectors, {match}", [ms(each) for each in judged])
    for count in (6, 8, 10):
        taken = ms(partial(independent_paths, count))
        row(f"paths of {count} tools: {independent_paths(count):,}", [taken])
    print(f"budget: {MOST_MS:.0f} ms a mission, {EIGHT_MS:.0f} ms to count the paths of 8 tools")
    return 0


def drawn_mission(seed: int, names: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return nodes, and turns that take them one by one, in an order that is drawn too."""
    drawn = random.Random(seed)
    nodes = [
        {
            "name": f"tool_{i if names == NODES else drawn.randrange(names)}",
            "deps": drawn.sample(range(i), min(i, drawn.randint(0, 3))),
            "arguments": {"x": f"v{i}"},
        }
        for i in range(NODES - 1)
    ]
    turns: list[dict[str, Any]] = []
    left = set(range(NODES - 1))
    while left:
        ready = [i for i in sorted(left) if not left & set(nodes[i]["deps"])]
        taken = drawn.choice(ready)
        left.remove(taken)
        turns.append({"tool_calls": [nodes[taken]]})
    nodes.append({"name": ANSWER, "deps": list(range(NODES - 1)), "arguments": {}})
    return nodes, [*turns, {"content": "Done."}]


def repeated_mission(
    seed: int, density: float
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return nodes of one name and three arguments, and turns that take one or two at once."""
    drawn = random.Random(seed)
    nodes = [
        {
            "name": "tool",
            "deps": [before for before in range(i) if drawn.random() < density],
            "arguments": {"x": i % 3},
        }
        for i in range(NODES)
    ]
    turns: list[dict[str, Any]] = []
    left = set(range(NODES))
    while left:
        ready = [i for i in sorted(left) if not left & set(nodes[i]["deps"])]
        taken = drawn.sample(ready, min(len(ready), drawn.randint(1, 2)))
        left -= set(taken)
        turns.append({"tool_calls": [nodes[i] for i in taken]})
    return nodes, turns


def exchanged(turns: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the turns with the first calls of three pairs of them exchanged."""
    calls = [list(turn["tool_calls"]) for turn in turns]
    for one, other in ((0, 9), (3, 12), (6, 15)):
        calls[one][0], calls[other][0] = calls[other][0], calls[one][0]
    return [{"tool_calls": each} for each in calls]


def independent(count: int) -> list[dict[str, Any]]:
    """Return nodes that depend on nothing, and the answer that depends on them."""
    nodes = [{"name": f"tool_{i}", "deps": [], "arguments": {}} for i in range(count)]
    return [*nodes, {"name": ANSWER, "deps": list(range(count)), "arguments": {}}]


def independent_paths(count: int) -> int | None:
    return judge(independent(count), []).n_paths


def ms(work: Callable[[], object]) -> float:
    """Return the CPU milliseconds that a function takes."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1e3


def row(name: str, taken: Sequence[float]) -> None:
    print(f"{name:32}{len(taken):9}{sum(taken) / len(taken):9.2f}{max(taken):9.1f}")


def known_file() -> Path:
    return DATA / "mmtb" / "vectors" / "missions.jsonl"


if __name__ == "__main__":
    sys.exit(main())
