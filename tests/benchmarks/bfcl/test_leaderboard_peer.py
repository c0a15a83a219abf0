"""The leaderboard's verdicts beside those of bfcl-eval itself, on all of BFCL."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from peers.bfcl import code_gold, dialogues, judged

import seal
from seal.benchmarks.bfcl.leaderboard import Leaderboard
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
    answers = list(judged(pool.tasks(), tools, Peer()))
    assert len(answers) > 60_000
    assert [answer for answer in answers if not answer.agrees] == []
    right = sum(not answer.ours for answer in answers)
    assert 0.5 < right / len(answers) < 0.8


def test_verdicts_on_changed_dialogues_are_those_of_the_leaderboard(pool: Any) -> None:
    tools = {tool.id: tool for tool in pool.tools()}
    held = list(dialogues(pool.tasks(), tools, Peer()))
    assert len(held) == 800 * 9
    assert [one for one in held if one[1] != one[2]] == []
    wrong = [of for of, ours, _ in held if of.endswith(", gold") and ours]
    # Its gold calls what is not offered in that turn.
    assert wrong == ["multi_turn_miss_func_49, gold"]


def test_gold_in_java_and_javascript_is_right_but_where_the_peer_accepts_nothing(
    pool: Any,
) -> None:
    tools = {tool.id: tool for tool in pool.tools()}
    # Its reader makes texts of all items of these lists, and its gold has a text for a list.
    wrong = ["simple_java_36", "simple_java_64", "simple_java_65"]
    assert [item for item, why in code_gold(pool.tasks(), tools, Peer()) if why] == wrong


def test_chats_in_the_world_are_judged_as_the_leaderboard_judges_them(
    pool: Any, tmp_path: Path
) -> None:
    import_benchmark("bfcl", DATA, tmp_path / "pool", categories="multi_turn")
    told: Any = {"model": "oracle", "environment": "bfcl", "limit": 60, "baselines": False}
    run = seal.run(str(tmp_path / "pool"), out=tmp_path / "run", **told)
    tasks: dict[str, Task] = {task.id: task for task in run.folder.tasks()}
    judge, asked, ours = Leaderboard(), [], []
    for number, trajectory in enumerate(run.folder.trajectories()):
        made = [step for step in trajectory.steps if step.call]
        dropped = made[-1] if number % 2 else None
        steps = tuple(step for step in trajectory.steps if step is not dropped)
        chat = TaskChat(tasks[trajectory.task_id], replace(trajectory, steps=steps), {})
        asked.append((trajectory.task_id, [goal.made for goal in chat.goals]))
        ours.append(judge(chat.goals[-1]).reason)
    assert ours == directly(asked)
    assert 0 < sum(map(bool, ours)) < len(ours) == 60
