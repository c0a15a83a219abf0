"""How a world ends, held against the verdicts of tau-bench's own evaluator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from airline_world import airline, read

import seal
from seal.core.conditions import Called


def test_the_world_ends_as_after_gold_where_the_original_says_so(
    seal_data: Path, tmp_path: Path
) -> None:
    """187 sequences of calls; of 79 the original says that they leave what gold leaves."""
    folder = seal_data / "taubench"
    cases = read(folder, "airline_end_states")
    world = airline(folder, (call for case in cases for call in (*case["calls"], *case["gold"])))
    refused = {case["task_id"]: _refused(case) for case in cases if case["kind"] == "gold"}
    tasks, made = [], {}
    for number, case in enumerate(cases):
        request = f"{number}: {case['kind']}"
        fail = refused.get(case["task_id"], [])
        gold = [seal.refused(_call(call)) if call in fail else _call(call) for call in case["gold"]]
        tasks.append(seal.ask(request, seal.ends_as(*gold)))
        made[request] = case

    failing: dict[str, list[bool]] = {}

    def agent(request: str, tools: Sequence[Any]) -> str:
        named = {tool.__name__: tool for tool in tools}
        failing[request] = []
        for call in made[request]["calls"]:
            try:
                named[call["name"]](**call["arguments"])
                failing[request].append(False)
            except Exception:
                failing[request].append(True)
        return "Done."

    bench = seal.Benchmark("airline", environment=world, tasks=tasks)
    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run", max_calls=100)
    solved = {
        score.task_id: score.value for score in run.folder.scores() if score.metric == "pass_rate"
    }
    texts = {task.id: task.goals[0].text for task in run.folder.tasks()}
    wrong = [
        texts[task] for task, value in solved.items() if value != made[texts[task]]["same_end"]
    ]
    assert wrong == []
    assert len(solved) == len(cases) == 187
    for request, case in made.items():
        assert failing[request] == [r.startswith("Error") for r in case["results"]], request


def _call(call: Mapping[str, Any]) -> Called:
    return seal.called(call["name"], **call["arguments"])


def _refused(case: Mapping[str, Any]) -> list[Any]:
    results = zip(case["calls"], case["results"], strict=True)
    return [call for call, result in results if result.startswith("Error")]
