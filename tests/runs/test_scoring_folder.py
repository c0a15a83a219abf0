"""Scoring a folder: what is written, in which order, and what stays without a value."""

import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
from small_pools import TOOLS, many, recording

from seal.core import (
    DataError,
    ModelError,
    Scale,
    Score,
    Step,
    Stop,
    ToolCall,
    ToolResult,
    Trajectory,
    Usage,
    Verdict,
    write_records,
)
from seal.report.run_pages import write_report
from seal.report.run_results import summary_notes
from seal.runs.run import RunFolder
from seal.runs.scoring import Scorer


@dataclass
class Says:
    """A judge of few words."""

    label: str = "solved"

    def judge(self, goal, answer, steps):
        if self.label == "broken":
            raise ModelError("the judge's server is down")
        return Verdict(self.label, "because")


def says(task, trial) -> Says:
    return Says()


def folder_of(path: Path, trajectories: list[Trajectory], tasks: int = 3) -> RunFolder:
    path.mkdir(exist_ok=True)
    write_records(path / "tools.jsonl", TOOLS)
    write_records(path / "tasks.jsonl", many(tasks))
    write_records(path / "trajectories.jsonl", trajectories)
    folder = RunFolder(path)
    folder.write_json("run.json", {"measure": {}, "system": {}, "skipped": {"none": 2}})
    return folder


def chats(tasks: int = 3) -> list[Trajectory]:
    return [recording(task, "sunny") for task in many(tasks)]


def test_scores_stand_in_the_order_of_trajectories_whatever_the_threads(tmp_path: Path):
    folder = folder_of(tmp_path, chats(30), 30)
    started: list[str] = []
    gate = threading.Event()

    def judge_of(task, trial):
        started.append(task.id)
        if len(started) == 1:
            gate.wait(0.2)  # the first is the slowest
        return Says()

    Scorer(judge_of, cutoffs=(1,), threads=4).score(folder)
    found = [s.task_id for s in folder.scores() if s.metric == "pass_rate"]
    assert found == [task.id for task in many(30)]
    alone = folder.scores_path.read_bytes()
    Scorer(judge_of, cutoffs=(1,)).score(folder)
    assert folder.scores_path.read_bytes() == alone


def test_summary_counts_tasks_errors_stops_skipped_and_usage(tmp_path: Path):
    first, second, _ = chats()
    used = replace(first.steps[1], usage=Usage(5, 6, estimated=True))
    first = replace(first, steps=(first.steps[0], used, *first.steps[2:]))
    failed = replace(second, stops=(Stop("error", "down"),))
    summary = Scorer(says, cutoffs=(1, 5)).score(folder_of(tmp_path, [first, failed]))

    assert (summary["tasks"], summary["errors"], summary["skipped"]) == (3, 1, 2)
    assert summary["stop_reasons"] == {"done": 1, "error": 1}
    assert summary["usage"] == {
        "tokens_in": 5,
        "tokens_out": 6,
        "estimated": True,
        "calls": 2,
        "messages": 8,
        "roles": [],  # what models said is not told apart by role where no run told it
    }
    assert (summary["metrics"]["pass_rate"]["n"], summary["metrics"]["pass_rate"]["undefined"]) == (
        1,
        1,
    )


def test_judge_that_fails_leaves_no_value_and_says_so(tmp_path: Path):
    folder = folder_of(tmp_path, chats())
    summary = Scorer(lambda task, trial: Says("broken")).score(folder)

    judged = [score for score in folder.scores() if score.metric == "pass_rate"]
    assert [score.value for score in judged] == [None] * 3
    assert all(s.reason == "infrastructure: judge: the judge's server is down" for s in judged)
    assert summary["metrics"]["call_recall"]["n"] == 3


def test_further_metrics_are_scored_too(tmp_path: Path):
    class Steps:
        scales: ClassVar = {"steps": Scale(bounded=False)}

        def score(self, task, trajectory, tools):
            assert set(tools) == {tool.id for tool in TOOLS}
            return [Score(task.id, trajectory.trial, 0, "steps", float(len(trajectory.steps)))]

    summary = Scorer(says, extra=[Steps()]).score(folder_of(tmp_path, chats()))

    assert summary["metrics"]["steps"]["mean"] == 4.0


def test_metric_that_raises_leaves_the_old_scores(tmp_path: Path):
    class Broken:
        def score(self, task, trajectory, tools):
            raise ZeroDivisionError

    folder = folder_of(tmp_path, chats())
    Scorer(says).score(folder)
    before = folder.scores_path.read_bytes()
    with pytest.raises(ZeroDivisionError):
        Scorer(says, extra=[Broken()], threads=2).score(folder)

    assert folder.scores_path.read_bytes() == before
    assert not list(tmp_path.glob(".*.part"))


