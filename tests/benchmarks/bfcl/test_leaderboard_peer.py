"""The leaderboard's verdicts beside those of bfcl-eval itself, on all of BFCL."""

import json
import os
import random
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from peers.bfcl import WRONG, Calls, LeaderboardsOwn, changed_turns, dialogues, judged

import seal
from seal.benchmarks.bfcl.leaderboard import Leaderboard, gold_calls, played
from seal.benchmarks.bfcl.world import VARIABLE, Peer
from seal.core import Task, ToolCall
from seal.evaluation.goals import TaskChat
from seal.pools.imports import import_benchmark
from seal.pools.pool import load_pool

DATA = Path(os.environ.get("SEAL_DATA") or "data") / "bfcl"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.environ.get(VARIABLE), reason=f"{VARIABLE} names no peer"),
    pytest.mark.skipif(not DATA.is_dir(), reason="no files of BFCL"),
]


@pytest.fixture(scope="module")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("bfcl") / "pool"
    import_benchmark("bfcl", DATA, out)
    return load_pool(out)


def directly(asked: list[tuple[str, list[list[ToolCall]]]]) -> list[str]:
    """What the peer's own checker says of dialogues, whose calls are written as texts."""
    lines = [
        json.dumps({"id": item, "turns": [[written(call) for call in turn] for turn in turns]})
        for item, turns in asked
    ]
    command = [os.environ[VARIABLE], str(Path(__file__).with_name("bfcl_direct.py"))]
    told = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in told.stdout.splitlines()]


def written(call: ToolCall) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in (call.arguments or {}).items())
    return f"{call.name}({given})"


def test_verdicts_on_changed_answers_are_those_of_the_leaderboard(pool: Any) -> None:
    tools = {tool.id: tool for tool in pool.tools()}
    answers = list(judged(pool.tasks(), tools, LeaderboardsOwn()))
    assert len(answers) > 65_000
    odd = [one for one in answers if not one.agrees]
    assert [one for one in odd if one.task.tags["language"] == "python"] == []
    # Its gold has a text for a list of values. Others are lists that the peer divides otherwise.
    assert len([one for one in odd if one.task.id != "simple_java_64"]) <= 2
    right = sum(not answer.ours for answer in answers)
    assert 0.5 < right / len(answers) < 0.8


def test_verdicts_on_changed_dialogues_are_those_of_the_leaderboard(pool: Any) -> None:
    tools = {tool.id: tool for tool in pool.tools()}
    held = list(dialogues(pool.tasks(), tools, LeaderboardsOwn()))
    assert len(held) > 800 * 10
    odd = [one for one in held if one[1] != one[2]]
    # Gold calls what is not offered in that turn: it is left out here, and not there.
    assert {of.partition(",")[0] for of, *_ in odd} <= {"multi_turn_miss_func_49"}
    wrong = [of for of, ours, *_ in held if of.endswith(", gold") and ours]
    assert wrong == []


def test_chats_in_the_world_are_judged_as_the_leaderboard_judges_them(
    pool: Any, tmp_path: Path
) -> None:
    import_benchmark("bfcl", DATA, tmp_path / "pool", categories="multi_turn")
    told: Any = {"model": "oracle", "environment": "bfcl", "limit": 60, "baselines": False}
    run = seal.run(str(tmp_path / "pool"), out=tmp_path / "run", **told)
    tasks: dict[str, Task] = {task.id: task for task in run.folder.tasks()}
    tools = {tool.id: tool for tool in pool.tools()}
    judge, asked, ours = Leaderboard(), [], []
    for number, trajectory in enumerate(run.folder.trajectories()):
        made = [step for step in trajectory.steps if step.call]
        dropped = made[-1] if number % 2 else None
        steps = tuple(step for step in trajectory.steps if step is not dropped)
        chat = TaskChat(tasks[trajectory.task_id], replace(trajectory, steps=steps), tools)
        asked.append((trajectory.task_id, [goal.made for goal in chat.goals]))
        wrong = judge(chat.goals[-1]).reason.partition(":")[0]
        ours.append(WRONG.get(wrong, wrong))
    assert ours == directly(asked)
    assert 0 < sum(map(bool, ours)) < len(ours) == 60


def test_dialogues_end_right_where_the_classes_are_as_gold_leaves_them(tmp_path: Path) -> None:
    """Gold and nine changes of it in 8 dialogues, each played in the classes of the peer."""
    import_benchmark("bfcl", DATA, tmp_path / "pool", categories="multi_turn_base")
    pool = load_pool(tmp_path / "pool")
    tools = {tool.id: tool for tool in pool.tools()}
    tasks = list(pool.tasks())[::25]
    changes: defaultdict[str, dict[str, list[Calls]]] = defaultdict(dict)
    for task in tasks:
        for change, turns in changed_turns(task, random.Random(task.id)):
            changes[change][task.id] = turns
    peer, found, wanted = Peer(), {}, {}
    for number, (change, of) in enumerate(changes.items()):
        asked = [task for task in tasks if task.id in of]
        calls = {goal.text: of[task.id][n] for task in asked for n, goal in enumerate(task.goals)}

        def agent(request: str, offered: Sequence[Any], calls: Any = calls) -> str:
            named = {tool.__name__: tool for tool in offered}
            for tool, given in calls[request]:
                try:
                    named[tools[tool].name](**given)
                except Exception as error:
                    assert str(error)
            return "Done."

        run = seal.run(
            asked,
            tools=list(tools.values()),
            agent=agent,
            environment="bfcl",
            baselines=False,
            max_calls=100,
            out=tmp_path / str(number),
        )
        ended = [score for score in run.folder.scores() if score.metric == "similarity"]
        found |= {(change, s.task_id): s.value for s in ended if s.value is not None}
        for task in asked:
            made = [[(tools[tool].name, given) for tool, given in turn] for turn in of[task.id]]
            gold = [gold_calls(goal, tools) for goal in task.goals]
            (last,) = [n for n, goal in enumerate(task.goals) if goal.asks_for_end]
            wanted[change, task.id] = not played(peer, task.id, made, gold)[last].differ
    assert found == wanted
    assert len(found) > 70 and 0.3 < sum(wanted.values()) / len(wanted) < 0.9
