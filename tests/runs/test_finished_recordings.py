"""Recordings of a pool as runs: scored without a chat, as if they were played; bad input."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import seal
from seal.cli.dispatch import main
from seal.core import (
    DataError,
    Goal,
    Milestone,
    Plan,
    Task,
    Tool,
    ToolCall,
    Trajectory,
    UnknownNameError,
    UsageError,
)
from seal.core.conditions import Called
from seal.core.records import write_records
from seal.pools.lookup import open_pool
from seal.pools.reading.records import Made, chat_steps
from seal.runs.finished import ALL, score_recordings
from seal.runs.journal import timings_of
from seal.runs.run import RunFolder
from seal.runs.settings import ScoreSettings

TOOL = Tool(
    "shop/find",
    "find",
    "Finds a thing.",
    {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]},
)


def asked(name: str) -> Task:
    gold = Plan((Milestone(Called.exact(TOOL.id, {"key": name})),))
    return Task(name, "shop", (Goal(f"Find {name}.", (gold,), offered=(TOOL.id,)),))


def chat(task: str, key: str, trial: int = 0, **said: Any) -> Trajectory:
    made = Made("", ToolCall("call_0", "find", {"key": key}, tool=TOOL.id), None)
    steps = tuple(chat_steps(f"Find {task}.", [[made]], None, ""))
    return Trajectory(task, trial, steps, offered=((TOOL.id,),), answers=(None,), provenance=said)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A pool of three tasks: one model answered all, the other one in another order, but for b."""
    folder = tmp_path / "pool"
    write_records(folder / "tools.jsonl", [TOOL])
    write_records(folder / "tasks.jsonl", [asked(name) for name in "abc"])
    whole = [chat("a", "a", latency_s=2.0), chat("b", "x", latency_s=4.0), chat("c", "c")]
    for name, chats in {"whole": whole, "part": [chat("c", "x"), chat("a", "a")]}.items():
        write_records(folder / "recorded" / name / "trajectories.jsonl", chats)
    (folder / "import.json").write_text(json.dumps({"benchmark": "shop"}))
    return folder


def right(run: Any) -> dict[str, float | None]:
    return {one.task_id: one.value for one in run.scores() if one.metric == "calls_right"}


def test_each_recording_becomes_a_scored_run_of_its_own_tasks(pool: Path, tmp_path: Path) -> None:
    found = {
        folder.path.name: folder
        for folder, _ in score_recordings(open_pool(str(pool)), [ALL], tmp_path / "runs")
    }
    assert right(found["whole"]) == {"a": 1.0, "b": 0.0, "c": 1.0}
    assert right(found["part"]) == {"a": 1.0, "c": 0.0}
    assert [task.id for task in found["part"].tasks()] == ["a", "c"]
    measures = [folder.manifest()["measure"]["pool_digest"] for folder in found.values()]
    assert measures[0] == measures[1] == open_pool(str(pool)).digest
    took = [line["seconds"] for line in timings_of(found["whole"].path / "timings.jsonl")]
    assert took == [2.0, 4.0]
    assert not (found["part"].path / "timings.jsonl").exists()


def test_the_scores_are_those_of_a_run_that_plays_the_recording(pool: Path, tmp_path: Path) -> None:
    played = seal.run(str(pool), model="recorded:whole", baselines=False, out=tmp_path / "played")
    ((scored, _),) = score_recordings(open_pool(str(pool)), ["whole"], tmp_path / "runs")
    assert right(scored) == right(played.folder)
    assert scored.model == played.folder.model == "recorded:whole"


def test_the_command_ranks_with_the_leaderboard(
    pool: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "runs"
    assert main(["score", str(pool), "--recorded", ALL, "--out", str(out)]) == 0
    told = capsys.readouterr().out
    assert "calls_right" in told and f"rank them: seal leaderboard {out}" in told
    assert main(["score", str(pool), "--recorded", "part", "--out", str(tmp_path / "one")]) == 0
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["part"]


def test_trials_stand_side_by_side(pool: Path, tmp_path: Path) -> None:
    twice = [chat("a", "a", 1), chat("b", "b"), chat("a", "x", 0)]
    write_records(pool / "recorded" / "twice" / "trajectories.jsonl", twice)
    ((run, summary),) = score_recordings(open_pool(str(pool)), ["twice"], tmp_path / "runs")
    assert [(one.task_id, one.trial) for one in run.trajectories()] == [
        ("a", 0),
        ("a", 1),
        ("b", 0),
    ]
    assert run.manifest()["measure"]["trials"] == 2 and summary["unfinished"] == 1


def test_what_was_interrupted_goes_on(pool: Path, tmp_path: Path) -> None:
    out = tmp_path / "runs"

    def score(match: str | None = None) -> dict[str, int]:
        made = score_recordings(open_pool(str(pool)), [ALL], out, ScoreSettings(match=match))
        return {run.path.name: run.scores_path.stat().st_mtime_ns for run, _ in made}

    begun = next(iter(score_recordings(open_pool(str(pool)), [ALL], out)))[0]
    first = begun.scores_path.stat().st_mtime_ns
    both = score()
    assert both[begun.path.name] == first and len(both) == 2
    cut = out / "whole"
    (cut / "summary.json").unlink()
    (cut / "scores.jsonl").write_text("")
    again = score()
    assert again["part"] == both["part"] and again["whole"] != both["whole"]
    assert right(RunFolder(cut)) == {"a": 1.0, "b": 0.0, "c": 1.0}
    (cut / "run.json").unlink()
    with pytest.raises(UsageError, match="whole is no run of a recording"):
        score()  # its scores would be written over
    shutil.rmtree(cut)
    judged = score("lenient")
    assert judged["part"] != both["part"]
    assert RunFolder(out / "part").manifest()["measure"]["match"] == "lenient"


def test_bad_input_is_told_with_the_repair(pool: Path, tmp_path: Path) -> None:
    def made(*names: str, out: str = "runs") -> None:
        list(score_recordings(open_pool(str(pool)), names, tmp_path / out))

    with pytest.raises(UnknownNameError, match="no recording in shop 'hole'; known: part, whole"):
        made("hole")
    made("part")
    (tmp_path / "runs" / "notes").mkdir()
    with pytest.raises(UsageError, match=r"notes is no run of a recording of .*; give --out a new"):
        made("part")
    stray = [chat("gone", "a")]
    write_records(pool / "recorded" / "part" / "trajectories.jsonl", stray)
    with pytest.raises(DataError, match="a chat is of task 'gone', which is not in the pool"):
        made("part", out="other")
    torn = pool / "recorded" / "whole" / "trajectories.jsonl"
    torn.write_bytes(torn.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"whole/trajectories\.jsonl.*3"):
        made("whole", out="third")
    with pytest.raises(UsageError, match="has no recordings; import them with its benchmark"):
        list(score_recordings(open_pool("sample"), [ALL], tmp_path / "fourth"))


def test_what_only_runs_or_only_recordings_take_is_refused(
    pool: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", str(tmp_path), "--out", "x"]) == 2
    assert "--out is for runs of recordings: add --recorded all" in capsys.readouterr().err
    assert main(["score", str(pool), "--recorded", ALL, "--audit", "rules"]) == 2
    assert "--audit is of one run" in capsys.readouterr().err