def test_trajectory_of_an_unknown_task_is_an_error_that_names_it(tmp_path: Path):
    folder = folder_of(tmp_path, [replace(chats()[0], task_id="gone")])

    with pytest.raises(DataError, match="task 'gone' is not in"):
        Scorer(says).score(folder)


def test_a_summary_says_of_which_tasks_its_figures_are(tmp_path: Path):
    whole, failed = chats(), chats()
    failed[1] = replace(failed[1], stops=(Stop("error", "the server is down"),))
    found = {
        name: Scorer(says).score(folder_of(tmp_path / name, played))["measured"]
        for name, played in (("whole", whole), ("failed", failed), ("fewer", [*whole[::2]]))
    }
    assert [each["tasks"] for each in found.values()] == [3, 2, 2]
    assert found["failed"] == found["fewer"] != found["whole"]


def test_calls_of_which_nothing_came_count_as_made_and_the_run_says_how_many(tmp_path: Path):
    served, limited, silent = chats()
    (place,) = [n for n, step in enumerate(limited.steps) if step.result is not None]
    steps = list(limited.steps)
    error = {"kind": "service", "message": "Too many requests"}
    steps[place] = replace(steps[place], result=ToolResult("call_0", "", error))
    limited = replace(limited, steps=tuple(steps))
    silent = replace(silent, steps=tuple(s for s in silent.steps if s.result is None))
    folder = folder_of(tmp_path, [served, limited, silent])
    summary = Scorer(says).score(folder)

    assert summary["metrics"]["calls_right"]["mean"] == 1.0
    assert (summary["unserved"], summary["unanswered"]) == ({"limited": 1}, 1)
    told = (
        "calls that count as made though nothing came of them: 1 that a service could not serve "
        "(limited 1), 1 without a result"
    )
    assert told in summary_notes(folder)
    assert told in write_report([folder], tmp_path / "report.html").read_text()

    whole = Scorer(says).score(folder_of(tmp_path / "whole", [served, served][:1], 1))
    assert whole.keys().isdisjoint({"unserved", "unanswered"})


def test_nothing_played_is_scored_as_nothing(tmp_path: Path):
    summary = Scorer(says).score(folder_of(tmp_path, []))

    assert summary["tasks"] == 3
    assert summary["metrics"] == {}
    assert summary["stop_reasons"] == {}
    assert summary["unfinished"] == 1  # of three, two were skipped


@pytest.mark.parametrize(("trials", "unfinished"), [(1, 2), (2, 5)])
def test_chats_that_are_missing_are_counted(tmp_path: Path, trials: int, unfinished: int):
    folder = folder_of(tmp_path, chats()[:1])
    folder.write_json("run.json", {"measure": {"trials": trials}, "system": {}})
    summary = Scorer(says).score(folder)

    assert (summary["tasks"], summary["unfinished"]) == (3, unfinished)
    assert summary_notes(folder)[0].startswith(f"3 tasks, 0 errors, {unfinished} unfinished;")


@pytest.mark.parametrize(
    ("measure", "own", "expected"),
    [
        ({"max_turns": 4}, {}, 0.75),
        ({}, {}, 0.9),
        ({"max_turns": None}, {"max_turns": 20}, 0.95),
        ({"max_turns": None}, {"max_messages": 40}, 0.975),
        ({"max_turns": None, "max_messages": 5}, {"max_messages": 40}, 0.9),
        ({"max_turns": None}, {"max_turns": 4}, 0.9),
        ({"max_turns": 10}, {"max_turns": 20}, 0.9),
    ],
)
def test_errors_are_shared_by_the_turns_that_the_goal_had(tmp_path: Path, measure, own, expected):
    wrong = Step(9, "execution_manager", "executor", call=ToolCall("call_9", "no_such_tool", {}))
    played = replace(chats()[0], steps=(*chats()[0].steps, wrong))
    folder = folder_of(tmp_path, [played])
    write_records(tmp_path / "tasks.jsonl", [replace(task, metadata=own) for task in many(3)])
    folder.write_json("run.json", {"measure": measure, "system": {}})
    Scorer(says).score(folder)
    assert [s.value for s in folder.scores() if s.metric == "ifn"] == [expected]


def test_progress_counts_to_the_number_of_trajectories(tmp_path: Path):
    told: list[tuple[int, int]] = []
    Scorer(says).score(folder_of(tmp_path, chats()), lambda done, total: told.append((done, total)))

    assert told == [(1, 3), (2, 3), (3, 3)]
