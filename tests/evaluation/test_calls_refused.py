"""Refused calls meet no gold; calls that a service could not serve, and the like, do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from planted_faults import OUTAGE, REFUSED, failing

import seal
from seal.core import Task, Tool, Trajectory, UsageError
from seal.environments.chat_world import World
from seal.environments.world import Worlds, toolbox
from seal.evaluation import score_trajectory, usual_metrics
from seal.testing import check_benchmark

SUCCESS = {
    *("pass_rate", "calls_right", "mission_accuracy", "optimal_path", "progress"),
    *("all_gold_calls", "dialogue_accuracy", "similarity", "milestone_similarity"),
}
OF_CALLS = {"calls_right", "mission_accuracy", "optimal_path", "progress", "all_gold_calls"}


def connect() -> str:
    """Connect to the board."""
    return "connected"


def post(text: str) -> str:
    """Post a text.

    Args:
        text: At most ten characters.
    """
    if len(text) > 10:
        raise ValueError("too long")
    return "posted"


POST = seal.called("post", text="hello world")
SHORT = seal.called("post", text="hello")
CONNECT = seal.called("connect")


def playing(*calls: tuple[str, dict[str, Any]], answer: str = "Posted.") -> Any:
    def agent(request: str, tools: Sequence[Any]) -> str:
        named = {tool.__name__: tool for tool in tools}
        for name, given in calls:
            try:
                named[name](**given)
            except Exception as error:
                assert re.search("too long|expected type|needs the argument", str(error))
        return answer

    return agent


LONG, FITS = ("post", {"text": "hello world"}), ("post", {"text": "hello"})
CASES: list[tuple[str, list[Any], list[tuple[str, dict[str, Any]]], dict[str, Any], float]] = [
    ("a refused call is not made", [CONNECT, POST], [("connect", {}), LONG], {}, 0.0),
    (
        "it is where it is to be refused",
        [CONNECT, seal.refused(POST)],
        [("connect", {}), LONG],
        {},
        1,
    ),
    ("a call that works is not refused", [seal.refused(SHORT)], [FITS], {}, 0),
    ("a call that works", [SHORT], [FITS], {}, 1),
    ("a refused call, whatever is said", [POST], [LONG], {"answer": "Posted"}, 0),
    # The words claim what no call did.
    ("no call, and the right answer", [SHORT], [], {"answer": "Posted"}, 0),
]


def test_the_verdict_is_on_what_happened(tmp_path: Path) -> None:
    for name, gold, made, more, right in CASES:
        task = seal.ask("Post it.", *gold, **more)
        bench = seal.Benchmark("board", tools=[connect, post], tasks=[task])
        out = tmp_path / name.replace(" ", "-")
        run = seal.run(bench, agent=playing(*made), baselines=False, out=out)
        scores = {score.metric: score.value for score in run.folder.scores()}
        assert scores["pass_rate"] == right, name
        if not more:
            assert scores["calls_right"] == scores["mission_accuracy"] == right, name
            assert scores["all_gold_calls"] == right, name
            assert scores["call_recall"] == scores["param_acc_gold"] == 1.0, name


def test_explain_names_the_refusal(tmp_path: Path) -> None:
    bench = seal.Benchmark("board", tools=[connect, post], tasks=[seal.ask("Post it.", POST)])
    run = seal.run(bench, agent=playing(LONG), baselines=False, out=tmp_path / "run")
    (told,) = (one for s in seal.explain(run).content["stages"] for one in s["examples"])
    assert told["stage"] == "tool_error"
    assert "too long" in told["evidence"]


def scored(
    task: Task, chat: Trajectory, tools: dict[str, Tool]
) -> dict[tuple[int, str], float | None]:
    scores = score_trajectory(task, chat, tools, usual_metrics())
    return {(score.goal, score.metric): score.value for score in scores}


def test_gold_whose_calls_fail_is_solved_in_no_sample(tmp_path: Path) -> None:
    for name in ("sample", "mmtb-sample", "toolscan-sample", "toolsandbox-sample"):
        run = seal.run(name, model="oracle", baselines=False, first=10, out=tmp_path / name)
        tasks, tools = {task.id: task for task in run.folder.tasks()}, dict(run.folder.tools())
        seen = 0
        for chat in run.folder.trajectories():
            task = tasks[chat.task_id]
            right = scored(task, chat, tools)
            refused = scored(task, failing(chat, REFUSED), tools)
            dead = scored(task, failing(chat, OUTAGE), tools)
            called = {
                step.goal
                for step, answer in chat.calls()
                if answer is not None and step.author != "user_simulator"
            }
            for (goal, metric), value in right.items():
                if goal in called and metric in SUCCESS and value == 1.0:
                    seen += 1
                    assert refused[goal, metric] != 1.0, (name, task.id, goal, metric)
                    if metric in OF_CALLS:
                        assert dead[goal, metric] == 1.0, (name, task.id, goal, metric)
        assert seen > 5, name


def note(board: World, text: str) -> str:
    """Note a text on the board."""
    board.add("notes", {"text": text})
    return "noted"


def read(board: World) -> int:
    """Count the notes."""
    return len(board.rows("notes"))


BOARD = Worlds(name="board", tools=toolbox("board", [note, read]), tables={"notes": []})


@pytest.mark.parametrize(
    "end", [seal.ends_as(seal.called("note", text="a")), seal.FinalState("notes", ({"text": "a"},))]
)
def test_calls_beside_the_end_of_a_world_are_asked_for_and_others_are_open(
    end: Any, tmp_path: Path
) -> None:
    task = seal.ask("Note a, and count.", end, seal.called("read"))
    bench = seal.Benchmark("board", environment=BOARD, tasks=[task])
    made = ("note", {"text": "a"}), ("read", {})
    for name, calls, recall in (("all", made, 1.0), ("some", made[:1], 0.0)):
        run = seal.run(bench, agent=playing(*calls), baselines=False, out=tmp_path / name)
        scores = {score.metric: score.value for score in run.folder.scores()}
        assert scores["call_recall"] == scores["param_acc_gold"] == scores["pass_rate"] == recall
        open_ = ("calls_right", "call_precision", "call_f1", "extra_calls")
        assert [scores[metric] for metric in open_] == [None] * 4


def test_a_call_that_the_check_refuses_may_be_marked_as_refused(tmp_path: Path) -> None:
    worlds: list[tuple[str, dict[str, Any]]] = [
        ("note", {"environment": BOARD}),
        ("post", {"tools": [post]}),
    ]
    for tool, parts in worlds:
        for given in ({"text": 7}, {"text": "a", "loud": True}, {}):
            gold = seal.refused(seal.called(tool, **given))
            bench = seal.Benchmark("board", tasks=[seal.ask("Try it.", gold)], **parts)
            check_benchmark(bench, gold_alone=True)
            out = tmp_path / f"{tool}-{len(given)}-{'text' in given}"
            run = seal.run(bench, model="oracle", baselines=False, out=out)
            assert run["pass_rate"].mean == run["calls_right"].mean == 1.0
            assert "failed_gold" not in run.summary


def test_any_value_of_a_required_argument_is_right(tmp_path: Path) -> None:
    asked = seal.called("post", text=seal.ANY)
    check_benchmark(
        seal.Benchmark("board", tools=[post], tasks=[seal.ask("Post.", asked, answer="posted")])
    )
    bench = seal.Benchmark("board", tools=[post], tasks=[seal.ask("Post.", asked)])
    for name, given, right in (("one", "a", 1.0), ("two", "b", 1.0), ("long", "hello world", 0.0)):
        agent = playing(("post", {"text": given}))
        run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / name)
        assert run["calls_right"].mean == right, name


def test_any_value_of_an_unknown_argument_is_refused() -> None:
    gold = seal.called("post", text="a", loud=seal.ANY)
    with pytest.raises(UsageError, match="post takes no argument 'loud'"):
        seal.Benchmark("board", tools=[post], tasks=[seal.ask("Post.", gold)])


def test_a_refused_call_that_gold_has_is_no_extra_call(tmp_path: Path) -> None:
    bench = seal.Benchmark("board", tools=[post], tasks=[seal.ask("Post.", POST)])
    for name, calls, extra in (("gold", [LONG], 0), ("more", [LONG, LONG, ("post", {})], 2)):
        agent = playing(*calls)
        run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / name)
        scores = {score.metric: score.value for score in run.folder.scores()}
        assert (scores["extra_calls"], scores["calls_right"]) == (extra, 0.0), name


def test_a_call_that_the_check_refuses_is_told_as_refused(tmp_path: Path) -> None:
    made = [("note", {"text": 7}), ("note", {"text": "b"})]
    tasks = [seal.ask(f"Note a {n}.", seal.called("note", text="a")) for n in range(2)]
    bench = seal.Benchmark("board", environment=BOARD, tasks=tasks)

    def agent(request: str, tools: Sequence[Any]) -> str:
        return str(playing(made[int(request[-2])])(request, tools))

    run = seal.run(bench, agent=agent, baselines=False, out=tmp_path / "run")
    told = [score.reason for score in run.folder.scores() if score.metric == "calls_right"]
    said = "argument 'text' of note: expected str, got int"
    assert told == [f"1 refused ({said})", "1 with wrong arguments"]
